// y[i][j] = (x[i][j] - mean) / sqrt(variance + eps) * w[j] + b[j]; mean and variance of row i, the latter over n.
#include "rows_ref.h"

KERNEL void layernorm_ref(GLOBAL T *__restrict__ y, GLOBAL const T *__restrict__ x, GLOBAL const T *__restrict__ w,
                          GLOBAL const T *__restrict__ b, float eps, int64 m, int64 n)
{
    __shared__ real shared[256];
    for (int64 i = blockIdx.x; i < m; i += gridDim.x) {
        real sum = 0, squares = 0;
        for (int64 j = threadIdx.x; j < n; j += 256)
            sum += (real)T_get(x, i * n + j);
        real mean = block_sum(shared, sum) / n;
        for (int64 j = threadIdx.x; j < n; j += 256)
            squares += ((real)T_get(x, i * n + j) - mean) * ((real)T_get(x, i * n + j) - mean);
        real deviation = sqrt(block_sum(shared, squares) / n + eps);
        for (int64 j = threadIdx.x; j < n; j += 256)
            T_put(y, i * n + j, ((real)T_get(x, i * n + j) - mean) / deviation * (real)T_get(w, j) + (real)T_get(b, j));
    }
}
