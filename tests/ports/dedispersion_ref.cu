KERNEL void dedispersion_ref(GLOBAL const uint8 *input, GLOBAL float *output, GLOBAL const float *shifts, int32 samples, int32 dms,
                             int32 channels)
{
    const int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x, dm = i / samples, sample = i % samples;
    float sum = 0.0f;
    if (dm >= dms)
        return;
    for (int32 c = 0; c < channels; c++)
        sum += (float)input[c * ((int64)samples + 4 * (int64)dms) + sample + (int32)((float)(int32)dm * shifts[c])];
    output[i] = sum;
}
