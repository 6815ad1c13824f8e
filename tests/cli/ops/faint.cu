#include "numbers.h"

KERNEL void faint_ref(GLOBAL T *y, GLOBAL const T *x, int64 n)
{
    int64 i = (int64)blockIdx.x * 64 + threadIdx.x;
    if (i < n)
        T_put(y, i, T_get(x, i) * (i % 2 ? 0.001f : 1.0f));
}

#ifdef FAULT
KERNEL void faint(GLOBAL T *y, GLOBAL const T *x, int64 n)
{
    int64 i = (int64)blockIdx.x * 64 + threadIdx.x;
    if (i < n)
        T_put(y, i, T_get(x, i) * (i % 2 ? (FAULT ? 0.0f : 0.001f) : 1.0f));
}
#endif
