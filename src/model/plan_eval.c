/* What plans are asked: whether a configuration may run; geometry, bytes, scalars, work. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/plan_parts.h"

const struct scope *plan_scope(const struct plan *p)
{
    return &p->scope;
}

void plan_slots(const struct plan *p, const struct problem *prob, int row, const struct devspec *dev, const struct config *config,
                struct val slots[MAX_SLOTS])
{
    const struct op *op = p->op;
    for (int i = 0; i < p->first_axis; i++)
        slots[i] = p->variant->params[i].values[config->at[i]];
    for (int i = 0; i < op->naxes; i++)
        slots[p->first_axis + i] = val_int(prob->size[i]);
    for (int i = 0; i < op->ntypes; i++)
        slots[p->first_type + i] = val_str(op->rows[row * op->ntypes + i]->name);
    for (int i = p->first_device; i < p->first_round; i++)
        slots[i] = devspec_val(dev, i - p->first_device);
    plan_set_round(p, 0, 0, slots);
}

/* A number, whole or not. */
static int field_number(const struct field *f, const struct val *slots, double *out, struct err *err)
{
    struct val v;
    int rc = expr_eval(f->expr, slots, &v, err);
    if (rc)
        err_prefix(err, "%s: ", f->place);
    else if (v.type != VAL_INT && v.type != VAL_FLOAT)
        rc = err_set(err, ERR_INVALID, "%s: `%s` is no number", f->place, expr_text(f->expr));
    else
        *out = v.type == VAL_INT ? (double)v.i : v.f;
    return rc;
}

int plan_geometry(const struct plan *p, int i, const struct val *slots, struct geometry *out, struct err *err)
{
    if (i < 0 || i >= p->variant->nlaunches)
        return err_set(err, ERR_INVALID, "%s has no %s", p->op->name, p->variant->name ? "such launch" : "reference");
    int64_t n[EXTENTS] = { 1, 1, 1, 1, 1, 1, 0 };
    int rc = 0;
    for (int e = 0; !rc && e <= SHARED_BYTES; e++)
        if (p->launches[i].extent[e])
            rc = field_int(p->launches[i].extent[e], e < SHARED_BYTES, slots, &n[e], err);
    if (rc)
        return rc;
    const struct launch *l = &p->variant->launches[i];
    *out = (struct geometry){ .grid = { n[0], n[1], n[2] },
                              .block = { n[3], n[4], n[5] },
                              .shared = n[SHARED_BYTES],
                              .cooperative = l->cooperative,
                              .dependent = l->dependent };
    int64_t *cluster = &n[FIRST_CLUSTER], blocks;
    rc = plan_cluster(&p->launches[i], slots, cluster, &blocks, err);
    for (int d = 0; d < 3 && !rc && blocks > 1; d++)
        out->cluster[d] = cluster[d];
    return rc;
}

/* The type as the slots have it. */
static const struct dtype *buffer_type(const struct buffer_fields *b, const struct val *slots)
{
    return b->type_slot < 0 ? b->type : dtype_find(slots[b->type_slot].s);
}

static int buffer_bytes(const struct buffer_fields *b, const struct val *slots, int64_t *out, struct err *err)
{
    int64_t bytes = b->rank < 0 ? 0 : buffer_type(b, slots)->bytes;
    for (int i = 0; i < b->rank; i++) {
        int64_t n;
        int rc = field_int(b->extent[i], 1, slots, &n, err);
        if (rc)
            return rc;
        if (__builtin_mul_overflow(bytes, n, &bytes))
            return err_set(err, ERR_INVALID, "the bytes of %s do not fit 64 bits", b->place);
    }
    *out = bytes;
    return 0;
}

int plan_arg_bytes(const struct plan *p, int i, const struct val *slots, int64_t *out, struct err *err)
{
    return buffer_bytes(&p->args[i], slots, out, err);
}

int plan_arg_shape(const struct plan *p, int i, const struct val *slots, int64_t shape[MAX_RANK], const struct dtype **type,
                   struct err *err)
{
    const struct buffer_fields *b = &p->args[i];
    int rc = 0;
    *type = buffer_type(b, slots);
    for (int d = 0; !rc && d < b->rank; d++)
        rc = field_int(b->extent[d], 1, slots, &shape[d], err);
    return rc;
}

int plan_workspace_bytes(const struct plan *p, int i, const struct val *slots, int64_t *out, struct err *err)
{
    return buffer_bytes(&p->workspaces[i], slots, out, err);
}

static bool integer_fits(const struct dtype *t, int64_t v)
{
    if (t->kind == DT_UINT)
        return v >= 0 && (t->bytes == 8 || v >> 8 * t->bytes == 0);
    return t->bytes == 8 || (v >= -((int64_t)1 << (8 * t->bytes - 1)) && v < (int64_t)1 << (8 * t->bytes - 1));
}

