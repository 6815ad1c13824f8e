/* The key of a measurement: all that its verdict and its time depend on. Names of arguments, comments of the script and other variants
 * have no part in it, so a change of them makes nothing stale. */
#include "base/hash.h"
#include "base/mem.h"
#include "source/source.h"

#include "model/kernel.h"
#include "model/plan.h"
#include "model/record.h"
#include "model/serial.h"

/* What goes into a key, and what it is evaluated with. */
struct keying {
    const struct op *op;
    const struct plan *plan;
    int row;
    struct val slots[MAX_SLOTS];
    struct buf text;
};

/* The check of an argument, or the op's (-1). */
static int put_bounds(struct keying *k, int arg, struct err *err)
{
    struct bounds b;
    int rc = plan_bounds(k->plan, arg, k->slots, &b, err);
    buf_u8(&k->text, (uint8_t)b.kind);
    buf_i64(&k->text, b.length);
    if (b.kind == CHECK_CLOSE) {
        buf_f64(&k->text, b.rtol);
        buf_f64(&k->text, b.atol);
    }
    return rc;
}

static void put_extremes(struct keying *k, const struct extremes *b)
{
    buf_i64(&k->text, b->least);
    buf_i64(&k->text, b->most);
    buf_f64(&k->text, b->lo);
    buf_f64(&k->text, b->hi);
}

static int put_peaks(struct keying *k, int i, struct err *err)
{
    const char *const *texts = k->op->args[i].data.peaks;
    struct peaks p;
    int rc = plan_arg_peaks(k->plan, i, k->slots, &p, err);
    if (rc || !p.length)
        return rc;
    for (int t = 0; t < 3; t++)
        buf_lstr(&k->text, texts[t]);
    put_extremes(k, &p.within);
    buf_i64(&k->text, p.length);
    buf_i64(&k->text, p.inner);
    return 0;
}

/* Another problem is verified with other bounds, so their texts count, too. */
static int put_data(struct keying *k, int i, struct err *err)
{
    const struct arg_data *d = &k->op->args[i].data;
    struct extremes b;
    if (d->file.name)
        buf_lstr(&k->text, d->file.digest);
    if (d->init)
        buf_str(&k->text, "init");
    if (d->file.name || !(d->range[0] || d->below || d->sorted))
        return put_peaks(k, i, err);
    int rc = plan_arg_extremes(k->plan, i, k->slots, &b, err);
    if (rc)
        return rc;
    buf_lstr(&k->text, d->range[0]);
    buf_lstr(&k->text, d->range[1]);
    buf_lstr(&k->text, d->below);
    buf_u8(&k->text, d->sorted);
    put_extremes(k, &b);
    return put_peaks(k, i, err);
}

static int put_args(struct keying *k, struct err *err)
{
    int rc = 0;
    for (int i = 0; i < k->op->nargs && !rc; i++) {
        const struct arg *arg = &k->op->args[i];
        unsigned char value[16];
        int64_t bytes = 0;
        int size = 0;
        buf_u8(&k->text, (uint8_t)arg->kind);
        buf_u8(&k->text, (uint8_t)arg->fill);
        buf_u8(&k->text, (uint8_t)(arg->partial | arg->own_check << 1));
        if (arg->own_check)
            rc = put_bounds(k, i, err);
        buf_lstr(&k->text, op_arg_dtype(k->op, arg->type, k->row)->name);
        if (!arg_is_buffer(arg)) {
            rc = rc ?: plan_arg_value(k->plan, i, k->slots, value, &size, err);
            buf_bytes(&k->text, value, (size_t)size);
            buf_lstr(&k->text, arg->other);
        } else {
            rc = rc ?: plan_arg_bytes(k->plan, i, k->slots, &bytes, err);
        }
        buf_i64(&k->text, bytes);
        if (arg->constant)
            buf_lstr(&k->text, arg->constant);
        if (!rc && data_said(&arg->data))
            rc = put_data(k, i, err);
    }
    return rc;
}

