namespace tiled {

template <typename E> __device__ E zero_past(const E *p, int row, int column, int rows, int columns)
{
    return row < rows && column < columns ? p[(long long)row * columns + column] : E(0);
}

// A block makes Block x Block elements of C, a thread Side x Side of them, which lie a block apart.
template <typename E, int Block, int Step, int Side>
__global__ void __launch_bounds__(Block / Side * (Block / Side)) matmul(E *C, const E *A, const E *B, int m, int n, int k)
{
    constexpr int Threads = Block / Side;
    __shared__ E a[Step][Block + 1], b[Step][Block];
    const int blocks = (n + Block - 1) / Block, top = blockIdx.x / blocks * Block, left = blockIdx.x % blocks * Block;
    const int me = threadIdx.y * Threads + threadIdx.x;
    E sums[Side][Side] = {};
    for (int from = 0; from < k; from += Step) {
        for (int i = me; i < Block * Step; i += Threads * Threads) {
            a[i % Step][i / Step] = zero_past(A, top + i / Step, from + i % Step, m, k);
            b[i / Block][i % Block] = zero_past(B, from + i / Block, left + i % Block, k, n);
        }
        __syncthreads();
#pragma unroll
        for (int s = 0; s < Step; s++)
#pragma unroll
            for (int y = 0; y < Side; y++)
#pragma unroll
                for (int x = 0; x < Side; x++)
                    sums[y][x] += a[s][threadIdx.y + y * Threads] * b[s][threadIdx.x + x * Threads];
        __syncthreads();
    }
    for (int y = 0; y < Side; y++)
        for (int x = 0; x < Side; x++) {
            const int row = top + threadIdx.y + y * Threads, column = left + threadIdx.x + x * Threads;
            if (row < m && column < n)
                C[(long long)row * n + column] = sums[y][x];
        }
}

}
