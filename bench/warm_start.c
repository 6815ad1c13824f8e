/* warm_start DATABASE OP: how soon a tuning run comes near the best, by what it tries first.
 *
 * Each tuned problem of the op is left out in turn, as if it were tuned now: its first tries are the op's default, and then what
 * src/tune/hints.c takes from the other problems; after those, random ones. What each would have found was measured when the problem was
 * tuned, so it is read from the database: tune it with `--strategy exhaustive --no-cut`. The figure is the best time of all that was
 * measured, divided by the best within so many tries; 1 is the best possible. Beside it stand the default and then random ones, which is what
 * `--no-neighbours` does, and random ones alone; of both the expected value, exactly. Geometric means over the problems, with 95% intervals
 * from drawing the problems again.
 *
 * A suggestion that was not measured there counts as one that is not valid there, and costs no try. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "runtime/runtime.h"
#include "tune/hints.h"

enum { WAYS = 3, COUNTS = 4, DRAWS = 2000 };
static const char *const ways[WAYS] = { "warm start", "default, then random", "random alone" };
static const int counts[COUNTS] = { 1, 2, 5, 10 };

/* What came of a configuration on the problem that is left out. */
struct point {
    char *variant, *json;
    double ns;    /* infinite: it failed */
    double share; /* of the best's speed */
    enum { OTHER, HINT, DEFAULT } is;
};

/* The problem that is left out. */
struct left_out {
    struct point *points;
    int n;
    int first[1 + MOST_HINTS], nfirst; /* of the points, in the order of trying */
    int has_default;
};

/* The results of one device. */
struct results {
    double *shares[WAYS][COUNTS]; /* by problem */
    int n, hints;
    double worst;
    char where[160];
};

static int take_point(void *arg, const struct measured *m)
{
    struct left_out *q = arg;
    bool timed = m->result.outcome == OUT_OK || m->result.outcome == OUT_SLOWER;
    if (!mem_grow((void **)&q->points, q->n, sizeof *q->points))
        return ERR_NOMEM;
    q->points[q->n++] = (struct point){
        .variant = mem_strdup(m->variant), .json = mem_strdup(m->json), .ns = timed ? m->result.stats.median : INFINITY
    };
    return 0;
}

/* Notes it as the next to be tried; false if it was not measured or is noted already. */
static bool try_next(struct left_out *q, int as, const char *variant, const char *json)
{
    for (int i = 0; i < q->n; i++)
        if (!strcmp(q->points[i].variant, variant) && !strcmp(q->points[i].json, json) && q->points[i].is == OTHER) {
            q->points[i].is = as;
            q->first[q->nfirst++] = i;
            return true;
        }
    return false;
}

static int take_default(void *arg, struct tuned *t)
{
    struct left_out *q = arg;
    q->has_default = try_next(q, DEFAULT, t->variant, t->json);
    tuned_free(t);
    return q->has_default; /* the first that is valid */
}

static int take_hint(void *arg, const struct tuned_problem *p)
{
    struct left_out *q = arg;
    try_next(q, HINT, p->variant, p->json);
    return q->nfirst - q->has_default == MOST_HINTS;
}

static int by_share(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    return (x->share < y->share) - (x->share > y->share);
}

/* The expected best share of `fixed` and `draws` of the points that are nothing more than `most`; all are in order. */
static double expected(const struct left_out *q, double fixed, int draws, int most)
{
    double sum = 0;
    int left = 0;
    for (int i = 0; i < q->n; i++)
        left += (int)q->points[i].is <= most;
    if (draws <= 0 || !left)
        return fixed;
    double p = fmin(1, (double)draws / left); /* that this one is the best of those drawn */
    for (int i = 0; i < q->n && p > 0; i++)
        if ((int)q->points[i].is <= most) {
            sum += p * fmax(fixed, q->points[i].share);
            p *= left > 1 ? fmax(0, (double)(left - draws) / (left - 1)) : 0;
            left--;
        }
    return sum;
}

/* The shares of all ways and numbers of tries. */
static void evaluate(struct left_out *q, double out[WAYS][COUNTS])
{
    double best = INFINITY, shares[1 + MOST_HINTS];
    for (int i = 0; i < q->n; i++)
        best = fmin(best, q->points[i].ns);
    for (int i = 0; i < q->n; i++)
        q->points[i].share = best / q->points[i].ns;
    for (int i = 0; i < q->nfirst; i++)
        shares[i] = q->points[q->first[i]].share;
    qsort(q->points, (size_t)q->n, sizeof *q->points, by_share);
    for (int c = 0; c < COUNTS; c++) {
        double fixed = 0;
        for (int i = 0; i < q->nfirst && i < counts[c]; i++)
            fixed = fmax(fixed, shares[i]);
        out[0][c] = expected(q, fixed, counts[c] - q->nfirst, OTHER);
        out[2][c] = expected(q, 0, counts[c], DEFAULT);
        out[1][c] = expected(q, q->has_default ? shares[0] : 0, counts[c] - q->has_default, HINT);
    }
}

