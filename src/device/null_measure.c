/* A pretend device to measure on: its memory is the host's, its time is what launches and copies are said to take. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "device/null.h"

static struct null_context *of(struct device *d)
{
    return (struct null_context *)d->guest;
}

static int own_open(struct device *d, struct err *err)
{
    const char *taken = getenv("CUTUNE_NULL_TAKEN");
    struct devspec spec;
    int rc = guest_open(&null_backend, &d->spec.index, &spec, &d->guest, err);
    if (!rc)
        of(d)->taken = taken ? strtoll(taken, NULL, 10) : 0;
    return rc;
}

static int null_use(struct device *d, struct err *err)
{
    return null_lost(of(d), err);
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
    if (m->whole)
        return;
    of(d)->taken -= m->bytes;
    mem_free(m->at);
}

/* Moving memory takes a while, so that a copy has a speed: 4 TB/s, read and written. */
static void spend_on(struct device *d, int64_t bytes)
{
    null_spend(of(d), 1000 + (double)bytes / 2000, NULL_IDLE_WATTS);
}

/* The buffer by which the cache is flushed is 100 MB: its pages are given back, and are zeros if anybody ever reads them. */
static void zero_much(unsigned char *at, size_t n)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), before = -(uintptr_t)at % page, pages = (n - before) / page * page;
    const bool given = !madvise(at + before, pages, MADV_DONTNEED);
    memset(at, 0, given ? before : n);
    if (given)
        memset(at + before + pages, 0, n - before - pages);
}

static int null_fill(struct device *d, struct memory *m, int64_t offset, int64_t bytes, uint8_t value, struct err *err)
{
    enum { MUCH = 1 << 20 };
    unsigned char *at = (unsigned char *)m->at + offset;
    (void)err;
    if (!value && bytes >= MUCH)
        zero_much(at, (size_t)bytes);
    else
        memset(at, value, (size_t)bytes);
    spend_on(d, bytes);
    return 0;
}

/* Waits, or does what else was told. */
static int null_sync(struct device *d, struct err *err)
{
    struct null_context *t = of(d);
    struct timespec delay = { .tv_sec = t->delay_ms / 1000, .tv_nsec = t->delay_ms % 1000 * 1000000 };
    t->delay_ms = 0;
    nanosleep(&delay, NULL);
    while (t->hang)
        pause();
    if (t->crash)
        abort();
    t->lost |= t->sticky;
    return null_lost(t, err);
}

static void *address(struct copy_end e)
{
    return e.memory ? (unsigned char *)e.memory->at + e.offset : e.host;
}

static int null_copy(struct device *d, struct copy_end to, struct copy_end from, int64_t bytes, struct err *err)
{
    bool inside = to.memory && from.memory;
    int rc = inside ? 0 : null_sync(d, err);
    if (!rc)
        memmove(address(to), address(from), (size_t)bytes);
    if (inside)
        spend_on(d, bytes);
    return rc;
}

static int null_mark(struct device *d, int slot, bool end, struct err *err)
{
    (void)err;
    of(d)->spans[slot][end] = of(d)->clock_ns;
    return 0;
}

static int null_span_ns(struct device *d, int slot, double *ns, struct err *err)
{
    (void)err;
    *ns = of(d)->spans[slot][1] - of(d)->spans[slot][0];
    return 0;
}

static bool null_throttles(struct device *d)
{
    bool does = of(d)->throttled < of(d)->throttle;
    of(d)->throttled += does;
    return does;
}

static int null_energy(struct device *d, double *joules, struct err *err)
{
    const char *none = getenv("CUTUNE_NULL_ENERGY");
    if (none && !strcmp(none, "none"))
        return err_set(err, ERR_UNSUPPORTED, "no energy counter: the environment asks for none");
    *joules = none && !strcmp(none, "still") ? 1 : of(d)->counter;
    return 0;
}

/* ---- a pretend library, which $CUTUNE_NULL_LIBRARY makes: "right", "wrong", "crash", "hang", "refuse" */

static bool library_is(const char *word)
{
    const char *is = getenv("CUTUNE_NULL_LIBRARY");
    return is && !strcmp(is, word);
}

static int null_call_open(struct device *d, const struct library_call *what, struct called **out, struct err *err)
{
    (void)d;
    if (!getenv("CUTUNE_NULL_LIBRARY"))
        return err_set(err, ERR_UNSUPPORTED, "no library is here");
    struct called *c = *out = mem_zalloc(sizeof *c);
    if (!c)
        return err_nomem(err);
    c->is = *what;
    c->ways = what->library == LIBRARY_CUBLASLT ? 3 : 1;
    strcpy(c->version, "1.2.3");
    return 0;
}

/* The later of its algorithms are faster. */
static int null_call_run(struct device *d, struct called *c, int way, struct err *err)
{
    struct null_context *t = of(d);
    if (library_is("refuse"))
        return err_set(err, ERR_UNSUPPORTED, "the library refuses it");
    t->crash |= library_is("crash");
    t->hang |= library_is("hang");
    t->wrong = library_is("wrong");
    null_spend(t, 5000 + 1000 * (c->ways - way), NULL_IDLE_WATTS);
    return 0;
}

static void null_call_close(struct device *d, struct called *c)
{
    (void)d;
    mem_free(c);
}

const struct backend_measuring null_measuring = {
    .open = own_open,
    .use = null_use,
    .alloc = null_alloc,
    .view = view_address,
    .free = null_free,
    .fill = null_fill,
    .copy = null_copy,
    .mark = null_mark,
    .span_ns = null_span_ns,
    .sync = null_sync,
    .throttles = null_throttles,
    .energy = null_energy,
    .call_open = null_call_open,
    .call_run = null_call_run,
    .call_close = null_call_close,
};
