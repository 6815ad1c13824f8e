// out[j][i] = in[i][j] for few rows: a strip of whole columns of in is one contiguous piece of out. Its m rows are read LOAD bytes a time,
// from aligned places, and scattered in shared memory; from there they are written as they lie, 16 bytes a time.
#include "transpose.h"
#define LEAD (32 / T_bytes)     // elements that a row may begin earlier
#define COLUMNS (LENGTH - LEAD) // that a block writes
#define EACH (LOAD / T_bytes)
#define LANES (LENGTH / EACH < THREADS ? LENGTH / EACH : THREADS) // threads that read from one row of in
#define TIMES (LENGTH / EACH / LANES)
#if PAD // a word more behind 128 bytes, against bank conflicts
#define PLACE(byte) ((byte) + (byte) / 128 * WORD_bytes)
#else
#define PLACE(byte) (byte)
#endif

union vector {
    uint4 all;
    WORD words[16 / WORD_bytes];
    T_bits one[16 / T_bytes];
};
union piece {
    OF(LOAD) all;
    T_bits one[EACH];
};

KERNEL void __launch_bounds__(THREADS)
transpose(GLOBAL T_bits *__restrict__ out, GLOBAL const T_bits *__restrict__ in, int64 m, int64 n STRIDES DYNAMIC_SHARED_PARAM)
{
    DYNAMIC_SHARED(uint8, strip);
    ENTER_MATRIX(block, (uint32)((n + COLUMNS - 1) / COLUMNS));
    int64 left = (int64)block * COLUMNS;
    uint32 down = (uint32)m, width = (uint32)min(n - left, (int64)COLUMNS);
    int lane = threadIdx.x % LANES;
#pragma unroll 4
    for (uint32 i = threadIdx.x / LANES; i < down; i += THREADS / LANES) {
        uint32 behind = (BEFORE(m) + i) * (uint32)LDIN % EACH;
        int64 start = i * LDIN + left - behind;
        union piece v[TIMES];
#pragma unroll
        for (int t = 0; t < TIMES; t++) {
            int64 first = start + (t * LANES + lane) * EACH;
            if (first + EACH <= m * LDIN) {
                v[t].all = *(GLOBAL const OF(LOAD) *)(in + first);
            } else {
#pragma unroll
                for (int e = 0; e < EACH; e++)
                    v[t].one[e] = in[first + e < m * LDIN ? first + e : 0];
            }
        }
#pragma unroll
        for (int t = 0; t < TIMES; t++) {
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                uint32 j = (t * LANES + lane) * EACH + e - behind;
                if (j < width) // not before the strip either: that is a large number
                    *(SHARED T_bits *)(strip + PLACE((j * down + i) * T_bytes)) = v[t].one[e];
            }
        }
    }
    __syncthreads();

    uint32 count = width * down; // elements
    GLOBAL T_bits *line = out + left * m;
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
            ((GLOBAL uint4 *)line)[q] = v.all;
        } else {
#pragma unroll
            for (int e = 0; e < 16 / T_bytes; e++)
                if (q * (16 / T_bytes) + e < count)
                    line[q * (16 / T_bytes) + e] = v.one[e];
        }
    }
}
