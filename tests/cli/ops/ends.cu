KERNEL void ends_ref(GLOBAL T *y, GLOBAL const T *x, GLOBAL const T *at, int64 n, int64 m)
{
    int64 i = (int64)blockIdx.x * 64 + threadIdx.x;
    if (i < n)
        y[i] = x[at[i]];
}

#ifdef FAULT
KERNEL void ends(GLOBAL T *y, GLOBAL const T *x, GLOBAL const T *at, int64 n, int64 m)
{
    int64 i = (int64)blockIdx.x * 64 + threadIdx.x;
    if (i >= n)
        return;
#if FAULT == FAULT_first
    y[i] = x[max(at[i], 1)];
#elif FAULT == FAULT_last
    y[i] = x[min(at[i], (T)m - 2)];
#else
    y[i] = x[at[i]];
#endif
}
#endif
