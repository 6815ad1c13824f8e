//null: delay=2
//null: time=$(5000 + K * 7919 % 61 * 100)
KERNEL void copy(GLOBAL T *out, GLOBAL const T *in, int64 n)
{
    int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}
