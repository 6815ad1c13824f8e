static __constant__ float d_taps[3];

template <typename X, int N> __global__ void sum(X *out, const X *x, long long n)
{
    long long i = blockIdx.x * (long long)N + threadIdx.x;
    if (i < n)
        out[i] = d_taps[0] * x[i] + d_taps[1] * x[i + 1] + d_taps[2] * x[i + 2];
}
