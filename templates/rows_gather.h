// For rows_registers.cu and rows_staged.cu: the state of a whole row from those of the threads of its team.
#define WARP_LANES (LANES < 32 ? LANES : 32)

#if CLUSTER > 1
#include "cluster.h"

DEVICE void cluster_arrive()
{
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

DEVICE void cluster_wait()
{
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Writes to the shared memory of another block of the cluster, at the place of p in this one's.
DEVICE void cluster_put(float *p, int block, float v)
{
    uint32 there = in_block((uint32)__cvta_generic_to_shared(p), block);
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(there), "f"(v) : "memory");
}
#endif

// The state of the whole row, in each thread of its team. Warps take turns with two buffers, so that one barrier a step is enough.
DEVICE struct state team_state(struct state s, int step)
{
    s = team_merge(s, WARP_LANES);
#if LANES > 32
    __shared__ struct state warps[2][BLOCK / 32];
    int t = threadIdx.x;
    if (t % 32 == 0)
        warps[step % 2][t / 32] = s;
    __syncthreads();
    s = team_merge(warps[step % 2][t / LANES * (LANES / 32) + t % (LANES / 32)], LANES / 32);
#endif
#if CLUSTER > 1
    __shared__ struct state blocks[CLUSTER];
    cluster_wait(); // all blocks have begun
    if (threadIdx.x < CLUSTER) {
#pragma unroll
        for (int k = 0; k < (int)(sizeof s / sizeof(float)); k++)
            cluster_put((float *)&blocks[blockIdx.x % CLUSTER] + k, threadIdx.x, ((float *)&s)[k]);
    }
    cluster_arrive();
    cluster_wait();
    s = team_merge(blocks[threadIdx.x % CLUSTER], CLUSTER);
#endif
    return s;
}

#if CLUSTER > 1
#define ROWS_CLUSTER __cluster_dims__(CLUSTER, 1, 1)
#else
#define ROWS_CLUSTER
#endif
