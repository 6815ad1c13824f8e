// C = alpha op(A) op(B) + beta C for f16 and bf16 by Hopper's tensor cores (wgmma), summed in float. A block computes TILE_M x TILE_N
// elements of C, one tile after the other. Of its warpgroups the first brings tiles of A and B, 64 deep, into the next free one of STAGES
// places in shared memory by the copy engine (TMA); the others, CONSUMERS of them, multiply, each its rows of the tile. The blocks of a
// cluster, CLUSTER of them, have tiles one below the other: each brings a part of B for all. Rows of A and B are whole words of 16 bytes;
// where those of the arguments are not, gemm_pack.h copies them first. COPY_C: the copy engine takes tiles of C to their place, too.
// With FILL several blocks share a tile of C: gemm_parts.h.
//
// Shared memory holds panels of 64 rows of op(A) or columns of op(B), 64 deep, as the copy engine swizzles them: 64 lines of 128 bytes,
// whose words of 16 bytes are exchanged. A line is a part of a row in memory: one row or column of the 64, or one step of depth.
#include "numbers.h"
#include "gemm_pack.h"
#include "gemm_parts.h"

#define THREADS (128 * (CONSUMERS + 1))
#define DEEP 64
#define PANEL (64 * DEEP * T_bytes)
#define PANELS_A (TILE_M / 64)
#define PANELS_B (TILE_N / 64)
#define STAGE (PANEL * (PANELS_A + PANELS_B))
#define AHEAD(by_depth) ((by_depth) ? 32 : 16 * 128) // bytes of a panel that are 16 deep
#define ROOM_C (COPY_C ? TILE_M * TILE_N * T_bytes : 0)
#define OWN (PANELS_A / CONSUMERS) // panels of A that a warpgroup multiplies

struct __align__(64) tensor_map {
    char bytes[128];
};

// Waits until the phase of this parity is over.
DEVICE void wait(uint32 barrier, uint32 parity)
{
    uint32 over;
    do {
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                     : "=r"(over)
                     : "r"(barrier), "r"(parity)
                     : "memory");
    } while (!over);
}

// A panel from a matrix of the batch: `first`, the first of its rows or columns, and how deep it begins. by_depth: so it lies in memory.
DEVICE void copy_panel(uint32 to, const tensor_map *from, bool by_depth, int32 first, int32 depth, int32 matrix, uint32 barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
                 "l"(from), "r"(by_depth ? depth : first), "r"(by_depth ? first : depth), "r"(matrix), "r"(barrier)
                 : "memory");
}

// The same into all blocks of the cluster.
DEVICE void copy_panel_to_all(uint32 to, const tensor_map *from, bool by_depth, int32 first, int32 depth, int32 matrix, uint32 barrier)
{
#if CLUSTER > 1
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
                 "l"(from), "r"(by_depth ? depth : first), "r"(by_depth ? first : depth), "r"(matrix), "r"(barrier),
                 "h"((uint16)((1 << CLUSTER) - 1))
                 : "memory");
#else
    copy_panel(to, from, by_depth, first, depth, matrix, barrier);
#endif
}

// Says to all blocks of the cluster that this warp needs a place no more.
DEVICE void release(uint32 barrier, int lane)
{
#if CLUSTER > 1
    if (lane < CLUSTER)
        asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
                     "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
                     "r"(lane)
                     : "memory");
#else
    if (lane == 0)
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
#endif
}

// All threads of the cluster are here.
DEVICE void meet()
{
#if CLUSTER > 1
    asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
#else
    __syncthreads();
#endif
}

// How wgmma finds panels that begin at `at` in the block's shared memory: 1024 bytes from 8 lines to the next, PANEL bytes from panel to panel; swizzled by 128 bytes.
DEVICE uint64 panels(uint32 at)
{
    return (uint64)((at & 0x3ffff) >> 4) | (uint64)(PANEL >> 4) << 16 | (uint64)(1024 >> 4) << 32 | (uint64)1 << 62;
}

