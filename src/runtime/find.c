/* The order of the look-up: exact, near, from another device, default. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/kernel.h"
#include "runtime/near.h"
#include "runtime/runtime.h"

/* One search: for the kernel itself, or for what stands in for it where a buffer is less aligned than it needs. */
struct lookup {
    cutune_handle *h;
    const struct question *q;
    bool plain; /* only what needs nothing of its buffers */
    struct cutune_kernel *now, *found;
    struct err damage;  /* the first that was passed over */
    int64_t stale;      /* winners of before the op changed: counted if nothing else is found */
    int tried;          /* records, */
    size_t tried_bytes; /* and what they were of */
};

/* Asking each of a file's records would have no end. */
static bool weary(const struct lookup *s)
{
    return s->tried >= MOST_TRIED || s->tried_bytes > MOST_TRIED_BYTES;
}

static bool refused(int rc) /* by the record, its constraints or the device: the next may do */
{
    return rc == ERR_UNSUPPORTED || rc == ERR_CORRUPT || rc == ERR_NOTFOUND || rc == ERR_INVALID;
}

/* The kernel in use is still the one: the same record, found the same way. */
static bool still(const struct lookup *s, const struct cutune_kernel *k, bool tables, int64_t record, double record_ns,
                  cutune_match match, const char *variant, const char *config)
{
    return k && k->handle == s->h && k->known == s->q->known && k->from_tables == tables && k->record == record &&
           k->record_ns == record_ns && k->match == match && !strcmp(k->variant, variant) && !strcmp(k->config, config);
}

static int explain(struct lookup *s, cutune_match match, const char *why, struct err *err)
{
    struct cutune_kernel *k = s->found;
    k->known = s->q->known;
    k->row = s->q->row;
    k->problem = s->q->problem;
    k->match = match;
    k->why = arena_strdup(k->arena, why);
    return k->why ? 0 : err_nomem(err);
}

/* Makes the kernel of a winner's record, which it takes over. */
static int use(struct lookup *s, struct tuned *t, cutune_match match, double time_ns, const char *why, struct err *err)
{
    int rc = (s->plain && t->op->variants->nneeds ? err_set(err, ERR_UNSUPPORTED, "it needs aligned buffers") : 0)
                 ?: kernel_new(s->h, s->q, t, &s->found, err);
    if (!rc) {
        s->found->record_ns = t->time_ns;
        s->found->time_ns = time_ns;
        rc = explain(s, match, why, err);
    }
    tuned_free(t);
    return rc;
}

/* Makes the kernel of a problem's winner, or keeps the one in use. */
static int make(struct lookup *s, const struct known_device *d, const struct tuned_problem *p, cutune_match match, double time_ns,
                const char *why, struct err *err)
{
    struct buf config = { 0 };
    bool same = config_of_json(&config, p->json) && still(s, s->now, false, 0, p->time_ns, match, p->variant, buf_text(&config));
    buf_free(&config);
    if (same) {
        s->found = s->now;
        return 0;
    }
    struct tuned *t = NULL;
    return winner_load(s->h->owner->store, s->q->op, d, p, true, &t, err) ?: use(s, t, match, time_ns, why, err);
}

/* What is known of the handle's device; null for nothing. */
static struct known_device *own_device(const struct lookup *s)
{
    const struct knowledge *all = s->q->known->all;
    for (int i = 0; all && i < all->ndevices; i++)
        if (devspec_same(&all->devices[i].dev, &s->h->dev))
            return &all->devices[i];
    return NULL;
}

static const struct tuned_problem *exact_of(const struct known_device *d, const struct question *q)
{
    for (int i = 0; i < d->nproblems; i++)
        if (d->problems[i].row == q->row && !memcmp(&d->problems[i].problem, &q->problem, sizeof q->problem))
            return &d->problems[i];
    return NULL;
}

