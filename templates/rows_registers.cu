// A row is read once, into the registers of its team (rows_team.h says what that is): a part of a warp, several warps or, with
// CLUSTER, a cluster of blocks. A block has BLOCK / LANES teams, and each takes STEPS rows in turn. CUDA only.
#ifndef STEPS
#define STEPS 1
#endif
#ifndef HOLD
#define HOLD 0 // the vectors stay in registers over the steps
#endif
#define WARP_LANES (LANES < 32 ? LANES : 32)

struct alignas(VEC * T_bytes) pack {
    T e[VEC];
};

DEVICE struct place row_place(int64 row, int64 m, int64 n, int lane)
{
    struct place p;
    p.begin = PEEL ? (int)(row * n % VEC) : 0;
    p.end = p.begin + (int)n;
    p.base = row * n - p.begin;
    p.room = m * n - p.base;
    p.first = lane * VEC;
    return p;
}

// A pack of the matrix; elements that are not the row's are anything.
DEVICE struct pack pack_load(GLOBAL const T *__restrict__ in, struct place p, int i)
{
    struct pack r = {};
    if (MAY_END(i) && AT(p, i) >= p.end)
        return r;
#if PEEL
    if (MAY_END(i) && AT(p, i) + VEC > p.room) {
#pragma unroll
        for (int k = 0; k < VEC; k++)
            if (AT(p, i) + k < p.end)
                r.e[k] = in[p.base + AT(p, i) + k];
        return r;
    }
#endif
    return *(const struct pack *)(in + p.base + AT(p, i));
}

DEVICE void pack_store(GLOBAL T *__restrict__ out, struct place p, int i, struct pack v)
{
    bool begins = !MAY_BEGIN(i) || AT(p, i) >= p.begin, ends = !MAY_END(i) || AT(p, i) + VEC <= p.end;
    if (begins && ends) {
        *(struct pack *)(out + p.base + AT(p, i)) = v;
        return;
    }
#if PEEL
#pragma unroll
    for (int k = 0; k < VEC; k++)
        if (INSIDE(p, i * VEC + k))
            out[p.base + AT(p, i) + k] = v.e[k];
#endif
}

// The elements of a vector that belong to pack i.
DEVICE void vector_load(float (&v)[VEC], GLOBAL const T *__restrict__ in, struct place p, int i)
{
#if PEEL
#pragma unroll
    for (int k = 0; k < VEC; k++)
        v[k] = INSIDE(p, i * VEC + k) ? T_get(in, AT(p, i) + k - p.begin) : 0.0f;
#else
    struct pack r = {};
    if (!MAY_END(i) || AT(p, i) < p.end)
        r = *(const struct pack *)(in + AT(p, i));
#pragma unroll
    for (int k = 0; k < VEC; k++)
        v[k] = T_from(r.e[k]);
#endif
}

#if CLUSTER > 1
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
    unsigned int at = (unsigned int)__cvta_generic_to_shared(p);
    asm volatile("{ .reg .b32 a; mapa.shared::cluster.u32 a, %0, %1; st.shared::cluster.f32 [a], %2; }" ::"r"(at),
                 "r"(block), "f"(v)
                 : "memory");
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

KERNEL void ROWS_CLUSTER __launch_bounds__(BLOCK)
rows(GLOBAL T *__restrict__ y, GLOBAL const T *__restrict__ x ROW_PARAMS, int64 m, int64 n)
{
    int lane = threadIdx.x % LANES + blockIdx.x % CLUSTER * LANES;
    int64 begin = (int64)(blockIdx.x / CLUSTER) * (BLOCK / LANES * STEPS) + threadIdx.x / LANES;
#if CLUSTER > 1
    cluster_arrive();
#endif
#if HOLD
    float ws[PACKS][VEC], bs[PACKS][VEC];
    struct place same = row_place(min(begin, m - 1), m, n, lane); // of each step's row, as a vector's elements go
#pragma unroll
    for (int i = 0; i < PACKS; i++) {
        if (ROW_VECTORS > 0)
            vector_load(ws[i], ROW_WEIGHTS, same, i);
        if (ROW_VECTORS > 1)
            vector_load(bs[i], ROW_BIASES, same, i);
    }
#endif
#pragma unroll 1
    for (int step = 0; step < STEPS; step++) {
        int64 row = begin + step * (BLOCK / LANES);
        struct place p = row_place(min(row, m - 1), m, n, lane); // a team without a row helps in the barriers
        struct pack packs[PACKS];
        float v[HELD];
#pragma unroll
        for (int i = 0; i < PACKS; i++)
            packs[i] = pack_load(x, p, i);
#pragma unroll
        for (int e = 0; e < HELD; e++)
            v[e] = INSIDE(p, e) ? T_from(packs[e / VEC].e[e % VEC]) : ROW_FILL;

        struct state own = team_take(v, p), s = team_state(own, step);
        struct finish f = team_finish(s, own, n, eps);
        if (row >= m)
            continue;
#pragma unroll
        for (int i = 0; i < PACKS; i++) {
            struct pack out;
#if !HOLD
            float wv[VEC], bv[VEC];
            if (ROW_VECTORS > 0)
                vector_load(wv, ROW_WEIGHTS, p, i);
            if (ROW_VECTORS > 1)
                vector_load(bv, ROW_BIASES, p, i);
#else
            float(&wv)[VEC] = ws[i], (&bv)[VEC] = bs[i];
#endif
#pragma unroll
            for (int k = 0; k < VEC; k++)
                out.e[k] = T_to(team_value(v[i * VEC + k], f, wv[k], bv[k]));
            pack_store(y, p, i, out);
        }
    }
}
