// out[j][i] = in[i][j] for rows that begin anywhere, through a tile in shared memory. Only aligned words are read, and shifted into place.
// What a block writes of a row of out, its window, begins and ends at a multiple of WINDOW bytes: so only the first and the last block of a
// row write less than an aligned vector of STORE bytes. For that, a block reads LEAD rows that the block above it reads, too.
//
// PACK rows make a group. It has LDIN words, so a group begins at a word, and how far row k of it is from one depends on k alone.
#include "transpose.h"
#define COLUMNS (WIDTH / T_bytes)
#define ACROSS (WIDTH / WORD_bytes)
#define UNIT (WINDOW > T_bytes ? WINDOW / T_bytes : 1) // elements that windows begin at a multiple of
#define LEAD (UNIT > 1 ? UNIT : 0)
#define ROWS (HEIGHT / T_bytes - LEAD) // of out: elements of a window
#define TILES_ACROSS ((uint32)((n + COLUMNS - 1) / COLUMNS))
#define TILES_DOWN ((uint32)((m + LEAD + ROWS - 1) / ROWS))
#define GROUPS (HEIGHT / WORD_bytes)
#define RUN (GROUPS * ACROSS / THREADS) // groups of a thread, one below the other
#define EACH (STORE / T_bytes)          // elements of a vector
#define WORDS (STORE / WORD_bytes)
// Words from column to column of the tile; WORDS columns are a vector further, against bank conflicts: where rows of out begin anywhere,
// WORDS neighbours write to different words of a vector.
#define PITCH ((((GROUPS + UNIT / PACK - 1 + WORDS - 1) / WORDS) | 1) * WORDS)
#define COLUMN(c) ((c) * PITCH + (WORDS > 1 ? (c) / WORDS * WORDS : 0))
#define VECTORS (ROWS / EACH)
#define LANES (HEIGHT / STORE) // threads that write a column; the last few have nothing to do
#define STEP (THREADS / LANES) // columns that are written at the same time

// The group that begins at word w. straight: rows begin at words.
DEVICE void read_group(struct raw *raw, const struct words *in, int64 w, int64 ldin, int inside, int straight)
{
#pragma unroll
    for (int k = 0; k < PACK; k++) {
        int64 at = w + k * ldin * T_bytes / WORD_bytes;
        raw->word[k] = read_word(in, at, inside);
        if (k && !straight)
            raw->next[k] = read_word(in, at + 1, inside);
    }
}

// Shifts the rows of a group into place and turns them.
DEVICE void turn_group(WORD *columns, const struct raw *raw, int64 ldin, int straight)
{
    WORD rows[PACK];
#pragma unroll
    for (int k = 0; k < PACK; k++) {
        rows[k] = raw->word[k];
#if PACK > 1
        if (k && !straight)
            rows[k] = shift_down(rows[k], raw->next[k], (uint32)(k * ldin * T_bytes) % WORD_bytes * 8);
#endif
    }
    turn(rows, columns);
}

// Column k of a group belongs at to[k]: behind the end of the group before.
DEVICE void put_group(SHARED WORD *const *to, int g, WORD *before, const WORD *columns, int64 ldout)
{
#pragma unroll
    for (int k = 0; k < PACK; k++) {
#if PACK > 1
        to[k][g] = k ? shift_up(before[k], columns[k], (uint32)(k * ldout) % PACK * 8 * T_bytes) : columns[k];
        before[k] = columns[k];
#else
        to[k][g] = columns[k];
#endif
    }
}

// The thread's groups, the first of them at word w of in: BATCH of them are read before any is used.
DEVICE void read_run(SHARED WORD *const *to, const struct words *in, int64 w, int64 ldin, int64 ldout, int inside, int straight)
{
    WORD before[PACK], columns[PACK];
    struct raw raw[BATCH];
#if PACK > 1
    struct raw first;
    read_group(&first, in, w - ldin, ldin, inside, straight);
    turn_group(before, &first, ldin, straight);
#endif
#pragma unroll 1
    for (int g = 0; g < RUN; g += BATCH) {
#pragma unroll
        for (int b = 0; b < BATCH; b++, w += ldin)
            read_group(&raw[b], in, w, ldin, inside, straight);
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            turn_group(columns, &raw[b], ldin, straight);
            put_group(to, g + b, before, columns, ldout);
        }
    }
}

KERNEL void __launch_bounds__(THREADS)
transpose(GLOBAL T_bits *__restrict__ out, GLOBAL const T_bits *__restrict__ in, int64 m, int64 n STRIDES DYNAMIC_SHARED_PARAM)
{
    DYNAMIC_SHARED(WORD, tile); // column PACK * x + k of the tile is at k * ACROSS + x
    ENTER_MATRIX(block, TILES_ACROSS * TILES_DOWN);
    uint32 tile_x, tile_y;
    tile_at(block, TILES_ACROSS, TILES_DOWN, &tile_x, &tile_y);
    int64 left = (int64)tile_x * COLUMNS, top = (int64)tile_y * ROWS;
    int thread = threadIdx.x;
    int x = thread % ACROSS, first = thread / ACROSS * RUN;
    int64 group = (top - LEAD) / PACK; // both are multiples of PACK
    SHARED WORD *to[PACK];
#pragma unroll
    for (int k = 0; k < PACK; k++)
        to[k] = tile + COLUMN(k * ACROSS + x) + first + (uint32)((BEFORE(n) + left + PACK * x + k) * LDOUT) % UNIT / PACK;
    int64 from = (group + first) * LDIN + left / PACK + x;
    struct words words = words_of(in, m * LDIN);
    if (group < 1 || (group + GROUPS) * LDIN + left / PACK + ACROSS >= words.whole) {
        words.rest = rest_of(&words, in, m * LDIN);
        read_run(to, &words, from, LDIN, LDOUT, 0, 0);
    } else if (PACK > 1 && LDIN % PACK) {
        read_run(to, &words, from, LDIN, LDOUT, 1, 0);
    } else {
        read_run(to, &words, from, LDIN, LDOUT, 1, 1);
    }
    __syncthreads();

    int lane = thread % LANES, y = thread / LANES;
    if (lane >= VECTORS)
        return;
    SHARED const WORD *column = tile + LEAD / PACK + lane * WORDS;
    int inside = top >= LEAD && top + ROWS <= m && left + COLUMNS <= n;
#pragma unroll
    for (int k = 0; k < PACK; k++) {
        int64 j = left + PACK * y + k;
        // The same distance for all columns of this thread and k.
        int64 i = top - (uint32)((BEFORE(n) + j) * LDOUT) % UNIT + lane * EACH;
        GLOBAL T_bits *line = out + j * LDOUT + i;
        if (inside) {
#pragma unroll
            for (int c = 0; c < ACROSS; c += STEP)
                *(GLOBAL OF(STORE) *)(line + c * LDOUT * PACK) = *(SHARED const OF(STORE) *)(column + COLUMN(k * ACROSS + y + c));
        } else {
            for (int c = 0; c < ACROSS && j + c * PACK < n; c += STEP)
                if (i >= 0 && i + EACH <= m)
                    *(GLOBAL OF(STORE) *)(line + c * LDOUT * PACK) = *(SHARED const OF(STORE) *)(column + COLUMN(k * ACROSS + y + c));
                else
#pragma unroll 1
                    for (int e = 0; e < EACH; e++)
                        if (i + e >= 0 && i + e < m)
                            line[c * LDOUT * PACK + e] = ((SHARED const T_bits *)(column + COLUMN(k * ACROSS + y + c)))[e];
        }
    }
}
