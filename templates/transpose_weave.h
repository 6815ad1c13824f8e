// Elements smaller than a word, in rows that begin anywhere. Four rows further down a row begins at the same place of a word: so PACK rows, each
// four below the other, are read as aligned words, all with the same columns, and turned without a shift. What they give of a column, in the
// tile in shared memory, is a word of a vector of 16 bytes; the rows between are its other words. Four words of a column, shifted to where
// a vector of out begins, are woven into it.
#include "transpose.h"
#define COLUMNS (WIDTH / T_bytes - (PACK - 1)) // that are in all rows' words
#define MASK (WIDTH / T_bytes - 1)
#define ACROSS (WIDTH / 4)
#define EACH (4 * PACK)               // elements of a vector
#define STRIDE (THREADS / ACROSS / 4) // vectors from one of a thread to its next
#if PACK == 4 // of four residues the first halves of two, and of the others; and the second halves
#define FIRST 0x5140
#define SECOND 0x7362
#else
#define FIRST 0x5410
#define SECOND 0x7632
#endif

// Where a vector of a column begins, in words from the column; `set` is which EACH columns that is of. Neighbours lie in different banks, for
// words of PACK columns and for vectors of one.
DEVICE uint32 vector_place(uint32 vector, uint32 set)
{
    return (vector ^ (set & 7)) << 2;
}
// The same in words from the tile; `pitch` words are from column to column, a multiple of 32.
DEVICE uint32 place(uint32 column, uint32 vector, uint32 pitch)
{
    return column * pitch + vector_place(vector, column / EACH);
}
// Which word of a vector is that of rows of this residue modulo 4.
DEVICE uint32 word_of(uint32 residue, uint32 column)
{
    return residue ^ (column / PACK & 3);
}

// What a thread reads.
struct run {
    int64 w, step;   // its first word of in, and so many words further its next vector
    uint32 to[PACK]; // where the columns of its first word lie in the tile, in bytes
};

// The tile's first row is row `top` of in.
DEVICE struct run run_of(int64 top, int64 left, int64 ldin, uint32 pitch)
{
    const uint32 x = threadIdx.x % ACROSS, residue = threadIdx.x / ACROSS % 4, first = threadIdx.x / ACROSS / 4;
    const int64 begin = (top + residue) * ldin + left;
    const uint32 aside = (uint32)begin % PACK;
    struct run run;
    run.step = STRIDE * PACK * ldin * T_bytes;
    run.w = (begin - aside) / PACK + (int64)first * PACK * ldin * T_bytes + x;
#pragma unroll
    for (int e = 0; e < PACK; e++) { // columns before the tile are those behind it, which are of no use
        uint32 column = (x * PACK + e - aside) & MASK;
        run.to[e] = 4 * (place(column, first, pitch) + word_of(residue, column));
    }
    return run;
}

// As read_word, but nothing is said of the rest of the line.
DEVICE WORD read_plain(const struct words *in, int64 w, int inside)
{
    return inside ? in->all[w] : word_near(in, w);
}

// Where the tile has what lies `down` vectors below a thread's first one. That is one of the first STRIDE, which is 1, 2, 4 or 8.
DEVICE uint32 further(uint32 to, uint32 down)
{
#ifdef HEIGHT // a power of two
    return to ^ down * 16;
#else
    return (to ^ (down & 7) * 16) + down / 8 * 128;
#endif
}

// Vectors v to v + BATCH - 1 of the thread, but only those before `end` if that is not 0: all are read before any is used.
DEVICE void read_batch(SHARED uint8 *tile, const struct words *in, const struct run *run, int v, int end, int64 ldin, int inside)
{
    WORD raw[BATCH][PACK];
#pragma unroll
    for (int b = 0; b < BATCH && (!end || v + b < end); b++)
#pragma unroll
        for (int k = 0; k < PACK; k++)
            raw[b][k] = read_plain(in, run->w + (v + b) * run->step + k * ldin * T_bytes, inside);
#pragma unroll
    for (int b = 0; b < BATCH && (!end || v + b < end); b++) {
        WORD turned[PACK];
        turn(raw[b], turned);
#pragma unroll
        for (int e = 0; e < PACK; e++)
            *(SHARED WORD *)(tile + further(run->to[e], (v + b) * STRIDE)) = turned[e];
    }
}

DEVICE T_bits element_of(union vector v, uint32 e)
{
    return (T_bits)(v.words[e / PACK] >> e % PACK * 8 * T_bytes);
}

// Vector v of column c in the tile.
DEVICE union vector vector_at(SHARED const WORD *tile, uint32 c, uint32 v, uint32 pitch)
{
    union vector out;
    out.all = *(SHARED const uint4 *)(tile + place(c, v, pitch));
    return out;
}

// How the EACH elements from a row on are made of the two vectors that have them.
struct weave {
    uint32 select[2], shift[4];
};

// The same for columns that lie a multiple of EACH further.
DEVICE struct weave weave_from(uint32 row, uint32 column)
{
    const uint32 turns = row % EACH / 4, residue = row % 4;
    struct weave w = { { 0, 0 } };
#pragma unroll
    for (uint32 k = 0; k < 4; k++) // word k has the residue word_of(k, column)
        w.shift[k] = (turns + (word_of(k, column) < residue ? 1 : 0)) * 8 * T_bytes;
#pragma unroll
    for (uint32 k = 0; k < 4; k++) {
        uint32 from = word_of((residue + k) & 3, column);
#if PACK == 4
        w.select[0] |= (from + (from & 2)) << 4 * k;
#else
        w.select[k / 2] |= (from * 0x22 + 0x10) << k % 2 * 8;
#endif
    }
#if PACK == 4
    w.select[1] = w.select[0] + 0x2222;
#endif
    return w;
}

DEVICE uint4 woven(union vector low, union vector high, const struct weave *w)
{
    uint4 out;
    WORD a, b;
#pragma unroll
    for (int k = 0; k < 4; k++)
        low.words[k] = shift_past(low.words[k], high.words[k], w->shift[k]);
    a = permute(low.words[0], low.words[1], FIRST), b = permute(low.words[2], low.words[3], FIRST);
    out.x = permute(a, b, w->select[0]);
    out.y = permute(a, b, w->select[1]);
    a = permute(low.words[0], low.words[1], SECOND), b = permute(low.words[2], low.words[3], SECOND);
    out.z = permute(a, b, w->select[0]);
    out.w = permute(a, b, w->select[1]);
    return out;
}
