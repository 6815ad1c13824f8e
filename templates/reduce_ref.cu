// The sum, mean or largest of each row of x (m x n), or of each column: one block of 256 threads to an output. Floating point is
// summed in double where the device has it.
#include "numbers.h"

#if T_is_float && (defined(BACKEND_CUDA) || defined(cl_khr_fp64))
#define SUM double
#else
#define SUM T_acc
#endif

KERNEL void reduce_ref(GLOBAL T *__restrict__ out, GLOBAL const T *__restrict__ x, int64 m, int64 n, int64 columns, int64 largest,
                       int64 mean)
{
    __shared__ SUM sums[256];
    int64 outputs = columns ? n : m, length = columns ? m : n;
    for (int64 i = blockIdx.x; i < outputs; i += gridDim.x) {
        GLOBAL const T *in = x + (columns ? i : i * n);
        int64 step = columns ? n : 1;
        SUM a = largest ? T_get(in, 0) : 0;
        for (int64 j = threadIdx.x; j < length; j += 256) {
            SUM v = T_get(in, j * step);
            a = !largest ? a + v : v > a || v != v ? v : a;
        }
        __syncthreads();
        sums[threadIdx.x] = a;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int t = 1; t < 256; t++)
                a = !largest ? a + sums[t] : sums[t] > a || sums[t] != sums[t] ? sums[t] : a;
            T_acc all = (T_acc)a;
            T_put(out, i, !mean ? all : T_is_float ? all / (T_acc)length : (T_acc)((int64)all / length));
        }
    }
}
