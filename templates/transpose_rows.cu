// out[j][i] = in[i][j], straight from memory to memory: a block of TILE x ROWS threads takes a square of TILE, row after row.
KERNEL void __launch_bounds__(TILE * ROWS)
transpose(GLOBAL T_bits *__restrict__ out, GLOBAL const T_bits *__restrict__ in, int64 m, int64 n)
{
#if GRID == GRID_xy
    uint32 block_x = blockIdx.x, block_y = blockIdx.y;
#else
    uint32 across = (uint32)((n + TILE - 1) / TILE);
    uint32 block_x = blockIdx.x % across, block_y = blockIdx.x / across;
#endif
    int64 top = (int64)block_y * TILE;
    int64 i = top + threadIdx.y;
    int64 j = (int64)block_x * TILE + threadIdx.x;
    if (j >= n)
        return;
    GLOBAL const T_bits *from = in + i * n + j;
    GLOBAL T_bits *to = out + j * m + i;
    if (top + TILE <= m) {
#pragma unroll
        for (int r = 0; r < TILE; r += ROWS)
            to[r] = from[r * n];
    } else {
#pragma unroll
        for (int r = 0; r < TILE; r += ROWS)
            if (i + r < m)
                to[r] = from[r * n];
    }
}
