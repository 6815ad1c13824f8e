/* The process that calls a reference in a shared library. What it is given lies in a folder: measure/outside.c. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/util.h"
#include "cutune_reference.h"
#include "measure/outside.h"

enum { MAX_CALL = 1 << 20, MOST = 64, WORDS = 8192 };

struct shared_call {
    struct cutune_reference_call call;
    struct cutune_reference_argument args[MOST];
    int64_t bytes[MOST], begin[MOST]; /* of a buffer; where its elements begin in its file */
    int64_t sizes[MOST], extents[MOST][MOST];
    const char *names[MOST], *type_names[MOST], *types[MOST];
    unsigned char values[MOST][16] __attribute__((aligned(16)));
    char words[WORDS]; /* of all texts */
    size_t used;
};

static const char *take_word(struct shared_call *s, struct cursor *c)
{
    size_t n;
    const char *text = get_lstr(c, &n);
    if (!text || n + 1 > sizeof s->words - s->used) {
        c->bad = true;
        return "";
    }
    char *to = s->words + s->used;
    memcpy(to, text, n);
    to[n] = 0;
    s->used += n + 1;
    return to;
}

static int take_count(struct cursor *c)
{
    uint32_t n = get_u32(c);
    c->bad = c->bad || n > MOST;
    return c->bad ? 0 : (int)n;
}

static void take_argument(struct shared_call *s, int i, struct cursor *c)
{
    struct cutune_reference_argument *a = &s->args[i];
    size_t n = 0;
    a->name = take_word(s, c);
    a->kind = take_word(s, c);
    a->type = take_word(s, c);
    a->rank = take_count(c);
    a->extents = s->extents[i];
    for (int d = 0; d < a->rank; d++)
        s->extents[i][d] = get_i64(c);
    s->bytes[i] = get_i64(c);
    a->elements = get_i64(c);
    if (strcmp(a->kind, "value") && strcmp(a->kind, "scalar")) {
        s->begin[i] = get_i64(c);
        return;
    }
    const void *value = get_bytes(c, &n);
    if (value && n <= sizeof s->values[i])
        memcpy(s->values[i], value, n);
    a->in = s->values[i];
}

static bool take_call(struct shared_call *s, struct cursor c)
{
    struct cutune_reference_call *call = &s->call;
    *call = (struct cutune_reference_call){ .abi = CUTUNE_REFERENCE_ABI,
                                            .size_names = s->names,
                                            .sizes = s->sizes,
                                            .type_names = s->type_names,
                                            .types = s->types,
                                            .arguments = s->args };
    call->op = take_word(s, &c);
    call->nsizes = take_count(&c);
    for (int i = 0; i < call->nsizes; i++) {
        s->names[i] = take_word(s, &c);
        s->sizes[i] = get_i64(&c);
    }
    call->ntypes = take_count(&c);
    for (int i = 0; i < call->ntypes; i++) {
        s->type_names[i] = take_word(s, &c);
        s->types[i] = take_word(s, &c);
    }
    call->narguments = take_count(&c);
    for (int i = 0; i < call->narguments; i++)
        take_argument(s, i, &c);
    return !c.bad && c.at == c.end;
}

/* Memory that ends, but for what alignment asks, where a page begins that cannot be touched. Null without memory. */
static void *make_output(int64_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = ((size_t)bytes + page - 1) / page * page;
    char *p = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p + size, page, PROT_NONE))
        return NULL;
    char *begin = p + size - ((size_t)bytes + 15) / 16 * 16;
    memset(begin, 0xff, (size_t)bytes); /* NaN, where there is such a thing */
    return begin;
}

static int fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    return 1;
}

static int open_argument(struct shared_call *s, int i, const char *folder)
{
    struct cutune_reference_argument *a = &s->args[i];
    char path[PATH_MAX];
    if (a->in)
        return 0;
    if (strcmp(a->kind, "output")) {
        snprintf(path, sizeof path, "%s/%s.npy", folder, a->name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        size_t all = (size_t)(s->begin[i] + s->bytes[i]);
        void *p = fd < 0 ? MAP_FAILED : mmap(NULL, all, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p == MAP_FAILED)
            return fail(path);
        close(fd);
        a->in = (const char *)p + s->begin[i];
    }
    if (!strcmp(a->kind, "input"))
        return 0;
    a->out = make_output(s->bytes[i]);
    if (!a->out)
        return fail("memory for an output");
    if (a->in)
        memcpy(a->out, a->in, (size_t)s->bytes[i]);
    return 0;
}

static bool untouched(const unsigned char *p, int64_t n)
{
    return n && p[0] == 0xff && !memcmp(p, p + 1, (size_t)n - 1);
}

static int write_output(const struct shared_call *s, int i, const char *folder)
{
    const struct cutune_reference_argument *a = &s->args[i];
    char path[PATH_MAX];
    if (!a->out)
        return 0;
    if (!a->in && untouched(a->out, s->bytes[i])) {
        fprintf(stderr, "it wrote nothing to %s\n", a->name);
        return 1;
    }
    snprintf(path, sizeof path, "%s/%s%s.bin", folder, a->name, a->in ? ".out" : "");
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || !write_all(fd, a->out, (size_t)s->bytes[i]) || close(fd))
        return fail(path);
    return 0;
}

static int call_it(struct shared_call *s, const char *library)
{
    char path[PATH_MAX];
    int (*reference)(const struct cutune_reference_call *call);
    snprintf(path, sizeof path, "%s%s", strchr(library, '/') ? "" : "./", library);
    void *loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *function = loaded ? dlsym(loaded, "cutune_reference") : NULL;
    if (!function) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    memcpy(&reference, &function, sizeof reference);
    int rc = reference(&s->call);
    if (rc)
        fprintf(stderr, "cutune_reference returned %d\n", rc);
    return rc != 0;
}

int outside_library(const char *folder, const char *library)
{
    struct shared_call *s = mem_zalloc(sizeof *s);
    struct buf text = { 0 };
    struct err err = { 0 };
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/call", folder);
    if (!s || file_read(path, MAX_CALL, &text, &err) || !take_call(s, cursor_on(text.data, text.len))) {
        fprintf(stderr, "%s\n", err.code ? err.msg : "what is to be called is damaged");
        return 1;
    }
    int rc = 0;
    for (int i = 0; !rc && i < s->call.narguments; i++)
        rc = open_argument(s, i, folder);
    rc = rc ?: call_it(s, library);
    for (int i = 0; !rc && i < s->call.narguments; i++)
        rc = write_output(s, i, folder);
    buf_free(&text);
    mem_free(s);
    return rc;
}
