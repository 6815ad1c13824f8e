// C = A B for f16 and bf16 by the tensor cores, summed in float: a block computes TILE_M x TILE_N elements of C, a warp WARP_M x WARP_N
// of them by mma.sync. STAGES tiles of A and B, TILE_K deep, are on their way into shared memory by cp.async. Rows of A and B lie lda
// and ldb elements apart, multiples of 8; where those of the arguments do not, gemm_pack.h copies them first. Several blocks may share
// a tile of C: gemm_parts.h.
#include "numbers.h"
#include "gemm_pack.h"
#include "gemm_parts.h"

#define WARPS_X (TILE_N / WARP_N)
#define THREADS (32 * WARPS_X * (TILE_M / WARP_M))
#define STRIDE_A (TILE_K + 8) // padded: an odd number of 16 bytes, so that ldmatrix meets no bank twice
#define STRIDE_B (TILE_N + 8)
#define STAGE (TILE_M * STRIDE_A + TILE_K * STRIDE_B)
#define LOADS_A (TILE_M * TILE_K / (8 * THREADS))
#define LOADS_B (TILE_N * TILE_K / (8 * THREADS))
// Of a thread's l-th 8 elements of A or B: its row and the first of its columns in the tile.
#define ROW_A(l) (((l)*THREADS + thread) / (TILE_K / 8))
#define COLUMN_A(l) (((l)*THREADS + thread) % (TILE_K / 8) * 8)
#define ROW_B(l) (((l)*THREADS + thread) / (TILE_N / 8))
#define COLUMN_B(l) (((l)*THREADS + thread) % (TILE_N / 8) * 8)
#define TILES_M (WARP_M / 16)
#define TILES_N (WARP_N / 8)
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

// 16 x 16 elements from shared memory; each lane gives the address of a row of 8.
DEVICE void load_a(uint32 v[4], const T *from)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(from);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "r"(at)
                 : "memory");
}

DEVICE void load_b(uint32 v[4], const T *from)
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
        load_a(f->row[r], a + r * 16 * STRIDE_A + q * 16);
#pragma unroll
    for (int s = 0; s < TILES_N / 2; s++)
        load_b(f->column[s], b + q * 16 * STRIDE_B + s * 16);
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

// Two neighbouring elements of C.
DEVICE void put(T *c, float *partial, int64 parts, int64 at, int64 room, bool pairs, float v, float w)
{
    if (parts > 1) {
        if (pairs && room > 1) {
            *(float2 *)(partial + at) = make_float2(v, w);
            return;
        }
        if (room > 0)
            partial[at] = v;
        if (room > 1)
            partial[at + 1] = w;
    } else if (pairs && room > 1) {
        *(uint32 *)(c + at) = (uint32)T_to(v) | (uint32)T_to(w) << 16;
    } else {
        if (room > 0)
            c[at] = T_to(v);
        if (room > 1)
            c[at + 1] = T_to(w);
    }
}

