// y[i][j] = x[i][j] * w[j] / sqrt(the mean of x[i][k] * x[i][k] over row i + eps).
#include "rows_ref.h"

KERNEL void rmsnorm_ref(GLOBAL T *__restrict__ y, GLOBAL const T *__restrict__ x, GLOBAL const T *__restrict__ w,
                        float eps, int64 m, int64 n)
{
    __shared__ real shared[256];
    for (int64 i = blockIdx.x; i < m; i += gridDim.x) {
        real squares = 0;
        for (int64 j = threadIdx.x; j < n; j += 256)
            squares += (real)T_get(x, i * n + j) * (real)T_get(x, i * n + j);
        squares = block_sum(shared, squares);
        for (int64 j = threadIdx.x; j < n; j += 256)
            T_put(y, i * n + j, (real)T_get(x, i * n + j) * (real)T_get(w, j) / sqrt(squares / n + eps));
    }
}
