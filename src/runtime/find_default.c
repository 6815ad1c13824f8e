/* Defaults in the look-up: the first that may run is the answer to what nothing tuned serves, or where its times on other problems say that
 * it should be as good as what won there. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/find.h"

/* What only a look-up knows against a default that may run. */
static int check_default(const struct lookup *s, const struct tuned *t, struct err *err)
{
    if (s->plain && asks_of_buffers(t->op->variants))
        return err_set(err, ERR_UNSUPPORTED, "it needs aligned buffers");
    return check_failed(s, t->variant, t->json, err);
}

/* The first from place *at on that may be served; else what refused the last one. */
static int next_default(struct lookup *s, int *at, const struct tuned **out, struct err *err)
{
    int rc, last = ERR_NOTFOUND;
    while (!(rc = defaults_next(s->defaults, &s->q->problem, &s->h->dev, at, out, err))) {
        rc = check_default(s, *out, err);
        if (!refused(rc))
            return rc;
        last = rc;
        ++*at;
    }
    return rc == ERR_NOTFOUND ? last : rc;
}

/* The first of all, which is looked for once. */
static int first_default(struct lookup *s, const struct tuned **out, struct err *err)
{
    const struct question *q = s->q;
    if (!s->defaults || s->defaults->from != s->from) {
        int rc = defaults_get(&q->known->defaults, s->from, q->op, s->h->dev.backend, q->row, &s->defaults, err);
        if (rc)
            return rc;
        s->first_default = 0;
    }
    return next_default(s, &s->first_default, out, err);
}

/* Whether that is the kernel in use. */
static bool keeps(struct lookup *s, const struct tuned *d)
{
    bool kept = still(s, CUTUNE_MATCH_DEFAULT, d->rank, d->time_ns, d->variant, d->json) && !s->now->pinned;
    if (kept)
        s->found = s->now;
    return kept;
}

/* With its code. If that is damaged the default is left out from now on. */
static int read_whole(struct lookup *s, int at, struct tuned **out, struct err *err)
{
    struct read_default *d = &s->defaults->all[at];
    struct tuned *t;
    struct err why = { 0 };
    int rc = store_tuned(s->from, d->t->id, &t, &why);
    if (rc == ERR_CORRUPT) {
        d->bad = true;
        store_leave_out(s->from, 1);
        return ERR_NOTFOUND;
    }
    if (rc) {
        *err = why;
        return rc;
    }
    s->tried_bytes += t->bytes;
    if (strcmp(t->key, d->t->key) != 0) {
        tuned_free(t);
        return err_set(err, ERR_NOTFOUND, "the defaults of %s changed just now", s->q->op->name);
    }
    *out = t;
    return 0;
}

/* Code is read of what is served only. If that is refused all the same, as where a size is past all numbers, the next one is tried. */
static int serve_default(struct lookup *s, double time_ns, const char *why, struct err *err)
{
    const struct tuned *d;
    struct tuned *t = NULL;
    int rc = first_default(s, &d, err), at = s->first_default;
    while (!rc && !keeps(s, d)) {
        rc = read_whole(s, at, &t, err) ?: serve(s, t, CUTUNE_MATCH_DEFAULT, time_ns, why, err);
        if (!refused(rc) || s->tried_bytes > MOST_TRIED_BYTES)
            break;
        at++;
        int next = next_default(s, &at, &d, err);
        rc = next == ERR_NOTFOUND ? rc : next;
    }
    return rc;
}

int find_default(struct lookup *s, struct err *err)
{
    char why[640];
    const struct question *q = s->q;
    const struct tuned *d;
    if (!first_default(s, &d, err) && keeps(s, d))
        return 0;
    if (s->h->owner->store)
        store_stale_winners(s->h->owner->store, q->op->name, &s->stale, NULL); /* only to be told */
    snprintf(why, sizeof why, "default: no tuned kernel fits %s %s %s on %s%s%s; the first of the %s defaults that fits",
             q->op->name, buf_text(&q->types), buf_text(&q->sizes), s->h->dev.name, unused_words(s),
             weary(s) ? " (of the most promising: not all were checked)" : "", from_tables(s) ? "op's own" : "database's");
    return serve_default(s, 0, why, err);
}

/* One that was never timed on that device is newer than the tables that ship, and was chosen for problems like this one. */
int loss_of_default(struct lookup *s, const struct known_device *d, const double *distance, double *loss,
                    struct problem_default *out, struct err *err)
{
    const struct knowledge *all = known_there(s);
    const struct tuned *t;
    struct err why = { 0 };
    bool timed = false;
    for (int i = 0; !timed && i < all->ndefaults; i++)
        timed = &all->devices[all->defaults[i].device] == d;
    int rc = timed ? first_default(s, &t, &why) : ERR_NOTFOUND;
    *out = rc ? (struct problem_default){ 0 } : (struct problem_default){ default_known(all, d, t->variant, t->json), t->rank };
    *loss = rc ? INFINITY : default_loss(all, out, distance, from_tables(s) ? 0 : INFINITY);
    return rc && !refused(rc) ? err_set(err, rc, "%s", why.msg) : 0;
}

int find_good_default(struct lookup *s, const struct known_device *d, double loss, double time_ns, struct err *err)
{
    char why[640];
    const struct question *q = s->q;
    snprintf(why, sizeof why,
             "default: %s %s is not tuned on %s; by what is known of %s the default is expected to be as good as any winner there",
             buf_text(&q->types), buf_text(&q->sizes), s->h->dev.name, d->dev.name);
    return serve_default(s, time_ns * exp(loss), why, err);
}
