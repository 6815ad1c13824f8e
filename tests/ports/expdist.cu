#include <cub/cub.cuh>

// The sum over all pairs of exp(-d^2 / (s_A + s_B)) for a tile of A and one of B; with use_column a block goes down all of its rows of tiles.
#define TILE_X (block_size_x * tile_size_x)
#define TILE_Y (block_size_y * tile_size_y)

__device__ T pair(T dx, T dy, T scale)
{
    return exp(-(dx * dx + dy * dy) / scale);
}

extern "C" __global__ void __launch_bounds__(block_size_x * block_size_y)
expdist_blocks(const T *A, const T *B, int m, int n, const T *scale_A, const T *scale_B, T *partial)
{
    typedef cub::BlockReduce<T, block_size_x, cub::BLOCK_REDUCE_WARP_REDUCTIONS, block_size_y> Reduce;
    __shared__ typename Reduce::TempStorage room;
#if use_shared_mem
    __shared__ T b[3][TILE_Y];
#endif
#if use_shared_mem == 2
    __shared__ T a[3][TILE_X];
#endif
    T sum = 0;
    const int left = blockIdx.x * TILE_X;
#if use_shared_mem == 2
    for (int i = threadIdx.y * block_size_x + threadIdx.x; i < TILE_X && left + i < m; i += block_size_x * block_size_y) {
        a[0][i] = A[left + i];
        a[1][i] = A[m + left + i];
        a[2][i] = scale_A[left + i];
    }
#endif
    for (int top = blockIdx.y * TILE_Y; top < n; top += use_column ? gridDim.y * TILE_Y : n) {
#if use_shared_mem
        __syncthreads();
        for (int i = threadIdx.y * block_size_x + threadIdx.x; i < TILE_Y && top + i < n; i += block_size_x * block_size_y) {
            b[0][i] = B[top + i];
            b[1][i] = B[n + top + i];
            b[2][i] = scale_B[top + i];
        }
        __syncthreads();
#endif
#pragma unroll loop_unroll_factor_y
        for (int y = 0; y < tile_size_y; y++) {
            const int v = threadIdx.y + y * block_size_y;
            if (top + v >= n)
                continue;
#if use_shared_mem
            const T bx = b[0][v], by = b[1][v], bs = b[2][v];
#else
            const T bx = B[top + v], by = B[n + top + v], bs = scale_B[top + v];
#endif
#pragma unroll loop_unroll_factor_x
            for (int x = 0; x < tile_size_x; x++) {
                const int u = threadIdx.x + x * block_size_x;
                if (left + u >= m)
                    continue;
#if use_shared_mem == 2
                sum += pair(a[0][u] - bx, a[1][u] - by, a[2][u] + bs);
#else
                sum += pair(A[left + u] - bx, A[m + left + u] - by, scale_A[left + u] + bs);
#endif
            }
        }
    }
    sum = Reduce(room).Sum(sum);
    if (threadIdx.x == 0 && threadIdx.y == 0)
        partial[blockIdx.y * gridDim.x + blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(256) expdist_total(T *d_cost, const T *partial, int parts)
{
    typedef cub::BlockReduce<T, 256> Reduce;
    __shared__ typename Reduce::TempStorage room;
    T sum = 0;
    for (int i = threadIdx.x; i < parts; i += 256)
        sum += partial[i];
    sum = Reduce(room).Sum(sum);
    if (threadIdx.x == 0)
        *d_cost = sum;
}
