/* Numbers as elements of float types, those that C has and those that it has not. */
#include <math.h>
#include <string.h>

#include "expr/val.h"

const struct dtype *dtype_computing(const struct dtype *t)
{
    return t && dtype_narrow(t) ? dtype_find("f32") : t;
}

bool dtype_narrow(const struct dtype *t)
{
    return t->fraction > 0;
}

/* The bits of the nearest number. False if it is too large. */
static bool to_narrow(const struct dtype *t, double v, uint32_t *out)
{
    int exponent = t->least; /* zero, or subnormal: fewer bits */
    if (!isfinite(v))
        return false;
    if (v != 0 && ilogb(v) > t->least)
        exponent = ilogb(v);
    /* In units of the last place, the leading 1 included. Adding them to the exponent's bits adds that 1 to the exponent; so does a carry
     * from rounding up. */
    uint32_t units = (uint32_t)rint(ldexp(fabs(v), t->fraction - exponent));
    uint32_t bits = ((uint32_t)(exponent - t->least) << t->fraction) + units;
    *out = bits | (signbit(v) ? 1u << (8 * t->bytes - 1) : 0);
    return bits < (uint32_t)t->limit;
}

bool number_put(const struct dtype *t, double v, unsigned char *out)
{
    if (dtype_narrow(t)) {
        uint32_t bits = 0;
        bool fits = to_narrow(t, v, &bits);
        memcpy(out, &bits, (size_t)t->bytes); /* the low bytes come first, on host and device */
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

static double from_narrow(const struct dtype *t, uint32_t bits)
{
    uint32_t sign = 1u << (8 * t->bytes - 1), size = bits & (sign - 1), exponent = size >> t->fraction;
    int fraction = (int)(size & ((1u << t->fraction) - 1));
    double v = exponent ? ldexp((1 << t->fraction) + fraction, (int)exponent - 1 + t->least - t->fraction)
                        : ldexp(fraction, t->least - t->fraction);
    if (size >= (uint32_t)t->limit)
        v = size == (uint32_t)t->limit && fraction == 0 ? INFINITY : NAN;
    return bits & sign ? -v : v;
}

bool number_get(const struct dtype *t, const void *in, double *out)
{
    float f = 0;
    uint32_t bits = 0;
    if (t->kind != DT_FLOAT)
        return false;
    if (dtype_narrow(t)) {
        memcpy(&bits, in, (size_t)t->bytes);
        *out = from_narrow(t, bits);
    } else if (t->bytes == 8) {
        memcpy(out, in, sizeof *out);
    } else {
        memcpy(&f, in, sizeof f);
        *out = (double)f;
    }
    return true;
}
