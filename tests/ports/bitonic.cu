// Batcher's bitonic network. Step (k, j) orders each pair of keys j apart, ascending where bit k of the index is 0.
DEVICE void order(GLOBAL T *keys, int64 pair, int64 k, int64 j)
{
    const int64 i = (pair / j) * (2 * j) + pair % j;
    const T a = keys[i], b = keys[i + j];
    if ((a > b) == ((i & k) == 0)) {
        keys[i] = b;
        keys[i + j] = a;
    }
}

KERNEL void __launch_bounds__(BLOCK) bitonic_step(GLOBAL T *keys, int64 n, int64 k, int64 j)
{
    const int64 first = (int64)blockIdx.x * (BLOCK * PAIRS) + threadIdx.x;
#pragma unroll
    for (int p = 0; p < PAIRS; p++)
        if (first + p * BLOCK < n / 2)
            order(keys, first + p * BLOCK, k, j);
}

#define TILE (2 * BLOCK)

DEVICE void order_shared(SHARED T *tile, int64 base, int64 k, int32 j)
{
    const int32 pair = (int32)threadIdx.x, i = pair / j * (2 * j) + pair % j;
    const T a = tile[i], b = tile[i + j];
    if ((a > b) == (((base + i) & k) == 0)) {
        tile[i] = b;
        tile[i + j] = a;
    }
    __syncthreads();
}

KERNEL void __launch_bounds__(BLOCK) bitonic_sort_tiles(GLOBAL T *keys, int64 n)
{
    __shared__ T tile[TILE];
    const int64 base = (int64)blockIdx.x * TILE;
    tile[threadIdx.x] = keys[base + threadIdx.x];
    tile[threadIdx.x + BLOCK] = keys[base + threadIdx.x + BLOCK];
    __syncthreads();
    for (int32 k = 2; k <= TILE; k *= 2)
        for (int32 j = k / 2; j > 0; j /= 2)
            order_shared(tile, base, k, j);
    keys[base + threadIdx.x] = tile[threadIdx.x];
    keys[base + threadIdx.x + BLOCK] = tile[threadIdx.x + BLOCK];
}

KERNEL void __launch_bounds__(BLOCK) bitonic_merge_tiles(GLOBAL T *keys, int64 n, int64 k)
{
    __shared__ T tile[TILE];
    const int64 base = (int64)blockIdx.x * TILE;
    tile[threadIdx.x] = keys[base + threadIdx.x];
    tile[threadIdx.x + BLOCK] = keys[base + threadIdx.x + BLOCK];
    __syncthreads();
    for (int32 j = BLOCK; j > 0; j /= 2)
        order_shared(tile, base, k, j);
    keys[base + threadIdx.x] = tile[threadIdx.x];
    keys[base + threadIdx.x + BLOCK] = tile[threadIdx.x + BLOCK];
}
