// What the transposes by words have in common. A word is an element, or four bytes of smaller ones.
#include "transpose_packed.h"
#if T_bytes < 4
#define WORD uint32
#define WORD_bytes 4
#else
#define WORD T_bits
#define WORD_bytes T_bytes
#endif
#define PACK (WORD_bytes / T_bytes) // elements of a word

// A type of so many bytes, for an access.
#define OF_1 uint8
#define OF_2 uint16
#define OF_4 uint32
#define OF_8 uint64
#define OF_16 uint4
#define JOIN(a, b) a##b
#define OF(bytes) JOIN(OF_, bytes)

union vector {
    WORD words[16 / WORD_bytes];
    uint4 all;
    T_bits one[16 / T_bytes];
};

#ifdef BACKEND_CUDA
#define shift_down __funnelshift_r
#define shift_past __funnelshift_rc
#define permute __byte_perm
#define write_whole __stwb // what st.global is; an assignment of a struct may become four
#else
#define write_whole(to, v) (*(to) = (v))
// The word of the 64 bits high:low that is `by` bits further up; by is 0 to 31.
DEVICE uint32 shift_down(uint32 low, uint32 high, uint32 by)
{
    return (uint32)((((uint64)high << 32) | low) >> by);
}
#define shift_past shift_down // by may be 32, too
// Bytes of b:a, chosen by the four digits of `which`, the lowest first.
DEVICE uint32 permute(uint32 a, uint32 b, uint32 which)
{
    uint64 all = ((uint64)b << 32) | a;
    return (uint32)(all >> (which & 7) * 8 & 255) | (uint32)(all >> (which >> 4 & 7) * 8 & 255) << 8 |
           (uint32)(all >> (which >> 8 & 7) * 8 & 255) << 16 | (uint32)(all >> (which >> 12 & 7) * 8 & 255) << 24;
}
#endif

#if defined(BACKEND_CUDA) && __CUDA_ARCH__ >= 800 && WORD_bytes == 4
// A word of which the others of its line are wanted soon: rows that begin anywhere share lines with the tile beside.
DEVICE WORD read_line(const WORD *from)
{
    WORD v;
    asm volatile("ld.global.nc.L2::128B.u32 %0, [%1];" : "=r"(v) : "l"(from));
    return v;
}
#else
#define read_line(from) (*(from))
#endif

// A matrix in words: those that are whole, and what is left behind them.
struct words {
    GLOBAL const WORD *all;
    int64 whole;
    WORD rest;
};

// `rest` is what only blocks at the edge need: rest_of.
DEVICE struct words words_of(GLOBAL const T_bits *in, int64 elements)
{
    struct words words;
    words.all = (GLOBAL const WORD *)in;
    words.whole = elements / PACK;
    return words;
}

DEVICE WORD rest_of(const struct words *words, GLOBAL const T_bits *in, int64 elements)
{
#if PACK > 1
    WORD rest = 0;
    for (int k = 0; k < (int)(elements % PACK); k++)
        rest |= (WORD)in[words->whole * PACK + k] << k * 8 * T_bytes;
    return rest;
#else
    return words->all[0]; // any
#endif
}

// Word w. What is before the matrix or behind it is of no use.
DEVICE WORD word_near(const struct words *in, int64 w)
{
    return w < in->whole ? in->all[w < 0 ? 0 : w] : in->rest;
}

// Constant, so one of the two is compiled: inside, where all words are whole ones of the matrix.
DEVICE WORD read_word(const struct words *in, int64 w, int inside)
{
    return inside ? read_line(in->all + w) : word_near(in, w);
}

// Transposes PACK rows of a word each.
DEVICE void turn(const WORD *rows, WORD *columns)
{
#if PACK == 4
    uint32 low01 = permute(rows[0], rows[1], 0x5140), high01 = permute(rows[0], rows[1], 0x7362);
    uint32 low23 = permute(rows[2], rows[3], 0x5140), high23 = permute(rows[2], rows[3], 0x7362);
    columns[0] = permute(low01, low23, 0x5410);
    columns[1] = permute(low01, low23, 0x7632);
    columns[2] = permute(high01, high23, 0x5410);
    columns[3] = permute(high01, high23, 0x7632);
#elif PACK == 2
    columns[0] = permute(rows[0], rows[1], 0x5410);
    columns[1] = permute(rows[0], rows[1], 0x7632);
#else
    columns[0] = rows[0];
#endif
}

#ifdef ORDER_bands
// The tile of a block. They are numbered down the columns of in, or in bands of four columns of tiles: along each band, then down.
DEVICE void tile_at(uint32 block, uint32 across, uint32 down, uint32 *x, uint32 *y)
{
#if ORDER == ORDER_bands
    uint32 band = block / (4 * down), rest = block % (4 * down), wide = across - 4 * band;
    wide = wide < 4 ? wide : 4;
    *x = 4 * band + rest % wide;
    *y = rest / wide;
#else
    *x = block / down;
    *y = block % down;
#endif
}
#endif
