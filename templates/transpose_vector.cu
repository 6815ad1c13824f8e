// out[j][i] = in[i][j] through a square tile in shared memory, read and written VEC bytes at a time. Rows are multiples of LANES
// and both pointers of VEC bytes, so a vector lies wholly inside the matrix or wholly outside.
#include "transpose_packed.h"
#define LANES (VEC / T_bytes)
#define WIDTH (TILE / LANES) // vectors, and threads, across the tile
#if VEC == 16
#define VECTOR uint4
#elif VEC == 8
#define VECTOR uint64
#elif VEC == 4
#define VECTOR uint32
#endif

union lanes {
    VECTOR all;
    T_bits one[LANES];
};

KERNEL void __launch_bounds__(WIDTH * ROWS)
transpose(GLOBAL T_bits *__restrict__ out, GLOBAL const T_bits *__restrict__ in, int64 m, int64 n STRIDES)
{
    __shared__ T_bits tile[TILE][TILE + 1];
#if GRID == GRID_xy
    uint32 block_x = blockIdx.x, block_y = blockIdx.y;
#else
    uint32 across = (uint32)((n + TILE - 1) / TILE);
    ENTER_MATRIX(block, across * (uint32)((m + TILE - 1) / TILE));
    uint32 block_x = block % across, block_y = block / across;
#endif
    int64 top = (int64)block_y * TILE, left = (int64)block_x * TILE;
    int x = threadIdx.x * LANES, y = threadIdx.y;

    GLOBAL const T_bits *from = in + (top + y) * LDIN + left + x;
#pragma unroll
    for (int r = 0; r < TILE; r += ROWS) {
        if (top + y + r < m && left + x < n) {
            union lanes v;
            v.all = *(GLOBAL const VECTOR *)(from + r * LDIN);
#pragma unroll
            for (int k = 0; k < LANES; k++)
                tile[y + r][x + k] = v.one[k];
        }
    }
    __syncthreads();

    GLOBAL T_bits *to = out + (left + y) * LDOUT + top + x;
#pragma unroll
    for (int r = 0; r < TILE; r += ROWS) {
        if (left + y + r < n && top + x < m) {
            union lanes v;
#pragma unroll
            for (int k = 0; k < LANES; k++)
                v.one[k] = tile[x + k][y + r];
            *(GLOBAL VECTOR *)(to + r * LDOUT) = v.all;
        }
    }
}
