/* warm_start DATABASE OP [TABLE]: how soon a tuning run comes near the best, by what it tries first.
 *
 * Each shape that DATABASE has tuned is left out in turn, with all types, as if it were new; with TABLE, another database, nothing of
 * DATABASE but only that is known. The first tries are the op's default, and then what src/tune/portfolio.c chooses; after those, random ones.
 * What each would have found was measured when the problem was tuned, so it is read from DATABASE: tune it with `--strategy exhaustive`. The
 * figure is the best time of all that was measured, divided by the best within so many tries; 1 is the best possible. Beside it stand
 * the default and then random ones, which is what `--no-neighbours` does, and random ones alone; of both the expected value, exactly.
 * Geometric means over the problems, with 95% intervals from drawing the problems again.
 *
 * The space of a problem is what was measured on it, failures too, as far as the op's script still has it. CUTUNE_HOME: where that is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "op/load.h"
#include "tune/portfolio.h"
#include "unlimited.h"

enum { WAYS = 3, COUNTS = 4, DRAWS = 2000, MOST_TRIES = 10 };
static const char *const ways[WAYS] = { "warm start", "default, then random", "random alone" };
static const int counts[COUNTS] = { 1, 2, 5, 10 };

struct bench {
    struct store *store, *table; /* of what is left out; of what is known, the same or another */
    struct op *op;
    struct knowledge *all, *known; /* of these */
    struct err *err;
};

/* The problem that is left out. */
struct left_out {
    const struct bench *bench;
    struct config *configs;
    double *measured; /* ns of each, infinite: it failed */
    int n;
    struct space *space;
    double *ns; /* by index in the space */
    int64_t first[MOST_TRIES];
    int nfirst;
    bool has_default;
};

/* The results of one device. */
struct results {
    double *shares[WAYS][COUNTS]; /* by problem */
    int n, hints;
    double worst;
    char where[160];
};

/* ---- one problem */

static int take_measured(void *arg, const struct measured *m)
{
    struct left_out *q = arg;
    bool timed = m->result.outcome == OUT_OK || m->result.outcome == OUT_SLOWER;
    struct buf text = { 0 };
    struct config c;
    bool good = config_of_json(&text, m->json) && !config_parse(q->bench->op, m->variant, buf_text(&text), &c, NULL);
    buf_free(&text);
    if (!good)
        return 0;
    if (!mem_grow((void **)&q->configs, q->n, sizeof *q->configs) || !mem_grow((void **)&q->measured, q->n, sizeof *q->measured))
        return err_nomem(q->bench->err);
    q->configs[q->n] = c;
    q->measured[q->n++] = timed ? m->result.stats.median : INFINITY;
    return 0;
}

static void try_next(struct left_out *q, int64_t index)
{
    for (int i = 0; i < q->nfirst; i++)
        if (q->first[i] == index)
            return;
    if (index >= 0 && q->nfirst < MOST_TRIES)
        q->first[q->nfirst++] = index;
}

