// out[i] = alpha * x[i] + beta * y[i]: one element a thread.
KERNEL void axpby_ref(GLOBAL T *__restrict__ out, float alpha, GLOBAL const T *__restrict__ x, float beta,
                      GLOBAL const T *__restrict__ y, int64 n)
{
    int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = alpha * x[i] + beta * y[i];
}
