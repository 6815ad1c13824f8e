// out[j][i] = in[i][j] of elements smaller than a word, for rows that begin anywhere. Four rows further down a row begins at the same place
// of a word: so PACK rows, each four below the other, are read as aligned words, all with the same columns, and turned without a shift.
// What they give of a column, in the tile in shared memory, is a word of a vector of 16 bytes; the rows between are its other words. Four
// words of a column, shifted to where the row of out begins, are woven into a vector of it. As in transpose_window.cu, what a block writes
// of a row of out begins and ends at a multiple of WINDOW bytes.
#include "transpose.h"
#define COLUMNS (WIDTH / T_bytes - (PACK - 1)) // that are in all rows' words
#define MASK (WIDTH / T_bytes - 1)
#define ACROSS (WIDTH / 4)
#define UNIT (WINDOW / T_bytes) // elements that windows begin at a multiple of
#define LEAD UNIT               // rows of in that a block reads again
#define DEPTH (HEIGHT / T_bytes)
#define ROWS (DEPTH - LEAD) // of out: elements of a window
#define TILES_ACROSS ((uint32)((n + COLUMNS - 1) / COLUMNS))
#define TILES_DOWN ((uint32)((m + LEAD + ROWS - 1) / ROWS))
#define EACH (4 * PACK)               // elements of a vector
#define VECTORS (HEIGHT / 16)         // of a column
#define STRIDE (THREADS / ACROSS / 4) // vectors from one of a thread to its next
#define STEPS (VECTORS / STRIDE)      // vectors that a thread has a word of
#define TOGETHER (THREADS / VECTORS)  // columns that are written at the same time
#if PACK == 4 // of four residues the first halves of two, and of the others; and the second halves
#define FIRST 0x5140
#define SECOND 0x7362
#else
#define FIRST 0x5410
#define SECOND 0x7632
#endif

// As read_word, but nothing is said of the rest of the line.
DEVICE WORD read_plain(const struct words *in, int64 w, int inside)
{
    return inside ? in->all[w] : word_near(in, w);
}

// Where a vector of a column begins. Neighbours lie in different banks, for words of PACK columns and for vectors of one.
DEVICE uint32 place(uint32 column, uint32 vector)
{
    return column * (HEIGHT / 4) + ((vector ^ (column / EACH & 7)) << 2);
}
// Which word of a vector is that of rows of this residue modulo 4.
DEVICE uint32 word_of(uint32 residue, uint32 column)
{
    return residue ^ (column / PACK & 3);
}

// The thread's words of rows of a residue, the first of them word w of in: BATCH groups are read before any is used.
DEVICE void read_run(SHARED uint8 *tile, const struct words *in, int64 w, int64 ldin, uint32 aside, uint32 residue, uint32 first,
                     int inside)
{
    uint32 to[PACK];
#pragma unroll
    for (int e = 0; e < PACK; e++) { // columns before the tile are those behind it, which are of no use
        uint32 column = (threadIdx.x % ACROSS * PACK + e - aside) & MASK;
        to[e] = 4 * (place(column, first) + word_of(residue, column));
    }
#pragma unroll 1
    for (int v = 0; v < STEPS; v += BATCH) {
        WORD raw[BATCH][PACK];
#pragma unroll
        for (int b = 0; b < BATCH; b++)
#pragma unroll
            for (int k = 0; k < PACK; k++)
                raw[b][k] = read_plain(in, w + (int64)((v + b) * STRIDE * PACK + k) * ldin * T_bytes, inside);
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            WORD turned[PACK];
            turn(raw[b], turned);
#pragma unroll
            for (int e = 0; e < PACK; e++)
                *(SHARED WORD *)(tile + (to[e] ^ (v + b) * STRIDE * 16)) = turned[e]; // first is less than STRIDE, a power of two
        }
    }
}

union vector {
    uint4 all;
    WORD words[4];
};

