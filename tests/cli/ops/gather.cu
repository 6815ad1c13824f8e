KERNEL void gather(GLOBAL T *y, GLOBAL const T *x, GLOBAL const float *at, int64 n)
{
    int64 i = (int64)blockIdx.x * 64 + threadIdx.x;
    if (i < n)
        y[i] = x[(int64)at[i]];
}
