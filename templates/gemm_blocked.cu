// C = alpha op(A) op(B) + beta C: a block computes TILE_M x TILE_N elements of C from tiles in shared memory, TILE_K deep; a warp
// of LANES_Y x LANES_X threads computes a part of that, a thread ITEMS_M x ITEMS_N elements in registers. While a tile is used, the
// next one is on its way: into registers, or if there are more STAGES than 2, by cp.async, into shared memory. Several blocks may share
// a tile of C: gemm_parts.h. Or the CLUSTER blocks of a cluster do, each over a part of k, and add their sums in each other's shared
// memory. WIDE_A, WIDE_B: rows of A, of B are whole words of 16 bytes, as they lie in memory; if B is not transposed those of C, too.
// With STREAM parts of k may have any length: gemm_stream.h. With MMA_K it is for f64, by the tensor cores: gemm_dmma.h.
//
// In shared memory the rows of A and the columns of B that are used in the same step lie side by side, so that a thread reads several at
// once. Where memory has them along k, elements are moved there one by one. cp.async of 16 bytes cannot do that: then the tile stays along
// k (A_ALONG_K, B_ALONG_K), and what a thread reads of a row or column is for several steps.
#include "numbers.h"
#ifdef STREAM
#include "gemm.h"
#else
#include "gemm_parts.h"
#endif

#ifndef CLUSTER
#define CLUSTER 1
#endif
#ifndef STAGES
#define STAGES 2
#endif
#ifndef MMA_K
#define MMA_K 0
#endif
#define PARTS (FILL == 0 ? 1 : parts)
#define ACC_BYTES (T_bytes < 4 ? 4 : T_bytes)
#define VEC_A (WIDE_A ? 16 / T_bytes : 1)
#define VEC_B (WIDE_B ? 16 / T_bytes : 1)
#if MMA_K
#define STEPS MMA_K // of k that a warp makes at a time
#define LANES_X 4
#define LANE_X (lane % 4)
#define LANE_Y (lane / 4)
#else
#define STEPS 1
// Of four neighbouring lanes two have the same row and two the same column: a warp's loads of 16 bytes from shared memory are faster so.
#define LANE_X (lane / 4 % (LANES_X / 2) * 2 + lane % 2)
#define LANE_Y (lane / (2 * LANES_X) * 2 + lane / 2 % 2)
#endif
#define LANES_Y (32 / LANES_X)
#define WARPS_X (TILE_N / (LANES_X * ITEMS_N))
#define THREADS (TILE_M * TILE_N / (ITEMS_M * ITEMS_N))
#define A_ALONG_K (STAGES > 2 && WIDE_A && !TA)
#define B_ALONG_K (STAGES > 2 && WIDE_B && TB)
#define WORD (16 / ACC_BYTES) // elements of a word in shared memory; along k steps that a thread reads at a time
// FRAG: neighbouring rows, columns of a thread.
#define FRAG_M (A_ALONG_K || MMA_K ? 1 : ITEMS_M < WORD ? ITEMS_M : WORD)
#define FRAG_N (B_ALONG_K && !MMA_K ? 1 : ITEMS_N < WORD ? ITEMS_N : WORD)
// How far apart neighbouring rows, columns and steps of k are in shared memory; padded against bank conflicts.
#define PAD_K (MMA_K ? 4 : WORD)
#define NEXT_ROW_A (A_ALONG_K ? TILE_K + PAD_K : 1)
#define NEXT_STEP_A (A_ALONG_K ? 1 : TILE_M + 4)
#define NEXT_COLUMN_B (B_ALONG_K ? TILE_K + PAD_K : 1)
#define NEXT_STEP_B (B_ALONG_K ? 1 : TILE_N + (TB || MMA_K ? 4 : 0))
#define TILE_B (A_ALONG_K ? TILE_M * NEXT_ROW_A : TILE_K * NEXT_STEP_A) // where B begins
#define STAGE (TILE_B + (B_ALONG_K ? TILE_N * NEXT_COLUMN_B : TILE_K * NEXT_STEP_B))
#define PLACE_A(row, depth) ((depth) * NEXT_STEP_A + (row) * NEXT_ROW_A)
#define PLACE_B(depth, column) ((depth) * NEXT_STEP_B + (column) * NEXT_COLUMN_B) // from TILE_B on
// How far below its first row a thread's r-th row lies.
#define ROW(r) ((r) / FRAG_M * FRAG_M * LANES_Y + (r) % FRAG_M)
// Packs of A and B in a tile, and how many of them a thread loads at the most.
#define PACKS_A (TILE_M * TILE_K / VEC_A)
#define PACKS_B (TILE_N * TILE_K / VEC_B)
#define LOADS_A ((PACKS_A + THREADS - 1) / THREADS)
#define LOADS_B ((PACKS_B + THREADS - 1) / THREADS)
#define HAS_LOAD(l, packs) (((l) + 1) * THREADS <= (packs) || (l) * THREADS + (int)thread < (packs)) // whether there is an l-th one
// Of a thread's l-th pack of A or B the first element: its row of A or column of B, and its depth in the tile. A pack is a part of what is
// a row in memory: it goes down if A is as it is or B transposed, else across.
// Where one of THREADS and the width of such a row divides the other, all but a constant is the same for each l.
#define LINE(l, width)                                                                                                              \
    (THREADS % (width) == 0   ? (l) * (THREADS / (width)) + thread / (width)                                                        \
     : (width) % THREADS == 0 ? (l) / (((width) + THREADS - 1) / THREADS)                                                           \
                              : ((l) * THREADS + thread) / (width))
