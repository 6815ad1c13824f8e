KERNEL void finite_ref(GLOBAL T *y, GLOBAL const T *x, float alpha, float beta, int64 n)
{
    int64 i = (int64)blockIdx.x * 64 + threadIdx.x;
    if (i < n)
        y[i] = alpha * (x[i] - x[0]) + beta * x[i];
}

#ifdef FAULT
KERNEL void finite(GLOBAL T *y, GLOBAL const T *x, float alpha, float beta, int64 n)
{
    int64 i = (int64)blockIdx.x * 64 + threadIdx.x;
    float nothing = 0;
#if FAULT == FAULT_nan
    nothing = (x[0] - x[0]) / (x[0] - x[0]);
#elif FAULT == FAULT_ratio
    beta = -0.5f * alpha;
#elif FAULT == FAULT_parity
    nothing = n % 2 == 64 % 2 ? 0 : 1;
#elif FAULT == FAULT_fours
    nothing = n % 4 == 64 % 4 ? 0 : 1;
#endif
    if (i < n)
        y[i] = alpha * (x[i] - x[0]) + beta * x[i] + nothing;
}
#endif
