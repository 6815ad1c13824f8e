KERNEL void spmv_rows(GLOBAL int32 *rows, GLOBAL const int32 *lengths, int64 m)
{
    int32 sum = 0;
    for (int64 r = 0; threadIdx.x == 0 && r <= m; r++) {
        rows[r] = sum;
        sum += r < m ? lengths[r] : 0;
    }
}

KERNEL void spmv_columns(GLOBAL int32 *columns, GLOBAL const int32 *rows, GLOBAL const int32 *lengths, int64 m, int64 n)
{
    int64 r = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    for (int32 k = 0; r < m && k < lengths[r]; k++)
        columns[rows[r] + k] = (int32)(k * n / lengths[r]);
}
