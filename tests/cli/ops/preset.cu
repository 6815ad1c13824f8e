#include "numbers.h"
KERNEL void preset(GLOBAL T *out, T_acc alpha, GLOBAL const T *x, int64 m, int64 n, int64 down, int64 ld, int64 batch)
{
    int64 at = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < batch * m * n)
        T_put(out, at, (down ? -alpha : alpha) * T_get(x, at / n * ld + at % n));
}
