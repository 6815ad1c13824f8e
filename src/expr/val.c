#include "expr/val.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool val_eq(struct val a, struct val b)
{
    int64_t i, j;
    if (a.type != b.type)
        return val_whole(&a, &i) && val_whole(&b, &j) && i == j;
    switch (a.type) {
    case VAL_BOOL:
        return a.b == b.b;
    case VAL_INT:
        return a.i == b.i;
    case VAL_FLOAT:
        return a.f == b.f;
    case VAL_STR:
        return !strcmp(a.s, b.s);
    default:
        return true;
    }
}

/* The shortest of 15 to 17 digits that reads back as the same number, with a point or exponent so that it reads as a float. libcutune lives
 * in programs that may have set a locale with a decimal comma. */
static void print_float(struct buf *out, double f)
{
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), old = c ? uselocale(c) : c;
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, f);
        if (strtod(text, NULL) == f)
            break;
    }
    if (c) {
        uselocale(old);
        freelocale(c);
    }
    buf_str(out, text);
    if (!text[strcspn(text, ".eni")]) /* no point, exponent, nan or inf */
        buf_str(out, ".0");
}

void val_print(struct buf *out, struct val v)
{
    switch (v.type) {
    case VAL_NIL:
        buf_str(out, "nil");
        break;
    case VAL_BOOL:
        buf_str(out, v.b ? "true" : "false");
        break;
    case VAL_INT:
        buf_fmt(out, "%lld", (long long)v.i);
        break;
    case VAL_FLOAT:
        print_float(out, v.f);
        break;
    case VAL_STR:
        buf_str(out, v.s);
        break;
    }
}

static const struct dtype types[] = {
    { "i8", 1, DT_INT, 0, 0, 0, 0 },
    { "i16", 2, DT_INT, 0, 0, 0, 0 },
    { "i32", 4, DT_INT, 0, 0, 0, 0 },
    { "i64", 8, DT_INT, 0, 0, 0, 0 },
    { "u8", 1, DT_UINT, 0, 0, 0, 0 },
    { "u16", 2, DT_UINT, 0, 0, 0, 0 },
    { "u32", 4, DT_UINT, 0, 0, 0, 0 },
    { "u64", 8, DT_UINT, 0, 0, 0, 0 },
    { "f8e4m3", 1, DT_FLOAT, 0x1p-4, 3, -6, 0x7f }, /* no infinity, and NaN takes the last place alone */
    { "f8e5m2", 1, DT_FLOAT, 0x1p-3, 2, -14, 0x7c },
    { "f16", 2, DT_FLOAT, 0x1p-11, 10, -14, 0x7c00 },
    { "bf16", 2, DT_FLOAT, 0x1p-8, 7, -126, 0x7f80 },
    { "f32", 4, DT_FLOAT, 0x1p-24, 0, 0, 0 },
    { "f64", 8, DT_FLOAT, 0x1p-53, 0, 0, 0 },
    { "c64", 8, DT_COMPLEX, 0x1p-24, 0, 0, 0 },
    { "c128", 16, DT_COMPLEX, 0x1p-53, 0, 0, 0 },
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
