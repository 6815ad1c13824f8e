#include "measure/element.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Of 16 bits, of which `fraction` are after the point. */
static double narrow_number(uint16_t bits, int fraction)
{
    int exponents = (1 << (15 - fraction)) - 1, e = bits >> fraction & exponents, f = bits & ((1 << fraction) - 1);
    int least = 2 - (exponents + 1) / 2; /* of normal numbers, and of the subnormal ones */
    double v = e == exponents ? (f ? NAN : INFINITY) : ldexp(e ? f + (1 << fraction) : f, (e ? e - 1 : 0) + least - fraction);
    return bits & 0x8000 ? -v : v;
}

bool element_number(const struct dtype *t, const void *p, double *out)
{
    uint16_t bits;
    float f;
    if (t->kind != DT_FLOAT)
        return false;
    if (t->bytes == 2) {
        memcpy(&bits, p, sizeof bits);
        *out = narrow_number(bits, t->eps == 0x1p-11 ? 10 : 7);
    } else if (t->bytes == 4) {
        memcpy(&f, p, sizeof f);
        *out = (double)f;
    } else {
        memcpy(out, p, sizeof *out);
    }
    return true;
}

void element_print(char *out, size_t room, const struct dtype *t, const void *p)
{
    const unsigned char *bytes = p;
    double d;
    if (element_number(t, p, &d)) {
        snprintf(out, room, "%.*g", t->bytes == 2 ? 5 : t->bytes == 4 ? 9 : 17, d);
        return;
    }
    int n = snprintf(out, room, "0x");
    for (int i = t->bytes - 1; i >= 0 && n > 0 && (size_t)n < room; i--)
        n += snprintf(out + n, room - (size_t)n, "%02x", bytes[i]);
}
