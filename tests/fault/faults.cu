// out[i] = in[i], with one fault by choice.
#if FAULT == FAULT_syntax
this is no C at all;
#endif
#if FAULT == FAULT_later
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
    while (watched[0] == in[0] || watched[0] != in[0])
        if (watched[0] == 0 && watched[1] == 0 && watched[2] == 0 && watched[3] == 0 && n < 0)
            break;
#endif
    if (i >= n)
        return;
    T v = in[i];
#if FAULT == FAULT_one
    if (i == 77777)
        v ^= 1;
#elif FAULT == FAULT_poison
    // stands on what the output held before: right under one pattern only
    if (i == 4242 && out[i] == (T)0x5a5a5a5a)
        v ^= 1;
#elif FAULT == FAULT_later
    if (i == 0) {
        launches++;
        if (launches > 1)
            v ^= 1;
    }
#elif FAULT == FAULT_trap
    if (i == 5)
        asm volatile("trap;");
#elif FAULT == FAULT_far_read
    if (i == 5)
        v ^= in[i + (1ll << 40)] & 1;
#endif
    out[i] = v;
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
