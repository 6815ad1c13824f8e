// What a thread knows of a row: the largest element so far, and the sum of exp(x - largest).
KERNEL void __launch_bounds__(block_size) softmax_forward(GLOBAL float *out, GLOBAL const float *inp, int32 N, int32 C)
{
    __shared__ float mosts[block_size];
    __shared__ float sums[block_size];
    const int32 me = (int32)threadIdx.x;
    float most = -3.402823466e38f, sum = 0.0f;
    inp += (int64)blockIdx.x * C;
    out += (int64)blockIdx.x * C;
#if ONLINE
#pragma unroll UNROLL
    for (int32 i = me; i < C; i += block_size) {
        const float x = inp[i];
        if (x > most) {
            sum *= exp(most - x);
            most = x;
        }
        sum += exp(x - most);
    }
#else
#pragma unroll UNROLL
    for (int32 i = me; i < C; i += block_size)
        most = inp[i] > most ? inp[i] : most;
#pragma unroll UNROLL
    for (int32 i = me; i < C; i += block_size)
        sum += exp(inp[i] - most);
#endif
    mosts[me] = most;
    sums[me] = sum;
    __syncthreads();
    for (int32 k = block_size / 2; k > 0; k /= 2) {
        if (me < k) {
            const float a = mosts[me], b = mosts[me + k], larger = a > b ? a : b;
            sums[me] = sums[me] * exp(a - larger) + sums[me + k] * exp(b - larger);
            mosts[me] = larger;
        }
        __syncthreads();
    }
    most = mosts[0];
    const float scale = 1.0f / sums[0];
#pragma unroll UNROLL
    for (int32 i = me; i < C; i += block_size)
        out[i] = exp(inp[i] - most) * scale;
}
