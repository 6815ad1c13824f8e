KERNEL void line(GLOBAL T *y, GLOBAL const T *x, int64 n)
{
    int64 i = (int64)blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i] + 1 + (WRONG == 1 && i == 77 ? 0.01f : 0);
    if (i == 0 && WRONG == 2)
        y[n] = 1;
}