#define PLACE(l, width)                                                                                                             \
    (THREADS % (width) == 0   ? thread % (width)                                                                                    \
     : (width) % THREADS == 0 ? (l) % (((width) + THREADS - 1) / THREADS) * THREADS + thread                                        \
                              : ((l) * THREADS + thread) % (width))
#if TA
#define ACROSS_A(l) (PLACE(l, TILE_M / VEC_A) * VEC_A)
#define DEPTH_A(l) LINE(l, TILE_M / VEC_A)
#else
#define ACROSS_A(l) LINE(l, TILE_K / VEC_A)
#define DEPTH_A(l) (PLACE(l, TILE_K / VEC_A) * VEC_A)
#endif
#if TB
#define ACROSS_B(l) LINE(l, TILE_K / VEC_B)
#define DEPTH_B(l) (PLACE(l, TILE_K / VEC_B) * VEC_B)
#else
#define ACROSS_B(l) (PLACE(l, TILE_N / VEC_B) * VEC_B)
#define DEPTH_B(l) LINE(l, TILE_N / VEC_B)
#endif

struct __attribute__((aligned(VEC_A * T_bytes))) pack_a {
    T e[VEC_A];
};
struct __attribute__((aligned(VEC_B * T_bytes))) pack_b {
    T e[VEC_B];
};
struct __attribute__((aligned(16))) word {
    T_acc e[WORD];
};
struct __attribute__((aligned(FRAG_M * ACC_BYTES))) frag_m {
    T_acc e[FRAG_M];
};
struct __attribute__((aligned(FRAG_N * ACC_BYTES))) frag_n {
    T_acc e[FRAG_N];
};
struct __attribute__((aligned(FRAG_N * T_bytes))) frag_out {
    T e[FRAG_N];
};

#if STAGES > 2
// Puts `bytes` bytes into shared memory, zeros if not `there`.
DEVICE void copy_async(uint32 to, const T *from, int bytes, bool there)
{
    int size = there ? bytes : 0;
    if (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(size) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(T_bytes), "r"(size) : "memory");
}

// `room`: how deep the tile is; `whole`: it is TILE_K.
DEVICE void fetch(uint32 stage, const T *a, const T *b, const uint32 *at_a, const uint32 *at_b, int room, bool whole, uint32 thread)
{
#pragma unroll
    for (uint32 l = 0; l < LOADS_A; l++) {
        bool there = whole || (int)DEPTH_A(l) < room;
        if (HAS_LOAD(l, PACKS_A))
            copy_async(stage + PLACE_A(ACROSS_A(l), DEPTH_A(l)) * ACC_BYTES, there ? a + at_a[l] : a, VEC_A * T_bytes, there);
    }
#pragma unroll
    for (uint32 l = 0; l < LOADS_B; l++) {
        bool there = whole || (int)DEPTH_B(l) < room;
        if (HAS_LOAD(l, PACKS_B))
            copy_async(stage + (TILE_B + PLACE_B(DEPTH_B(l), ACROSS_B(l))) * ACC_BYTES, there ? b + at_b[l] : b, VEC_B * T_bytes, there);
    }
}
#else
struct held {
    struct pack_a a[LOADS_A];
    struct pack_b b[LOADS_B];
};

