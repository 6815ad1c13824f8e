// A block takes a row at a time and reads it twice. ITEMS elements of a thread are on their way at a time.
#include "rows_merge.h"

KERNEL void __launch_bounds__(BLOCK)
rows(GLOBAL T *__restrict__ y, GLOBAL const T *__restrict__ x ROW_PARAMS, int64 m, int64 n)
{
    __shared__ struct state states[BLOCK];
    for (int64 row = blockIdx.x; row < m; row += gridDim.x) {
        GLOBAL const T *in = x + row * n;
        GLOBAL T *out = y + row * n;
        struct state s = state_empty();
        float v[ITEMS];
        int64 j = threadIdx.x;
        for (; j + (ITEMS - 1) * BLOCK < n; j += ITEMS * BLOCK) {
#pragma unroll
            for (int k = 0; k < ITEMS; k++)
                v[k] = T_get(in, j + k * BLOCK);
#pragma unroll
            for (int k = 0; k < ITEMS; k++)
                s = state_add(s, v[k]);
        }
        for (; j < n; j += BLOCK)
            s = state_add(s, T_get(in, j));

        struct finish f = row_finish(block_merge(states, state_close(s)), n, eps);
        for (j = threadIdx.x; j + (ITEMS - 1) * BLOCK < n; j += ITEMS * BLOCK) {
#pragma unroll
            for (int k = 0; k < ITEMS; k++)
                v[k] = T_get(in, j + k * BLOCK);
#pragma unroll
            for (int k = 0; k < ITEMS; k++)
                T_put(out, j + k * BLOCK, row_value(v[k], f, ROW_W(j + k * BLOCK), ROW_B(j + k * BLOCK)));
        }
        for (; j < n; j += BLOCK)
            T_put(out, j, row_value(T_get(in, j), f, ROW_W(j), ROW_B(j)));
    }
}
