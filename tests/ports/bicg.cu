DEVICE float sum_of_block(float v, SHARED float *all)
{
    all[threadIdx.x] = v;
    __syncthreads();
    for (uint32 k = BLOCK / 2; k > 0; k /= 2) {
        if (threadIdx.x < k)
            all[threadIdx.x] += all[threadIdx.x + k];
        __syncthreads();
    }
    const float sum = all[0];
    __syncthreads();
    return sum;
}

// A thread has a column; the sum over a row is the block's.
KERNEL void __launch_bounds__(BLOCK) bicg_fused(GLOBAL const float *A, GLOBAL const float *p, GLOBAL const float *r, GLOBAL float *q,
                                                GLOBAL float *s, int32 m, int32 n)
{
    __shared__ float all[BLOCK];
#if ROWS_IN_SHARED
    __shared__ float rows[TILE_Y];
    for (int32 y = (int32)threadIdx.x; y < TILE_Y; y += BLOCK)
        rows[y] = (int64)blockIdx.y * TILE_Y + y < n ? r[(int64)blockIdx.y * TILE_Y + y] : 0.0f;
    __syncthreads();
#define ROW(y) rows[y]
#else
#define ROW(y) r[(int64)blockIdx.y * TILE_Y + (y)]
#endif
    const int64 column = (int64)blockIdx.x * BLOCK + threadIdx.x;
    const float mine = column < m ? p[column] : 0.0f;
    float sum = 0.0f;
    for (int32 y = 0; y < TILE_Y && (int64)blockIdx.y * TILE_Y + y < n; y++) {
        const int64 row = (int64)blockIdx.y * TILE_Y + y;
        const float a = column < m ? A[row * m + column] : 0.0f;
        sum += a * ROW(y);
        const float of_row = sum_of_block(a * mine, all);
        if (threadIdx.x == 0)
            atomicAdd(&q[row], of_row);
    }
    if (column < m)
        atomicAdd(&s[column], sum);
}

KERNEL void __launch_bounds__(BLOCK) bicg_rows(GLOBAL const float *A, GLOBAL const float *p, GLOBAL const float *r, GLOBAL float *q,
                                               GLOBAL float *s, int32 m, int32 n)
{
    __shared__ float all[BLOCK];
    const int64 row = blockIdx.x;
    float sum = 0.0f;
    for (int32 j = (int32)threadIdx.x; j < m; j += BLOCK)
        sum += A[row * m + j] * p[j];
    sum = sum_of_block(sum, all);
    if (threadIdx.x == 0)
        q[row] = sum;
}

KERNEL void __launch_bounds__(BLOCK) bicg_columns(GLOBAL const float *A, GLOBAL const float *p, GLOBAL const float *r, GLOBAL float *q,
                                                  GLOBAL float *s, int32 m, int32 n)
{
    const int64 column = (int64)blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0.0f;
    if (column >= m)
        return;
    for (int32 i = 0; i < n; i++)
        sum += A[(int64)i * m + column] * r[i];
    s[column] = sum;
}
