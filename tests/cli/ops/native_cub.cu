template <typename X, int N> __global__ void sums_by_cub(float *sums, const X *x, int n)
{
    using Reduce = cub::BlockReduce<float, N, RAKING ? cub::BLOCK_REDUCE_RAKING : cub::BLOCK_REDUCE_WARP_REDUCTIONS>;
    __shared__ typename Reduce::TempStorage room;
    float sum = 0;
    for (int k = threadIdx.x; k < 256; k += N)
        if (int i = blockIdx.x * 256 + k; i < n)
            sum += filter::at(x, i);
    sum = Reduce(room).Sum(sum);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}