KERNEL void __launch_bounds__(THREADS)
transpose(GLOBAL T_bits *__restrict__ out, GLOBAL const T_bits *__restrict__ in, int64 m, int64 n STRIDES DYNAMIC_SHARED_PARAM)
{
    DYNAMIC_SHARED(WORD, tile);
    ENTER_MATRIX(block, TILES_ACROSS * TILES_DOWN);
    uint32 tile_x, tile_y;
    tile_at(block, TILES_ACROSS, TILES_DOWN, &tile_x, &tile_y);
    int64 left = (int64)tile_x * COLUMNS, top = (int64)tile_y * ROWS;
    {
        uint32 set = threadIdx.x / ACROSS, residue = set % 4, first = set / 4;
        int64 begin = (top - LEAD + residue) * LDIN + left;
        uint32 aside = (uint32)begin % PACK;
        int64 w = (begin - aside) / PACK + (int64)first * PACK * LDIN * T_bytes + threadIdx.x % ACROSS;
        struct words words = words_of(in, m * LDIN);
        if (top < LEAD || ((top - LEAD + DEPTH) * LDIN + left) / PACK + ACROSS >= words.whole) {
            words.rest = rest_of(&words, in, m * LDIN);
            read_run((SHARED uint8 *)tile, &words, w, LDIN, aside, residue, first, 0);
        } else {
            read_run((SHARED uint8 *)tile, &words, w, LDIN, aside, residue, first, 1);
        }
    }
    __syncthreads();

    uint32 lane = threadIdx.x % VECTORS, y = threadIdx.x / VECTORS;
    if (lane >= ROWS / EACH)
        return;
    // A thread's columns lie a multiple of EACH and of UNIT apart: all this is the same for each.
    uint32 behind = (uint32)((BEFORE(n) + left + y) * LDOUT) % UNIT, start = LEAD - behind; // row of the tile
    uint32 vector = start / EACH + lane, turns = start % EACH / 4, residue = start % 4;
    uint32 select[2] = { 0, 0 }, shift[4];
#pragma unroll
    for (uint32 k = 0; k < 4; k++) // word k has the residue word_of(k, y)
        shift[k] = (turns + (word_of(k, y) < residue ? 1 : 0)) * 8 * T_bytes;
#pragma unroll
    for (uint32 k = 0; k < 4; k++) {
        uint32 from = word_of((residue + k) & 3, y);
#if PACK == 4
        select[0] |= (from + (from & 2)) << 4 * k;
#else
        select[k / 2] |= (from * 0x22 + 0x10) << k % 2 * 8;
#endif
    }
#if PACK == 4
    select[1] = select[0] + 0x2222;
#endif
    int inside = top >= LEAD && top + ROWS <= m && left + COLUMNS <= n;
    int64 i = top - behind + lane * EACH;
#pragma unroll 4
    for (uint32 c = y; c < COLUMNS; c += TOGETHER) {
        union vector low, high;
        uint4 turned;
        if (!inside && left + c >= n)
            break;
        low.all = *(SHARED const uint4 *)(tile + place(c, vector));
        high.all = *(SHARED const uint4 *)(tile + place(c, vector + 1));
#pragma unroll
        for (int k = 0; k < 4; k++)
            low.words[k] = shift_past(low.words[k], high.words[k], shift[k]);
        {
            WORD a = permute(low.words[0], low.words[1], FIRST), b = permute(low.words[2], low.words[3], FIRST);
            turned.x = permute(a, b, select[0]);
            turned.y = permute(a, b, select[1]);
            a = permute(low.words[0], low.words[1], SECOND), b = permute(low.words[2], low.words[3], SECOND);
            turned.z = permute(a, b, select[0]);
            turned.w = permute(a, b, select[1]);
        }
        GLOBAL T_bits *to = out + (left + c) * LDOUT + i;
        if (inside || (i >= 0 && i + EACH <= m)) {
            write_whole((GLOBAL uint4 *)to, turned);
        } else {
            WORD words[4] = { turned.x, turned.y, turned.z, turned.w };
#pragma unroll
            for (int e = 0; e < EACH; e++)
                if (i + e >= 0 && i + e < m)
                    to[e] = (T_bits)(words[e / PACK] >> e % PACK * 8 * T_bytes);
        }
    }
}
