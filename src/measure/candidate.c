/* A candidate on the device: its buffers lie between guard zones, its code is loaded, its arguments are bound, and it is launched. */
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "base/mem.h"
#include "measure/internal.h"
#include "model/head.h"
#include "model/kernel.h"
#include "source/source.h"

/* ---- buffers, and the pool that workspaces are taken from */

int guarded_paint(struct bench *b, struct guarded *g, int pass, struct err *err)
{
    /* As floating-point numbers of any type: NaN, a large one; the others are larger ones, of both signs. */
    static const uint8_t paints[2][2 * PASSES] = { { 0xff, 0x5a, 0x7b, 0xfb }, { 0xff, 0, 0, 0xff } };
    g->paint = paints[g->small][pass] ^ g->tint;
    return device_fill(b->dev, g->whole, 0, GUARD, g->paint, err)
               ?: device_fill(b->dev, g->whole, GUARD + g->bytes, GUARD + g->rest, g->paint, err);
}

int guarded_poison(struct bench *b, const struct guarded *g, enum poison with, struct err *err)
{
    if (with != POISON_RANDOM)
        return device_fill(b->dev, g->inside, 0, g->bytes, with == POISON_ONES ? 0xff : 0, err);
    const struct service *s = &b->services[0]; /* of any type */
    int64_t n = g->bytes / s->type->bytes, left = g->bytes % s->type->bytes;
    return service_fill(b, s, g->inside, n, (struct contents){ .seed = b->digest_key }, err)
               ?: device_fill(b->dev, g->inside, g->bytes - left, left, 0x96, err);
}

static void pool_give_back(struct bench *b, int i)
{
    device_free(b->dev, b->pool[i].memory);
    b->pool[i].memory = NULL;
    b->pool[i].bytes = 0;
}

void pool_free(struct bench *b)
{
    for (int i = 0; i < MAX_ARGS; i++)
        pool_give_back(b, i);
}

static int enlarge(struct bench *b, const int64_t *bytes, int n, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < n; i++) {
        if (b->pool[i].bytes >= bytes[i])
            continue;
        pool_give_back(b, i);
        rc = device_alloc(b->dev, bytes[i] + 2 * GUARD, &b->pool[i].memory, err);
        b->pool[i].bytes = rc ? 0 : bytes[i];
    }
    return rc;
}

/* What other candidates needed is given back only if it is in the way. */
int pool_reserve(struct bench *b, const int64_t *bytes, int n, struct err *err)
{
    int rc = enlarge(b, bytes, n, err);
    if (rc != ERR_NOMEM)
        return rc;
    pool_free(b);
    return enlarge(b, bytes, n, err);
}

/* ---- binding */

void binding_free(struct binding *of)
{
    arena_free(of->arena);
    *of = (struct binding){ .arena = NULL };
}

static int bind_arg(const struct op *op, const struct binding *of, int row, int i, bool other, struct guest_param *p,
                    struct err *err)
{
    *p = (struct guest_param){ .kind = GUEST_BUFFER, .index = i, .type = op_arg_dtype(op, op->args[i].type, row) };
    if (arg_is_buffer(&op->args[i]))
        return plan_arg_bytes(of->plan, i, of->vals, &p->room, err);
    p->kind = GUEST_VALUE;
    return other ? plan_arg_other(of->plan, i, of->vals, p->value, &p->bytes, err)
                 : plan_arg_value(of->plan, i, of->vals, p->value, &p->bytes, err);
}

int binding_make(struct plans *plans, const struct task *task, const struct problem *problem, uint32_t others,
                 const struct config *config, struct binding *out, struct err *err)
{
    const struct op *op = plans->op;
    const struct variant *v = op_code(op, config);
    binding_free(out);
    out->arena = arena_new();
    int rc = (out->arena ? 0 : err_nomem(err)) ?: plans_get(plans, config ? config->variant : -1, &out->plan, err);
    if (rc)
        return rc;
    plan_slots(out->plan, problem, task->row, &task->dev, config, out->vals);
    out->nwork = v->nworkspaces;
    out->workspaces = v->workspaces;
    for (int i = 0; !rc && i < op->nargs; i++)
        rc = bind_arg(op, out, task->row, i, others >> i & 1, &out->args[i], err);
    for (int i = 0; !rc && i < out->nwork; i++) {
        rc = plan_workspace_bytes(out->plan, i, out->vals, &out->work[i], err);
        out->work[i] = out->work[i] < 1 ? 1 : out->work[i];
        out->args[op->nargs + i] = (struct guest_param){ .kind = GUEST_BUFFER, .index = op->nargs + i, .room = out->work[i] };
    }
    out->nconstants = 0;
    for (int i = 0; !rc && i < op->nargs; i++)
        if (arg_is_constant(op, v, i)) {
            int k = out->nconstants++;
            out->constants[k].arg = i;
            rc = plan_arg_bytes(out->plan, i, out->vals, &out->constants[k].bytes, err);
        }
    return rc ?: guest_launches(out->plan, out->vals, out->args, out->arena, &out->launches, &out->n, &out->textures, err);
}

