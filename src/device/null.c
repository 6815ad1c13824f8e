/* A pretend device, for tests of the tuning loop: two of them, null:0 and null:1, with the limits of a large GPU. Memory is the
 * host's; kernels are not executed, so their outputs stay as filled; time is a function of the source, the kernel and the geometry.
 * $CUTUNE_NULL_TAKEN bytes of its memory are taken by others.
 *
 * Lines of the source make it misbehave: `//null: WORD`, with these words.
 *   compile-error   the compiler refuses the source        time=NS       the time of a launch of it
 *   crash-compile   the compiler's process dies            delay=MS      a wait for it sleeps as long
 *   hang-compile    the compiler never returns             launch-error  its launch is refused
 *   hoard-compile   the compiler dies for want of 64 GB, or hangs on them where it gets so much
 *   large-compile   the compiler finds that it takes more than the device has
 *   crash           a wait for it takes the process down   hang          a wait for it never returns
 *   sticky          a wait for it, and every call after, fails as on a lost context
 *   after=N         what its launches do amiss begins with the N+1st in a process; all sources that say so are counted together
 *   if=PATH         all but time and delay only while there is such a file: a machine that breaks, and is mended
 *   wrong           until another launch, the kernels check_equal, check_close and digest write 1 to the uint64 that their first
 *                   argument points to */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/util.h"
#include "device/check.h"
#include "device/null_part.h"

static const char magic[8] = "cutuneN\n";

struct compiler {
    char nothing;
};

/* What waits for the next sync. */
struct pending {
    bool hang, crash, sticky;
    int64_t delay_ms;
};

struct device {
    struct devspec spec;
    struct pending pending;
    bool wrong; /* what was written last: checks find a difference */
    bool lost;
    int64_t counted; /* launches of sources that say after= */
    int64_t taken;   /* bytes of all buffers */
    double clock_ns; /* the sum of all work so far */
    struct {
        double begin, end;
    } spans[MAX_SPANS];
};

struct memory {
    unsigned char *at;
    int64_t bytes;
    bool is_view;
};

struct module {
    char *source;
    struct kernel *kernels; /* of this module */
};

struct kernel {
    const struct module *module;
    char name[MAX_NAME + 1];
    int64_t dynamic_shared;
    struct kernel *next;
};

/* What follows `//null: WORD` at the start of a line; null where no line says it. */
static const char *directive(const char *source, const char *word)
{
    static const char mark[] = "//null: ";
    for (const char *line = source; line; line = strchr(line, '\n')) {
        line += strspn(line, "\n \t");
        const char *at = line + sizeof mark - 1;
        if (strncmp(line, mark, sizeof mark - 1) != 0 || strncmp(at, word, strlen(word)) != 0)
            continue;
        const char *rest = at + strlen(word);
        if (*rest == 0 || *rest == '\n' || *rest == '\r' || *rest == ' ' || rest[-1] == '=')
            return rest;
    }
    return NULL;
}

bool null_says(const char *source, const char *word)
{
    return directive(source, word) != NULL;
}

/* The value of `//null: WORD=VALUE`; -1 where there is none. */
static int64_t value_of(const char *source, const char *word)
{
    const char *text = directive(source, word);
    return text ? strtoll(text, NULL, 10) : -1;
}

static void hang(void)
{
    for (;;)
        pause();
}

/* Whether what the source says holds now. */
static bool applies(const char *source)
{
    const char *path = directive(source, "if=");
    char name[256];
    if (!path)
        return true;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(path, "\r\n"), path);
    return access(name, F_OK) == 0;
}

/* Whether a process may have so much; it is not used. */
static bool may_have(int64_t bytes)
{
    void *p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED)
        munmap(p, (size_t)bytes);
    return p != MAP_FAILED;
}

void null_describe(int index, struct devspec *out)
{
    *out = (struct devspec){
        .backend = "null",
        .name = "Pretend device",
        .arch = "null",
        .multiprocessors = 132,
        .memory = INT64_C(141) << 30,
        .index = index,
        .driver = "1",
        .warp = 32,
        .l2 = 50 << 20,
        .max_threads = 1024,
        .max_block = { 1024, 1024, 64 },
        .max_grid = { INT32_MAX, 65535, 65535 },
        .max_shared = 227 << 10,
        .max_static_shared = 48 << 10,
        .max_alloc = INT64_C(141) << 30,
        .fp64 = true,
    };
}

