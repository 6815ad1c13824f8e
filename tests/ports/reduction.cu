// Each thread sums every so-many-th vector, a block its threads' sums, and the second launch the blocks' sums.
#if vector == 4
#define FLOATS float4
#define ADD(v) (v.x + v.y + v.z + v.w)
#elif vector == 2
#define FLOATS float2
#define ADD(v) (v.x + v.y)
#else
#define FLOATS float
#define ADD(v) (v)
#endif

#if use_shuffle
DEVICE float sum_of_block(float sum, SHARED float *warps)
{
    for (int k = 16; k > 0; k /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, k);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < block_size_x / 32 ? warps[threadIdx.x] : 0.0f;
        for (int k = 16; k > 0; k /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, k);
    }
    return sum;
}
#else
DEVICE float sum_of_block(float sum, SHARED float *all)
{
    all[threadIdx.x] = sum;
    __syncthreads();
    for (uint32 k = block_size_x / 2; k > 0; k /= 2) {
        if (threadIdx.x < k)
            all[threadIdx.x] += all[threadIdx.x + k];
        __syncthreads();
    }
    return all[0];
}
#endif

KERNEL void __launch_bounds__(block_size_x) sum_floats(GLOBAL float *partial, GLOBAL const float *array, int32 n)
{
    __shared__ float parts[block_size_x];
    GLOBAL const FLOATS *vectors = (GLOBAL const FLOATS *)array;
    float sum = 0.0f;
    for (int32 i = (int32)(blockIdx.x * block_size_x + threadIdx.x); i < n / vector; i += num_blocks * block_size_x) {
        FLOATS v = vectors[i];
        sum += ADD(v);
    }
    sum = sum_of_block(sum, parts);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sum;
}

KERNEL void __launch_bounds__(block_size_x) sum_rest(GLOBAL float *sum_global, GLOBAL const float *partial)
{
    __shared__ float parts[block_size_x];
    float sum = 0.0f;
    for (int32 i = (int32)threadIdx.x; i < num_blocks; i += block_size_x)
        sum += partial[i];
    sum = sum_of_block(sum, parts);
    if (threadIdx.x == 0)
        sum_global[0] = sum;
}