static int leave_out(struct store *s, const struct op *op, const struct known_device *d, const struct tuned_problem *p,
                     struct results *r, struct err *err)
{
    const struct target target = { .device = p->device_id, .problem = p->id, .cold = true };
    const struct tuning_of tuning = { .device = p->device_id, .problem = p->id, .before = INT64_MAX };
    struct left_out q = { 0 };
    struct knowledge *others = NULL;
    struct problem problem;
    struct buf types = { 0 };
    double shares[WAYS][COUNTS];
    op_row_print(&types, op, p->row);
    int rc = problem_parse(op, p->sizes, &problem, err) ?: store_each_measured(s, &target, take_point, &q, err)
        ?: store_each_default(s, d->dev.backend, op->name, buf_text(&types), take_default, &q, err);
    if (rc >= 0)
        rc = knowledge_load(s, op, &tuning, &others, err) ?: hints_each(others, op, p->row, &problem, &d->dev, take_hint, &q, err);
    if (rc >= 0 && q.n) {
        rc = 0;
        evaluate(&q, shares);
        r->hints += q.nfirst - q.has_default;
        for (int way = 0; way < WAYS; way++)
            for (int c = 0; !rc && c < COUNTS; c++)
                rc = mem_grow((void **)&r->shares[way][c], r->n, sizeof(double)) ? 0 : err_nomem(err);
        for (int i = 0; !rc && i < WAYS * COUNTS; i++)
            r->shares[i / COUNTS][i % COUNTS][r->n] = shares[i / COUNTS][i % COUNTS];
        if (shares[0][COUNTS - 1] < r->worst) {
            r->worst = shares[0][COUNTS - 1];
            snprintf(r->where, sizeof r->where, "%s %s", buf_text(&types), p->sizes);
        }
        r->n++;
    }
    for (int i = 0; i < q.n; i++) {
        mem_free(q.points[i].variant);
        mem_free(q.points[i].json);
    }
    mem_free(q.points);
    knowledge_free(others);
    buf_free(&types);
    return rc < 0 ? rc : 0;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* "0.9812 (0.9700 to 0.9900)" */
static void print_mean(const double *shares, int n)
{
    double means[DRAWS], sum = 0;
    for (int i = 0; i < n; i++)
        sum += log(shares[i]);
    for (int draw = 0; draw < DRAWS; draw++) {
        double all = 0;
        for (int i = 0; i < n; i++)
            all += log(shares[rand_at(1, (uint64_t)(draw * n + i)) % (uint64_t)n]);
        means[draw] = exp(all / n);
    }
    qsort(means, DRAWS, sizeof *means, by_size);
    printf("  %.3f (%.3f to %.3f)", exp(sum / n), means[DRAWS / 40], means[DRAWS - 1 - DRAWS / 40]);
}

static void print_results(const struct results *r, const char *op, const struct devspec *dev)
{
    printf("%s on %s: %d problems, each left out in turn; %.1f suggestions a problem\n  %-22s", op, dev->name, r->n,
           r->n ? (double)r->hints / r->n : 0, "tries");
    for (int c = 0; c < COUNTS; c++)
        printf("  %-22d", counts[c]);
    puts("");
    for (int way = 0; way < WAYS && r->n; way++) {
        printf("  %-22s", ways[way]);
        for (int c = 0; c < COUNTS; c++)
            print_mean(r->shares[way][c], r->n);
        puts("");
    }
    if (r->n)
        printf("  warm start's worst within %d tries: %.3f, %s\n", counts[COUNTS - 1], r->worst, r->where);
}

static int all_devices(struct store *s, const struct op *op, const struct knowledge *k, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < k->ndevices; i++) {
        const struct known_device *d = &k->devices[i];
        struct results r = { .worst = INFINITY };
        for (int p = 0; !rc && p < d->nproblems; p++)
            rc = leave_out(s, op, d, k->problems[d->problems + p], &r, err);
        if (!rc)
            print_results(&r, op->name, &d->dev);
        for (int at = 0; at < WAYS * COUNTS; at++)
            mem_free(r.shares[at / COUNTS][at % COUNTS]);
    }
    return rc;
}

int main(int argc, char **argv)
{
    struct store *s = NULL;
    struct op *op = NULL;
    struct knowledge *k = NULL;
    struct err err = { 0 };
    if (argc != 3) {
        fprintf(stderr, "warm_start DATABASE OP\n");
        return 2;
    }
    int rc = store_open(argv[1], STORE_READ, &s, &err) ?: store_op(s, argv[2], &op, &err)
                 ?: knowledge_load(s, op, NULL, &k, &err) ?: all_devices(s, op, k, &err);
    if (rc)
        fprintf(stderr, "%s\n", err.msg);
    knowledge_free(k);
    op_free(op);
    store_close(s);
    return rc ? 1 : 0;
}
