// out[j][i] = in[i][j], straight from memory to memory: a block of TILE x ROWS threads takes a square of TILE, row after row.
#include "transpose_packed.h"
KERNEL void __launch_bounds__(TILE * ROWS)
transpose(GLOBAL T_bits *__restrict__ out, GLOBAL const T_bits *__restrict__ in, int64 m, int64 n STRIDES)
{
#if GRID == GRID_xy
    uint32 block_x = blockIdx.x, block_y = blockIdx.y;
#else
    uint32 across = (uint32)((n + TILE - 1) / TILE);
    ENTER_MATRIX(block, across * (uint32)((m + TILE - 1) / TILE));
    uint32 block_x = block % across, block_y = block / across;
#endif
    int64 top = (int64)block_y * TILE;
    int64 i = top + threadIdx.y;
    int64 j = (int64)block_x * TILE + threadIdx.x;
    if (j >= n)
        return;
    GLOBAL const T_bits *from = in + i * LDIN + j;
    GLOBAL T_bits *to = out + j * LDOUT + i;
    if (top + TILE <= m) {
#pragma unroll
        for (int r = 0; r < TILE; r += ROWS)
            to[r] = from[r * LDIN];
    } else {
#pragma unroll
        for (int r = 0; r < TILE; r += ROWS)
            if (i + r < m)
                to[r] = from[r * LDIN];
    }
}
