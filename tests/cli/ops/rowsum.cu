// The sum of part `part` of PARTS of a row, in all threads of the block.
DEVICE T sum_of(GLOBAL const T *row, int64 n, int64 part, SHARED T *sums)
{
    int64 each = (n + PARTS - 1) / PARTS, end = min(n, (part + 1) * each);
    T sum = 0;
    for (int64 k = part * each + threadIdx.x; k < end; k += 128)
        sum += row[k];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half_of = 64; half_of > 0; half_of /= 2) {
        if (threadIdx.x < half_of)
            sums[threadIdx.x] += sums[threadIdx.x + half_of];
        __syncthreads();
    }
    sum = sums[0];
    __syncthreads();
    return sum;
}

KERNEL void rowsum(GLOBAL T *out, GLOBAL const T *x, int64 m, int64 n)
{
    __shared__ T sums[128];
    T sum = sum_of(x + blockIdx.x * n, n, 0, sums);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

#ifdef BACKEND_CUDA
#if __CUDA_ARCH__ >= 900
// Block 0 of the cluster adds what the others have in their shared memory.
KERNEL void rowsum_cluster(T *out, const T *x, int64 m, int64 n)
{
    __shared__ T sums[128];
    __shared__ T mine;
    unsigned rank, here = (unsigned)__cvta_generic_to_shared(&mine), there;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    int64 row = blockIdx.x / PARTS;
    T sum = sum_of(x + row * n, n, rank, sums);
    if (threadIdx.x == 0)
        mine = sum;
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (rank == 0 && threadIdx.x == 0) {
        for (unsigned r = 1; r < PARTS; r++) {
            unsigned bits;
            asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(r));
            asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(bits) : "r"(there) : "memory");
            sum += *(T *)&bits;
        }
        out[row] = sum;
    }
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
#define WAIT   asm volatile("griddepcontrol.wait;" ::: "memory")
#define SIGNAL asm volatile("griddepcontrol.launch_dependents;")
#else
KERNEL void rowsum_cluster(T *out, const T *x, int64 m, int64 n) {}
#define WAIT
#define SIGNAL
#endif

// All blocks must run at once: they wait for each other.
KERNEL void rowsum_at_once(T *out, const T *x, int64 m, int64 n, T *part, int *count)
{
    __shared__ T sums[128];
    for (int64 i = blockIdx.x; i < m * PARTS; i += gridDim.x) {
        T sum = sum_of(x + i / PARTS * n, n, i % PARTS, sums);
        if (threadIdx.x == 0)
            part[i] = sum;
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(count, 1);
        while (*(volatile int *)count < (int)gridDim.x)
            ;
    }
    __syncthreads();
    __threadfence();
    for (int64 i = (int64)blockIdx.x * 128 + threadIdx.x; i < m; i += (int64)gridDim.x * 128) {
        T sum = 0;
        for (int r = 0; r < PARTS; r++)
            sum += *(volatile T *)&part[i * PARTS + r];
        out[i] = sum;
    }
}

KERNEL void rowsum_parts(T *part, const T *x, int64 m, int64 n)
{
    __shared__ T sums[128];
    SIGNAL;
    T sum = sum_of(x + blockIdx.x / PARTS * n, n, blockIdx.x % PARTS, sums);
    if (threadIdx.x == 0)
        part[blockIdx.x] = sum;
}

KERNEL void rowsum_total(T *out, const T *part, int64 m)
{
    int64 i = (int64)blockIdx.x * 128 + threadIdx.x;
    T sum = 0;
    WAIT;
    for (int r = 0; r < PARTS && i < m; r++)
        sum += part[i * PARTS + r];
    if (i < m)
        out[i] = sum;
}
#endif
