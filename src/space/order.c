/* The order in which a large group's parameters get their values. What has to be remembered of the first ones is the values of those that
 * checks will read again: the fewer these are, the smaller is the diagram. */
#include <math.h>

#include "space/group.h"

struct ordering {
    const struct group *g;
    int n;                   /* checks that read any of the group */
    uint64_t reads[1024];    /* which of the group's parameters each reads */
    double bits[MAX_PARAMS]; /* of each parameter: the logarithm of how many values it has */
};

static void note_check(struct ordering *o, const struct checker *with, int check)
{
    int n;
    const int *slots = plan_check_slots(with->plan, check, &n);
    uint64_t reads = 0;
    for (int i = 0; i < n; i++)
        for (int d = 0; d < o->g->n; d++)
            reads |= slots[i] == o->g->param[d] ? (uint64_t)1 << d : 0;
    for (int i = 0; i < o->n && reads; i++)
        reads = o->reads[i] == reads ? 0 : reads;
    if (reads && o->n < (int)(sizeof o->reads / sizeof *o->reads))
        o->reads[o->n++] = reads;
}

/* How many values of those in `set` have to be remembered, as a logarithm. */
static double remembered(const struct ordering *o, uint64_t set)
{
    uint64_t live = 0;
    double bits = 0;
    for (int i = 0; i < o->n; i++)
        live |= o->reads[i] & ~set ? o->reads[i] & set : 0;
    for (int d = 0; d < o->g->n; d++)
        bits += live >> d & 1 ? o->bits[d] : 0;
    return bits;
}

/* Puts the parameter that lets the least be remembered next, again and again. Returns about how many values that is to try. */
static double greedy(const struct ordering *o, int first, int order[MAX_PARAMS])
{
    uint64_t set = 0;
    double cost = 0, before = 0;
    for (int k = 0; k < o->g->n; k++) {
        int best = first;
        double least = INFINITY;
        for (int d = 0; d < o->g->n && k; d++) {
            double bits = set >> d & 1 ? INFINITY : remembered(o, set | (uint64_t)1 << d);
            best = bits < least ? d : best;
            least = bits < least ? bits : least;
        }
        order[k] = best;
        set |= (uint64_t)1 << best;
        cost += exp2(before + o->bits[best]);
        before = remembered(o, set);
    }
    return cost;
}

bool group_reorder(struct group *g, const struct checker *with)
{
    struct ordering o;
    int order[MAX_PARAMS], best[MAX_PARAMS], param[MAX_PARAMS];
    o.g = g;
    o.n = 0;
    for (int d = 0; d < g->n; d++)
        o.bits[d] = log2(with->variant->params[g->param[d]].n);
    for (int c = 0; c < plan_checks(with->plan); c++)
        note_check(&o, with, c);
    uint64_t set = 0;
    double script = 0, least = INFINITY;
    for (int d = 0; d < g->n; d++) {
        script += exp2(remembered(&o, set) + o.bits[d]);
        set |= (uint64_t)1 << d;
    }
    for (int first = 0; first < g->n; first++) {
        double cost = greedy(&o, first, order);
        for (int d = 0; d < g->n && cost < least; d++)
            best[d] = order[d];
        least = cost < least ? cost : least;
    }
    for (int d = 0; d < g->n; d++)
        param[d] = g->param[best[d]];
    for (int d = 0; d < g->n && least < script; d++)
        g->param[d] = param[d];
    return least < script;
}