/* A scalar as the bytes of an element. */
static int scalar_value(const struct field *f, const struct dtype *t, const struct val *slots, unsigned char out[16], int *bytes,
                        struct err *err)
{
    bool fits = false;
    int rc;
    memset(out, 0, 16);
    if (t->kind == DT_INT || t->kind == DT_UINT) {
        int64_t whole = 0;
        rc = field_int(f, INT64_MIN, slots, &whole, err);
        fits = integer_fits(t, whole);
        memcpy(out, &whole, (size_t)t->bytes); /* the low bytes come first, on host and device */
    } else {
        double number = 0;
        rc = field_number(f, slots, &number, err);
        fits = number_put(t, number, out);
    }
    *bytes = t->bytes;
    if (!rc && !fits)
        rc = err_set(err, ERR_INVALID, "%s: `%s` does not fit %s", f->place, expr_text(f->expr), t->name);
    return rc;
}

int plan_arg_value(const struct plan *p, int i, const struct val *slots, unsigned char out[16], int *bytes, struct err *err)
{
    const struct buffer_fields *b = &p->args[i];
    if (!b->value)
        return err_set(err, ERR_INVALID, "argument %s has no value", b->place);
    return scalar_value(b->value, buffer_type(b, slots), slots, out, bytes, err);
}

int plan_step_value(const struct plan *p, int launch, int i, const struct val *slots, unsigned char out[16], int *bytes,
                    struct err *err)
{
    const struct dtype *t = dtype_find(p->variant->launches[launch].values[i].type);
    return scalar_value(p->launches[launch].values[i], t, slots, out, bytes, err);
}

/* Bounds that the script gives; the others are those of the usual numbers. */
static int given_bounds(const struct buffer_fields *b, const struct val *slots, struct extremes *out, struct err *err)
{
    int rc = 0;
    if (b->below) {
        rc = field_int(b->below, 1, slots, &out->most, err);
        out->least = 0;
        out->most--;
    } else if (b->range[0] && out->whole) {
        rc =
            field_int(b->range[0], INT64_MIN, slots, &out->least, err) ?: field_int(b->range[1], INT64_MIN, slots, &out->most, err);
    } else if (b->range[0]) {
        rc = field_number(b->range[0], slots, &out->lo, err) ?: field_number(b->range[1], slots, &out->hi, err);
    }
    return rc;
}

int plan_arg_extremes(const struct plan *p, int i, const struct val *slots, struct extremes *out, struct err *err)
{
    const struct buffer_fields *b = &p->args[i];
    const struct dtype *t = buffer_type(b, slots);
    unsigned char bits[16];
    *out = (struct extremes){ .type = t, .whole = t->kind == DT_INT || t->kind == DT_UINT, .lo = -1, .hi = 1, .most = 100 };
    out->least = t->kind == DT_UINT ? 0 : -100;
    if (t->kind == DT_COMPLEX && p->op->args[i].data.sorted)
        return err_set(err, ERR_INVALID, "argument %s: %s has no order: it cannot be sorted", b->place, t->name);
    if (b->below && !out->whole)
        return err_set(err, ERR_INVALID, "argument %s: below is for integers, not for %s: use range", b->place, t->name);
    int rc = given_bounds(b, slots, out, err);
    if (rc || (out->whole && out->least <= out->most && integer_fits(t, out->least) && integer_fits(t, out->most)))
        return rc;
    if (out->whole)
        return err_set(err, ERR_INVALID, "argument %s: its data is %lld to %lld: these are no bounds of %s", b->place,
                       (long long)out->least, (long long)out->most, t->name);
    if (out->lo < out->hi && isfinite(out->hi - out->lo) && number_put(t, out->lo, bits) && number_put(t, out->hi, bits))
        return 0;
    return err_set(err, ERR_INVALID, "argument %s: its data is from %g to below %g: these are no bounds of %s", b->place, out->lo,
                   out->hi, t->name);
}

int plan_need(const struct plan *p, int i, const struct val *slots, int64_t *bytes, struct err *err)
{
    if (!p->needs[i])
        return err_set(err, ERR_INVALID, "variant %s, needs[%d]: is no alignment", p->variant->name, i + 1);
    return field_int(p->needs[i], 1, slots, bytes, err);
}

static int amount(const struct field *f, const struct val *slots, double *out, struct err *err)
{
    *out = 0;
    int rc = f ? field_number(f, slots, out, err) : 0;
    if (!rc && !(*out >= 0 && *out <= WORK_MAX)) /* nor NaN */
        rc = err_set(err, ERR_INVALID, "%s: `%s` is %g: it must be from 0 to %g", f->place, expr_text(f->expr), *out, WORK_MAX);
    return rc;
}

