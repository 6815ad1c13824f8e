// The sum by one block: see sums.h.
#include "sums.h"

KERNEL void __launch_bounds__(BLOCK) sum_single(GLOBAL T *__restrict__ out, SUM_PARAMS, int64 n)
{
    __shared__ T_acc sums[BLOCK];
    T_acc a = sum_block(sums, sum_thread(SUM_ARGS, n));
    if (threadIdx.x == 0)
        T_put(out, 0, SUM_RESULT(a));
}
