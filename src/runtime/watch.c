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

/* A problem that was asked for and is not tuned, in the form that the store takes. */
struct miss {
    struct devspec dev;
    char *op;
    struct buf types, sizes;
    int64_t count;
    double time_ns;
};

struct misses {
    int n;
    struct miss *all;
};

struct watcher {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop;
    pthread_mutex_t flushing; /* protects misses: those taken out of the tables and not written yet */
    struct misses misses;
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
        for (struct known_op *k = c->ops; k; k = k->next)
            k->checked = 0;
        c->complained = false;
    } else if ((rc != ERR_NOTFOUND || c->store) && !c->complained) {
        say(c, "the database is left as it was read before: %s", why.msg);
        c->complained = true;
    }
}

/* Reads the current form of an op and what is known of it. If the form has changed, kernels of the earlier form keep that one. */
static int renew(cutune *c, struct known_op **at, struct err *err)
{
    struct known_op *old = *at, *now = NULL;
    int rc = known_op_new(c, old->op->name, &now, err);
    if (!rc && old->all && now->in_store)
        rc = knowledge_load(c->store, now->op, &now->all, err);
    if (rc) {
        known_op_free(now);
        return rc == ERR_NOTFOUND ? 0 : rc;
    }
    if (known_op_same(old, now)) {
        struct knowledge *all = old->all;
        old->all = now->all;
        now->all = all;
        old->in_store = now->in_store;
        known_op_free(now);
    } else {
        old->current = false;
        now->current = true;
        now->next = c->ops;
        c->ops = now;
    }
    return 0;
}

