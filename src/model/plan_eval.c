/* Numbers from a plan: geometry, bytes, scalars, work. */
#include <math.h>
#include <string.h>

#include "model/plan_parts.h"

int field_int(const struct field *f, const struct val *slots, int64_t *out, struct err *err)
{
    int rc = expr_int(f->expr, slots, out, err);
    if (rc)
        err_prefix(err, "%s: ", f->place);
    return rc;
}

int field_from(const struct field *f, int64_t least, const struct val *slots, int64_t *out, struct err *err)
{
    int rc = field_int(f, slots, out, err);
    if (!rc && *out < least)
        return err_set(err, ERR_INVALID, "%s: `%s` is %lld: it must be at least %lld", f->place, expr_text(f->expr),
                       (long long)*out, (long long)least);
    return rc;
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

int plan_where(const struct plan *p, int i, const struct val *slots, bool *holds, struct err *err)
{
    int rc = expr_bool(p->where[i]->expr, slots, holds, err);
    if (rc)
        err_prefix(err, "%s: ", p->where[i]->place);
    return rc;
}

int plan_geometry(const struct plan *p, int i, const struct val *slots, struct geometry *out, struct err *err)
{
    if (i < 0 || i >= p->nlaunches)
        return err_set(err, ERR_INVALID, "%s has no %s", p->op->name, p->variant ? "such launch" : "reference");
    const struct launch_fields *l = &p->launches[i];
    struct geometry g = { { 1, 1, 1 }, { 1, 1, 1 }, 0 };
    int rc = 0;
    for (int d = 0; !rc && d < 3; d++)
        if (l->grid[d])
            rc = field_from(l->grid[d], 1, slots, &g.grid[d], err);
    for (int d = 0; !rc && d < 3; d++)
        if (l->block[d])
            rc = field_from(l->block[d], 1, slots, &g.block[d], err);
    if (!rc && l->shared)
        rc = field_from(l->shared, 0, slots, &g.shared, err);
    if (!rc)
        *out = g;
    return rc;
}

const struct dtype *buffer_type(const struct buffer_fields *b, const struct val *slots)
{
    return b->type_slot < 0 ? b->type : dtype_find(slots[b->type_slot].s);
}

int buffer_bytes(const struct buffer_fields *b, const struct dtype *type, const struct val *slots, int64_t *out, struct err *err)
{
    int64_t bytes = type->bytes;
    for (int i = 0; i < b->rank; i++) {
        int64_t n;
        int rc = field_from(b->extent[i], 1, slots, &n, err);
        if (rc)
            return rc;
        if (__builtin_mul_overflow(bytes, n, &bytes))
            return err_set(err, ERR_INVALID, "the bytes of %s do not fit 64 bits", b->place);
    }
    *out = b->rank < 0 ? 0 : bytes;
    return 0;
}

int plan_arg_bytes(const struct plan *p, int i, const struct val *slots, int row, int64_t *out, struct err *err)
{
    return buffer_bytes(&p->args[i], op_arg_dtype(p->op, p->op->args[i].type, row), slots, out, err);
}

int plan_workspace_bytes(const struct plan *p, int i, const struct val *slots, int row, int64_t *out, struct err *err)
{
    return buffer_bytes(&p->workspaces[i], op_arg_dtype(p->op, p->variant->workspaces[i].type, row), slots, out, err);
}

static bool integer_fits(const struct dtype *t, int64_t v)
{
    if (t->kind == DT_UINT)
        return v >= 0 && (t->bytes == 8 || v >> 8 * t->bytes == 0);
    return t->bytes == 8 || (v >= -((int64_t)1 << (8 * t->bytes - 1)) && v < (int64_t)1 << (8 * t->bytes - 1));
}

/* The bits of the nearest number of a 16-bit float format, ties to even: `fraction` bits after the point, normal numbers from
 * 2^least on. False if it is too large. */
static bool to_float16(double v, int fraction, int least, uint16_t *out)
{
    int exponent = least; /* zero, or subnormal: fewer bits */
    if (v != 0 && ilogb(v) > least)
        exponent = ilogb(v);
    if (exponent > 1 - least)
        return false;
    /* In units of the last place, the leading 1 included. Adding them to the exponent's bits adds that 1 to the exponent; so does a carry
     * from rounding up. */
    uint32_t units = (uint32_t)rint(ldexp(fabs(v), fraction - exponent));
    uint32_t bits = ((uint32_t)(exponent - least) << fraction) + units;
    uint32_t infinity = (uint32_t)(3 - 2 * least) << fraction;
    *out = (uint16_t)(bits | (signbit(v) ? 0x8000 : 0));
    return bits < infinity;
}

/* A number as an element of a float type, or as the real part of a complex one. */
static bool put_float(const struct dtype *t, double v, unsigned char *out)
{
    if (t->bytes == 2) {
        bool half = t->eps == 0x1p-11; /* else bf16 */
        uint16_t bits = 0;
        bool fits = to_float16(v, half ? 10 : 7, half ? -14 : -126, &bits);
        memcpy(out, &bits, sizeof bits);
        return fits;
    }
    if (t->eps == 0x1p-53) {
        memcpy(out, &v, sizeof v);
        return true;
    }
    float f = (float)v;
    memcpy(out, &f, sizeof f);
    return isfinite(f);
}

int plan_arg_value(const struct plan *p, int i, const struct val *slots, unsigned char out[16], int *bytes, struct err *err)
{
    const struct buffer_fields *b = &p->args[i];
    if (!b->value)
        return err_set(err, ERR_INVALID, "argument %s is a buffer: it has no value", b->place);
    const struct dtype *t = buffer_type(b, slots);
    bool fits = false;
    int rc;
    memset(out, 0, 16);
    if (t->kind == DT_INT || t->kind == DT_UINT) {
        int64_t whole = 0;
        rc = field_int(b->value, slots, &whole, err);
        fits = integer_fits(t, whole);
        memcpy(out, &whole, (size_t)t->bytes); /* the low bytes come first, on host and device */
    } else {
        double number = 0;
        rc = field_number(b->value, slots, &number, err);
        fits = put_float(t, number, out);
    }
    *bytes = t->bytes;
    if (!rc && !fits)
        rc = err_set(err, ERR_INVALID, "%s: `%s` does not fit %s", b->value->place, expr_text(b->value->expr), t->name);
    return rc;
}

int plan_need(const struct plan *p, int i, const struct val *slots, int64_t *bytes, struct err *err)
{
    if (!p->needs[i])
        return err_set(err, ERR_INVALID, "variant %s, needs[%d]: is no alignment", p->variant->name, i + 1);
    return field_from(p->needs[i], 1, slots, bytes, err);
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

int plan_length(const struct plan *p, const struct val *slots, int64_t *length, struct err *err)
{
    *length = 1;
    return p->length ? field_from(p->length, 1, slots, length, err) : 0;
}