const struct guarded *buffer_of(const struct bench *b, const struct loaded *l, int which)
{
    return which < b->nargs ? &b->args[which].buf : &l->work[which - b->nargs];
}

/* ---- loading */

/* What the driver refused is the candidate's own doing; a lost context and missing memory are not for it to answer for. */
static int condemn_unless_lost(struct result *r, enum outcome outcome, int rc, const struct err *err)
{
    return rc == ERR_DEVICE || rc == ERR_NOMEM ? rc : condemn(r, outcome, "%s", err->msg);
}

/* Whether the device could hold the workspaces and arrays, if nobody else used it. */
static bool could_hold(const struct bench *b, const struct binding *of)
{
    int64_t room = b->set.dev.memory - b->flush_bytes;
    for (int i = 0; i < b->reference.nwork; i++)
        room -= b->reference.work[i].bytes + 2 * GUARD;
    for (int i = 0; i < b->nargs; i++) {
        const struct bench_arg *a = &b->args[i];
        room -= a->buf.inside ? a->buf.bytes + 2 * GUARD : 0;
        for (int p = 0; p < PASSES; p++)
            room -= a->expected[p] ? a->buf.bytes : 0;
    }
    for (int i = 0; i < of->nwork; i++)
        room -= of->work[i] <= room ? of->work[i] + 2 * GUARD : room + 1;
    for (const struct guest_texture *t = of->textures; t; t = t->next) /* arrays are a little larger */
        room -= t->is.mode.array ? t->is.bytes + t->is.bytes / 8 : 0;
    return room >= 0;
}

static int take_workspaces(struct bench *b, struct loaded *l, struct result *r, struct err *err)
{
    int rc = l->variant ? pool_reserve(b, l->own.work, l->own.nwork, err) : 0;
    if (rc && rc != ERR_DEVICE && (rc != ERR_NOMEM || !could_hold(b, &l->own)))
        return condemn(r, OUT_RESOURCES, "%s", err->msg);
    for (int i = 0; !rc && i < l->own.nwork; i++) {
        struct guarded *g = &l->work[l->nwork++];
        *g = (struct guarded){ .whole = b->pool[i].memory, .bytes = l->own.work[i], .tint = TINT_WORKSPACE };
        if (!l->variant) /* it stays while candidates come and go, and has memory of its own */
            rc = device_alloc(b->dev, g->bytes + 2 * GUARD, &g->whole, err);
        rc = rc ?: device_view(b->dev, g->whole, GUARD, g->bytes, &g->inside, err);
        l->keeps = l->keeps || !l->own.workspaces[i].clear;
    }
    return rc;
}

static void worst_of(struct resources *all, const struct resources *one)
{
    all->registers = MAX(all->registers, one->registers);
    all->shared = MAX(all->shared, one->shared);
    all->local = MAX(all->local, one->local);
    if (all->max_threads < 0 || (one->max_threads >= 0 && one->max_threads < all->max_threads))
        all->max_threads = one->max_threads;
}

/* Clusters, or all blocks at once: only the driver knows of a kernel whether they fit. */
static int take_special(struct bench *b, struct loaded *l, int i, struct result *r, struct err *err)
{
    const struct guest_launch *how = &l->own.launches[i];
    int rc = device_fits(b->dev, l->kernels[how->of], &how->geometry, err);
    return rc == ERR_UNSUPPORTED ? condemn(r, OUT_RESOURCES, "%s", err->msg) : rc;
}

