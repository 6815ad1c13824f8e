/* The pretend device to measure on: memory is the host's; kernels are not executed, so their outputs stay as filled; time is a function
 * of the source, the kernel and the geometry. $CUTUNE_NULL_TAKEN bytes of its memory are taken by others. Its compiler's output is the
 * source. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "device/null_part.h"

struct null_device {
    struct device d;
    int64_t taken; /* bytes of all buffers */
    double spans[MAX_SPANS][2];
};

static struct null_device *of(struct device *d)
{
    return (struct null_device *)d;
}

static struct null_told *told_of(struct device *d)
{
    return &((struct null_context *)d->guest)->told;
}

/* ---- the compiler */

/* Whether a process may have so much; it is not used. */
static bool may_have(int64_t bytes)
{
    void *p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED)
        munmap(p, (size_t)bytes);
    return p != MAP_FAILED;
}

/* There is nothing to it, but it must not be null. */
static int null_compiler_open(const struct devspec *spec, struct compiler **out, struct err *err)
{
    (void)spec;
    *out = mem_alloc(1);
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
    bool hoards = null_says(job->source, "hoard-compile");
    if (null_says(job->source, "crash-compile") || (hoards && !may_have(INT64_C(64) << 30)))
        abort();
    while (hoards || null_says(job->source, "hang-compile"))
        pause();
    if (null_says(job->source, "compile-error")) {
        buf_str(log, "kernel(1): error: the source asks for it\n");
        return log->failed ? err_nomem(err) : err_set(err, ERR_INVALID, "the pretend compiler refuses the source");
    }
    if (null_says(job->source, "large-compile"))
        return err_set(err, ERR_UNSUPPORTED, "the source asks for too much");
    buf_fmt(binary, "%s%s", NULL_MAGIC, job->source);
    if (portable)
        buf_str(portable, job->source);
    return binary->failed || (portable && portable->failed) ? err_nomem(err) : 0;
}

const struct backend_compiling null_compiling = {
    .language = "CUDA C++", /* as it pretends */
    .prelude = "prelude_cuda.h",
    .open = null_compiler_open,
    .close = null_compiler_close,
    .compile = null_compile,
    .name = null_compiler_name,
};

/* ---- the device */

static int null_open(struct device *d, struct err *err)
{
    const char *taken = getenv("CUTUNE_NULL_TAKEN");
    of(d)->taken = taken ? strtoll(taken, NULL, 10) : 0;
    struct devspec spec;
    return guest_open(&null_backend, &d->spec.index, &spec, &d->guest, err);
}

static int null_use(struct device *d, struct err *err)
{
    return null_lost(told_of(d), err);
}

static int null_alloc(struct device *d, struct memory *m, struct err *err)
{
    int64_t all = d->spec.memory, left = all - of(d)->taken;
    if (m->bytes > left)
        return err_set(err, ERR_NOMEM, "null:%d: a buffer of %" PRId64 " bytes: %" PRId64 " of %" PRId64 " bytes are free",
                       d->spec.index, m->bytes, left, all);
    m->at = mem_alloc((size_t)m->bytes);
    if (!m->at)
        return err_nomem(err);
    of(d)->taken += m->bytes;
    return 0;
}

static void null_free(struct device *d, struct memory *m)
{
    if (m->is_view)
        return;
    of(d)->taken -= m->bytes;
    mem_free(m->at);
}

/* Moving memory takes a while, so that a copy has a speed: 4 TB/s, read and written. */
static void spend_on(struct device *d, int64_t bytes)
{
    told_of(d)->clock_ns += 1000 + (double)bytes / 2000;
}

static int null_fill(struct device *d, struct memory *m, int64_t offset, int64_t bytes, uint8_t value, struct err *err)
{
    (void)err;
    memset((unsigned char *)m->at + offset, value, (size_t)bytes);
    spend_on(d, bytes);
    return 0;
}

static int null_sync(struct device *d, struct err *err)
{
    return null_told_sync(told_of(d), err);
}

static void *address(const struct copy_end *e)
{
    return e->memory ? (unsigned char *)e->memory->at + e->offset : e->host;
}

static int null_copy(struct device *d, struct copy_end to, struct copy_end from, int64_t bytes, struct err *err)
{
    bool inside = to.memory && from.memory;
    int rc = inside ? 0 : null_sync(d, err);
    if (rc)
        return rc;
    memmove(address(&to), address(&from), (size_t)bytes);
    if (inside)
        spend_on(d, bytes);
    return 0;
}

static int null_mark(struct device *d, int slot, bool end, struct err *err)
{
    (void)err;
    of(d)->spans[slot][end] = told_of(d)->clock_ns;
    return 0;
}

static int null_span_ns(struct device *d, int slot, double *ns, struct err *err)
{
    (void)err;
    *ns = of(d)->spans[slot][1] - of(d)->spans[slot][0];
    return 0;
}

const struct backend_measuring null_measuring = {
    .size = sizeof(struct null_device),
    .open = null_open,
    .use = null_use,
    .alloc = null_alloc,
    .free = null_free,
    .fill = null_fill,
    .copy = null_copy,
    .mark = null_mark,
    .span_ns = null_span_ns,
    .sync = null_sync,
};
