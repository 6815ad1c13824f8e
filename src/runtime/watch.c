/* Background work: reading new records, and writing misses. */
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "runtime/runtime.h"

enum {
    FLUSH_MS = 5000,
    MAX_WANTED = 10000, /* problems that a file keeps; an application may ask for a new one each time */
};

/* A problem that was asked for and is not tuned. */
struct miss {
    struct devspec dev;
    struct question q;
    int64_t count;
    double time_ns;
};

struct watcher {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop;
    pthread_mutex_t flushing; /* protects misses: those taken out of the tables and not written yet */
    struct miss *misses;
    int nmisses;
};

/* ---- new records */

/* The database may have appeared, disappeared or been replaced since it was opened. If it is gone, what was read of it stays in use. */
static void reopen(cutune *c)
{
    struct store *s = NULL;
    struct err why = { 0 };
    if (!c->path || (c->store && !store_replaced(c->store)))
        return;
    int rc = store_open(c->path, STORE_READ, &s, &why);
    if (!rc) {
        store_close(c->store);
        c->store = s;
        c->seen = 0; /* generations of different stores cannot be compared */
        for (struct known_op *k = c->ops; k; k = k->next) {
            k->checked = 0;
            defaults_free(k->defaults);
            k->defaults = NULL;
        }
        c->complained = false;
    } else if ((rc != ERR_NOTFOUND || c->store) && !c->complained) {
        say(c, "the database is left as it was read before: %s", why.msg);
        c->complained = true;
    }
}

/* Renews all ops. If one fails, it stays as it was, and the others are renewed. */
static int renew_all(cutune *c, int *changed, struct err *err)
{
    int first = 0;
    for (struct known_op *k = c->ops; k; k = k->next) {
        struct err why = { 0 };
        int rc = k->current ? known_op_renew(c, k, &why) : 0;
        first = err_first(err, first, rc, &why);
    }
    return table_refresh(c, first, changed, err);
}

/* Call with the lock held. */
static int refresh(cutune *c, int *changed, struct err *err)
{
    uint64_t generation = 0;
    reopen(c);
    if (!c->store)
        return 0;
    int rc = store_generation(c->store, &generation, err);
    if (rc || generation == c->seen)
        return rc;
    rc = store_begin(c->store, false, err);
    if (rc)
        return rc;
    rc = store_end(c->store, renew_all(c, changed, err), err);
    bool may_pass = rc == ERR_NOMEM || rc == ERR_IO || rc == ERR_BUSY || rc == ERR_TIMEOUT;
    if (!may_pass) /* damage stays until the next commit */
        c->seen = generation;
    return rc;
}

int cutune_refresh(cutune *c, int *changed)
{
    int n = 0;
    struct err why = { 0 };
    if (!c)
        return refuse(CUTUNE_ERR_INVALID, "no cutune given");
    if (check_forks(c->generation))
        return CUTUNE_ERR_INVALID;
    store_enter();
    pthread_mutex_lock(&c->lock);
    int rc = refresh(c, &n, &why);
    pthread_mutex_unlock(&c->lock);
    store_leave();
    if (!rc && changed)
        *changed = n;
    return outcome(rc, &why);
}

/* ---- misses */

static void misses_free(struct watcher *w)
{
    for (int i = 0; i < w->nmisses; i++)
        question_free(&w->misses[i].q);
    mem_free(w->misses);
    w->misses = NULL;
    w->nmisses = 0;
}

static int take_miss(struct watcher *w, cutune_handle *h, struct entry *e, struct err *err)
{
    const struct cutune_kernel *k = entry_kernel(e);
    uint32_t all = atomic_load_explicit(&e->own, memory_order_relaxed) + atomic_load_explicit(&e->others, memory_order_relaxed);
    struct miss miss = { .dev = h->dev, .time_ns = k ? k->time_ns : 0, .count = all - e->told };
    if (!miss.count)
        return 0;
    e->told = all;
    int rc = question_ask(h, e->op, e->types, e->sizes, e->nsizes, &miss.q, err);
    if (!rc && !mem_grow((void **)&w->misses, w->nmisses, sizeof *w->misses))
        rc = err_nomem(err);
    if (!rc) {
        w->misses[w->nmisses++] = miss;
        return 0;
    }
    question_free(&miss.q);
    if (rc == ERR_INVALID || rc == ERR_NOTFOUND) /* the op has changed since, so this cannot be tuned */
        return 0;
    e->told -= (uint32_t)miss.count;
    return rc;
}

