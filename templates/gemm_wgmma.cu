// C = alpha op(A) op(B) + beta C for f16 and bf16 by Hopper's tensor cores (wgmma), summed in float. A block computes TILE_M x TILE_N
// elements of C, one tile after the other. Of its warpgroups the first brings tiles of A and B, 64 deep, into the next free one of STAGES
// places in shared memory by the copy engine (TMA); the others, CONSUMERS of them, multiply, each its rows of the tile. Rows of
// A and B are whole words of 16 bytes; where those of the arguments are not, gemm_pack.h copies them first. WIDE_C: those of C are, too,
// and the copy engine takes tiles there. With FILL several blocks share a tile of C: gemm_parts.h. The CLUSTER blocks of a cluster compute
// tiles below each other: each brings its part of B's tile to all of them, since lines that begin anywhere take the copy engine twice as long.
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
#define ROOM_C (FILL ? 0 : TILE_M * TILE_N * T_bytes)
#define OWN (PANELS_A / CONSUMERS) // panels of A that a warpgroup multiplies
#define SHARE (PANELS_B / CLUSTER) // panels of B that a block brings
#if CLUSTER > 1
#define CLUSTERED __cluster_dims__(CLUSTER, 1, 1)
#else
#define CLUSTERED
#endif

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

// A panel of a matrix of the batch: the first of its rows or columns, and how deep it begins. by_depth: it lies so in memory.
DEVICE void copy_panel(uint32 to, const tensor_map *from, bool by_depth, int32 first, int32 depth, int32 matrix, uint32 barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
                 "l"(from), "r"(by_depth ? depth : first), "r"(by_depth ? first : depth), "r"(matrix), "r"(barrier)
                 : "memory");
}

// The same, for all blocks of the cluster: to this place in each one's shared memory, and by its barrier.
DEVICE void share_panel(uint32 to, const tensor_map *from, bool by_depth, int32 first, int32 depth, int32 matrix, uint32 barrier)
{
#if CLUSTER > 1
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
                 "l"(from), "r"(by_depth ? depth : first), "r"(by_depth ? first : depth), "r"(matrix), "r"(barrier),
                 "h"((unsigned short)((1 << CLUSTER) - 1))
                 : "memory");
#else
    copy_panel(to, from, by_depth, first, depth, matrix, barrier);
#endif
}

DEVICE uint32 rank_in_cluster()
{
    uint32 rank = 0;
#if CLUSTER > 1
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
    return rank;
}

// All blocks of the cluster have come so far.
DEVICE void meet()
{
#if CLUSTER > 1
    asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
#else
    __syncthreads();
#endif
}

// The copy engine will need this soon.
DEVICE void expect(const tensor_map *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// Says to all that write there that this warp needs a place no more.
DEVICE void release(uint32 barrier, int lane)
{
#if CLUSTER > 1
    if (lane < CLUSTER)
        asm volatile("{\n.reg .u32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
                     "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
                     "r"(lane)
                     : "memory");
#else
    if (lane == 0)
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
#endif
}

// How wgmma finds panels that begin at `at` in the block's shared memory, a multiple of 1024 but for steps of depth: 128 bytes are
// swizzled, 8 lines take 1024 bytes, and the next panel is PANEL bytes on.
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

#if FILL
// A row of sums over a part of the inner product, of which there are `room` columns. A lane has two of each 8.
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
#else
// Makes elements of a row of C of sums.
DEVICE void mix(float *sum, float alpha, float beta, const T *c, int64 room, int lane)
{
    if (beta == 0) { // apart from what else there is to do, which is long
#pragma unroll
        for (int s = 0; s < TILE_N / 8; s++) {
            sum[s * 4] *= alpha;
            sum[s * 4 + 1] *= alpha;
        }
        return;
    }
#pragma unroll
    for (int s = 0; s < TILE_N / 8; s++) {
        int column = s * 8 + lane % 4 * 2;
        if (column < room)
            sum[s * 4] = mixed(alpha, sum[s * 4], beta, T_get(c, column));
        if (column + 1 < room)
            sum[s * 4 + 1] = mixed(alpha, sum[s * 4 + 1], beta, T_get(c, column + 1));
    }
}

// A warp's 16 rows of C as they are brought to their place: pieces of 64 columns, swizzled as panels are.
#define PIECE (16 * 64 * T_bytes)
#define WORD(row, column) ((row)*128 + (((column) / 8 % 8) ^ ((row) % 8)) * 16)

DEVICE void stage_rows(uint32 at, const float *sum, int lane)
{
#pragma unroll
    for (int s = 0; s < TILE_N; s += 16) {
        const float *v = sum + s / 2;
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                         at + s / 64 * PIECE + WORD(lane % 16, s + lane / 16 * 8)),
                     "r"(pair(v[0], v[1])), "r"(pair(v[2], v[3])), "r"(pair(v[4], v[5])), "r"(pair(v[6], v[7]))
                     : "memory");
    }
}

