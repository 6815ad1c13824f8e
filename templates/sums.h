// What the templates sum_*.cu share: a sum over the elements of one vector or of two, of any length and at any address. The op's
// header, which stands before them (dot.h, say), has
//
//     SUM_INPUTS           1 (x) or 2 (x and y)
//     SUM_TERM(a, vx, vy)  a and the term of one more element, which is 0 for zeros; vy is not to be used if there is one input
//     SUM_RESULT(a)        what is stored, from the sum of all terms
//
// A block takes every gridDim.x-th chunk. In it a thread reads ITEMS packs of VEC neighbouring elements of each input, with an
// accumulator for each. Which elements a thread sums, and in which order, hangs on nothing but the grid and the addresses: so what
// joins the sums of blocks in their order gives the same bits each time. Narrow types are summed in float.
#include "numbers.h"

#ifndef SHUFFLE // how threads of a block are summed: by shuffles where there are any, or by a tree in shared memory
#ifdef BACKEND_CUDA
#define SHUFFLE 1
#else
#define SHUFFLE 0
#endif
#endif

#define HELD  (ITEMS * VEC)
#define CHUNK (BLOCK * HELD)

#if SUM_INPUTS == 2
#define SUM_PARAMS GLOBAL const T *__restrict__ x, GLOBAL const T *__restrict__ y
#define SUM_ARGS   x, y
#else
#define SUM_PARAMS GLOBAL const T *__restrict__ x
#define SUM_ARGS   x, x
#endif

struct __attribute__((aligned(VEC * T_bytes))) pack {
    T e[VEC];
};

// This thread's elements of a chunk: of whole packs, or, where they are not aligned, as many that lie BLOCK apart.
DEVICE void sum_load(T *v, GLOBAL const T *chunk, bool packed)
{
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        struct pack p;
        if (packed)
            p = ((GLOBAL const struct pack *)chunk)[k * BLOCK + (int)threadIdx.x];
#pragma unroll
        for (int j = 0; j < VEC; j++)
            v[k * VEC + j] = packed ? p.e[j] : chunk[(k * VEC + j) * BLOCK + (int)threadIdx.x];
    }
}

DEVICE void sum_chunk(T_acc *a, GLOBAL const T *x, GLOBAL const T *y, bool packed)
{
    T v[SUM_INPUTS][HELD];
    sum_load(v[0], x, packed);
    if (SUM_INPUTS == 2)
        sum_load(v[SUM_INPUTS - 1], y, packed);
#pragma unroll
    for (int e = 0; e < HELD; e++)
        a[e / VEC] = SUM_TERM(a[e / VEC], T_from(v[0][e]), T_from(v[SUM_INPUTS - 1][e]));
}

// The last chunk, of n elements: at least one. All loads are made, so that none waits for a branch.
DEVICE void sum_rest(T_acc *a, GLOBAL const T *x, GLOBAL const T *y, int n)
{
    T v[SUM_INPUTS][HELD];
#pragma unroll
    for (int e = 0; e < HELD; e++) {
        int i = e * BLOCK + (int)threadIdx.x, at = min(i, n - 1);
        T in_x = x[at], in_y = y[at]; // of one input, the same
        v[0][e] = i < n ? in_x : 0;
        v[SUM_INPUTS - 1][e] = i < n ? in_y : 0;
    }
#pragma unroll
    for (int e = 0; e < HELD; e++)
        a[e / VEC] = SUM_TERM(a[e / VEC], T_from(v[0][e]), T_from(v[SUM_INPUTS - 1][e]));
}

// The sum of this thread's terms. Packs are used if some of all inputs are aligned at the same element.
DEVICE T_acc sum_thread(GLOBAL const T *x, GLOBAL const T *y, int64 n)
{
    T_acc a[ITEMS], sum = 0;
    for (int k = 0; k < ITEMS; k++)
        a[k] = 0;
    int head = (int)min((int64)(-((uint64)x / T_bytes) % VEC), n); // elements before the first pack
    bool packed = VEC > 1 && ((uint64)x - (uint64)y) % (VEC * T_bytes) == 0;
    if (packed && blockIdx.x == 0 && (int)threadIdx.x < head)
        sum = SUM_TERM(sum, T_get(x, threadIdx.x), T_get(y, threadIdx.x));
    if (packed) {
        x += head;
        y += head;
        n -= head;
    }
    int64 c = blockIdx.x, whole = n / CHUNK;
    if (packed) // two loops, so that neither has to ask
        for (; c < whole; c += gridDim.x)
            sum_chunk(a, x + c * CHUNK, y + c * CHUNK, true);
    for (; c < whole; c += gridDim.x)
        sum_chunk(a, x + c * CHUNK, y + c * CHUNK, false);
    if (c == whole && n > c * CHUNK)
        sum_rest(a, x + c * CHUNK, y + c * CHUNK, (int)(n - c * CHUNK));
    for (int k = 0; k < ITEMS; k++)
        sum += a[k];
    return sum;
}

#if SHUFFLE
DEVICE T_acc sum_lanes(T_acc a, int width)
{
#pragma unroll
    for (int k = 1; k < width; k *= 2)
        a += __shfl_xor_sync(0xffffffff, a, k);
    return a;
}
#endif

// The sum over the block's threads, in the first of them.
DEVICE T_acc sum_block(SHARED T_acc *sums, T_acc a)
{
    int t = threadIdx.x;
#if SHUFFLE
    a = sum_lanes(a, 32);
    __syncthreads();
    if (t % 32 == 0)
        sums[t / 32] = a;
    __syncthreads();
    return t < 32 ? sum_lanes(sums[t % (BLOCK / 32)], BLOCK / 32) : a;
#else
    __syncthreads();
    sums[t] = a;
    __syncthreads();
    for (int width = BLOCK / 2; width > 0; width /= 2) {
        if (t < width)
            sums[t] += sums[t + width];
        __syncthreads();
    }
    return sums[0];
#endif
}

// This thread's share of what the blocks have left, also of what was written while this kernel ran.
DEVICE T_acc sum_parts(GLOBAL const T_acc *parts, int64 count)
{
    T_acc a = 0;
#pragma unroll 4
    for (int64 i = threadIdx.x; i < count; i += BLOCK)
        a += ((GLOBAL const volatile T_acc *)parts)[i];
    return a;
}