/* clusters: for a launch of variants that are not plain. */
static int put_launch(struct keying *k, const struct launch *l, int i, bool clusters, struct err *err)
{
    struct geometry g;
    int rc = plan_geometry(k->plan, i, k->slots, &g, err);
    if (rc)
        return rc;
    buf_lstr(&k->text, l->kernel);
    for (int d = 0; d < 3; d++) {
        buf_i64(&k->text, g.grid[d]);
        buf_i64(&k->text, g.block[d]);
    }
    buf_i64(&k->text, g.shared);
    buf_u32(&k->text, (uint32_t)l->nargs);
    for (int a = 0; a < l->nargs; a++)
        buf_u32(&k->text, (uint32_t)l->args[a]);
    for (int d = 0; d < 3 && clusters; d++)
        buf_i64(&k->text, g.cluster[d]);
    return 0;
}

static int put_texture(struct keying *k, int launch, int view, struct err *err)
{
    struct texture t;
    int rc = plan_texture(k->plan, launch, view, k->slots, &t, err);
    for (int i = 0; i < TEXTURE_RANK && !rc; i++)
        buf_i64(&k->text, t.extent[i]);
    if (rc)
        return rc;
    buf_i64(&k->text, t.pitch);
    buf_i64(&k->text, t.rows);
    buf_u32(&k->text, (uint32_t)t.channels);
    return 0;
}

static int put_tensor(struct keying *k, int launch, int map, struct err *err)
{
    struct tensor t;
    int rc = plan_tensor(k->plan, launch, map, k->slots, &t, err);
    for (int i = 0; i < t.rank && !rc; i++) {
        buf_i64(&k->text, t.extent[i]);
        buf_i64(&k->text, t.stride[i]);
        buf_i64(&k->text, t.box[i]);
        buf_i64(&k->text, t.step[i]);
    }
    buf_u32(&k->text, (uint32_t)t.swizzle << 20 | (uint32_t)t.interleave << 10 | (uint32_t)t.l2);
    return rc;
}

/* What a launch that may repeat comes to. */
static int put_steps(struct keying *k, struct err *err)
{
    struct step *steps;
    int n, rc;
    struct arena *arena = arena_new();
    rc = arena ? plan_steps(k->plan, k->slots, arena, &steps, &n, err) : err_nomem(err);
    for (int i = 0; !rc && i < n; i++) {
        struct launch l = *plan_launch(k->plan, steps[i].launch);
        plan_set_round(k->plan, steps[i].round, steps[i].step, k->slots);
        l.args = (int *)steps[i].args; /* which is only read */
        rc = put_launch(k, &l, steps[i].launch, true, err);
        for (int view = 0; !rc && view < l.nviews; view++) {
            buf_u32(&k->text, (uint32_t)l.args[l.nargs + view]);
            rc = (l.views[view].texture ? put_texture : put_tensor)(k, steps[i].launch, view, err);
        }
        for (int v = 0; !rc && v < l.nvalues; v++) {
            unsigned char value[16];
            int size = 0;
            rc = plan_step_value(k->plan, steps[i].launch, v, k->slots, value, &size, err);
            buf_bytes(&k->text, value, (size_t)size);
        }
    }
    plan_set_round(k->plan, 0, 0, k->slots);
    arena_free(arena);
    return rc;
}

static int put_launches(struct keying *k, const struct variant *v, struct err *err)
{
    struct serial s = { .out = &k->text };
    bool plain = true;
    int rc = 0;
    for (int i = 0; i < v->nlaunches; i++)
        plain = plain && launch_plain(&v->launches[i]);
    for (int i = 0; i < v->nlaunches && !rc && plain; i++)
        rc = put_launch(k, &v->launches[i], i, false, err);
    for (int i = 0; i < v->nlaunches && !plain; i++)
        io_launch_more(&s, &v->launches[i]);
    return rc || plain ? rc : put_steps(k, err);
}

static int put_workspaces(struct keying *k, const struct variant *v, struct err *err)
{
    int rc = 0;
    for (int i = 0; i < v->nworkspaces && !rc; i++) {
        int64_t bytes = 0;
        rc = plan_workspace_bytes(k->plan, i, k->slots, &bytes, err);
        buf_i64(&k->text, bytes);
        buf_u8(&k->text, v->workspaces[i].clear);
    }
    return rc;
}

