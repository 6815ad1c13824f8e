// A block stands on BLOCK_X x BLOCK_Y cells of a plane and walks through DEPTH planes. Each thread has the cells above and below its own in
// registers. SHARED_PLANE: neighbours in the plane come from shared memory, and only those beyond the block's edge from the input.
#ifndef SHARED_PLANE
#define SHARED_PLANE 0
#endif

KERNEL void __launch_bounds__(BLOCK_X *BLOCK_Y)
stencil(GLOBAL T *__restrict__ out, GLOBAL const T *__restrict__ in, T a, T b, T c, int64 nz, int64 ny, int64 nx)
{
#if SHARED_PLANE
    __shared__ T tile[BLOCK_Y][BLOCK_X];
#endif
    int tx = threadIdx.x, ty = threadIdx.y;
    int64 across = (nx + BLOCK_X - 1) / BLOCK_X, down = (ny + BLOCK_Y - 1) / BLOCK_Y, block = blockIdx.x;
    int64 x = block % across * BLOCK_X + tx, y = block / across % down * BLOCK_Y + ty, first = block / across / down * DEPTH;
    int64 plane = nx * ny, i = first * plane + y * nx + x;
    int64 end = min(first + DEPTH, nz);
    int is_cell = x < nx && y < ny, inner = x > 0 && x < nx - 1 && y > 0 && y < ny - 1;
    T below = is_cell && first > 0 ? in[i - plane] : 0, here = is_cell ? in[i] : 0;
    for (int64 z = first; z < end; z++, i += plane) {
        T above = is_cell && z < nz - 1 ? in[i + plane] : 0, v = here;
#if SHARED_PLANE
        __syncthreads(); // the plane before this may still be read
        tile[ty][tx] = here;
        __syncthreads();
#endif
        if (inner && z > 0 && z < nz - 1) {
#if SHARED_PLANE
            T west = tx > 0 ? tile[ty][tx - 1] : in[i - 1], east = tx < BLOCK_X - 1 ? tile[ty][tx + 1] : in[i + 1];
            T north = ty > 0 ? tile[ty - 1][tx] : in[i - nx], south = ty < BLOCK_Y - 1 ? tile[ty + 1][tx] : in[i + nx];
#else
            T west = in[i - 1], east = in[i + 1], north = in[i - nx], south = in[i + nx];
#endif
            v = a * here + b * (west + east + north + south) + c * (below + above);
        }
        if (is_cell)
            out[i] = v;
        below = here;
        here = above;
    }
}
