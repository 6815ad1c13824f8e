// out[0] += the sum of x[i] * y[i], over an output that was cleared: each block walks the vectors in steps of the whole grid, sums
// its threads in a tree and adds one number.
KERNEL void __launch_bounds__(BLOCK)
dot_atomic(GLOBAL T *__restrict__ out, GLOBAL const T *__restrict__ x, GLOBAL const T *__restrict__ y, int64 n)
{
    __shared__ T sums[BLOCK];
    int t = threadIdx.x;
    int64 step = (int64)gridDim.x * (ITEMS * BLOCK);
    int64 i = (int64)blockIdx.x * (ITEMS * BLOCK) + t;
    T sum = 0;
    for (; i + (ITEMS - 1) * BLOCK < n; i += step) {
#pragma unroll
        for (int k = 0; k < ITEMS; k++)
            sum += x[i + k * BLOCK] * y[i + k * BLOCK];
    }
    for (int k = 0; k < ITEMS - 1; k++, i += BLOCK) // at most one step is left, and not all of it
        if (i < n)
            sum += x[i] * y[i];

    sums[t] = sum;
    __syncthreads();
    for (int width = BLOCK / 2; width > 0; width /= 2) {
        if (t < width)
            sums[t] += sums[t + width];
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(out, sums[0]);
}
