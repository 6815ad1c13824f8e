// A thread makes ITEMS_X x ITEMS_Y outputs, BLOCK_X and BLOCK_Y apart, and reads what it needs from memory.
KERNEL void __launch_bounds__(BLOCK_X *BLOCK_Y)
convolution(GLOBAL T *__restrict__ out, GLOBAL const T *__restrict__ in, GLOBAL const T *__restrict__ filter, int64 h, int64 w,
            int64 fh, int64 fw)
{
    int64 across = (w + BLOCK_X * ITEMS_X - 1) / (BLOCK_X * ITEMS_X), pitch = w + fw - 1;
    int64 x = blockIdx.x % across * (BLOCK_X * ITEMS_X) + threadIdx.x, y = blockIdx.x / across * (BLOCK_Y * ITEMS_Y) + threadIdx.y;
#pragma unroll
    for (int q = 0; q < ITEMS_Y; q++)
#pragma unroll
        for (int p = 0; p < ITEMS_X; p++) {
            int64 row = y + q * BLOCK_Y, column = x + p * BLOCK_X;
            if (row < h && column < w) {
                GLOBAL const T *from = in + row * pitch + column;
                T sum = 0;
                for (int i = 0; i < fh; i++)
                    for (int j = 0; j < fw; j++)
                        sum += from[i * pitch + j] * __ldg(&filter[i * fw + j]);
                out[row * w + column] = sum;
            }
        }
}