/* Straight from the store, so that an application's first launch waits for no more than its own record. */
static int read_exact(struct lookup *s, const char *why, struct err *err)
{
    const struct question *q = s->q;
    struct tuned *t = NULL;
    int rc =
        store_find_winner(s->h->owner->store, &s->h->dev, q->op->name, buf_text(&q->types), buf_text(&q->sizes), true, &t, err);
    if (rc)
        return rc;
    if (still(s, s->now, false, 0, t->time_ns, CUTUNE_MATCH_EXACT, t->variant, t->config)) {
        s->found = s->now;
        tuned_free(t);
        return 0;
    }
    return use(s, t, CUTUNE_MATCH_EXACT, t->time_ns, why, err);
}

static int find_exact(struct lookup *s, struct err *err)
{
    char why[512];
    const struct question *q = s->q;
    const struct known_device *d = own_device(s);
    const struct tuned_problem *p = d ? exact_of(d, q) : NULL;
    snprintf(why, sizeof why, "exact: tuned on %s for %s %s", s->h->dev.name, buf_text(&q->types), buf_text(&q->sizes));
    int rc = ERR_NOTFOUND;
    if (!q->known->all || (!p && q->known->all->cut))
        rc = read_exact(s, why, err);
    else if (p)
        rc = make(s, d, p, CUTUNE_MATCH_EXACT, p->time_ns, why, err);
    if (refused(rc) && rc != ERR_NOTFOUND &&
        !s->plain) /* it was tuned for this: whatever changed, the record is not to be trusted */
        say(s->h->owner, "the record of %s %s %s does not hold for its own problem, and is passed over: %s", q->op->name,
            buf_text(&q->types), buf_text(&q->sizes), err->msg);
    return rc;
}

/* The distances from the question to a device's problems; negative if they do not compare. */
static double *distances(const struct known_device *d, const struct question *q)
{
    const struct op *op = q->op;
    struct near_point here = { 0 };
    int bytes[MAX_TYPES];
    for (int t = 0; t < op->ntypes; t++)
        bytes[t] = op->rows[q->row * op->ntypes + t]->bytes;
    near_point_set(&here, q->problem.size, op->naxes, bytes, op->ntypes);
    double *out = mem_array((size_t)d->nproblems, sizeof *out);
    for (int i = 0; out && i < d->nproblems; i++)
        out[i] = d->problems[i].flags == q->flags ? near_distance(&here, d->problems[i].point, op->naxes, op->ntypes) : -1;
    return out;
}

/* What the question's work should take on the device: the nearest tuned problem's time for its own, of the same types where there are. */
static double expected_ns(const struct lookup *s, const struct known_device *d, const struct candidate *c, const double *distance,
                          double loss)
{
    const struct question *q = s->q;
    struct val slots[MAX_SLOTS];
    double bytes = 0, flops = 0;
    plan_slots(c->plan, &q->problem, q->row, &s->h->dev, &only_config, slots);
    if (plan_work(c->plan, slots, &bytes, &flops, NULL))
        return 0;
    const struct tuned_problem *nearest = NULL;
    double least = INFINITY, work = bytes > 0 ? bytes : flops;
    for (int i = 0; i < d->nproblems; i++)
        if (distance[i] >= 0 && distance[i] + (d->problems[i].row == q->row ? 0 : 100) < least) {
            least = distance[i] + (d->problems[i].row == q->row ? 0 : 100);
            nearest = &d->problems[i];
        }
    if (!nearest || nearest->work <= 0 || work <= 0)
        return 0;
    return nearest->time_ns * work / nearest->work * exp(loss);
}

static bool may_run(struct lookup *s, const struct known_device *d, struct candidate *c)
{
    struct err why = { 0 };
    struct val slots[MAX_SLOTS];
    int rc = candidate_plan(s->h->owner->store, s->q->op, d, c, &why);
    s->tried++;
    s->tried_bytes += c->tuned ? c->tuned->bytes : 0;
    if (rc && why.msg[0])
        say(s->h->owner, "a record of %s is passed over: %s", s->q->op->name, why.msg);
    if (rc || (s->plain && c->tuned->op->variants->nneeds))
        return false;
    plan_slots(c->plan, &s->q->problem, s->q->row, &s->h->dev, &only_config, slots);
    return !plan_refuses(c->plan, slots, &s->h->dev);
}

