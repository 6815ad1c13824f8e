#include "measure/element.h"

#include <stdio.h>

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
