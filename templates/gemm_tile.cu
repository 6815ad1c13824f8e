// C = A B through square tiles in shared memory: one element of C a thread. What a tile lacks at the edges is filled with zeros.
#include "numbers.h"

KERNEL void __launch_bounds__(TILE * TILE)
gemm(GLOBAL T *__restrict__ c, GLOBAL const T *__restrict__ a, GLOBAL const T *__restrict__ b, int64 m, int64 n, int64 k)
{
    __shared__ T tile_a[TILE][TILE + PAD], tile_b[TILE][TILE + PAD];
    uint32 across = (uint32)((n + TILE - 1) / TILE); // divides the number of blocks, which has 31 bits
    int x = threadIdx.x, y = threadIdx.y;
    int64 i = (int64)(blockIdx.x / across) * TILE + y;
    int64 j = (int64)(blockIdx.x % across) * TILE + x;
    T_acc sum = 0;
    for (int64 p = 0; p < k; p += TILE) {
        tile_a[y][x] = i < m && p + x < k ? a[i * k + p + x] : 0;
        tile_b[y][x] = p + y < k && j < n ? b[(p + y) * n + j] : 0;
        __syncthreads();
#pragma unroll
        for (int q = 0; q < TILE; q++)
            sum += T_from(tile_a[y][q]) * T_from(tile_b[q][x]);
        __syncthreads();
    }
    if (i < m && j < n)
        T_put(c, i * n + j, sum);
}
