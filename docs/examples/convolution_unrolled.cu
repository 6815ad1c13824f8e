// For a filter that is FW wide. A thread makes ITEMS_X neighbouring outputs of each of ITEMS_Y rows, BLOCK_Y apart: a row of the filter and
// what these outputs need of a row of the input are in registers together.
KERNEL void __launch_bounds__(BLOCK_X *BLOCK_Y)
convolution(GLOBAL T *__restrict__ out, GLOBAL const T *__restrict__ in, GLOBAL const T *__restrict__ filter, int64 h, int64 w,
            int64 fh, int64 fw)
{
    int64 across = (w + BLOCK_X * ITEMS_X - 1) / (BLOCK_X * ITEMS_X), pitch = w + FW - 1;
    int64 x = (blockIdx.x % across * BLOCK_X + threadIdx.x) * ITEMS_X, y = blockIdx.x / across * (BLOCK_Y * ITEMS_Y) + threadIdx.y;
    T sum[ITEMS_Y][ITEMS_X], f[FW], v[FW + ITEMS_X - 1];
#pragma unroll
    for (int q = 0; q < ITEMS_Y; q++)
#pragma unroll
        for (int p = 0; p < ITEMS_X; p++)
            sum[q][p] = 0;
    for (int i = 0; i < fh; i++) {
#pragma unroll
        for (int j = 0; j < FW; j++)
            f[j] = __ldg(&filter[i * FW + j]);
#pragma unroll
        for (int q = 0; q < ITEMS_Y; q++) {
            int64 row = y + q * BLOCK_Y;
#pragma unroll
            for (int j = 0; j < FW + ITEMS_X - 1; j++)
                v[j] = row < h && x + j < pitch ? in[(row + i) * pitch + x + j] : 0;
#pragma unroll
            for (int p = 0; p < ITEMS_X; p++)
#pragma unroll
                for (int j = 0; j < FW; j++)
                    sum[q][p] += v[p + j] * f[j];
        }
    }
#pragma unroll
    for (int q = 0; q < ITEMS_Y; q++)
#pragma unroll
        for (int p = 0; p < ITEMS_X; p++)
            if (y + q * BLOCK_Y < h && x + p < w)
                out[(y + q * BLOCK_Y) * w + x + p] = sum[q][p];
}