static int take_kernel(struct bench *b, struct loaded *l, int i, const struct bench_candidate *c, struct result *r, struct err *err)
{
    const struct geometry *g = &l->own.launches[i].geometry;
    const char *name = l->own.launches[i].kernel;
    struct resources one = { -1, -1, -1, -1 };
    const int of = l->own.launches[i].of;
    char entry[MAX_ENTRY + 1];
    if (l->kernels[of]) /* it repeats */
        return take_special(b, l, i, r, err);
    bool renamed = list_line(c->entries, c->entries_bytes, of, entry);
    int rc = device_kernel(b->dev, l->module, renamed ? entry : name, g->shared, &l->kernels[of], &one, err);
    if (rc)
        return condemn_unless_lost(r, rc == ERR_UNSUPPORTED ? OUT_RESOURCES : OUT_LAUNCH_ERROR, rc, err);
    worst_of(&r->resources, &one);
    int64_t threads = g->block[0] * g->block[1] * g->block[2];
    if (one.max_threads >= 0 && threads > one.max_threads)
        return condemn(r, OUT_RESOURCES, "%s takes at most %d threads a block (%d registers a thread), not %lld", name,
                       one.max_threads, one.registers, (long long)threads);
    if (one.shared >= 0 && one.shared + g->shared > b->set.dev.max_shared)
        return condemn(r, OUT_RESOURCES, "%s needs %lld bytes of shared memory, the device has %lld", name,
                       (long long)(one.shared + g->shared), (long long)b->set.dev.max_shared);
    return take_special(b, l, i, r, err);
}

static int take_textures(struct bench *b, struct loaded *l, struct result *r, struct err *err)
{
    int rc = device_textures(b->dev, l->module, l->own.textures, err);
    if (rc == ERR_NOMEM && could_hold(b, &l->own))
        return rc;
    return rc && rc != ERR_DEVICE ? condemn(r, OUT_RESOURCES, "%s", err->msg) : rc;
}

static int take_constant(struct bench *b, struct loaded *l, int i, const struct bench_candidate *c, struct result *r,
                         struct err *err)
{
    const struct variant *of = l->variant ?: &b->set.op->reference;
    const char *name = b->set.op->args[l->own.constants[i].arg].constant;
    char entry[MAX_ENTRY + 1];
    bool renamed = list_line(c->entries, c->entries_bytes, of->nlaunches + i, entry);
    int rc = device_constant(b->dev, l->module, renamed ? entry : name, l->own.constants[i].bytes, &l->constants[i], err);
    return rc ? condemn_unless_lost(r, rc == ERR_UNSUPPORTED ? OUT_RESOURCES : OUT_LAUNCH_ERROR, rc, err) : 0;
}

static int load(struct bench *b, struct plans *plans, const struct config *config, const struct bench_candidate *c,
                struct loaded *l, struct result *r, struct err *err)
{
    candidate_unload(b, l);
    *l = (struct loaded){ .variant = config ? &plans->op->variants[config->variant] : NULL };
    r->resources = (struct resources){ -1, -1, -1, -1 };
    int rc = binding_make(plans, &b->set, &b->set.problem, NO_OTHERS, config, &l->own, err);
    if (rc)
        return condemn_unless_lost(r, OUT_INVALID, rc, err);
    rc = take_workspaces(b, l, r, err);
    if (rc)
        return rc;
    rc = device_load(b->dev, c->binary, c->binary_bytes, &l->module, err);
    if (rc)
        return condemn_unless_lost(r, OUT_LAUNCH_ERROR, rc, err);
    for (int i = 0; !rc && i < l->own.n; i++)
        rc = take_kernel(b, l, i, c, r, err);
    for (int i = 0; !rc && i < l->own.nconstants; i++)
        rc = take_constant(b, l, i, c, r, err);
    return rc ?: take_textures(b, l, r, err);
}

int candidate_load(struct bench *b, const struct bench_candidate *c, struct loaded *l, struct result *r, struct err *err)
{
    return load(b, &b->plans, &c->config, c, l, r, err);
}

/* What the source was compiled to before, or is to be: of what the next bench in this process needs, too, that is kept. */
static struct kept_code *code_of(struct bench *b, const struct config *config, const struct buf *source, struct kept_code *own)
{
    struct bench_kept *k = !config || config == &only_config ? b->set.kept : NULL;
    char of[HASH_HEX];
    hash_hex(buf_text(source), source->len, of);
    for (int i = 0; k && i < KEPT_CODES; i++)
        if (!strcmp(k->codes[i].of, of))
            return &k->codes[i];
    struct kept_code *at = k ? &k->codes[k->next_code++ % KEPT_CODES] : own;
    buf_clear(&at->binary);
    buf_clear(&at->entries);
    memcpy(at->of, of, sizeof of);
    return at;
}

