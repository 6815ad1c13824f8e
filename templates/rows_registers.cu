// A row is read once, into the registers of its team (rows_team.h says what that is): a part of a warp, several warps or, with
// CLUSTER, a cluster of blocks. A block has BLOCK / LANES teams, and each takes STEPS rows in turn. CUDA only.
#ifndef STEPS
#define STEPS 1
#endif
#ifndef HOLD
#define HOLD 0 // the vectors are on their way before the row's state is known, and stay in registers over the steps
#endif
#ifndef STREAM
#define STREAM 0 // x is the first to leave the caches; y stays, for what reads it next
#endif
#include "rows_gather.h"
#define WEIGHED (HOLD && TEAM_WEIGHS) // values take their weights while the team's state is on its way
#define ALONE (LANES == 32 || LANES == BLOCK) // no team waits for another

struct alignas(VEC *T_bytes) pack {
    T e[VEC];
};

#if VEC * T_bytes == 16
typedef uint4 word;
#elif VEC * T_bytes == 8
typedef uint2 word;
#elif VEC * T_bytes == 4
typedef unsigned int word;
#else
typedef unsigned short word;
#endif

DEVICE struct pack word_load(GLOBAL const T *from)
{
#if STREAM
    word w = __ldcs((const word *)from);
    return *(struct pack *)&w;
#else
    return *(const struct pack *)from;
#endif
}

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
    return word_load(in + p.base + AT(p, i));
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
        if (ALONE && row >= m)
            return;
        struct place p = row_place(ALONE ? row : min(row, m - 1), m, n, lane); // a team without a row helps in the barriers
        struct pack packs[PACKS];
        float v[HELD];
#pragma unroll
        for (int i = 0; i < PACKS; i++)
            packs[i] = pack_load(x, p, i);
#pragma unroll
        for (int e = 0; e < HELD; e++)
            v[e] = INSIDE(p, e) ? T_from(packs[e / VEC].e[e % VEC]) : ROW_FILL;

        struct state own = team_take(v, p);
#if WEIGHED
#pragma unroll
        for (int e = 0; e < HELD; e++)
            v[e] *= ws[e / VEC][e % VEC];
#endif
        struct state s = team_state(own, step);
        struct finish f = team_finish(s, own, n, eps);
        if (!ALONE && row >= m)
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
                out.e[k] = T_to(team_value(v[i * VEC + k], f, WEIGHED ? 1.0f : wv[k], bv[k]));
            pack_store(y, p, i, out);
        }
    }
}
