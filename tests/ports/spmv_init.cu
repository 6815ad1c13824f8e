// Row r begins at 2 * mean * r, less what a number made of r takes away; so rows have 0 to 2 * mean entries, and the starts ascend.
DEVICE int32 start(int32 row, int32 mean)
{
    const uint32 h = (uint32)row * 2654435761u;
    return row * 2 * mean - (row > 0 ? (int32)((h >> 8) % (uint32)(2 * mean + 1)) : 0);
}

KERNEL void
spmv_init(GLOBAL const T *y, GLOBAL const T *values, GLOBAL int32 *columns_of, GLOBAL int32 *row_starts, GLOBAL const T *x, int32 rows,
          int32 columns, int32 mean)
{
    const int32 row = (int32)(blockIdx.x * blockDim.x + threadIdx.x);
    if (row > rows)
        return;
    const int32 from = start(row, mean), to = row < rows ? start(row + 1, mean) : rows * 2 * mean;
    row_starts[row] = from;
    for (int32 i = from; i < to; i++) // ascending, spread over all columns
        columns_of[i] = (int32)(((int64)(i - from) * columns + (int64)((uint32)row * 40503u % (uint32)columns)) / (4 * mean + 1) % columns);
}
