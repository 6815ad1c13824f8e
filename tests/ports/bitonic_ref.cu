KERNEL void bitonic_ref(GLOBAL T *keys, int64 n, int64 k, int64 j)
{
    const int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
    if (i >= n || other <= i)
        return;
    const T a = keys[i], b = keys[other];
    if ((a > b) == ((i & k) == 0)) {
        keys[i] = b;
        keys[other] = a;
    }
}
