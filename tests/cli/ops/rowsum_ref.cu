KERNEL void rowsum_ref(GLOBAL T *out, GLOBAL const T *x, int64 m, int64 n)
{
    int64 i = (int64)blockIdx.x * 64 + threadIdx.x;
    T sum = 0;
    for (int64 k = 0; k < n && i < m; k++)
        sum += x[i * n + k];
    if (i < m)
        out[i] = sum;
}
