// C = alpha op(A) op(B) + beta C for f16 and bf16 by the tensor cores, summed in float: a block computes TILE_M x TILE_N elements
// of C, a warp WARP_M x WARP_N of them by mma.sync. STAGES tiles of A and B, TILE_K deep, are on their way into shared memory by
// cp.async. Rows of A and B lie lda and ldb elements apart, multiples of 8; where those of the arguments do not, gemm_pack.h copies
// them first, or, if WHOLE is false, they come through registers, which put them into place. Several blocks may share a tile of C, each
// every so manieth tile of A and B: gemm_parts.h; or those of a cluster, CLUSTER of them, which join their sums in shared memory.
#include "numbers.h"
#ifdef CLUSTER // all in one launch
#include "cluster.h"
#include "gemm.h"
#define PARTS_PARAMS
#else
#include "gemm_pack.h"
#include "gemm_parts.h"
#define CLUSTER 1
#define WHOLE   1
#define PARTIAL
#define PARTS_PARAMS , int64 parts, float *__restrict__ partial
#endif

#define WARPS_X (TILE_N / WARP_N)
#define THREADS (32 * WARPS_X * (TILE_M / WARP_M))
// Tiles lie in shared memory as in memory, with padding: an odd number of 16 bytes, so that ldmatrix meets no bank twice.
#define STRIDE_A ((TA ? TILE_M : TILE_K) + 8)
#define STRIDE_B ((TB ? TILE_K : TILE_N) + 8)
#define TILE_B ((TA ? TILE_K : TILE_M) * STRIDE_A) // where B begins
#define STAGE (TILE_B + (TB ? TILE_N : TILE_K) * STRIDE_B)
#define LOADS_A (TILE_M * TILE_K / (8 * THREADS))
#define LOADS_B (TILE_N * TILE_K / (8 * THREADS))
// Of a thread's l-th 8 elements of A or B: their row in the tile as it lies in memory, and the first of their columns.
#define WIDTH_A (TA ? TILE_M : TILE_K)
#define WIDTH_B (TB ? TILE_K : TILE_N)
#define ROW_A(l) (((l)*THREADS + thread) / (WIDTH_A / 8))
#define COLUMN_A(l) (((l)*THREADS + thread) % (WIDTH_A / 8) * 8)
#define ROW_B(l) (((l)*THREADS + thread) / (WIDTH_B / 8))
#define COLUMN_B(l) (((l)*THREADS + thread) % (WIDTH_B / 8) * 8)
#define DEPTH_A(l) (TA ? ROW_A(l) : COLUMN_A(l))
#define DEPTH_B(l) (TB ? COLUMN_B(l) : ROW_B(l))
#define TILES_M (WARP_M / 16)
#define TILES_N (WARP_N / 8)
#if CLUSTER > 1
#define CLUSTERED __cluster_dims__(CLUSTER, 1, 1)
#else
#define CLUSTERED
#endif
#define STRIDE_C (TILE_N + 8) // of a tile's sums in shared memory
#if T_is_f16
#define MMA "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
#else
#define MMA "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
#endif

// Puts 16 bytes into shared memory, zeros if not `there`.
DEVICE void copy_async(T *to, const T *from, bool there)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(there ? 16 : 0) : "memory");
}

#if !WHOLE
// Eight elements on their way, that begin anywhere, of which there are `have`, in the words that they lie in; `odd`: they begin in
// the midst of a word. If the last of them is the lower half of its word it comes alone, as the fifth: the other half may be nobody's.
// Others are zeros. Nobody waits for them here.
DEVICE void piece_fetch(uint32 v[5], const T *from, int odd, int have)
{
    have = min(have, 8);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        v[i] = 0;
        if (2 * i - odd + 1 < have)
            v[i] = *(const uint32 *)(from + 2 * i - odd);
    }
    v[4] = 0;
    if (have > 0 && (have - 1 + odd) % 2 == 0)
        v[4] = from[have - 1];
}

