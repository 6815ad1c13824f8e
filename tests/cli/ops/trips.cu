KERNEL void trips(GLOBAL T *out, GLOBAL const T *x, int64 m, int64 n)
{
    for (int64 row = blockIdx.x; row < m; row += 64) {
        GLOBAL const T *from = x + row * n;
        int times = FAULT == FAULT_none ? 200 : 1;
#if FAULT == FAULT_row
        if (row >= 64)
            from = x;
#endif
        for (int again = 0; again < times; again++)
            for (int64 i = threadIdx.x; i < n; i += 32)
                ((GLOBAL volatile T *)out)[row * n + i] = from[i];
    }
}
