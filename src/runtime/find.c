/* The order of the look-up: exact, near, from another device, default; each in the database and in the shipped tables. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/kernel.h"
#include "runtime/find.h"

bool still(const struct lookup *s, cutune_match match, int rank, double time_ns, const char *variant, const char *json)
{
    const struct cutune_kernel *k = s->now;
    return k && k->known == s->q->known && k->match == match && k->from_tables == from_tables(s) && k->rank == rank &&
           k->record_ns == time_ns && !strcmp(k->variant, variant) && !strcmp(k->json, json);
}

/* What ships tuned is source, mostly: no answer where nothing compiles it. A default is the last one in any case, and mostly has PTX. */
static int check_code(const struct lookup *s, const struct tuned *t, cutune_match match, struct err *err)
{
    bool asked = match != CUTUNE_MATCH_DEFAULT && from_tables(s);
    return !asked || code_loads(s->h, t) ? 0 : err_set(err, ERR_UNSUPPORTED, "it ships as source, and there is no compiler here");
}

bool asks_of_buffers(const struct variant *v)
{
    bool asks = v->nneeds > 0;
    for (int i = 0; i < v->nlaunches; i++)
        for (int k = 0; k < v->launches[i].nviews; k++)
            asks = asks || view_align(&v->launches[i].views[k]) > 1;
    return asks;
}

int serve(struct lookup *s, struct tuned *t, cutune_match match, double time_ns, const char *why, struct err *err)
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
    int rc = check_code(s, t, match, err);
    if (rc) {
        tuned_free(t);
        return rc;
    }
    struct buf told = { 0 };
    buf_str(&told, why);
    if (match != CUTUNE_MATCH_DEFAULT) /* which was tuned on nothing */
        op_data_print(&told, t->op, "; tuned on the data of ");
    if (match != CUTUNE_MATCH_DEFAULT && from_tables(s))
        buf_str(&told, "; in the shipped tables");
    rc = kernel_new(s->h, s->q, t, &k, err); /* the record is gone, if its code was there */
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

int check_failed(const struct lookup *s, const char *variant, const char *json, struct err *err)
{
    const struct question *q = s->q;
    struct store *database = s->h->owner->store;
    bool failed = false;
    int rc = 0;
    if (database && q->known->in_store)
        rc = store_failed_for(database, &s->h->dev, q->op->name, buf_text(&q->types), buf_text(&q->sizes), variant, json, &failed,
                              err);
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
    if (rc != ERR_NOTFOUND && refused(rc) &&
        !s->plain) /* it was tuned for this: whatever changed, the record is not to be trusted */
        say(s->h->owner, "the record of %s %s %s does not hold for its own problem, and is passed over: %s", q->op->name, types,
            sizes, err->msg);
    return rc;
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
    if (refused(rc)) {
        err_set(err, ERR_NOTFOUND, "no kernel for %s %s %s on %s: nothing tuned%s and no default may run there%s%.200s",
                q->op->name, buf_text(&q->types), buf_text(&q->sizes), h->dev.name, unused_words(&s),
                err->msg[0] ? "; the last refusal: " : "", err->msg);
        return strict_none(h, q, q->op->name, err);
    }
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
