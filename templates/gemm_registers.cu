// C = A B: a block computes TILE_M x TILE_N elements of C from tiles in shared memory, TILE_K deep, each thread ITEMS_M x ITEMS_N
// of them in registers. A thread's elements lie THREADS_Y rows and THREADS_X columns apart, so that neighbours touch neighbours.
// What a tile lacks at the edges is filled with zeros.
#include "numbers.h"

#define THREADS_X (TILE_N / ITEMS_N)
#define THREADS_Y (TILE_M / ITEMS_M)
#define THREADS (THREADS_X * THREADS_Y)

KERNEL void __launch_bounds__(THREADS)
gemm(GLOBAL T *__restrict__ c, GLOBAL const T *__restrict__ a, GLOBAL const T *__restrict__ b, int64 m, int64 n, int64 k)
{
    __shared__ T tile_a[TILE_K][TILE_M + 1]; // turned, so that a step of the inner product lies in one row
    __shared__ T tile_b[TILE_K][TILE_N];
    uint32 across = (uint32)((n + TILE_N - 1) / TILE_N); // divides the number of blocks, which has 31 bits
    int64 top = (int64)(blockIdx.x / across) * TILE_M, left = (int64)(blockIdx.x % across) * TILE_N;
    int x = threadIdx.x, y = threadIdx.y, thread = y * THREADS_X + x;

    T_acc sum[ITEMS_M][ITEMS_N];
#pragma unroll
    for (int r = 0; r < ITEMS_M; r++)
#pragma unroll
        for (int s = 0; s < ITEMS_N; s++)
            sum[r][s] = 0;

    for (int64 p = 0; p < k; p += TILE_K) {
        for (int e = thread; e < TILE_M * TILE_K; e += THREADS) {
            int64 i = top + e / TILE_K, q = p + e % TILE_K;
            tile_a[e % TILE_K][e / TILE_K] = i < m && q < k ? a[i * k + q] : 0;
        }
        for (int e = thread; e < TILE_K * TILE_N; e += THREADS) {
            int64 q = p + e / TILE_N, j = left + e % TILE_N;
            tile_b[e / TILE_N][e % TILE_N] = q < k && j < n ? b[q * n + j] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int q = 0; q < TILE_K; q++) {
            T_acc row[ITEMS_M], column[ITEMS_N];
#pragma unroll
            for (int r = 0; r < ITEMS_M; r++)
                row[r] = T_from(tile_a[q][y + r * THREADS_Y]);
#pragma unroll
            for (int s = 0; s < ITEMS_N; s++)
                column[s] = T_from(tile_b[q][x + s * THREADS_X]);
#pragma unroll
            for (int r = 0; r < ITEMS_M; r++)
#pragma unroll
                for (int s = 0; s < ITEMS_N; s++)
                    sum[r][s] += row[r] * column[s];
        }
        __syncthreads();
    }

#pragma unroll
    for (int r = 0; r < ITEMS_M; r++) {
        int64 i = top + y + r * THREADS_Y;
#pragma unroll
        for (int s = 0; s < ITEMS_N; s++) {
            int64 j = left + x + s * THREADS_X;
            if (i < m && j < n)
                T_put(c, i * n + j, sum[r][s]);
        }
    }
}
