// `steps` steps, at most temporal_tiling_factor: a block loads its tile with a halo of that width, and each step is right for one ring less.
#define CELLS_X (block_size_x * tile_size_x)
#define CELLS_Y (block_size_y * tile_size_y)
#define HALO    temporal_tiling_factor
#define WIDE    (CELLS_X + 2 * HALO)
#define HIGH    (CELLS_Y + 2 * HALO)
#if blocks_per_sm > 0 && defined(BACKEND_CUDA)
#define BOUNDS __launch_bounds__(block_size_x * block_size_y, blocks_per_sm)
#else
#define BOUNDS __launch_bounds__(block_size_x * block_size_y)
#endif

KERNEL void BOUNDS hotspot(GLOBAL const float *power, GLOBAL const float *temp_src, GLOBAL float *temp_dst, int32 n, int32 m, float Rx_1,
                           float Ry_1, float Rz_1, float step_div_cap, int32 steps)
{
    __shared__ float temp[2][HIGH][WIDE];
#if sh_power
    __shared__ float powers[HIGH][WIDE];
#endif
    const int32 left = (int32)blockIdx.x * CELLS_X - HALO, top = (int32)blockIdx.y * CELLS_Y - HALO;
    for (int32 y = (int32)threadIdx.y; y < HIGH; y += block_size_y)
        for (int32 x = (int32)threadIdx.x; x < WIDE; x += block_size_x) {
            const int32 i = top + y, j = left + x;
            if (i >= 0 && i < m && j >= 0 && j < n) {
                temp[0][y][x] = temp_src[(int64)i * n + j];
#if sh_power
                powers[y][x] = power[(int64)i * n + j];
#endif
            }
        }
    __syncthreads();
#pragma unroll loop_unroll_factor_t
    for (int32 s = 0; s < steps; s++) {
        const int32 from = s & 1, ring = s + 1;
        for (int32 y = (int32)threadIdx.y + ring; y < HIGH - ring; y += block_size_y)
            for (int32 x = (int32)threadIdx.x + ring; x < WIDE - ring; x += block_size_x) {
                const int32 i = top + y, j = left + x;
                if (i < 0 || i >= m || j < 0 || j >= n)
                    continue;
                const float t = temp[from][y][x];
                const float north = i > 0 ? temp[from][y - 1][x] : t, south = i < m - 1 ? temp[from][y + 1][x] : t;
                const float west = j > 0 ? temp[from][y][x - 1] : t, east = j < n - 1 ? temp[from][y][x + 1] : t;
#if sh_power
                const float p = powers[y][x];
#else
                const float p = power[(int64)i * n + j];
#endif
                temp[1 - from][y][x] = t + step_div_cap * (p + (north + south - 2.0f * t) * Ry_1 + (east + west - 2.0f * t) * Rx_1 +
                                                           (80.0f - t) * Rz_1);
            }
        __syncthreads();
    }
    for (int32 y = (int32)threadIdx.y + HALO; y < HIGH - HALO; y += block_size_y)
        for (int32 x = (int32)threadIdx.x + HALO; x < WIDE - HALO; x += block_size_x) {
            const int32 i = top + y, j = left + x;
            if (i < m && j < n)
                temp_dst[(int64)i * n + j] = temp[steps & 1][y][x];
        }
}
