// C = alpha op(A) op(B) + beta C: a block computes TILE_M x TILE_N elements of C from tiles in shared memory, TILE_K deep, each
// thread ITEMS_M x ITEMS_N of them in registers. A thread's elements lie THREADS_Y rows and THREADS_X columns apart, so that
// neighbours touch neighbours. What a tile lacks at the edges is filled with zeros.
#include "numbers.h"
#include "gemm.h"

#define THREADS_X (TILE_N / ITEMS_N)
#define THREADS_Y (TILE_M / ITEMS_M)
#define THREADS (THREADS_X * THREADS_Y)

KERNEL void __launch_bounds__(THREADS)
gemm(GLOBAL T *__restrict__ c, T_acc alpha, GLOBAL const T *__restrict__ a, GLOBAL const T *__restrict__ b, T_acc beta, int64 m,
     int64 n, int64 k, int64 ta, int64 tb, int64 lda, int64 ldb, int64 ldc)
{
    __shared__ T tile_a[TILE_K][TILE_M + 1]; // turned, so that a step of the inner product lies in one row
    __shared__ T tile_b[TILE_K][TILE_N];
    uint32 across = (uint32)((n + TILE_N - 1) / TILE_N), tiles = across * (uint32)((m + TILE_M - 1) / TILE_M);
    uint32 tile = blockIdx.x % tiles, matrix = blockIdx.x / tiles; // the number of blocks has 31 bits
    int64 top = (int64)(tile / across) * TILE_M, left = (int64)(tile % across) * TILE_N;
    int x = threadIdx.x, y = threadIdx.y, thread = y * THREADS_X + x;

    a += matrix * (TA ? k : m) * lda;
    b += matrix * (TB ? n : k) * ldb;
    c += matrix * m * ldc;

    T_acc sum[ITEMS_M][ITEMS_N];
#pragma unroll
    for (int r = 0; r < ITEMS_M; r++)
#pragma unroll
        for (int s = 0; s < ITEMS_N; s++)
            sum[r][s] = 0;

    for (int64 p = 0; p < k; p += TILE_K) {
        // Neighbours read what lies side by side.
        if (TA)
            for (int e = thread; e < TILE_K * TILE_M; e += THREADS) {
                int64 q = p + e / TILE_M, i = top + e % TILE_M;
                tile_a[e / TILE_M][e % TILE_M] = q < k && i < m ? a[q * lda + i] : 0;
            }
        else
            for (int e = thread; e < TILE_M * TILE_K; e += THREADS) {
                int64 i = top + e / TILE_K, q = p + e % TILE_K;
                tile_a[e % TILE_K][e / TILE_K] = i < m && q < k ? a[i * lda + q] : 0;
            }
        if (TB)
            for (int e = thread; e < TILE_N * TILE_K; e += THREADS) {
                int64 j = left + e / TILE_K, q = p + e % TILE_K;
                tile_b[e % TILE_K][e / TILE_K] = j < n && q < k ? b[j * ldb + q] : 0;
            }
        else
            for (int e = thread; e < TILE_K * TILE_N; e += THREADS) {
                int64 q = p + e / TILE_N, j = left + e % TILE_N;
                tile_b[e / TILE_N][e % TILE_N] = q < k && j < n ? b[q * ldb + j] : 0;
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
                c_put(c, i * ldc + j, alpha, sum[r][s], beta);
        }
    }
}
