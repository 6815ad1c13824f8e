KERNEL void __launch_bounds__(BLOCK_X * BLOCK_Y)
stencil_columns(T c0, T c1, T c2, GLOBAL const T *A0, GLOBAL T *Anext, int64 nx, int64 ny, int64 nz)
{
#if SHARED_PLANE
    __shared__ T plane[BLOCK_Y][BLOCK_X];
#endif
    const int64 across = (nx + BLOCK_X - 1) / BLOCK_X, down = (ny + BLOCK_Y - 1) / BLOCK_Y;
    const int64 x = blockIdx.x % across * BLOCK_X + threadIdx.x, y = blockIdx.x / across % down * BLOCK_Y + threadIdx.y;
    const int64 from = blockIdx.x / (across * down) * Z_STEPS, size = nx * ny;
    const bool here = x < nx && y < ny, wall = x == 0 || x >= nx - 1 || y == 0 || y >= ny - 1;
    int64 i = (from * ny + y) * nx + x;
    T below = here && from > 0 ? A0[i - size] : 0, middle = here ? A0[i] : 0;
#pragma unroll 1
    for (int64 z = from; z < from + Z_STEPS && z < nz; z++, i += size) {
        const T above = here && z < nz - 1 ? A0[i + size] : 0;
#if SHARED_PLANE
        plane[threadIdx.y][threadIdx.x] = middle;
        __syncthreads();
#define AT(dx, dy, inside) ((inside) ? plane[threadIdx.y + (dy)][threadIdx.x + (dx)] : A0[i + (dx) + (dy) * nx])
#else
#define AT(dx, dy, inside) A0[i + (dx) + (dy) * nx]
#endif
        if (here && (wall || z == 0 || z == nz - 1))
            Anext[i] = middle;
        else if (here)
            Anext[i] = c0 * middle +
                       c1 * (AT(-1, 0, threadIdx.x > 0) + AT(1, 0, threadIdx.x < BLOCK_X - 1) + AT(0, -1, threadIdx.y > 0) +
                             AT(0, 1, threadIdx.y < BLOCK_Y - 1)) +
                       c2 * (below + above);
#if SHARED_PLANE
        __syncthreads();
#endif
        below = middle;
        middle = above;
    }
}
