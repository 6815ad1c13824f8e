// out[j][i] = in[i][j] of elements smaller than a word, for up to some hundreds of rows that begin anywhere: transpose_weave.h. A block has
// whole columns, which are one contiguous piece of out. Its vectors that lie within a column are written first, then the seams, where a column
// ends within a vector and the next one begins.
#include "transpose_weave.h"
#define LANES (THREADS / EACH) // threads that write the same columns

// The vector where column c - 1 ends, with its last `behind` elements, and c begins. What is not of the block's columns is not written.
DEVICE void write_seam(GLOBAL T_bits *to, SHARED const WORD *tile, uint32 c, uint32 columns, uint32 behind, uint32 m, uint32 pitch)
{
    union vector tail = { { 0, 0, 0, 0 } }, head = tail;
    if (c > 0) {
        const struct weave weave = weave_from(m - behind, c - 1);
        const uint32 v = (m - behind) / EACH;
        tail.all = woven(vector_at(tile, c - 1, v, pitch), vector_at(tile, c - 1, v + 1, pitch), &weave);
    }
    if (c < columns) {
        const struct weave weave = weave_from(EACH - behind, c);
        head.all = woven(head, vector_at(tile, c, 0, pitch), &weave);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const int of_tail = min(max((int)behind - k * PACK, 0), PACK); // elements
        const WORD mask = of_tail == PACK ? ~(WORD)0 : ((WORD)1 << of_tail * 8 * T_bytes) - 1;
        head.words[k] = (tail.words[k] & mask) | (head.words[k] & ~mask);
    }
    if (c > 0 && c < columns) {
        write_whole((GLOBAL uint4 *)to, head.all);
    } else {
#pragma unroll
        for (uint32 e = 0; e < EACH; e++)
            if (e < behind ? c > 0 : c < columns)
                to[e] = element_of(head, e);
    }
}

// Every vector that lies within a column. A thread's columns lie a multiple of EACH apart: how their vectors are woven is the same.
DEVICE void write_columns(GLOBAL T_bits *strip, SHARED const WORD *tile, uint32 before, uint32 columns, uint32 m, uint32 pitch)
{
    const uint32 y = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    const uint32 start = (0 - (before + y) * m) % EACH; // row of a column's first vector
    const uint32 each = (m - start) / EACH;             // vectors of a column
    if (!each || y >= columns)
        return;
    const struct weave weave = weave_from(start, y);
    uint32 vector = lane % each, c = lane / each;            // of column y + c * EACH
    const uint32 down = LANES % each, across = LANES / each; // the thread's next one is so far from that
    uint32 at = (y + c * EACH) * pitch, to = (y + c * EACH) * m + start + vector * EACH;
#pragma unroll 2
    for (uint32 more = ((columns - y + EACH - 1) / EACH * each + LANES - 1 - lane) / LANES; more; more--) {
        union vector low, high; // what is behind a column is not used
        low.all = *(SHARED const uint4 *)(tile + at + vector_place(vector, c));
        high.all = *(SHARED const uint4 *)(tile + at + vector_place(vector + 1, c));
        write_whole((GLOBAL uint4 *)(strip + to), woven(low, high, &weave));
        vector += down;
        c += across;
        at += across * EACH * pitch;
        to += (across * m + down) * EACH;
        if (vector >= each) {
            vector -= each;
            c++;
            at += EACH * pitch;
            to += (m - each) * EACH;
        }
    }
}

KERNEL void __launch_bounds__(THREADS)
transpose(GLOBAL T_bits *__restrict__ out, GLOBAL const T_bits *__restrict__ in, int64 m, int64 n STRIDES DYNAMIC_SHARED_PARAM)
{
    DYNAMIC_SHARED(WORD, tile);
    ENTER_MATRIX(block, (uint32)((n + COLUMNS - 1) / COLUMNS));
    const int64 left = (int64)block * COLUMNS;
    const uint32 rows = (uint32)m, columns = (uint32)min(n - left, (int64)COLUMNS);
    const uint32 pitch = (rows * T_bytes + 127) / 128 * 32;
    {
        const struct run run = run_of(0, left, LDIN, pitch);
        struct words words = words_of(in, m * LDIN);
        // The last row's words may reach behind the matrix. Then its vector is read with a check.
        const int at_end = ((m - 1) * LDIN + left) / PACK + ACROSS >= words.whole, safe = (int)(rows / EACH) - at_end;
        const int more = STRIDE - 1 - threadIdx.x / ACROSS / 4; // than a thread's first vector
        const int end = ((rows + EACH - 1) / EACH + more) / STRIDE, unchecked = (safe + more) / STRIDE;
        int v = 0;
#pragma unroll 1
        for (; v + BATCH <= unchecked; v += BATCH)
            read_batch((SHARED uint8 *)tile, &words, &run, v, 0, LDIN, 1);
        words.rest = at_end ? rest_of(&words, in, m * LDIN) : 0;
#pragma unroll 1
        for (; v < end; v += BATCH)
            read_batch((SHARED uint8 *)tile, &words, &run, v, end, LDIN, 0);
    }
    __syncthreads();

    GLOBAL T_bits *strip = out + left * m;
    const uint32 before = BEFORE(n) + (uint32)left; // columns; what matters is where they end within a vector
    write_columns(strip, tile, before, columns, rows, pitch);
    for (uint32 t = threadIdx.x; t <= (columns | (8 * EACH - 1)); t += THREADS) {
        uint32 c = t % 8 * EACH + t / 8 % 4 * PACK + t / 32 % PACK + t / (8 * EACH) * (8 * EACH); // neighbours in different banks
        uint32 behind = (before + c) * rows % EACH;
        if (behind && c <= columns)
            write_seam(strip + c * m - behind, tile, c, columns, behind, rows, pitch);
    }
}
