#include "measure/element.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void element_print(char *out, size_t room, const struct dtype *t, const void *p)
{
    const unsigned char *bytes = p;
    double d;
    if (number_get(t, p, &d)) {
        snprintf(out, room, "%.*g", dtype_narrow(t) ? 5 : t->bytes == 4 ? 9 : 17, d);
        return;
    }
    int n = snprintf(out, room, "0x");
    for (int i = t->bytes - 1; i >= 0 && n > 0 && (size_t)n < room; i--)
        n += snprintf(out + n, room - (size_t)n, "%02x", bytes[i]);
}

const struct dtype *number_type(const struct dtype *t)
{
    return t->kind != DT_COMPLEX ? t : dtype_find(t->bytes == 8 ? "f32" : "f64");
}

void number_print(struct buf *out, const struct dtype *t, const unsigned char *value)
{
    uint64_t bits = 0;
    double number;
    memcpy(&bits, value, t->bytes < 8 ? (size_t)t->bytes : 8); /* the low bytes come first */
    int unused = 64 - 8 * (t->bytes < 8 ? t->bytes : 8);
    if (t->kind == DT_UINT)
        buf_fmt(out, "%llu", (unsigned long long)bits);
    else if (t->kind == DT_INT)
        buf_fmt(out, "%lld", (long long)((int64_t)(bits << unused) >> unused));
    else if (number_get(number_type(t), value, &number) && isfinite(number))
        buf_fmt(out, "%.17g", number);
    else
        buf_str(out, "null");
}
