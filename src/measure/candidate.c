/* A candidate on the device: code loaded, arguments bound, launched. */
#include <stdio.h>
#include <string.h>

#include "measure/internal.h"

int guarded_alloc(struct bench *b, int64_t bytes, struct guarded *out, struct err *err)
{
    *out = (struct guarded){ .bytes = bytes, .total = GUARD + bytes + GUARD };
    int rc = b->be->alloc(b->dev, out->total, &out->whole, err);
    if (!rc)
        rc = b->be->view(b->dev, out->whole, GUARD, bytes, &out->inside, err);
    if (rc)
        guarded_free(b, out);
    return rc;
}

void guarded_free(struct bench *b, struct guarded *g)
{
    if (g->inside)
        b->be->free(b->dev, g->inside);
    if (g->whole)
        b->be->free(b->dev, g->whole);
    *g = (struct guarded){ 0 };
}

int guarded_poison(struct bench *b, struct guarded *g, uint8_t value, struct err *err)
{
    return b->be->fill(b->dev, g->whole, 0, g->total, value, err);
}

static int refuse(enum outcome *outcome, char reason[256], enum outcome what, const char *text)
{
    *outcome = what;
    snprintf(reason, 256, "%.255s", text);
    return 0;
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

static int make_workspaces(struct bench *b, const struct variant *v, const struct plan *plan, const struct val *vals,
                           struct loaded *l, struct err *err)
{
    for (int i = 0; i < v->nworkspaces; i++) {
        int64_t bytes;
        int rc = plan_workspace_bytes(plan, i, vals, b->set.row, &bytes, err);
        if (!rc)
            rc = guarded_alloc(b, bytes > 0 ? bytes : 1, &l->work[i], err);
        if (rc)
            return rc;
        l->work_clear[i] = v->workspaces[i].clear;
        l->nwork = i + 1;
    }
    return 0;
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

int candidate_load(struct bench *b, const struct config *config, const void *binary, size_t bytes, struct loaded *l,
                   enum outcome *outcome, char reason[256], struct err *err)
{
    const struct op *op = b->set.op;
    *l = (struct loaded){ .resources = { -1, -1, -1, -1 } };
    *outcome = OUT_OK;
    struct err why = { 0 };
    struct val vals[MAX_SLOTS];
    const struct plan *plan = b->plan;
    const struct variant *v = NULL;
    const struct launch *launches = &op->reference;
    l->nlaunches = 1;
    if (config) {
        struct plan **made = &b->variant_plans[config->variant];
        if (!*made) {
            int rc = plan_new(op, config->variant, made, err);
            if (rc)
                return rc;
        }
        plan = *made;
        v = &op->variants[config->variant];
        launches = v->launches;
        l->nlaunches = v->nlaunches;
    }
    plan_slots(plan, &b->set.problem, b->set.row, &b->set.dev, config, vals);
    if (v && make_workspaces(b, v, plan, vals, l, &why))
        return refuse(outcome, reason, OUT_RESOURCES, why.msg);
    for (int i = 0; v && i < v->nclear; i++)
        l->clear[l->nclear++] = v->clear[i];
    if (b->be->load(b->dev, binary, bytes, &l->module, &why))
        return refuse(outcome, reason, OUT_LAUNCH_ERROR, why.msg);
    for (int i = 0; i < l->nlaunches; i++) {
        struct geometry *g = &l->launches[i].geometry;
        struct resources r = { -1, -1, -1, -1 };
        if (plan_geometry(plan, i, vals, g, &why))
            return refuse(outcome, reason, OUT_INVALID, why.msg);
        if (b->be->kernel(b->dev, l->module, launches[i].kernel, g->shared, &l->launches[i].kernel, &r, &why))
            return refuse(outcome, reason, why.code == ERR_UNSUPPORTED ? OUT_RESOURCES : OUT_LAUNCH_ERROR, why.msg);
        worst_of(&l->resources, &r);
        int64_t threads = g->block[0] * g->block[1] * g->block[2];
        if (r.max_threads >= 0 && threads > r.max_threads) {
            snprintf(why.msg, sizeof why.msg, "%s takes at most %d threads a block (%d registers a thread), not %lld",
                     launches[i].kernel, r.max_threads, r.registers, (long long)threads);
            return refuse(outcome, reason, OUT_RESOURCES, why.msg);
        }
        if (r.shared >= 0 && r.shared + g->shared > b->set.dev.max_shared) {
            snprintf(why.msg, sizeof why.msg, "%s needs %lld bytes of shared memory, the device has %lld", launches[i].kernel,
                     (long long)(r.shared + g->shared), (long long)b->set.dev.max_shared);
            return refuse(outcome, reason, OUT_RESOURCES, why.msg);
        }
        l->launches[i].nargs = bind(b, &launches[i], l, l->launches[i].args);
    }
    return 0;
}

void candidate_unload(struct bench *b, struct loaded *l)
{
    if (l->module)
        b->be->unload(b->dev, l->module);
    for (int i = 0; i < l->nwork; i++)
        guarded_free(b, &l->work[i]);
    *l = (struct loaded){ 0 };
}

int candidate_launch(struct bench *b, struct loaded *l, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < l->nclear; i++) {
        struct guarded *g = &b->slots[l->clear[i]].buf;
        rc = b->be->fill(b->dev, g->inside, 0, g->bytes, 0, err);
    }
    for (int i = 0; !rc && i < l->nwork; i++)
        if (l->work_clear[i])
            rc = b->be->fill(b->dev, l->work[i].inside, 0, l->work[i].bytes, 0, err);
    for (int i = 0; !rc && i < l->nlaunches; i++)
        rc = b->be->launch(b->dev, l->launches[i].kernel, &l->launches[i].geometry, l->launches[i].args, l->launches[i].nargs, err);
    return rc;
}
