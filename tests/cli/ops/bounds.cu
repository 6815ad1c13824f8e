/* Says that all is right, and crashes if an index is too large for the problem that it runs on. */
KERNEL void bounds(GLOBAL int32 *out, GLOBAL const T *x, GLOBAL const T *up, GLOBAL const T *any, GLOBAL const I *i,
                   GLOBAL const I *below, GLOBAL const I *rows, GLOBAL int64 *at, int64 n, int64 m)
{
    int64 k = (int64)blockIdx.x * BLOCK + threadIdx.x;
    if (k >= n)
        return;
    out[k] = 1;
    if ((int64)i[k] > 5 + m || (int64)below[k] >= m || (int64)rows[k] >= m || at[k] >= n)
        out[-((int64)1 << 40)] = 1;
}
