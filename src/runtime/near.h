/* Chooses a kernel for a problem that was never tuned: of the configurations that won on other problems, and the op's default, the one that
 * should lose least here.
 *
 * All measurements count, not only the winners. What a configuration lost on a tuned problem is log(its time / the best time there). Its
 * expected loss here is the weighted mean of that over the NEIGHBOURS tuned problems that are nearest to this one and where it was
 * measured. The weight is 1 / (distance + 1/4), so near problems count more. A loss counts as 1 at most: above that it only says "bad".
 * One more problem, which weighs the more the farther away the nearest one is, keeps what was measured far away only from looking better
 * than what is known well: the least of many uncertain losses is one that was estimated too low. A winner lost 0.2 there, and so did the
 * op's first default, which may be its only one. Another default lost nothing: it was chosen for a class of problems like this one, winners
 * because they won somewhere.
 *
 * The distance is a sum of squares over
 * - the logarithms of the sizes;
 * - how often two divides each size, up to four times, because vector accesses and whole tiles depend on it;
 *   strides that have a default follow from the sizes, and count for nothing: what a kernel asks of them its constraints say;
 * - the logarithms of the element sizes, so that what was measured with another type counts, too, but less.
 *
 * The rule was chosen on 204 transposes of one H200 (68 shapes of bench/shapes.txt x i8, f32, f64). Each was left out in turn, and the
 * rule compared by the geometric mean of (winner's time / time of what was given): the nearest winner by the logarithms alone 0.912, with
 * divisibility 0.940, the mean over neighbours 0.955, with the other types' measurements 0.968. Halving or doubling any of the constants
 * changes the mean by less than 0.01. bench/leave_one_out measures it. The problem more came later, by the shipped tables of two devices:
 * docs/library.md has what they reach. */
#ifndef RUNTIME_NEAR_H
#define RUNTIME_NEAR_H

#include <math.h>

#include "model/op.h"

enum { NEIGHBOURS = 8, NEAR_TWOS = 4 };
#define NEAR_UNKNOWN 0.2 /* what a winner should lose of which nothing is known */

struct near_point {
    double size[MAX_AXES];   /* natural logarithms, */
    double twos[MAX_AXES];   /* and how often two divides them */
    double bytes[MAX_TYPES]; /* binary logarithms of the element sizes */
};

static inline void near_point_set(struct near_point *p, const struct op *op, int row, const struct problem *problem)
{
    for (int i = 0; i < op->naxes; i++) {
        int64_t size = problem->size[i];
        int twos = 0;
        if (op->axes[i].kind == AXIS_STRIDE && op->axes[i].preset)
            size = 1;
        while (twos < NEAR_TWOS && size % ((int64_t)2 << twos) == 0)
            twos++;
        p->size[i] = log((double)(size > 0 ? size : 1));
        p->twos[i] = twos;
    }
    for (int t = 0; t < op->ntypes; t++)
        p->bytes[t] = log2((double)op->rows[row * op->ntypes + t]->bytes);
}

static inline double near_distance(const struct near_point *a, const struct near_point *b, const struct op *op)
{
    double d = 0;
    for (int i = 0; i < op->naxes; i++) {
        double size = a->size[i] - b->size[i], twos = a->twos[i] - b->twos[i];
        d += size * size + twos * twos / 4;
    }
    for (int t = 0; t < op->ntypes; t++)
        d += 2 * (a->bytes[t] - b->bytes[t]) * (a->bytes[t] - b->bytes[t]);
    return d;
}

/* What a configuration took on a problem: log(time / best time). */
struct near_time {
    int column; /* of the configuration */
    int problem;
    int order; /* of two for one problem the later counts */
    double loss;
};

/* The expected log(time / best time) of one configuration, which was measured on n problems, here in their order; distance[i] is that
 * of problem i, negative: not comparable. `unknown` is what it should lose where nothing is known. Infinite if it was measured nowhere. */
static inline double near_loss(const double *distance, const struct near_time *times, int n, double unknown)
{
    double best[NEIGHBOURS], at[NEIGHBOURS];
    int found = 0;
    for (int i = 0; i < n; i++) {
        double far = distance[times[i].problem];
        if (far < 0 || (found == NEIGHBOURS && far >= best[found - 1]))
            continue;
        int place = found < NEIGHBOURS ? found++ : found - 1;
        while (place > 0 && best[place - 1] > far) {
            best[place] = best[place - 1];
            at[place] = at[place - 1];
            place--;
        }
        best[place] = far;
        at[place] = times[i].loss < 1 ? times[i].loss : 1;
    }
    if (!found)
        return INFINITY;
    double weight = best[0] / (best[0] + 0.25), sum = unknown * weight;
    for (int i = 0; i < found; i++) {
        sum += at[i] / (best[i] + 0.25);
        weight += 1 / (best[i] + 0.25);
    }
    return sum / weight;
}

#endif
