// Every feature of the kernel dialect, with results that test_device.c computes again. WITH_DOUBLE and WITH_ATOMIC64 are its lines.
DEVICE int64 swap_halves(int64 i, int64 n)
{
    return i < n / 2 ? i + n / 2 : i - n / 2;
}

DEVICE T first_of(SHARED const T *row)
{
    return row[0];
}

// out[x][y] = in[y][x]: static shared memory, padded; blocks in x and y, threads in x and y, a stride over the rows of the tile.
KERNEL void __launch_bounds__(TILE *ROWS)
turn(GLOBAL T *__restrict__ out, GLOBAL const T *__restrict__ in, int64 m, int64 n)
{
    __shared__ T tile[TILE][TILE + 1];
    int64 x = (int64)blockIdx.x * TILE + threadIdx.x, y = (int64)blockIdx.y * TILE + threadIdx.y;
#pragma unroll
    for (int r = 0; r < TILE; r += ROWS)
        if (x < n && y + r < m)
            tile[threadIdx.y + r][threadIdx.x] = __ldg(&in[(y + r) * n + x]);
    __syncthreads();
    x = (int64)blockIdx.y * TILE + threadIdx.x;
    y = (int64)blockIdx.x * TILE + threadIdx.y;
#pragma unroll 2
    for (int r = 0; r < TILE; r += ROWS)
        if (x < m && y + r < n)
            out[(y + r) * m + x] = tile[threadIdx.x][threadIdx.y + r];
}

// Each block swaps the halves of its part, through dynamic shared memory; element 0 of the part is added to all of it.
KERNEL void halves(GLOBAL T *out, GLOBAL const T *in, int64 n DYNAMIC_SHARED_PARAM)
{
    DYNAMIC_SHARED(T, part);
    int64 at = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = at < n ? in[at] : (T)0;
    __syncthreads();
    if (at < n)
        out[at] = part[swap_halves(threadIdx.x, blockDim.x)] + first_of(part);
}

KERNEL void atomics(GLOBAL int32 *i, GLOBAL uint32 *u, GLOBAL float *f, GLOBAL T_bits *bits, int32 by)
{
    int32 t = (int32)threadIdx.x;
    atomicAdd(&i[0], by);
    atomicMin(&i[1], -t);
    atomicMax(&i[2], t);
    atomicAdd(u, 2u);
    atomicMin(&u[1], (uint32)t + 5u);
    atomicMax(&u[2], (uint32)t + 5u);
    atomicAdd(f, 0.5f);
    if (blockIdx.x == 0 && t == 0)
        *bits = (T_bits)1 << (8 * T_bytes - 1);
}

#if WITH_DOUBLE && WITH_ATOMIC64
KERNEL void atomics64(GLOBAL uint64 *u, GLOBAL double *d)
{
    atomicAdd(u, (uint64)1 << 33);
    atomicAdd(d, 0.25);
}
#endif

// Where a thread is: three dimensions of everything.
KERNEL void places(GLOBAL uint32 *out)
{
    uint32 block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    uint32 thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    out[block * (blockDim.x * blockDim.y * blockDim.z) + thread] = block << 16 | thread;
}

// Types, vectors, enumerations, whole-number functions.
KERNEL void facts(GLOBAL int64 *out, GLOBAL uint4 *wide, GLOBAL float4 *floats, int8 small, uint16 medium, uint64 large)
{
    out[0] = sizeof(int8) * 1000 + sizeof(uint8) * 100 + sizeof(int16) * 10 + sizeof(uint16);
    out[1] = sizeof(int32) * 1000 + sizeof(uint32) * 100 + sizeof(int64) * 10 + sizeof(uint64);
    out[2] = sizeof(T) * 100 + sizeof(T_bits) * 10 + T_is_float;
    out[3] = small;
    out[4] = medium;
    out[5] = (int64)(large >> 1);
    out[6] = min(3, 4) * 10 + max(3, 4);
#if GRID == GRID_x
    out[7] = 1;
#elif GRID == GRID_xy
    out[7] = 2;
#endif
#if defined(BACKEND_CUDA) == defined(BACKEND_OPENCL)
    out[7] = 3;
#endif
    union {
        T value;
        T_bits bits;
    } x;
    x.value = (T)1;
    out[8] = (int64)x.bits;
    uint2 two = make_uint2(1u, 2u);
    uint4 four = make_uint4(two.x, two.y, 3u, 0xffffffffu);
    wide[0] = four;
    four = __ldg(&wide[0]);
    wide[1] = make_uint4(four.w, four.z, four.y, four.x);
    float2 pair = make_float2(0.5f, 1.5f);
    floats[0] = make_float4(pair.x, pair.y, 2.5f, 3.5f);
#if WITH_DOUBLE
    double2 both = make_double2(0.5, 4.0);
    out[9] = (int64)(both.x * both.y);
#endif
}
