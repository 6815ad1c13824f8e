KERNEL void layer_norm_ref(GLOBAL float *out, GLOBAL float *mean, GLOBAL float *rstd, GLOBAL const float *inp, GLOBAL const float *weight,
                           GLOBAL const float *bias, int32 N, int32 C)
{
    const int64 row = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0, squares = 0;
    if (row >= N)
        return;
    inp += row * C;
    for (int32 i = 0; i < C; i++)
        sum += (double)inp[i];
    const double middle = sum / C;
    for (int32 i = 0; i < C; i++)
        squares += ((double)inp[i] - middle) * ((double)inp[i] - middle);
    const double inverse = 1.0 / sqrt(squares / C + 1e-5);
    mean[row] = (float)middle;
    rstd[row] = (float)inverse;
    for (int32 i = 0; i < C; i++)
        out[row * C + i] = (float)(((double)inp[i] - middle) * inverse * (double)weight[i] + (double)bias[i]);
}
