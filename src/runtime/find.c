/* The order of the look-up: exact, near, from another device, default; each in the database and in the shipped tables. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/kernel.h"
#include "runtime/runtime.h"

/* One search: for the kernel itself, or for what stands in for it if a buffer is less aligned than it needs. */
struct lookup {
    cutune_handle *h;
    const struct question *q;
    bool plain;         /* only what needs nothing of its buffers */
    struct store *from; /* the database, or else the shipped tables */
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

static bool from_tables(const struct lookup *s)
{
    return s->from != s->h->owner->store;
}

static const struct knowledge *known_there(const struct lookup *s)
{
    return from_tables(s) ? s->q->known->in_tables : s->q->known->all;
}

/* Whether the kernel in use is of this record, and found in the same way. */
static bool still(const struct lookup *s, cutune_match match, int rank, double time_ns, const char *variant, const char *json)
{
    const struct cutune_kernel *k = s->now;
    return k && k->known == s->q->known && k->match == match && k->from_tables == from_tables(s) && k->rank == rank &&
           k->record_ns == time_ns && !strcmp(k->variant, variant) && !strcmp(k->json, json);
}

static bool asks_of_buffers(const struct variant *v)
{
    bool asks = v->nneeds > 0;
    for (int i = 0; i < v->nlaunches; i++)
        for (int k = 0; k < v->launches[i].nviews; k++)
            asks = asks || view_align(&v->launches[i].views[k]) > 1;
    return asks;
}

/* Makes the kernel of a record, which it takes over; or keeps the one in use. */
static int serve(struct lookup *s, struct tuned *t, cutune_match match, double time_ns, const char *why, struct err *err)
{
    struct cutune_kernel *k;
    if (still(s, match, t->rank, t->time_ns, t->variant, t->json) && s->now->pinned == t->pinned) {
        s->found = s->now;
        tuned_free(t);
        return 0;
    }
    if (s->plain && asks_of_buffers(t->op->variants)) {
        tuned_free(t);
        return err_set(err, ERR_UNSUPPORTED, "it needs aligned buffers");
    }
    struct buf told = { 0 };
    buf_str(&told, why);
    if (match != CUTUNE_MATCH_DEFAULT) /* which was tuned on nothing */
        op_data_print(&told, t->op, "; tuned on the data of ");
    if (match != CUTUNE_MATCH_DEFAULT && from_tables(s))
        buf_str(&told, "; in the shipped tables");
    int rc = kernel_new(s->h, s->q, t, &k, err); /* the record is gone, if its code was there */
    if (!rc) {
        k->match = match;
        k->from_tables = from_tables(s);
        k->time_ns = time_ns;
        k->why = arena_strdup(k->arena, buf_text(&told));
        s->found = k;
        rc = k->why ? buf_check(&told, err) : err_nomem(err);
    }
    buf_free(&told);
    return rc;
}

/* Of what won elsewhere, or is a default: not if it is known to fail for this problem. */
static int check_failed(const struct lookup *s, const char *variant, const char *json, struct err *err)
{
    const struct question *q = s->q;
    struct store *database = s->h->owner->store;
    bool failed = false;
    int rc = 0;
    if (database && q->known->in_store)
        rc = store_failed_for(database, &s->h->dev, q->op->name, buf_text(&q->types), buf_text(&q->sizes), variant, json,
                              &failed, err);
    return rc ?: failed ? err_set(err, ERR_UNSUPPORTED, "%s %s failed for this problem here", variant, json) : 0;
}

/* ---- exact */

/* Whether the store may have it: false if all that is tuned was read, and this problem is not there. */
static bool may_be_exact(const struct lookup *s)
{
    const struct knowledge *all = known_there(s);
    bool may = !all || all->cut;
    for (int i = 0; !may && i < all->nproblems; i++)
        may = all->problems[i]->row == s->q->row && !strcmp(all->problems[i]->sizes, buf_text(&s->q->sizes));
    return may;
}

/* Straight from the store, so that an application's first launch waits for no more than its own record. */
static int find_exact(struct lookup *s, struct err *err)
{
    char why[512];
    const struct question *q = s->q;
    const char *types = buf_text(&q->types), *sizes = buf_text(&q->sizes);
    struct tuned *t = NULL;
    struct err none = { 0 };
    int rc = ERR_NOTFOUND;
    if (may_be_exact(s))
        rc = store_find_winner(s->from, &s->h->dev, q->op->name, types, sizes, &t, &none);
    if (rc && rc != ERR_NOTFOUND) /* that is no refusal */
        *err = none;
    if (!rc) {
        snprintf(why, sizeof why, "exact: %s on %s for %s %s", t->pinned ? "pinned" : "tuned", s->h->dev.name, types, sizes);
        rc = serve(s, t, CUTUNE_MATCH_EXACT, t->time_ns, why, err);
    }
    if (rc != ERR_NOTFOUND && refused(rc) && !s->plain) /* it was tuned for this: whatever changed, the record is not to be trusted */
        say(s->h->owner, "the record of %s %s %s does not hold for its own problem, and is passed over: %s", q->op->name, types,
            sizes, err->msg);
    return rc;
}

/* ---- near, and from another device */

/* A device's problems, and its candidates. */
static struct tuned_problem **problems_of(const struct lookup *s, const struct known_device *d)
{
    return known_there(s)->problems + d->problems;
}

static struct tuned_problem **candidates_of(const struct lookup *s, const struct known_device *d)
{
    return known_there(s)->candidates + d->candidates;
}

static bool fits(const struct lookup *s, const struct tuned_problem *p)
{
    return p->row == s->q->row && p->flags == s->q->flags && !p->unusable;
}

/* What the question's work should take on the device with no loss: the nearest tuned problem's time for its own, of the same types if
 * there is one. */
static double expected_ns(const struct lookup *s, const struct known_device *d, const double *distance)
{
    struct val slots[MAX_SLOTS];
    double bytes = 0, flops = 0, least = INFINITY;
    const struct tuned_problem *nearest = NULL;
    const struct plan *plan = known_there(s)->plan;
    plan_slots(plan, &s->q->problem, s->q->row, &s->h->dev, NULL, slots);
    if (plan_work(plan, slots, &bytes, &flops, NULL))
        return 0;
    for (int i = 0; i < d->nproblems; i++) {
        const struct tuned_problem *p = problems_of(s, d)[i];
        double far = distance[i] + (p->row == s->q->row ? 0 : 100);
        if (distance[i] >= 0 && far < least) {
            least = far;
            nearest = p;
        }
    }
    double work = bytes > 0 ? bytes : flops;
    return nearest && nearest->work > 0 && work > 0 ? nearest->time_ns * work / nearest->work : 0;
}

/* Serves the winner of p, or keeps it as the one in use. */
static int serve_winner(struct lookup *s, const struct known_device *d, const struct tuned_problem *p, double loss, double time_ns,
                        struct err *err)
{
    char why[640];
    const char *op = s->q->op->name, *types = buf_text(&s->q->types), *sizes = buf_text(&s->q->sizes), *here = s->h->dev.name;
    const char *bounds =
        known_there(s)->cut ? " (the file has more winners or times than a look-up reads: of the first ones)" : "";
    cutune_match match = devspec_same(&d->dev, &s->h->dev) ? CUTUNE_MATCH_NEAR : CUTUNE_MATCH_DEVICE;
    struct tuned *t = NULL;
    int rc = check_failed(s, p->variant, p->json, err);
    if (rc)
        return rc;
    if (still(s, match, 0, p->time_ns, p->variant, p->json)) {
        s->found = s->now;
        return 0;
    }
    if (match == CUTUNE_MATCH_NEAR)
        snprintf(why, sizeof why,
                 "near: %s %s is not tuned on %s; of the winners there that of %s should be best, within %.0f%% of a tuned one%s",
                 types, sizes, here, p->sizes, fmax(1, 100 * expm1(loss)), bounds);
    else /* how much is lost between two devices nothing tells */
        snprintf(why, sizeof why, "device: %s %s is not tuned on %s; of the winners on %s that of %s should be best%s", types,
                 sizes, here, d->dev.name, p->sizes, bounds);
    rc = store_find_winner(s->from, &d->dev, op, types, p->sizes, &t, err);
    if (rc)
        return rc;
    s->tried_bytes += t->bytes;
    if (!strcmp(t->variant, p->variant) && !strcmp(t->json, p->json))
        return serve(s, t, match, time_ns, why, err);
    tuned_free(t);
    return err_set(err, ERR_NOTFOUND, "the winner of %s %s changed just now", op, p->sizes);
}

/* The best of a device's candidates: asked in the order of what they should lose, so that few records are read. */
static int find_on(struct lookup *s, const struct known_device *d, struct err *err)
{
    const struct question *q = s->q;
    const struct knowledge *all = known_there(s);
    double *distance = problem_distances(all, d, q->op, q->row, &q->problem), least;
    double *loss = distance ? candidate_losses(all, d, distance, q->row) : NULL;
    double time_ns = loss ? expected_ns(s, d, distance) : 0;
    int rc = loss ? ERR_NOTFOUND : err_nomem(err);
    while (refused(rc) && !weary(s)) {
        int best = take_least(loss, d->ncandidates, &least);
        if (best < 0)
            break;
        struct tuned_problem *p = candidates_of(s, d)[best];
        struct err why = { 0 };
        s->tried++;
        rc = serve_winner(s, d, p, least, time_ns * exp(least), &why);
        p->unusable = refused(rc) && rc != ERR_UNSUPPORTED; /* by itself, not for this problem or device */
        if (p->unusable)
            say(s->h->owner, "a record of %s is passed over: %s", s->q->op->name, why.msg);
        else if (rc && !refused(rc))
            err_set(err, rc, "%s", why.msg);
    }
    mem_free(distance);
    mem_free(loss);
    return rc;
}

/* Infinite: no kernel of it may run here. What ships is for its architecture: elsewhere its defaults need no compiler. */
static double distance_of(const struct lookup *s, const struct known_device *d)
{
    const struct devspec *here = &s->h->dev;
    bool any = false;
    for (int i = 0; !any && i < d->ncandidates; i++)
        any = fits(s, candidates_of(s, d)[i]);
    any = any && !strcmp(here->backend, d->dev.backend) && (!from_tables(s) || !strcmp(here->arch, d->dev.arch));
    return any ? device_distance(here, &d->dev) : INFINITY;
}

static int know(struct lookup *s, struct err *err)
{
    return from_tables(s) ? known_op_in_tables(s->h->owner, s->q->known, err) : known_op_all(s->q->known, s->from, err);
}

static int find_near(struct lookup *s, struct err *err)
{
    int rc = know(s, err);
    if (rc)
        return rc;
    const struct knowledge *all = known_there(s);
    double *far = mem_array((size_t)all->ndevices, sizeof *far), least;
    if (!far)
        return err_nomem(err);
    for (int i = 0; i < all->ndevices; i++)
        far[i] = distance_of(s, &all->devices[i]);
    rc = ERR_NOTFOUND;
    while (refused(rc) && !weary(s)) {
        int nearest = take_least(far, all->ndevices, &least);
        if (nearest < 0)
            break;
        rc = find_on(s, &all->devices[nearest], err);
    }
    mem_free(far);
    return rc;
}

/* How far the nearest problem of the same types is that has a kernel to give: the device counts first. */
static double nearest_in(struct lookup *s, struct store *place)
{
    s->from = place;
    const struct knowledge *all = know(s, NULL) ? NULL : known_there(s);
    double least = INFINITY;
    for (int i = 0; all && i < all->ndevices; i++) {
        const struct known_device *d = &all->devices[i];
        double far = distance_of(s, d);
        double *distance = isinf(far) ? NULL : problem_distances(all, d, s->q->op, s->q->row, &s->q->problem);
        for (int p = 0; distance && p < d->nproblems; p++)
            if (distance[p] >= 0 && problems_of(s, d)[p]->row == s->q->row)
                least = fmin(least, far * 1e6 + distance[p]);
        mem_free(distance);
    }
    return least;
}

/* ---- defaults */

/* What there is and is not used. */
static const char *unused_words(const struct lookup *s)
{
    const struct knowledge *all = s->q->known->all;
    return s->stale           ? " (what was proved before the op changed is not used)"
           : all && all->alone ? " (what was compared with the reference for no other problem is not used)"
                               : "";
}

/* Defaults on their way. */
struct defaults {
    struct lookup *s;
    char why[640];
    size_t bytes; /* of code that was read */
    int rc;
    struct err *err;
};

enum { FOUND = 1, MOST_CODE_BYTES = 256 << 20 };

static int try_default(void *arg, struct tuned *t)
{
    struct defaults *d = arg;
    d->bytes += t->bytes;
    d->rc = check_failed(d->s, t->variant, t->json, d->err);
    if (d->rc)
        tuned_free(t);
    else
        d->rc = serve(d->s, t, CUTUNE_MATCH_DEFAULT, 0, d->why, d->err);
    return refused(d->rc) && d->bytes < MOST_CODE_BYTES ? 0 : FOUND;
}

/* The first of a store's defaults that may run here. */
static int find_default(struct lookup *s, struct err *err)
{
    const struct question *q = s->q;
    if (s->h->owner->store)
        store_stale_winners(s->h->owner->store, q->op->name, &s->stale, NULL); /* only to be told */
    struct defaults d = { .s = s, .rc = ERR_NOTFOUND, .err = err };
    snprintf(
        d.why, sizeof d.why, "default: no kernel tuned for %s %s may run for %s on %s%s%s; the first of the %s defaults that may",
        q->op->name, buf_text(&q->types), buf_text(&q->sizes), s->h->dev.name, unused_words(s),
        weary(s) ? " (of those that should be best: not all were asked)" : "", from_tables(s) ? "shipped tables'" : "database's");
    int rc = store_each_default(s->from, s->h->dev.backend, q->op->name, buf_text(&q->types), try_default, &d, err);
    return rc < 0 ? rc : d.rc;
}

/* ---- all of them, in order */

/* Remembers damage: if nothing else is found, that is what its owner has to know. The store names its file itself, what is made of
 * its records does not. */
static int noted(struct lookup *s, int rc, const struct err *err)
{
    const char *path = store_path(s->from);
    if (rc == ERR_CORRUPT && !s->damage.code) {
        s->damage = *err;
        if (strncmp(err->msg, path, strlen(path)))
            err_prefix(&s->damage, "%s: ", path);
    }
    return rc;
}

enum { DATABASE, TABLES, PLACES };

/* Null: it knows nothing of the op. */
static struct store *place_of(const struct lookup *s, int place)
{
    struct cutune *c = s->h->owner;
    if (place == TABLES)
        return known_op_shipped(c, s->q->known) ? tables_of(c) : NULL;
    return s->q->known->in_store ? c->store : NULL;
}

/* In one place, and then in the other one. */
static int find_by(struct lookup *s, int (*way)(struct lookup *, struct err *), int first, struct err *err)
{
    int rc = ERR_NOTFOUND;
    for (int i = 0; i < PLACES && refused(rc); i++) {
        struct store *place = place_of(s, i ? !first : first);
        if (!place)
            continue;
        s->from = place;
        rc = noted(s, way(s, err), err);
    }
    return rc;
}

static int find_one(struct lookup *s, struct err *err)
{
    int rc = find_by(s, find_exact, DATABASE, err);
    if (!refused(rc) || (s->h->owner->strict == CUTUNE_STRICT_ERROR && !s->plain))
        return rc;
    struct store *database = place_of(s, DATABASE), *tables = place_of(s, TABLES);
    bool nearer = database && tables && nearest_in(s, tables) < nearest_in(s, database);
    rc = find_by(s, find_near, nearer ? TABLES : DATABASE, err);
    return refused(rc) ? find_by(s, find_default, DATABASE, err) : rc;
}

int find_kernel(cutune_handle *h, const struct question *q, struct cutune_kernel *now, struct cutune_kernel **out, struct err *err)
{
    struct lookup s = { .h = h, .q = q, .now = now };
    err->msg[0] = 0; /* no refusal yet */
    int rc = find_one(&s, err);
    if (refused(rc) && s.damage.code)
        return err_set(err, ERR_CORRUPT, "%s", s.damage.msg);
    if (refused(rc) && h->owner->strict == CUTUNE_STRICT_ERROR)
        return strict_miss(h, q, "", err);
    if (refused(rc))
        return err_set(err, ERR_NOTFOUND, "no kernel for %s %s %s on %s: nothing tuned%s and no default may run there%s%.200s",
                       q->op->name, buf_text(&q->types), buf_text(&q->sizes), h->dev.name, unused_words(&s),
                       err->msg[0] ? "; the last refusal: " : "", err->msg);
    if (!rc && s.found != now && s.found->match != CUTUNE_MATCH_EXACT)
        rc = strict_miss(h, q, s.found->why, err);
    *out = s.found;
    return rc;
}

/* The kernel for the same problem that asks nothing of its buffers; k itself if there is none. Under the lock. */
static int find_plain(struct cutune_kernel *k, struct cutune_kernel **out, struct err *err)
{
    struct question q;
    struct err why = { 0 };
    struct lookup s = { .h = k->handle, .q = &q, .plain = true };
    int rc = question_of(k->known, k->row, &k->problem, &q, &why) ?: find_one(&s, &why);
    question_free(&q);
    if (rc && !refused(rc))
        return err_set(err, rc, "%s", why.msg);
    *out = rc ? k : s.found;
    return 0;
}

int kernel_fallback(const struct cutune_kernel *kernel, struct cutune_kernel **out, struct err *err)
{
    struct cutune_kernel *k = (struct cutune_kernel *)kernel; /* this is found when it is first asked for */
    struct cutune_kernel *other = atomic_load_explicit(&k->fallback, memory_order_acquire);
    struct cutune *c = k->handle->owner;
    *out = NULL;
    int rc = check_forks(k->handle->generation);
    if (!rc && !other) {
        rc = reading_begin(c, err);
        if (rc)
            return rc;
        other = atomic_load_explicit(&k->fallback, memory_order_relaxed);
        rc = other ? 0 : find_plain(k, &other, err);
        atomic_store_explicit(&k->fallback, other, memory_order_release);
        rc = reading_end(c, rc, err);
    }
    if (!rc && other != k)
        *out = other;
    return rc;
}
