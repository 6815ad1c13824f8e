KERNEL void shifted_ref(GLOBAL T *out, GLOBAL const T *x, GLOBAL const int32 *shifts, int64 n, int64 rows, int64 most)
{
    int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    T sum = 0;
    for (int64 c = 0; i < n && c < rows; c++)
        sum += x[c * (n + most) + i + shifts[c]];
    if (i < n)
        out[i] = sum;
}
