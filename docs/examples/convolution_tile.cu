// A block copies the part of the input that its outputs need into shared memory, in rows with PAD elements more.
KERNEL void __launch_bounds__(BLOCK_X *BLOCK_Y)
convolution(GLOBAL T *__restrict__ out, GLOBAL const T *__restrict__ in, GLOBAL const T *__restrict__ filter, int64 h, int64 w,
            int64 fh, int64 fw DYNAMIC_SHARED_PARAM)
{
    DYNAMIC_SHARED(T, tile);
    int64 across = (w + BLOCK_X * ITEMS_X - 1) / (BLOCK_X * ITEMS_X), pitch = w + fw - 1;
    int64 x = blockIdx.x % across * (BLOCK_X * ITEMS_X), y = blockIdx.x / across * (BLOCK_Y * ITEMS_Y);
    int tx = threadIdx.x, ty = threadIdx.y, wide = BLOCK_X * ITEMS_X + (int)fw - 1, high = BLOCK_Y * ITEMS_Y + (int)fh - 1;
    for (int i = ty; i < high && y + i < h + fh - 1; i += BLOCK_Y)
        for (int j = tx; j < wide && x + j < pitch; j += BLOCK_X)
            tile[i * (wide + PAD) + j] = in[(y + i) * pitch + x + j];
    __syncthreads();

    T sum[ITEMS_Y][ITEMS_X];
#pragma unroll
    for (int q = 0; q < ITEMS_Y; q++)
#pragma unroll
        for (int p = 0; p < ITEMS_X; p++)
            sum[q][p] = 0;
    for (int i = 0; i < fh; i++)
        for (int j = 0; j < fw; j++) {
            T f = __ldg(&filter[i * fw + j]);
#pragma unroll
            for (int q = 0; q < ITEMS_Y; q++)
#pragma unroll
                for (int p = 0; p < ITEMS_X; p++)
                    sum[q][p] += tile[(ty + q * BLOCK_Y + i) * (wide + PAD) + tx + p * BLOCK_X + j] * f;
        }
#pragma unroll
    for (int q = 0; q < ITEMS_Y; q++)
#pragma unroll
        for (int p = 0; p < ITEMS_X; p++) {
            int64 row = y + ty + q * BLOCK_Y, column = x + tx + p * BLOCK_X;
            if (row < h && column < w)
                out[row * w + column] = sum[q][p];
        }
}
