/* leave_one_out DATABASE OP: how much speed an application loses on a problem that was never tuned.
 *
 * Each tuned problem of the op is left out in turn. The rule of src/runtime/near.h chooses, among the winners of the others, the
 * configuration that the library would give. Its time on the problem was measured when the problem was tuned, so it is read from the
 * database. The figure is the winner's time divided by that time. For comparison, the same is printed for the winner of the nearest
 * problem by size alone, and for the best of all winners that could have been given. The outcome `slower` counts with the time of its
 * single sample. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "runtime/runtime.h"

enum { RULES = 3 };
static const char *const rules[RULES] = { "near.h", "nearest by size", "best possible" };

struct totals {
    double sum[RULES], worst[RULES];
    char where[RULES][128];
    int n, none;
};

static double loss_at(const struct knowledge *k, const struct tuned_problem *p, int column)
{
    for (int i = k->first[column]; i < k->first[column + 1]; i++)
        if (k->times[i].problem == p->at)
            return k->times[i].loss;
    return NAN;
}

/* What the rule makes of a candidate; the least is chosen. */
static double score(int rule, const struct knowledge *k, const struct known_device *d, const struct op *op,
                    const struct tuned_problem *out, const struct tuned_problem *c, const double *distance)
{
    int column = c->column;
    if (rule == 0)
        return near_loss(distance, &k->times[k->first[column]], k->first[column + 1] - k->first[column]);
    if (rule == 2)
        return loss_at(k, out, column);
    double least = INFINITY;
    for (int i = 0; i < d->nproblems; i++) {
        const struct tuned_problem *p = k->problems[d->problems + i];
        double sum = 0;
        for (int a = 0; a < op->naxes; a++)
            sum += pow(p->point.size[a] - out->point.size[a], 2);
        if (p != out && p->row == c->row && p->column == column && sum < least)
            least = sum;
    }
    return least;
}

/* Somebody else's winner too: else leaving the problem out leaves the candidate out. */
static int is_left(const struct knowledge *k, const struct known_device *d, const struct tuned_problem *out,
                   const struct tuned_problem *c)
{
    for (int i = 0; i < d->nproblems; i++) {
        const struct tuned_problem *p = k->problems[d->problems + i];
        if (p != out && p->row == c->row && p->flags == c->flags && p->column == c->column)
            return 1;
    }
    return 0;
}

static void leave_out(const struct knowledge *k, const struct known_device *d, const struct op *op, const struct tuned_problem *q,
                      struct totals *t)
{
    double *distance = mem_array((size_t)d->nproblems, sizeof *distance);
    for (int i = 0; distance && i < d->nproblems; i++) {
        const struct tuned_problem *p = k->problems[d->problems + i];
        distance[i] = p != q && p->flags == q->flags ? near_distance(&q->point, &p->point, op) : -1;
    }
    struct buf name = { 0 };
    op_row_print(&name, op, q->row);
    buf_fmt(&name, " %s", q->sizes);
    t->n++;
    for (int rule = 0; distance && rule < RULES; rule++) {
        const struct tuned_problem *best = NULL;
        double least = INFINITY;
        for (int i = 0; i < d->ncandidates; i++) {
            const struct tuned_problem *c = k->candidates[d->candidates + i];
            /* measured there: its constraints hold */
            if (c->row != q->row || c->flags != q->flags || isnan(loss_at(k, q, c->column)) || !is_left(k, d, q, c))
                continue;
            double s = score(rule, k, d, op, q, c, distance);
            if (s < least) {
                least = s;
                best = c;
            }
        }
        double loss = best ? loss_at(k, q, best->column) : 0;
        t->none += !best && rule == 0;
        t->sum[rule] += loss;
        if (loss > t->worst[rule]) {
            t->worst[rule] = loss;
            snprintf(t->where[rule], sizeof t->where[rule], "%s: %s %s instead of %s %s", buf_text(&name), best->variant,
                     best->json, q->variant, q->json);
        }
    }
    buf_free(&name);
    mem_free(distance);
}

int main(int argc, char **argv)
{
    struct cutune c = { 0 }; /* no more of it than its store is needed */
    struct known_op *known;
    struct err err = { 0 };
    if (argc != 3) {
        fprintf(stderr, "leave_one_out DATABASE OP\n");
        return 2;
    }
    if (store_open(argv[1], STORE_READ, &c.store, &err) || known_op_get(&c, argv[2], &known, &err) ||
        knowledge_load(c.store, known->op, NULL, &known->all, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    for (int i = 0; i < known->all->ndevices; i++) {
        const struct known_device *d = &known->all->devices[i];
        struct totals t = { 0 };
        for (int out = 0; out < d->nproblems; out++)
            leave_out(known->all, d, known->op, known->all->problems[d->problems + out], &t);
        printf("%s on %s: %d problems, %d of them with nothing else to give\n", argv[2], d->dev.name, t.n, t.none);
        for (int rule = 0; rule < RULES; rule++)
            printf("  %-16s geometric mean %.4f, worst %.3f  %s\n", rules[rule], exp(-t.sum[rule] / t.n), exp(-t.worst[rule]),
                   t.where[rule]);
    }
    known_op_free(known);
    store_close(c.store);
    return 0;
}