static int null_list(struct devspec *out, int max, struct err *err)
{
    if (err)
        *err = (struct err){ 0 };
    for (int i = 0; i < NULL_DEVICES && i < max; i++)
        null_describe(i, &out[i]);
    return NULL_DEVICES;
}

static int null_compiler_open(const struct devspec *spec, struct compiler **out, struct err *err)
{
    (void)spec;
    *out = mem_zalloc(sizeof **out);
    return *out ? 0 : err_nomem(err);
}

static void null_compiler_close(struct compiler *c)
{
    mem_free(c);
}

static void null_compiler_name(const struct compiler *c, char out[COMPILER_NAME])
{
    (void)c;
    snprintf(out, COMPILER_NAME, "1"); /* the driver's version, as with OpenCL */
}

/* The portable form is the bare source. */
static int null_compile(struct compiler *c, const struct compile_job *job, struct buf *binary, struct buf *portable,
                        struct buf *log, struct err *err)
{
    (void)c;
    bool act = applies(job->source), hoards = act && null_says(job->source, "hoard-compile");
    if ((act && null_says(job->source, "crash-compile")) || (hoards && !may_have(INT64_C(64) << 30)))
        abort();
    if ((act && null_says(job->source, "hang-compile")) || hoards)
        hang();
    if (act && null_says(job->source, "compile-error")) {
        buf_str(log, "kernel(1): error: the source asks for it\n");
        return log->failed ? err_nomem(err) : err_set(err, ERR_INVALID, "the pretend compiler refuses the source");
    }
    if (act && null_says(job->source, "large-compile"))
        return err_set(err, ERR_UNSUPPORTED, "the source asks for too much");
    buf_put(binary, magic, sizeof magic);
    buf_str(binary, job->source);
    if (portable)
        buf_str(portable, job->source);
    return binary->failed || (portable && portable->failed) ? err_nomem(err) : 0;
}

static int null_open(const struct devspec *spec, struct device **out, struct err *err)
{
    if (spec->index < 0 || spec->index >= NULL_DEVICES)
        return err_set(err, ERR_NOTFOUND, "there is no null:%d", spec->index);
    *out = mem_zalloc(sizeof **out);
    if (!*out)
        return err_nomem(err);
    (*out)->spec = *spec;
    const char *taken = getenv("CUTUNE_NULL_TAKEN");
    (*out)->taken = taken ? strtoll(taken, NULL, 10) : 0;
    return 0;
}

static void null_close(struct device *d)
{
    mem_free(d);
}

static int lost(const struct device *d, struct err *err)
{
    return d->lost ? err_set(err, ERR_DEVICE, "NULL_ERROR_LAUNCH_FAILED (the context is lost)") : 0;
}

static int null_alloc(struct device *d, int64_t bytes, struct memory **out, struct err *err)
{
    int rc = check_alloc(&d->spec, bytes, err);
    if (!rc)
        rc = lost(d, err);
    if (!rc && bytes > d->spec.memory - d->taken)
        rc = err_set(err, ERR_NOMEM, "null:%d: a buffer of %" PRId64 " bytes: %" PRId64 " of %" PRId64 " bytes are free",
                     d->spec.index, bytes, d->spec.memory - d->taken, d->spec.memory);
    if (rc)
        return rc;
    struct memory *m = mem_zalloc(sizeof *m);
    unsigned char *at = mem_alloc((size_t)bytes);
    if (!m || !at) {
        mem_free(m);
        mem_free(at);
        return err_nomem(err);
    }
    *m = (struct memory){ .at = at, .bytes = bytes };
    d->taken += bytes;
    *out = m;
    return 0;
}

static int null_view(struct device *d, struct memory *m, int64_t offset, int64_t bytes, struct memory **out, struct err *err)
{
    (void)d;
    int rc = check_view(offset, bytes, m->bytes, err);
    if (rc)
        return rc;
    struct memory *v = mem_zalloc(sizeof *v);
    if (!v)
        return err_nomem(err);
    *v = (struct memory){ .at = m->at + offset, .bytes = bytes, .is_view = true };
    *out = v;
    return 0;
}

static void null_free(struct device *d, struct memory *m)
{
    if (m && !m->is_view) {
        d->taken -= m->bytes;
        mem_free(m->at);
    }
    mem_free(m);
}

/* Moving memory takes a while, so that a copy has a speed: 4 TB/s, read and written. */
static void spend_on(struct device *d, int64_t bytes)
{
    d->clock_ns += 1000 + (double)bytes / 2000;
}

