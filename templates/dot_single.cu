// out[0] = the sum of x[i] * y[i]: one block, which takes BLOCK * ITEMS elements at a time, and a tree over its threads.
KERNEL void __launch_bounds__(BLOCK)
dot_single(GLOBAL T *__restrict__ out, GLOBAL const T *__restrict__ x, GLOBAL const T *__restrict__ y, int64 n)
{
    __shared__ T sums[BLOCK];
    int t = threadIdx.x;
    int64 i = t;
    T sum = 0;
    for (; i + (ITEMS - 1) * BLOCK < n; i += ITEMS * BLOCK) {
#pragma unroll
        for (int k = 0; k < ITEMS; k++)
            sum += x[i + k * BLOCK] * y[i + k * BLOCK];
    }
    for (; i < n; i += BLOCK) // what is left for this thread, fewer than ITEMS
        sum += x[i] * y[i];

    sums[t] = sum;
    __syncthreads();
    for (int width = BLOCK / 2; width > 0; width /= 2) {
        if (t < width)
            sums[t] += sums[t + width];
        __syncthreads();
    }
    if (t == 0)
        out[0] = sums[0];
}
