/* Open and close; errors, versions, memory. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "runtime/runtime.h"

/* The public codes are the internal ones. */
_Static_assert(CUTUNE_ERR_NOMEM == (int)ERR_NOMEM && CUTUNE_ERR_INVALID == (int)ERR_INVALID &&
                   CUTUNE_ERR_NOTFOUND == (int)ERR_NOTFOUND && CUTUNE_ERR_IO == (int)ERR_IO &&
                   CUTUNE_ERR_DEVICE == (int)ERR_DEVICE && CUTUNE_ERR_UNSUPPORTED == (int)ERR_UNSUPPORTED &&
                   CUTUNE_ERR_BUSY == (int)ERR_BUSY && CUTUNE_ERR_TIMEOUT == (int)ERR_TIMEOUT &&
                   CUTUNE_ERR_CORRUPT == (int)ERR_CORRUPT && CUTUNE_ERR_STRICT == (int)ERR_STRICT,
               "cutune.h and base/err.h name the same codes");

/* ---- errors */

static _Thread_local struct err last;

const char *cutune_error(void)
{
    return last.msg;
}

struct err *thread_err(void)
{
    return &last;
}

int outcome(int rc, const struct err *why)
{
    if (rc)
        last = *why;
    return rc;
}

int refuse(int code, const char *fmt, ...)
{
    char text[sizeof last.msg]; /* the words may quote the last failure */
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return err_set(&last, code, "%s", text);
}

void say(struct cutune *c, const char *fmt, ...)
{
    char text[sizeof last.msg];
    va_list ap;
    if (!c->log)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    pthread_mutex_lock(&c->logging);
    c->log(c->log_arg, text);
    pthread_mutex_unlock(&c->logging);
}

/* ---- versions, memory */

int cutune_version(void)
{
    return CUTUNE_VERSION_NUMBER;
}

const char *cutune_version_text(void)
{
    return CUTUNE_VERSION;
}

static atomic_int open_ones; /* what an allocator may not change under */

int cutune_set_allocator(const cutune_allocator *a)
{
    if (a && a->size < sizeof *a)
        return refuse(CUTUNE_ERR_INVALID, "the allocator's size is not set to sizeof(cutune_allocator)");
    if (atomic_load(&open_ones))
        return refuse(CUTUNE_ERR_INVALID, "a database is open: set the allocator before");
    static const cutune_allocator none = { .size = sizeof none };
    a = a ? a : &none;
    if (!a->alloc != !a->resize || !a->alloc != !a->free)
        return refuse(CUTUNE_ERR_INVALID, "an allocator has all of alloc, resize and free, or none");
    mem_use(a->alloc, a->resize, a->free, a->arg);
    return CUTUNE_OK;
}

/* ---- open and close */

int cutune_open_with(const cutune_options *options, cutune **out)
{
    static const cutune_options none = { .size = sizeof none };
    const cutune_options *o = options ? options : &none;
    struct err *err = thread_err();
    if (!out)
        return refuse(CUTUNE_ERR_INVALID, "no place for the cutune");
    if (o->size < offsetof(cutune_options, strict)) /* the first version's */
        return refuse(CUTUNE_ERR_INVALID, "the options' size is %zu: set it to sizeof(cutune_options), %zu", o->size, sizeof *o);
    if (o->refresh_ms < 0)
        return refuse(CUTUNE_ERR_INVALID, "refresh_ms is %d: it is 0 for never, or milliseconds", o->refresh_ms);
    watch_forks();
    struct cutune *c = mem_zalloc(sizeof *c);
    if (!c)
        return err_nomem(err);
    atomic_fetch_add(&open_ones, 1);
    c->generation = atomic_load(&fork_generation);
    pthread_mutex_init(&c->lock, NULL);
    pthread_mutex_init(&c->logging, NULL);
    c->capture = o->capture != 0;
    c->refresh_ms = o->refresh_ms;
    c->log = o->log;
    c->log_arg = o->log_arg;
    store_enter();
    int rc = strict_take(c, o, err) ?: take_cache(o->cache, &c->cache, err) ?: open_tables(c, o->tables, err) ?: open_database(c, o->path, err);
    store_leave();
    if (!rc && (c->capture || c->refresh_ms))
        rc = watch_start(c, err);
    if (rc) {
        cutune_close(c);
        return rc;
    }
    *out = c;
    return CUTUNE_OK;
}

