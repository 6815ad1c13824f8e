#include "ref.h"

#include <string.h>

void ref_transpose(void *out, const void *in, const int64_t *sizes, size_t bytes)
{
    const int64_t m = sizes[0], n = sizes[1], ldin = sizes[2], ldout = sizes[3], batch = sizes[4];
    for (int64_t b = 0; b < batch; b++)
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++)
                memcpy((char *)out + (size_t)((b * n + j) * ldout + i) * bytes, (const char *)in + (size_t)((b * m + i) * ldin + j) * bytes,
                       bytes);
}
