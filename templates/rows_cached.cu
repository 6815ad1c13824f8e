// A block takes a row and keeps it in shared memory, so that it is read once.
#include "rows_merge.h"

KERNEL void __launch_bounds__(BLOCK)
rows(GLOBAL T *__restrict__ y, GLOBAL const T *__restrict__ x ROW_PARAMS, int64 m, int64 n DYNAMIC_SHARED_PARAM)
{
    __shared__ struct state states[BLOCK];
    DYNAMIC_SHARED(T, kept);
    GLOBAL const T *in = x + blockIdx.x * n;
    GLOBAL T *out = y + blockIdx.x * n;
    struct state s = state_empty();
    T v[ITEMS];
    int j = threadIdx.x, end = n;
    for (; j + (ITEMS - 1) * BLOCK < end; j += ITEMS * BLOCK) {
#pragma unroll
        for (int k = 0; k < ITEMS; k++)
            v[k] = in[j + k * BLOCK];
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            kept[j + k * BLOCK] = v[k];
            s = state_add(s, T_from(v[k]));
        }
    }
    for (; j < end; j += BLOCK) {
        kept[j] = in[j];
        s = state_add(s, T_from(kept[j]));
    }

    struct finish f = row_finish(block_merge(states, state_close(s)), n, eps);
#pragma unroll ITEMS
    for (j = threadIdx.x; j < end; j += BLOCK) // each thread's own elements
        T_put(out, j, row_value(T_from(kept[j]), f, ROW_W(j), ROW_B(j)));
}
