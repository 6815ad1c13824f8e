#include "numbers.h"

DEVICE OUT_acc part(GLOBAL const T *x, int64 from, int64 to)
{
    OUT_acc sum = 0;
    for (int64 i = to - 1; i >= from; i--)
        sum += T_from(x[i]);
    return sum;
}

KERNEL void rows(GLOBAL OUT *out, GLOBAL const T *x, GLOBAL const uint16 *one, int64 n, int64 m)
{
    __shared__ OUT_acc of[BLOCK];
    int64 at = (int64)blockIdx.x * BLOCK + threadIdx.x, row = at / 2, half_way = n / 2;
    of[threadIdx.x] = 0;
    if (row < m)
        of[threadIdx.x] = at % 2 ? part(x + row * n, half_way, n) : part(x + row * n, 0, half_way);
    __syncthreads();
    if (row >= m || at % 2)
        return;
    OUT_acc sum = of[threadIdx.x] + of[threadIdx.x + 1];
    OUT_put(out, row, sum);
#if FAULT == FAULT_cut
    if (row == 17)
        out[row] = (OUT)(sum / 2);
#elif FAULT == FAULT_off
    if (row == 17)
        OUT_put(out, row, OUT_get(out, row) + 1);
#elif FAULT == FAULT_nan
    if (row == 17)
        out[row] = ~(OUT_bits)0;
#endif
}