/* The one that a run would try, if it was measured. */
static void try_default(struct left_out *q, int row, const struct problem *problem, const struct devspec *dev)
{
    struct config c;
    if (!op_default(q->bench->op, problem, row, dev, &c, NULL))
        try_next(q, space_find(q->space, &c));
    q->has_default = q->nfirst > 0;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The best share of `fixed` and `draws` of the n points, whose shares are in order: what is expected. */
static double expected(const double *shares, int n, double fixed, int draws)
{
    double sum = 0, p = 1; /* that none before is drawn */
    for (int i = n - 1; i >= 0 && draws > 0 && p > 0; i--) {
        double drawn = fmin(1, (double)draws / (i + 1));
        sum += p * drawn * fmax(fixed, shares[i]);
        p *= 1 - drawn;
    }
    return sum + p * fixed;
}

/* Shares of all but the first `but` tries, in order; returns how many. */
static int others(const struct left_out *q, double best, int but, double *out)
{
    int n = 0;
    for (int64_t i = 0; i < q->space->count; i++) {
        bool tried = false;
        for (int k = 0; k < but; k++)
            tried = tried || q->first[k] == i;
        if (!tried)
            out[n++] = best / q->ns[i];
    }
    qsort(out, (size_t)n, sizeof *out, by_size);
    return n;
}

static void evaluate(const struct left_out *q, double *room, double out[WAYS][COUNTS])
{
    const int taken[WAYS] = { q->nfirst, q->has_default, 0 };
    double best = INFINITY;
    for (int64_t i = 0; i < q->space->count; i++)
        best = fmin(best, q->ns[i]);
    for (int way = 0; way < WAYS; way++) {
        int n = others(q, best, taken[way], room);
        for (int c = 0; c < COUNTS; c++) {
            double fixed = 0;
            for (int i = 0; i < taken[way] && i < counts[c]; i++)
                fixed = fmax(fixed, best / q->ns[q->first[i]]);
            out[way][c] = expected(room, n, fixed, counts[c] - taken[way]);
        }
    }
}

/* Problems of the same shape get a flag that no op has, so they do not compare; the second time they lose it again. */
static void hide(const struct bench *b, const char *sizes)
{
    for (int i = 0; i < b->known->nproblems; i++)
        if (!strcmp(b->known->problems[i]->sizes, sizes))
            b->known->problems[i]->flags ^= 1u << 31;
}

static int first_tries(struct left_out *q, const struct tuned_problem *p, const struct devspec *identity)
{
    const struct bench *b = q->bench;
    const struct devspec dev = unlimited(identity);
    struct problem problem;
    const struct newcomer c = { .op = b->op, .row = p->row, .problem = &problem, .dev = &dev, .space = q->space };
    const struct source_of_hints from = { b->table, b->known, INT64_MAX };
    int64_t chosen[MOST_TRIES];
    int n = 0;
    int rc = problem_parse(b->op, p->sizes, &problem, b->err);
    if (rc)
        return rc;
    try_default(q, p->row, &problem, &dev);
    hide(b, p->sizes);
    rc = portfolio_choose(&c, &from, 1, chosen, MOST_TRIES, &n, b->err);
    hide(b, p->sizes);
    for (int i = 0; i < n; i++)
        try_next(q, chosen[i]);
    return rc;
}

static int leave_out(const struct bench *b, const struct known_device *d, const struct tuned_problem *p, struct results *r)
{
    const struct target target = { .device = p->device_id, .problem = p->id, .cold = true };
    struct left_out q = { .bench = b };
    struct buf types = { 0 };
    double shares[WAYS][COUNTS], *room = NULL;
    op_row_print(&types, b->op, p->row);
    int rc = store_each_measured(b->store, &target, take_measured, &q, b->err);
    rc = rc ?: space_listed(b->op, q.configs, q.n, &q.space, b->err);
    if (!rc && (!(q.ns = mem_array((size_t)q.n + 1, sizeof *q.ns)) || !(room = mem_array((size_t)q.n + 1, sizeof *room))))
        rc = err_nomem(b->err);
    for (int i = 0; !rc && i < q.n; i++)
        q.ns[space_find(q.space, &q.configs[i])] = q.measured[i]; /* of two the later counts */
    rc = rc ?: first_tries(&q, p, &d->dev);
    bool timed = false; /* of none that the script still has: there is no best */
    for (int i = 0; i < q.n; i++)
        timed = timed || q.measured[i] < INFINITY;
    if (!rc && timed) {
        evaluate(&q, room, shares);
        r->hints += q.nfirst - q.has_default;
        for (int i = 0; !rc && i < WAYS * COUNTS; i++) {
            double **to = &r->shares[i / COUNTS][i % COUNTS];
            rc = mem_grow((void **)to, r->n, sizeof **to) ? 0 : err_nomem(b->err);
            if (!rc)
                (*to)[r->n] = shares[i / COUNTS][i % COUNTS];
        }
        if (shares[0][COUNTS - 1] < r->worst) {
            r->worst = shares[0][COUNTS - 1];
            snprintf(r->where, sizeof r->where, "%s %s", buf_text(&types), p->sizes);
        }
        r->n++;
    }
    space_free(q.space);
    mem_free(q.configs);
    mem_free(q.measured);
    mem_free(q.ns);
    mem_free(room);
    buf_free(&types);
    return rc;
}

/* ---- all of them */

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
    printf("%s on %s: %d problems, each left out; %.1f suggestions a problem\n  %-22s", op, dev->name, r->n,
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

static int all_devices(const struct bench *b)
{
    int rc = 0;
    for (int i = 0; !rc && i < b->all->ndevices; i++) {
        const struct known_device *d = &b->all->devices[i];
        struct results r = { .worst = INFINITY };
        for (int p = 0; !rc && p < d->nproblems; p++)
            rc = leave_out(b, d, b->all->problems[d->problems + p], &r);
        if (!rc)
            print_results(&r, b->op->name, &d->dev);
        for (int at = 0; at < WAYS * COUNTS; at++)
            mem_free(r.shares[at / COUNTS][at % COUNTS]);
    }
    return rc;
}

int main(int argc, char **argv)
{
    struct err err = { 0 };
    struct bench b = { .err = &err };
    const struct winner_choice any = { .which = WINNERS_ANY, .before = INT64_MAX }; /* stale ones, too */
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "warm_start DATABASE OP [TABLE]\n");
        return 2;
    }
    int rc = store_open(argv[1], STORE_READ, &b.store, &err) ?: store_open(argv[argc == 4 ? 3 : 1], STORE_READ, &b.table, &err)
                 ?: op_load(argv[2], &b.op, &err) ?: knowledge_load(b.store, b.op, &any, &b.all, &err)
                 ?: knowledge_load(b.table, b.op, &any, &b.known, &err) ?: all_devices(&b);
    if (rc)
        fprintf(stderr, "%s\n", err.msg);
    knowledge_free(b.all);
    knowledge_free(b.known);
    op_free(b.op);
    store_close(b.store);
    store_close(b.table);
    return rc ? 1 : 0;
}
