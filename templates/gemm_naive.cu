// C = alpha op(A) op(B) + beta C straight from memory: one element of C a thread.
#include "numbers.h"
#include "gemm.h"

// The inner product of x and y, of every dx-th and every dy-th element.
DEVICE T_acc product(GLOBAL const T *x, int64 dx, GLOBAL const T *y, int64 dy, int64 k)
{
    T_acc sum = 0;
    for (int64 p = 0; p < k; p++, y += dy)
        sum += T_get(x, p * dx) * T_from(*y);
    return sum;
}

KERNEL void __launch_bounds__(BLOCK_X * BLOCK_Y)
gemm(GLOBAL T *__restrict__ c, T_acc alpha, GLOBAL const T *__restrict__ a, GLOBAL const T *__restrict__ b, T_acc beta, int64 m,
     int64 n, int64 k, int64 ta, int64 tb, int64 lda, int64 ldb, int64 ldc)
{
    uint32 across = (uint32)((n + BLOCK_X - 1) / BLOCK_X), tiles = across * (uint32)((m + BLOCK_Y - 1) / BLOCK_Y);
    uint32 tile = blockIdx.x % tiles, matrix = blockIdx.x / tiles; // the number of blocks has 31 bits
    int64 i = (int64)(tile / across) * BLOCK_Y + threadIdx.y;
    int64 j = (int64)(tile % across) * BLOCK_X + threadIdx.x;
    if (i >= m || j >= n)
        return;
    a += matrix * (ta ? k : m) * lda;
    b += matrix * (tb ? n : k) * ldb;
    c += matrix * m * ldc;
    T_acc sum = ta || tb ? product(a + (ta ? i : i * lda), ta ? lda : 1, b + (tb ? j * ldb : j), tb ? 1 : ldb, k)
                         : product(a + i * lda, 1, b + j, ldb, k); // the same, but the compiler knows the distances
    c_put(c, i * ldc + j, alpha, sum, beta);
}
