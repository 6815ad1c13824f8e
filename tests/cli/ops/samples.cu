KERNEL void samples_plain(GLOBAL int32 *out, GLOBAL const T *img, int64 m, int64 n)
{
    int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x, x = i % n;
    if (i < m * n)
        out[i] = (x ? img[i - 1] : 0) + (img[x + 1 < n ? i + 1 : i - x] << 8) + (img[x + 1 < n ? i + 1 : i] << 16);
}
