// For gemm_blocked.cu with STREAM: as many blocks as run at the same time compute all of C, each as much of it (stream-K). The first
// `uncut` tiles are dealt out one by one. Of the others all steps of k lie in a row, tile after tile, and each block gets an equal length of
// it, which may begin and end in the middle of a tile. What it has of a tile then goes to `partial`, and gemm_join adds that up, in the
// order of k. (Osama, Merrill, Cecka, Garland, Owens: Stream-K, 2023.)
#define DEPENDENT 1
#include "dependent.h"

// How all is dealt out.
struct deal {
    uint32 across, tiles, uncut, steps; // tiles side by side, and of a matrix; steps of a tile
    uint32 each, longer;                // steps of a block; the first `longer` blocks have one more
};

DEVICE struct deal deal_of(int64 m, int64 n, int64 k, int64 batch, int64 uncut, uint32 blocks)
{
    struct deal d;
    d.across = (uint32)((n + TILE_N - 1) / TILE_N);
    d.tiles = d.across * (uint32)((m + TILE_M - 1) / TILE_M);
    d.uncut = (uint32)uncut;
    d.steps = ((uint32)k + TILE_K - 1) / TILE_K;
    uint32 all = (d.tiles * (uint32)batch - d.uncut) * d.steps;
    d.each = all / blocks;
    d.longer = all - d.each * blocks;
    return d;
}

// Where in the row a block begins, and who has a step of it.
DEVICE uint32 begin_of(const struct deal *d, uint32 block)
{
    return block * d->each + min(block, d->longer);
}
DEVICE uint32 owner_of(const struct deal *d, uint32 step)
{
    uint32 block = step / (d->each + 1);
    return block < d->longer ? block : (step - d->longer) / d->each;
}

DEVICE struct part part_of(const struct deal *d, uint32 tile, uint32 from, uint32 to, int64 k)
{
    uint32 matrix = tile / d->tiles, place = tile - matrix * d->tiles, down = place / d->across;
    struct part p = { matrix, (int64)down * TILE_M, (int64)(place - down * d->across) * TILE_N, (int64)from * TILE_K,
                      min((int64)to * TILE_K, k) };
    return p;
}

// What a block has of a tile in `partial`, for a thread: its sums, row by row, the words of them THREADS words apart. From one part in the
// row to the next the block or the tile is another, so no two have the same place; those of a tile follow each other.
#define PER_ROW (ITEMS_N / WORD) // words
DEVICE struct word *kept(T_acc *partial, const struct deal *d, uint32 tile, uint32 block)
{
    return (struct word *)(partial + (uint64)(tile - d->uncut + block) * (TILE_M * TILE_N)) + threadIdx.x;
}

KERNEL void BOUNDS
gemm_stream(T *__restrict__ c, T_acc alpha, const T *__restrict__ a, const T *__restrict__ b, T_acc beta, int64 m, int64 n, int64 k,
            int64 lda, int64 ldb, int64 ldc, int64 batch, int64 uncut, T_acc *__restrict__ partial)
{
    DYNAMIC_SHARED(T_acc, stages);
    START_NEXT;
    uint32 block = blockIdx.x, next = block;
    const struct deal deal = deal_of(m, n, k, batch, uncut, gridDim.x);
    uint32 at = begin_of(&deal, block), end = begin_of(&deal, block + 1);
    while (next < deal.uncut || at < end) {
        uint32 tile = next, from = 0, to = deal.steps;
        if (next < deal.uncut)
            next += gridDim.x;
        else {
            tile = deal.uncut + at / deal.steps;
            from = at % deal.steps;
            to = min(deal.steps, from + (end - at));
            at += to - from;
        }
        const struct part p = part_of(&deal, tile, from, to, k);
        T_acc sum[ITEMS_M][ITEMS_N];
        sum_up(sum, &p, a, b, m, n, k, lda, ldb, stages);
        if (to - from == deal.steps) {
            const struct to dest = to_c(c, alpha, beta, m, n, ldc, p.matrix);
            put_all(&dest, sum, &p, m);
        } else {
            struct word *words = kept(partial, &deal, tile, block);
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

#define LOADS (8 / PER_ROW) // parts that a thread has on their way

// ITEMS_M blocks for each tile that is cut. `partial` has no __restrict__, as in gemm_parts.h.
KERNEL void __launch_bounds__(THREADS)
gemm_join(T *__restrict__ c, T_acc alpha, T_acc beta, int64 m, int64 n, int64 k, int64 ldc, int64 batch, int64 uncut, int64 blocks,
          T_acc *partial)
{
    const struct deal deal = deal_of(m, n, k, batch, uncut, (uint32)blocks);
    uint32 cut = blockIdx.x / ITEMS_M, tile = deal.uncut + cut, first = owner_of(&deal, cut * deal.steps);
    int r = blockIdx.x % ITEMS_M, parts = owner_of(&deal, (cut + 1) * deal.steps - 1) - first + 1;
    const struct part p = part_of(&deal, tile, 0, deal.steps, k);
    const struct to dest = to_c(c, alpha, beta, m, n, ldc, p.matrix);
    int64 i = p.top + first_row(threadIdx.x) + ROW(r), j = p.left + first_column(threadIdx.x);
    const struct word *words = kept(partial, &deal, tile, first) + r * PER_ROW * THREADS;
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
