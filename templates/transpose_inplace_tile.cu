// Transposes in place through two tiles in shared memory, so that all reads and writes run along rows. TILE x ROWS threads.
#include "transpose_inplace.h"

DEVICE void read_tile(SHARED T_bits *tile, GLOBAL const T_bits *a, int64 top, int64 left, int64 n, int64 ld, int full)
{
    int x = threadIdx.x, y = threadIdx.y;
    GLOBAL const T_bits *from = a + (top + y) * ld + left + x;
#pragma unroll
    for (int r = 0; r < TILE; r += ROWS)
        if (full || (top + y + r < n && left + x < n))
            tile[(y + r) * (TILE + PAD) + x] = from[r * ld];
}

// In the place of the tile that begins at top, left.
DEVICE void write_turned(SHARED const T_bits *tile, GLOBAL T_bits *a, int64 top, int64 left, int64 n, int64 ld, int full)
{
    int x = threadIdx.x, y = threadIdx.y;
    GLOBAL T_bits *to = a + (top + y) * ld + left + x;
#pragma unroll
    for (int r = 0; r < TILE; r += ROWS)
        if (full || (top + y + r < n && left + x < n))
            to[r * ld] = tile[x * (TILE + PAD) + y + r];
}

KERNEL void __launch_bounds__(TILE * ROWS)
transpose_inplace(GLOBAL T_bits *a, int64 n, int64 ld)
{
    __shared__ T_bits above[TILE * (TILE + PAD)], below[TILE * (TILE + PAD)];
    struct pair p = pair_of(blockIdx.x, (uint32)((n + TILE - 1) / TILE), TILE);
    int two = p.top != p.left; // tiles
    a += p.matrix * n * ld;
    if (p.left + TILE <= n) { // nothing to ask for each element
        read_tile(above, a, p.top, p.left, n, ld, 1);
        if (two)
            read_tile(below, a, p.left, p.top, n, ld, 1);
    } else {
        read_tile(above, a, p.top, p.left, n, ld, 0);
        if (two)
            read_tile(below, a, p.left, p.top, n, ld, 0);
    }
    __syncthreads();
    if (p.left + TILE <= n) {
        write_turned(above, a, p.left, p.top, n, ld, 1);
        if (two)
            write_turned(below, a, p.top, p.left, n, ld, 1);
    } else {
        write_turned(above, a, p.left, p.top, n, ld, 0);
        if (two)
            write_turned(below, a, p.top, p.left, n, ld, 0);
    }
}
