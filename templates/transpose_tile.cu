// out[j][i] = in[i][j] through a tile in shared memory, so that reads and writes both run along rows. A tile covers TILE_Y rows and
// TILE_X columns of in; TILE_X x ROWS threads read it row by row, and write it folded to TILE_Y x OUT_ROWS threads.
#include "transpose_packed.h"
#ifdef TILE
#define TILE_X TILE
#define TILE_Y TILE
#endif
#define OUT_ROWS (TILE_X * ROWS / TILE_Y)

KERNEL void __launch_bounds__(TILE_X * ROWS)
transpose(GLOBAL T_bits *__restrict__ out, GLOBAL const T_bits *__restrict__ in, int64 m, int64 n STRIDES)
{
    __shared__ T_bits tile[TILE_Y][TILE_X + PAD];
#if GRID == GRID_xy
    uint32 block_x = blockIdx.x, block_y = blockIdx.y;
#else
    uint32 across = (uint32)((n + TILE_X - 1) / TILE_X); // divides the number of blocks, which has 31 bits
    ENTER_MATRIX(block, across * (uint32)((m + TILE_Y - 1) / TILE_Y));
    uint32 block_x = block % across, block_y = block / across;
#endif
    int64 top = (int64)block_y * TILE_Y, left = (int64)block_x * TILE_X;
    int x = threadIdx.x, y = threadIdx.y;
    int full = top + TILE_Y <= m && left + TILE_X <= n; // the tile lies inside: nothing to ask for each element

    GLOBAL const T_bits *from = in + (top + y) * LDIN + left + x;
    if (full) {
#pragma unroll
        for (int r = 0; r < TILE_Y; r += ROWS)
            tile[y + r][x] = from[r * LDIN];
    } else {
#pragma unroll
        for (int r = 0; r < TILE_Y; r += ROWS)
            if (top + y + r < m && left + x < n)
                tile[y + r][x] = from[r * LDIN];
    }
    __syncthreads();

#if TILE_X != TILE_Y
    int thread = y * TILE_X + x;
    x = thread % TILE_Y;
    y = thread / TILE_Y;
#endif
    GLOBAL T_bits *to = out + (left + y) * LDOUT + top + x;
    if (full) {
#pragma unroll
        for (int r = 0; r < TILE_X; r += OUT_ROWS)
            to[r * LDOUT] = tile[x][y + r];
    } else {
#pragma unroll
        for (int r = 0; r < TILE_X; r += OUT_ROWS)
            if (left + y + r < n && top + x < m)
                to[r * LDOUT] = tile[x][y + r];
    }
}
