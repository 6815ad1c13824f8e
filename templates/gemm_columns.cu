// C = alpha op(A) op(B) + beta C for few rows: B is read once, as it lies. LANES neighbouring threads take VEC columns each; the
// lines of LANES threads of a block take DEEP rows of B in turn, and are added at the end. A thread has ROWS rows of C. Several
// blocks may share columns: gemm_parts.h. WIDE_A, WIDE_B: rows of A, of B are whole words of 16 bytes.
// SWAP: for few columns, and A transposed, the same of C' = B' A'; A and B have changed places, and so have m and n.
#include "numbers.h"
#include "gemm_parts.h"

#define PACK (16 / T_bytes)
#define VEC (WIDE_B ? PACK : 1)
#define VEC_A (WIDE_A ? PACK : 1)
#define LINES (BLOCK / LANES)
#define WIDTH (LANES * VEC) // columns of a block
#define TURNED (SWAP ? !TB : TA) // A lies in memory as k x m
#define AT_A(i, p) (TURNED ? (p)*lda + (i) : (i)*lda + (p))
#define AT_C(i, j, ld) (SWAP ? (j) * (ld) + (i) : (i) * (ld) + (j))

struct __attribute__((aligned(VEC * T_bytes))) pack_b {
    T e[VEC];
};
struct __attribute__((aligned(VEC_A * T_bytes))) pack_a {
    T e[VEC_A];
};

DEVICE void add(T_acc sum[ROWS][VEC], int r, T_acc a, const struct pack_b *b)
{
#pragma unroll
    for (int e = 0; e < VEC; e++)
        sum[r][e] += a * T_from(b->e[e]);
}

KERNEL void __launch_bounds__(BLOCK)
gemm_columns(GLOBAL T *__restrict__ c, T_acc alpha, GLOBAL const T *__restrict__ a_given, GLOBAL const T *__restrict__ b_given,
             T_acc beta, int64 m_given, int64 n_given, int64 k, int64 lda_given, int64 ldb_given, int64 ldc, int64 batch, int64 parts,
             GLOBAL T_acc *__restrict__ partial DYNAMIC_SHARED_PARAM)
{
    DYNAMIC_SHARED(T_acc, sums);
    GLOBAL const T *__restrict__ a = SWAP ? b_given : a_given, *__restrict__ b = SWAP ? a_given : b_given;
    int64 m = SWAP ? n_given : m_given, n = SWAP ? m_given : n_given;
    int64 lda = SWAP ? ldb_given : lda_given, ldb = SWAP ? lda_given : ldb_given;
    uint32 across = (uint32)((n + WIDTH - 1) / WIDTH), tiles = across * (uint32)((m + ROWS - 1) / ROWS);
    uint32 tile = blockIdx.x % tiles, part = blockIdx.x / tiles % (uint32)parts, matrix = blockIdx.x / tiles / (uint32)parts;
    int64 top = (int64)(tile / across) * ROWS, left = (int64)(tile % across) * WIDTH;
    int64 begin = part_begin(k, part, parts, 16), end = part_begin(k, part + 1, parts, 16);
    int t = threadIdx.x, lane = t % LANES, line = t / LANES;
    int64 j = min(left + lane * VEC, n - VEC); // threads behind the edge repeat the last columns: that is not stored
    if (batch > 1) { // without this the compiler has fewer loads on their way below
        a += matrix * (TURNED ? k : m) * lda;
        b += matrix * k * ldb;
        c += matrix * m_given * ldc;
    }
    partial += (part * batch + matrix) * m * n;

    T_acc sum[ROWS][VEC];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int e = 0; e < VEC; e++)
            sum[r][e] = 0;

    int64 p = begin + line * DEEP;
    GLOBAL const T *from = b + p * ldb + j;
    for (; p + DEEP <= end; p += LINES * DEEP, from += LINES * DEEP * ldb) {
        struct pack_b held[DEEP];
#pragma unroll
        for (int s = 0; s < DEEP; s++)
            held[s] = *(GLOBAL const struct pack_b *)(from + s * ldb);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int s = 0; s < DEEP; s += VEC_A) {
                struct pack_a row = *(GLOBAL const struct pack_a *)(a + AT_A(min(top + r, m - 1), p + s));
#pragma unroll
                for (int e = 0; e < VEC_A; e++)
                    add(sum, r, T_from(row.e[e]), &held[s + e]);
            }
    }
    for (; p < end; p++, from += ldb) { // what is left of the last rows; one line at most has some
        struct pack_b held = *(GLOBAL const struct pack_b *)from;
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            add(sum, r, T_get(a, AT_A(min(top + r, m - 1), p)), &held);
    }

#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int e = 0; e < VEC; e++)
            sums[(line * ROWS + r) * WIDTH + lane * VEC + e] = sum[r][e];
    __syncthreads();
    for (int o = t; o < ROWS * WIDTH; o += BLOCK) {
        T_acc total = sums[o];
        for (int l = 1; l < LINES; l++)
            total += sums[l * ROWS * WIDTH + o];
        int64 i = top + o / WIDTH, column = left + o % WIDTH;
        if (i < m && column < n && parts > 1)
            partial[AT_C(i, column, n_given)] = total;
        else if (i < m && column < n)
            c_put(c, AT_C(i, column, ldc), alpha, total, beta);
    }
}
