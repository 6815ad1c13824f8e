#include "candidate.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "source/source.h"

/* What stands for the arguments and workspaces: buffers by their place, with their size. */
static int list_args(const struct candidate *c, const struct val *slots, int pass, struct guest_param *args, struct err *err)
{
    const int nargs = c->op->nargs, nwork = op_code(c->op, c->config)->nworkspaces;
    int rc = 0;
    for (int i = 0; !rc && i < nargs + nwork; i++) {
        struct guest_param *p = &args[i];
        *p = (struct guest_param){ .kind = GUEST_BUFFER, .index = i };
        if (i >= nargs) {
            rc = plan_workspace_bytes(c->plan, i - nargs, slots, &p->room, err);
        } else if (!arg_is_buffer(&c->op->args[i])) {
            p->kind = GUEST_VALUE;
            rc = (pass ? plan_arg_other : plan_arg_value)(c->plan, i, slots, p->value, &p->bytes, err);
        } else {
            rc = plan_arg_bytes(c->plan, i, slots, &p->room, err);
        }
    }
    return rc;
}

static int compile(const struct candidate *c, const struct problem *first, struct buf *binary, struct err *err)
{
    struct val slots[MAX_SLOTS];
    struct guest_param args[2 * MAX_ARGS];
    struct guest_launch *trial = NULL;
    struct arena *arena = arena_new();
    struct buf source = { 0 }, log = { 0 };
    char arch[ARCH_NAME];
    int n = 0;
    plan_slots(c->plan, first, c->row, &c->session->spec, c->config, slots);
    int rc = (arena ? list_args(c, slots, 0, args, err) : err_nomem(err))
        ?: guest_launches(c->plan, slots, args, arena, &trial, &n, NULL, err)
        ?: source_render(c->op, c->config, c->row, &c->session->spec, &source, err);
    if (!rc) {
        bool specific = c->config && c->op->variants[c->config->variant].requires.arch_specific;
        const struct compile_job job = {
            .source = source.data, .arch = devspec_arch(&c->session->spec, specific, arch), .nlaunches = n, .launches = trial
        };
        rc = c->session->be->compiling->compile(c->session->compiler, &job, binary, NULL, &log, err);
    }
    if (rc && log.len) /* one line of it */
        err_prefix(err, "%.*s: ", (int)strcspn(log.data, "\n"), log.data);
    buf_free(&log);
    buf_free(&source);
    arena_free(arena);
    return rc;
}

int candidate_begin(const struct session *s, const struct op *op, const struct config *config, int row, const struct problem *first,
                    struct candidate *out, struct err *err)
{
    *out = (struct candidate){ .session = s, .op = op, .config = config, .row = row };
    struct buf binary = { 0 };
    int rc = plan_new(op, config ? config->variant : -1, &out->plan, err)
        ?: compile(out, first, &binary, err)
        ?: device_load(s->dev, binary.data, binary.len, &out->module, err);
    buf_free(&binary);
    return rc;
}

void candidate_end(struct candidate *c)
{
    if (c->module)
        device_unload(c->session->dev, c->module);
    plan_free(c->plan);
    *c = (struct candidate){ 0 };
}

/* A candidate made ready for one problem. */
struct ready {
    const struct candidate *c;
    const struct variant *variant; /* or the reference */
    const struct data *d;
    struct guarded work[MAX_ARGS];
    struct arena *arena; /* of the launches */
    struct guest_launch *launches;
    int n;
    struct kernel *kernels[MAX_LAUNCHES];
};

static int make_workspaces(struct ready *r, const struct val *slots, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < r->variant->nworkspaces; i++) {
        int64_t bytes;
        rc = plan_workspace_bytes(r->c->plan, i, slots, &bytes, err) ?: guarded_alloc(r->c->session, bytes, &r->work[i], err);
    }
    return rc;
}

