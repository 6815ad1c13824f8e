// out[i] = a * x[i] + y[i]: one element a thread.
KERNEL void axpy_ref(GLOBAL T *__restrict__ out, GLOBAL const T *__restrict__ a, GLOBAL const T *__restrict__ x,
                     GLOBAL const T *__restrict__ y, int64 n)
{
    int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = *a * x[i] + y[i];
}