#if WIDE_C
// By the copy engine, which leaves out what lies outside of C.
DEVICE void put_rows(uint32 from, const tensor_map *c, int32 left, int32 top, int32 matrix, int lane)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (lane == 0) {
        for (int s = 0; s < PANELS_B; s++)
            asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(c),
                         "r"(left + s * 64), "r"(top), "r"(matrix), "r"(from + s * PIECE)
                         : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
}
#else
DEVICE void put_rows(const char *from, T *c, int64 ldc, int64 high, int64 room, int lane)
{
    __syncwarp();
    for (int row = 0; row < min(high, (int64)16); row++)
        for (int j = lane; j < min(room, (int64)TILE_N); j += 32)
            c[row * ldc + j] = *(const T *)(from + j / 64 * PIECE + WORD(row, j) + j % 8 * T_bytes);
    __syncwarp();
}
#endif
#endif

// Which tile of C, of which matrix of the batch, and which part of the inner product is the work-th of all. Tiles are walked in groups
// of GROUP rows of tiles, so that blocks that run at the same time need the same rows and columns. For a cluster CLUSTER tiles are one.
struct place {
    int32 top, left, matrix;
    uint32 part;
};

// `across` x `down` tiles; `batch` matrices.
DEVICE struct place place_of(uint32 work, uint32 across, uint32 down, uint32 batch)
{
    struct place at;
    uint32 tile = work % (across * down), other = work / (across * down);
    uint32 first = tile / (GROUP * across) * GROUP, rest = tile % (GROUP * across), high = min((uint32)GROUP, down - first);
    at.top = (int32)(((first + rest % high) * CLUSTER + rank_in_cluster()) * TILE_M);
    at.left = (int32)(rest / high * TILE_N);
    at.matrix = (int32)(other % batch);
    at.part = other / batch;
    return at;
}

