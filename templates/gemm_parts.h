// For products whose k is split: several blocks sum to one element of C, each over a part of k. Each leaves its sum in `partial`,
// parts x batch x m x n, and gemm_total joins them. With one part the sums go to C, and gemm_total is not launched.
#include "gemm.h"
#include "dependent.h"

// Parts begin at multiples of `step`; the last ones may be empty.
DEVICE int64 part_begin(int64 k, int64 part, int64 parts, int64 step)
{
    int64 length = ((k + step - 1) / step + parts - 1) / parts * step;
    return min(part * length, k);
}

#define LOADS 8 // that a thread has in flight

// `lines` threads, a power of two, share an element of C. `partial` has no __restrict__: as a dependent launch this one begins while the
// one before still writes there, and loads that are taken for read-only could be moved before the wait.
KERNEL void __launch_bounds__(256)
gemm_total(GLOBAL T *__restrict__ c, T_acc alpha, T_acc beta, int64 m, int64 n, int64 ldc, int64 batch, int64 parts, int64 lines,
           GLOBAL const T_acc *partial)
{
#if FILL // else never launched: there is one part
    __shared__ T_acc sums[256];
    int across = 256 / (int)lines, t = threadIdx.x, line = t / across;
    int64 place = (int64)blockIdx.x * across + t % across, count = batch * m * n;
    int64 step = lines * count;
    T_acc sum = 0;
    WAIT_FOR_IT;
    partial += line * count + place;
    for (int64 part = place < count ? line : parts; part < parts; part += LOADS * lines, partial += LOADS * step) {
        T_acc v[LOADS];
#pragma unroll
        for (int i = 0; i < LOADS; i++)
            v[i] = part + i * lines < parts ? partial[i * step] : (T_acc)0;
#pragma unroll
        for (int i = 0; i < LOADS; i++)
            sum += v[i];
    }
    if (lines > 1) {
        sums[t] = sum;
        __syncthreads();
        for (int w = (int)lines / 2; w > 0; w /= 2) {
            if (line < w)
                sums[t] += sums[t + w * across];
            __syncthreads();
        }
        sum = sums[t];
    }
    if (line == 0 && place < count)
        c_put(c, ldc == n ? place : place / n * ldc + place % n, alpha, sum, beta);
#endif
}
