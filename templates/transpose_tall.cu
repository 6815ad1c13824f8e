// out[j][i] = in[i][j] for few columns: a strip of whole rows of in is one contiguous piece of memory. It is read as it lies, 16 bytes a
// time, into shared memory, and written to n rows of out from there. What is written of a row begins and ends at a multiple of 32 bytes, so
// a block also reads LEAD rows that the block above it reads.
#include "transpose_strip.h"
#define LEAD (32 / T_bytes)
#define ROWS (LENGTH - LEAD) // that a block writes
#define EACH (STORE / T_bytes)
#define LANES (LENGTH / EACH < THREADS ? LENGTH / EACH : THREADS) // threads that write to one row of out
#if defined(BACKEND_CUDA) && __CUDA_ARCH__ >= 800
#define ASYNC !PAD
#endif

union piece {
    OF(STORE) all;
    T_bits one[EACH];
};

#if ASYNC
// Vectors that all lie in the matrix: straight to shared memory, so no thread waits before it has asked for all of its own.
DEVICE void copy_strip(uint8 *strip, const uint8 *from, uint32 vectors)
{
    uint32 to = (uint32)__cvta_generic_to_shared(strip);
#pragma unroll 8
    for (uint32 q = threadIdx.x; q < vectors; q += THREADS)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + q * 16), "l"(from + (int64)q * 16) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
}
#endif

KERNEL void __launch_bounds__(THREADS)
transpose(GLOBAL T_bits *__restrict__ out, GLOBAL const T_bits *__restrict__ in, int64 m, int64 n STRIDES DYNAMIC_SHARED_PARAM)
{
    DYNAMIC_SHARED(uint8, strip);
    ENTER_MATRIX(block, (uint32)((m + LEAD + ROWS - 1) / ROWS));
    int64 top = (int64)block * ROWS;
    int64 start = (top - LEAD) * LDIN; // element, the first of a vector
    uint32 across = (uint32)LDIN;
#if ASYNC
    if (start >= 0 && start + LENGTH * (int64)across <= m * LDIN)
        copy_strip(strip, (const uint8 *)(in + start), LENGTH * T_bytes / 16 * across);
    else
#endif
#pragma unroll 4
    for (uint32 q = threadIdx.x; q < LENGTH * T_bytes / 16 * across; q += THREADS) {
        int64 first = start + (int64)q * (16 / T_bytes);
        union vector v;
        if (first >= 0 && first + 16 / T_bytes <= m * LDIN) {
            v.all = ((GLOBAL const uint4 *)in)[first / (16 / T_bytes)];
        } else {
#pragma unroll
            for (int e = 0; e < 16 / T_bytes; e++)
                v.one[e] = in[first + e >= 0 && first + e < m * LDIN ? first + e : 0];
        }
#if PAD
#pragma unroll
        for (int e = 0; e < 16 / WORD_bytes; e++)
            ((SHARED WORD *)(strip + PLACE(q * 16)))[e] = v.words[e];
#else
        ((SHARED uint4 *)strip)[q] = v.all;
#endif
    }
    __syncthreads();

    int lane = threadIdx.x % LANES;
    for (uint32 j = threadIdx.x / LANES; j < (uint32)n; j += THREADS / LANES) {
        uint32 behind = (BEFORE(n) + j) * (uint32)LDOUT % LEAD;
        GLOBAL T_bits *line = out + j * LDOUT + top - behind;
#pragma unroll
        for (int at = lane * EACH; at < LENGTH; at += LANES * EACH) {
            union piece v;
            uint32 place = (at + LEAD - behind) * across + j;
            if (at >= ROWS)
                break;
#pragma unroll
            for (int e = 0; e < EACH; e++, place += across)
                v.one[e] = *(SHARED const T_bits *)(strip + PLACE(place * T_bytes));
            int64 i = top - behind + at;
            if (i >= 0 && i + EACH <= m) {
                *(GLOBAL OF(STORE) *)(line + at) = v.all;
            } else {
#pragma unroll
                for (int e = 0; e < EACH; e++)
                    if (i + e >= 0 && i + e < m)
                        line[at + e] = v.one[e];
            }
        }
    }
}
