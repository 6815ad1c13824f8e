KERNEL void bicg_ref(GLOBAL const float *A, GLOBAL const float *p, GLOBAL const float *r, GLOBAL float *q, GLOBAL float *s, int32 m, int32 n)
{
    const int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0;
    if (i < n) {
        for (int32 j = 0; j < m; j++)
            sum += (double)A[i * m + j] * (double)p[j];
        q[i] = (float)sum;
    }
    sum = 0;
    if (i < m) {
        for (int32 j = 0; j < n; j++)
            sum += (double)A[(int64)j * m + i] * (double)r[j];
        s[i] = (float)sum;
    }
}
