KERNEL void bitonic_ref(GLOBAL T *out, GLOBAL const T *x, int64 n)
{
    int64 i = (int64)blockIdx.x * 64 + threadIdx.x, rank = 0;
    if (i >= n)
        return;
    for (int64 k = 0; k < n; k++)
        rank += x[k] < x[i] || (x[k] == x[i] && k < i);
    out[rank] = x[i];
}
