#include "measure/element.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The shortest text that reads back as this number of the type. */
static void shortest(char *out, size_t room, const struct dtype *t, double number)
{
    unsigned char want[16] = { 0 }, got[16] = { 0 };
    const bool put = t->eps > 0 && number_put(t, number, want);
    int digits = 0;
    do
        snprintf(out, room, "%.*g", ++digits, number);
    while (digits < 17 && !(put ? number_put(t, strtod(out, NULL), got) && !memcmp(got, want, (size_t)t->bytes)
                                : strtod(out, NULL) == number));
}

void element_print(char *out, size_t room, const struct dtype *t, const void *p)
{
    const unsigned char *bytes = p;
    double d;
    if (number_get(t, p, &d)) {
        shortest(out, room, t, d);
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

void number_print(struct buf *out, const struct dtype *t, const unsigned char *value, bool exact)
{
    uint64_t bits = 0;
    double number;
    memcpy(&bits, value, t->bytes < 8 ? (size_t)t->bytes : 8); /* the low bytes come first */
    int unused = 64 - 8 * (t->bytes < 8 ? t->bytes : 8);
    if (t->kind == DT_UINT)
        buf_fmt(out, "%llu", (unsigned long long)bits);
    else if (t->kind == DT_INT)
        buf_fmt(out, "%lld", (long long)((int64_t)(bits << unused) >> unused));
    else if (number_get(number_type(t), value, &number) && isfinite(number)) {
        char text[40];
        if (exact)
            snprintf(text, sizeof text, "%.17g", number);
        else
            shortest(text, sizeof text, number_type(t), number);
        buf_str(out, text);
    } else
        buf_str(out, "null");
}
