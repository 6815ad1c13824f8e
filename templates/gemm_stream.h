// For gemm_blocked.cu with STREAM: as many blocks as run at the same time compute all of C, each as much of it (stream-K). The first
// `whole` tiles are dealt out one by one. Of the others all steps of k are in one row, tile after tile, and each block takes an equal length
// of that, which may begin and end in the middle of a tile. What it has of a tile then goes to `partial`, and gemm_join adds that up, in the
// order of k. (Osama, Merrill, Cecka, Garland, Owens: Stream-K, 2023.)
#define DEPENDENT 1
#include "dependent.h"

struct row {
    uint32 across, tiles, whole, steps; // tiles side by side, and of a matrix; steps of a tile
    uint32 each, longer;                // steps of a block; the first `longer` blocks have one more
    uint32 places;                      // no tile has more parts
};

DEVICE struct row row_of(int64 m, int64 n, int64 k, int64 batch, int64 whole, uint32 blocks)
{
    struct row row;
    row.across = (uint32)((uint32)n + TILE_N - 1) / TILE_N;
    row.tiles = row.across * (((uint32)m + TILE_M - 1) / TILE_M);
    row.whole = (uint32)whole;
    row.steps = ((uint32)k + TILE_K - 1) / TILE_K;
    uint32 cut = row.tiles * (uint32)batch - row.whole;
    row.each = cut * row.steps / blocks;
    row.longer = cut * row.steps - row.each * blocks;
    row.places = (row.steps - 1) / row.each + 2;
    return row;
}

// Where in the row a block begins, and who has a step of it.
DEVICE uint32 begin_of(const struct row *row, uint32 block)
{
    return block * row->each + min(block, row->longer);
}
DEVICE uint32 owner_of(const struct row *row, uint32 step)
{
    uint32 block = step / (row->each + 1);
    return block < row->longer ? block : (step - row->longer) / row->each;
}

DEVICE struct part part_of(const struct row *row, uint32 tile, uint32 from, uint32 to, int64 k)
{
    uint32 matrix = tile / row->tiles, place = tile - matrix * row->tiles, down = place / row->across;
    struct part p = { matrix, (int64)down * TILE_M, (int64)(place - down * row->across) * TILE_N, (int64)from * TILE_K,
                      min((int64)to * TILE_K, k) };
    return p;
}

// What a part of a tile has in `partial` for a thread: its sums, row by row, the words of them THREADS words apart.
#define PER_ROW (ITEMS_N / WORD) // words
DEVICE struct word *kept(T_acc *partial, const struct row *row, uint32 tile, uint32 part)
{
    return (struct word *)(partial + ((uint64)(tile - row->whole) * row->places + part) * (TILE_M * TILE_N)) + threadIdx.x;
}

KERNEL void BOUNDS
gemm_stream(T *__restrict__ c, T_acc alpha, const T *__restrict__ a, const T *__restrict__ b, T_acc beta, int64 m, int64 n, int64 k,
            int64 lda, int64 ldb, int64 ldc, int64 batch, int64 whole, T_acc *__restrict__ partial)
{
    DYNAMIC_SHARED(T_acc, stages);
    START_NEXT;
    uint32 block = blockIdx.x, next = block;
    const struct row row = row_of(m, n, k, batch, whole, gridDim.x);
    uint32 at = begin_of(&row, block), end = begin_of(&row, block + 1);
    while (next < row.whole || at < end) {
        uint32 tile = next, from = 0, to = row.steps;
        if (next < row.whole)
            next += gridDim.x;
        else {
            tile = row.whole + at / row.steps;
            from = at % row.steps;
            to = min(row.steps, from + (end - at));
            at += to - from;
        }
        const struct part p = part_of(&row, tile, from, to, k);
        T_acc sum[ITEMS_M][ITEMS_N];
        sum_up(sum, &p, a, b, m, n, k, lda, ldb, stages);
        if (to - from == row.steps) {
            const struct to dest = to_c(c, alpha, beta, m, n, ldc, p.matrix);
            put_all(&dest, sum, &p, m);
        } else {
            uint32 part = block - owner_of(&row, (tile - row.whole) * row.steps);
            struct word *words = kept(partial, &row, tile, part);
#pragma unroll
            for (int w = 0; w < ITEMS_M * PER_ROW; w++) {
                struct word v;
                for (int e = 0; e < WORD; e++)
                    v.e[e] = sum[w / PER_ROW][w % PER_ROW * WORD + e];
                words[w * THREADS] = v;
            }
        }
        __syncthreads(); // nobody uses the stages any more
    }
}

#define LOADS (8 / PER_ROW < 1 ? 1 : 8 / PER_ROW) // parts that a thread has on their way

// ITEMS_M blocks for each tile that is cut. `partial` has no __restrict__: see gemm_total.
KERNEL void __launch_bounds__(THREADS)
gemm_join(T *__restrict__ c, T_acc alpha, T_acc beta, int64 m, int64 n, int64 k, int64 ldc, int64 batch, int64 whole, int64 blocks,
          T_acc *partial)
{
    const struct row row = row_of(m, n, k, batch, whole, (uint32)blocks);
    uint32 tile = row.whole + blockIdx.x / ITEMS_M, first = (tile - row.whole) * row.steps;
    int r = blockIdx.x % ITEMS_M, parts = owner_of(&row, first + row.steps - 1) - owner_of(&row, first) + 1;
    const struct part p = part_of(&row, tile, 0, row.steps, k);
    const struct to dest = to_c(c, alpha, beta, m, n, ldc, p.matrix);
    int64 i = p.top + first_row(threadIdx.x) + ROW(r), j = p.left + first_column(threadIdx.x);
    const struct word *words = kept(partial, &row, tile, 0) + r * PER_ROW * THREADS;
    WAIT_FOR_IT;
    if (parts == 1 || i >= m)
        return;
    T_acc sum[ITEMS_N];
#pragma unroll
    for (int s = 0; s < ITEMS_N; s++)
        sum[s] = 0;
    for (int q = 0; q < parts; q += LOADS) {
        struct word v[LOADS][PER_ROW];
#pragma unroll
        for (int l = 0; l < LOADS; l++)
#pragma unroll
            for (int w = 0; w < PER_ROW; w++)
                if (q + l < parts)
                    v[l][w] = words[(q + l) * (TILE_M * TILE_N / WORD) + w * THREADS];
#pragma unroll
        for (int l = 0; l < LOADS; l++)
#pragma unroll
            for (int s = 0; s < ITEMS_N; s++)
                sum[s] += q + l < parts ? v[l][s / WORD].e[s % WORD] : 0;
    }
#pragma unroll
    for (int s = 0; s < ITEMS_N; s += FRAG_N)
        put(&dest, i, j + s * LANES_X, &sum[s], FRAG_N);
}
