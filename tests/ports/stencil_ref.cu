KERNEL void stencil_ref(T c0, T c1, T c2, GLOBAL const T *A0, GLOBAL T *Anext, int64 nx, int64 ny, int64 nz)
{
    const int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x, x = i % nx, y = i / nx % ny, z = i / nx / ny;
    if (z >= nz)
        return;
    if (x == 0 || x == nx - 1 || y == 0 || y == ny - 1 || z == 0 || z == nz - 1)
        Anext[i] = A0[i];
    else
        Anext[i] = c0 * A0[i] + c1 * (A0[i - 1] + A0[i + 1] + A0[i - nx] + A0[i + nx]) + c2 * (A0[i - nx * ny] + A0[i + nx * ny]);
}
