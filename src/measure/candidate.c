/* A candidate on the device: code loaded, arguments bound, launched. */
#include <stdio.h>
#include <string.h>

#include "measure/internal.h"

static int refuse(enum outcome *outcome, char reason[256], enum outcome what, const char *text)
{
    *outcome = what;
    snprintf(reason, 256, "%.255s", text);
    return 0;
}

/* What the driver refused is the candidate's own doing; a lost context and missing memory are not for it to answer for. */
static int refuse_unless_lost(enum outcome *outcome, char reason[256], enum outcome what, const struct err *why, struct err *err)
{
    if (why->code == ERR_DEVICE || why->code == ERR_NOMEM)
        return err_set(err, why->code, "%s", why->msg);
    return refuse(outcome, reason, what, why->msg);
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
        rc = plan_workspace_bytes(plan, i, vals, b->set.row, &bytes[i], err);
        if (bytes[i] < 1)
            bytes[i] = 1;
    }
    return rc ? rc : n;
}

/* Whether the device could hold so many bytes of workspaces, if nobody else used it. */
static bool could_hold(const struct bench *b, const int64_t *bytes, int n)
{
    int64_t room = b->set.dev.memory - b->flush_bytes;
    for (int i = 0; i < b->nslots; i++) {
        const struct slot *s = &b->slots[i];
        room -= s->buf.total;
        for (int p = 0; p < PASSES; p++)
            room -= s->expected[p] ? s->buf.bytes : 0;
    }
    for (int i = 0; i < n; i++)
        room -= bytes[i] <= room ? bytes[i] + 2 * GUARD : room + 1;
    return room >= 0;
}

static int take_workspaces(struct bench *b, const struct config *config, struct loaded *l, enum outcome *outcome, char reason[256],
                           struct err *err)
{
    const struct variant *v = &b->set.op->variants[config->variant];
    int64_t bytes[MAX_ARGS];
    struct err why = { 0 };
    int n = candidate_workspaces(b, config, bytes, &why);
    if (n < 0 && n != ERR_NOMEM)
        return refuse(outcome, reason, OUT_INVALID, why.msg);
    int rc = n < 0 ? n : pool_reserve(b, bytes, n, &why);
    if (rc && rc != ERR_DEVICE && (rc != ERR_NOMEM || !could_hold(b, bytes, n)))
        return refuse(outcome, reason, OUT_RESOURCES, why.msg);
    for (int i = 0; !rc && i < n; i++) {
        rc = pool_take(b, i, bytes[i], &l->work[i], &why);
        l->work_clear[i] = v->workspaces[i].clear;
        l->nwork += !rc;
    }
    return rc ? err_set(err, rc, "%s", why.msg) : 0;
}

