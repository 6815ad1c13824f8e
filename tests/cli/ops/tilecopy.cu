KERNEL void tilecopy_plain(GLOBAL T_bits *out, GLOBAL const T_bits *x, int64 m, int64 n)
{
    int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m * n)
        out[i] = x[i];
}