/* Behind a reason, where not all was looked at. */
static const char *bounds_text(const struct lookup *s)
{
    const struct knowledge *all = s->q->known->all;
    return !all || !all->cut ? "" : " (the file has more winners or times than a look-up reads: of the first ones)";
}

static void explain_near(char *out, size_t size, const struct lookup *s, const struct known_device *d,
                         const struct tuned_problem *p, cutune_match match, double loss)
{
    const struct question *q = s->q;
    struct buf tuned = { 0 };
    problem_print(&tuned, q->op, &p->problem);
    const char *what = buf_text(&q->sizes), *other = buf_text(&tuned), *bounds = bounds_text(s);
    if (match == CUTUNE_MATCH_NEAR)
        snprintf(out, size,
                 "near: %s %s is not tuned on %s; of the winners there that of %s should be best, within %.0f%% of a tuned one%s",
                 buf_text(&q->types), what, s->h->dev.name, other, 100 * expm1(loss), bounds);
    else /* how much is lost between two devices nothing tells */
        snprintf(out, size, "device: %s %s is not tuned on %s; of the winners on %s that of %s should be best%s",
                 buf_text(&q->types), what, s->h->dev.name, d->dev.name, other, bounds);
    buf_free(&tuned);
}

/* What each candidate should lose; infinite for one that does not fit. */
static double *losses(const struct known_device *d, const struct question *q, const double *distance)
{
    const struct knowledge *all = q->known->all;
    double *loss = mem_array((size_t)d->ncandidates, sizeof *loss);
    for (int i = 0; loss && i < d->ncandidates; i++) {
        const struct candidate *c = &d->candidates[i];
        int from = all->first[c->column], n = all->first[c->column + 1] - from;
        bool fits = c->row == q->row && c->flags == q->flags;
        loss[i] = fits ? near_loss(distance, &all->times[from], n) : INFINITY;
    }
    return loss;
}

/* The best of a device's candidates: asked in the order of what they should lose, so that few records are read. */
static int find_on(struct lookup *s, struct known_device *d, cutune_match match, struct err *err)
{
    double *distance = distances(d, s->q), *loss = distance ? losses(d, s->q, distance) : NULL;
    int rc = loss ? ERR_NOTFOUND : err_nomem(err);
    while (refused(rc) && !weary(s)) {
        int best = -1;
        for (int i = 0; i < d->ncandidates; i++)
            if (loss[i] < INFINITY && (best < 0 || loss[i] < loss[best]))
                best = i;
        if (best < 0)
            break;
        struct candidate *c = &d->candidates[best];
        double expected = loss[best];
        loss[best] = INFINITY;
        if (may_run(s, d, c)) {
            double time_ns = expected_ns(s, d, c, distance, expected);
            char why[512];
            const struct tuned_problem *p = &d->problems[c->problem];
            explain_near(why, sizeof why, s, d, p, match, expected);
            rc = make(s, d, p, match, time_ns, why, err);
        }
        candidate_done(s->q->known->all, c);
    }
    mem_free(distance);
    mem_free(loss);
    return rc;
}

/* How far another device is: architecture first, then size. Negative: its kernels do not run here. */
static double device_distance(const struct devspec *here, const struct devspec *other)
{
    if (strcmp(here->backend, other->backend))
        return -1;
    double d = strcmp(here->arch, other->arch) ? 1000 : 0;
    return d + fabs(log((here->multiprocessors + 1.0) / (other->multiprocessors + 1.0)));
}

struct far_device {
    double distance;
    int at;
};

