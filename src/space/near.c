/* Neighbours of a configuration: found by asking for each whether it is valid, so nothing is listed; or by a walk through a small box. */
#include "space/space.h"

/* The value at `at` of a parameter: its index, or -1. */
static int64_t with_value(const struct space *s, const struct config *c, int param, int at)
{
    struct config other = *c;
    other.at[param] = (uint16_t)at;
    return space_find(s, &other);
}

static void add(struct buf *out, int64_t i)
{
    if (i >= 0)
        buf_i64(out, i);
}

/* The first valid one of the values from `at` on, in steps of `by`. */
static int64_t next_value(const struct space *s, const struct config *c, int param, int by)
{
    int64_t i = -1;
    int n = s->op->variants[c->variant].params[param].n;
    for (int at = c->at[param] + by; i < 0 && at >= 0 && at < n; at += by)
        i = with_value(s, c, param, at);
    return i;
}

struct around {
    struct buf *out;
    int64_t but; /* the one whose neighbours they are */
    int n;
};

static bool note_near(void *arg, int64_t i, const struct config *c)
{
    struct around *a = arg;
    (void)c;
    if (i != a->but)
        buf_i64(a->out, i);
    a->n += i != a->but;
    return a->n < MAX_NEAR;
}

static void all_around(const struct space *s, int64_t i, const struct config *c, struct buf *out)
{
    int least[MAX_PARAMS], most[MAX_PARAMS];
    for (int p = 0; p < MAX_PARAMS; p++) {
        least[p] = c->at[p] - 1;
        most[p] = c->at[p] + 1;
    }
    space_walk(s, c->variant, least, most, &(struct space_visitor){ note_near, &(struct around){ out, i, 0 } });
}

void space_neighbours(const struct space *s, int64_t i, enum nearness how, struct buf *out)
{
    struct config c;
    space_at(s, i, &c);
    const struct variant *v = &s->op->variants[c.variant];
    if (how == NEAR_ALL)
        all_around(s, i, &c, out);
    for (int p = 0; p < v->nparams; p++) {
        for (int at = 0; how == NEAR_ANY && at < v->params[p].n; at++)
            if (at != c.at[p])
                add(out, with_value(s, &c, p, at));
        for (int by = -1; how == NEAR_STEP && by <= 1; by += 2)
            add(out, next_value(s, &c, p, by));
    }
}
