#include "expr/dtype.h"

#include <stddef.h>
#include <string.h>

static const struct dtype types[] = {
    { "i8", 1, DT_INT, 0 },
    { "i16", 2, DT_INT, 0 },
    { "i32", 4, DT_INT, 0 },
    { "i64", 8, DT_INT, 0 },
    { "u8", 1, DT_UINT, 0 },
    { "u16", 2, DT_UINT, 0 },
    { "u32", 4, DT_UINT, 0 },
    { "u64", 8, DT_UINT, 0 },
    { "f16", 2, DT_FLOAT, 0x1p-11 },
    { "bf16", 2, DT_FLOAT, 0x1p-8 },
    { "f32", 4, DT_FLOAT, 0x1p-24 },
    { "f64", 8, DT_FLOAT, 0x1p-53 },
    { "c64", 8, DT_COMPLEX, 0x1p-24 },
    { "c128", 16, DT_COMPLEX, 0x1p-53 },
};

enum { NTYPES = sizeof types / sizeof *types };

const struct dtype *dtype_find(const char *name)
{
    for (int i = 0; i < NTYPES; i++)
        if (!strcmp(types[i].name, name))
            return &types[i];
    return NULL;
}

const struct dtype *dtype_at(int i)
{
    return i >= 0 && i < NTYPES ? &types[i] : NULL;
}
