// C = alpha op(A) op(B) + beta C, element by element of C. Where C is small k is split: each part's sums are left in `partial`, parts x
// batch x m x n, and gemm_ref_total adds them. Single precision and less is summed in double where the device has it.
#include "numbers.h"
#include "gemm.h"

#if T_is_float && T_bytes <= 4 && (defined(BACKEND_CUDA) || defined(cl_khr_fp64))
#define SUM double
#else
#define SUM T_acc
#endif

// beta = 0: what C was is not read.
DEVICE void put(GLOBAL T *c, int64 at, T_acc alpha, SUM sum, T_acc beta)
{
    SUM old = beta == 0 ? 0 : (SUM)beta * (SUM)T_get(c, at);
    T_put(c, at, (T_acc)((SUM)alpha * sum + old));
}

KERNEL void gemm_ref(GLOBAL T *__restrict__ c, T_acc alpha, GLOBAL const T *__restrict__ a, GLOBAL const T *__restrict__ b,
                     T_acc beta, int64 m, int64 n, int64 k, int64 ta, int64 tb, int64 lda, int64 ldb, int64 ldc, int64 batch,
                     int64 parts, GLOBAL SUM *__restrict__ partial)
{
    int64 length = (k + parts - 1) / parts, count = batch * m * n;
    int64 next_a = ta ? lda : 1, next_b = tb ? 1 : ldb;
    for (int64 place = (int64)blockIdx.x * 256 + threadIdx.x; place < count * parts; place += (int64)gridDim.x * 256) {
        int64 part = place / count, row = place % count / n, j = place % n, i = row % m, matrix = row / m;
        GLOBAL const T *x = a + matrix * (ta ? k : m) * lda + (ta ? i : i * lda);
        GLOBAL const T *y = b + matrix * (tb ? n : k) * ldb + (tb ? j * ldb : j);
        SUM sum = 0;
        for (int64 p = part * length; p < min((part + 1) * length, k); p++)
            sum += (SUM)T_get(x, p * next_a) * (SUM)T_get(y, p * next_b);
        if (parts > 1)
            partial[place] = sum;
        else
            put(c, row * ldc + j, alpha, sum, beta);
    }
}

KERNEL void gemm_ref_total(GLOBAL T *__restrict__ c, T_acc alpha, T_acc beta, int64 m, int64 n, int64 ldc, int64 batch, int64 parts,
                           GLOBAL const SUM *__restrict__ partial)
{
    int64 count = batch * m * n;
    for (int64 place = (int64)blockIdx.x * 256 + threadIdx.x; place < count; place += (int64)gridDim.x * 256) {
        SUM sum = 0;
        for (int64 part = 0; part < parts; part++)
            sum += partial[part * count + place];
        put(c, place / n * ldc + place % n, alpha, sum, beta);
    }
}
