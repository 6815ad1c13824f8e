// The sum in two launches: each block of the first stores its own, and one block adds those. See sums.h.
#include "sums.h"
#include "dependent.h"

KERNEL void __launch_bounds__(BLOCK) sum_partial(SUM_PARAMS, int64 n, GLOBAL T_acc *__restrict__ partial)
{
    __shared__ T_acc sums[BLOCK];
    START_NEXT;
    T_acc a = sum_block(sums, sum_thread(SUM_ARGS, n));
    if (threadIdx.x == 0)
        partial[blockIdx.x] = a;
}

KERNEL void __launch_bounds__(BLOCK) sum_total(GLOBAL T *out, GLOBAL const T_acc *partial, int64 count)
{
    __shared__ T_acc sums[BLOCK];
    WAIT_FOR_IT;
    T_acc a = sum_block(sums, sum_parts(partial, count));
    if (threadIdx.x == 0)
        T_put(out, 0, SUM_RESULT(a));
}
