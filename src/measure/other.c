/* Another problem for the kernel of a candidate: applications run one kernel on many problems, one after the other, on one workspace.
 * It has to fit into the buffers at hand, so it is a smaller one. */
#include <stdio.h>
#include <string.h>

#include "measure/internal.h"

enum { WAYS = 4 };

/* A smaller size: a quarter, which costs little and keeps most constraints of divisibility; a half; less a third; less one. */
static int64_t smaller(int64_t size, int way)
{
    const int64_t sizes[WAYS] = { size / 4, size / 2, size - size / 3, size - 1 };
    return sizes[way] < 1 ? 1 : sizes[way];
}

/* Strides stay: rows must not overlap. So do flags: their meaning is not known here. */
static bool shrinks(const struct axis *a)
{
    return a->kind == AXIS_SIZE || a->kind == AXIS_BATCH;
}

/* The k-th problem to try: first all axes at once, then each alone. False past the last. */
static bool nth_problem(const struct bench *b, int k, struct problem *out)
{
    int n = b->set.op->naxes, which = k / WAYS - 1, way = k % WAYS;
    if (which >= n)
        return false;
    *out = b->set.problem;
    for (int i = 0; i < n; i++)
        if (shrinks(&b->set.op->axes[i]) && (which < 0 || which == i))
            out->size[i] = smaller(out->size[i], way);
    return true;
}

/* Whether all that the kernels touch lies in what the bench's problem has. */
static bool fits(const struct bench *b, const struct plan *plan, const struct val *vals, const struct loaded *l)
{
    int64_t bytes;
    for (int i = 0; i < b->nargs; i++)
        if (b->args[i].buf.inside && (plan_arg_bytes(plan, i, vals, &bytes, NULL) || bytes > b->args[i].buf.bytes))
            return false;
    for (int i = 0; i < l->nwork; i++)
        if (plan_workspace_bytes(plan, i, vals, &bytes, NULL) || bytes > l->work[i].bytes)
            return false;
    return !plan_refuses(plan, vals, &b->set.dev);
}

static bool bind_other(const struct plan *plan, const struct val *vals, struct loaded *l)
{
    l->other = l->own;
    for (int i = 0; i < l->nlaunches; i++) {
        struct geometry *g = &l->other.launches[i].geometry;
        if (plan_geometry(plan, i, vals, g, NULL) || g->shared > l->own.launches[i].geometry.shared)
            return false;
        for (int k = 0; k < l->launches[i].nargs; k++) {
            int a = l->launches[i].args[k];
            struct karg *arg = &l->other.launches[i].args[k];
            if (!arg->memory && plan_arg_value(plan, a, vals, arg->bytes, &arg->size, NULL))
                return false;
        }
    }
    return true;
}

void other_bind(struct bench *b, const struct plan *plan, const struct config *config, struct loaded *l)
{
    struct problem p;
    struct val vals[MAX_SLOTS];
    for (int k = 0; !l->has_other && nth_problem(b, k, &p); k++) {
        if (!memcmp(p.size, b->set.problem.size, sizeof *p.size * (size_t)b->set.op->naxes))
            continue;
        plan_slots(plan, &p, b->set.row, &b->set.dev, config, vals);
        l->has_other = fits(b, plan, vals, l) && bind_other(plan, vals, l);
    }
    if (l->has_other) {
        struct buf text = { 0 };
        problem_print(&text, b->set.op, &p);
        snprintf(l->other_problem, sizeof l->other_problem, "%s", buf_text(&text));
        buf_free(&text);
    }
}
