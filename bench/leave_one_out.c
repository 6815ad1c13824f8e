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
#include "runtime/near.h"
#include "runtime/runtime.h"

enum { RULES = 3 };
static const char *const rules[RULES] = { "near.h", "nearest by size", "best possible" };

struct totals {
    double sum[RULES], worst[RULES];
    char where[RULES][128];
    int n, none;
};

static double loss_at(const struct knowledge *k, int problem, int column)
{
    for (int i = k->first[column]; i < k->first[column + 1]; i++)
        if (k->times[i].problem == problem)
            return k->times[i].loss;
    return NAN;
}

static int same_config(const struct tuned_problem *a, const struct tuned_problem *b)
{
    return !strcmp(a->variant, b->variant) && !strcmp(a->json, b->json);
}

/* What the rule makes of a candidate; the least is chosen. */
static double score(int rule, const struct knowledge *k, const struct known_device *d, const struct op *op, int out,
                    const struct candidate *c, const double *distance)
{
    if (rule == 0)
        return near_loss(distance, &k->times[k->first[c->column]], k->first[c->column + 1] - k->first[c->column]);
    if (rule == 2)
        return loss_at(k, out, c->column);
    double least = INFINITY;
    for (int i = 0; i < d->nproblems; i++) {
        const struct tuned_problem *p = &d->problems[i];
        double sum = 0;
        for (int a = 0; a < op->naxes; a++)
            sum += pow(p->point->size[a] - d->problems[out].point->size[a], 2);
        if (i != out && p->row == c->row && same_config(p, &d->problems[c->problem]) && sum < least)
            least = sum;
    }
    return least;
}

/* Somebody else's winner too: else leaving the problem out leaves the candidate out. */
static int is_left(const struct known_device *d, int out, const struct candidate *c)
{
    for (int i = 0; i < d->nproblems; i++) {
        const struct tuned_problem *p = &d->problems[i];
        if (i != out && p->row == c->row && p->flags == c->flags && same_config(p, &d->problems[c->problem]))
            return 1;
    }
    return 0;
}

static void leave_out(const struct knowledge *k, const struct known_device *d, const struct op *op, int out, struct totals *t)
{
    const struct tuned_problem *q = &d->problems[out];
    double *distance = mem_array((size_t)d->nproblems, sizeof *distance);
    for (int i = 0; distance && i < d->nproblems; i++)
        distance[i] = i != out && d->problems[i].flags == q->flags
                          ? near_distance(q->point, d->problems[i].point, op->naxes, op->ntypes)
                          : -1;
    struct buf name = { 0 };
    op_row_print(&name, op, q->row);
    buf_str(&name, " ");
    problem_print(&name, op, &q->problem);
    t->n++;
    for (int rule = 0; distance && rule < RULES; rule++) {
        const struct candidate *best = NULL;
        double least = INFINITY;
        for (int i = 0; i < d->ncandidates; i++) {
            const struct candidate *c = &d->candidates[i];
            /* measured there: its constraints hold */
            if (c->row != q->row || c->flags != q->flags || isnan(loss_at(k, out, c->column)) || !is_left(d, out, c))
                continue;
            double s = score(rule, k, d, op, out, c, distance);
            if (s < least) {
                least = s;
                best = c;
            }
        }
        double loss = best ? loss_at(k, out, best->column) : 0;
        t->none += !best && rule == 0;
        t->sum[rule] += loss;
        if (loss > t->worst[rule]) {
            t->worst[rule] = loss;
            const struct tuned_problem *other = &d->problems[best->problem];
            snprintf(t->where[rule], sizeof t->where[rule], "%s: %s %s instead of %s %s", buf_text(&name), other->variant,
                     other->json, q->variant, q->json);
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
    if (store_open(argv[1], STORE_READ, &c.store, &err) || known_op_new(&c, argv[2], &known, &err) ||
        knowledge_load(c.store, known->op, &known->all, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    for (int i = 0; i < known->all->ndevices; i++) {
        const struct known_device *d = &known->all->devices[i];
        struct totals t = { 0 };
        for (int out = 0; out < d->nproblems; out++)
            leave_out(known->all, d, known->op, out, &t);
        printf("%s on %s: %d problems, %d of them with nothing else to give\n", argv[2], d->dev.name, t.n, t.none);
        for (int rule = 0; rule < RULES; rule++)
            printf("  %-16s geometric mean %.4f, worst %.3f  %s\n", rules[rule], exp(-t.sum[rule] / t.n), exp(-t.worst[rule]),
                   t.where[rule]);
    }
    known_op_free(known);
    store_close(c.store);
    return 0;
}