/* Takes the counts out of the tables, with the lock held; they are written without it. Goes on after a failure, and returns the first. */
static int collect(cutune *c, struct err *err)
{
    int first = 0;
    pthread_mutex_lock(&c->lock);
    for (cutune_handle *h = c->handles; h; h = h->next)
        for (struct entry *e = h->entries; e; e = e->next) {
            struct err why = { 0 };
            int rc = take_miss(c->watcher, h, e, &why);
            first = err_first(err, first, rc, &why);
        }
    pthread_mutex_unlock(&c->lock);
    return first;
}

/* What cannot be written stays for the next time. */
static int write_down(cutune *c, enum store_mode mode, struct err *err)
{
    struct watcher *w = c->watcher;
    struct store *s;
    int rc = c->path ? store_open(c->path, mode, &s, err)
                     : err_set(err, ERR_NOTFOUND, "there is no place for the database: set CUTUNE_DB to its path, or HOME");
    if (rc)
        return rc;
    rc = store_begin(s, true, err);
    if (!rc) {
        for (int i = 0; !rc && i < w->nmisses; i++) {
            const struct miss *m = &w->misses[i];
            rc = store_wanted_add(s, &m->dev, m->q.op->name, buf_text(&m->q.types), buf_text(&m->q.sizes), m->count, m->time_ns,
                                  err);
        }
        rc = store_end(s, rc ?: store_wanted_trim(s, MAX_WANTED, err), err);
    }
    store_close(s);
    if (!rc)
        misses_free(w);
    return rc;
}

static int write_misses(cutune *c, enum store_mode mode, struct err *err)
{
    struct watcher *w = c->watcher;
    struct err why = { 0 }, later = { 0 };
    if (!c->capture || !w)
        return 0;
    store_enter();
    pthread_mutex_lock(&w->flushing);
    int rc = collect(c, &why);
    rc = err_first(&why, rc, w->nmisses ? write_down(c, mode, &later) : 0, &later);
    pthread_mutex_unlock(&w->flushing);
    store_leave();
    if (rc)
        say(c, "misses were not written: %s", why.msg);
    return rc ? err_set(err, rc, "%s", why.msg) : 0;
}

int watch_flush(cutune *c, struct err *err)
{
    return write_misses(c, STORE_WRITE, err);
}

int cutune_flush(cutune *c)
{
    if (!c)
        return refuse(CUTUNE_ERR_INVALID, "no cutune given");
    return check_forks(c->generation) ? CUTUNE_ERR_INVALID : watch_flush(c, thread_err());
}

/* ---- the thread */

static int64_t due(int64_t in_ms)
{
    return in_ms > 0 ? clock_ns() + in_ms * 1000000 : INT64_MAX;
}

static void *watch(void *arg)
{
    cutune *c = arg;
    struct watcher *w = c->watcher;
    int64_t refresh_at = due(c->refresh_ms), flush_at = due(c->capture ? FLUSH_MS : 0);
    bool complained = false;
    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        int64_t next = refresh_at < flush_at ? refresh_at : flush_at;
        struct timespec at = { .tv_sec = next / 1000000000, .tv_nsec = next % 1000000000 };
        if (clock_ns() < next) {
            pthread_cond_timedwait(&w->wake, &w->lock, &at);
            continue;
        }
        pthread_mutex_unlock(&w->lock);
        if (flush_at <= next) {
            write_misses(c, STORE_WRITE_SOON, NULL); /* if it is busy, the next time */
            flush_at = due(FLUSH_MS);
        }
        if (refresh_at <= next) {
            bool failed = cutune_refresh(c, NULL) != CUTUNE_OK;
            if (failed && !complained)
                say(c, "new records were not read: %s", cutune_error());
            complained = failed;
            refresh_at = due(c->refresh_ms);
        }
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

int watch_start(cutune *c, struct err *err)
{
    struct watcher *w = mem_zalloc(sizeof *w);
    pthread_condattr_t monotonic;
    sigset_t all, before;
    if (!w)
        return err_nomem(err);
    pthread_mutex_init(&w->lock, NULL);
    pthread_mutex_init(&w->flushing, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    c->watcher = w;
    sigfillset(&all); /* signals are for the application's own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&w->thread, NULL, watch, c);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        watch_end(c, false);
        return err_set(err, ERR_IO, "cannot start a thread: %s", strerror(failed));
    }
    return 0;
}

void watch_end(cutune *c, bool here)
{
    struct watcher *w = c->watcher;
    if (!w)
        return;
    if (here) {
        pthread_mutex_lock(&w->lock);
        w->stop = true;
        pthread_cond_signal(&w->wake);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
        watch_flush(c, NULL);
        pthread_cond_destroy(&w->wake);
        pthread_mutex_destroy(&w->lock);
        pthread_mutex_destroy(&w->flushing);
    }
    misses_free(w);
    mem_free(w);
    c->watcher = NULL;
}
