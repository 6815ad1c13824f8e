// C = A B, element by element of C. Single precision is summed in double where the device has it.
#if T_is_float && T_bytes == 4 && (defined(BACKEND_CUDA) || defined(cl_khr_fp64))
#define SUM double
#else
#define SUM T
#endif

KERNEL void gemm_ref(GLOBAL T *__restrict__ c, GLOBAL const T *__restrict__ a, GLOBAL const T *__restrict__ b, int64 m, int64 n,
                     int64 k)
{
    for (int64 place = (int64)blockIdx.x * 256 + threadIdx.x; place < m * n; place += (int64)gridDim.x * 256) {
        int64 i = place / n, j = place % n;
        SUM sum = 0;
        for (int64 p = 0; p < k; p++)
            sum += (SUM)a[i * k + p] * (SUM)b[p * n + j];
        c[place] = (T)sum;
    }
}
