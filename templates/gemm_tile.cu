// C = alpha op(A) op(B) + beta C through square tiles in shared memory: one element of C a thread. What a tile lacks at the edges is filled
// with zeros. Tiles of a transposed matrix are read as they lie, and turned on their way.
#include "numbers.h"
#include "gemm.h"

KERNEL void __launch_bounds__(TILE * TILE)
gemm(GLOBAL T *__restrict__ c, T_acc alpha, GLOBAL const T *__restrict__ a, GLOBAL const T *__restrict__ b, T_acc beta, int64 m,
     int64 n, int64 k, int64 ta, int64 tb, int64 lda, int64 ldb, int64 ldc)
{
    __shared__ T tile_a[TILE][TILE + PAD], tile_b[TILE][TILE + PAD];
    uint32 across = (uint32)((n + TILE - 1) / TILE), tiles = across * (uint32)((m + TILE - 1) / TILE);
    uint32 tile = blockIdx.x % tiles, matrix = blockIdx.x / tiles; // the number of blocks has 31 bits
    int x = threadIdx.x, y = threadIdx.y;
    int64 top = (int64)(tile / across) * TILE, left = (int64)(tile % across) * TILE;
    int64 i = top + y, j = left + x; // of the thread's element of C
    a += matrix * (ta ? k : m) * lda;
    b += matrix * (tb ? n : k) * ldb;
    c += matrix * m * ldc;
    // What a thread reads of the tiles: neighbours what lies side by side.
    int row_a = ta ? x : y, deep_a = ta ? y : x, deep_b = tb ? x : y, column_b = tb ? y : x;
    GLOBAL const T *from_a = a + (ta ? deep_a * lda + top + row_a : (top + row_a) * lda + deep_a);
    GLOBAL const T *from_b = b + (tb ? (left + column_b) * ldb + deep_b : deep_b * ldb + left + column_b);
    int64 step_a = ta ? lda : 1, step_b = tb ? 1 : ldb;
    T_acc sum = 0;
    for (int64 p = 0; p < k; p += TILE) {
        tile_a[row_a][deep_a] = top + row_a < m && p + deep_a < k ? from_a[p * step_a] : 0;
        tile_b[deep_b][column_b] = p + deep_b < k && left + column_b < n ? from_b[p * step_b] : 0;
        __syncthreads();
#pragma unroll
        for (int q = 0; q < TILE; q++)
            sum += T_from(tile_a[y][q]) * T_from(tile_b[q][x]);
        __syncthreads();
    }
    if (i < m && j < n)
        c_put(c, i * ldc + j, alpha, sum, beta);
}
