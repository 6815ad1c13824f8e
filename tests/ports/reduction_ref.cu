KERNEL void reduction_ref(GLOBAL float *sum_global, GLOBAL const float *array, int32 n)
{
    __shared__ double sums[256];
    double sum = 0;
    for (int32 i = (int32)threadIdx.x; i < n; i += 256)
        sum += (double)array[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (uint32 k = 128; k > 0; k /= 2) {
        if (threadIdx.x < k)
            sums[threadIdx.x] += sums[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        sum_global[0] = (float)sums[0];
}
