// The sum over an output that was cleared: each block adds its own. See sums.h.
#include "sums.h"

KERNEL void __launch_bounds__(BLOCK) sum_atomic(GLOBAL T *__restrict__ out, SUM_PARAMS, int64 n)
{
    __shared__ T_acc sums[BLOCK];
    T_acc a = sum_block(sums, sum_thread(SUM_ARGS, n));
    if (threadIdx.x == 0)
        atomicAdd(out, a);
}