static int bind(const struct bench *b, const struct launch *launch, const struct loaded *l, struct karg *args)
{
    int nop = b->set.op->nargs;
    for (int i = 0; i < launch->nargs; i++) {
        int a = launch->args[i];
        args[i] = (struct karg){ 0 };
        if (a >= nop) {
            args[i].memory = l->work[a - nop].inside;
        } else if (b->slots[a].buf.inside) {
            args[i].memory = b->slots[a].buf.inside;
        } else {
            args[i].size = b->slots[a].value_bytes;
            memcpy(args[i].bytes, b->slots[a].value, sizeof args[i].bytes);
        }
    }
    return launch->nargs;
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

static int take_kernel(struct bench *b, struct loaded *l, int i, const char *name, enum outcome *outcome, char reason[256],
                       struct err *err)
{
    const struct geometry *g = &l->own.launches[i].geometry;
    struct resources r = { -1, -1, -1, -1 };
    struct err why = { 0 };
    if (b->be->kernel(b->dev, l->module, name, g->shared, &l->launches[i].kernel, &r, &why))
        return refuse_unless_lost(outcome, reason, why.code == ERR_UNSUPPORTED ? OUT_RESOURCES : OUT_LAUNCH_ERROR, &why, err);
    worst_of(&l->resources, &r);
    int64_t threads = g->block[0] * g->block[1] * g->block[2];
    if (r.max_threads >= 0 && threads > r.max_threads) {
        snprintf(why.msg, sizeof why.msg, "%s takes at most %d threads a block (%d registers a thread), not %lld", name,
                 r.max_threads, r.registers, (long long)threads);
        return refuse(outcome, reason, OUT_RESOURCES, why.msg);
    }
    if (r.shared >= 0 && r.shared + g->shared > b->set.dev.max_shared) {
        snprintf(why.msg, sizeof why.msg, "%s needs %lld bytes of shared memory, the device has %lld", name,
                 (long long)(r.shared + g->shared), (long long)b->set.dev.max_shared);
        return refuse(outcome, reason, OUT_RESOURCES, why.msg);
    }
    return 0;
}

int candidate_load(struct bench *b, const struct config *config, const void *binary, size_t bytes, struct loaded *l,
                   enum outcome *outcome, char reason[256], struct err *err)
{
    const struct op *op = b->set.op;
    const struct variant *v = config ? &op->variants[config->variant] : NULL;
    const struct launch *launches = v ? v->launches : &op->reference;
    const struct plan *plan;
    struct val vals[MAX_SLOTS];
    struct err why = { 0 };
    *l = (struct loaded){ .resources = { -1, -1, -1, -1 } };
    *outcome = OUT_OK;
    l->nlaunches = v ? v->nlaunches : 1;
    int rc = plan_of(b, config, &plan, vals, err);
    if (rc)
        return rc;
    if (v)
        rc = take_workspaces(b, config, l, outcome, reason, err);
    if (rc || *outcome != OUT_OK)
        return rc;
    for (int i = 0; v && i < v->nclear; i++)
        l->clear[l->nclear++] = v->clear[i];
    if (b->be->load(b->dev, binary, bytes, &l->module, &why))
        return refuse_unless_lost(outcome, reason, OUT_LAUNCH_ERROR, &why, err);
    for (int i = 0; i < l->nlaunches; i++) {
        if (plan_geometry(plan, i, vals, &l->own.launches[i].geometry, &why))
            return refuse(outcome, reason, OUT_INVALID, why.msg);
        rc = take_kernel(b, l, i, launches[i].kernel, outcome, reason, err);
        if (rc || *outcome != OUT_OK)
            return rc;
        l->launches[i].nargs = bind(b, &launches[i], l, l->own.launches[i].args);
    }
    if (v)
        other_bind(b, v, plan, config, l);
    return 0;
}

void candidate_unload(struct bench *b, struct loaded *l)
{
    if (l->module)
        b->be->unload(b->dev, l->module);
    for (int i = 0; i < l->nwork; i++)
        b->be->free(b->dev, l->work[i].inside);
    *l = (struct loaded){ 0 };
}

int candidate_launch(struct bench *b, struct loaded *l, const struct bound *how, struct err *err)
{
    int rc = 0;
    b->outputs_fresh = false;
    for (int i = 0; !rc && i < l->nclear; i++) {
        struct guarded *g = &b->slots[l->clear[i]].buf;
        rc = b->be->fill(b->dev, g->inside, 0, g->bytes, 0, err);
    }
    for (int i = 0; !rc && i < l->nwork; i++)
        if (l->work_clear[i])
            rc = b->be->fill(b->dev, l->work[i].inside, 0, l->work[i].bytes, 0, err);
    for (int i = 0; !rc && i < l->nlaunches; i++)
        rc = b->be->launch(b->dev, l->launches[i].kernel, &how->launches[i].geometry, how->launches[i].args, l->launches[i].nargs,
                           err);
    return rc;
}

bool candidate_keeps(const struct loaded *l)
{
    for (int i = 0; i < l->nwork; i++)
        if (!l->work_clear[i])
            return true;
    return false;
}
