/* Defaults in the look-up: the first that may run is the answer to what nothing tuned serves, or where its times on other problems say that
 * it should be as good as what won there. */
#include <math.h>
#include <stdio.h>

#include "runtime/find.h"

enum { MOST_CODE_BYTES = 256 << 20 };

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
    const struct question *q = s->q;
    struct defaults *all;
    int rc = known_op_defaults(q->known, s->from, s->h->dev.backend, q->row, &all, err), last = ERR_NOTFOUND;
    while (!rc && !(rc = defaults_next(all, &q->problem, &s->h->dev, at, out, err))) {
        rc = check_default(s, *out, err);
        if (!refused(rc))
            return rc;
        last = rc;
        rc = 0;
        ++*at;
    }
    return rc == ERR_NOTFOUND ? last : rc;
}

/* The first of all, which is looked for once. */
static int first_default(struct lookup *s, const struct tuned **out, struct err *err)
{
    if (s->of != s->from)
        s->first_default = 0;
    s->of = s->from;
    return next_default(s, &s->first_default, out, err);
}

/* With its code. If that is damaged it is left out, as what is damaged else. */
static int read_whole(struct lookup *s, const struct tuned *d, struct tuned **out, size_t *bytes, struct err *err)
{
    struct err why = { 0 };
    int rc = store_tuned(s->from, d->id, out, &why);
    if (!rc)
        *bytes += (*out)->bytes;
    else if (rc == ERR_CORRUPT)
        store_leave_out(s->from);
    else
        *err = why;
    return rc == ERR_CORRUPT ? ERR_NOTFOUND : rc;
}

/* Code is read of what is served only. If that is refused all the same, as where a size is past all numbers, the next one is tried. */
static int serve_default(struct lookup *s, double time_ns, const char *why, struct err *err)
{
    const struct tuned *d;
    struct tuned *t = NULL;
    size_t bytes = 0;
    int rc = first_default(s, &d, err), at = s->first_default;
    while (!rc) {
        rc = read_whole(s, d, &t, &bytes, err) ?: serve(s, t, CUTUNE_MATCH_DEFAULT, time_ns, why, err);
        if (!refused(rc) || bytes >= MOST_CODE_BYTES)
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
    if (s->h->owner->store)
        store_stale_winners(s->h->owner->store, q->op->name, &s->stale, NULL); /* only to be told */
    snprintf(why, sizeof why, "default: no kernel tuned for %s %s may run for %s on %s%s%s; the first of the %s defaults that may",
             q->op->name, buf_text(&q->types), buf_text(&q->sizes), s->h->dev.name, unused_words(s),
             weary(s) ? " (of those that should be best: not all were asked)" : "", from_tables(s) ? "shipped tables'" : "database's");
    return serve_default(s, 0, why, err);
}

double loss_of_default(struct lookup *s, const struct known_device *d, const double *distance)
{
    const struct tuned *t;
    bool timed = false;
    for (int i = 0; !timed && i < known_there(s)->ndefaults; i++)
        timed = &known_there(s)->devices[known_there(s)->defaults[i].device] == d;
    if (!timed || first_default(s, &t, &(struct err){ 0 }))
        return INFINITY;
    return default_loss(known_there(s), d, distance, t->variant, t->json);
}

int find_timed_default(struct lookup *s, const struct known_device *d, double loss, double time_ns, struct err *err)
{
    char why[640];
    const struct question *q = s->q;
    snprintf(why, sizeof why, "default: %s %s is not tuned on %s; by their times on %s the default should be as good as what won there",
             buf_text(&q->types), buf_text(&q->sizes), s->h->dev.name, d->dev.name);
    return serve_default(s, time_ns * exp(loss), why, err);
}
