/* Larger problems. The other problem lies in the memory of the tuned one, so it does not show what a kernel does only where an axis is longer:
 * a loop's second pass. What may become a winner runs once for problems of which one axis is much longer and the others, if that is too
 * much, shorter. Each has a bench of its own. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "measure/internal.h"

enum {
    UNITS = 11,
    MOST_TIMES = 64,              /* an axis becomes so many times as long, where that is little, */
    TIMES = 8,                    /* or else so many times; or, where constraints, limits or memory do not let it, a half of that, or a quarter */
    LITTLE_CPU = 1 << 18,         /* the product of the sizes up to which a problem costs next to nothing; it is never more than the tuned one's */
    LITTLE = 1 << 22,             /* or this */
    LITTLE_BYTES = 64 << 20,      /* likewise of memory, which is never more than twice the tuned one's or this */
};

static double elements(const struct op *op, const struct problem *p)
{
    double product = 1;
    for (int i = 0; i < op->naxes; i++)
        product *= axis_is_size(&op->axes[i]) ? (double)p->size[i] : 1;
    return product;
}

/* Of all arguments; infinite if they have none. */
static double bytes_of(const struct bench *b, const struct problem *p)
{
    struct val vals[MAX_SLOTS];
    double sum = 0;
    int64_t bytes = 0;
    plan_slots(b->plan, p, b->set.row, &b->set.dev, NULL, vals);
    for (int i = 0; i < b->nargs; i++) {
        if (arg_is_buffer(b->args[i].arg) && plan_arg_bytes(b->plan, i, vals, &bytes, NULL))
            return INFINITY;
        sum += (double)bytes;
    }
    return sum;
}

/* With `axis` so many times as long and a third, which is no multiple of anything, in odd multiples of a unit. */
static bool grow(const struct bench *b, int axis, int64_t times, int64_t unit, struct problem *p)
{
    const struct op *op = b->set.op;
    const double most = fmax(elements(op, &b->set.problem), b->set.dev.shares_cores ? LITTLE_CPU : LITTLE);
    const int64_t n = b->set.problem.size[axis];
    *p = b->set.problem;
    if (n > INT64_MAX / 4 / times)
        return false;
    p->size[axis] = ((n * times + n / 3) / unit | 1) * unit;
    while (elements(op, p) > most) {
        int longest = -1;
        for (int i = 0; i < op->naxes; i++)
            if (i != axis && axis_is_size(&op->axes[i]) && p->size[i] > unit && (longest < 0 || p->size[i] > p->size[longest]))
                longest = i;
        if (longest < 0)
            return false;
        p->size[longest] = (p->size[longest] / 2 / unit | 1) * unit;
    }
    strides_settle(b, p);
    return p->size[axis] > n && bytes_of(b, p) <= fmax(2 * bytes_of(b, &b->set.problem), LITTLE_BYTES);
}

/* Of an axis all tries, the best first. */
static bool nth_larger(const struct bench *b, int axis, int k, struct problem *p, bool *end)
{
    int64_t times = TIMES;
    while (times < MOST_TIMES && elements(b->set.op, &b->set.problem) * (double)times * 2 < (b->set.dev.shares_cores ? LITTLE_CPU : LITTLE))
        times *= 2;
    times >>= k / UNITS;
    *end = times < 2;
    return !*end && grow(b, axis, times, (int64_t)1 << k % UNITS, p);
}

static bool is_taken(struct bench *b, const struct config *config, const struct problem *p)
{
    const struct plan *own;
    struct val vals[MAX_SLOTS];
    const char *fails = NULL;
    plan_slots(b->plan, p, b->set.row, &b->set.dev, NULL, vals);
    if (plan_takes(b->plan, vals, &fails, NULL) || fails || plans_get(&b->plans, config->variant, &own, NULL))
        return false;
    plan_slots(own, p, b->set.row, &b->set.dev, config, vals);
    return !plan_refuses(own, vals, &b->set.dev);
}

/* On the bench of a larger one. What is refused there proves nothing. */
static int check(struct bench *b, struct bench *larger, const struct bench_candidate *c, struct result *r, struct err *err)
{
    struct loaded l = { 0 };
    char when[sizeof larger->name + 4];
    int rc = inputs_fill(larger, TIMED, err)
        ?: candidate_load(larger, c, &l, r, err)
        ?: verify_pass(larger, &l, WAY_FIRST, r, err)
        ?: verify_pass(larger, &l, WAY_OTHER, r, err);
    candidate_unload(larger, &l);
    if (rc == ERR_NOMEM || (rc == VERDICT && r->outcome != OUT_WRONG)) {
        r->outcome = OUT_OK;
        r->reason[0] = 0;
        larger->inputs_pass = -1;
        return 0;
    }
    if (rc >= 0)
        rc = surroundings_prove(larger, r, err) ?: surroundings_prove(b, r, err);
    if (rc)
        bench_blame(r, err);
    snprintf(when, sizeof when, "for %s", larger->name);
    if (r->outcome != OUT_OK)
        tell_when(r, when);
    return rc;
}

/* All of those that take it and have not come to this axis yet. That the reference cannot be run for it, for lack of memory or since it gives
 * no numbers there, proves nothing. */
static int check_all(struct bench *b, const struct problem *p, const struct bench_candidate *c, int n, bool *done, struct result *out, struct err *err)
{
    struct bench *larger = NULL;
    struct bench_facts facts;
    struct task set = b->set;
    struct err failed = { 0 };
    int rc = 0;
    set.problem = *p;
    set.larger = set.proven = true;
    set.energy = false;
    for (int i = 0; !rc && i < n; i++) {
        if (done[i] || out[i].outcome != OUT_OK || !is_taken(b, &c[i].config, p))
            continue;
        done[i] = true;
        if (!larger && !failed.code) {
            bench_alive(b, DOES_NO_PLAYER);
            rc = bench_open(&set, &larger, &facts, &failed);
            rc = rc == ERR_DEVICE ? err_set(err, rc, "%s", failed.msg) : 0;
        }
        if (rc || !larger)
            continue;
        bench_alive(larger, i);
        rc = check(b, larger, &c[i], &out[i], err);
    }
    if (!rc)
        bench_alive(b, DOES_NO_PLAYER);
    if (rc >= 0) /* else its context may be lost */
        bench_close(larger);
    return rc;
}

int bench_grow(struct bench *b, const struct bench_candidate *c, int n, struct result *out, struct err *err)
{
    const struct op *op = b->set.op;
    int rc = 0;
    for (int i = 0; i < n; i++)
        out[i] = (struct result){ .resources = { -1, -1, -1, -1 } };
    others_drop(b); /* what they hold is room for these */
    pool_free(b);
    for (int axis = 0; !rc && axis < op->naxes && !data_of_one_size(b); axis++) {
        bool done[n], end = !axis_is_size(&op->axes[axis]);
        struct problem p;
        memset(done, 0, sizeof done);
        for (int k = 0; !rc && !end; k++)
            if (nth_larger(b, axis, k, &p, &end))
                rc = check_all(b, &p, c, n, done, out, err);
    }
    return rc;
}
