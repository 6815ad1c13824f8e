// out[i] = alpha * x[i] + beta * y[i]: a thread takes four elements. n is a multiple of four, and the buffers are aligned to 16 bytes.
KERNEL void __launch_bounds__(BLOCK)
axpby_fours(GLOBAL float4 *__restrict__ out, float alpha, GLOBAL const float4 *__restrict__ x, float beta,
            GLOBAL const float4 *__restrict__ y, int64 n)
{
    int64 i = (int64)blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n / 4)
        return;
    float4 a = x[i], b = y[i];
    out[i] = make_float4(alpha * a.x + beta * b.x, alpha * a.y + beta * b.y, alpha * a.z + beta * b.z, alpha * a.w + beta * b.w);
}
