// The sum of x[i] * y[i] in two launches. dot_partial: each block walks the vectors in steps of the whole grid, sums its threads in
// a tree and stores one number, and the first tells how many there are. dot_total: one block sums those.
DEVICE void block_sum(SHARED T *sums, int t)
{
    __syncthreads();
    for (int width = BLOCK / 2; width > 0; width /= 2) {
        if (t < width)
            sums[t] += sums[t + width];
        __syncthreads();
    }
}

KERNEL void __launch_bounds__(BLOCK)
dot_partial(GLOBAL const T *__restrict__ x, GLOBAL const T *__restrict__ y, int64 n, GLOBAL T *__restrict__ partial,
            GLOBAL int32 *__restrict__ count)
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
    block_sum(sums, t);
    if (t == 0)
        partial[blockIdx.x] = sums[0];
    if (t == 0 && blockIdx.x == 0)
        *count = gridDim.x;
}

KERNEL void __launch_bounds__(BLOCK)
dot_total(GLOBAL T *__restrict__ out, GLOBAL const T *__restrict__ partial, GLOBAL const int32 *__restrict__ count)
{
    __shared__ T sums[BLOCK];
    int t = threadIdx.x;
    T sum = 0;
    for (int i = t; i < *count; i += BLOCK)
        sum += partial[i];
    sums[t] = sum;
    block_sum(sums, t);
    if (t == 0)
        out[0] = sums[0];
}
