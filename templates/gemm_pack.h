// For products whose rows of A or B, of 2-byte elements, are not whole words of 16 bytes: copies whose rows are, padded with zeros.
#include "dependent.h"

// Eight elements of rows that are `columns` wide and lie ld apart; zeros behind their end.
DEVICE void pack_eight(T *to, const T *from, uint32 at, uint32 columns, int64 ld)
{
    uint32 packs = (columns + 7) / 8, row = at / packs, column = at % packs * 8;
    struct __attribute__((aligned(16))) {
        T e[8];
    } v;
    from += row * ld + column;
#pragma unroll
    for (int e = 0; e < 8; e++)
        v.e[e] = column + e < columns ? from[e] : (T)0;
    *(uint4 *)(to + (int64)at * 8) = *(uint4 *)&v;
}

// Copies of A and B whose rows are whole words of 16 bytes; rows_a and rows_b are those of all matrices of the batch, as they lie
// in memory.
KERNEL void __launch_bounds__(256)
gemm_pack(const T *__restrict__ a, const T *__restrict__ b, int64 rows_a, int64 columns_a, int64 lda, int64 rows_b, int64 columns_b,
          int64 ldb, T *__restrict__ packed_a, T *__restrict__ packed_b)
{
    START_NEXT;
    uint32 at = blockIdx.x * 256 + threadIdx.x;
    uint32 of_a = (uint32)(rows_a * ((columns_a + 7) / 8)), of_b = (uint32)(rows_b * ((columns_b + 7) / 8));
    if (at < of_a)
        pack_eight(packed_a, a, at, (uint32)columns_a, lda);
    else if (at - of_a < of_b)
        pack_eight(packed_b, b, at - of_a, (uint32)columns_b, ldb);
}
