KERNEL void copy(GLOBAL T *out, GLOBAL const T *in, int64 n)
{
    int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x;
#if NUMBER <= 11
    if (i == NUMBER)
        out[i + (1ll << 40)] = 1;
#endif
    if (i < n)
        out[i] = in[i];
}
