/* The order in which the winners of other problems are preferred: near.h has the rule. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "runtime/knowledge.h"

double *problem_distances(const struct knowledge *k, const struct known_device *d, const struct op *op, int row,
                          const struct problem *problem)
{
    const uint32_t flags = problem_flags(op, problem);
    struct near_point here = { 0 };
    near_point_set(&here, op, row, problem);
    double *out = mem_array((size_t)d->nproblems, sizeof *out);
    for (int i = 0; out && i < d->nproblems; i++) {
        const struct tuned_problem *p = k->problems[d->problems + i];
        out[i] = p->flags == flags ? near_distance(&here, &p->point, op) : -1;
    }
    return out;
}

static double column_loss(const struct knowledge *k, int column, const double *distance, double unknown)
{
    const int *first = &k->first[column], n = first[1] - first[0];
    return near_loss(distance, n ? k->times + first[0] : NULL, n, unknown); /* a file may have no times at all */
}

const struct known_default *default_known(const struct knowledge *k, const struct known_device *d, const char *variant, const char *json)
{
    for (int i = 0; i < k->ndefaults; i++) {
        const struct known_default *at = &k->defaults[i];
        if (&k->devices[at->device] == d && !strcmp(at->variant, variant) && !strcmp(at->json, json))
            return at;
    }
    return NULL;
}

double unknown_loss(const struct problem_default *deflt, int column)
{
    return deflt->known && deflt->known->column == column && deflt->rank > 0 ? 0 : NEAR_UNKNOWN;
}

double default_loss(const struct knowledge *k, const struct problem_default *p, const double *distance, double untimed)
{
    const int column = p->known ? p->known->column : -1;
    double loss = p->known ? column_loss(k, column, distance, unknown_loss(p, column)) : INFINITY;
    return isinf(loss) ? untimed : loss;
}

double *candidate_losses(const struct knowledge *k, const struct known_device *d, const double *distance, int row,
                         const struct problem_default *deflt)
{
    double *loss = mem_array((size_t)d->ncandidates, sizeof *loss);
    for (int i = 0; loss && i < d->ncandidates; i++) {
        const struct tuned_problem *p = k->candidates[d->candidates + i];
        bool taken = p->row == row && distance[p->at] >= 0 && !p->unusable;
        loss[i] = taken ? column_loss(k, p->column, distance, unknown_loss(deflt, p->column)) : INFINITY;
    }
    return loss;
}

double device_distance(const struct devspec *here, const struct devspec *other)
{
    if (devspec_same(here, other))
        return 0;
    double far = fabs(log((here->multiprocessors + 1.0) / (other->multiprocessors + 1.0)));
    return 1 + far + (strcmp(here->arch, other->arch) ? 1000 : 0) + (strcmp(here->backend, other->backend) ? 1000000 : 0);
}

int take_least(double *all, int n, double *least)
{
    int best = -1;
    *least = INFINITY;
    for (int i = 0; i < n; i++)
        if (all[i] < *least) {
            *least = all[i];
            best = i;
        }
    if (best >= 0)
        all[best] = INFINITY;
    return best;
}
