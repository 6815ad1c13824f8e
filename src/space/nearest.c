/* What a configuration becomes where it is not valid: the valid one that differs least from it. */
#include <math.h>

#include "space/group.h"
#include "space/space.h"

enum { MOST_STEPS = 4000 }; /* through a group's diagram, so that it takes well below a millisecond; the nearest so far will do then */

struct seek {
    const struct group *group;
    const struct variant *variant;
    const uint16_t *wanted;
    uint16_t at[MAX_PARAMS], best[MAX_PARAMS];
    double least;
    int steps;
};

/* How much two values of a parameter differ: numbers by how often one is twice the other, but that counts for 2 at most; all else for 1. */
static double difference(struct val a, struct val b)
{
    double x = a.type == VAL_INT ? (double)a.i : a.type == VAL_FLOAT ? a.f : 0;
    double y = b.type == VAL_INT ? (double)b.i : b.type == VAL_FLOAT ? b.f : 0;
    if (val_eq(a, b))
        return 0;
    return x > 0 && y > 0 ? fmin(2, fabs(log2(x / y))) : 1;
}

static double edge_cost(const struct seek *k, int depth, const struct group_edge *e)
{
    int param = k->group->param[depth];
    const struct val *values = k->variant->params[param].values;
    return difference(values[k->wanted[param]], values[e->value]);
}

/* Every way down ends at a valid tuple, so what costs as much already need not be gone on with. */
static void descend(struct seek *k, int node, int depth, double cost)
{
    const struct group *g = k->group;
    const struct group_edge *edges = g->edges + g->nodes[node].edge;
    int n = g->nodes[node].nedges, first = 0;
    if (depth == g->n) {
        k->least = cost;
        for (int d = 0; d < g->n; d++)
            k->best[g->param[d]] = k->at[g->param[d]];
        return;
    }
    for (int i = 1; i < n; i++)
        if (edge_cost(k, depth, &edges[i]) < edge_cost(k, depth, &edges[first]))
            first = i;
    for (int i = -1; i < n; i++) { /* the nearest value, then the others in order */
        const struct group_edge *e = &edges[i < 0 ? first : i];
        double with = cost + edge_cost(k, depth, e);
        if (i == first || with >= k->least || k->steps++ >= MOST_STEPS)
            continue;
        k->at[g->param[depth]] = e->value;
        descend(k, e->child, depth + 1, with);
    }
}

double space_difference(const struct space *s, const struct config *a, const struct config *b)
{
    const struct variant *v = &s->op->variants[a->variant];
    double sum = 0;
    for (int i = 0; i < v->nparams; i++)
        sum += difference(v->params[i].values[a->at[i]], v->params[i].values[b->at[i]]);
    return sum;
}

int64_t space_nearest(const struct space *s, const struct config *c, double *far)
{
    struct config near = *c;
    int64_t same = space_find(s, c);
    *far = 0;
    if (same >= 0 || c->variant < 0 || c->variant >= s->op->nvariants || s->parts[c->variant].count == 0)
        return same;
    const struct part *part = &s->parts[c->variant];
    for (int g = 0; g < part->ngroups; g++) {
        struct seek k = { .group = &part->groups[g], .variant = &s->op->variants[c->variant], .wanted = c->at, .least = INFINITY };
        descend(&k, k.group->root, 0, 0);
        for (int d = 0; d < k.group->n; d++)
            near.at[k.group->param[d]] = k.best[k.group->param[d]];
        *far += k.least;
    }
    return space_find(s, &near);
}
