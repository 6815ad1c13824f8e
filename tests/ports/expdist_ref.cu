extern "C" __global__ void __launch_bounds__(256)
expdist_ref(const T *A, const T *B, int m, int n, const T *scale_A, const T *scale_B, T *d_cost)
{
    __shared__ double sums[256];
    double sum = 0;
    for (int i = threadIdx.x; i < m; i += 256)
        for (int j = 0; j < n; j++) {
            const double dx = (double)A[i] - (double)B[j], dy = (double)A[m + i] - (double)B[n + j];
            sum += exp(-(dx * dx + dy * dy) / ((double)scale_A[i] + (double)scale_B[j]));
        }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) {
        if (threadIdx.x < k)
            sums[threadIdx.x] += sums[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *d_cost = (T)sums[0];
}