/* A candidate is verified after a run of another problem, too. These decide which problem that is, and how it is launched. */
static void put_expressions(struct buf *text, const struct op *op, const struct variant *v)
{
    for (int i = 0; i < v->nwhere; i++)
        buf_lstr(text, v->where[i]);
    for (int i = 0; i < v->nlaunches; i++) {
        const struct launch *l = &v->launches[i];
        for (int d = 0; d < 3; d++) {
            buf_lstr(text, l->grid[d] ?: "");
            buf_lstr(text, l->block[d] ?: "");
        }
        buf_lstr(text, l->shared ?: "");
    }
    for (int i = 0; i < v->nworkspaces; i++)
        buf_lstr(text, v->workspaces[i].count);
    for (int i = 0; i < op->nwhere; i++)
        buf_lstr(text, op->where[i]);
    for (int i = 0; i < op->naxes && op_limited(op); i++)
        buf_lstr(text, op->axes[i].max ?: "");
    for (int i = 0; i < op->naxes; i++)
        if (op->axes[i].preset)
            buf_lstr(text, op->axes[i].preset);
}

static int put_variant(struct keying *k, const struct variant *v, struct err *err)
{
    buf_u8(&k->text, v->requires.arch_specific); /* compiled for sm_NNa */
    put_expressions(&k->text, k->op, v);
    int rc = put_launches(k, v, err) ?: put_workspaces(k, v, err);
    for (int i = 0; i < v->nclear; i++)
        buf_u32(&k->text, (uint32_t)v->clear[i]);
    return rc;
}

/* What the results are compared with, and how. */
static int put_check(struct keying *k, const struct devspec *dev, struct err *err)
{
    struct buf source = { 0 };
    int rc = put_bounds(k, -1, err);
    const struct variant *reference = &k->op->reference;
    if (k->op->outside_digest)
        buf_lstr(&k->text, k->op->outside_digest);
    if (!rc && reference->template_text) {
        rc = source_render(k->op, NULL, k->row, dev, &source, err);
        buf_lstr(&k->text, buf_text(&source));
        rc = rc ?: put_launches(k, reference, err);
    }
    buf_free(&source);
    return rc ?: put_workspaces(k, reference, err);
}

/* What makes inputs, for this problem and for others. */
static int put_init(struct keying *of, const struct problem *prob, const struct devspec *dev, struct err *err)
{
    const struct op op = op_of_init(of->op);
    struct keying k = { .op = &op, .row = of->row };
    struct buf source = { 0 };
    struct plan *plan = NULL;
    if (!op.init.template_text)
        return 0;
    int rc = plan_new(&op, 0, &plan, err) ?: source_render(&op, &only_config, k.row, dev, &source, err);
    k.plan = plan;
    buf_lstr(&k.text, buf_text(&source));
    if (!rc) {
        plan_slots(plan, prob, k.row, dev, &only_config, k.slots);
        rc = put_variant(&k, op.variants, err);
    }
    if (rc)
        err_prefix(err, "init %s: ", op.init.template_name);
    buf_bytes(&of->text, buf_text(&k.text), k.text.len);
    of->text.failed = of->text.failed || k.text.failed || source.failed;
    plan_free(plan);
    buf_free(&source);
    buf_free(&k.text);
    return rc;
}

int source_basis(const struct op *op, const struct problem *prob, int row, const struct devspec *dev, const char *compiler,
                 char basis[HASH_HEX], struct err *err)
{
    struct keying k = { .op = op, .row = row };
    struct plan *plan = NULL;
    int rc = plan_new(op, -1, &plan, err);
    if (rc)
        return rc;
    k.plan = plan;
    plan_slots(plan, prob, row, dev, NULL, k.slots);
    buf_u32(&k.text, PROTOCOL);
    buf_u32(&k.text, CHECKS);
    buf_lstr(&k.text, compiler);
    rc = put_args(&k, err) ?: put_check(&k, dev, err) ?: put_init(&k, prob, dev, err);
    plan_free(plan);
    return hash_buf(&k.text, rc, basis, err);
}

int source_key(const struct op *op, const struct plan *plan, const struct config *config, const struct problem *prob, int row,
               const struct devspec *dev, const char *source, const char *basis, char key[HASH_HEX], struct err *err)
{
    struct keying k = { .op = op, .plan = plan, .row = row };
    plan_slots(plan, prob, row, dev, config, k.slots);
    buf_lstr(&k.text, basis);
    buf_lstr(&k.text, source);
    return hash_buf(&k.text, put_variant(&k, &op->variants[config->variant], err), key, err);
}
