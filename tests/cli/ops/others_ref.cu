KERNEL void others_ref(GLOBAL T *out, GLOBAL const T *x, float alpha, int32 shift, int64 m, int64 n, int64 ld)
{
    int64 i = (int64)blockIdx.x * 64 + threadIdx.x, r = i / n, c = i % n;
    if (r < m)
        out[r * ld + c] = (T)(alpha * (float)x[(c + shift) % n * m + r]);
}
