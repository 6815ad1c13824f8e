/* Defaults in the look-up: the first that may run is the answer to what nothing tuned serves, or where its times on other problems say that
 * it should be better than what won there. */
#include <math.h>
#include <stdio.h>

#include "runtime/find.h"

/* Defaults on their way: each is tried, until one is not refused. */
struct defaults {
    struct lookup *s;
    int (*try)(struct defaults *d, struct tuned *t); /* takes t over */
    const char *why;                                 /* try_serving: of the answer, */
    double time_ns;
    const struct known_device *device; /* pick: where they were timed, */
    const double *distance;
    double loss; /* and what the one that may run should lose */
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
        d->rc = d->try(d, t);
    return refused(d->rc) && d->bytes < MOST_CODE_BYTES ? 0 : FOUND;
}

static int try_each_default(struct defaults *d)
{
    const struct question *q = d->s->q;
    d->rc = ERR_NOTFOUND;
    int rc = store_each_default(d->s->from, d->s->h->dev.backend, q->op->name, buf_text(&q->types), try_default, d, d->err);
    return rc < 0 ? rc : d->rc;
}

static int try_serving(struct defaults *d, struct tuned *t)
{
    return serve(d->s, t, CUTUNE_MATCH_DEFAULT, d->time_ns, d->why, d->err);
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
    return try_each_default(&(struct defaults){ .s = s, .try = try_serving, .why = why, .err = err });
}

static int pick(struct defaults *d, struct tuned *t)
{
    struct lookup *s = d->s;
    int rc = s->plain && asks_of_buffers(t->op->variants) ? ERR_UNSUPPORTED : kernel_check(s->h, s->q, t, NULL);
    if (!rc)
        d->loss = default_loss(known_there(s), d->device, d->distance, t->variant, t->json);
    tuned_free(t);
    return rc;
}

double loss_of_default(struct lookup *s, const struct known_device *d, const double *distance)
{
    struct defaults all = { .s = s, .try = pick, .device = d, .distance = distance, .loss = INFINITY, .err = &(struct err){ 0 } };
    bool timed = false;
    for (int i = 0; !timed && i < known_there(s)->ndefaults; i++)
        timed = &known_there(s)->devices[known_there(s)->defaults[i].device] == d;
    if (timed)
        try_each_default(&all);
    s->tried_bytes += all.bytes;
    return all.loss;
}

int find_better_default(struct lookup *s, const struct known_device *d, double loss, double time_ns, struct err *err)
{
    char why[640];
    const struct question *q = s->q;
    snprintf(why, sizeof why, "default: %s %s is not tuned on %s; by their times on %s the default should be as good as what won there",
             buf_text(&q->types), buf_text(&q->sizes), s->h->dev.name, d->dev.name);
    return try_each_default(&(struct defaults){ .s = s, .try = try_serving, .why = why, .time_ns = time_ns * exp(loss), .err = err });
}
