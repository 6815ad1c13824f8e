KERNEL void stencil_ref(GLOBAL T *out, GLOBAL const T *in, int64 n, int64 steps)
{
    for (int64 i = 0; i < n; i++)
        out[i] = in[i];
    for (int64 s = 0; s < steps; s++) {
        T before = out[0];
        for (int64 i = 1; i < n - 1; i++) {
            T here = out[i];
            out[i] = before + here + out[i + 1];
            before = here;
        }
    }
}
