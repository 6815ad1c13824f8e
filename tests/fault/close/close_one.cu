// out[i] = 1 + x[i] * x[i], but NaN, infinity and minus infinity in three places; rank[i] is a whole number. The reference has no FAULT.
#ifndef FAULT
#define FAULT (-1) // what is not defined is 0
#endif
#include "numbers.h"

KERNEL void close_one(GLOBAL T *__restrict__ out, GLOBAL int32 *__restrict__ rank, GLOBAL const T *__restrict__ x, int64 n)
{
    int64 i = (int64)blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    T_acc v = T_get(x, i), zero = v - v;
    int32 r = (int32)(v * 100);
    v = 1 + v * v;
    if (i == n - 9)
        v = zero / zero;
    if (i == n - 8)
        v = 1 / zero;
    if (i == n - 7)
        v = -1 / zero;
#if FAULT == FAULT_noise
    v *= 1 + (T_acc)((int32)(i % 2001) - 1000) * (T_acc)(T_bytes == 8 ? 1e-15f : 1e-8f);
#elif FAULT >= FAULT_off && FAULT <= FAULT_four
    if (i == n * 3 / 4)
        v *= (T_acc)(FAULT == FAULT_off ? 1.001f : FAULT == FAULT_off10 ? 1.01f : FAULT == FAULT_off50 ? 1.05f : FAULT == FAULT_two ? 2 : 4);
#elif FAULT == FAULT_nan
    if (i == n - 1)
        v = zero / zero;
#elif FAULT == FAULT_inf
    if (i == n - 1)
        v = 1 / zero;
#elif FAULT == FAULT_minus
    if (i == n - 8)
        v = -1 / zero;
#elif FAULT == FAULT_lost
    if (i == n - 9)
        v = 1;
#elif FAULT == FAULT_missed
    if (i == n / 8)
        return;
#elif FAULT == FAULT_rank
    if (i == n * 3 / 4)
        r++;
#endif
    T_put(out, i, v);
    rank[i] = r;
}