KERNEL void CLUSTERED __launch_bounds__(THREADS, 1)
gemm_wgmma(T *__restrict__ c, const __grid_constant__ tensor_map map_c, float alpha, const __grid_constant__ tensor_map a,
           const __grid_constant__ tensor_map b, float beta, int64 m, int64 n, int64 k, int64 ldc, int64 batch, int64 parts,
           float *__restrict__ partial DYNAMIC_SHARED_PARAM)
{
    DYNAMIC_SHARED(char, dynamic);
    uint32 base = (uint32)__cvta_generic_to_shared(dynamic), stages = (base + 1023) / 1024 * 1024;
    uint32 of_c = stages + STAGES * STAGE;
    uint32 full = of_c + ROOM_C, empty = full + STAGES * 8; // barriers: a place is filled, a place is free
    uint32 across = (uint32)((n + TILE_N - 1) / TILE_N), down = (uint32)((m + TILE_M * CLUSTER - 1) / (TILE_M * CLUSTER));
    uint32 works = across * down * (uint32)(batch * parts);
    uint32 depth = (uint32)k, stride = (uint32)parts * DEEP; // parts take steps by turns: blocks that run at the same time do
    int thread = threadIdx.x, lane = thread % 32;

    if (thread == 0) {
        for (int s = 0; s < STAGES; s++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + s * 8) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(empty + s * 8), "r"(CONSUMERS * 4 * CLUSTER) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if (thread == 32) {
        expect(&a);
        expect(&b);
#if WIDE_C
        expect(&map_c);
#endif
    }
    meet();

    uint32 at = 0, parity = 0; // the place that is next, and of how many rounds it is
    if (thread < 128) {
#if CONSUMERS == 2
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
#endif
        if (thread == 0) {
            const uint32 share = rank_in_cluster() * SHARE; // the first panel of this block's
            for (uint32 work = blockIdx.x / CLUSTER; work < works; work += gridDim.x / CLUSTER) {
                struct place to = place_of(work, across, down, (uint32)batch);
                for (uint32 p = to.part * DEEP; p < depth; p += stride) {
                    uint32 place = stages + at * STAGE, barrier = full + at * 8;
                    wait(empty + at * 8, parity ^ 1);
                    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(STAGE) : "memory");
#pragma unroll
                    for (int r = 0; r < PANELS_A; r++)
                        copy_panel(place + r * PANEL, &a, !TA, to.top + r * 64, p, to.matrix, barrier);
#pragma unroll
                    for (uint32 s = share; s < share + SHARE; s++)
                        share_panel(place + (PANELS_A + s) * PANEL, &b, TB, to.left + s * 64, p, to.matrix, barrier);
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
        for (uint32 work = blockIdx.x / CLUSTER; work < works; work += gridDim.x / CLUSTER) {
            struct place to = place_of(work, across, down, (uint32)batch);
#pragma unroll
            for (int r = 0; r < OWN; r++)
#pragma unroll
                for (int s = 0; s < TILE_N / 2; s++)
                    sum[r][s] = 0;
            settle(sum);
            uint32 before = at; // the place that is still read
            for (uint32 p = to.part * DEEP; p < depth; p += stride) {
                uint32 place = stages + at * STAGE;
                uint64 of_a = panels(place + group * OWN * PANEL), of_b = panels(place + PANELS_A * PANEL);
                wait(full + at * 8, parity);
                asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
                for (int q = 0; q < DEEP / 16; q++)
#pragma unroll
                    for (int r = 0; r < OWN; r++)
                        multiply(sum[r], of_a + (r * PANEL + q * AHEAD(!TA)) / 16, of_b + q * AHEAD(TB) / 16);
                asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
                asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
                if (p >= stride)
                    release(empty + before * 8, lane);
                before = at;
                at = at + 1 < STAGES ? at + 1 : 0;
                parity ^= at == 0;
            }
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
            settle(sum);
            if (to.part * DEEP < depth)
                release(empty + before * 8, lane);
#if WIDE_C
            if (lane == 0)
                asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); // the tile before has gone
            __syncwarp();
#endif
            int64 room = n - to.left;
#pragma unroll
            for (int r = 0; r < OWN; r++) {
                int64 i = to.top + row + r * 64, upper = i + lane / 4, lower = upper + 8;
#if FILL
                float *at_left = partial + (to.part * batch + to.matrix) * m * n + to.left;
                put_partial(at_left + upper * n, upper < m ? room : 0, n % 2 == 0, &sum[r][0], lane);
                put_partial(at_left + lower * n, lower < m ? room : 0, n % 2 == 0, &sum[r][2], lane);
#else
                T *at_left = c + to.matrix * m * ldc + to.left;
                uint32 staged = (uint32)(row + r * 64) * TILE_N * T_bytes;
                mix(&sum[r][0], alpha, beta, at_left + upper * ldc, upper < m ? room : 0, lane);
                mix(&sum[r][2], alpha, beta, at_left + lower * ldc, lower < m ? room : 0, lane);
                stage_rows(of_c + staged, sum[r], lane);
#if WIDE_C
                put_rows(of_c + staged, &map_c, to.left, (int32)i, to.matrix, lane);
#else
                put_rows(dynamic + (of_c - base) + staged, at_left + i * ldc, ldc, m - i, room, lane);
#endif
#endif
            }
        }
#if WIDE_C
        if (lane == 0)
            asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
    }
#if CLUSTER > 1
    meet(); // nobody ends while another one writes to it
#endif
}
