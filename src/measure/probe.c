/* A look at a part of the problem before the first launch. It takes no longer than the whole, so a candidate that is far behind on it already
 * is far behind. Nothing is compared: what is not cut here is verified from the start. */
#include <sys/param.h>

#include "measure/internal.h"

static const double LONG_NS = 50e6; /* launches for which this is worth it */
enum { SMALLEST = 64 };             /* one in so many */

/* Data that holds for this problem only may be indices. */
static bool has_data(const struct bench *b)
{
    bool any = b->init.code.module;
    for (int i = 0; i < b->nargs; i++)
        any = any || data_given(&b->args[i].arg->data);
    return any;
}

/* The longest axis is cut. It keeps what it can be divided by, as far as that goes. */
static bool part_of(const struct bench *b, int parts, struct problem *p)
{
    int axis = -1;
    *p = b->set.problem;
    for (int i = 0; i < b->set.op->naxes; i++) {
        if (axis_is_size(&b->set.op->axes[i]) && (axis < 0 || p->size[i] > p->size[axis]))
            axis = i;
    }
    if (axis < 0 || p->size[axis] < parts)
        return false;
    const int64_t n = p->size[axis], unit = MIN(n & -n, 1024);
    p->size[axis] = n / parts >= unit ? n / parts / unit * unit : n / parts;
    return true;
}

static int launch_part(struct bench *b, const struct config *config, struct loaded *l, int parts, double limit_ns, double *ns,
                       struct result *r, struct err *err)
{
    struct problem p;
    *ns = 0;
    if (!part_of(b, parts, &p))
        return 0;
    int rc = binding_make(&b->plans, &b->set, &p, NO_OTHERS, config, &l->other, NULL);
    if (rc || l->other.textures || !candidate_fits(b, l, &l->other))
        return rc == ERR_NOMEM ? err_nomem(err) : 0;
    rc = verify_launch(b, l, &l->other, r, err);
    if (!rc && b->set.dev.shares_cores && l->launch_ns > limit_ns) /* it may have compiled something */
        rc = verify_launch(b, l, &l->other, r, err);
    *ns = l->launch_ns;
    l->launch_ns = 0;
    return rc;
}

/* A small part tells which one to look at next: the smallest on which one that is behind would show. */
int probe(struct bench *b, const struct config *config, struct loaded *l, double limit_ns, struct result *r, struct err *err)
{
    int rc = 0;
    if (limit_ns <= 0 || b->slowest_ns < LONG_NS || has_data(b))
        return 0;
    for (int parts = SMALLEST, next = 0; !rc && parts > 1; parts = next) {
        double ns = 0;
        rc =
            launch_part(b, config, l, parts, limit_ns, &ns, r, err) ?: cut(r, ns, limit_ns, "launch on a part of the problem", err);
        for (next = parts / 2; next > 1 && ns * parts < 2 * limit_ns * next;)
            next /= 2;
    }
    if (rc) /* whatever it has written will not be looked at */
        b->inputs_pass = -1;
    return rc;
}
