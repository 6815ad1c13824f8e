extern "C" __global__ void matmul_ref(T *C, const T *A, const T *B, int m, int n, int k)
{
    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x, row = at / n, column = at % n;
    double sum = 0;
    if (row >= m)
        return;
    for (int i = 0; i < k; i++)
        sum += (double)A[row * k + i] * (double)B[i * (long long)n + column];
    C[at] = (T)sum;
}