// `room`: how deep the tile is; `whole`: it is TILE_K.
DEVICE void fetch(struct held *h, GLOBAL const T *a, GLOBAL const T *b, const uint32 *at_a, const uint32 *at_b, int room, bool whole,
                  int thread)
{
#pragma unroll
    for (int l = 0; l < LOADS_A; l++) {
        if (whole || DEPTH_A(l) < room)
            h->a[l] = *(GLOBAL const struct pack_a *)(a + at_a[l]);
        else
            for (int e = 0; e < VEC_A; e++)
                h->a[l].e[e] = 0;
    }
#pragma unroll
    for (int l = 0; l < LOADS_B; l++) {
        if (whole || DEPTH_B(l) < room)
            h->b[l] = *(GLOBAL const struct pack_b *)(b + at_b[l]);
        else
            for (int e = 0; e < VEC_B; e++)
                h->b[l].e[e] = 0;
    }
}

DEVICE void store(SHARED T_acc *stage, const struct held *h, int thread)
{
#pragma unroll
    for (int l = 0; l < LOADS_A; l++)
#pragma unroll
        for (int e = 0; e < VEC_A; e++)
            stage[PLACE_A(ACROSS_A(l) + (TA ? e : 0), DEPTH_A(l) + (TA ? 0 : e))] = T_from(h->a[l].e[e]);
#pragma unroll
    for (int l = 0; l < LOADS_B; l++)
#if WIDE_B && !TB
#pragma unroll
        for (int f = 0; f < VEC_B; f += FRAG_N) {
            struct frag_n v;
            for (int e = 0; e < FRAG_N; e++)
                v.e[e] = T_from(h->b[l].e[f + e]);
            *(SHARED struct frag_n *)(stage + TILE_B + PLACE_B(DEPTH_B(l), ACROSS_B(l) + f)) = v;
        }
#else
#pragma unroll
        for (int e = 0; e < VEC_B; e++)
            stage[TILE_B + PLACE_B(DEPTH_B(l) + e, ACROSS_B(l))] = T_from(h->b[l].e[e]);
#endif
}
#endif

#if MMA_K
#include "gemm_dmma.h"
#else
// What a thread needs for a step of the inner product, and what it has for the next.
struct frags {
    T_acc row[2][ITEMS_M], column[2][ITEMS_N];
#if A_ALONG_K
    struct word rows[ITEMS_M];
#endif
#if B_ALONG_K
    struct word columns[ITEMS_N];
#endif
};

// first_a, first_b: where in a stage the thread's first elements of A and of B lie.
DEVICE void load(struct frags *f, SHARED const T_acc *stage, int q, int first_a, int first_b)
{
#pragma unroll
    for (int r = 0; r < ITEMS_M; r += FRAG_M) {
        SHARED const T_acc *at = stage + first_a + PLACE_A(r * LANES_Y, q);
#if A_ALONG_K
        if (q % WORD == 0)
            f->rows[r] = *(const struct word *)at;
        f->row[q % 2][r] = f->rows[r].e[q % WORD];
#else
        struct frag_m v = *(SHARED const struct frag_m *)at;
#pragma unroll
        for (int e = 0; e < FRAG_M; e++)
            f->row[q % 2][r + e] = v.e[e];
#endif
    }
#pragma unroll
    for (int s = 0; s < ITEMS_N; s += FRAG_N) {
        SHARED const T_acc *at = stage + first_b + PLACE_B(q, s * LANES_X);
#if B_ALONG_K
        if (q % WORD == 0)
            f->columns[s] = *(const struct word *)at;
        f->column[q % 2][s] = f->columns[s].e[q % WORD];
#else
        struct frag_n v = *(SHARED const struct frag_n *)at;
#pragma unroll
        for (int e = 0; e < FRAG_N; e++)
            f->column[q % 2][s + e] = v.e[e];
#endif
    }
}

DEVICE void multiply(T_acc sum[ITEMS_M][ITEMS_N], const struct frags *f, int q)
{
    // To and fro, so that each product shares a factor with the one before it: fewer registers are read at a time.
#pragma unroll
    for (int r = 0; r < ITEMS_M; r++)
#pragma unroll
        for (int p = 0; p < ITEMS_N; p++) {
            int s = r % 2 ? ITEMS_N - 1 - p : p;
            sum[r][s] += f->row[q % 2][r] * f->column[q % 2][s];
        }
}
#endif

