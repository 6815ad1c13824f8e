// C = alpha op(A) op(B) + beta C for few columns: A is read once, as it lies. LANES neighbouring threads take ROWS rows of A, each
// VEC elements of a row at a time, ITEMS such packs on their way, and COLS columns of B. Several blocks may share rows:
// gemm_parts.h.
// WIDE_A: rows of A are whole words of 16 bytes.
// SWAP: for few rows, and B transposed, the same of C' = B' A'; A and B have changed places, and so have m and n.
#include "numbers.h"
#include "gemm_parts.h"

#define VEC (WIDE_A ? 16 / T_bytes : 1)
#define LINES (BLOCK / LANES)
#ifdef BACKEND_CUDA // threads whose sums are added by shuffles
#define GROUP (LANES < 32 ? LANES : 32)
#else
#define GROUP 1
#endif
#define GROUPS (LANES / GROUP)
#define STRIDE (LANES * VEC) // from a thread's pack to its next one
#define TURNED (SWAP ? !TA : TB) // B lies in memory as n x k
#define AT_C(i, j, ld) (SWAP ? (j) * (ld) + (i) : (i) * (ld) + (j))

struct __attribute__((aligned(VEC * T_bytes))) pack {
    T e[VEC];
};

// The rows of B that belong to a pack of A at p, a row after the other.
DEVICE void rows_of_b(T v[VEC * COLS], GLOBAL const T *b, int64 n, int64 ldb, int64 p, int64 left)
{
#if TURNED
#pragma unroll
    for (int c = 0; c < COLS; c++) {
        struct pack column = *(GLOBAL const struct pack *)(b + min(left + c, n - 1) * ldb + p);
#pragma unroll
        for (int e = 0; e < VEC; e++)
            v[e * COLS + c] = column.e[e];
    }
#else
    if (n == COLS && ldb == COLS) {
#pragma unroll
        for (int c = 0; c < COLS; c++)
            *(struct pack *)&v[c * VEC] = *(GLOBAL const struct pack *)(b + p * COLS + c * VEC);
    } else {
#pragma unroll
        for (int e = 0; e < VEC; e++)
#pragma unroll
            for (int c = 0; c < COLS; c++)
                v[e * COLS + c] = b[(p + e) * ldb + min(left + c, n - 1)]; // columns behind the edge are not stored
    }
#endif
}

DEVICE void add(T_acc sum[ROWS][COLS], int r, const struct pack *a, const T *b)
{
#pragma unroll
    for (int e = 0; e < VEC; e++)
#pragma unroll
        for (int c = 0; c < COLS; c++)
            sum[r][c] += T_from(a->e[e]) * T_from(b[e * COLS + c]);
}

KERNEL void __launch_bounds__(BLOCK)
gemm_rows(GLOBAL T *__restrict__ c, T_acc alpha, GLOBAL const T *__restrict__ a_given, GLOBAL const T *__restrict__ b_given,
          T_acc beta, int64 m_given, int64 n_given, int64 k, int64 lda_given, int64 ldb_given, int64 ldc, int64 batch, int64 parts,
          GLOBAL T_acc *__restrict__ partial)
{
    __shared__ T_acc sums[LINES * ROWS * COLS * GROUPS];
    GLOBAL const T *__restrict__ a = SWAP ? b_given : a_given, *__restrict__ b = SWAP ? a_given : b_given;
    int64 m = SWAP ? n_given : m_given, n = SWAP ? m_given : n_given;
    int64 lda = SWAP ? ldb_given : lda_given, ldb = SWAP ? lda_given : ldb_given;
    uint32 across = (uint32)((n + COLS - 1) / COLS), tiles = across * (uint32)((m + LINES * ROWS - 1) / (LINES * ROWS));
    uint32 tile = blockIdx.x % tiles, part = blockIdx.x / tiles % (uint32)parts, matrix = blockIdx.x / tiles / (uint32)parts;
    int t = threadIdx.x, lane = t % LANES;
    int64 top = ((int64)(tile / across) * LINES + t / LANES) * ROWS, left = (int64)(tile % across) * COLS;
    int64 begin = part_begin(k, part, parts, STRIDE), end = part_begin(k, part + 1, parts, STRIDE);
    a += matrix * m * lda;
    b += matrix * (TURNED ? n : k) * ldb;
    c += matrix * m_given * ldc;
    partial += (part * batch + matrix) * m * n;

    T_acc sum[ROWS][COLS];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int s = 0; s < COLS; s++)
            sum[r][s] = 0;

    int64 p = begin + lane * VEC;
    struct pack held[ITEMS][ROWS];
    struct __attribute__((aligned(16))) {
        T e[VEC * COLS];
    } other;
    for (; p + (ITEMS - 1) * STRIDE < end; p += ITEMS * STRIDE) {
#pragma unroll
        for (int q = 0; q < ITEMS; q++)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                held[q][r] = *(GLOBAL const struct pack *)(a + min(top + r, m - 1) * lda + p + q * STRIDE);
#pragma unroll
        for (int q = 0; q < ITEMS; q++) {
            rows_of_b(other.e, b, n, ldb, p + q * STRIDE, left);
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                add(sum, r, &held[q][r], other.e);
        }
    }
    for (; p < end; p += STRIDE) {
        rows_of_b(other.e, b, n, ldb, p, left);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            held[0][r] = *(GLOBAL const struct pack *)(a + min(top + r, m - 1) * lda + p);
            add(sum, r, &held[0][r], other.e);
        }
    }

#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int s = 0; s < COLS; s++) {
            T_acc v = sum[r][s];
#ifdef BACKEND_CUDA
#pragma unroll
            for (int w = GROUP / 2; w > 0; w /= 2)
                v += __shfl_xor_sync(0xffffffff, v, w);
#endif
            if (t % GROUP == 0)
                sums[((t / LANES * ROWS + r) * COLS + s) * GROUPS + lane / GROUP] = v;
        }
    __syncthreads();
    for (int o = t; o < LINES * ROWS * COLS; o += BLOCK) {
        T_acc v = sums[o * GROUPS];
        for (int g = 1; g < GROUPS; g++)
            v += sums[o * GROUPS + g];
        int64 i = (int64)(tile / across) * (LINES * ROWS) + o / COLS, j = left + o % COLS;
        if (i < m && j < n && parts > 1)
            partial[AT_C(i, j, n_given)] = v;
        else if (i < m && j < n)
            c_put(c, AT_C(i, j, ldc), alpha, v, beta);
    }
}
