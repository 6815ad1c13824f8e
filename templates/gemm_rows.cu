// C = A B for few columns: A is read once, as it lies. LANES neighbouring threads take ROWS rows of A, each VEC elements of a row at
// a time, ITEMS such packs on their way, and COLS columns of B. Several blocks may share rows: gemm_parts.h.
// WIDE_A: rows of A are whole words of 16 bytes.
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

struct __attribute__((aligned(VEC * T_bytes))) pack {
    T e[VEC];
};

// The rows of B that belong to a pack of A at p, a row after the other.
DEVICE void rows_of_b(T v[VEC * COLS], GLOBAL const T *b, int64 n, int64 p, int64 left)
{
    if (n == COLS) {
#pragma unroll
        for (int c = 0; c < COLS; c++)
            *(struct pack *)&v[c * VEC] = *(GLOBAL const struct pack *)(b + p * COLS + c * VEC);
    } else {
#pragma unroll
        for (int e = 0; e < VEC; e++)
#pragma unroll
            for (int c = 0; c < COLS; c++)
                v[e * COLS + c] = b[(p + e) * n + min(left + c, n - 1)]; // columns behind the edge are not stored
    }
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
gemm_rows(GLOBAL T *__restrict__ c, GLOBAL const T *__restrict__ a, GLOBAL const T *__restrict__ b, int64 m, int64 n, int64 k,
          int64 parts, GLOBAL T_acc *__restrict__ partial)
{
    __shared__ T_acc sums[LINES * ROWS * COLS * GROUPS];
    uint32 across = (uint32)((n + COLS - 1) / COLS), tiles = across * (uint32)((m + LINES * ROWS - 1) / (LINES * ROWS));
    uint32 part = blockIdx.x / tiles, tile = blockIdx.x % tiles;
    int t = threadIdx.x, lane = t % LANES;
    int64 top = ((int64)(tile / across) * LINES + t / LANES) * ROWS, left = (int64)(tile % across) * COLS;
    int64 begin = part_begin(k, part, parts, STRIDE), end = part_begin(k, part + 1, parts, STRIDE);

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
                held[q][r] = *(GLOBAL const struct pack *)(a + min(top + r, m - 1) * k + p + q * STRIDE);
#pragma unroll
        for (int q = 0; q < ITEMS; q++) {
            rows_of_b(other.e, b, n, p + q * STRIDE, left);
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                add(sum, r, &held[q][r], other.e);
        }
    }
    for (; p < end; p += STRIDE) {
        rows_of_b(other.e, b, n, p, left);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            held[0][r] = *(GLOBAL const struct pack *)(a + min(top + r, m - 1) * k + p);
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
            partial[(part * m + i) * n + j] = v;
        else if (i < m && j < n)
            T_put(c, i * n + j, v);
    }
}
