KERNEL void sqk(GLOBAL T *out, GLOBAL const T *a, int64 n, int64 m) { int64 i = (int64)blockIdx.x * 64 + threadIdx.x; if (i < n * m) out[i % n * n + i / n] = a[i]; }
