// out[j][i] = in[i][j] of elements smaller than a word, for rows that begin anywhere: transpose_weave.h. As in transpose_window.cu, what a
// block writes of a row of out begins and ends at a multiple of WINDOW bytes.
#include "transpose_weave.h"
#define UNIT (WINDOW / T_bytes) // elements that windows begin at a multiple of
#define LEAD UNIT               // rows of in that a block reads again
#define DEPTH (HEIGHT / T_bytes)
#define ROWS (DEPTH - LEAD) // of out: elements of a window
#define TILES_ACROSS ((uint32)((n + COLUMNS - 1) / COLUMNS))
#define TILES_DOWN ((uint32)((m + LEAD + ROWS - 1) / ROWS))
#define PITCH (HEIGHT / 4)
#define VECTORS (HEIGHT / 16)        // of a column
#define STEPS (VECTORS / STRIDE)     // vectors that a thread has a word of
#define TOGETHER (THREADS / VECTORS) // columns that are written at the same time

DEVICE void read_run(SHARED uint8 *tile, const struct words *in, const struct run *run, int64 ldin, int inside)
{
#pragma unroll 1
    for (int v = 0; v < STEPS; v += BATCH)
        read_batch(tile, in, run, v, 0, ldin, inside);
}

KERNEL void __launch_bounds__(THREADS)
transpose(GLOBAL T_bits *__restrict__ out, GLOBAL const T_bits *__restrict__ in, int64 m, int64 n STRIDES DYNAMIC_SHARED_PARAM)
{
    DYNAMIC_SHARED(WORD, tile);
    ENTER_MATRIX(block, TILES_ACROSS * TILES_DOWN);
    uint32 tile_x, tile_y;
    tile_at(block, TILES_ACROSS, TILES_DOWN, &tile_x, &tile_y);
    int64 left = (int64)tile_x * COLUMNS, top = (int64)tile_y * ROWS;
    {
        const struct run run = run_of(top - LEAD, left, LDIN, PITCH);
        struct words words = words_of(in, m * LDIN);
        if (top < LEAD || ((top - LEAD + DEPTH) * LDIN + left) / PACK + ACROSS >= words.whole) {
            words.rest = rest_of(&words, in, m * LDIN);
            read_run((SHARED uint8 *)tile, &words, &run, LDIN, 0);
        } else {
            read_run((SHARED uint8 *)tile, &words, &run, LDIN, 1);
        }
    }
    __syncthreads();

    uint32 lane = threadIdx.x % VECTORS, y = threadIdx.x / VECTORS;
    if (lane >= ROWS / EACH)
        return;
    // A thread's columns lie a multiple of EACH and of UNIT apart: all this is the same for each.
    uint32 behind = (uint32)((BEFORE(n) + left + y) * LDOUT) % UNIT, start = LEAD - behind; // row of the tile
    uint32 vector = start / EACH + lane;
    const struct weave weave = weave_from(start, y);
    int inside = top >= LEAD && top + ROWS <= m && left + COLUMNS <= n;
    int64 i = top - behind + lane * EACH;
#pragma unroll 4
    for (uint32 c = y; c < COLUMNS; c += TOGETHER) {
        union vector v;
        if (!inside && left + c >= n)
            break;
        v.all = woven(vector_at(tile, c, vector, PITCH), vector_at(tile, c, vector + 1, PITCH), &weave);
        GLOBAL T_bits *to = out + (left + c) * LDOUT + i;
        if (inside || (i >= 0 && i + EACH <= m)) {
            write_whole((GLOBAL uint4 *)to, v.all);
        } else {
#pragma unroll
            for (int e = 0; e < EACH; e++)
                if (i + e >= 0 && i + e < m)
                    to[e] = element_of(v, e);
        }
    }
}
