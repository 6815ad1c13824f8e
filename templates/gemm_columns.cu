// C = alpha op(A) op(B) + beta C for few rows: B is read once, as it lies. LANES neighbouring threads take VEC columns each; the
// lines of LANES threads of a block take DEEP rows of B in turn, and are added at the end. A thread has ROWS rows of C. Several
// blocks may share columns: gemm_parts.h; or the CLUSTER blocks of a cluster do. WIDE_A, WIDE_B: rows of A, of B are whole words of 16 bytes.
// SWAP: for few columns, and A transposed, the same of C' = B' A'; A and B have changed places, and so have m and n.
#include "numbers.h"
#include "gemm_parts.h"
#ifdef CLUSTER // all in one launch
#include "gemm_cluster.h"
#define CLUSTERED __cluster_dims__(CLUSTER, 1, 1)
#else
#define CLUSTER 1
#define CLUSTERED
#endif

#define PACK (16 / T_bytes)
#define VEC (WIDE_B ? PACK : 1)
#define VEC_A (WIDE_A ? PACK : 1)
#define LINES (BLOCK / LANES)
#define WIDTH (LANES * VEC) // columns of a block
#define SUMS (ROWS * WIDTH) // of a block
#define EACH (BLOCK / SUMS > LINES ? LINES : BLOCK / SUMS > 1 ? BLOCK / SUMS : 1) // threads that add one of them
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

KERNEL void CLUSTERED __launch_bounds__(BLOCK)
gemm_columns(GLOBAL T *__restrict__ c, T_acc alpha, GLOBAL const T *__restrict__ a_given, GLOBAL const T *__restrict__ b_given,
             T_acc beta, int64 m_given, int64 n_given, int64 k, int64 lda_given, int64 ldb_given, int64 ldc, int64 batch, int64 parts,
             GLOBAL T_acc *__restrict__ partial DYNAMIC_SHARED_PARAM)
{
    DYNAMIC_SHARED(T_acc, sums);
    GLOBAL const T *__restrict__ a = SWAP ? b_given : a_given, *__restrict__ b = SWAP ? a_given : b_given;
    int64 m = SWAP ? n_given : m_given, n = SWAP ? m_given : n_given;
    int64 lda = SWAP ? ldb_given : lda_given, ldb = SWAP ? lda_given : ldb_given;
    uint32 across = (uint32)((n + WIDTH - 1) / WIDTH), tiles = across * (uint32)((m + ROWS - 1) / ROWS);
    uint32 place = blockIdx.x / CLUSTER, rank = blockIdx.x % CLUSTER; // of a cluster only one of its blocks' slices differs
    uint32 tile = place % tiles, part = place / tiles % (uint32)parts, matrix = place / tiles / (uint32)parts;
    int64 slice = part * CLUSTER + rank, slices = parts * CLUSTER;
    int64 top = (int64)(tile / across) * ROWS, left = (int64)(tile % across) * WIDTH;
    int64 begin = part_begin(k, slice, slices, 16), end = part_begin(k, slice + 1, slices, 16);
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
#if EACH > 1 // else a thread has a sum or more to itself
    if (t < EACH * SUMS) {
        for (int l = t / SUMS + EACH; l < LINES; l += EACH)
            sums[t] += sums[l * SUMS + t % SUMS];
    }
    __syncthreads();
#endif
    for (int o = t; o < SUMS; o += BLOCK) {
        T_acc total = sums[o];
        for (int l = 1; l < (EACH > 1 ? EACH : LINES); l++)
            total += sums[l * SUMS + o];
#if CLUSTER > 1
        sums[o] = total;
    }
    CLUSTER_ARRIVE();
    CLUSTER_WAIT();
    for (int o = t; o < SUMS && rank == 0; o += BLOCK) {
        T_acc total = sums[o], more[CLUSTER];
#pragma unroll
        for (int r = 1; r < CLUSTER; r++) // all are on their way at once
            more[r] = theirs(sums, r)[o];
#pragma unroll
        for (int r = 1; r < CLUSTER; r++)
            total += more[r];
#endif
        int64 i = top + o / WIDTH, column = left + o % WIDTH;
        if (i < m && column < n && parts > 1)
            partial[AT_C(i, column, n_given)] = total;
        else if (i < m && column < n)
            c_put(c, AT_C(i, column, ldc), alpha, total, beta);
    }
#if CLUSTER > 1
    CLUSTER_ARRIVE();
    CLUSTER_WAIT(); // nobody ends while his sums are read
#endif
}
