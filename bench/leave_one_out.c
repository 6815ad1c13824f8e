/* leave_one_out DATABASE OP: how much speed an application loses on a problem that was never tuned.
 *
 * Each tuned problem of the op is left out in turn. The look-up's rule (src/runtime/near.h) chooses a configuration among the winners of
 * the others and the op's default. Its time on the problem was measured when the problem was tuned, so it is read from the database. The
 * figure is the winner's time divided by that time. For comparison, the same is printed
 * - as it is in the shipped tables, where a default that was never timed is given,
 * - with the default only where there is no winner to give,
 * - for the default alone,
 * - for the winner of the nearest problem by size, else the default,
 * - and for the best that could have been given.
 * A configuration that was not timed on the problem is not chosen; where a rule has none that was, the problem does not count for it. The
 * outcome `slower` counts with the time of its single sample. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "runtime/runtime.h"
#include "unlimited.h"

enum { LOOKUP, SHIPPED, WINNERS, DEFAULT, NEAREST, POSSIBLE, RULES };
static const char *const rules[RULES] = { "the look-up", "in what ships", "winners first", "default alone", "nearest by size", "best possible" };

struct totals {
    double sum[RULES], worst[RULES];
    char where[RULES][128];
    int n, given[RULES]; /* problems, and those for which a rule has an answer */
};

static double loss_at(const struct knowledge *k, const struct tuned_problem *p, int column)
{
    for (int i = k->first[column]; i < k->first[column + 1]; i++)
        if (k->times[i].problem == p->at)
            return k->times[i].loss;
    return NAN;
}

/* What the rule makes of a candidate; the least is chosen. */
static double score(int rule, const struct knowledge *k, const struct known_device *d, const struct op *op, const struct tuned_problem *out,
                    const struct tuned_problem *c, const struct problem_default *deflt, const double *distance)
{
    int column = c->column;
    if (rule <= WINNERS)
        return near_loss(distance, &k->times[k->first[column]], k->first[column + 1] - k->first[column], unknown_loss(deflt, column));
    if (rule == POSSIBLE)
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

/* The default that a problem gets; known only if it was timed. */
static struct problem_default default_of(struct store *s, struct known_op *known, const struct known_device *d, const struct tuned_problem *q)
{
    const struct devspec dev = unlimited(&d->dev);
    const struct tuned *t;
    struct defaults *all;
    struct problem problem;
    int at = 0;
    bool found = !defaults_get(&known->defaults, s, known->op, dev.backend, q->row, &all, NULL) &&
                 !problem_parse(known->op, q->sizes, &problem, NULL) && !defaults_next(all, &problem, &dev, &at, &t, NULL);
    return found ? (struct problem_default){ default_known(known->all, d, t->variant, t->json), t->rank } : (struct problem_default){ 0 };
}

static void leave_out(struct store *s, struct known_op *known, const struct known_device *d, const struct tuned_problem *q,
                      struct totals *t)
{
    const struct knowledge *k = known->all;
    const struct op *op = known->op;
    const struct problem_default judged = default_of(s, known, d, q);
    const struct known_default *deflt = judged.known;
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
        const char *variant = NULL, *json = NULL;
        double least = INFINITY, loss = 0;
        for (int i = 0; rule != DEFAULT && i < d->ncandidates; i++) {
            const struct tuned_problem *c = k->candidates[d->candidates + i];
            /* measured there: its constraints hold */
            if (c->row != q->row || c->flags != q->flags || isnan(loss_at(k, q, c->column)) || !is_left(k, d, q, c))
                continue;
            double expected = score(rule, k, d, op, q, c, &judged, distance);
            if (expected < least) {
                least = expected;
                loss = loss_at(k, q, c->column);
                variant = c->variant;
                json = c->json;
            }
        }
        double of_default = deflt ? loss_at(k, q, deflt->column) : NAN;
        double untimed = rule == SHIPPED ? 0 : INFINITY;
        double expected = rule < WINNERS && deflt ? default_loss(k, &judged, distance, untimed) : of_default;
        bool last = rule == WINNERS || rule == NEAREST; /* it is given where no winner can be */
        if (!isnan(of_default) && (last ? !variant : expected < least)) {
            loss = of_default;
            variant = deflt->variant;
            json = deflt->json;
        }
        if (!variant)
            continue;
        t->given[rule]++;
        t->sum[rule] += loss;
        if (loss > t->worst[rule]) {
            t->worst[rule] = loss;
            snprintf(t->where[rule], sizeof t->where[rule], "%s: %s %s instead of %s %s", buf_text(&name), variant, json, q->variant,
                     q->json);
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
            leave_out(c.store, known, d, known->all->problems[d->problems + out], &t);
        printf("%s on %s: %d problems\n", argv[2], d->dev.name, t.n);
        for (int rule = 0; rule < RULES; rule++)
            if (t.given[rule])
                printf("  %-16s of %d: geometric mean %.4f, worst %.3f  %s\n", rules[rule], t.given[rule],
                       exp(-t.sum[rule] / t.given[rule]), exp(-t.worst[rule]), t.where[rule]);
    }
    known_op_free(known);
    store_close(c.store);
    return 0;
}