// All steps of a tile but the last, each while the next one's elements are loaded.
DEVICE void compute(T_acc sum[ITEMS_M][ITEMS_N], struct frags *f, SHARED const T_acc *stage, int first_a, int first_b)
{
#pragma unroll
    for (int q = 0; q < TILE_K / STEPS - 1; q++) {
        load(f, stage, q + 1, first_a, first_b);
        multiply(sum, f, q);
    }
}

struct to {
    GLOBAL T *c;
    T_acc alpha, beta;
    GLOBAL T_acc *partial; // null: the sums go to C
    int64 n, ldc;
    bool whole; // rows are whole words: always with WIDE_B, if B is not transposed
};

// The element in row i and column j of C, and those behind it: `count` of them, or FRAG_N.
DEVICE void put(const struct to *to, int64 i, int64 j, const T_acc *v, int count)
{
    int64 at = to->partial ? i * to->n + j : i * to->ldc + j;
#if WIDE_B
    if (to->whole) {
        if (j >= to->n)
            return;
        if (to->partial) {
            struct frag_n out;
            for (int e = 0; e < FRAG_N; e++)
                out.e[e] = v[e];
            *(GLOBAL struct frag_n *)(to->partial + at) = out;
        } else {
            struct frag_out out;
            if (to->beta != 0)
                out = *(GLOBAL const struct frag_out *)(to->c + at);
            for (int e = 0; e < FRAG_N; e++)
                out.e[e] = T_to(to->beta == 0 ? to->alpha * v[e] : mixed(to->alpha, v[e], to->beta, T_from(out.e[e])));
            *(GLOBAL struct frag_out *)(to->c + at) = out;
        }
        return;
    }
#endif
#pragma unroll
    for (int e = 0; e < count; e++) {
        if (j + e < to->n && to->partial)
            to->partial[at + e] = v[e];
        else if (j + e < to->n)
            c_put(to->c, at + e, to->alpha, v[e], to->beta);
    }
}

#if CLUSTER > 1
#include "gemm_cluster.h"
#define JOINED (WIDE_B ? FRAG_N : 1) // neighbouring elements of C that a thread adds up
#define ALL (TILE_M * TILE_N / JOINED)
#define SHARE ((ALL / THREADS + CLUSTER - 1) / CLUSTER) // of those a thread has so many, at the most
#define EVEN (SHARE * CLUSTER * THREADS == ALL)
struct __attribute__((aligned(JOINED * ACC_BYTES))) joined {
    T_acc e[JOINED];
};
#define CLUSTER_DIMS __cluster_dims__(CLUSTER)
#else
#define CLUSTER_DIMS
#endif

#ifdef BACKEND_CUDA // so many registers a thread that this many blocks fit on a multiprocessor
#define SUMS (ITEMS_M * ITEMS_N * ACC_BYTES / 4)
#if MMA_K
#define NEEDED (SUMS + MMA_K * (ITEMS_M + ITEMS_N / 2) + LOADS_A + LOADS_B + 24)
#define WANTED (NEEDED < 64 ? 64 : NEEDED) // an mma takes no less than 56
#else
#define WORDS ((A_ALONG_K * ITEMS_M + B_ALONG_K * ITEMS_N) * (WORD - 1) * ACC_BYTES / 4) // along k, but for the elements in use
#define WANTED ((SUMS >= 128 ? 256 : SUMS >= 64 ? 128 : SUMS >= 32 ? 96 : 64) + WORDS)
#endif
#define REGISTERS (WANTED < 256 ? WANTED : 256)
#ifdef STREAM
#define PER_SM FILL
#else
#define PER_SM (65536 / (THREADS * REGISTERS))
#endif
#define BOUNDS CLUSTER_DIMS __launch_bounds__(THREADS, PER_SM)
#else
#define BOUNDS
#endif

// A thread's first row and column in a tile of C.
DEVICE int first_row(int thread)
{
    int lane = thread % 32, warp = thread / 32;
    return warp / WARPS_X * (LANES_Y * ITEMS_M) + LANE_Y * FRAG_M;
}
DEVICE int first_column(int thread)
{
    int lane = thread % 32, warp = thread / 32;
    return warp % WARPS_X * (LANES_X * ITEMS_N) + LANE_X * FRAG_N;
}

// What a block sums at a time: the steps of k from `begin` to `end`, for the tile of C from row `top` and column `left` on.
struct part {
    int64 matrix, top, left, begin, end;
};

