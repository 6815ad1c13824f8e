// The sum in two launches: of blocks of 256 threads, and of what they leave. Floating point is summed in double where the device has
// it. The op's header, which stands before this, says of what: see sums.h.
#include "numbers.h"

#if T_is_float && (defined(BACKEND_CUDA) || defined(cl_khr_fp64))
#define SUM double
#else
#define SUM T_acc
#endif

DEVICE SUM sum_of_256(SHARED SUM *sums, SUM sum)
{
    sums[threadIdx.x] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < 256; i++)
        sum += sums[i];
    return sum;
}

#if SUM_INPUTS == 2
KERNEL void sum_ref_parts(GLOBAL const T *__restrict__ x, GLOBAL const T *__restrict__ y, int64 n, GLOBAL SUM *__restrict__ parts)
#else
#define y x
KERNEL void sum_ref_parts(GLOBAL const T *__restrict__ x, int64 n, GLOBAL SUM *__restrict__ parts)
#endif
{
    __shared__ SUM sums[256];
    SUM sum = 0;
    for (int64 i = (int64)blockIdx.x * 256 + threadIdx.x; i < n; i += (int64)gridDim.x * 256)
        sum = SUM_TERM(sum, (SUM)T_get(x, i), (SUM)T_get(y, i));
    sum = sum_of_256(sums, sum);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = sum;
}

KERNEL void sum_ref(GLOBAL T *__restrict__ out, GLOBAL const SUM *__restrict__ parts, int64 count)
{
    __shared__ SUM sums[256];
    SUM sum = 0;
    for (int64 i = threadIdx.x; i < count; i += 256)
        sum += parts[i];
    sum = sum_of_256(sums, sum);
    if (threadIdx.x == 0) {
        T_acc all = (T_acc)SUM_RESULT(sum);
        T_put(out, 0, all);
    }
}
