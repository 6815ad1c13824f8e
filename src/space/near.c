/* Neighbours of a configuration: found by asking for each whether it is valid, so nothing is listed. */
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

void space_neighbours(const struct space *s, int64_t i, enum nearness how, struct buf *out)
{
    struct config c;
    space_at(s, i, &c);
    const struct variant *v = &s->op->variants[c.variant];
    for (int p = 0; p < v->nparams; p++) {
        for (int at = 0; how == NEAR_ANY && at < v->params[p].n; at++)
            if (at != c.at[p])
                add(out, with_value(s, &c, p, at));
        for (int by = -1; how == NEAR_STEP && by <= 1; by += 2)
            add(out, next_value(s, &c, p, by));
    }
}
