KERNEL void transpose_ref(GLOBAL float *out, GLOBAL const float *in, int32 m, int32 n)
{
    int64 i = (int64)blockIdx.x * 256 + threadIdx.x;
    if (i < (int64)m * n)
        out[i % n * m + i / n] = in[i];
}
