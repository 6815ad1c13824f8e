DEVICE float sum_of_row(float v, SHARED float *all)
{
    all[threadIdx.x] = v;
    __syncthreads();
    for (uint32 k = THREADS / 2; k > 0; k /= 2) {
        if (threadIdx.x < k)
            all[threadIdx.x] += all[threadIdx.x + k];
        __syncthreads();
    }
    const float sum = all[0];
    __syncthreads();
    return sum;
}

KERNEL void __launch_bounds__(THREADS * ROWS)
layernorm_forward(GLOBAL float *out, GLOBAL float *mean, GLOBAL float *rstd, GLOBAL const float *inp, GLOBAL const float *weight,
                  GLOBAL const float *bias, int32 N, int32 C DYNAMIC_SHARED_PARAM)
{
    __shared__ float sums[ROWS][THREADS];
    DYNAMIC_SHARED(float, rows);
    const int64 row = (int64)blockIdx.x * ROWS + threadIdx.y;
    const bool here = row < N;
    const int32 me = (int32)threadIdx.x, end = here ? C : 0;
    GLOBAL const float *from = inp + (here ? row : 0) * C;
#if CACHE
    SHARED float *kept = rows + (int64)threadIdx.y * C;
#define X(i) kept[i]
#else
#define X(i) from[i]
#endif
    float sum = 0.0f, squares = 0.0f;
    for (int32 i = me; i < end; i += THREADS) {
        const float x = from[i];
#if CACHE
        kept[i] = x;
#endif
        sum += x;
    }
    const float middle = sum_of_row(sum, sums[threadIdx.y]) / (float)C;
    for (int32 i = me; i < end; i += THREADS)
        squares += (X(i) - middle) * (X(i) - middle);
    const float inverse = 1.0f / sqrt(sum_of_row(squares, sums[threadIdx.y]) / (float)C + 1e-5f);
    for (int32 i = me; i < end; i += THREADS)
        out[row * C + i] = (X(i) - middle) * inverse * weight[i] + bias[i];
    if (here && me == 0) {
        mean[row] = middle;
        rstd[row] = inverse;
    }
}