int plan_work(const struct plan *p, const struct val *slots, double *bytes, double *flops, struct err *err)
{
    return amount(p->work_bytes, slots, bytes, err) ?: amount(p->work_flops, slots, flops, err);
}

int plan_bounds(const struct plan *p, int i, const struct val *slots, struct bounds *out, struct err *err)
{
    const bool own = i >= 0 && p->op->args[i].own_check;
    const struct check_fields *f = own ? &p->arg_checks[i] : &p->check;
    *out = (struct bounds){ .kind = (own ? &p->op->args[i].check : &p->op->check)->kind, .length = 1, .rtol = -1, .atol = -1 };
    return (f->length ? field_int(f->length, 1, slots, &out->length, err) : 0)
        ?: (f->rtol ? amount(f->rtol, slots, &out->rtol, err) : 0)
        ?: (f->atol ? amount(f->atol, slots, &out->atol, err) : 0);
}

int plan_metric(const struct plan *p, int i, const struct val *slots, double seconds, double joules, double *out, struct err *err)
{
    const struct field *f = p->metrics[i];
    if (!f)
        return err_set(err, ERR_INVALID, "metric %s: of no variant", p->op->metrics[i].name);
    if (!(joules > 0) && plan_metric_reads_energy(p, i))
        return err_set(err, ERR_UNSUPPORTED, "%s: the energy of the run is not known", f->place);
    struct val with[MAX_SLOTS];
    memcpy(with, slots, (size_t)p->scope.n * sizeof *with);
    with[p->scope.n] = val_float(seconds);
    with[p->scope.n + 1] = val_float(joules);
    return field_number(f, with, out, err);
}

bool plan_metric_reads_energy(const struct plan *p, int i)
{
    int n = 0;
    const int *slots = p->metrics[i] ? expr_slots(p->metrics[i]->expr, &n) : NULL;
    return n && slots[n - 1] == p->scope.n + 1; /* the last of all */
}

/* ---- checks */

int plan_checks(const struct plan *p)
{
    return p->nchecks;
}

const char *plan_check_text(const struct plan *p, int i)
{
    return p->checks[i].text;
}

const int *plan_check_slots(const struct plan *p, int i, int *n)
{
    *n = p->checks[i].nslots;
    return p->checks[i].slots;
}

/* An extent below 1 passes here: it is refused as that of the block. */
static int check_threads(const struct condition *c, const struct val *slots, int64_t most, bool *holds, struct err *err)
{
    int64_t threads = 1;
    int rc = 0;
    for (int d = 0; !rc && d < 3; d++) {
        int64_t n = 1;
        rc = c->fields[d] ? field_int(c->fields[d], INT64_MIN, slots, &n, err) : 0;
        if (__builtin_mul_overflow(threads, n < 1 ? 1 : n, &threads))
            threads = INT64_MAX;
    }
    *holds = !rc && threads <= most;
    return rc;
}

/* A block without threads is refused, and less than no shared memory is an error. */
static int check_extent(const struct condition *c, const struct val *slots, const struct devspec *dev, bool *holds, struct err *err)
{
    const bool block = c->extent < SHARED_BYTES;
    int64_t most = block ? dev->max_block[c->extent - FIRST_BLOCK] : dev->max_shared, n = 0;
    int rc = field_int(c->fields[0], block ? INT64_MIN : 0, slots, &n, err);
    *holds = !rc && n >= block && n <= most;
    return rc;
}

int plan_check(const struct plan *p, int i, const struct val *slots, const struct devspec *dev, bool *holds, struct err *err)
{
    const struct condition *c = &p->checks[i];
    int64_t bytes = 0;
    bool launched = true;
    int rc = c->launch ? plan_launched(c->launch, slots, &launched, err) : 0;
    *holds = !rc;
    if (rc || !launched)
        return rc;
    switch (c->of) {
    case OF_WHERE:
    case OF_OP:
        rc = expr_bool(c->fields[0]->expr, slots, holds, err);
        if (rc)
            err_prefix(err, "%s: ", c->fields[0]->place);
        return rc;
    case OF_BACKEND:
        *holds = !strcmp(dev->backend, p->variant->requires.backend);
        return 0;
    case OF_CC:
        *holds = dev->cc >= p->variant->requires.cc;
        return 0;
    case OF_ARCH:
        *holds = dev->cc == p->variant->requires.cc;
        return 0;
    case OF_ORDER:
        *holds = !dev->unordered;
        return 0;
    case OF_THREADS:
        return check_threads(c, slots, dev->max_threads, holds, err);
    case OF_EXTENT:
        if (c->extent >= FIRST_BLOCK)
            return check_extent(c, slots, dev, holds, err);
        return plan_check_grids(p, c, slots, dev, holds, err);
    case OF_CLUSTER:
    case OF_AT_ONCE:
        return plan_check_grids(p, c, slots, dev, holds, err);
    case OF_TENSOR:
        return plan_check_tensor(p, c, slots, holds, err);
    case OF_SPECIAL:
        /* A device without a compute capability can do it all if it promises anything of blocks. */
        *holds = !dev->unordered && (!dev->cc || dev->cc >= c->extent);
        return 0;
    case OF_BYTES:
        rc = buffer_bytes(c->buffer, slots, &bytes, err);
        *holds = !rc && bytes <= dev->max_alloc;
        return rc;
    case OF_STEPS:
        return plan_check_steps(p, slots, holds, err);
    case OF_MAX:
        rc = field_int(c->fields[0], INT64_MIN, slots, &bytes, err);
        *holds = !rc && slots[p->first_axis + c->extent].i <= bytes;
    }
    return rc;
}

