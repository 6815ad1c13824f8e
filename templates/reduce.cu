// The sum, mean or largest of each row of x (m x n), or of each column. A block's threads are LINES lines of LANES. Along rows a
// line takes a row; along columns a thread takes VEC neighbouring columns, and every LINES-th row. SPLIT: so many blocks share what
// one would take; each leaves its part in `partial`, and reduce_total joins them. ATOMIC: they add their parts to the output.
#include "numbers.h"

#ifdef SPLIT
#define PARTS SPLIT
#else
#define PARTS 1
#endif
#define LINES (BLOCK / LANES)

struct __attribute__((aligned(VEC * T_bytes))) pack {
    T e[VEC];
};

DEVICE T_acc joined(T_acc a, T_acc v, int largest)
{
    return largest ? (v > a || v != v ? v : a) : a + v; // a NaN stays
}

DEVICE int64 part_begin(int64 length, int64 part)
{
    return min((length + PARTS - 1) / PARTS * part, length);
}

DEVICE T put_together(T_acc a, int64 length, int mean)
{
    return T_to(!mean ? a : T_is_float ? a / (T_acc)length : (T_acc)((int64)a / length)); // a length may pass i32
}

#ifdef ATOMIC
#define PUT(i, a) atomicAdd(&out[i], a)
#elif defined(SPLIT)
#define PUT(i, a) (partial[PLACE(i, part)] = (a))
#else
#define PUT(i, a) (out[i] = put_together(a, columns ? m : n, mean))
#endif
// Few outputs have a block each in reduce_total, many a thread each.
#define BLOCK_EACH (PARTS >= 64)
#define PLACE(i, part) (BLOCK_EACH ? (i)*PARTS + (part) : (part) * (columns ? n : m) + (i))

// Joins what the threads have in sums[k * BLOCK + t] for k < count: over those with the same t / (width * step) and t % step, into
// the first of them.
DEVICE void merge(SHARED T_acc *sums, int count, int width, int step, int largest)
{
    int t = threadIdx.x;
    __syncthreads();
    for (int w = width / 2; w > 0; w /= 2) {
        if (t / step % width < w)
            for (int k = 0; k < count; k++)
                sums[k * BLOCK + t] = joined(sums[k * BLOCK + t], sums[k * BLOCK + t + w * step], largest);
        __syncthreads();
    }
}

DEVICE void take(T_acc *a, struct pack p, int largest)
{
#pragma unroll
    for (int k = 0; k < VEC; k++)
        a[k] = joined(a[k], T_from(p.e[k]), largest);
}

// Takes the packs at in, in + step, ... up to end. ITEMS of them are on their way at a time.
DEVICE void walk(T_acc *a, GLOBAL const T *in, GLOBAL const T *end, int64 step, int largest)
{
    struct pack held[ITEMS];
    for (; in + (ITEMS - 1) * step < end; in += ITEMS * step) {
#pragma unroll
        for (int p = 0; p < ITEMS; p++)
            held[p] = *(GLOBAL const struct pack *)(in + p * step);
#pragma unroll
        for (int p = 0; p < ITEMS; p++)
            take(a, held[p], largest);
    }
    for (; in < end; in += step)
        take(a, *(GLOBAL const struct pack *)in, largest);
}

KERNEL void __launch_bounds__(BLOCK)
#if defined(SPLIT) && !defined(ATOMIC)
reduce(GLOBAL const T *__restrict__ x, int64 m, int64 n, int64 columns, int64 largest, GLOBAL T_acc *__restrict__ partial)
#else
reduce(GLOBAL T *__restrict__ out, GLOBAL const T *__restrict__ x, int64 m, int64 n, int64 columns, int64 largest, int64 mean)
#endif
{
    __shared__ T_acc sums[VEC * BLOCK];
    int t = threadIdx.x, lane = t % LANES, line = t / LANES, max_of = largest != 0, each = columns ? VEC : 1; // outputs of a thread
    int64 outputs = columns ? n : m, part = blockIdx.x % PARTS;
    int64 i = (int64)(blockIdx.x / PARTS) * (columns ? LANES * VEC : LINES) + (columns ? lane * VEC : line);
    T_acc a[VEC];
    for (int k = 0; k < VEC; k++)
        a[k] = max_of && i < outputs ? T_get(x, columns ? i + k : i * n) : 0;
    if (i < outputs) {
        // What lies before and behind a row's packs; nothing does along columns.
        int64 begin = i * n + part_begin(n, part), end = i * n + part_begin(n, part + 1);
        int64 head = min((begin + VEC - 1) / VEC * VEC, end), tail = head + (end - head) / VEC * VEC;
        if (VEC > 1 && !columns && begin + lane < head)
            a[0] = joined(a[0], T_get(x, begin + lane), max_of);
        if (VEC > 1 && !columns && tail + lane < end)
            a[0] = joined(a[0], T_get(x, tail + lane), max_of);
        begin = columns ? (part_begin(m, part) + line) * n + i : head + lane * VEC;
        end = columns ? part_begin(m, part + 1) * n : tail;
        walk(a, x + begin, x + end, columns ? LINES * n : LANES * VEC, max_of);
        for (int k = 1; k < VEC; k++)
            if (!columns)
                a[0] = joined(a[0], a[k], max_of);
    }
#ifdef BACKEND_CUDA
    if (!columns && LANES <= 32) {
        for (int w = LANES / 2; w > 0; w /= 2)
            a[0] = joined(a[0], __shfl_xor_sync(0xffffffff, a[0], w), max_of);
        if (lane == 0 && i < outputs)
            PUT(i, a[0]);
        return;
    }
#endif
    for (int k = 0; k < VEC; k++)
        sums[k * BLOCK + t] = a[k];
    merge(sums, each, columns ? LINES : LANES, columns ? LANES : 1, max_of);
    if ((columns ? line : lane) == 0 && i < outputs)
        for (int k = 0; k < each; k++)
            PUT(i + k, sums[k * BLOCK + t]);
}

#if defined(SPLIT) && !defined(ATOMIC)
KERNEL void __launch_bounds__(BLOCK)
reduce_total(GLOBAL T *__restrict__ out, int64 m, int64 n, int64 columns, int64 largest, int64 mean,
             GLOBAL const T_acc *__restrict__ partial)
{
#if BLOCK_EACH
    __shared__ T_acc sums[BLOCK];
    int64 i = blockIdx.x;
    int t = threadIdx.x;
    T_acc a = t < PARTS || largest ? partial[PLACE(i, t % PARTS)] : 0;
    for (int part = t + BLOCK; part < PARTS; part += BLOCK)
        a = joined(a, partial[PLACE(i, part)], largest != 0);
    sums[t] = a;
    merge(sums, 1, BLOCK, 1, largest != 0);
    if (t == 0)
        out[i] = put_together(sums[0], columns ? m : n, mean);
#else
    int64 i = (int64)blockIdx.x * BLOCK + threadIdx.x;
    if (i < (columns ? n : m)) {
        T_acc a = partial[PLACE(i, 0)];
        for (int part = 1; part < PARTS; part++)
            a = joined(a, partial[PLACE(i, part)], largest != 0);
        out[i] = put_together(a, columns ? m : n, mean);
    }
#endif
}
#endif
