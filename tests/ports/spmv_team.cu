KERNEL void __launch_bounds__(BLOCK)
spmv_team(GLOBAL T *y, GLOBAL const T *values, GLOBAL const int32 *columns_of, GLOBAL const int32 *row_starts,
     GLOBAL const T *x, int32 rows, int32 columns, int32 mean)
{
    __shared__ T sums[BLOCK];
    const int32 row = (int32)(blockIdx.x * (BLOCK / TEAM) + threadIdx.x / TEAM), me = (int32)(threadIdx.x % TEAM);
    T sum = 0;
    if (row < rows)
        for (int32 i = row_starts[row] + me; i < row_starts[row + 1]; i += TEAM)
            sum += values[i] * x[columns_of[i]];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int32 k = TEAM / 2; k > 0; k /= 2) {
        if (me < k)
            sums[threadIdx.x] += sums[threadIdx.x + k];
        __syncthreads();
    }
    if (row < rows && me == 0)
        y[row] = sums[threadIdx.x];
}
