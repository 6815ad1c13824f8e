#include "numbers.h"

KERNEL void zeros_ref(GLOBAL T *y, GLOBAL const T *x, int64 n)
{
    int64 i = (int64)blockIdx.x * 64 + threadIdx.x;
    if (i < n)
        T_put(y, i, T_get(x, i) - 2 * T_get(x, i + 1) + T_get(x, i + 2));
}

#ifdef FAULT
KERNEL void zeros(GLOBAL T *y, GLOBAL const T *x, int64 n)
{
    int64 i = (int64)blockIdx.x * 64 + threadIdx.x;
    if (i < n)
        T_put(y, i, -(2 * T_get(x, i + 1) - T_get(x, i) - T_get(x, i + 2)) - (FAULT == FAULT_one && i == 7 ? 1 : 0));
}
#endif