const struct expr *plan_check_expr(const struct plan *p, int i, int k, bool *plain)
{
    const struct condition *c = &p->checks[i];
    const struct launch_fields *l = c->launch;
    const struct field *const of_launch[] = { l ? l->when : NULL, l ? l->repeat[0] : NULL, l ? l->repeat[1] : NULL };
    *plain = c->of == OF_WHERE || c->of == OF_OP;
    if (c->nslots && c->slots[c->nslots - 1] >= p->first_round)
        return NULL;
    for (int f = 0; f < c->nfields + 3; f++) {
        const struct field *field = f < c->nfields ? c->fields[f] : of_launch[f - c->nfields];
        if (field && k-- == 0)
            return field->expr;
    }
    return NULL;
}

int plan_takes(const struct plan *p, const struct val *slots, const char **fails, struct err *err)
{
    static const struct devspec none; /* an op's own limits do not depend on one */
    int rc = 0;
    *fails = NULL;
    for (int i = 0; !rc && !*fails && i < p->nchecks; i++) {
        const struct condition *c = &p->checks[i];
        bool holds = true;
        rc = c->of == OF_OP || c->of == OF_MAX ? plan_check(p, i, slots, &none, &holds, err) : 0;
        *fails = holds ? NULL : c->text;
    }
    return rc;
}

int plan_axis_max(const struct plan *p, int axis, const struct val *slots, int64_t *max, struct err *err)
{
    *max = INT64_MAX;
    return p->op_max[axis] ? field_int(p->op_max[axis], INT64_MIN, slots, max, err) : 0;
}

bool op_limited(const struct op *op)
{
    bool limited = op->nwhere > 0;
    for (int i = 0; i < op->naxes; i++)
        limited = limited || op->axes[i].max;
    return limited;
}

int op_takes(const struct op *op, const struct problem *prob, int row, struct err *err)
{
    static const struct devspec none; /* which these expressions do not ask for */
    struct plan *p = NULL;
    struct val slots[MAX_SLOTS];
    struct buf text = { 0 };
    const char *fails = NULL;
    int rc = op_limited(op) ? plan_new(op, -1, &p, err) : 0;
    if (p) {
        plan_slots(p, prob, row, &none, NULL, slots);
        rc = plan_takes(p, slots, &fails, err);
    }
    if (fails) {
        problem_print(&text, op, prob);
        rc = err_set(err, ERR_INVALID, "%s does not take %s: `%s` must hold", op->name, buf_text(&text), fails);
    }
    buf_free(&text);
    plan_free(p);
    return rc;
}

const char *plan_refuses(const struct plan *p, const struct val *slots, const struct devspec *dev)
{
    const int nwhere = p->variant->nwhere, first_limit = nwhere + p->nrequired;
    for (int k = 0; k < p->nchecks; k++) {
        int i = k < p->nrequired ? nwhere + k : k < first_limit ? k - p->nrequired : k; /* what is required comes first */
        bool holds = false;
        if (plan_check(p, i, slots, dev, &holds, NULL) || !holds)
            return p->checks[i].text;
    }
    return NULL;
}

int op_default(const struct op *op, const struct problem *prob, int row, const struct devspec *dev, struct config *out,
               struct err *err)
{
    char why[160] = "there are no defaults";
    for (int i = 0; i < op->ndefaults; i++) {
        struct plan *p;
        struct val slots[MAX_SLOTS];
        int rc = plan_new(op, op->defaults[i].variant, &p, err);
        if (rc)
            return rc;
        plan_slots(p, prob, row, dev, &op->defaults[i], slots);
        const char *text = plan_refuses(p, slots, dev);
        snprintf(why, sizeof why, "%s", text ?: "");
        plan_free(p);
        if (!*why) {
            *out = op->defaults[i];
            return 0;
        }
    }
    return err_set(err, ERR_UNSUPPORTED, "%s: no default configuration may run here: %s", op->name, why);
}