static int null_fill(struct device *d, struct memory *m, int64_t offset, int64_t bytes, uint8_t value, struct err *err)
{
    int rc = check_part("a fill", offset, bytes, m->bytes, err);
    if (!rc)
        rc = lost(d, err);
    if (rc)
        return rc;
    memset(m->at + offset, value, (size_t)bytes);
    spend_on(d, bytes);
    return 0;
}

static int null_copy(struct device *d, struct memory *to, const struct memory *from, int64_t bytes, struct err *err)
{
    int rc = check_part("a copy", 0, bytes, to->bytes < from->bytes ? to->bytes : from->bytes, err);
    if (!rc)
        rc = lost(d, err);
    if (rc)
        return rc;
    memmove(to->at, from->at, (size_t)bytes);
    spend_on(d, bytes);
    return 0;
}

static int null_sync(struct device *d, struct err *err)
{
    struct pending p = d->pending;
    d->pending = (struct pending){ 0 };
    if (p.delay_ms > 0)
        nanosleep(&(struct timespec){ .tv_sec = p.delay_ms / 1000, .tv_nsec = p.delay_ms % 1000 * 1000000 }, NULL);
    if (p.hang)
        hang();
    if (p.crash)
        abort();
    d->lost |= p.sticky;
    return lost(d, err);
}

static int null_write(struct device *d, struct memory *to, int64_t offset, const void *from, int64_t bytes, struct err *err)
{
    int rc = check_part("a write", offset, bytes, to->bytes, err);
    if (!rc)
        rc = null_sync(d, err);
    if (!rc && bytes)
        memcpy(to->at + offset, from, (size_t)bytes);
    return rc;
}

static int null_read(struct device *d, void *to, const struct memory *from, int64_t offset, int64_t bytes, struct err *err)
{
    int rc = check_part("a read", offset, bytes, from->bytes, err);
    if (!rc)
        rc = null_sync(d, err);
    if (!rc && bytes)
        memcpy(to, from->at + offset, (size_t)bytes);
    return rc;
}

int null_source(const void *binary, size_t bytes, char **out, struct err *err)
{
    if (bytes < sizeof magic || memcmp(binary, magic, sizeof magic) != 0)
        return err_set(err, ERR_INVALID, "%zu bytes that are no program of the null device", bytes);
    *out = mem_strndup((const char *)binary + sizeof magic, bytes - sizeof magic);
    return *out ? 0 : err_nomem(err);
}

int null_entry_check(const struct devspec *spec, const char *source, const char *name, int64_t dynamic_shared, struct err *err)
{
    if (!name_ok(name) || !strstr(source, name))
        return err_set(err, ERR_NOTFOUND, "there is no kernel '%s' in the compiled code", name);
    if (dynamic_shared < 0 || dynamic_shared > spec->max_shared)
        return err_set(err, ERR_UNSUPPORTED, "%" PRId64 " bytes of dynamic shared memory: a block has %" PRId64, dynamic_shared,
                       spec->max_shared);
    return 0;
}

int null_launch_check(const char *source, struct err *err)
{
    if (!null_says(source, "launch-error"))
        return 0;
    return err_set(err, ERR_UNSUPPORTED, "NULL_ERROR_LAUNCH_OUT_OF_RESOURCES (the source asks for it)");
}

static int null_load(struct device *d, const void *binary, size_t bytes, struct module **out, struct err *err)
{
    int rc = lost(d, err);
    if (rc)
        return rc;
    struct module *m = mem_zalloc(sizeof *m);
    if (!m)
        return err_nomem(err);
    rc = null_source(binary, bytes, &m->source, err);
    if (rc)
        mem_free(m);
    else
        *out = m;
    return rc;
}

static void null_unload(struct device *d, struct module *m)
{
    (void)d;
    if (!m)
        return;
    for (struct kernel *k = m->kernels, *next; k; k = next) {
        next = k->next;
        mem_free(k);
    }
    mem_free(m->source);
    mem_free(m);
}

static int null_kernel(struct device *d, struct module *m, const char *name, int64_t dynamic_shared, struct kernel **out,
                       struct resources *resources, struct err *err)
{
    int rc = lost(d, err);
    if (!rc)
        rc = null_entry_check(&d->spec, m->source, name, dynamic_shared, err);
    if (rc)
        return rc;
    struct kernel *k = mem_zalloc(sizeof *k);
    if (!k)
        return err_nomem(err);
    k->module = m;
    k->dynamic_shared = dynamic_shared;
    snprintf(k->name, sizeof k->name, "%s", name);
    k->next = m->kernels;
    m->kernels = k;
    if (resources)
        *resources = (struct resources){ .registers = 32, .max_threads = d->spec.max_threads };
    *out = k;
    return 0;
}

