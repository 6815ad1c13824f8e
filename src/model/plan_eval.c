/* What plans are asked: geometry, bytes, scalars, work. */
#include <math.h>
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

int plan_bytes(const struct buffer_fields *b, const struct val *slots, int64_t *out, struct err *err)
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
    return plan_bytes(&p->buffers[i], slots, out, err);
}

int plan_arg_shape(const struct plan *p, int i, const struct val *slots, int64_t shape[MAX_RANK], const struct dtype **type,
                   struct err *err)
{
    const struct buffer_fields *b = &p->buffers[i];
    int rc = 0;
    *type = buffer_type(b, slots);
    for (int d = 0; !rc && d < b->rank; d++)
        rc = field_int(b->extent[d], 1, slots, &shape[d], err);
    return rc;
}

int plan_workspace_bytes(const struct plan *p, int i, const struct val *slots, int64_t *out, struct err *err)
{
    return plan_bytes(&p->buffers[p->op->nargs + i], slots, out, err);
}

static bool integer_fits(const struct dtype *t, int64_t v)
{
    if (t->kind == DT_UINT)
        return v >= 0 && (t->bytes == 8 || v >> 8 * t->bytes == 0);
    return t->bytes == 8 || (v >= -((int64_t)1 << (8 * t->bytes - 1)) && v < (int64_t)1 << (8 * t->bytes - 1));
}

static bool is_integer(const struct dtype *t)
{
    return t->kind == DT_INT || t->kind == DT_UINT;
}

static int put_number(const struct field *f, double number, const struct dtype *t, unsigned char out[16], int *bytes,
                      struct err *err)
{
    memset(out, 0, 16);
    *bytes = t->bytes;
    if (number_put(t, number, out))
        return 0;
    return err_set(err, ERR_INVALID, "%s: `%s` does not fit %s", f->place, expr_text(f->expr), t->name);
}

/* A scalar as the bytes of an element. */
static int scalar_value(const struct field *f, const struct dtype *t, const struct val *slots, unsigned char out[16], int *bytes,
                        struct err *err)
{
    double number = 0;
    int64_t whole = 0;
    int rc = is_integer(t) ? field_int(f, INT64_MIN, slots, &whole, err) : field_number(f, slots, &number, err);
    if (rc || !is_integer(t))
        return rc ?: put_number(f, number, t, out, bytes, err);
    memset(out, 0, 16);
    memcpy(out, &whole, (size_t)t->bytes); /* the low bytes come first, on host and device */
    *bytes = t->bytes;
    if (!integer_fits(t, whole))
        rc = err_set(err, ERR_INVALID, "%s: `%s` does not fit %s", f->place, expr_text(f->expr), t->name);
    return rc;
}

int plan_arg_value(const struct plan *p, int i, const struct val *slots, unsigned char out[16], int *bytes, struct err *err)
{
    const struct buffer_fields *b = &p->buffers[i];
    if (!b->value)
        return err_set(err, ERR_INVALID, "argument %s has no value", b->place);
    return scalar_value(b->value, buffer_type(b, slots), slots, out, bytes, err);
}

/* ---- the other value of a scalar for which the script names none
 *
 * A smaller number of the same sign lies in any range that begins at 0, and with few bits more it leaves most sums exact that were. So
 * scalars are multiplied with 1/2, 3/4, 5/8, 7/8, 9/16, ..., as many of these as there are scalars, and the larger a scalar, the larger its
 * factor: then bounds stay in order, no two scalars keep their ratio, and hardly any is a power or a product of others as before. */

static double nth_factor(int k)
{
    const int odd = 2 * k + 1;
    return ldexp(odd, -ilogb(odd) - 1);
}

/* Of the first n, the one that so many others are less than. */
static double factor_of(int n, int rank)
{
    for (int k = 0; k < n; k++) {
        int less = 0;
        for (int j = 0; j < n; j++)
            less += nth_factor(j) < nth_factor(k);
        if (less == rank)
            return nth_factor(k);
    }
    return 0.5;
}

static bool is_free(const struct plan *p, int i, const struct val *slots)
{
    const struct buffer_fields *b = &p->buffers[i];
    return p->op->args[i].kind == ARG_SCALAR && !b->other && !is_integer(buffer_type(b, slots));
}

/* These numbers, scaled. What is 0 comes between the negative ones and the least positive one. */
static double scaled(const double *v, int n, int i)
{
    int rank = 0;
    double least = 0;
    for (int k = 0; k < n; k++) {
        rank += fabs(v[k]) < fabs(v[i]) || (fabs(v[k]) == fabs(v[i]) && k < i);
        if (v[i] == 0 && v[k] > 0) {
            double other = scaled(v, n, k);
            least = least == 0 || other < least ? other : least;
        }
    }
    return factor_of(n, rank) * (v[i] != 0 ? v[i] : least != 0 ? least : 1);
}

int plan_arg_other(const struct plan *p, int i, const struct val *slots, unsigned char out[16], int *bytes, struct err *err)
{
    const struct buffer_fields *b = &p->buffers[i];
    double v[MAX_ARGS];
    int n = 0, at = 0, rc = 0;
    if (b->other)
        return scalar_value(b->other, buffer_type(b, slots), slots, out, bytes, err);
    if (!is_free(p, i, slots))
        return plan_arg_value(p, i, slots, out, bytes, err);
    for (int k = 0; !rc && k < p->op->nargs; k++) {
        if (!is_free(p, k, slots))
            continue;
        at = k == i ? n : at;
        rc = field_number(p->buffers[k].value, slots, &v[n++], err);
    }
    return rc ?: put_number(b->value, scaled(v, n, at), buffer_type(b, slots), out, bytes, err);
}

