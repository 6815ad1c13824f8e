// out[j][i] = in[i][j] in blocks of registers, through a tile in shared memory. A thread reads LOAD bytes of each of so many rows that
// their columns have STORE bytes, and turns them. Rows of in are multiples of LOAD bytes, rows of out of STORE; a tile is WIDTH bytes of a
// row of in wide, and HEIGHT bytes of a row of out high.
#include "transpose.h"
#define COLUMNS (WIDTH / T_bytes)
#define ROWS (HEIGHT / T_bytes)
#define BLOCK_X (LOAD / T_bytes)
#define BLOCK_Y (STORE / T_bytes)
#define TILES_ACROSS ((uint32)((n + COLUMNS - 1) / COLUMNS))
#define TILES_DOWN ((uint32)((m + ROWS - 1) / ROWS))
#define ACROSS (WIDTH / LOAD)
#define DOWN (HEIGHT / STORE)
#define BLOCKS (ACROSS * DOWN / THREADS) // of a thread
#define PITCH (DOWN | 1)                 // from column to column of the tile: odd, against bank conflicts

union row {
    OF(LOAD) all;
    WORD one[LOAD / WORD_bytes];
};
union column {
    OF(STORE) all;
    WORD one[STORE / WORD_bytes];
};

KERNEL void __launch_bounds__(THREADS)
transpose(GLOBAL T_bits *__restrict__ out, GLOBAL const T_bits *__restrict__ in, int64 m, int64 n STRIDES DYNAMIC_SHARED_PARAM)
{
    DYNAMIC_SHARED(OF(STORE), tile); // column BLOCK_X * x + k of the tile is at k * ACROSS + x
#if ORDER == ORDER_rows
    uint32 tiles = TILES_ACROSS;
    ENTER_MATRIX(block, tiles * TILES_DOWN);
    int64 left = (int64)(block % tiles) * COLUMNS, top = (int64)(block / tiles) * ROWS;
#else
    uint32 tiles = TILES_DOWN;
    ENTER_MATRIX(block, tiles * TILES_ACROSS);
    int64 left = (int64)(block / tiles) * COLUMNS, top = (int64)(block % tiles) * ROWS;
#endif
    int thread = threadIdx.x;
    union row rows[BLOCKS][BLOCK_Y];
#pragma unroll
    for (int b = 0; b < BLOCKS; b++) {
        int x = (thread + b * THREADS) % ACROSS, y = (thread + b * THREADS) / ACROSS;
        GLOBAL const T_bits *from = in + (top + y * BLOCK_Y) * LDIN + left + x * BLOCK_X;
        if (top + y * BLOCK_Y < m && left + x * BLOCK_X < n) {
#pragma unroll
            for (int k = 0; k < BLOCK_Y; k++)
                rows[b][k].all = *(GLOBAL const OF(LOAD) *)(from + k * LDIN);
        }
    }
#pragma unroll
    for (int b = 0; b < BLOCKS; b++) {
        int x = (thread + b * THREADS) % ACROSS, y = (thread + b * THREADS) / ACROSS;
#pragma unroll
        for (int w = 0; w < LOAD / WORD_bytes; w++) {
            union column columns[PACK];
#pragma unroll
            for (int g = 0; g < STORE / WORD_bytes; g++) {
                WORD part[PACK], turned[PACK];
#pragma unroll
                for (int k = 0; k < PACK; k++)
                    part[k] = rows[b][g * PACK + k].one[w];
                turn(part, turned);
#pragma unroll
                for (int k = 0; k < PACK; k++)
                    columns[k].one[g] = turned[k];
            }
#pragma unroll
            for (int k = 0; k < PACK; k++)
                tile[((w * PACK + k) * ACROSS + x) * PITCH + y] = columns[k].all;
        }
    }
    __syncthreads();

#pragma unroll
    for (int b = 0; b < COLUMNS * DOWN / THREADS; b++) {
        int place = (thread + b * THREADS) / DOWN, y = (thread + b * THREADS) % DOWN;
        int64 j = left + place % ACROSS * BLOCK_X + place / ACROSS, i = top + y * BLOCK_Y;
        if (j < n && i < m)
            *(GLOBAL OF(STORE) *)(out + j * LDOUT + i) = tile[place * PITCH + y];
    }
}
