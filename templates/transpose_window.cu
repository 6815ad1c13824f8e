// out[j][i] = in[i][j] of elements of a word or more, in rows that begin anywhere, through a tile in shared memory. What a block writes of a row of
// out, its window, begins and ends at a multiple of WINDOW bytes: so only the first and the last block of a row write less than an aligned
// vector of STORE bytes. For that, a block reads LEAD rows that the block above it reads, too.
#include "transpose.h"
#define COLUMNS (WIDTH / T_bytes)
#define UNIT (WINDOW > T_bytes ? WINDOW / T_bytes : 1) // elements that windows begin at a multiple of
#define LEAD (UNIT > 1 ? UNIT : 0)
#define READ (HEIGHT / T_bytes) // rows
#define ROWS (READ - LEAD)      // of out: elements of a window
#define TILES_ACROSS ((uint32)((n + COLUMNS - 1) / COLUMNS))
#define TILES_DOWN ((uint32)((m + LEAD + ROWS - 1) / ROWS))
#define RUN (READ * COLUMNS / THREADS) // rows of a thread, one below the other
#define EACH (STORE / T_bytes)         // elements of a vector
// Elements from column to column of the tile; EACH columns are a vector further, against bank conflicts: where rows of out begin anywhere,
// EACH neighbours write to different words of a vector.
#define PITCH ((((READ + UNIT - 1 + EACH - 1) / EACH) | 1) * EACH)
#define COLUMN(c) ((c) * PITCH + (EACH > 1 ? (c) / EACH * EACH : 0))
#define VECTORS (ROWS / EACH)
#define LANES (HEIGHT / STORE) // threads that write a column; the last few have nothing to do
#define STEP (THREADS / LANES) // columns that are written at the same time

// The thread's rows, the first of them at element w of in: BATCH of them are read before any is used.
DEVICE void read_run(SHARED WORD *to, const struct words *in, int64 w, int64 ldin, int inside)
{
    WORD words[BATCH];
#pragma unroll 1
    for (int r = 0; r < RUN; r += BATCH) {
#pragma unroll
        for (int b = 0; b < BATCH; b++, w += ldin)
            words[b] = read_word(in, w, inside);
#pragma unroll
        for (int b = 0; b < BATCH; b++)
            to[r + b] = words[b];
    }
}

KERNEL void __launch_bounds__(THREADS)
transpose(GLOBAL T_bits *__restrict__ out, GLOBAL const T_bits *__restrict__ in, int64 m, int64 n STRIDES DYNAMIC_SHARED_PARAM)
{
    DYNAMIC_SHARED(WORD, tile);
    ENTER_MATRIX(block, TILES_ACROSS * TILES_DOWN);
    uint32 tile_x, tile_y;
    tile_at(block, TILES_ACROSS, TILES_DOWN, &tile_x, &tile_y);
    int64 left = (int64)tile_x * COLUMNS, top = (int64)tile_y * ROWS;
    int thread = threadIdx.x;
    int x = thread % COLUMNS, first = thread / COLUMNS * RUN;
    SHARED WORD *to = tile + COLUMN(x) + first + (uint32)((BEFORE(n) + left + x) * LDOUT) % UNIT;
    int64 from = (top - LEAD + first) * LDIN + left + x;
    struct words words = words_of(in, m * LDIN);
    if (top - LEAD < 1 || (top - LEAD + READ) * LDIN + left + COLUMNS >= words.whole) {
        words.rest = rest_of(&words, in, m * LDIN);
        read_run(to, &words, from, LDIN, 0);
    } else {
        read_run(to, &words, from, LDIN, 1);
    }
    __syncthreads();

    int lane = thread % LANES, y = thread / LANES;
    if (lane >= VECTORS)
        return;
    SHARED const WORD *column = tile + LEAD + lane * EACH;
    int inside = top >= LEAD && top + ROWS <= m && left + COLUMNS <= n;
    int64 j = left + y;
    int64 i = top - (uint32)((BEFORE(n) + j) * LDOUT) % UNIT + lane * EACH; // the same for all columns of this thread
    GLOBAL T_bits *line = out + j * LDOUT + i;
    if (inside) {
#pragma unroll
        for (int c = 0; c < COLUMNS; c += STEP)
            *(GLOBAL OF(STORE) *)(line + c * LDOUT) = *(SHARED const OF(STORE) *)(column + COLUMN(y + c));
    } else {
        for (int c = 0; c < COLUMNS && j + c < n; c += STEP)
            if (i >= 0 && i + EACH <= m)
                *(GLOBAL OF(STORE) *)(line + c * LDOUT) = *(SHARED const OF(STORE) *)(column + COLUMN(y + c));
            else
#pragma unroll 1
                for (int e = 0; e < EACH; e++)
                    if (i + e >= 0 && i + e < m)
                        line[c * LDOUT + e] = column[COLUMN(y + c) + e];
    }
}
