KERNEL void stencil_step(GLOBAL T *out, GLOBAL const T *in, int64 n)
{
    int64 i = (int64)blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        out[i] = i > 0 && i < n - 1 ? in[i - 1] + in[i] + in[i + 1] : in[i];
}
