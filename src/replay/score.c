#include "replay/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(const double *sorted, int64_t n)
{
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/* -- random search -- */

/* So many configurations random search is expected to try until it is `share` of the way from the median to the best. */
static int64_t tries_to(const struct yardstick *y, double share)
{
    int64_t n = y->right, i = 0;
    double best = y->ascending[0], target = best + (y->median - best) * (1 - share);
    while (i < n - 1 && y->ascending[n - 1 - i] > target) /* the worst first */
        i++;
    if (share < 1 && y->ascending[n - 1 - i] == best && i > 0)
        i--;
    return (int64_t)ceil((double)i / (double)(n + 1 - i));
}

/* What random search is expected to have found after so many. */
static double random_best(const struct yardstick *y, double tries)
{
    double n = (double)y->right;
    int64_t i = (int64_t)nearbyint(tries * (n + 1) / (tries + 1));
    return y->ascending[y->right - 1 - (i < y->right - 1 ? i : y->right - 1)];
}

/* Slopes of the cubic through n points that rises and falls only where they do (Fritsch and Butland), as scipy's PchipInterpolator. */
static double end_slope(double h0, double h1, double d0, double d1)
{
    double slope = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    if (slope * d0 <= 0)
        return 0;
    return d0 * d1 <= 0 && fabs(slope) > 3 * fabs(d0) ? 3 * d0 : slope;
}

static void slopes_of(const double *x, const double *v, int n, double *slope)
{
    double h[POINTS], d[POINTS];
    for (int i = 0; i + 1 < n; i++) {
        h[i] = x[i + 1] - x[i];
        d[i] = (v[i + 1] - v[i]) / h[i];
    }
    if (n == 2) {
        slope[0] = slope[1] = d[0];
        return;
    }
    for (int i = 1; i + 1 < n; i++) {
        double a = 2 * h[i] + h[i - 1], b = h[i] + 2 * h[i - 1];
        slope[i] = d[i - 1] * d[i] > 0 ? (a + b) / (a / d[i - 1] + b / d[i]) : 0;
    }
    slope[0] = end_slope(h[0], h[1], d[0], d[1]);
    slope[n - 1] = end_slope(h[n - 2], h[n - 3], d[n - 2], d[n - 3]);
}

/* At each point of time what random search has found; smooth, as whole numbers of configurations would make steps. */
static void random_curve(struct yardstick *y)
{
    double x[POINTS], v[POINTS], slope[POINTS], tries[POINTS];
    int n = 0;
    for (int i = 0; i < POINTS; i++) {
        tries[i] = nearbyint(fmax(yardstick_second(y, i) / y->mean_s, 1));
        y->random[i] = random_best(y, tries[i]);
        if (!n || tries[i] > x[n - 1]) {
            x[n] = tries[i];
            v[n++] = y->random[i];
        }
    }
    if (n < 2)
        return;
    slopes_of(x, v, n, slope);
    for (int i = 0, k = 0; i < POINTS; i++) {
        double at = x[0] + (x[n - 1] - x[0]) * i / (POINTS - 1);
        while (k < n - 2 && at > x[k + 1])
            k++;
        double h = x[k + 1] - x[k], s = (at - x[k]) / h, r = 1 - s;
        y->random[i] =
            v[k] * (1 + 2 * s) * r * r + slope[k] * h * s * r * r + v[k + 1] * (3 - 2 * s) * s * s - slope[k + 1] * h * s * s * r;
    }
}

/* Medians and means of what trying takes, of all and of what fails. */
static int time_of_one(const struct recorded_space *t, struct yardstick *y, struct err *err)
{
    int64_t n = t->space->count, failed = 0;
    double *all = mem_array((size_t)n, sizeof *all), right_s = 0, failed_s = 0;
    if (!all)
        return err_nomem(err);
    for (int64_t i = 0; i < n; i++) {
        bool right = t->trials[i].outcome == OUT_OK;
        all[i] = t->trials[i].seconds;
        *(right ? &right_s : &failed_s) += all[i];
        failed += !right;
    }
    qsort(all, (size_t)n, sizeof *all, compare_doubles);
    double median = median_of(all, n);
    mem_free(all);
    y->from_s = (double)y->from * median;
    y->to_s = (double)y->to * median;
    y->mean_s = right_s / (double)(n - failed) + (failed ? failed_s / (double)n : 0); /* share * mean of the failed */
    return median > 0 ? 0 : err_set(err, ERR_INVALID, "%s: trying half of its configurations took no time", t->title);
}

int yardstick_of(const struct recorded_space *t, struct yardstick *y, struct err *err)
{
    int64_t n = 0;
    *y = (struct yardstick){ .ascending = mem_array((size_t)t->space->count, sizeof *y->ascending) };
    if (!y->ascending)
        return err_nomem(err);
    for (int64_t i = 0; i < t->space->count; i++)
        if (t->trials[i].outcome == OUT_OK)
            y->ascending[n++] = t->trials[i].time_ns;
    qsort(y->ascending, (size_t)n, sizeof *y->ascending, compare_doubles);
    y->right = n;
    int rc = 0;
    if (n < 2 || y->ascending[0] == y->ascending[n - 1])
        rc = err_set(err, ERR_INVALID, "%s: nothing to find: no two of its right configurations differ in time", t->title);
    else {
        y->median = median_of(y->ascending, n);
        y->from = tries_to(y, 0.01);
        y->to = tries_to(y, 0.95);
        if (y->to - y->from < 2) {
            int64_t most = tries_to(y, 1), wish = y->from ? y->to + 1 : y->to + 2;
            y->to = wish < most ? wish : most;
            y->from -= y->from > 0;
        }
        rc = y->to > y->from ? time_of_one(t, y, err)
                             : err_set(err, ERR_INVALID, "%s: nothing to find: half of it is as good as the best", t->title);
    }
    if (rc)
        yardstick_free(y);
    else
        random_curve(y);
    return rc;
}

void yardstick_free(struct yardstick *y)
{
    mem_free(y->ascending);
    y->ascending = NULL;
}

double yardstick_second(const struct yardstick *y, int point)
{
    return y->from_s + (y->to_s - y->from_s) * point / (POINTS - 1);
}

double yardstick_end(const struct yardstick *y)
{
    return y->to_s * 1.1;
}

/* -- a strategy's curve -- */

/* After a trial: when, and the rank of the best so far. */
struct moment {
    double s;
    int rank, repeat;
};

struct runs {
    const struct recorded_space *t;
    const struct yardstick *y;
    const struct tries *tries;
    int repeats, rows; /* rows: the most trials that a repeat had when it had a best */
    int n;
    struct moment *moments;    /* by time; null as long as they are counted */
    double *last_s;            /* of each repeat */
    struct fall_level *levels; /* room for the regression */
};

static int compare_moments(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    return x->s != y->s ? (x->s > y->s) - (x->s < y->s) : x->repeat - y->repeat;
}

static int rank_of(const struct yardstick *y, double time)
{
    int64_t low = 0, high = y->right;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (y->ascending[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return (int)low;
}

static void note(struct runs *r, double s, int rank, int repeat)
{
    if (r->moments)
        r->moments[r->n] = (struct moment){ s, rank, repeat };
    r->n++;
}

/* Goes through a repeat. One that has nothing to say between the bounds had its best before, or none. */
static void follow(struct runs *r, int repeat, double from, double to)
{
    double s = 0, best = INFINITY;
    int rank = 0, had = r->n;
    r->last_s[repeat] = 0;
    for (int i = 0; i < r->tries[repeat].n; i++) {
        const struct recorded_trial *t = &r->t->trials[r->tries[repeat].index[i]];
        s += t->seconds;
        if (t->outcome == OUT_OK && t->time_ns < best) {
            best = t->time_ns;
            rank = rank_of(r->y, best);
        }
        if (!isfinite(best))
            continue;
        r->last_s[repeat] = s;
        r->rows = i + 1 > r->rows ? i + 1 : r->rows;
        if (s >= from && s <= to)
            note(r, s, rank, repeat);
    }
    if (r->n == had)
        note(r, isfinite(best) && s < from ? r->y->from_s : r->y->to_s, isfinite(best) ? rank : (int)r->y->right - 1, repeat);
}

static int gather(struct runs *r, struct err *err)
{
    r->last_s = mem_array((size_t)r->repeats, sizeof *r->last_s);
    if (!r->last_s)
        return err_nomem(err);
    for (int i = 0; i < r->repeats; i++)
        follow(r, i, 0, INFINITY);
    double margin = 0.1 + (r->rows ? 0.25 / r->rows : 0);
    double from = r->y->from_s * (1 - margin), to = r->y->to_s * (1 + margin);
    r->levels = mem_array((size_t)r->n + (size_t)r->repeats, sizeof *r->levels);
    struct moment *moments = mem_array((size_t)r->n + (size_t)r->repeats, sizeof *moments);
    if (!moments || !r->levels) {
        mem_free(moments);
        return err_nomem(err);
    }
    r->moments = moments;
    r->n = 0;
    for (int i = 0; i < r->repeats; i++)
        follow(r, i, from, to);
    qsort(r->moments, (size_t)r->n, sizeof *r->moments, compare_moments);
    qsort(r->last_s, (size_t)r->repeats, sizeof *r->last_s, compare_doubles);
    return 0;
}

int isotonic_fall(struct fall_level *l, int n, double x, double value, double weight)
{
    l[n++] = (struct fall_level){ x, x, value, weight };
    while (n > 1 && l[n - 2].value <= l[n - 1].value) {
        struct fall_level *into = &l[n - 2], *from = &l[n - 1];
        double sum = into->weight + from->weight;
        into->value = (into->value * into->weight + from->value * from->weight) / sum;
        into->weight = sum;
        into->to = from->to;
        n--;
    }
    return n;
}

/* weight: of each repeat. Moments at the same time count as one, their mean. */
static int regress(struct runs *r, const int *weight)
{
    int n = 0;
    for (int i = 0, next; i < r->n; i = next) {
        double sum = 0, w = 0;
        for (next = i; next < r->n && r->moments[next].s == r->moments[i].s; next++) {
            w += weight[r->moments[next].repeat];
            sum += weight[r->moments[next].repeat] * (double)r->moments[next].rank;
        }
        if (w > 0)
            n = isotonic_fall(r->levels, n, r->moments[i].s, sum / w, w);
    }
    return n;
}

/* The time after which fewer than half of the repeats go on. */
static double stop_of(const struct runs *r)
{
    double median = median_of(r->last_s, r->repeats);
    for (int i = 0; i < r->repeats; i++)
        if (r->last_s[i] > median)
            return r->last_s[i];
    return r->y->to_s;
}

/* P, and the curve that it is the mean over. Between two levels the regression is a straight line. */
static double mean_improvement(const struct runs *r, int nlevels, double curve[POINTS])
{
    const struct yardstick *y = r->y;
    double sum = 0, stop = stop_of(r), best = y->ascending[0], rank = 0;
    for (int i = 0, k = 0; i < POINTS; i++) {
        double s = yardstick_second(y, i), earlier = i ? yardstick_second(y, i - 1) : -1;
        if (!i || earlier <= stop) {
            while (k < nlevels - 1 && s > r->levels[k].to)
                k++;
            const struct fall_level *now = &r->levels[k], *last = k ? now - 1 : now;
            rank = s < now->from && k ? last->value + (now->value - last->value) * (s - last->to) / (now->from - last->to)
                                      : now->value;
        }
        double value = y->ascending[(int)nearbyint(rank)];
        double p = (value - y->random[i]) / (best - y->random[i]);
        if (curve)
            curve[i] = value;
        sum += isfinite(p) ? p : 0; /* random search is at the optimum, too */
    }
    return sum / POINTS;
}

/* -- what it takes to come near -- */

static int come_near(const struct runs *r, struct score *out, struct err *err)
{
    double *tried = mem_array((size_t)r->repeats, 2 * sizeof *tried), *seconds = tried + r->repeats;
    if (!tried)
        return err_nomem(err);
    for (int w = 0; w < 3; w++) {
        double goal = r->y->ascending[0] * (1 + within[w]);
        for (int i = 0; i < r->repeats; i++) {
            double s = 0;
            tried[i] = seconds[i] = INFINITY;
            for (int k = 0; k < r->tries[i].n && isinf(tried[i]); k++) {
                const struct recorded_trial *t = &r->t->trials[r->tries[i].index[k]];
                s += t->seconds;
                if (t->outcome == OUT_OK && t->time_ns <= goal) {
                    tried[i] = k + 1;
                    seconds[i] = s;
                }
            }
        }
        qsort(tried, (size_t)r->repeats, sizeof *tried, compare_doubles);
        qsort(seconds, (size_t)r->repeats, sizeof *seconds, compare_doubles);
        double n = median_of(tried, r->repeats), s = median_of(seconds, r->repeats);
        out->evaluations[w] = isfinite(n) ? n : NAN;
        out->seconds[w] = isfinite(s) ? s : NAN;
    }
    mem_free(tried);
    return 0;
}

/* -- the score -- */

static void interval(struct score *s)
{
    double sorted[RESAMPLES];
    memcpy(sorted, s->resampled, sizeof sorted);
    qsort(sorted, RESAMPLES, sizeof *sorted, compare_doubles);
    s->low = sorted[RESAMPLES / 40];
    s->high = sorted[RESAMPLES - 1 - RESAMPLES / 40];
}

int score_of(const struct recorded_space *t, const struct yardstick *y, const struct tries *tries, int repeats, uint64_t seed,
             double curve[POINTS], struct score *out, struct err *err)
{
    struct runs r = { .t = t, .y = y, .tries = tries, .repeats = repeats };
    uint64_t place = 0;
    int *weight = mem_array((size_t)repeats, sizeof *weight);
    int rc = (weight ? 0 : err_nomem(err)) ?: gather(&r, err) ?: come_near(&r, out, err);
    for (int i = 0; !rc && i < repeats; i++)
        weight[i] = 1;
    if (!rc)
        out->p = mean_improvement(&r, regress(&r, weight), curve);
    for (int b = 0; !rc && b < RESAMPLES; b++) {
        memset(weight, 0, (size_t)repeats * sizeof *weight);
        for (int i = 0; i < repeats; i++)
            weight[rand_at(seed, place++) % (uint64_t)repeats]++;
        out->resampled[b] = mean_improvement(&r, regress(&r, weight), NULL);
    }
    if (!rc)
        interval(out);
    mem_free(weight);
    mem_free(r.moments);
    mem_free(r.levels);
    mem_free(r.last_s);
    return rc;
}

struct score score_mean(const struct score *of, int n)
{
    struct score mean = { 0 };
    for (int w = 0; w < 3; w++)
        mean.evaluations[w] = mean.seconds[w] = NAN; /* of different spaces: no mean makes sense */
    for (int i = 0; i < n; i++) {
        mean.p += of[i].p / n;
        for (int b = 0; b < RESAMPLES; b++)
            mean.resampled[b] += of[i].resampled[b] / n;
    }
    interval(&mean);
    return mean;
}