DEVICE void piece_store(T *to, const uint32 v[5], int odd, int have)
{
    uint32 x[5];
#pragma unroll
    for (int i = 0; i < 4; i++)
        x[i] = 2 * i - odd + 1 == have ? v[4] : v[i];
    x[4] = have >= 8 ? v[4] : 0;
    *(uint4 *)to = make_uint4(__funnelshift_r(x[0], x[1], odd * 16), __funnelshift_r(x[1], x[2], odd * 16),
                              __funnelshift_r(x[2], x[3], odd * 16), __funnelshift_r(x[3], x[4], odd * 16));
}
#endif

// 16 x 16 elements from shared memory; each lane gives the address of a row of 8. The second turns each 8 x 8 of them.
DEVICE void load_plain(uint32 v[4], const T *from)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(from);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "r"(at)
                 : "memory");
}

DEVICE void load_turned(uint32 v[4], const T *from)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(from);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "r"(at)
                 : "memory");
}

// What a warp needs for 16 steps of the inner product.
struct frags {
    uint32 row[TILES_M][4], column[TILES_N / 2][4];
};

DEVICE void load(struct frags *f, const T *a, const T *b, int q)
{
#pragma unroll
    for (int r = 0; r < TILES_M; r++)
#if TA
        load_turned(f->row[r], a + q * 16 * STRIDE_A + r * 16);
#else
        load_plain(f->row[r], a + r * 16 * STRIDE_A + q * 16);
#endif
#pragma unroll
    for (int s = 0; s < TILES_N / 2; s++)
#if TB
        load_plain(f->column[s], b + s * 16 * STRIDE_B + q * 16);
#else
        load_turned(f->column[s], b + q * 16 * STRIDE_B + s * 16);
#endif
}

DEVICE void multiply(float sum[TILES_M][TILES_N][4], const struct frags *f)
{
#pragma unroll
    for (int r = 0; r < TILES_M; r++)
#pragma unroll
        for (int s = 0; s < TILES_N; s++) {
            float *v = sum[r][s];
            const uint32 *row = f->row[r], *column = &f->column[s / 2][s % 2 * 2];
            asm volatile(MMA " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                         : "+f"(v[0]), "+f"(v[1]), "+f"(v[2]), "+f"(v[3])
                         : "r"(row[0]), "r"(row[1]), "r"(row[2]), "r"(row[3]), "r"(column[0]), "r"(column[1]));
        }
}

struct to {
    T *c;
    float alpha, beta;
    float *partial; // null: the sums go to C
    int64 n, ldc;
    bool pairs; // of elements begin at whole words
};

// Two neighbouring elements of C, in row i from column j on.
DEVICE void put(const struct to *to, int64 i, int64 j, float v, float w)
{
    int64 at = to->partial ? i * to->n + j : i * to->ldc + j, room = to->n - j;
    if (to->partial) {
        if (to->pairs && room > 1) {
            *(float2 *)(to->partial + at) = make_float2(v, w);
            return;
        }
        if (room > 0)
            to->partial[at] = v;
        if (room > 1)
            to->partial[at + 1] = w;
    } else if (to->pairs && room > 1) {
        uint32 old = to->beta == 0 ? 0 : *(const uint32 *)(to->c + at);
        v = mixed(to->alpha, v, to->beta, T_from((T)old));
        w = mixed(to->alpha, w, to->beta, T_from((T)(old >> 16)));
        *(uint32 *)(to->c + at) = (uint32)T_to(v) | (uint32)T_to(w) << 16;
    } else {
        if (room > 0)
            c_put(to->c, at, to->alpha, v, to->beta);
        if (room > 1)
            c_put(to->c, at + 1, to->alpha, w, to->beta);
    }
}

#if CLUSTER > 1
#define PAIRS (TILE_M * TILE_N / 2)
#define SHARE ((PAIRS / THREADS + CLUSTER - 1) / CLUSTER) // of those a thread joins so many, at the most
#define EVEN (SHARE * CLUSTER * THREADS == PAIRS)

