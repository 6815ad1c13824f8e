// out[j][i] = in[i][j] of elements smaller than a word, for few rows: a strip of whole columns of in is one contiguous piece of out. PACK rows
// at a time are read as aligned words, shifted into place and turned: so a column lies in shared memory as words, the first of which begins at
// its first row. The strip is put together from these, word by word: a column may begin and end within a word of it.
#include "transpose_strip.h"
#define ACROSS (LENGTH / PACK) // words of a row

// What is read of a group of PACK rows: of each the aligned word in which its PACK elements begin, and the next.
struct raw {
    WORD word[PACK], next[PACK];
};

// Where column k of the PACK at word x begins. Those of neighbours lie an odd number of words apart, against bank conflicts.
DEVICE uint32 place(uint32 x, uint32 k, uint32 groups)
{
    return x * (PACK * groups + 1) + k * groups;
}

// How far a group's rows are from its first in words, and what is left of that in bits. The group has ldin words, so each begins at a word.
struct rows {
    int64 word[PACK];
    uint32 bits[PACK];
};

// Word w of the group's first row, and of `count` rows what lies below it. straight: all rows begin at words.
DEVICE void read_group(struct raw *raw, const struct words *in, const struct rows *rows, int64 w, int count, int inside, int straight)
{
#pragma unroll
    for (int k = 0; k < PACK; k++) {
        int64 at = w + (k < count ? rows->word[k] : 0); // of no use, if there is no such row
        raw->word[k] = read_word(in, at, inside);
        if (k && !straight)
            raw->next[k] = read_word(in, at + 1, inside);
    }
}

// `to` is where the first of PACK columns has this group.
DEVICE void put_group(SHARED WORD *to, uint32 groups, const struct raw *raw, const struct rows *rows, int straight)
{
    WORD words[PACK], columns[PACK];
#pragma unroll
    for (int k = 0; k < PACK; k++)
        words[k] = k && !straight ? shift_down(raw->word[k], raw->next[k], rows->bits[k]) : raw->word[k];
    turn(words, columns);
#pragma unroll
    for (int k = 0; k < PACK; k++)
        to[k * groups] = columns[k];
}

// The thread's groups are t = threadIdx.x and each THREADS further: BATCH of them are read before any is used. Behind the last row there is
// what nobody uses.
DEVICE void read_columns(SHARED WORD *tile, const struct words *in, int64 left, uint32 down, int64 ldin, int inside, int straight)
{
    const uint32 groups = (down + PACK - 1) / PACK, whole = down / PACK * ACROSS;
    struct rows rows;
    struct raw raw[BATCH];
    uint32 t = threadIdx.x;
#pragma unroll
    for (int k = 0; k < PACK; k++) {
        rows.word[k] = k * ldin / PACK;
        rows.bits[k] = (uint32)(k * ldin) % PACK * 8 * T_bytes;
    }
    left /= PACK;
#pragma unroll 1
    for (; t + (BATCH - 1) * THREADS < whole; t += BATCH * THREADS) {
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            uint32 at = t + b * THREADS;
            read_group(&raw[b], in, &rows, at / ACROSS * ldin + at % ACROSS + left, PACK, inside, straight);
        }
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            uint32 at = t + b * THREADS;
            put_group(tile + place(at % ACROSS, 0, groups) + at / ACROSS, groups, &raw[b], &rows, straight);
        }
    }
#pragma unroll 1
    for (; t < groups * ACROSS; t += THREADS) {
        int count = (int)(down - t / ACROSS * PACK);
        read_group(&raw[0], in, &rows, t / ACROSS * ldin + t % ACROSS + left, count, inside, straight);
        put_group(tile + place(t % ACROSS, 0, groups) + t / ACROSS, groups, &raw[0], &rows, straight);
    }
}

// The words of the strip that begin in one of its columns: a thread's first, and each THREADS further.
DEVICE void put_columns(SHARED uint8 *strip, SHARED const WORD *tile, uint32 down)
{
    const uint32 groups = (down + PACK - 1) / PACK;
#pragma unroll 1
    for (uint32 t = threadIdx.x; t < LENGTH; t += THREADS) {
        uint32 x = t % ACROSS, k = t / ACROSS;
        SHARED const WORD *column = tile + place(x, k, groups), *next = column + groups + (k + 1 == PACK);
        uint32 first = (x * PACK + k) * down, skip = (0 - first) % PACK; // of the column's elements, those that end a word of the one before
        uint32 w = (first + skip) / PACK, whole = down < skip ? 0 : (down - skip) / PACK, g = 0;
        WORD low = column[0], high = 0;
#pragma unroll 4
        for (; g < whole; g++, low = high) {
            high = column[g + 1]; // another's, if nothing is skipped: then it is not used
            *(SHARED WORD *)(strip + PLACE((w + g) * WORD_bytes)) = shift_down(low, high, skip * 8 * T_bytes);
        }
        uint32 i = skip + g * PACK;
        if (i < down) { // the rest of its word is of the next column: the strip's last column ends with a word
            uint32 bits = (down - i) * 8 * T_bytes;
            high = g + 1 < groups ? column[g + 1] : 0;
            WORD word = shift_down(low, high, skip * 8 * T_bytes) & (((WORD)1 << bits) - 1);
            *(SHARED WORD *)(strip + PLACE((w + g) * WORD_bytes)) = word | *next << bits;
        }
    }
}

KERNEL void __launch_bounds__(THREADS)
transpose(GLOBAL T_bits *__restrict__ out, GLOBAL const T_bits *__restrict__ in, int64 m, int64 n STRIDES DYNAMIC_SHARED_PARAM)
{
    DYNAMIC_SHARED(WORD, tile);
    ENTER_MATRIX(block, (uint32)((n + LENGTH - 1) / LENGTH));
    int64 left = (int64)block * LENGTH;
    uint32 down = (uint32)m, width = (uint32)min(n - left, (int64)LENGTH);
    SHARED uint8 *strip = (SHARED uint8 *)(tile + place(ACROSS, 0, (down + PACK - 1) / PACK));
    struct words words = words_of(in, m * LDIN);
    if (((m - 1) * LDIN + left) / PACK + ACROSS >= words.whole) {
        words.rest = rest_of(&words, in, m * LDIN);
        read_columns(tile, &words, left, down, LDIN, 0, 0);
    } else if (LDIN % PACK) {
        read_columns(tile, &words, left, down, LDIN, 1, 0);
    } else {
        read_columns(tile, &words, left, down, LDIN, 1, 1);
    }
    __syncthreads();
    put_columns(strip, tile, down);
    __syncthreads();
    write_strip(out + left * m, strip, width * down);
}
