KERNEL void softmax_ref(GLOBAL float *out, GLOBAL const float *inp, int32 N, int32 C)
{
    const int64 row = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0;
    float most;
    if (row >= N)
        return;
    inp += row * C;
    out += row * C;
    most = inp[0];
    for (int32 i = 1; i < C; i++)
        most = inp[i] > most ? inp[i] : most;
    for (int32 i = 0; i < C; i++)
        sum += exp((double)inp[i] - (double)most);
    for (int32 i = 0; i < C; i++)
        out[i] = (float)(exp((double)inp[i] - (double)most) / sum);
}
