KERNEL void others(GLOBAL T *out, GLOBAL const T *x, float alpha, int32 shift, int64 m, int64 n, int64 ld)
{
    int64 r = (int64)blockIdx.x * 16 + threadIdx.x, c = (int64)blockIdx.y * 16 + threadIdx.y;
#if FAULT == FAULT_m
    m = 64;
#elif FAULT == FAULT_n
    n = 64;
#elif FAULT == FAULT_ld
    ld = 80;
#elif FAULT == FAULT_alpha
    alpha = 0.5f;
#elif FAULT == FAULT_shift
    shift = 1;
#elif FAULT == FAULT_square
    n = m;
#endif
    if (FAULT == FAULT_edge || (r < m && c < n))
        out[r * ld + c] = (T)(alpha * (float)x[(c + shift) % n * m + r]);
}
