// For long rows: SPLIT blocks to a row, in two launches. rows_partial: the state of each part. rows_whole: a part of the row, once
// more from memory; the parts that were read last come first, since they may still be cached.
#include "rows_merge.h"

KERNEL void __launch_bounds__(BLOCK)
rows_partial(GLOBAL const T *__restrict__ x, int64 m, int64 n, GLOBAL float *__restrict__ partial)
{
    __shared__ struct state states[BLOCK];
    int64 part = (n + SPLIT - 1) / SPLIT, begin = blockIdx.x % SPLIT * part, end = min(begin + part, n);
    GLOBAL const T *in = x + blockIdx.x / SPLIT * n;
    struct state s = state_empty();
#pragma unroll ITEMS
    for (int64 j = begin + threadIdx.x; j < end; j += BLOCK)
        s = state_add(s, T_get(in, j));
    s = block_merge(states, state_close(s));
    if (threadIdx.x == 0)
        ((GLOBAL struct state *)partial)[blockIdx.x] = s;
}

KERNEL void __launch_bounds__(BLOCK)
rows_whole(GLOBAL T *__restrict__ y, GLOBAL const T *__restrict__ x ROW_PARAMS, int64 m, int64 n,
           GLOBAL const float *__restrict__ partial)
{
    int64 block = gridDim.x - 1 - blockIdx.x, row = block / SPLIT;
    int64 part = (n + SPLIT - 1) / SPLIT, begin = block % SPLIT * part, end = min(begin + part, n);
    GLOBAL const T *in = x + row * n;
    GLOBAL T *out = y + row * n;
    GLOBAL const struct state *states = (GLOBAL const struct state *)partial + row * SPLIT;
    struct state s = states[0];
    for (int k = 1; k < SPLIT; k++)
        s = state_merge(s, states[k]);
    struct finish f = row_finish(s, n, eps);
#pragma unroll ITEMS
    for (int64 j = begin + threadIdx.x; j < end; j += BLOCK)
        T_put(out, j, row_value(T_get(in, j), f, ROW_W(j), ROW_B(j)));
}
