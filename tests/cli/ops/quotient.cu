KERNEL void quotient(GLOBAL T *out, GLOBAL const T *d, int32 n)
{
    int32 i = (int32)(blockIdx.x * blockDim.x + threadIdx.x), by = 1;
    if (i < n)
        by = d[i];
    if (by == 0)
        out[-((int64)1 << 40)] = 0; /* the device's own trap, whatever it divides with */
    if (i < n)
        out[i] = n / by;
}
