// out[j][i] = in[i][j] for few rows: a strip of whole columns of in is one contiguous piece of out. Its m rows are read LOAD bytes a time,
// from aligned places, and scattered in shared memory; from there they are written as they lie, 16 bytes a time.
#include "transpose_strip.h"
#define LEAD (32 / T_bytes)     // elements that a row may begin earlier
#define COLUMNS (LENGTH - LEAD) // that a block writes
#define EACH (LOAD / T_bytes)
#define LANES (LENGTH / EACH < THREADS ? LENGTH / EACH : THREADS) // threads that read from one row of in
#define TIMES (LENGTH / EACH / LANES)

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

    write_strip(out + left * m, strip, width * down);
}
