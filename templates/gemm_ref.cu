// C = A B, element by element of C. Where C is small k is split: each part's sums are left in `partial`, parts x m x n, and
// gemm_ref_total adds them. Single precision and less is summed in double where the device has it.
#include "numbers.h"

#if T_is_float && T_bytes <= 4 && (defined(BACKEND_CUDA) || defined(cl_khr_fp64))
#define SUM double
#else
#define SUM T_acc
#endif

KERNEL void gemm_ref(GLOBAL T *__restrict__ c, GLOBAL const T *__restrict__ a, GLOBAL const T *__restrict__ b, int64 m, int64 n,
                     int64 k, int64 parts, GLOBAL SUM *__restrict__ partial)
{
    int64 length = (k + parts - 1) / parts;
    for (int64 place = (int64)blockIdx.x * 256 + threadIdx.x; place < m * n * parts; place += (int64)gridDim.x * 256) {
        int64 part = place / (m * n), i = place / n % m, j = place % n;
        SUM sum = 0;
        for (int64 p = part * length; p < min((part + 1) * length, k); p++)
            sum += (SUM)T_get(a, i * k + p) * (SUM)T_get(b, p * n + j);
        if (parts > 1)
            partial[place] = sum;
        else
            T_put(c, place, (T_acc)sum);
    }
}

KERNEL void gemm_ref_total(GLOBAL T *__restrict__ c, int64 m, int64 n, int64 parts, GLOBAL const SUM *__restrict__ partial)
{
    for (int64 place = (int64)blockIdx.x * 256 + threadIdx.x; place < m * n; place += (int64)gridDim.x * 256) {
        SUM sum = 0;
        for (int64 part = 0; part < parts; part++)
            sum += partial[part * m * n + place];
        T_put(c, place, (T_acc)sum);
    }
}
