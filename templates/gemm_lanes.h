// Tiles of A and B whose rows have any length, which the copy engine cannot bring, for gemm_wgmma.cu: the lanes of a warpgroup load them two
// elements at a time, all of a step before they store the first, and put them into shared memory as the engine would.

// So many lanes share a line, and so many pairs of a tile each of them brings.
#define LANES_OF(by_depth, tile) ((by_depth) || (tile) > 32 ? 32 : (tile) > 16 ? 16 : (tile) > 8 ? 8 : 4)
#define HELD(by_depth, tile)     (LINES_OF(by_depth, tile) * LANES_OF(by_depth, tile) / 128)

// A side as it lies in memory: `high` rows of `width` elements for each matrix of the batch. pairs: each even column begins a word of 4 bytes.
struct rows {
    const T *from;
    int64 ld, high, width;
    bool pairs;
};

DEVICE struct rows rows_of(const T *from, int64 ld, int64 high, int64 width)
{
    const struct rows rows = { from, ld, high, width, ld % 2 == 0 && width % 2 == 0 && (uint64)from % 4 == 0 };
    return rows;
}

// Two neighbouring elements, if `first` and `second` are there; else zeros. A pair comes as one word, in `low`.
DEVICE void fetch_pair(uint32 *low, uint32 *high, const char *from, bool pairs, int second_at, bool first, bool second)
{
    if (pairs) {
        *low = first ? __ldg((const uint32 *)from) : 0;
    } else {
        *low = first ? *(const T *)from : 0;
        *high = second ? *(const T *)(from + second_at) : 0;
    }
}

// What a lane brings of a side's tile, which begins at row or column `first` and at step `depth` of k: zeros behind k. In place of what lies
// outside of C, whose sums are not stored, comes what lies at its edge.
DEVICE void fetch_tile(uint32 *low, uint32 *high, const struct rows *rows, bool pairs, bool by_depth, int32 tile, int32 first, int32 depth,
                       int32 matrix, int thread)
{
    const int lanes = LANES_OF(by_depth, tile), step = 128 / lanes, panel = by_depth ? tile : 64;
    const int32 width = (int32)rows->width, last = (int32)rows->high - 1, ld = (int32)rows->ld * T_bytes;
    const int32 line = (by_depth ? first : depth) + thread / lanes;
    const bool behind = depth + DEEP > (by_depth ? width : last + 1); // of k
#pragma unroll
    for (int s = 0; s < tile; s += panel) {
        int32 at = (by_depth ? depth : first + s) + thread % lanes * 2;
        const int have = by_depth ? width - at : 2;
        at = min(at, width - (pairs ? 2 : 1));
        const char *from = (const char *)(rows->from + matrix * rows->high * rows->ld + at), *next = from + (int64)line * ld;
        const int second = at + 1 < width ? T_bytes : 0;
        uint32 *l = low + s / step, *h = high + s / step;
        if (behind) {
#pragma unroll
            for (int i = 0; i < panel / step; i++) {
                const bool there = by_depth || line + i * step <= last;
                fetch_pair(l + i, h + i, from + (int64)min(line + i * step, last) * ld, pairs, second, there && have > 0, there && have > 1);
            }
        } else { // the same without a condition for each line
#pragma unroll
            for (int i = 0; i < panel / step; i++, next += (int64)step * ld)
                fetch_pair(l + i, h + i, by_depth ? from + (int64)min(line + i * step, last) * ld : next, pairs, second, true, true);
        }
    }
}

// One condition for all pairs is faster than one for each.
DEVICE void fetch(uint32 *low, uint32 *high, const struct rows *rows, bool by_depth, int32 tile, int32 first, int32 depth, int32 matrix,
                  int thread)
{
    if (rows->pairs)
        fetch_tile(low, high, rows, true, by_depth, tile, first, depth, matrix, thread);
    else
        fetch_tile(low, high, rows, false, by_depth, tile, first, depth, matrix, thread);
}

// Puts it where `bring` would.
DEVICE void store(uint32 to, const uint32 *low, const uint32 *high, bool pairs, bool by_depth, int32 tile, int thread)
{
    const int lanes = LANES_OF(by_depth, tile), step = 128 / lanes, at = thread % lanes;
#pragma unroll
    for (int i = 0; i < HELD(by_depth, tile); i++) {
        const int line = thread / lanes + i * step;
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(to + line * LINE + ((at / 4) ^ (line % 8)) * 16 + at % 4 * 4),
                     "r"(pairs ? low[i] : low[i] | high[i] << 16)
                     : "memory");
    }
}
