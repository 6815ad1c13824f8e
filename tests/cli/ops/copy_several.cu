/* PER elements a thread: side by side (near), or a block's width apart (far). */
KERNEL void copy(GLOBAL T *__restrict__ out, GLOBAL const T *__restrict__ inp, int64 n)
{
    int64 first = (int64)blockIdx.x * BLOCK * PER;
#pragma unroll
    for (int k = 0; k < PER; k++) {
#if ORDER == ORDER_near
        int64 i = first + (int64)threadIdx.x * PER + k;
#else
        int64 i = first + (int64)k * BLOCK + threadIdx.x;
#endif
        if (i < n)
            out[i] = inp[i];
    }
}
