// Transposes in place in registers: a thread takes a square of EACH x EACH elements and its mirror image. SIDE x SIDE threads take a
// tile; a warp is LANES threads wide, so that what it reads together on both sides of the diagonal lies together. Rows are whole squares.
#include "transpose.h"
#include "transpose_inplace.h"
#define ACROSS (SIDE / LANES) // warps side by side
#define TILE (SIDE * EACH)
#define LINE (EACH * T_bytes)
#if LINE >= 16 // bytes of an access
#define VEC 16
#elif LINE == 8
#define VEC 8
#else
#define VEC 4
#endif

union line {
    OF(VEC) all[LINE / VEC];
    WORD one[LINE / WORD_bytes];
};

DEVICE void read_square(union line *rows, GLOBAL const T_bits *from, int64 ld)
{
#pragma unroll
    for (int r = 0; r < EACH; r++)
#pragma unroll
        for (int v = 0; v < LINE / VEC; v++)
            rows[r].all[v] = ((GLOBAL const OF(VEC) *)(from + r * ld))[v];
}

DEVICE void write_turned(const union line *rows, GLOBAL T_bits *to, int64 ld)
{
#pragma unroll
    for (int w = 0; w < LINE / WORD_bytes; w++) {
        union line columns[PACK];
#pragma unroll
        for (int g = 0; g < EACH / PACK; g++) {
            WORD part[PACK], turned[PACK];
#pragma unroll
            for (int k = 0; k < PACK; k++)
                part[k] = rows[g * PACK + k].one[w];
            turn(part, turned);
#pragma unroll
            for (int k = 0; k < PACK; k++)
                columns[k].one[g] = turned[k];
        }
#pragma unroll
        for (int k = 0; k < PACK; k++)
#pragma unroll
            for (int v = 0; v < LINE / VEC; v++)
                ((GLOBAL OF(VEC) *)(to + (w * PACK + k) * ld))[v] = columns[k].all[v];
    }
}

KERNEL void __launch_bounds__(SIDE * SIDE)
transpose_inplace(GLOBAL T_bits *a, int64 n, int64 ld)
{
    struct pair p = pair_of(blockIdx.x, (uint32)((n + TILE - 1) / TILE), TILE);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int x = warp % ACROSS * LANES + lane % LANES, y = warp / ACROSS * (32 / LANES) + lane / LANES;
    int64 i = p.top + y * EACH, j = p.left + x * EACH;
    union line above[EACH], below[EACH];
    if (i > j || j >= n) // the diagonal's tile has each pair of squares twice
        return;
    a += p.matrix * n * ld;
    read_square(above, a + i * ld + j, ld);
    if (i < j)
        read_square(below, a + j * ld + i, ld);
    write_turned(above, a + j * ld + i, ld);
    if (i < j)
        write_turned(below, a + i * ld + j, ld);
}
