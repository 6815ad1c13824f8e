// For the reference of an op over rows: one block of 256 threads to a row, in double where the device has it.
#include "numbers.h"

#if defined(BACKEND_CUDA) || defined(cl_khr_fp64)
typedef double real;
#else
typedef float real;
#endif

DEVICE real block_sum(SHARED real *sums, real v)
{
    real sum = 0;
    __syncthreads();
    sums[threadIdx.x] = v;
    __syncthreads();
    for (int i = 0; i < 256; i++)
        sum += sums[i];
    return sum;
}
