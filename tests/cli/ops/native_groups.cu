namespace cg = cooperative_groups;

__global__ void sums_by_groups(float *sums, const T *x, int n)
{
    __shared__ float parts[256 / TILE];
    auto tile = cg::tiled_partition<TILE>(cg::this_thread_block());
    int i = blockIdx.x * 256 + threadIdx.x;
    float sum = cg::reduce(tile, i < n ? filter::at(x, i) : 0.0f, cg::plus<float>());
    if (tile.thread_rank() == 0)
        parts[tile.meta_group_rank()] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = 0;
        for (float part : parts)
            sum += part;
        sums[blockIdx.x] = sum;
    }
}
