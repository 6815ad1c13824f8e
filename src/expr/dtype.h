/* Element types. */
#ifndef EXPR_DTYPE_H
#define EXPR_DTYPE_H

#include <stdbool.h>

enum dtype_kind { DT_INT, DT_UINT, DT_FLOAT, DT_COMPLEX };

struct dtype {
    const char *name; /* i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128 */
    int bytes;        /* of one element; c64 is two f32, c128 two f64 */
    enum dtype_kind kind;
    double eps; /* unit round-off of (the parts of) a float type, 0 otherwise */
};

const struct dtype *dtype_find(const char *name); /* null if there is none */
const struct dtype *dtype_at(int i);              /* null past the last: for listing */

#endif
