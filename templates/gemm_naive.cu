// C = A B straight from memory: one element of C a thread.
#include "numbers.h"

KERNEL void __launch_bounds__(BLOCK_X * BLOCK_Y)
gemm(GLOBAL T *__restrict__ c, GLOBAL const T *__restrict__ a, GLOBAL const T *__restrict__ b, int64 m, int64 n, int64 k)
{
    uint32 across = (uint32)((n + BLOCK_X - 1) / BLOCK_X); // divides the number of blocks, which has 31 bits
    int64 i = (int64)(blockIdx.x / across) * BLOCK_Y + threadIdx.y;
    int64 j = (int64)(blockIdx.x % across) * BLOCK_X + threadIdx.x;
    if (i >= m || j >= n)
        return;
    GLOBAL const T *row = a + i * k;
    GLOBAL const T *column = b + j;
    T_acc sum = 0;
    for (int64 p = 0; p < k; p++, column += n)
        sum += T_get(row, p) * T_from(*column);
    T_put(c, i * n + j, sum);
}
