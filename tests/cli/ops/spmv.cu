/* Crashes if its matrix is not one of this problem. */
KERNEL void spmv(GLOBAL T *y, GLOBAL const int32 *rows, GLOBAL const int32 *columns, GLOBAL const T *values, GLOBAL const T *x, int64 m,
                 int64 n)
{
    int64 r = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    T sum = 0;
    if (r >= m)
        return;
    for (int32 k = rows[r]; k < rows[r + 1]; k++) {
        if (columns[k] < 0 || columns[k] >= n || (r == 0 && rows[0]))
            y[-((int64)1 << 40)] = 0;
        sum += values[k] * x[columns[k]];
    }
    y[r] = sum;
}
