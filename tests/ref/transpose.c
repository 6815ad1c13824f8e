#include "ref.h"

#include <string.h>

void ref_transpose(void *out, const void *in, int64_t m, int64_t n, size_t bytes)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            memcpy((char *)out + (size_t)(j * m + i) * bytes, (const char *)in + (size_t)(i * n + j) * bytes, bytes);
}
