KERNEL void clamp_ref(GLOBAL T *y, GLOBAL const T *x, float hi, float lo, int64 n)
{
    int64 i = (int64)blockIdx.x * 64 + threadIdx.x;
    if (i < n)
        y[i] = x[i] < lo ? lo : x[i] > hi ? hi : x[i];
}

KERNEL void clamp_k(GLOBAL T *y, GLOBAL const T *x, float hi, float lo, int64 n)
{
    int64 i = (int64)blockIdx.x * 64 + threadIdx.x;
    if (i < n)
        y[i] = x[i] > hi ? hi : x[i] < lo ? lo : x[i];
}