static int by_distance(const void *a, const void *b)
{
    const struct far_device *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static int find_elsewhere(struct lookup *s, const struct known_device *own, struct err *err)
{
    struct knowledge *all = s->q->known->all;
    struct far_device *order = mem_array((size_t)all->ndevices, sizeof *order);
    int n = 0, rc = order ? ERR_NOTFOUND : err_nomem(err);
    for (int i = 0; order && i < all->ndevices; i++) {
        double d = device_distance(&s->h->dev, &all->devices[i].dev);
        if (d >= 0 && &all->devices[i] != own)
            order[n++] = (struct far_device){ d, i };
    }
    if (order)
        qsort(order, (size_t)n, sizeof *order, by_distance);
    for (int i = 0; i < n && refused(rc) && !weary(s); i++)
        rc = find_on(s, &all->devices[order[i].at], CUTUNE_MATCH_DEVICE, err);
    mem_free(order);
    return rc;
}

static const char *stale_words(const struct lookup *s)
{
    return s->stale ? " (what was proved before the op changed is not used)" : "";
}

/* Defaults on their way. */
struct defaults {
    struct lookup *s;
    bool tables;
    char why[640];
    size_t bytes; /* of code that was read */
    int rc;
    struct err *err;
};

enum { FOUND = 1, MOST_CODE_BYTES = 256 << 20 };

/* The first that may run here, or is in use. */
static int try_default(void *arg, struct tuned *t)
{
    struct defaults *d = arg;
    struct lookup *s = d->s;
    const struct question *q = s->q;
    if (s->plain && t->op->variants->nneeds)
        return 0;
    if (still(s, s->now, d->tables, -1 - t->rank, 0, CUTUNE_MATCH_DEFAULT, t->variant, t->config)) {
        s->found = s->now;
        d->rc = 0;
        return FOUND;
    }
    d->rc = kernel_new(s->h, q, t, &s->found, d->err);
    if (!d->rc) {
        s->found->record = -1 - t->rank;
        s->found->from_tables = d->tables;
        d->rc = explain(s, CUTUNE_MATCH_DEFAULT, d->why, d->err);
    }
    d->bytes += t->binary_bytes + t->bytes;
    return refused(d->rc) && d->bytes < MOST_CODE_BYTES ? 0 : FOUND;
}

/* The first of a store's defaults that may run here. */
static int find_default(struct lookup *s, struct store *from, struct err *err)
{
    const struct question *q = s->q;
    if (s->h->owner->store)
        store_stale_winners(s->h->owner->store, q->op->name, &s->stale, NULL); /* only to be told */
    struct defaults d = { .s = s, .tables = from != s->h->owner->store, .rc = ERR_NOTFOUND, .err = err };
    snprintf(d.why, sizeof d.why,
             "default: no kernel tuned for %s %s may run for %s on %s%s%s; the first of the %s defaults that may", q->op->name,
             buf_text(&q->types), buf_text(&q->sizes), s->h->dev.name, stale_words(s),
             weary(s) ? " (of those that should be best: not all were asked)" : "", d.tables ? "shipped tables'" : "database's");
    int rc = store_each_default(from, s->h->dev.backend, q->op->name, buf_text(&q->types), try_default, &d, err);
    return rc < 0 ? rc : d.rc;
}

/* Remembers damage: if nothing else is found, that is what its owner has to know. The store names its file itself, what is made of
 * its records does not. */
static int noted(struct lookup *s, const struct store *from, int rc, const struct err *err)
{
    if (rc == ERR_CORRUPT && !s->damage.code) {
        s->damage = *err;
        if (strncmp(err->msg, store_path(from), strlen(store_path(from))))
            err_prefix(&s->damage, "%s: ", store_path(from));
    }
    return rc;
}

static int find_one(struct lookup *s, struct err *err)
{
    struct cutune *c = s->h->owner;
    struct known_op *known = s->q->known;
    int rc = ERR_NOTFOUND;
    if (c->store && known->in_store) {
        rc = noted(s, c->store, find_exact(s, err), err);
        if (rc == ERR_NOTFOUND)
            err->msg[0] = 0; /* no refusal */
        if (refused(rc) && !known->all) {
            int failed = noted(s, c->store, knowledge_load(c->store, known->op, &known->all, err), err);
            if (failed && !refused(failed))
                return failed;
        }
        struct known_device *own = own_device(s);
        if (refused(rc) && own)
            rc = noted(s, c->store, find_on(s, own, CUTUNE_MATCH_NEAR, err), err);
        if (refused(rc) && known->all)
            rc = noted(s, c->store, find_elsewhere(s, own, err), err);
        if (refused(rc))
            rc = noted(s, c->store, find_default(s, c->store, err), err);
    }
    if (refused(rc) && known_op_shipped(c, known))
        rc = noted(s, tables_of(c), find_default(s, tables_of(c), err), err);
    return rc;
}

/* Whether there are buffers that only this kernel minds. */
static bool asks(const struct cutune_kernel *k)
{
    bool any = k->need;
    for (int i = 0; i < k->npairs; i++)
        any |= !k->pairs[i].hard;
    return any;
}

int find_kernel(cutune_handle *h, const struct question *q, struct cutune_kernel *now, struct cutune_kernel **out, struct err *err)
{
    struct lookup s = { .h = h, .q = q, .now = now };
    struct err why = { 0 };
    int rc = find_one(&s, &why);
    if (refused(rc) && s.damage.code)
        return err_set(err, ERR_CORRUPT, "%s", s.damage.msg);
    if (refused(rc))
        return err_set(err, ERR_NOTFOUND, "no kernel for %s %s %s on %s: nothing tuned%s and no default may run there%s%.200s",
                       q->op->name, buf_text(&q->types), buf_text(&q->sizes), h->dev.name, stale_words(&s),
                       why.msg[0] ? "; the last refusal: " : "", why.msg);
    if (rc)
        return err_set(err, rc, "%s", why.msg);
    *out = s.found;
    return 0;
}

/* The kernel for the same problem that asks nothing of its buffers; null if there is none. Under the lock. */
static int find_plain(const struct cutune_kernel *k, struct cutune_kernel **out, struct err *err)
{
    struct question q = { .known = k->known, .op = k->known->op, .row = k->row, .problem = k->problem };
    struct err why = { 0 };
    q.flags = problem_flags(q.op, &q.problem);
    op_row_print(&q.types, q.op, q.row);
    problem_print(&q.sizes, q.op, &q.problem);
    struct lookup s = { .h = k->handle, .q = &q, .plain = true };
    int rc = q.types.failed || q.sizes.failed ? err_nomem(&why) : find_one(&s, &why);
    question_free(&q);
    *out = rc ? NULL : s.found;
    return rc && !refused(rc) ? err_set(err, rc, "%s", why.msg) : 0;
}

int kernel_fallback(const struct cutune_kernel *kernel, struct cutune_kernel **out, struct err *err)
{
    struct cutune_kernel *k = (struct cutune_kernel *)kernel; /* this is found when it is first asked for */
    struct cutune *c = k->handle->owner;
    *out = NULL;
    int rc = check_forks(k->handle->generation);
    if (!rc && asks(k) && !atomic_load_explicit(&k->fallback_found, memory_order_acquire)) {
        store_enter();
        pthread_mutex_lock(&c->lock);
        if (!atomic_load_explicit(&k->fallback_found, memory_order_relaxed)) {
            rc = c->store ? store_begin(c->store, false, err) : 0;
            if (!rc) {
                rc = find_plain(k, &k->fallback, err);
                rc = c->store ? store_end(c->store, rc, err) : rc;
            }
            if (!rc)
                atomic_store_explicit(&k->fallback_found, true, memory_order_release);
        }
        pthread_mutex_unlock(&c->lock);
        store_leave();
    }
    if (!rc)
        *out = k->fallback;
    return rc;
}
