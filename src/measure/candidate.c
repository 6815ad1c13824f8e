/* A candidate on the device: code loaded, arguments bound, launched. */
#include <string.h>

#include "measure/internal.h"

/* What the driver refused is the candidate's own doing; a lost context and missing memory are not for it to answer for. */
static int condemn_unless_lost(struct result *r, enum outcome outcome, const struct err *why, struct err *err)
{
    if (why->code == ERR_DEVICE || why->code == ERR_NOMEM)
        return err_set(err, why->code, "%s", why->msg);
    return condemn(r, outcome, "%s", why->msg);
}

/* Its plan, and what its expressions read. */
static int plan_of(struct bench *b, const struct config *config, const struct plan **plan, struct val *vals, struct err *err)
{
    int rc = plans_get(&b->plans, config ? config->variant : -1, plan, err);
    if (!rc)
        plan_slots(*plan, &b->set.problem, b->set.row, &b->set.dev, config, vals);
    return rc;
}

int candidate_workspaces(struct bench *b, const struct config *config, int64_t bytes[MAX_ARGS], struct err *err)
{
    const struct plan *plan;
    struct val vals[MAX_SLOTS];
    int rc = plan_of(b, config, &plan, vals, err), n = b->set.op->variants[config->variant].nworkspaces;
    for (int i = 0; !rc && i < n; i++) {
        rc = plan_workspace_bytes(plan, i, vals, &bytes[i], err);
        if (bytes[i] < 1)
            bytes[i] = 1;
    }
    return rc ?: n;
}

/* Whether the device could hold so many bytes of workspaces, if nobody else used it. */
static bool could_hold(const struct bench *b, const int64_t *bytes, int n)
{
    int64_t room = b->set.dev.memory - b->flush_bytes;
    for (int i = 0; i < b->nargs; i++) {
        const struct bench_arg *a = &b->args[i];
        room -= a->buf.total;
        for (int p = 0; p < PASSES; p++)
            room -= a->expected[p] ? a->buf.bytes : 0;
    }
    for (int i = 0; i < n; i++)
        room -= bytes[i] <= room ? bytes[i] + 2 * GUARD : room + 1;
    return room >= 0;
}

static int take_workspaces(struct bench *b, const struct config *config, struct loaded *l, struct result *r, struct err *err)
{
    int64_t bytes[MAX_ARGS];
    struct err why = { 0 };
    int n = candidate_workspaces(b, config, bytes, &why);
    if (n < 0 && n != ERR_NOMEM)
        return condemn(r, OUT_INVALID, "%s", why.msg);
    int rc = n < 0 ? n : pool_reserve(b, bytes, n, &why);
    if (rc && rc != ERR_DEVICE && (rc != ERR_NOMEM || !could_hold(b, bytes, n)))
        return condemn(r, OUT_RESOURCES, "%s", why.msg);
    for (int i = 0; !rc && i < n; i++) {
        rc = pool_take(b, i, bytes[i], &l->work[i], &why);
        l->nwork += !rc;
    }
    return rc ? err_set(err, rc, "%s", why.msg) : 0;
}

static void bind(const struct bench *b, const struct launch *launch, const struct loaded *l, struct karg *args)
{
    int nop = b->set.op->nargs;
    for (int i = 0; i < launch->nargs; i++) {
        int which = launch->args[i];
        const struct bench_arg *a = which < nop ? &b->args[which] : NULL;
        args[i] = (struct karg){ .memory = a ? a->buf.inside : l->work[which - nop].inside };
        if (!args[i].memory) {
            args[i].size = a->value_bytes;
            memcpy(args[i].bytes, a->value, sizeof args[i].bytes);
        }
    }
}

static void worst_of(struct resources *all, const struct resources *one)
{
    if (one->registers > all->registers)
        all->registers = one->registers;
    if (one->shared > all->shared)
        all->shared = one->shared;
    if (one->local > all->local)
        all->local = one->local;
    if (all->max_threads < 0 || (one->max_threads >= 0 && one->max_threads < all->max_threads))
        all->max_threads = one->max_threads;
}

