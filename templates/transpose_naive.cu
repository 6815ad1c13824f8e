// out[j][i] = in[i][j], straight from memory to memory: one element a thread. Reads run along rows, writes along columns.
KERNEL void __launch_bounds__(BLOCK_X * BLOCK_Y)
transpose(GLOBAL T_bits *__restrict__ out, GLOBAL const T_bits *__restrict__ in, int64 m, int64 n)
{
#if GRID == GRID_xy
    uint32 block_x = blockIdx.x, block_y = blockIdx.y;
#else
    uint32 across = (uint32)((n + BLOCK_X - 1) / BLOCK_X); // divides the number of blocks, which has 31 bits
    uint32 block_x = blockIdx.x % across, block_y = blockIdx.x / across;
#endif
    int64 i = (int64)block_y * BLOCK_Y + threadIdx.y;
    int64 j = (int64)block_x * BLOCK_X + threadIdx.x;
    if (i < m && j < n)
        out[j * m + i] = in[i * n + j];
}