//@ local sums, places = {}, {}
//@ for i = 0, TILE_N // 2 - 1 do
//@     sums[i + 1], places[i + 1] = '"+f"(d[' .. i .. "])", "%" .. i
//@ end
// Adds the product of 64 rows of A and the tile's columns of B, 16 deep.
DEVICE void multiply(float d[TILE_N / 2], uint64 a, uint64 b)
{
    asm volatile("{\n.reg .pred p;\nsetp.eq.u32 p, 0, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n$(TILE_N)k16.f32.$(T).$(T) {$(table.concat(places, ", "))}, "
                 "%$(TILE_N // 2), %$(TILE_N // 2 + 1), p, 1, 1, %$(TILE_N // 2 + 2), %$(TILE_N // 2 + 3);\n}"
                 : $(table.concat(sums, ", "))
                 : "l"(a), "l"(b), "n"(TA), "n"(!TB)); // whether lines are steps of depth
}

// What stands in registers is as the assembler last said, whatever runs in between.
DEVICE void settle(float sum[OWN][TILE_N / 2])
{
#pragma unroll
    for (int r = 0; r < OWN; r++)
#pragma unroll
        for (int s = 0; s < TILE_N / 2; s++)
            asm volatile("" : "+f"(sum[r][s])::"memory");
}

