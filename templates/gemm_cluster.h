// What the blocks of a cluster that share a tile of C need to add what each has in its shared memory.

// Arrives before anything is written to global memory, for which it would wait.
#define CLUSTER_ARRIVE() asm volatile("barrier.cluster.arrive;" ::: "memory")
#define CLUSTER_WAIT() asm volatile("barrier.cluster.wait;" ::: "memory")

// Where p of this block's shared memory is in that of another block of the cluster.
DEVICE const T_acc *theirs(const T_acc *p, int block)
{
    const T_acc *there;
    asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(p), "r"(block));
    return there;
}
