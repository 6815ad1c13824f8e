// out[0] = the sum of x[i] * y[i]: one block of 256 threads. Single precision is summed in double where the device has it.
#if T_is_float && T_bytes == 4 && (defined(BACKEND_CUDA) || defined(cl_khr_fp64))
#define SUM double
#else
#define SUM T
#endif

KERNEL void dot_ref(GLOBAL T *__restrict__ out, GLOBAL const T *__restrict__ x, GLOBAL const T *__restrict__ y, int64 n)
{
    __shared__ SUM sums[256];
    SUM sum = 0;
    for (int64 i = threadIdx.x; i < n; i += 256)
        sum += (SUM)x[i] * (SUM)y[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < 256; i++)
            sum += sums[i];
        out[0] = (T)sum;
    }
}
