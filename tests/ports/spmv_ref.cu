KERNEL void
spmv_ref(GLOBAL T *y, GLOBAL const T *values, GLOBAL const int32 *columns_of, GLOBAL const int32 *row_starts,
     GLOBAL const T *x, int32 rows, int32 columns, int32 mean)
{
    const int32 row = (int32)(blockIdx.x * blockDim.x + threadIdx.x);
    double sum = 0;
    if (row >= rows)
        return;
    for (int32 i = row_starts[row]; i < row_starts[row + 1]; i++)
        sum += (double)values[i] * (double)x[columns_of[i]];
    y[row] = (T)sum;
}
