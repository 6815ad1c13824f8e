__constant__ float d_filter[33 * 33];

extern "C" __global__ void convolution_ref(float *output_array, const float *input_array, int w, int h, int fw, int fh, float scale)
{
    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x, row = at / w, column = at % w;
    double sum = 0;
    if (row >= h)
        return;
    for (int i = 0; i < fh; i++)
        for (int j = 0; j < fw; j++)
            sum += (double)d_filter[i * fw + j] * input_array[(row + i) * (w + fw - 1) + column + j];
    output_array[at] = (float)(scale * sum);
}