int plan_step_value(const struct plan *p, int launch, int i, const struct val *slots, unsigned char out[16], int *bytes,
                    struct err *err)
{
    const struct dtype *t = dtype_find(p->variant->launches[launch].values[i].type);
    return scalar_value(p->launches[launch].values[i], t, slots, out, bytes, err);
}

static int pair(const struct field *const ends[2], const struct val *slots, struct extremes *out, struct err *err)
{
    return out->whole
               ? field_int(ends[0], INT64_MIN, slots, &out->least, err) ?: field_int(ends[1], INT64_MIN, slots, &out->most, err)
               : field_number(ends[0], slots, &out->lo, err) ?: field_number(ends[1], slots, &out->hi, err);
}

/* Bounds that the script gives; the others are those of the usual numbers. */
static int given_bounds(const struct buffer_fields *b, const struct val *slots, struct extremes *out, struct err *err)
{
    int rc = 0;
    if (b->below) {
        rc = field_int(b->below, 1, slots, &out->most, err);
        out->least = 0;
        out->most--;
    } else if (b->range[0]) {
        rc = pair(b->range, slots, out, err);
    }
    return rc;
}

/* what: "data is". */
static int in_type(const struct extremes *e, const char *whose, const char *what, struct err *err)
{
    const struct dtype *t = e->type;
    unsigned char bits[16];
    if (e->whole && e->least <= e->most && integer_fits(t, e->least) && integer_fits(t, e->most))
        return 0;
    if (e->whole)
        return err_set(err, ERR_INVALID, "argument %s: its %s %lld to %lld: these are no bounds of %s", whose, what,
                       (long long)e->least, (long long)e->most, t->name);
    if (e->lo < e->hi && isfinite(e->hi - e->lo) && number_put(t, e->lo, bits) && number_put(t, e->hi, bits))
        return 0;
    return err_set(err, ERR_INVALID, "argument %s: its %s from %g to below %g: these are no bounds of %s", whose, what, e->lo,
                   e->hi, t->name);
}

static struct extremes usual(const struct dtype *t)
{
    bool whole = t->kind == DT_INT || t->kind == DT_UINT;
    return (struct extremes){ .type = t, .whole = whole, .lo = -1, .hi = 1, .least = t->kind == DT_UINT ? 0 : -100, .most = 100 };
}

int plan_arg_extremes(const struct plan *p, int i, const struct val *slots, struct extremes *out, struct err *err)
{
    const struct buffer_fields *b = &p->buffers[i];
    const struct dtype *t = buffer_type(b, slots);
    *out = usual(t);
    if (t->kind == DT_COMPLEX && p->op->args[i].data.sorted)
        return err_set(err, ERR_INVALID, "argument %s: %s has no order: it cannot be sorted", b->place, t->name);
    if (b->below && !out->whole)
        return err_set(err, ERR_INVALID, "argument %s: below is for integers, not for %s: use range", b->place, t->name);
    return given_bounds(b, slots, out, err) ?: in_type(out, b->place, "data is", err);
}

/* The rounding of a sum is known of numbers up to 1. One that is twice as large in a line does no harm. */
static int fits_sum(const struct plan *p, const struct extremes *e, const char *whose, struct err *err)
{
    if (e->whole || !op_checks(p->op, CHECK_SUM) || (e->lo >= -2 && e->hi <= 2))
        return 0;
    return err_set(err, ERR_INVALID, "argument %s: its peaks are from %g to below %g: of a sum they lie between -2 and 2", whose,
                   e->lo, e->hi);
}

int plan_arg_peaks(const struct plan *p, int i, const struct val *slots, struct peaks *out, struct err *err)
{
    const struct buffer_fields *b = &p->buffers[i];
    int64_t axis = b->rank, n;
    *out = (struct peaks){ usual(buffer_type(b, slots)), !!b->peaks[0], 1 };
    if (!out->length)
        return 0;
    int rc = pair(b->peaks, slots, &out->within, err)
        ?: in_type(&out->within, b->place, "peaks are", err)
        ?: fits_sum(p, &out->within, b->place, err)
        ?: (b->peaks[2] ? field_int(b->peaks[2], 1, slots, &axis, err) : 0);
    if (!rc && axis > b->rank)
        rc = err_set(err, ERR_INVALID, "argument %s: its peaks are along extent %lld, and it has %d", b->place, (long long)axis,
                     b->rank);
    for (int d = (int)axis; !rc && d <= b->rank; d++) {
        rc = field_int(b->extent[d - 1], 1, slots, &n, err);
        if (!rc && __builtin_mul_overflow(n, d == axis ? out->length : out->inner, d == axis ? &out->length : &out->inner))
            rc = err_set(err, ERR_INVALID, "the elements of %s do not fit 64 bits", b->place);
    }
    return rc;
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
    const struct check_fields *f = own ? &p->buffers[i].check : &p->check;
    *out = (struct bounds){ .kind = (own ? &p->op->args[i].check : &p->op->check)->kind, .length = 1, .rtol = -1, .atol = -1 };
    int rc = (f->length ? field_int(f->length, 1, slots, &out->length, err) : 0)
        ?: (f->rtol ? amount(f->rtol, slots, &out->rtol, err) : 0)
        ?: (f->atol ? amount(f->atol, slots, &out->atol, err) : 0);
    if (!rc && out->rtol >= 1)
        rc = err_set(err, ERR_INVALID, "%s: `%s` is %g: it must be below 1, since with 1 a kernel that writes zeros is right",
                     f->rtol->place, expr_text(f->rtol->expr), out->rtol);
    return rc;
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
    return field_reads(p->metrics[i], p->scope.n + 1); /* the last of all */
}
