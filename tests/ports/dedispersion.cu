// A thread makes tile_size_x measures for tile_size_y samples, which lie side by side (stride 0) or a block apart (stride 1).
#if tile_stride_x
#define DM(i) (blockIdx.x * block_size_x * tile_size_x + threadIdx.x + (i) * block_size_x)
#else
#define DM(i) ((blockIdx.x * block_size_x + threadIdx.x) * tile_size_x + (i))
#endif
#if tile_stride_y
#define SAMPLE(i) (blockIdx.y * block_size_y * tile_size_y + threadIdx.y + (i) * block_size_y)
#else
#define SAMPLE(i) ((blockIdx.y * block_size_y + threadIdx.y) * tile_size_y + (i))
#endif

KERNEL void __launch_bounds__(block_size_x * block_size_y)
dedispersion(GLOBAL const uint8 *input, GLOBAL float *output, GLOBAL const float *shifts, int32 samples, int32 dms, int32 channels)
{
    float sums[tile_size_x][tile_size_y];
    const int64 width = (int64)samples + 4 * (int64)dms;
#pragma unroll
    for (int i = 0; i < tile_size_x; i++)
#pragma unroll
        for (int j = 0; j < tile_size_y; j++)
            sums[i][j] = 0.0f;
    for (int32 c = 0; c < channels; c++) {
#pragma unroll
        for (int i = 0; i < tile_size_x; i++) {
            const int32 dm = (int32)DM(i), delay = (int32)((float)dm * shifts[c]);
            if (dm >= dms)
                continue;
#pragma unroll
            for (int j = 0; j < tile_size_y; j++) {
                const int32 sample = (int32)SAMPLE(j);
                if (sample < samples)
                    sums[i][j] += (float)input[c * width + sample + delay];
            }
        }
    }
#pragma unroll
    for (int i = 0; i < tile_size_x; i++)
#pragma unroll
        for (int j = 0; j < tile_size_y; j++) {
            const int32 dm = (int32)DM(i), sample = (int32)SAMPLE(j);
            if (dm < dms && sample < samples)
                output[(int64)dm * samples + sample] = sums[i][j];
        }
}
