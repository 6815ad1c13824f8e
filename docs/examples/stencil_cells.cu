// A thread takes ITEMS cells, BLOCK apart.
KERNEL void __launch_bounds__(BLOCK)
stencil(GLOBAL T *__restrict__ out, GLOBAL const T *__restrict__ in, T a, T b, T c, int64 nz, int64 ny, int64 nx)
{
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        int64 i = (int64)blockIdx.x * (BLOCK * ITEMS) + k * BLOCK + threadIdx.x;
        int64 x = i % nx, y = i / nx % ny, z = i / nx / ny;
        if (z < nz) {
            T v = in[i];
            if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && z < nz - 1)
                v = a * v + b * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx]) + c * (in[i - nx * ny] + in[i + nx * ny]);
            out[i] = v;
        }
    }
}
