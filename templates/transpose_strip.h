// A strip of whole rows of in, or of whole columns: in shared memory as one contiguous piece.
#include "transpose.h"
#if PAD // a word more behind 128 bytes, against bank conflicts
#define PLACE(byte) ((byte) + (byte) / 128 * WORD_bytes)
#else
#define PLACE(byte) (byte)
#endif

// Its `count` elements, 16 bytes a time.
DEVICE void write_strip(GLOBAL T_bits *out, SHARED const uint8 *strip, uint32 count)
{
#pragma unroll 4
    for (uint32 q = threadIdx.x; q < (count + 16 / T_bytes - 1) / (16 / T_bytes); q += THREADS) {
        union vector v;
#if PAD
#pragma unroll
        for (int e = 0; e < 16 / WORD_bytes; e++)
            v.words[e] = ((SHARED const WORD *)(strip + PLACE(q * 16)))[e];
#else
        v.all = ((SHARED const uint4 *)strip)[q];
#endif
        if ((q + 1) * (16 / T_bytes) <= count) {
            ((GLOBAL uint4 *)out)[q] = v.all;
        } else {
#pragma unroll
            for (int e = 0; e < 16 / T_bytes; e++)
                if (q * (16 / T_bytes) + e < count)
                    out[q * (16 / T_bytes) + e] = v.one[e];
        }
    }
}
