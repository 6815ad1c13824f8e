/* The score of the published methodology for comparing auto-tuning optimisers (Willemsen et al. 2024, and its package
 * autotuning_methodology 1.1.0), computed from what strategies tried.
 *
 * A space's budget begins and ends where random search is expected to have come 1% and 95% of the way from the median of the right
 * configurations to the best. At POINTS equally spaced times between, a strategy's expected best is compared with that of random
 * search: 0 is as good as random, 1 is the optimum found. P is the mean. A strategy's curve is the isotonic regression of the rank of
 * the best so far over time, of all repeats together. The package averages regressions of random samples of the same points; here is
 * one of all of them, so the same runs give the same score.
 *
 * One thing is different on purpose: where the budget's two ends are less than two configurations apart, the package bounds the later
 * one by a time of the kernel, which has nothing to do with it; here by the number of configurations that find the optimum. */
#ifndef REPLAY_SCORE_H
#define REPLAY_SCORE_H

#include "replay/table.h"

enum { POINTS = 1000 };

struct yardstick {
    int64_t right;       /* configurations */
    double *ascending;   /* their times */
    double median;       /* of them */
    int64_t from, to;    /* the budget in configurations, */
    double from_s, to_s; /* and in seconds */
    double mean_s;       /* that random search spends on one */
    double random[POINTS];
};
/* ERR_INVALID, with a line, if the space has no two right configurations that differ in time. */
int yardstick_of(const struct recorded_space *t, struct yardstick *out, struct err *err);
void yardstick_free(struct yardstick *y);
double yardstick_second(const struct yardstick *y, int point);
/* Seconds after which nothing counts any more. */
double yardstick_end(const struct yardstick *y);

/* What one repeat tried, in order. */
struct tries {
    int n;
    int64_t *index;
};

enum { RESAMPLES = 400 };
struct score {
    double p, low, high;         /* with its 95% interval */
    double resampled[RESAMPLES]; /* P of repeats drawn with replacement: low and high are quantiles of it */
    /* To come within 10, 5 and 2% of the optimum: the median over repeats; NaN: less than half of them did within the budget. */
    double evaluations[3], seconds[3];
};
static const double within[3] = { 0.10, 0.05, 0.02 };
/* The best curve at each point goes to `curve` unless that is null. */
int score_of(const struct recorded_space *t, const struct yardstick *y, const struct tries *tries, int repeats, uint64_t seed,
             double curve[POINTS], struct score *out, struct err *err);
/* Over several spaces: the mean P, with its interval. */
struct score score_mean(const struct score *of, int n);

/* Isotonic regression, point by point: adds one, at an x behind all before it, to the n levels of the closest function that does not
 * rise. Returns how many there are then. */
struct fall_level {
    double from, to, value, weight;
};
int isotonic_fall(struct fall_level *l, int n, double x, double value, double weight);

#endif
