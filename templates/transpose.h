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

#ifdef BACKEND_CUDA
#define shift_down __funnelshift_r
#define shift_up __funnelshift_l
#define permute __byte_perm
#else
// Words of the 64 bits high:low, `by` bits further up, or up from the top; by is 0 to 31.
DEVICE uint32 shift_down(uint32 low, uint32 high, uint32 by)
{
    return (uint32)((((uint64)high << 32) | low) >> by);
}
DEVICE uint32 shift_up(uint32 low, uint32 high, uint32 by)
{
    return (uint32)(((((uint64)high << 32) | low) << by) >> 32);
}
// Bytes of b:a, chosen by the four digits of `which`, the lowest first.
DEVICE uint32 permute(uint32 a, uint32 b, uint32 which)
{
    uint64 all = ((uint64)b << 32) | a;
    return (uint32)(all >> (which & 7) * 8 & 255) | (uint32)(all >> (which >> 4 & 7) * 8 & 255) << 8 |
           (uint32)(all >> (which >> 8 & 7) * 8 & 255) << 16 | (uint32)(all >> (which >> 12 & 7) * 8 & 255) << 24;
}
#endif

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