DEVICE void arrive() // at the barrier of the cluster, before what is written to global memory, for which it would wait
{
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
}

DEVICE void wait()
{
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

// Joins the sums that the blocks of a cluster have in shared memory, each its part of the tile: all that it reads of a block is on
// its way at once.
DEVICE void join(const struct to *to, const float *sums, int64 top, int64 left, int64 m, uint32 part)
{
    uint32 own = (uint32)__cvta_generic_to_shared(sums);
    float v[SHARE], w[SHARE];
#pragma unroll
    for (int r = 0; r < CLUSTER; r++) {
        uint32 there = in_block(own, r);
        float x[SHARE], y[SHARE];
#pragma unroll
        for (int l = 0; l < SHARE; l++) {
            int e = ((int)(l * CLUSTER + part) * THREADS + (int)threadIdx.x) * 2;
            e = EVEN ? e : min(e, TILE_M * TILE_N - 2);
            asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];"
                         : "=f"(x[l]), "=f"(y[l])
                         : "r"(there + (e / TILE_N * STRIDE_C + e % TILE_N) * 4)
                         : "memory");
        }
#pragma unroll
        for (int l = 0; l < SHARE; l++) {
            v[l] = r ? v[l] + x[l] : x[l];
            w[l] = r ? w[l] + y[l] : y[l];
        }
    }
    arrive();
#pragma unroll
    for (int l = 0; l < SHARE; l++) {
        int e = ((int)(l * CLUSTER + part) * THREADS + (int)threadIdx.x) * 2, i = e / TILE_N;
        if ((EVEN || e < TILE_M * TILE_N) && top + i < m)
            put(to, top + i, left + e % TILE_N, v[l], w[l]);
    }
    wait(); // nobody reads this block's any more
}
#endif