/* Renews all ops. If one fails, it stays as it was, and the others are renewed. */
static int renew_all(cutune *c, int *changed, struct err *err)
{
    int first = 0;
    for (struct known_op **k = &c->ops; *k; k = &(*k)->next) {
        struct err why = { 0 };
        int rc = (*k)->current ? renew(c, k, &why) : 0;
        first = err_first(err, first, rc, &why);
    }
    for (cutune_handle *h = c->handles; h; h = h->next) {
        struct err why = { 0 };
        int rc = table_refresh(h, changed, &why);
        first = err_first(err, first, rc, &why);
    }
    return first;
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

static void miss_free(struct miss *m)
{
    mem_free(m->op);
    buf_free(&m->types);
    buf_free(&m->sizes);
}

static void misses_free(struct misses *m)
{
    for (int i = 0; i < m->n; i++)
        miss_free(&m->all[i]);
    mem_free(m->all);
    *m = (struct misses){ 0 };
}

static int add_miss(struct misses *m, struct miss miss)
{
    struct miss *more = miss.op ? mem_resize(m->all, (size_t)m->n + 1, sizeof *more) : NULL;
    if (!more) {
        miss_free(&miss);
        return ERR_NOMEM;
    }
    m->all = more;
    more[m->n++] = miss;
    return 0;
}

static int take_miss(struct misses *m, cutune_handle *h, struct entry *e, struct err *err)
{
    uint64_t count = atomic_exchange_explicit(&e->count, 0, memory_order_relaxed);
    struct cutune_kernel *k = atomic_load_explicit(&e->kernel, memory_order_relaxed);
    struct question q;
    if (!count)
        return 0;
    int rc = question_ask(h, e->op, e->types, e->sizes, e->nsizes, &q, err);
    if (rc) {
        question_free(&q);
    } else {
        struct miss miss = { .dev = h->dev, .op = mem_strdup(e->op), .types = q.types, .sizes = q.sizes };
        miss.count = count < INT64_MAX ? (int64_t)count : INT64_MAX;
        miss.time_ns = k ? k->time_ns : 0;
        rc = add_miss(m, miss) ? err_nomem(err) : 0;
    }
    if (rc == ERR_INVALID || rc == ERR_NOTFOUND) /* the op has changed since, so this cannot be tuned */
        return 0;
    if (rc)
        atomic_fetch_add_explicit(&e->count, count, memory_order_relaxed);
    return rc;
}

/* Takes the counts out of the tables, with the lock held; they are written without it. Goes on after a failure, and returns the first. */
static int collect(cutune *c, struct misses *m, struct err *err)
{
    int first = 0;
    pthread_mutex_lock(&c->lock);
    for (cutune_handle *h = c->handles; h; h = h->next) {
        struct table *t = atomic_load_explicit(&h->table, memory_order_relaxed);
        for (uint64_t i = 0; i <= t->mask; i++) {
            struct entry *e = atomic_load_explicit(&t->slots[i], memory_order_relaxed);
            struct err why = { 0 };
            int rc = e ? take_miss(m, h, e, &why) : 0;
            first = err_first(err, first, rc, &why);
        }
    }
    pthread_mutex_unlock(&c->lock);
    return first;
}

static int write_down(cutune *c, const struct misses *m, enum store_mode mode, struct err *err)
{
    struct store *s;
    int rc = c->path ? store_open(c->path, mode, &s, err)
                     : err_set(err, ERR_NOTFOUND, "there is no place for the database: set CUTUNE_DB to its path, or HOME");
    if (rc)
        return rc;
    rc = store_begin(s, true, err);
    bool begun = !rc;
    for (int i = 0; !rc && i < m->n; i++) {
        const struct miss *miss = &m->all[i];
        rc = store_wanted_add(s, &miss->dev, miss->op, buf_text(&miss->types), buf_text(&miss->sizes), miss->count, miss->time_ns,
                              err);
    }
    rc = rc ?: store_wanted_trim(s, MAX_WANTED, err);
    if (begun)
        rc = store_end(s, rc, err);
    store_close(s);
    return rc;
}

/* Call with `flushing` held. What cannot be written stays for the next time. */
static int flush(cutune *c, struct misses *m, enum store_mode mode, struct err *err)
{
    struct err why = { 0 };
    int failed = collect(c, m, &why);
    int rc = m->n ? write_down(c, m, mode, err) : 0;
    if (rc)
        return rc;
    misses_free(m);
    return failed ? err_set(err, failed, "%s", why.msg) : 0;
}

static int write_misses(cutune *c, enum store_mode mode, struct err *err)
{
    struct watcher *w = c->watcher;
    struct err why = { 0 };
    if (!c->capture || !w)
        return 0;
    store_enter();
    pthread_mutex_lock(&w->flushing);
    int rc = flush(c, &w->misses, mode, &why);
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

static int64_t due(int64_t last, int64_t every_ms)
{
    return every_ms > 0 ? last + every_ms * 1000000 : INT64_MAX;
}

static void *watch(void *arg)
{
    cutune *c = arg;
    struct watcher *w = c->watcher;
    int64_t refreshed = clock_ns(), flushed = refreshed;
    bool complained = false;
    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        int64_t next_refresh = due(refreshed, c->refresh_ms), next_flush = due(flushed, c->capture ? FLUSH_MS : 0);
        int64_t next = next_refresh < next_flush ? next_refresh : next_flush;
        struct timespec at = { .tv_sec = next / 1000000000, .tv_nsec = next % 1000000000 };
        if (clock_ns() < next) {
            pthread_cond_timedwait(&w->wake, &w->lock, &at);
            continue;
        }
        pthread_mutex_unlock(&w->lock);
        if (next_flush <= next) {
            write_misses(c, STORE_WRITE_SOON, NULL); /* if it is busy, the next time */
            flushed = clock_ns();
        }
        if (next_refresh <= next) {
            bool failed = cutune_refresh(c, NULL) != CUTUNE_OK;
            if (failed && !complained)
                say(c, "new records were not read: %s", cutune_error());
            complained = failed;
            refreshed = clock_ns();
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
        watch_forget(c);
        return err_set(err, ERR_IO, "cannot start a thread: %s", strerror(failed));
    }
    return 0;
}

void watch_stop(cutune *c)
{
    struct watcher *w = c->watcher;
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    watch_flush(c, NULL);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    pthread_mutex_destroy(&w->flushing);
    watch_forget(c);
}

void watch_forget(cutune *c)
{
    if (c->watcher)
        misses_free(&c->watcher->misses);
    mem_free(c->watcher);
    c->watcher = NULL;
}