int cutune_open(const char *path, cutune **out)
{
    const cutune_options options = { .size = sizeof options, .path = path };
    return cutune_open_with(&options, out);
}

void cutune_close(cutune *c)
{
    if (!c)
        return;
    watch_end(c, c->generation == atomic_load(&fork_generation));
    while (c->handles)
        cutune_detach(c->handles);
    ops_forget(c);
    for (struct known_op *k = c->ops, *next; k; k = next) {
        next = k->next;
        known_op_free(k);
    }
    /* In a child too, which else could not open the file in its own right: SQLite would go on with what it knows of the parent's
     * locks. That is safe for what was opened for reading and is at rest; what another thread was at is left as it is. */
    store_enter();
    if (pthread_mutex_trylock(&c->lock) == 0) {
        store_close(c->store);
        store_close(c->tables);
        pthread_mutex_unlock(&c->lock);
    }
    store_leave();
    mem_free(c->path);
    mem_free(c->cache);
    mem_free(c->tables_path);
    pthread_mutex_destroy(&c->lock);
    pthread_mutex_destroy(&c->logging);
    mem_free(c);
    atomic_fetch_sub(&open_ones, 1);
}

/* ---- what is there */

int reading_begin(struct cutune *c, struct err *err)
{
    store_enter();
    pthread_mutex_lock(&c->lock);
    int rc = c->store ? store_begin(c->store, false, err) : 0;
    if (rc) {
        pthread_mutex_unlock(&c->lock);
        store_leave();
    }
    return rc;
}

int reading_end(struct cutune *c, int rc, struct err *err)
{
    if (c->store)
        rc = store_end(c->store, rc, err);
    pthread_mutex_unlock(&c->lock);
    store_leave();
    return rc;
}

struct each {
    int (*call)(void *arg, const cutune_record *r);
    void *arg;
};

static int each_listed(void *arg, const struct listed *l)
{
    const struct each *e = arg;
    if (l->unverified)
        return 0;
    const cutune_record r = {
        .size = sizeof r,
        .op = l->op,
        .types = l->types,
        .sizes = l->problem,
        .backend = l->backend,
        .device = l->device,
        .arch = l->arch,
        .variant = l->variant,
        .config = l->config,
        .time_ns = l->time_ns,
        .stale = l->stale,
    };
    return e->call(e->arg, &r);
}

int listing_begin(cutune *c, bool has_function)
{
    struct err why = { 0 };
    if (!c || !has_function)
        return refuse(CUTUNE_ERR_INVALID, !c ? "no cutune given" : "no function given");
    if (check_forks(c->generation))
        return CUTUNE_ERR_INVALID;
    int rc = reading_begin(c, &why);
    return rc ? outcome(rc, &why) : 0;
}

int cutune_each(cutune *c, int (*each)(void *arg, const cutune_record *r), void *arg)
{
    struct each e = { each, arg };
    struct err why = { 0 };
    int rc = listing_begin(c, each != NULL);
    if (rc)
        return rc;
    rc = c->store ? store_each_winner(c->store, each_listed, &e, &why) : 0;
    int left_out = c->store ? store_left_out(c->store) : 0;
    if (left_out)
        say(c, "%d of the database's rows are damaged and left out", left_out);
    reading_end(c, rc, NULL);
    return why.code ? outcome(rc, &why) : rc; /* what the function returned is no failure */
}
