KERNEL void copy(GLOBAL T *__restrict__ out, GLOBAL const T *__restrict__ inp, int64 n)
{
    int64 i = (int64)blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        out[i] = inp[i];
}
