/* out = in^T, in is m x n, by tiles in shared memory: the space that bench/tuners/compare gives to each tuner. BLOCK_X x BLOCK_Y threads
   move a tile of TILE_Y rows of TILE_X elements; ORDER 1 walks the tiles down the columns; ROUND 1 checks the edges once for the whole tile. */
extern "C" __global__ void __launch_bounds__(BLOCK_X * BLOCK_Y) transpose(float *__restrict__ out, const float *__restrict__ in, int m, int n)
{
    __shared__ float tile[TILE_Y][TILE_X + PAD];
    const int x0 = (ORDER ? blockIdx.y : blockIdx.x) * TILE_X, y0 = (ORDER ? blockIdx.x : blockIdx.y) * TILE_Y;
    const int thread = threadIdx.x + threadIdx.y * BLOCK_X, threads = BLOCK_X * BLOCK_Y;
    const bool whole = ROUND && x0 + TILE_X <= n && y0 + TILE_Y <= m;
#pragma unroll UNROLL
    for (int i = thread; i < TILE_X * TILE_Y; i += threads) {
        const int x = i % TILE_X, y = i / TILE_X;
        if (whole || (x0 + x < n && y0 + y < m))
            tile[y][x] = in[(long long)(y0 + y) * n + x0 + x];
    }
    __syncthreads();
#pragma unroll UNROLL
    for (int i = thread; i < TILE_X * TILE_Y; i += threads) {
        const int y = i % TILE_Y, x = i / TILE_Y;
        if (whole || (x0 + x < n && y0 + y < m))
            out[(long long)(x0 + x) * m + y0 + y] = tile[y][x];
    }
}
