// out[i] = in[i], with a workspace, and one fault by choice that shows from the second launch on, if nobody poisons the workspace between.
#define MARK 0x600df1a9

KERNEL void copy_kept(GLOBAL T *out, GLOBAL const T *in, int64 n, GLOBAL int32 *kept)
{
    int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    T v = in[i];
    bool again = kept[n] == MARK;
#if KEPT == KEPT_marks
    if (again)
        return;
#elif KEPT == KEPT_flags     // one for each element, and nobody clears them
    if (kept[n + i] == MARK)
        return;
#elif KEPT == KEPT_remembers // what the first launch has found
    if (again)
        v = kept[i];
    kept[i] = v;
#elif KEPT == KEPT_parity
    if (i == 77 && (kept[0] & 1) != 0)
        v ^= 1;
#elif KEPT == KEPT_input
    if (i == 9 && again)
        ((volatile GLOBAL T *)in)[i] = v ^ 1;
#elif KEPT == KEPT_guard
    if (i == 0 && again)
        out[n] = 1;
#elif KEPT == KEPT_crash
    if (i == 5 && again)
        out[i + (1ll << 40)] = 1;
#elif KEPT == KEPT_hang
    volatile GLOBAL int32 *watched = kept;
    while (i == 5 && again && watched[n] == MARK)
        ;
#elif KEPT == KEPT_outside
    if (i == 0)
        kept[2 * n] = 1;
#endif
    out[i] = v;
}

KERNEL void mark_kept(int64 n, GLOBAL int32 *kept)
{
    int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
#if KEPT == KEPT_parity
    kept[i]++;
#elif KEPT != KEPT_none_still
    kept[n + i] = MARK;
#endif
}
