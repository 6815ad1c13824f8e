// Swaps a[i][j] and a[j][i], straight in memory: a thread for each element, and those above the diagonal have something to do.
KERNEL void __launch_bounds__(BLOCK_X * BLOCK_Y)
transpose_inplace(GLOBAL T_bits *a, int64 n, int64 ld)
{
    uint32 across = (uint32)((n + BLOCK_X - 1) / BLOCK_X), blocks = across * (uint32)((n + BLOCK_Y - 1) / BLOCK_Y);
    uint32 block = blockIdx.x % blocks; // the number of blocks has 31 bits
    int64 i = (int64)(block / across) * BLOCK_Y + threadIdx.y;
    int64 j = (int64)(block % across) * BLOCK_X + threadIdx.x;
    a += blockIdx.x / blocks * n * ld;
    if (j > i && j < n) {
        T_bits v = a[i * ld + j];
        a[i * ld + j] = a[j * ld + i];
        a[j * ld + i] = v;
    }
}