DEVICE uint32 pair(float low, float high)
{
    uint32 both;
    asm("cvt.rn.$(T)x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

// Four neighbouring lanes exchange words: lane q gets the q-th of each.
DEVICE void exchange(uint32 v[4], int lane)
{
#pragma unroll
    for (int w = 1; w < 4; w *= 2)
#pragma unroll
        for (int e = 0; e < 4; e++)
            if (!(e & w)) {
                uint32 got = __shfl_xor_sync(0xffffffff, lane & w ? v[e] : v[e + w], w);
                if (lane & w)
                    v[e] = got;
                else
                    v[e + w] = got;
            }
}

// Two neighbouring elements of C, of which there are `room`.
DEVICE uint32 mixed_pair(const T *c, int64 room, float alpha, float beta, const float *sum)
{
    uint32 old = beta != 0 && room > 0 ? *(const uint32 *)c : 0;
    return pair(mixed(alpha, sum[0], beta, T_from((T)old)), mixed(alpha, sum[1], beta, T_from((T)(old >> 16))));
}

#if COPY_C
// 16 rows of a warp through shared memory, in pieces of 64 columns, swizzled. `c` is their first element, and there are `high` of them.
DEVICE void copy_rows(uint32 to, const tensor_map *map, int32 x, int32 y, int32 matrix, const T *c, int64 ldc, int64 room, int64 high,
                      float alpha, float beta, const float *sum, int lane)
{
    int upper = lane / 4, column = lane % 4 * 2;
    const T *here = c + upper * ldc + column, *below = here + 8 * ldc;
    int64 room_here = upper < high ? room - column : 0, room_below = upper + 8 < high ? room - column : 0;
#pragma unroll
    for (int s = 0; s < TILE_N; s += 16) {
        uint32 v[4];
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int at = s + e / 2 * 8;
            v[e] = mixed_pair((e % 2 ? below : here) + at, (e % 2 ? room_below : room_here) - at, alpha, beta, &sum[at / 2 + e % 2 * 2]);
        }
        uint32 place = to + s / 64 * 2048 + lane % 16 * 128 + ((s % 64 / 8 + lane / 16) ^ lane % 8) * 16;
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(place), "r"(v[0]), "r"(v[1]), "r"(v[2]),
                     "r"(v[3])
                     : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (lane == 0) {
        for (int s = 0; s < PANELS_B; s++)
            asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(map), "r"(x + s * 64),
                         "r"(y), "r"(matrix), "r"(to + s * 2048)
                         : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
}
#endif

// A row's sums of a lane, which has two of each 8 columns, and of its three neighbours. `room`: columns that there are.
// `wide`: rows of C are whole words of 16 bytes.
DEVICE void put_row(T *c, int64 room, bool wide, float alpha, float beta, const float *sum, int lane)
{
#pragma unroll
    for (int s = 0; s < TILE_N / 8; s += 4) {
        if (wide) {
            uint32 v[4];
#pragma unroll
            for (int e = 0; e < 4; e++) {
                int column = (s + e) * 8 + lane % 4 * 2;
                v[e] = mixed_pair(c + column, room - column, alpha, beta, &sum[(s + e) * 4]);
            }
            exchange(v, lane);
            int column = (s + lane % 4) * 8;
            if (column < room)
                *(uint4 *)(c + column) = make_uint4(v[0], v[1], v[2], v[3]);
        } else {
#pragma unroll
            for (int e = 0; e < 8; e++) {
                int column = (s + e / 2) * 8 + lane % 4 * 2 + e % 2;
                if (column < room)
                    c_put(c, column, alpha, sum[(s + e / 2) * 4 + e % 2], beta);
            }
        }
    }
}

DEVICE void put_partial(float *to, int64 room, bool even, const float *sum, int lane)
{
#pragma unroll
    for (int s = 0; s < TILE_N / 8; s++) {
        int column = s * 8 + lane % 4 * 2;
        if (even && column < room)
            *(float2 *)(to + column) = make_float2(sum[s * 4], sum[s * 4 + 1]);
        else if (column < room) {
            to[column] = sum[s * 4];
            if (column + 1 < room)
                to[column + 1] = sum[s * 4 + 1];
        }
    }
}

// Which tile of C, of which matrix of the batch, and which part of the inner product is the work-th of all. Tiles are walked in groups of GROUP rows of tiles, so that
// blocks that run at the same time need the same rows and columns.
struct place {
    int32 top, left, matrix, begin, end;
    int64 part;
};

DEVICE struct place place_of(uint32 work, uint32 across, uint32 down, int64 k, int64 batch, int64 parts, uint32 rank)
{
    struct place at;
    uint32 tile = work % (across * down), others = work / (across * down), first = tile / (GROUP * across) * GROUP, rest = tile % (GROUP * across);
    uint32 high = min((uint32)GROUP, down - first);
    at.top = (int32)(((first + rest % high) * CLUSTER + rank) * TILE_M);
    at.left = (int32)(rest / high * TILE_N);
    at.matrix = (int32)(others % (uint32)batch);
    at.part = others / (uint32)batch;
    at.begin = (int32)part_begin(k, at.part, parts, DEEP);
    at.end = (int32)part_begin(k, at.part + 1, parts, DEEP);
    return at;
}

KERNEL void __launch_bounds__(THREADS, 1)
gemm_wgmma(T *__restrict__ c, const __grid_constant__ tensor_map map_c, float alpha, const __grid_constant__ tensor_map a,
           const __grid_constant__ tensor_map b, float beta, int64 m, int64 n, int64 k, int64 ldc, int64 batch, int64 parts,
           float *__restrict__ partial DYNAMIC_SHARED_PARAM)
{
    DYNAMIC_SHARED(char, dynamic);
    uint32 stages = ((uint32)__cvta_generic_to_shared(dynamic) + 1023) / 1024 * 1024;
    uint32 of_c = stages + STAGES * STAGE;
    uint32 full = of_c + ROOM_C, empty = full + STAGES * 8; // barriers: a place is filled, a place is free
    uint32 rank = blockIdx.x % CLUSTER, step = gridDim.x / CLUSTER;
    uint32 across = (uint32)((n + TILE_N - 1) / TILE_N), down = (uint32)((m + TILE_M * CLUSTER - 1) / (TILE_M * CLUSTER));
    uint32 works = across * down * (uint32)(batch * parts);
    int thread = threadIdx.x, lane = thread % 32;

    if (thread == 0) {
        for (int s = 0; s < STAGES; s++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + s * 8) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(empty + s * 8), "r"(CLUSTER * CONSUMERS * 4) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    meet();

    uint32 at = 0, parity = 0; // the place that is next, and of how many rounds it is
    if (thread < 128) {
#if CONSUMERS == 2
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
#endif
        if (thread == 0) {
            for (uint32 work = blockIdx.x / CLUSTER; work < works; work += step) {
                struct place to = place_of(work, across, down, k, batch, parts, rank);
                for (int32 p = to.begin; p < to.end; p += DEEP) {
                    uint32 place = stages + at * STAGE, barrier = full + at * 8;
                    wait(empty + at * 8, parity ^ 1);
                    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(STAGE) : "memory");
#pragma unroll
                    for (int r = 0; r < PANELS_A; r++)
                        copy_panel(place + r * PANEL, &a, !TA, to.top + r * 64, p, to.matrix, barrier);
#pragma unroll
                    for (int s = 0; s < PANELS_B / CLUSTER; s++) {
                        int panel = (int)rank * (PANELS_B / CLUSTER) + s;
                        copy_panel_to_all(place + (PANELS_A + panel) * PANEL, &b, TB, to.left + panel * 64, p, to.matrix, barrier);
                    }
                    at = at + 1 < STAGES ? at + 1 : 0;
                    parity ^= at == 0;
                }
            }
        }
    } else {
#if CONSUMERS == 2
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
#endif
        int group = __shfl_sync(0xffffffff, thread / 128, 0) - 1, row = group * OWN * 64 + thread % 128 / 32 * 16; // of the warp
        float sum[OWN][TILE_N / 2];
        for (uint32 work = blockIdx.x / CLUSTER; work < works; work += step) {
            struct place to = place_of(work, across, down, k, batch, parts, rank);
#pragma unroll
            for (int r = 0; r < OWN; r++)
#pragma unroll
                for (int s = 0; s < TILE_N / 2; s++)
                    sum[r][s] = 0;
            settle(sum);
            uint32 before = at; // the place that is still read
            for (int32 p = to.begin; p < to.end; p += DEEP) {
                uint64 of_a = panels(stages + at * STAGE + group * OWN * PANEL), of_b = panels(stages + at * STAGE + PANELS_A * PANEL);
                wait(full + at * 8, parity);
                asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
                for (int q = 0; q < DEEP / 16; q++)
#pragma unroll
                    for (int r = 0; r < OWN; r++)
                        multiply(sum[r], of_a + (r * PANEL + q * AHEAD(!TA)) / 16, of_b + q * AHEAD(TB) / 16);
                asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
                asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
                if (p > to.begin)
                    release(empty + before * 8, lane);
                before = at;
                at = at + 1 < STAGES ? at + 1 : 0;
                parity ^= at == 0;
            }
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
            settle(sum);
            if (to.begin < to.end)
                release(empty + before * 8, lane);
            int64 room = n - to.left;
#if COPY_C
            if (lane == 0)
                asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); // the tile before is gone
            __syncwarp();
#else
            bool wide = n % 8 == 0 && ldc % 8 == 0 && (uint64)c % 16 == 0;
#endif
#pragma unroll
            for (int r = 0; r < OWN; r++) {
                int64 i = to.top + row + r * 64, upper = i + lane / 4, lower = upper + 8;
                T *rows = c + to.matrix * m * ldc + to.left;
                if (parts > 1) {
                    float *at = partial + (to.part * batch + to.matrix) * m * n + to.left;
                    put_partial(at + upper * n, upper < m ? room : 0, n % 2 == 0, &sum[r][0], lane);
                    put_partial(at + lower * n, lower < m ? room : 0, n % 2 == 0, &sum[r][2], lane);
                    continue;
                }
#if COPY_C
                copy_rows(of_c + (row + r * 64) * TILE_N * T_bytes, &map_c, to.left, (int32)i, to.matrix, rows + i * ldc, ldc, room,
                          m - i, alpha, beta, sum[r], lane);
#else
                put_row(rows + upper * ldc, upper < m ? room : 0, wide, alpha, beta, &sum[r][0], lane);
                put_row(rows + lower * ldc, lower < m ? room : 0, wide, alpha, beta, &sum[r][2], lane);
#endif
            }
        }
#if COPY_C
        if (lane == 0)
            asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
    }
    meet(); // nobody leaves while others copy into its shared memory
}
