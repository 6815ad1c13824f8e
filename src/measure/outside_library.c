/* The process that calls a reference in a shared library. What it is given lies in a folder: measure/outside.c. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/util.h"
#include "cutune_reference.h"
#include "measure/bench.h"
#include "model/plan.h"

enum { MAX_TASK = 1 << 28 }; /* bytes */

struct shared_call {
    struct task task;
    struct plan *plan;
    struct val vals[MAX_SLOTS];
    struct cutune_reference_call call;
    struct cutune_reference_argument args[MAX_ARGS];
    int64_t bytes[MAX_ARGS], extents[MAX_ARGS][MAX_RANK]; /* of buffers */
    unsigned char values[MAX_ARGS][16] __attribute__((aligned(16)));
    const char *sizes[MAX_AXES], *type_names[MAX_TYPES];
};

static int take_argument(struct shared_call *s, int i, struct err *err)
{
    const struct op *op = s->task.op;
    const struct arg *is = &op->args[i];
    const struct dtype *t = op_arg_dtype(op, is->type, s->task.row);
    struct cutune_reference_argument *a = &s->args[i];
    int size;
    *a = (struct cutune_reference_argument){
        .name = is->name, .kind = outside_kinds[is->kind], .type = t->name, .extents = s->extents[i], .elements = 1
    };
    if (!arg_is_buffer(is)) {
        a->in = s->values[i];
        return (s->task.other_scalars ? plan_arg_other : plan_arg_value)(s->plan, i, s->vals, s->values[i], &size, err);
    }
    int rc = plan_arg_shape(s->plan, i, s->vals, s->extents[i], &t, err) ?: plan_arg_bytes(s->plan, i, s->vals, &s->bytes[i], err);
    a->rank = is->rank;
    a->elements = s->bytes[i] / t->bytes;
    return rc;
}

static int take_call(struct shared_call *s, struct cursor in, struct err *err)
{
    struct task *t = &s->task;
    int rc = task_get(&in, t, err) ?: plan_new(t->op, -1, &s->plan, err);
    if (rc)
        return rc;
    const struct op *op = t->op;
    plan_slots(s->plan, &t->problem, t->row, &t->dev, NULL, s->vals);
    for (int i = 0; i < op->naxes; i++)
        s->sizes[i] = op->axes[i].name;
    for (int i = 0; i < op->ntypes; i++)
        s->type_names[i] = op->rows[t->row * op->ntypes + i]->name;
    for (int i = 0; !rc && i < op->nargs; i++)
        rc = take_argument(s, i, err);
    s->call = (struct cutune_reference_call){ .abi = CUTUNE_REFERENCE_ABI,
                                              .op = op->name,
                                              .nsizes = op->naxes,
                                              .size_names = s->sizes,
                                              .sizes = t->problem.size,
                                              .ntypes = op->ntypes,
                                              .type_names = op->types,
                                              .types = s->type_names,
                                              .narguments = op->nargs,
                                              .arguments = s->args };
    return rc;
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

/* The elements are the end of their file. */
static const void *open_input(const char *path, int64_t bytes)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool whole = fd >= 0 && !fstat(fd, &st) && st.st_size >= bytes;
    char *p = whole ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    return p == MAP_FAILED ? NULL : p + st.st_size - bytes;
}

static int open_argument(struct shared_call *s, int i, const char *folder)
{
    struct cutune_reference_argument *a = &s->args[i];
    const struct arg *is = &s->task.op->args[i];
    char path[PATH_MAX];
    if (arg_is_buffer(is) && is->kind != ARG_OUTPUT) {
        snprintf(path, sizeof path, "%s/%s.npy", folder, a->name);
        a->in = open_input(path, s->bytes[i]);
        if (!a->in)
            return fail(path);
    }
    if (arg_is_written(is)) {
        a->out = make_output(s->bytes[i]);
        if (!a->out)
            return fail("memory for an output");
        if (a->in)
            memcpy(a->out, a->in, (size_t)s->bytes[i]);
    }
    return 0;
}

/* How many elements of a floating-point output have all bits set still, and the first. No arithmetic gives that; in 8 bits it may be a result. */
static int64_t unwritten(const struct shared_call *s, int i, int64_t *first)
{
    const struct dtype *t = op_arg_dtype(s->task.op, s->task.op->args[i].type, s->task.row);
    const char *p = s->args[i].out;
    static const char ones[16] = { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 };
    int64_t n = 0;
    for (int64_t at = s->args[i].elements; (t->kind == DT_FLOAT || t->kind == DT_COMPLEX) && at-- > 0;)
        if (!memcmp(p + at * t->bytes, ones, (size_t)t->bytes)) {
            *first = at;
            n++;
        }
    return t->bytes > 1 || n == s->args[i].elements ? n : 0;
}

static int write_output(const struct shared_call *s, int i, const char *folder)
{
    const struct cutune_reference_argument *a = &s->args[i];
    char path[PATH_MAX];
    if (!a->out)
        return 0;
    int64_t first = 0, left = a->in || s->task.op->args[i].partial ? 0 : unwritten(s, i, &first);
    if (left && left == a->elements) {
        fprintf(stderr, "it wrote nothing to %s\n", a->name);
        return 1;
    }
    if (left) {
        fprintf(stderr, "it left %lld elements of %s unwritten, the first is %lld: it must write all\n", (long long)left, a->name,
                (long long)first);
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
    static struct shared_call *s; /* what it holds ends with the process, */
    static struct buf task;       /* and this */
    struct err err = { 0 };
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/task", folder);
    s = mem_zalloc(sizeof *s);
    int rc = s ? file_read(path, MAX_TASK, &task, &err) ?: take_call(s, cursor_on(task.data, task.len), &err) : err_nomem(&err);
    if (rc)
        fprintf(stderr, "%s\n", err.msg);
    for (int i = 0; !rc && i < s->call.narguments; i++)
        rc = open_argument(s, i, folder);
    rc = rc ?: call_it(s, library);
    for (int i = 0; !rc && i < s->call.narguments; i++)
        rc = write_output(s, i, folder);
    return rc != 0;
}