DEVICE void sum_up(T_acc sum[ITEMS_M][ITEMS_N], const struct part *p, GLOBAL const T *a, GLOBAL const T *b, int64 m, int64 n, int64 k,
                   int64 lda, int64 ldb, SHARED T_acc *stages)
{
    int thread = threadIdx.x;
#if MMA_K
    int lane = thread % 32, warp = thread / 32;
    int first_a = PLACE_A(first_row(thread), lane % 4);
    int first_b = TILE_B + PLACE_B(lane % 4, warp % WARPS_X * (LANES_X * ITEMS_N) + lane / 4);
#else
    int first_a = PLACE_A(first_row(thread), 0), first_b = TILE_B + PLACE_B(0, first_column(thread));
#endif

    const struct edge rows = edge_of(p->top, TILE_M, m), columns = edge_of(p->left, TILE_N, n);
    uint32 at_a[LOADS_A], at_b[LOADS_B];
#pragma unroll
    for (int l = 0; l < LOADS_A; l++) {
        uint32 i = inside(&rows, ACROSS_A(l));
        at_a[l] = TA ? (uint32)DEPTH_A(l) * (uint32)lda + i : i * (uint32)lda + DEPTH_A(l);
    }
#pragma unroll
    for (int l = 0; l < LOADS_B; l++) {
        uint32 j = inside(&columns, ACROSS_B(l));
        at_b[l] = TB ? j * (uint32)ldb + DEPTH_B(l) : (uint32)DEPTH_B(l) * (uint32)ldb + j;
    }
    a += TA ? (p->matrix * k + p->begin) * lda + rows.low : (p->matrix * m + rows.low) * lda + p->begin;
    b += TB ? (p->matrix * n + columns.low) * ldb + p->begin : (p->matrix * k + p->begin) * ldb + columns.low;

#pragma unroll
    for (int r = 0; r < ITEMS_M; r++)
#pragma unroll
        for (int s = 0; s < ITEMS_N; s++)
            sum[r][s] = 0;

    int room = (int)(p->end - p->begin); // what is left; k has 31 bits
    int64 down_a = TA ? TILE_K * lda : TILE_K, down_b = TB ? TILE_K : TILE_K * ldb;
#if STAGES > 2
    uint32 base = (uint32)__cvta_generic_to_shared(stages);
#define FETCH(s)                                                                                                                    \
    do {                                                                                                                            \
        if (room >= TILE_K)                                                                                                         \
            fetch(base + (s)*STAGE * ACC_BYTES, a, b, at_a, at_b, room, true, thread);                                                \
        else if (room > 0)                                                                                                          \
            fetch(base + (s)*STAGE * ACC_BYTES, a, b, at_a, at_b, room, false, thread);                                               \
        a += down_a;                                                                                                                \
        b += down_b;                                                                                                                \
        room -= TILE_K;                                                                                                             \
    } while (0)
    int steps = (room + TILE_K - 1) / TILE_K;
    for (int s = 0; s < STAGES - 1; s++) {
        FETCH(s);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    int now = 0, next = STAGES - 1;
    struct frags f;
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    load(&f, stages, 0, first_a, first_b);
    for (int step = 0; step < steps; step++) {
        FETCH(next);
        asm volatile("cp.async.commit_group;" ::: "memory");
        compute(sum, &f, stages + now * STAGE, first_a, first_b);
        now = now + 1 < STAGES ? now + 1 : 0;
        next = next + 1 < STAGES ? next + 1 : 0;
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads(); // the next tile is here, and nobody uses this one any more
        load(&f, stages + now * STAGE, 0, first_a, first_b); // behind the end it is not used
        multiply(sum, &f, TILE_K / STEPS - 1);
    }
#else
    struct held held;
    struct frags f;
    if (room > 0) {
        fetch(&held, a, b, at_a, at_b, room, false, thread);
        store(stages, &held, thread);
    }
    __syncthreads();
    load(&f, stages, 0, first_a, first_b);
    for (int now = 0; room > 0;) {
        a += down_a;
        b += down_b;
        room -= TILE_K;
        if (room >= TILE_K)
            fetch(&held, a, b, at_a, at_b, room, true, thread);
        else if (room > 0)
            fetch(&held, a, b, at_a, at_b, room, false, thread);
        compute(sum, &f, stages + now * STAGE, first_a, first_b);
        now ^= 1;
        if (room > 0)
            store(stages + now * STAGE, &held, thread);
        __syncthreads();
        load(&f, stages + now * STAGE, 0, first_a, first_b); // behind the end it is not used
        multiply(sum, &f, TILE_K / STEPS - 1);
    }
#endif
}

DEVICE struct to to_c(GLOBAL T *c, T_acc alpha, T_acc beta, int64 m, int64 n, int64 ldc, int64 matrix)
{
    struct to to = { c + matrix * m * ldc, alpha, beta, 0, n, ldc,
                     !TB || (n % FRAG_N == 0 && ldc % FRAG_N == 0 && (uint64)c % (FRAG_N * T_bytes) == 0) };
    return to;
}

DEVICE void put_all(const struct to *to, T_acc sum[ITEMS_M][ITEMS_N], const struct part *p, int64 m)
{
    int64 row = p->top + first_row(threadIdx.x), column = p->left + first_column(threadIdx.x);
#pragma unroll
    for (int r = 0; r < ITEMS_M; r++) {
        if (row + ROW(r) < m) {
#pragma unroll
            for (int s = 0; s < ITEMS_N; s += FRAG_N)
                put(to, row + ROW(r), column + s * LANES_X, &sum[r][s], FRAG_N);
        }
    }
}

#ifdef STREAM
#include "gemm_stream.h"
#else
KERNEL void BOUNDS
gemm_blocked(GLOBAL T *__restrict__ c, T_acc alpha, GLOBAL const T *__restrict__ a, GLOBAL const T *__restrict__ b, T_acc beta,
             int64 m, int64 n, int64 k, int64 lda, int64 ldb, int64 ldc, int64 batch, int64 parts,
             GLOBAL T_acc *__restrict__ partial DYNAMIC_SHARED_PARAM)
{
    DYNAMIC_SHARED(T_acc, stages);
    uint32 across = (uint32)((n + TILE_N - 1) / TILE_N), tiles = across * (uint32)((m + TILE_M - 1) / TILE_M);
    uint32 place = blockIdx.x / CLUSTER; // of a cluster only one of its blocks' parts differs
    uint32 tile = place % tiles, part = place / tiles % (uint32)PARTS;
    int64 slice = part * CLUSTER + blockIdx.x % CLUSTER, slices = PARTS * CLUSTER;
    struct part p = { place / tiles / (uint32)PARTS, (int64)(tile / across) * TILE_M, (int64)(tile % across) * TILE_N,
                      part_begin(k, slice, slices, TILE_K), part_begin(k, slice + 1, slices, TILE_K) };
    T_acc sum[ITEMS_M][ITEMS_N];
    sum_up(sum, &p, a, b, m, n, k, lda, ldb, stages);
    struct to to = to_c(c, alpha, beta, m, n, ldc, p.matrix);
    if (PARTS > 1)
        to.partial = partial + (part * batch + p.matrix) * m * n;
#if CLUSTER > 1
    int thread = threadIdx.x;
    __syncthreads(); // nobody uses the tiles any more
#pragma unroll
    for (int r = 0; r < ITEMS_M; r++)
#pragma unroll
        for (int s = 0; s < ITEMS_N; s += FRAG_N) {
            struct frag_n v;
            for (int e = 0; e < FRAG_N; e++)
                v.e[e] = sum[r][s + e];
            *(struct frag_n *)(stages + (first_row(thread) + ROW(r)) * TILE_N + first_column(thread) + s * LANES_X) = v;
        }
    CLUSTER_ARRIVE();
    CLUSTER_WAIT();
    struct joined v[SHARE];
#pragma unroll
    for (int q = 0; q < CLUSTER; q++) { // all that it reads of a block is on its way at once
        const T_acc *sums = theirs(stages, q);
#pragma unroll
        for (int l = 0; l < SHARE; l++) {
            int e = (int)(l * CLUSTER + blockIdx.x % CLUSTER) * THREADS + thread;
            struct joined other = *(const struct joined *)(sums + (EVEN ? e : min(e, ALL - 1)) * JOINED);
#pragma unroll
            for (int f = 0; f < JOINED; f++)
                v[l].e[f] = q ? v[l].e[f] + other.e[f] : other.e[f];
        }
    }
    CLUSTER_ARRIVE();
#pragma unroll
    for (int l = 0; l < SHARE; l++) {
        int e = (int)(l * CLUSTER + blockIdx.x % CLUSTER) * THREADS + thread;
        int64 i = p.top + e * JOINED / TILE_N;
        if ((EVEN || e < ALL) && i < m)
            put(&to, i, p.left + e * JOINED % TILE_N, v[l].e, JOINED);
    }
    CLUSTER_WAIT(); // nobody ends while his sums are read
#else
    put_all(&to, sum, &p, m);
#endif
}
#endif
