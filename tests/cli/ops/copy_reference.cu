KERNEL void copy_reference(GLOBAL T *__restrict__ out, GLOBAL const T *__restrict__ inp, int64 n)
{
    int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = inp[i];
}
