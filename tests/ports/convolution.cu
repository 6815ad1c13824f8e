// A block loads its part of the image with a border into shared memory; the filter is in constant memory.
__constant__ float d_filter[FILTER_MAX * FILTER_MAX];

extern "C" __global__ void __launch_bounds__(block_size_x * block_size_y)
convolution_kernel(float *output_array, const float *input_array, int w, int h, int fw, int fh, float scale)
{
    extern __shared__ float tile[];
    const int wide = block_size_x * tile_size_x + fw - 1, high = block_size_y * tile_size_y + fh - 1;
    const int pitch = wide + (use_padding ? (33 - wide % 32) % 32 : 0); // one more than a multiple of the banks
    const int left = blockIdx.x * block_size_x * tile_size_x, top = blockIdx.y * block_size_y * tile_size_y;
    for (int y = threadIdx.y; y < high; y += block_size_y)
        for (int x = threadIdx.x; x < wide; x += block_size_x)
            if (top + y < h + fh - 1 && left + x < w + fw - 1) {
                const float *from = &input_array[(long long)(top + y) * (w + fw - 1) + left + x];
                tile[y * pitch + x] = read_only ? __ldg(from) : *from;
            }
    __syncthreads();
    float sums[tile_size_y][tile_size_x] = {};
    for (int i = 0; i < fh; i++)
        for (int j = 0; j < fw; j++) {
            const float f = d_filter[i * fw + j];
#pragma unroll
            for (int y = 0; y < tile_size_y; y++)
#pragma unroll
                for (int x = 0; x < tile_size_x; x++)
                    sums[y][x] += f * tile[(threadIdx.y + y * block_size_y + i) * pitch + threadIdx.x + x * block_size_x + j];
        }
#pragma unroll
    for (int y = 0; y < tile_size_y; y++)
#pragma unroll
        for (int x = 0; x < tile_size_x; x++) {
            const int row = top + threadIdx.y + y * block_size_y, column = left + threadIdx.x + x * block_size_x;
            if (row < h && column < w)
                output_array[(long long)row * w + column] = scale * sums[y][x];
        }
}
