#include "candidate.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "source/source.h"

/* The launches as a compiler tries them: buffers by their size. */
static int make_trial(const struct candidate *c, const struct problem *problem, struct warm_launch *launches, struct err *err)
{
    struct val slots[MAX_SLOTS];
    plan_slots(c->plan, problem, c->row, &c->session->spec, c->config, slots);
    int rc = 0;
    for (int i = 0; !rc && i < c->nlaunches; i++) {
        const struct launch *l = &c->launches[i];
        struct warm_launch *w = &launches[i];
        w->kernel = l->kernel;
        w->nparams = l->nargs;
        rc = plan_geometry(c->plan, i, slots, &w->geometry, err);
        for (int a = 0; !rc && a < l->nargs; a++) {
            int arg = l->args[a], work = arg - c->op->nargs;
            struct guest_param *p = &w->params[a];
            *p = (struct guest_param){ .kind = GUEST_BUFFER, .index = arg };
            if (work >= 0) {
                rc = plan_workspace_bytes(c->plan, work, slots, &p->room, err);
            } else if (!arg_is_buffer(&c->op->args[arg])) {
                p->kind = GUEST_VALUE;
                rc = plan_arg_value(c->plan, arg, slots, p->value, &p->bytes, err);
            } else {
                rc = plan_arg_bytes(c->plan, arg, slots, &p->room, err);
            }
        }
    }
    return rc;
}

static int compile(const struct candidate *c, const struct problem *first, struct buf *binary, struct err *err)
{
    struct warm_launch *trial = mem_array(MAX_LAUNCHES, sizeof *trial);
    struct buf source = { 0 }, log = { 0 };
    char arch[sizeof c->session->spec.arch + 2];
    int rc = (trial ? make_trial(c, first, trial, err) : err_nomem(err))
                 ?: source_render(c->op, c->config, c->row, &c->session->spec, &source, err);
    if (!rc) {
        struct compile_job job = { .source = source.data, .nlaunches = c->nlaunches, .launches = trial };
        if (c->config && c->op->variants[c->config->variant].requires.arch_specific) {
            snprintf(arch, sizeof arch, "%sa", c->session->spec.arch);
            job.arch = arch;
        }
        rc = c->session->be->compiling->compile(c->session->compiler, &job, binary, NULL, &log, err);
    }
    if (rc && log.len) /* one line of it */
        err_prefix(err, "%.*s: ", (int)strcspn(log.data, "\n"), log.data);
    buf_free(&log);
    buf_free(&source);
    mem_free(trial);
    return rc;
}

int candidate_begin(const struct session *s, const struct op *op, const struct config *config, int row, const struct problem *first,
                    struct candidate *out, struct err *err)
{
    *out = (struct candidate){ .session = s, .op = op, .config = config, .row = row, .launches = &op->reference, .nlaunches = 1 };
    if (config) {
        out->launches = op->variants[config->variant].launches;
        out->nlaunches = op->variants[config->variant].nlaunches;
    }
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
    const struct variant *variant; /* null: the reference */
    const struct data *d;
    struct guarded work[MAX_ARGS];
    struct {
        struct kernel *kernel;
        struct geometry geometry;
        struct karg args[2 * MAX_ARGS];
    } launches[MAX_LAUNCHES];
};

static int make_workspaces(struct ready *r, const struct val *slots, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && r->variant && i < r->variant->nworkspaces; i++) {
        int64_t bytes;
        rc = plan_workspace_bytes(r->c->plan, i, slots, &bytes, err) ?: guarded_alloc(r->c->session, bytes, &r->work[i], err);
    }
    return rc;
}

static int make_launch(struct ready *r, int i, const struct val *slots, struct err *err)
{
    const struct session *s = r->c->session;
    const struct launch *l = &r->c->launches[i];
    struct geometry *g = &r->launches[i].geometry;
    struct resources needs = { -1, -1, -1, -1 };
    int rc = plan_geometry(r->c->plan, i, slots, g, err)
                 ?: device_kernel(s->dev, r->c->module, l->kernel, g->shared, &r->launches[i].kernel, &needs, err);
    if (rc)
        return rc;
    if (needs.max_threads >= 0 && g->block[0] * g->block[1] * g->block[2] > needs.max_threads)
        return err_set(err, ERR_UNSUPPORTED, "%s takes at most %d threads a block", l->kernel, needs.max_threads);
    if (needs.shared >= 0 && needs.shared + g->shared > s->spec.max_shared)
        return err_set(err, ERR_UNSUPPORTED, "%s needs %lld bytes of shared memory", l->kernel,
                       (long long)(needs.shared + g->shared));
    for (int a = 0; a < l->nargs; a++) {
        int arg = l->args[a], work = arg - r->c->op->nargs;
        struct karg *out = &r->launches[i].args[a];
        if (work >= 0)
            out->memory = r->work[work].inside;
        else if (r->d->buffers[arg].arg)
            out->memory = r->d->buffers[arg].memory.inside;
        else
            *out = r->d->values[arg];
    }
    return 0;
}

/* Poison, what has to be cleared, then every launch. */
static int launch(const struct ready *r, int pass, struct err *err)
{
    const struct session *s = r->c->session;
    const struct variant *v = r->variant;
    int rc = data_reset(r->d, pass, err);
    for (int i = 0; !rc && v && i < v->nclear; i++) {
        const struct guarded *g = &r->d->buffers[v->clear[i]].memory;
        rc = device_fill(s->dev, g->inside, 0, g->bytes, 0, err);
    }
    for (int i = 0; !rc && v && i < v->nworkspaces; i++) {
        rc = device_fill(s->dev, r->work[i].whole, 0, r->work[i].total, (uint8_t)poison(pass), err);
        if (!rc && v->workspaces[i].clear)
            rc = device_fill(s->dev, r->work[i].inside, 0, r->work[i].bytes, 0, err);
    }
    for (int i = 0; !rc && i < r->c->nlaunches; i++)
        rc = device_launch(s->dev, r->launches[i].kernel, &r->launches[i].geometry, r->launches[i].args, r->c->launches[i].nargs,
                           err);
    rc = rc ?: device_sync(s->dev, err);
    return rc == ERR_UNSUPPORTED ? ERR_DEVICE : rc; /* what fits and is refused all the same is a failure */
}

int candidate_run(const struct candidate *c, const struct data *d, char wrong[WRONG], struct err *err)
{
    struct val slots[MAX_SLOTS];
    struct ready *r = mem_zalloc(sizeof *r);
    *wrong = 0;
    if (!r)
        return err_nomem(err);
    r->c = c;
    r->d = d;
    r->variant = c->config ? &c->op->variants[c->config->variant] : NULL;
    plan_slots(c->plan, &d->problem, c->row, &c->session->spec, c->config, slots);
    int rc = make_workspaces(r, slots, err);
    for (int i = 0; !rc && i < c->nlaunches; i++)
        rc = make_launch(r, i, slots, err);
    for (int pass = 0; !rc && !*wrong && pass < PASSES; pass++) {
        rc = launch(r, pass, err) ?: data_compare(d, pass, wrong, err);
        for (int i = 0; !rc && !*wrong && r->variant && i < r->variant->nworkspaces; i++)
            rc = guards_compare(c->session, &r->work[i], pass, r->variant->workspaces[i].name, wrong, err);
    }
    for (int i = 0; r->variant && i < r->variant->nworkspaces; i++)
        guarded_free(c->session, &r->work[i]);
    mem_free(r);
    return rc;
}