/* 1e3 to 1e6 ns, the same for the same source, kernel and geometry. */
static double time_of(const struct kernel *k, const struct geometry *g)
{
    int64_t told = value_of(k->module->source, "time=");
    if (told >= 0)
        return (double)told;
    char hash[HASH_HEX];
    hash_hex(k->module->source, strlen(k->module->source), hash);
    hash[16] = 0;
    uint64_t h = strtoull(hash, NULL, 16);
    for (const char *c = k->name; *c; c++)
        h = rand_at(h, (unsigned char)*c);
    for (int i = 0; i < 3; i++)
        h = rand_at(rand_at(h, (uint64_t)g->grid[i]), (uint64_t)g->block[i]);
    return 1e3 + (double)(rand_at(h, (uint64_t)g->shared) % 999001);
}

/* The service kernels that count differences: none, unless the kernel it checks was told to be wrong. */
static void check_output(struct device *d, const struct karg *args, int nargs)
{
    static const uint64_t one = 1;
    if (d->wrong && nargs > 0 && args[0].memory && args[0].memory->bytes >= (int64_t)sizeof one)
        memcpy(args[0].memory->at, &one, sizeof one);
}

/* Whether a launch does yet what the source says. */
static bool acts(struct device *d, const char *source)
{
    int64_t after = value_of(source, "after=");
    return after < 0 || d->counted++ >= after;
}

static int null_launch(struct device *d, struct kernel *k, const struct geometry *g, const struct karg *args, int nargs,
                       struct err *err)
{
    int rc = check_launch(&d->spec, g, k->dynamic_shared, args, nargs, err);
    const char *source = k->module->source;
    if (!rc)
        rc = lost(d, err);
    bool due = !rc && acts(d, source), act = due && applies(source);
    if (act)
        rc = null_launch_check(source, err);
    if (rc)
        return rc;
    if (!strstr(source, "check_equal")) /* no service kernel */
        d->wrong = act && null_says(source, "wrong");
    else if (!strcmp(k->name, "check_equal") || !strcmp(k->name, "check_close") || !strcmp(k->name, "digest"))
        check_output(d, args, nargs);
    d->pending.hang |= act && null_says(source, "hang");
    d->pending.crash |= act && null_says(source, "crash");
    d->pending.sticky |= act && null_says(source, "sticky");
    int64_t delay = due ? value_of(source, "delay=") : 0;
    if (delay > d->pending.delay_ms)
        d->pending.delay_ms = delay;
    d->clock_ns += time_of(k, g);
    return 0;
}

static int null_span_begin(struct device *d, int slot, struct err *err)
{
    int rc = check_slot(slot, err);
    if (!rc)
        d->spans[slot].begin = d->spans[slot].end = d->clock_ns;
    return rc;
}

static int null_span_end(struct device *d, int slot, struct err *err)
{
    int rc = check_slot(slot, err);
    if (!rc)
        d->spans[slot].end = d->clock_ns;
    return rc;
}

static int null_span_ns(struct device *d, int slot, double *ns, struct err *err)
{
    int rc = check_slot(slot, err);
    if (!rc)
        rc = lost(d, err);
    if (!rc)
        *ns = d->spans[slot].end - d->spans[slot].begin;
    return rc;
}

static void null_doctor(struct buf *out)
{
    buf_str(out, "null: null:0 and null:1, pretend devices for tests\n");
}

const struct backend null_backend = {
    .name = "null",
    .format = "null",
    .list = null_list,
    .compiler_open = null_compiler_open,
    .compiler_close = null_compiler_close,
    .compile = null_compile,
    .compiler_name = null_compiler_name,
    .open = null_open,
    .close = null_close,
    .alloc = null_alloc,
    .view = null_view,
    .free = null_free,
    .fill = null_fill,
    .copy = null_copy,
    .write = null_write,
    .read = null_read,
    .load = null_load,
    .unload = null_unload,
    .kernel = null_kernel,
    .launch = null_launch,
    .span_begin = null_span_begin,
    .span_end = null_span_end,
    .span_ns = null_span_ns,
    .sync = null_sync,
    .doctor = null_doctor,
};
