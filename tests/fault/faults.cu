// out[i] = in[i], with one fault by choice.
#if FAULT == FAULT_syntax
this is no C at all;
#endif
#if FAULT == FAULT_loud // some 50 MB of messages
#ifdef BACKEND_CUDA
#define _Static_assert static_assert
#endif
#define LETTERS16 "sixteen letters "
#define LETTERS256                                                                                                                 \
    LETTERS16 LETTERS16 LETTERS16 LETTERS16 LETTERS16 LETTERS16 LETTERS16 LETTERS16 LETTERS16 LETTERS16 LETTERS16 LETTERS16        \
        LETTERS16 LETTERS16 LETTERS16 LETTERS16
#define KB4                                                                                                                        \
    LETTERS256 LETTERS256 LETTERS256 LETTERS256 LETTERS256 LETTERS256 LETTERS256 LETTERS256 LETTERS256 LETTERS256 LETTERS256       \
        LETTERS256 LETTERS256 LETTERS256 LETTERS256 LETTERS256
#define KB64 KB4 KB4 KB4 KB4 KB4 KB4 KB4 KB4 KB4 KB4 KB4 KB4 KB4 KB4 KB4 KB4
#define MB1  KB64 KB64 KB64 KB64 KB64 KB64 KB64 KB64 KB64 KB64 KB64 KB64 KB64 KB64 KB64 KB64
_Static_assert(0, MB1 MB1 MB1 MB1 MB1 MB1 MB1 MB1 MB1 MB1);
_Static_assert(0, MB1 MB1 MB1 MB1 MB1 MB1 MB1 MB1 MB1 MB1);
_Static_assert(0, MB1 MB1 MB1 MB1 MB1 MB1 MB1 MB1 MB1 MB1);
_Static_assert(0, MB1 MB1 MB1 MB1 MB1 MB1 MB1 MB1 MB1 MB1);
_Static_assert(0, MB1 MB1 MB1 MB1 MB1 MB1 MB1 MB1 MB1 MB1);
#endif
#if FAULT == FAULT_endless // a condition of 2^35 terms
#define T1  +0 + 0 + 0 + 0
#define T2  T1 T1 T1 T1 T1 T1 T1 T1
#define T5  T2 T2 T2 T2 T2 T2 T2 T2
#define T8  T5 T5 T5 T5 T5 T5 T5 T5
#define T11 T8 T8 T8 T8 T8 T8 T8 T8
#define T14 T11 T11 T11 T11 T11 T11 T11 T11
#define T17 T14 T14 T14 T14 T14 T14 T14 T14
#define T20 T17 T17 T17 T17 T17 T17 T17 T17
#define T23 T20 T20 T20 T20 T20 T20 T20 T20
#define T26 T23 T23 T23 T23 T23 T23 T23 T23
#define T29 T26 T26 T26 T26 T26 T26 T26 T26
#define T32 T29 T29 T29 T29 T29 T29 T29 T29
#if 1 T32
#endif
#endif
#if FAULT == FAULT_later || FAULT == FAULT_stops || FAULT == FAULT_middle || FAULT == FAULT_timed_input || FAULT == FAULT_late_hang || \
    FAULT == FAULT_late_trap
__device__ int launches; // kept from launch to launch
#endif

KERNEL void
#if FAULT == FAULT_threads
__launch_bounds__(BLOCK / 2) // fewer than it is launched with
#endif
    copy(GLOBAL T *out, GLOBAL const T *in, int64 n)
{
    int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x;
#if FAULT == FAULT_shared
    __shared__ int hoard[64 << 20]; // 256 MB
    hoard[threadIdx.x * 1024] = (int)i;
    __syncthreads();
    if (hoard[threadIdx.x * 1024] != (int)i)
        return;
#endif
#if FAULT == FAULT_hang
    volatile GLOBAL const T *watched = in;
    while (blockIdx.x == 0 && (watched[0] == in[0] || watched[0] != in[0])) // one block: it takes one core of a processor
        if (watched[0] == 0 && watched[1] == 0 && watched[2] == 0 && watched[3] == 0 && n < 0)
            break;
#endif
    if (i >= n)
        return;
    T v = in[i];
#if FAULT == FAULT_slow
    volatile GLOBAL const T *again = in;
    for (int k = 0; k < 3000; k++)
        v = again[i];
#elif FAULT == FAULT_registers
    T held[128]; // all live at once
#pragma unroll
    for (int k = 0; k < 128; k++)
        held[k] = in[(i + k) % n];
    for (int64 round = 0; round < n % 5; round++)
#pragma unroll
        for (int k = 0; k < 128; k++)
            held[k] = held[k] * held[(k + 1) % 128] + held[(k + 77) % 128];
#pragma unroll
    for (int k = 0; k < 128; k++)
        v |= held[k] & (T)(n >> 40); // nothing
#elif FAULT == FAULT_one
    if (i == 77777)
        v ^= 1;
#elif FAULT == FAULT_poison
    // stands on what the output held before: right under one pattern only
    if (i == 4242 && out[i] == (T)-1)
        v ^= 1;
#elif FAULT == FAULT_later
    if (i == 0) {
        launches++;
        if (launches > 1)
            v ^= 1;
    }
#elif FAULT == FAULT_stops
    if (i == 0)
        launches++;
    if (launches > 5) // it has been verified by then
        return;
#elif FAULT == FAULT_middle
    if (i == 0 && ++launches == 7)
        v ^= 1;
#elif FAULT == FAULT_timed_input // it has been verified by then
    if (i == 0 && ++launches > 5)
        ((volatile T *)in)[9] ^= 1;
#elif FAULT == FAULT_late_hang
    if (i == 0 && ++launches == 6)
        while (*(volatile int *)&launches)
            ;
#elif FAULT == FAULT_late_trap
    if (i == 0 && ++launches == 6)
        asm volatile("trap;");
#elif FAULT == FAULT_nothing
    if (n > 0)
        return;
#elif FAULT == FAULT_trap
    if (i == 5)
        asm volatile("trap;");
#elif FAULT == FAULT_far_read
    if (i == 5)
        v ^= in[i + (1ll << 40)] & 1;
#endif
#if FAULT == FAULT_swaps // the buffers
    ((GLOBAL T *)in)[i] = out[i];
#else
    out[i] = v;
#endif
#if FAULT == FAULT_before
    if (i == 0)
        out[-3] = 1;
#elif FAULT == FAULT_after
    if (i == 0)
        out[n] = 1;
#elif FAULT == FAULT_far_write
    if (i == 0)
        out[1ll << 40] = 1;
#elif FAULT == FAULT_input
    if (i == 9)
        ((GLOBAL T *)in)[i] = v + 1;
#endif
}
