// The sum in one launch: each block stores its own and counts itself, and the one that comes last adds them all, in the order of
// blocks. See sums.h. CUDA only: OpenCL has no fence between blocks.
#include "sums.h"

KERNEL void __launch_bounds__(BLOCK) sum_last(GLOBAL T *out, SUM_PARAMS, int64 n, GLOBAL T_acc *partial, GLOBAL uint32 *ended)
{
    __shared__ T_acc sums[BLOCK];
    __shared__ bool last;
    T_acc a = sum_block(sums, sum_thread(SUM_ARGS, n));
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = a;
        __threadfence();
        last = atomicAdd(ended, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last)
        return;
    a = sum_block(sums, sum_parts(partial, gridDim.x));
    if (threadIdx.x == 0)
        T_put(out, 0, SUM_RESULT(a));
}
