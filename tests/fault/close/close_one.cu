// out[i] = 1 + x[i] * x[i], but NaN, infinity and minus infinity in three places; rank[i] is a whole number. The reference has no FAULT.
#ifndef FAULT
#define FAULT (-1) // what is not defined is 0
#endif
#if T_is_f64
#define REAL  double
#define NOISE 1e-15f
#else
#define REAL  float
#define NOISE 1e-8f
#endif

KERNEL void close_one(GLOBAL T *__restrict__ out, GLOBAL int32 *__restrict__ rank, GLOBAL const T *__restrict__ x, int64 n)
{
    int64 i = (int64)blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    REAL v = x[i], zero = v - v;
    int32 r = (int32)(v * 100);
    v = 1 + v * v;
    if (i == n - 9)
        v = zero / zero;
    if (i == n - 8)
        v = 1 / zero;
    if (i == n - 7)
        v = -1 / zero;
#if FAULT == FAULT_noise
    v *= 1 + (REAL)((int32)(i % 2001) - 1000) * NOISE;
#elif FAULT == FAULT_off
    if (i == n * 3 / 4)
        v *= (REAL)1.001f;
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
    out[i] = v;
    rank[i] = r;
}