static int take_kernel(struct ready *r, const struct guest_launch *l, struct err *err)
{
    const struct session *s = r->c->session;
    const struct geometry *g = &l->geometry;
    struct resources needs = { -1, -1, -1, -1 };
    if (r->kernels[l->of])
        return 0;
    int rc = device_kernel(s->dev, r->c->module, l->kernel, g->shared, &r->kernels[l->of], &needs, err);
    if (rc)
        return rc;
    if (needs.max_threads >= 0 && g->block[0] * g->block[1] * g->block[2] > needs.max_threads)
        return err_set(err, ERR_UNSUPPORTED, "%s takes at most %d threads a block", l->kernel, needs.max_threads);
    if (needs.shared >= 0 && needs.shared + g->shared > s->spec.max_shared)
        return err_set(err, ERR_UNSUPPORTED, "%s needs %lld bytes of shared memory", l->kernel,
                       (long long)(needs.shared + g->shared));
    return 0;
}

static int launch_one(const struct ready *r, const struct guest_launch *l, struct err *err)
{
    struct karg args[GUEST_PARAMS];
    for (int i = 0; i < l->nparams; i++) {
        const struct guest_param *p = &l->params[i];
        int work = p->index - r->c->op->nargs;
        args[i] = (struct karg){ .param = *p };
        if (p->kind != GUEST_VALUE)
            args[i].memory = work >= 0 ? r->work[work].inside : r->d->buffers[p->index].memory.inside;
    }
    return device_launch(r->c->session->dev, r->kernels[l->of], &l->geometry, args, l->nparams, err);
}

/* Poison, what has to be cleared, then every launch. */
static int launch(const struct ready *r, int pass, struct err *err)
{
    const struct session *s = r->c->session;
    const struct variant *v = r->variant;
    int rc = data_reset(r->d, pass, err);
    for (int i = 0; !rc && i < v->nclear; i++) {
        const struct guarded *g = &r->d->buffers[v->clear[i]].memory;
        rc = device_fill(s->dev, g->inside, 0, g->bytes, 0, err);
    }
    for (int i = 0; !rc && i < v->nworkspaces; i++) {
        rc = device_fill(s->dev, r->work[i].whole, 0, r->work[i].total, (uint8_t)poison(pass), err);
        if (!rc && v->workspaces[i].clear)
            rc = device_fill(s->dev, r->work[i].inside, 0, r->work[i].bytes, 0, err);
    }
    for (int i = 0; !rc && i < r->n; i++)
        rc = launch_one(r, &r->launches[i], err);
    rc = rc ?: device_sync(s->dev, err);
    return rc == ERR_UNSUPPORTED ? ERR_DEVICE : rc; /* what fits and is refused all the same is a failure */
}

int candidate_run(const struct candidate *c, const struct data *d, char wrong[WRONG], struct err *err)
{
    struct val slots[MAX_SLOTS];
    struct guest_param args[2 * MAX_ARGS];
    struct ready *r = mem_zalloc(sizeof *r);
    *wrong = 0;
    if (!r)
        return err_nomem(err);
    r->c = c;
    r->d = d;
    r->variant = op_code(c->op, c->config);
    plan_slots(c->plan, &d->problem, c->row, &c->session->spec, c->config, slots);
    r->arena = arena_new();
    int rc = r->arena ? make_workspaces(r, slots, err) : err_nomem(err);
    for (int pass = 0; !rc && !*wrong && pass < PASSES; pass++) {
        rc = list_args(c, slots, pass, args, err) ?: guest_launches(c->plan, slots, args, r->arena, &r->launches, &r->n, NULL, err);
        for (int i = 0; !rc && i < r->n; i++)
            rc = take_kernel(r, &r->launches[i], err);
        rc = rc ?: launch(r, pass, err) ?: data_compare(d, pass, wrong, err);
        for (int i = 0; !rc && !*wrong && i < r->variant->nworkspaces; i++)
            rc = guards_compare(c->session, &r->work[i], pass, r->variant->workspaces[i].name, wrong, err);
    }
    for (int i = 0; i < r->variant->nworkspaces; i++)
        guarded_free(c->session, &r->work[i]);
    arena_free(r->arena);
    mem_free(r);
    return rc;
}