// So many registers a thread that this many blocks fit on a multiprocessor.
#define REGISTERS (WARP_M * WARP_N > 2048 ? 256 : 128)
KERNEL void __launch_bounds__(THREADS, 65536 / (THREADS * REGISTERS))
gemm_mma(T *__restrict__ c, const T *__restrict__ a, const T *__restrict__ b, int64 m, int64 n, int64 k, int64 lda, int64 ldb,
         int64 parts, float *__restrict__ partial DYNAMIC_SHARED_PARAM)
{
    DYNAMIC_SHARED(T, stages);
    uint32 across = (uint32)((n + TILE_N - 1) / TILE_N), tiles = across * (uint32)((m + TILE_M - 1) / TILE_M);
    uint32 part = blockIdx.x / tiles, tile = blockIdx.x % tiles;
    int64 top = (int64)(tile / across) * TILE_M, left = (int64)(tile % across) * TILE_N;
    int64 begin = part_begin(k, part, parts, TILE_K), end = part_begin(k, part + 1, parts, TILE_K);
    int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    int x = warp % WARPS_X * WARP_N, y = warp / WARPS_X * WARP_M;

    // Rows and columns behind the edge repeat the last ones: what they give is not stored.
    uint32 at_a[LOADS_A], at_b[LOADS_B];
#pragma unroll
    for (int l = 0; l < LOADS_A; l++)
        at_a[l] = (uint32)(min(top + ROW_A(l), m - 1) - top) * (uint32)lda + COLUMN_A(l);
#pragma unroll
    for (int l = 0; l < LOADS_B; l++)
        at_b[l] = (uint32)ROW_B(l) * (uint32)ldb + (uint32)(min(left + COLUMN_B(l), ldb - 8) - left);
    a += top * lda + begin;
    b += begin * ldb + left;

    float sum[TILES_M][TILES_N][4];
#pragma unroll
    for (int r = 0; r < TILES_M; r++)
#pragma unroll
        for (int s = 0; s < TILES_N; s++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                sum[r][s][e] = 0;

    int room = (int)(end - begin); // what is left of this part; k has 31 bits
    int steps = (room + TILE_K - 1) / TILE_K, now = 0, next = STAGES - 1;
    int64 down = TILE_K * ldb;
#define FETCH(s)                                                                                                                    \
    do {                                                                                                                            \
        T *to = stages + (s)*STAGE;                                                                                                 \
        _Pragma("unroll") for (int l = 0; l < LOADS_A; l++) copy_async(to + ROW_A(l) * STRIDE_A + COLUMN_A(l),                      \
                                                                       COLUMN_A(l) < room ? a + at_a[l] : a, COLUMN_A(l) < room);   \
        to += TILE_M * STRIDE_A;                                                                                                    \
        _Pragma("unroll") for (int l = 0; l < LOADS_B; l++)                                                                         \
            copy_async(to + ROW_B(l) * STRIDE_B + COLUMN_B(l), ROW_B(l) < room ? b + at_b[l] : b, ROW_B(l) < room);                 \
        a += TILE_K;                                                                                                                \
        b += down;                                                                                                                  \
        room -= TILE_K;                                                                                                             \
    } while (0)
    for (int s = 0; s < STAGES - 1; s++) {
        if (room > 0)
            FETCH(s);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    const T *of_a = stages + (y + lane % 16) * STRIDE_A + lane / 16 * 8; // what this lane loads of the first tile
    const T *of_b = stages + TILE_M * STRIDE_A + lane % 16 * STRIDE_B + x + lane / 16 * 8;
    struct frags f[2];
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    load(&f[0], of_a, of_b, 0);
    for (int step = 0; step < steps; step++) {
        if (room > 0)
            FETCH(next);
        asm volatile("cp.async.commit_group;" ::: "memory");
#pragma unroll
        for (int q = 0; q < TILE_K / 16 - 1; q++) {
            load(&f[(q + 1) % 2], of_a + now * STAGE, of_b + now * STAGE, q + 1);
            multiply(sum, &f[q % 2]);
        }
        now = now + 1 < STAGES ? now + 1 : 0;
        next = next + 1 < STAGES ? next + 1 : 0;
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads(); // the next tile is here, and nobody uses this one any more
        load(&f[0], of_a + now * STAGE, of_b + now * STAGE, 0); // behind the end it is not used
        multiply(sum, &f[1]);
    }

    bool pairs = n % 2 == 0 && (uint64)c % 4 == 0;
#pragma unroll
    for (int r = 0; r < TILES_M; r++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int64 i = top + y + r * 16 + h * 8 + lane / 4, j = left + x + lane % 4 * 2;
            if (i < m) {
#pragma unroll
                for (int s = 0; s < TILES_N; s++)
                    put(c, partial, parts, (part * m + i) * n + j + s * 8, n - j - s * 8, pairs, sum[r][s][h * 2], sum[r][s][h * 2 + 1]);
            }
        }
}
