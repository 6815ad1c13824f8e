// out[i] = alpha * x[i] + beta * y[i]: a block takes a strip of BLOCK * ITEMS elements, a thread every BLOCK-th of them.
KERNEL void __launch_bounds__(BLOCK)
axpby(GLOBAL T *__restrict__ out, float alpha, GLOBAL const T *__restrict__ x, float beta, GLOBAL const T *__restrict__ y, int64 n)
{
    int64 i = (int64)blockIdx.x * (BLOCK * ITEMS) + threadIdx.x;
#pragma unroll
    for (int k = 0; k < ITEMS; k++, i += BLOCK)
        if (i < n)
            out[i] = alpha * x[i] + beta * y[i];
}
