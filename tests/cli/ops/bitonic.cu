// One step of a bitonic sort: `distance` apart, in stage `stage`.
KERNEL void bitonic_copy(GLOBAL T *out, GLOBAL const T *x, int64 n)
{
    int64 i = (int64)blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        out[i] = x[i];
}

KERNEL void bitonic_step(GLOBAL T *x, int64 n, int stage, int64 distance)
{
    int64 i = (int64)blockIdx.x * BLOCK + threadIdx.x, other = i ^ distance;
    if (i < n && other > i) {
        T a = x[i], b = x[other];
        if ((a > b) == ((i >> stage & 2) == 0)) {
            x[i] = b;
            x[other] = a;
        }
    }
}

KERNEL void bitonic_block(GLOBAL T *x, int64 n, int stage)
{
    __shared__ T part[BLOCK];
    int t = threadIdx.x;
    int64 i = (int64)blockIdx.x * BLOCK + t;
    part[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int distance = stage < 30 && (1 << stage) < BLOCK ? 1 << stage : BLOCK / 2; distance; distance /= 2) {
        int other = t ^ distance;
        T a = part[t], b = part[other];
        bool up = ((i >> stage & 2) == 0) == (t < other);
        __syncthreads();
        if (i - t + other < n && (up ? b < a : b > a))
            part[t] = b;
        __syncthreads();
    }
    if (i < n)
        x[i] = part[t];
}