// So many registers a thread that this many blocks fit on a multiprocessor.
#define REGISTERS (WARP_M * WARP_N > 2048 ? 256 : WHOLE ? 128 : 168)
KERNEL void CLUSTERED __launch_bounds__(THREADS, 65536 / (THREADS * REGISTERS))
gemm_mma(T *__restrict__ c, float alpha, const T *__restrict__ a, const T *__restrict__ b, float beta, int64 m, int64 n, int64 k,
         int64 lda, int64 ldb, int64 ldc, int64 batch PARTS_PARAMS DYNAMIC_SHARED_PARAM)
{
    DYNAMIC_SHARED(T, stages);
    uint32 across = (uint32)((n + TILE_N - 1) / TILE_N), tiles = across * (uint32)((m + TILE_M - 1) / TILE_M);
#ifndef PARTIAL // blocks of a cluster follow each other
    const int64 parts = CLUSTER;
    float *const partial = 0;
    uint32 part = blockIdx.x % CLUSTER, tile = blockIdx.x / CLUSTER % tiles, matrix = blockIdx.x / CLUSTER / tiles;
#else
    uint32 tile = blockIdx.x % tiles, part = blockIdx.x / tiles % (uint32)parts, matrix = blockIdx.x / tiles / (uint32)parts;
#endif
    int64 top = (int64)(tile / across) * TILE_M, left = (int64)(tile % across) * TILE_N;
    int64 begin = (int64)part * TILE_K;
    int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    int x = warp % WARPS_X * WARP_N, y = warp / WARPS_X * WARP_M;

    // Rows that are whole words are read to the end of the last one.
    const struct edge rows = edge_of(top, TILE_M, TA ? (m + 7) / 8 * 8 : m), columns = edge_of(left, TILE_N, TB ? n : (n + 7) / 8 * 8);
    uint32 at_a[LOADS_A], at_b[LOADS_B];
#pragma unroll
    for (int l = 0; l < LOADS_A; l++)
        at_a[l] = TA ? ROW_A(l) * (uint32)lda + (WHOLE ? inside(&rows, COLUMN_A(l)) : rows.from + COLUMN_A(l))
                     : inside(&rows, ROW_A(l)) * (uint32)lda + COLUMN_A(l);
#pragma unroll
    for (int l = 0; l < LOADS_B; l++)
        at_b[l] = TB ? inside(&columns, ROW_B(l)) * (uint32)ldb + COLUMN_B(l)
                     : ROW_B(l) * (uint32)ldb + (WHOLE ? inside(&columns, COLUMN_B(l)) : columns.from + COLUMN_B(l));
    a += TA ? (matrix * k + begin) * lda + rows.low : (matrix * m + rows.low) * lda + begin;
    b += TB ? (matrix * n + columns.low) * ldb + begin : (matrix * k + begin) * ldb + columns.low;

    float sum[TILES_M][TILES_N][4];
#pragma unroll
    for (int r = 0; r < TILES_M; r++)
#pragma unroll
        for (int s = 0; s < TILES_N; s++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                sum[r][s][e] = 0;

    int room = (int)(k - begin); // what is left behind where this block is; k has 31 bits
    int64 stride = parts * TILE_K, down_a = TA ? stride * lda : stride, down_b = TB ? stride : stride * ldb;
    int now = 0, next = STAGES - 1;
#if WHOLE
#define FETCH(s)                                                                                                                    \
    do {                                                                                                                            \
        T *to = stages + (s)*STAGE;                                                                                                 \
        _Pragma("unroll") for (int l = 0; l < LOADS_A; l++)                                                                         \
            copy_async(to + ROW_A(l) * STRIDE_A + COLUMN_A(l), DEPTH_A(l) < room ? a + at_a[l] : a, DEPTH_A(l) < room);             \
        to += TILE_B;                                                                                                               \
        _Pragma("unroll") for (int l = 0; l < LOADS_B; l++)                                                                         \
            copy_async(to + ROW_B(l) * STRIDE_B + COLUMN_B(l), DEPTH_B(l) < room ? b + at_b[l] : b, DEPTH_B(l) < room);             \
        a += down_a;                                                                                                                \
        b += down_b;                                                                                                                \
        room -= (int)stride;                                                                                                        \
    } while (0)
#else
#define PIECES (LOADS_A + LOADS_B)
#define FETCH(v)                                                                                                                    \
    do {                                                                                                                            \
        _Pragma("unroll") for (int l = 0; l < LOADS_A; l++)                                                                         \
            piece_fetch(v[l], a + at_a[l], odd >> l & 1, TA ? DEPTH_A(l) < room ? have[l] : 0 : room - DEPTH_A(l));                 \
        _Pragma("unroll") for (int l = 0; l < LOADS_B; l++)                                                                         \
            piece_fetch(v[LOADS_A + l], b + at_b[l], odd >> (LOADS_A + l) & 1,                                                      \
                        TB ? room - DEPTH_B(l) : DEPTH_B(l) < room ? have[LOADS_A + l] : 0);                                        \
        a += down_a;                                                                                                                \
        b += down_b;                                                                                                                \
        room -= (int)stride;                                                                                                        \
    } while (0)
#define STORE(v, s, before) /* how much was left when it was fetched */                                                             \
    do {                                                                                                                            \
        T *to = stages + (s)*STAGE;                                                                                                 \
        _Pragma("unroll") for (int l = 0; l < LOADS_A; l++)                                                                         \
            piece_store(to + ROW_A(l) * STRIDE_A + COLUMN_A(l), v[l], odd >> l & 1, TA ? have[l] : (before)-DEPTH_A(l));            \
        to += TILE_B;                                                                                                               \
        _Pragma("unroll") for (int l = 0; l < LOADS_B; l++)                                                                         \
            piece_store(to + ROW_B(l) * STRIDE_B + COLUMN_B(l), v[LOADS_A + l], odd >> (LOADS_A + l) & 1,                           \
                        TB ? (before)-DEPTH_B(l) : have[LOADS_A + l]);                                                              \
    } while (0)
#endif
    int rest = room; // what is not multiplied yet
#if WHOLE
    for (int s = 0; s < STAGES - 1; s++) {
        if (room > 0)
            FETCH(s);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
#else
    // Whether pieces begin between two words is the same in all steps, which are an even number of elements or rows apart.
    uint32 first[PIECES][5], second[PIECES][5], odd = 0;
    int have[PIECES]; // of those that lie across the depth
#pragma unroll
    for (int l = 0; l < PIECES; l++) {
        bool of_b = l >= LOADS_A;
        int there = of_b ? (int)min(n - left, (int64)TILE_N) - COLUMN_B(l - LOADS_A) : (int)min(m - top, (int64)TILE_M) - COLUMN_A(l);
        const T *from = of_b ? b + at_b[l - LOADS_A] : a + at_a[l];
        odd |= (uint32)((uint64)from / 2 % 2) << l;
        have[l] = min(max(there, 0), 8);
    }
    FETCH(first);
    FETCH(second);
    STORE(first, 0, room + 2 * (int)stride);
#endif
    __syncthreads();
    // What this lane loads of the first tile.
    const T *of_a = stages + (TA ? (lane % 8 + lane / 16 * 8) * STRIDE_A + y + lane / 8 % 2 * 8
                                 : (y + lane % 16) * STRIDE_A + lane / 16 * 8);
    const T *of_b = stages + TILE_B + (TB ? (x + lane % 8 + lane / 16 * 8) * STRIDE_B + lane / 8 % 2 * 8
                                          : lane % 16 * STRIDE_B + x + lane / 16 * 8);
    struct frags f[2];
    load(&f[0], of_a, of_b, 0);
    for (; rest > 0; rest -= (int)stride) {
#if WHOLE
        if (room > 0)
            FETCH(next);
        asm volatile("cp.async.commit_group;" ::: "memory");
#else
        STORE(second, next, room + (int)stride);
        FETCH(second);
#endif
#pragma unroll
        for (int q = 0; q < TILE_K / 16 - 1; q++) {
            load(&f[(q + 1) % 2], of_a + now * STAGE, of_b + now * STAGE, q + 1);
            multiply(sum, &f[q % 2]);
        }
        now = now + 1 < STAGES ? now + 1 : 0;
        next = next + 1 < STAGES ? next + 1 : 0;
#if WHOLE
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
#endif
        __syncthreads(); // the next tile is here, and nobody uses this one any more
        load(&f[0], of_a + now * STAGE, of_b + now * STAGE, 0); // behind the end it is not used
        multiply(sum, &f[1]);
    }

    bool pairs = n % 2 == 0 && ldc % 2 == 0 && (uint64)c % 4 == 0;
    const struct to to = { c + matrix * m * ldc, alpha, beta, partial && parts > 1 ? partial + (part * batch + matrix) * m * n : 0, n, ldc,
                           pairs };
#if CLUSTER > 1
    float *sums = (float *)stages;
    __syncthreads(); // nobody loads any more
#pragma unroll
    for (int r = 0; r < TILES_M; r++)
#pragma unroll
        for (int h = 0; h < 2; h++)
#pragma unroll
            for (int s = 0; s < TILES_N; s++)
                *(float2 *)(sums + (y + r * 16 + h * 8 + lane / 4) * STRIDE_C + x + s * 8 + lane % 4 * 2) =
                    make_float2(sum[r][s][h * 2], sum[r][s][h * 2 + 1]);
    arrive();
    wait();
    join(&to, sums, top, left, m, part);
#else
#pragma unroll
    for (int r = 0; r < TILES_M; r++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int64 i = top + y + r * 16 + h * 8 + lane / 4, j = left + x + lane % 4 * 2;
            if (i < m) {
#pragma unroll
                for (int s = 0; s < TILES_N; s++)
                    put(&to, i, j + s * 8, sum[r][s][h * 2], sum[r][s][h * 2 + 1]);
            }
        }
#endif
}