static int take_kernel(struct bench *b, struct loaded *l, int i, struct result *r, struct err *err)
{
    const struct geometry *g = &l->own.launches[i].geometry;
    const char *name = l->launches[i].kernel;
    struct resources one = { -1, -1, -1, -1 };
    struct err why = { 0 };
    if (device_kernel(b->dev, l->module, name, g->shared, &l->kernels[i], &one, &why))
        return condemn_unless_lost(r, why.code == ERR_UNSUPPORTED ? OUT_RESOURCES : OUT_LAUNCH_ERROR, &why, err);
    worst_of(&r->resources, &one);
    int64_t threads = g->block[0] * g->block[1] * g->block[2];
    if (one.max_threads >= 0 && threads > one.max_threads)
        return condemn(r, OUT_RESOURCES, "%s takes at most %d threads a block (%d registers a thread), not %lld", name,
                       one.max_threads, one.registers, (long long)threads);
    if (one.shared >= 0 && one.shared + g->shared > b->set.dev.max_shared)
        return condemn(r, OUT_RESOURCES, "%s needs %lld bytes of shared memory, the device has %lld", name,
                       (long long)(one.shared + g->shared), (long long)b->set.dev.max_shared);
    return 0;
}

int candidate_load(struct bench *b, const struct config *config, const void *binary, size_t bytes, struct loaded *l,
                   struct result *r, struct err *err)
{
    const struct op *op = b->set.op;
    const struct variant *v = config ? &op->variants[config->variant] : NULL;
    const struct plan *plan;
    struct val vals[MAX_SLOTS];
    struct err why = { 0 };
    *l = (struct loaded){ .variant = v, .launches = v ? v->launches : &op->reference, .nlaunches = v ? v->nlaunches : 1 };
    r->resources = (struct resources){ -1, -1, -1, -1 };
    int rc = plan_of(b, config, &plan, vals, err);
    if (!rc && v)
        rc = take_workspaces(b, config, l, r, err);
    if (rc)
        return rc;
    if (device_load(b->dev, binary, bytes, &l->module, &why))
        return condemn_unless_lost(r, OUT_LAUNCH_ERROR, &why, err);
    for (int i = 0; i < l->nlaunches; i++) {
        if (plan_geometry(plan, i, vals, &l->own.launches[i].geometry, &why))
            return condemn(r, OUT_INVALID, "%s", why.msg);
        rc = take_kernel(b, l, i, r, err);
        if (rc)
            return rc;
        bind(b, &l->launches[i], l, l->own.launches[i].args);
    }
    if (v)
        other_bind(b, plan, config, l);
    return 0;
}

void candidate_unload(struct bench *b, struct loaded *l)
{
    device_unload(b->dev, l->module);
    for (int i = 0; i < l->nwork; i++)
        device_free(b->dev, l->work[i].inside);
    *l = (struct loaded){ 0 };
}

static int clear(struct bench *b, struct guarded *g, struct err *err)
{
    return device_fill(b->dev, g->inside, 0, g->bytes, 0, err);
}

int candidate_launch(struct bench *b, struct loaded *l, const struct binding *how, struct err *err)
{
    const struct variant *v = l->variant;
    int rc = 0;
    b->outputs_fresh = false;
    for (int i = 0; !rc && v && i < v->nclear; i++)
        rc = clear(b, &b->args[v->clear[i]].buf, err);
    for (int i = 0; !rc && i < l->nwork; i++)
        if (v->workspaces[i].clear)
            rc = clear(b, &l->work[i], err);
    for (int i = 0; !rc && i < l->nlaunches; i++)
        rc = device_launch(b->dev, l->kernels[i], &how->launches[i].geometry, how->launches[i].args, l->launches[i].nargs, err);
    return rc;
}

bool candidate_keeps(const struct loaded *l)
{
    for (int i = 0; i < l->nwork; i++)
        if (!l->variant->workspaces[i].clear)
            return true;
    return false;
}
