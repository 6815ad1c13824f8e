/* Kernels: made once, read from then on. */
#include "base/mem.h"
#include "runtime/runtime.h"

/* The database's words, not the caller's: what does not compile there is damage. */
static int as_damage(int rc, const struct op *op, struct err *err)
{
    if (rc && rc != ERR_NOMEM) {
        err_prefix(err, "a record of %s is damaged: ", op->name);
        if (err)
            err->code = ERR_CORRUPT;
        return ERR_CORRUPT;
    }
    return rc;
}

static int evaluate(struct cutune_kernel *k, const struct question *q, struct err *err)
{
    static const struct config only = { 0 }; /* each parameter has one value */
    struct val slots[MAX_SLOTS];
    plan_slots(k->plan, &q->problem, q->row, &q->dev, &only, slots);
    const char *refused = plan_refuses(k->plan, slots, &q->dev);
    if (refused)
        return err_set(err, ERR_UNSUPPORTED, "%s", refused);
    k->geometry = mem_array((size_t)k->tuned->nlaunches, sizeof *k->geometry);
    if (!k->geometry)
        return err_nomem(err);
    int rc = 0;
    for (int i = 0; !rc && i < k->tuned->nlaunches; i++)
        rc = as_damage(plan_geometry(k->plan, i, slots, &k->geometry[i], err), q->op, err);
    return rc;
}

int kernel_new(const struct question *q, struct tuned *t, struct cutune_kernel **out, struct err *err)
{
    struct cutune_kernel *k = mem_zalloc(sizeof *k);
    if (!k) {
        tuned_free(t);
        return err_nomem(err);
    }
    k->tuned = t;
    int rc = rebuild_op(q->op, t, &k->op, err);
    if (!rc)
        rc = as_damage(plan_new(k->op, 0, &k->plan, err), q->op, err);
    if (!rc)
        rc = evaluate(k, q, err);
    if (rc)
        kernel_free(k);
    else
        *out = k;
    return rc;
}

void kernel_free(struct cutune_kernel *k)
{
    if (!k)
        return;
    plan_free(k->plan);
    op_free(k->op);
    tuned_free(k->tuned);
    mem_free(k->geometry);
    mem_free(k);
}

cutune_match cutune_kernel_match(const cutune_kernel *k)
{
    return k->match;
}

const char *cutune_kernel_why(const cutune_kernel *k)
{
    return k->why;
}

const char *cutune_kernel_variant(const cutune_kernel *k)
{
    return k->tuned->variant;
}

const char *cutune_kernel_config(const cutune_kernel *k)
{
    return k->tuned->config;
}

double cutune_kernel_time_ns(const cutune_kernel *k)
{
    return k->match == CUTUNE_MATCH_DEFAULT ? 0 : k->tuned->time_ns;
}

int cutune_kernel_launches(const cutune_kernel *k)
{
    return k->tuned->nlaunches;
}

int cutune_kernel_geometry(const cutune_kernel *k, int i, cutune_geometry *out)
{
    if (!k || i < 0 || i >= k->tuned->nlaunches || !out || out->size < sizeof *out)
        return CUTUNE_ERR_INVALID;
    const struct geometry *g = &k->geometry[i];
    out->entry = k->tuned->launches[i].kernel;
    for (int d = 0; d < 3; d++) {
        out->grid[d] = g->grid[d];
        out->block[d] = g->block[d];
    }
    out->shared = g->shared;
    return CUTUNE_OK;
}