int candidate_build(struct bench *b, struct plans *plans, const struct config *config, struct loaded *l, struct err *err)
{
    const struct op *op = plans->op;
    struct buf source = { 0 };
    struct kept_code own = { 0 };
    struct result r = { 0 };
    char arch[ARCH_NAME];
    bench_alive(b, DOES_ANY);
    int rc = source_render(op, config, b->set.row, &b->set.dev, &source, err);
    if (b->set.fresh) /* a text that no cache of the driver has seen */
        buf_fmt(&source, "// %016llx\n", (unsigned long long)b->set.fresh);
    rc = rc ?: buf_check(&source, err);
    struct kept_code *code = rc ? &own : code_of(b, config, &source, &own);
    const struct compile_job job = { .source = source.data,
                                     .arch = devspec_arch(&b->set.dev,
                                                          config && op->variants[config->variant].requires.arch_specific, arch),
                                     .entries = &code->entries,
                                     .nheader_dirs = op->nheader_dirs,
                                     .header_dirs = op->header_dirs };
    if (!rc && !code->binary.len)
        rc = compile_once(&b->set.dev, &job, &code->binary, err);
    if (rc)
        code->of[0] = 0;
    const struct bench_candidate c = { .binary = code->binary.data,
                                       .binary_bytes = code->binary.len,
                                       .entries = code->entries.data,
                                       .entries_bytes = code->entries.len };
    rc = rc ?: load(b, plans, config, &c, l, &r, err);
    buf_free(&own.entries);
    buf_free(&own.binary);
    buf_free(&source);
    return rc == VERDICT ? err_set(err, ERR_DEVICE, "%s", r.reason) : rc;
}

void candidate_unload(struct bench *b, struct loaded *l)
{
    for (int i = 0; i < l->own.nconstants; i++)
        device_free(b->dev, l->constants[i]);
    binding_free(&l->own);
    binding_free(&l->other);
    device_unload(b->dev, l->module);
    for (int i = 0; i < l->nwork; i++)
        device_free(b->dev, l->work[i].inside);
    for (int i = 0; i < l->nwork && !l->variant; i++)
        device_free(b->dev, l->work[i].whole);
    peer_unload(b, l);
    *l = (struct loaded){ 0 };
}

static int launch_one(struct bench *b, const struct loaded *l, const struct guest_launch *how, struct err *err)
{
    struct karg args[GUEST_PARAMS];
    for (int i = 0; i < how->nparams; i++) {
        const struct guest_param *p = &how->params[i];
        args[i] = (struct karg){ .name = how->names[i], .param = *p };
        if (p->kind != GUEST_VALUE)
            args[i].memory = buffer_of(b, l, p->index)->inside;
    }
    return device_launch(b->dev, l->kernels[how->of], &how->geometry, args, how->nparams, err);
}

int candidate_launch(struct bench *b, const struct loaded *l, const struct binding *how, struct err *err)
{
    const struct variant *v = l->variant;
    int rc = 0;
    b->outputs_fresh = false;
    if (l->call || l->copy_bytes)
        return peer_launch(b, l, err);
    for (int i = 0; !rc && v && i < v->nclear; i++)
        rc = guarded_poison(b, &b->args[v->clear[i]].buf, POISON_ZEROS, err);
    for (int i = 0; !rc && i < l->nwork; i++)
        if (how->workspaces[i].clear)
            rc = guarded_poison(b, &l->work[i], POISON_ZEROS, err);
    for (int i = 0; !rc && i < how->nconstants; i++)
        rc = device_copy(b->dev, l->constants[i], b->args[how->constants[i].arg].buf.inside, how->constants[i].bytes, err);
    for (const struct guest_texture *t = how->textures; !rc && t; t = t->next)
        rc = t->is.mode.array ? device_texture_fill(b->dev, t, buffer_of(b, l, t->index)->inside, err) : 0;
    for (int i = 0; !rc && i < how->n; i++)
        rc = launch_one(b, l, &how->launches[i], err);
    for (int i = 0; !rc && !v && i < b->nargs; i++) /* a reference without a kernel, or beside one a file of what is expected */
        if (b->args[i].given || (b->args[i].written && !b->set.op->reference.template_text))
            rc = device_copy(b->dev, b->args[i].buf.inside, b->args[i].expected[b->inputs_pass], b->args[i].buf.bytes, err);
    return rc;
}
