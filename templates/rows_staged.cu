// A row is read once, into shared memory, all of it on its way at a time and through no register. A team of LANES threads or, with
// CLUSTER, of a cluster of blocks takes it. PACKED: rows begin at multiples of 16 bytes, and each thread takes what it has copied.
// Else the rows of a block together do: the block copies them as one piece, and the results too. CUDA only.
#include "rows_gather.h"

#define ROWS  (BLOCK / LANES)
#define PIECE (16 / T_bytes) // elements of a copy
#define STEP  (PACKED ? PIECE : 1)

struct alignas(STEP *T_bytes) pack {
    T e[STEP];
};

DEVICE void copy_begin(T *to, GLOBAL const T *from)
{
    unsigned int at = (unsigned int)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(__cvta_generic_to_global(from)) : "memory");
}

DEVICE void copy_wait() // for this thread's
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

KERNEL void ROWS_CLUSTER __launch_bounds__(BLOCK)
    rows(GLOBAL T *__restrict__ y, GLOBAL const T *__restrict__ x ROW_PARAMS, int64 m, int64 n DYNAMIC_SHARED_PARAM)
{
    DYNAMIC_SHARED(T, kept);
    int lane = threadIdx.x % LANES;
    int64 first = (int64)(blockIdx.x / CLUSTER) * ROWS, row = first + threadIdx.x / LANES;
#if CLUSTER > 1
    cluster_arrive();
#endif
#if PACKED
    int part = (int)((n + CLUSTER * STEP - 1) / (CLUSTER * STEP)) * STEP, begin = blockIdx.x % CLUSTER * part;
    int count = row < m ? min((int)n - begin, part) : 0;
    GLOBAL T *out = y + row * n + begin;
    T *own = kept + threadIdx.x / LANES * part;
    for (int j = lane * STEP; j < count; j += LANES * STEP)
        copy_begin(own + j, x + row * n + begin + j);
    copy_wait();
#else
    int begin = 0, count = row < m ? (int)n : 0, all = (int)(min(m - first, (int64)ROWS) * n), whole = all / PIECE * PIECE;
    GLOBAL T *out = y + first * n;
    T *own = kept + threadIdx.x / LANES * (int)n;
    for (int j = threadIdx.x * PIECE; j < whole; j += BLOCK * PIECE)
        copy_begin(kept + j, x + first * n + j);
    if (whole + (int)threadIdx.x < all) // less than a piece, and there are more threads than that
        kept[whole + threadIdx.x] = x[first * n + whole + threadIdx.x];
    copy_wait();
    __syncthreads();
#endif

    struct state s = state_empty();
#pragma unroll 4
    for (int j = lane * STEP; j < count; j += LANES * STEP) {
        struct pack v = *(struct pack *)(own + j);
#pragma unroll
        for (int k = 0; k < STEP; k++)
            s = state_add(s, T_from(v.e[k]));
    }
    struct finish f = row_finish(team_state(state_close(s), 0), n, eps);
#pragma unroll 4
    for (int j = lane * STEP; j < count; j += LANES * STEP) {
        struct pack v = *(struct pack *)(own + j), wv = {}, bv = {};
        if (ROW_VECTORS > 0)
            wv = *(const struct pack *)(ROW_WEIGHTS + begin + j);
        if (ROW_VECTORS > 1)
            bv = *(const struct pack *)(ROW_BIASES + begin + j);
#pragma unroll
        for (int k = 0; k < STEP; k++)
            v.e[k] = T_to(row_value(T_from(v.e[k]), f, T_from(wv.e[k]), T_from(bv.e[k])));
        *(struct pack *)(PACKED ? out + j : own + j) = v;
    }
#if !PACKED
    __syncthreads();
    for (int j = threadIdx.x * PIECE; j < whole; j += BLOCK * PIECE)
        *(uint4 *)(out + j) = *(uint4 *)(kept + j);
    if (whole + (int)threadIdx.x < all)
        out[whole + threadIdx.x] = kept[whole + threadIdx.x];
#endif
}
