/* Values, and the element types of arrays. */
#ifndef EXPR_VAL_H
#define EXPR_VAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* A value of the expression language, or of a parameter. It does not own its string: whoever makes the value keeps the string alive. */
enum val_type { VAL_NIL, VAL_BOOL, VAL_INT, VAL_FLOAT, VAL_STR };

struct val {
    enum val_type type;
    union {
        bool b;
        int64_t i;
        double f;
        const char *s;
    };
};

static inline struct val val_bool(bool b)
{
    return (struct val){ .type = VAL_BOOL, .b = b };
}
static inline struct val val_int(int64_t i)
{
    return (struct val){ .type = VAL_INT, .i = i };
}
static inline struct val val_float(double f)
{
    return (struct val){ .type = VAL_FLOAT, .f = f };
}
static inline struct val val_str(const char *s)
{
    return (struct val){ .type = VAL_STR, .s = s };
}

/* The integer that a value is, or that a float equals; false if there is none. */
static inline bool val_whole(const struct val *v, int64_t *out)
{
    if (v->type == VAL_INT) {
        *out = v->i;
        return true;
    }
    if (v->type != VAL_FLOAT || !(v->f >= -0x1p63 && v->f < 0x1p63) || (double)(int64_t)v->f != v->f)
        return false;
    *out = (int64_t)v->f;
    return true;
}
/* As Lua's ==: 1 == 1.0; values of other types differ. */
bool val_eq(struct val a, struct val b);
/* As a person writes it: 32, 0.5, true, xy. Floats round-trip. */
void val_print(struct buf *out, struct val v);

/* Element types. */
enum dtype_kind { DT_INT, DT_UINT, DT_FLOAT, DT_COMPLEX };

struct dtype {
    const char *name; /* i8 i16 i32 i64 u8 u16 u32 u64 f8e4m3 f8e5m2 f16 bf16 f32 f64 c64 c128 */
    int bytes;        /* of one element; c64 is two f32, c128 two f64 */
    enum dtype_kind kind;
    double eps; /* unit round-off of (the parts of) a float type, 0 otherwise */
    /* Of a narrow type, which is a float of 8 or 16 bits: how many of them stand after the point, the exponent of the smallest normal
     * number, and the bits past those of the largest number. C has no type for it. */
    int fraction, least, limit;
};

const struct dtype *dtype_find(const char *name); /* null if there is none */
const struct dtype *dtype_at(int i);              /* null past the last: for listing */
bool dtype_narrow(const struct dtype *t);
const struct dtype *dtype_computing(const struct dtype *t); /* what kernels compute in: f32 for a narrow type, else the type itself */

/* An element of a float type, and its number; of a complex one, the real part. Putting rounds to the nearest, ties to even; false if the
 * number is too large for the type. Getting: false if an element is not one number. */
bool number_put(const struct dtype *t, double v, unsigned char *out);
bool number_get(const struct dtype *t, const void *in, double *out);

#endif
