// y[i][j] = exp(x[i][j] - the largest of row i) / the sum of those over the row.
#include "rows_ref.h"

KERNEL void softmax_ref(GLOBAL T *__restrict__ y, GLOBAL const T *__restrict__ x, int64 m, int64 n)
{
    __shared__ real shared[256];
    for (int64 i = blockIdx.x; i < m; i += gridDim.x) {
        real most = T_get(x, i * n), sum = 0;
        __syncthreads();
        for (int64 j = threadIdx.x; j < n; j += 256)
            most = fmax(most, (real)T_get(x, i * n + j));
        shared[threadIdx.x] = most;
        __syncthreads();
        for (int t = 0; t < 256; t++)
            most = fmax(most, shared[t]);
        for (int64 j = threadIdx.x; j < n; j += 256)
            sum += exp((real)T_get(x, i * n + j) - most);
        sum = block_sum(shared, sum);
        for (int64 j = threadIdx.x; j < n; j += 256)
            T_put(y, i * n + j, exp((real)T_get(x, i * n + j) - most) / sum);
    }
}
