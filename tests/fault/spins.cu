KERNEL void copy(GLOBAL T *out, GLOBAL const T *in, int64 n)
{
    int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    volatile GLOBAL const T *again = in;
    T v = 0;
    if (i >= n)
        return;
    for (int k = 0; k < TIMES; k++)
        v = again[i];
    out[i] = v;
}
