// C = alpha op(A) op(B) + beta C for f16 and bf16 by Hopper's tensor cores (wgmma), summed in float. A block computes TILE_M x TILE_N
// elements of C, one tile after the other. Of its warpgroups the first brings tiles of A and B, 64 deep, into the next free one of
// STAGES places in shared memory by the copy engine (TMA); the others, CONSUMERS of them, multiply, each its part of the tile. The engine
// wants rows that are whole words of 16 bytes; where those of A and B are not, gemm_pack.h copies them first, or with LANES_A and LANES_B the
// lanes of BRINGERS warpgroups bring them, each warpgroup every so manieth step. With FILL several blocks share a tile of C: gemm_parts.h.
//
// wgmma multiplies 64 of one side, P, by all that a tile has of the other, Q, which may be any multiple of 8. P are the rows of op(A)
// and Q the columns of op(B); with SWAP P are those columns and Q those rows, and C is computed transposed.
//
// Shared memory holds lines of 128 bytes, whose words of 16 bytes are exchanged as the copy engine swizzles them. Where a side lies
// along k in memory (by depth), a line is one row or column, 64 deep, and a tile brings as many as it needs. Else a line is 64 rows or
// columns at one step of k, 64 such lines are a panel, and a tile brings whole panels. The blocks of a cluster compute CLUSTER_M tiles
// below each other and CLUSTER_N side by side. Those that need the same of A or B bring a part of it each, to all of them: so less is
// read from L2. With CLUSTER_K the blocks of a cluster share one tile, and take steps of k by turns; then they send each other their sums,
// and each adds up its part of the tile. How many they are the launch says.
#define DEPENDENT 1
#include "cluster.h"
#include "numbers.h"
#include "gemm_pack.h"
#include "gemm_parts.h"

#if SWAP
#define TILE_P TILE_N
#define TILE_Q TILE_M
#define CLUSTER_P CLUSTER_N
#define CLUSTER_Q CLUSTER_M
#define P_BY_DEPTH (TB)
#define Q_BY_DEPTH (!TA)
#define SIDE_P b
#define SIDE_Q a
#define LANES_P LANES_B
#define LANES_Q LANES_A
#else
#define TILE_P TILE_M
#define TILE_Q TILE_N
#define CLUSTER_P CLUSTER_M
#define CLUSTER_Q CLUSTER_N
#define P_BY_DEPTH (!TA)
#define Q_BY_DEPTH (TB)
#define SIDE_P a
#define SIDE_Q b
#define LANES_P LANES_A
#define LANES_Q LANES_B
#endif
#if LANES_A || LANES_B
#define BY_LANES 1
#define FILLERS  (LANES_A && LANES_B ? 4 : 5) // arrivals that fill a place: of four warps, and for what the engine brings
#else
#define BY_LANES 0
#define BRINGERS 1
#define FILLERS  1
#endif
#define THREADS (128 * (CONSUMERS + BRINGERS))
#define DEEP 64
#define LINE (DEEP * T_bytes)
#define PANEL (64 * LINE)
#define UP_TO_64(n) (((n) + 63) / 64 * 64)
#define LINES_OF(by_depth, tile) ((by_depth) ? (tile) : UP_TO_64(tile))
#define LINES_Q LINES_OF(Q_BY_DEPTH, TILE_Q)
#define STAGE (LINE * (TILE_P + LINES_Q))
#define AHEAD(by_depth) ((by_depth) ? 32 : 16 * LINE) // bytes of a panel that are 16 deep
#define OWN (TILE_P / 64 / CONSUMERS) // times 64 of P that a warpgroup multiplies
#define CLUSTER (CLUSTER_P * CLUSTER_Q)
#define CLUSTERS (CLUSTER > 1 || CLUSTER_K) // whether there are any
#define WRITERS (CLUSTER_P + CLUSTER_Q - 1) // blocks that write to a block's shared memory
#if CLUSTER > 1
#define SPACE "cluster"
#else
#define SPACE "cta"
#endif
// The copy engine brings C to memory, in pieces of 64 columns, if its rows are whole words and tiles whole pieces; else warps do.
#define BY_ENGINE (WIDE_C && TILE_N % 64 == 0)
#define PIECE (16 * LINE) // bytes of 16 rows of it
#define WARPS (4 * CONSUMERS)
// With CLUSTER_K a block's sums are UNITS units of 16 of P by 8 of Q, 16 bytes a lane. Each block receives its share of them,
// UNITS / blocks rounded up, from every block.
#define UNIT 512
#define UNITS (TILE_P * TILE_Q / 128)
#define MOST_K 8 // blocks of a cluster
#define ADDERS (CONSUMERS == 1 ? 8 : WARPS) // warps that add up: all of the block, but where the first ones have few registers
#if CLUSTER_K
#define ROOM_C ((UNITS + MOST_K - 1) * UNIT)
#else
#define ROOM_C (FILL ? 0 : TILE_M * UP_TO_64(TILE_N) * T_bytes)
#endif
#if CLUSTER > 1
#define CLUSTERED __cluster_dims__(CLUSTER, 1, 1)
#else
#define CLUSTERED
#endif

struct __align__(64) tensor_map {
    char bytes[128];
};

// Wait until the phase of this parity is over: `wait` for the copy engine or the block's own warps, `wait_for_others` for what other blocks
// wrote.
#define WAIT(name, acquire)                                                                                                      \
    DEVICE void name(uint32 barrier, uint32 parity)                                                                              \
    {                                                                                                                            \
        uint32 over;                                                                                                             \
        do {                                                                                                                     \
            asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity" acquire ".shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}" \
                         : "=r"(over)                                                                                            \
                         : "r"(barrier), "r"(parity)                                                                             \
                         : "memory");                                                                                            \
        } while (!over);                                                                                                         \
    }
WAIT(wait, "")
WAIT(wait_for_others, ".acquire.cluster")

// Copies lines of a matrix of the batch to this block's shared memory, or if they are `shared` to the same place of each block that has a
// bit in `blocks`; the barrier there counts the bytes. inner, outer: where they begin in the matrix.
DEVICE void copy_lines(uint32 to, const tensor_map *from, int32 inner, int32 outer, int32 matrix, uint32 barrier, bool shared,
                       uint32 blocks)
{
    if (shared)
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                     "[%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
                     "l"(from), "r"(inner), "r"(outer), "r"(matrix), "r"(barrier), "h"((unsigned short)blocks)
                     : "memory");
    else
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
                     "l"(from), "r"(inner), "r"(outer), "r"(matrix), "r"(barrier)
                     : "memory");
}

// Brings one of `parts` parts of a side's tile, which begins at row or column `first` and at step `depth` of k.
DEVICE void bring(uint32 to, const tensor_map *from, bool by_depth, int32 tile, int32 first, int32 depth, int32 matrix, uint32 barrier,
                  int32 part, int32 parts, uint32 blocks)
{
    if (by_depth) {
        int32 line = part * (tile / parts);
        copy_lines(to + line * LINE, from, depth, first + line, matrix, barrier, parts > 1, blocks);
        return;
    }
    int32 line = part * (64 / parts);
#pragma unroll
    for (int32 s = 0; s < tile; s += 64)
        copy_lines(to + (s + line) * LINE, from, first + s, depth + line, matrix, barrier, parts > 1, blocks);
}

//@ if LANES_A or LANES_B then
#include "gemm_lanes.h"
//@ end

DEVICE uint32 blocks_in_cluster()
{
    uint32 blocks = CLUSTER;
#if CLUSTER_K
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(blocks));
#endif
    return blocks;
}

DEVICE uint32 rank_in_cluster()
{
    uint32 rank = 0;
#if CLUSTERS
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
    return rank;
}

// All blocks of the cluster have made their barriers, for which there is a fence of its own.
DEVICE void meet()
{
#if CLUSTERS
    __syncwarp();
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
    __syncthreads();
#endif
}

// The copy engine will need this soon.
DEVICE void expect(const tensor_map *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// Where a lane says that its warp needs a place no more: to the barrier of one of the blocks that write there, which have the same of P or Q.
DEVICE uint32 whom_to_tell(uint32 barrier, int lane)
{
#if CLUSTER > 1
    uint32 p = rank_in_cluster() % CLUSTER_P, q = rank_in_cluster() / CLUSTER_P;
    if (lane < CLUSTER_P)
        p = lane;
    else
        q = (q + lane - CLUSTER_P + 1) % CLUSTER_Q;
    return in_block(barrier, p + q * CLUSTER_P);
#else
    return barrier;
#endif
}

DEVICE void release(uint32 barrier, int lane)
{
    if (lane < WRITERS)
        asm volatile("mbarrier.arrive.shared::" SPACE ".b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Arrives, and adds bytes that the barrier waits for.
DEVICE void expect_bytes(uint32 barrier, uint32 bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// On to the next place in shared memory; parity: of its round.
DEVICE void advance(uint32 *at, uint32 *parity)
{
    *at = *at + 1 < STAGES ? *at + 1 : 0;
    *parity ^= *at == 0;
}

// True in one lane of a warp: the compiler knows that it is one, and keeps what it computes in uniform registers.
DEVICE bool elected()
{
    uint32 it = 0;
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\n@p mov.u32 %0, 1;\n}" : "+r"(it));
    return it;
}

// How wgmma finds panels that begin at `at` in the block's shared memory, a multiple of 1024 but for steps of depth: 128 bytes are
// swizzled, 8 lines take 1024 bytes, and the next panel is PANEL bytes on.
DEVICE uint64 panels(uint32 at)
{
    return (uint64)((at & 0x3ffff) >> 4) | (uint64)(PANEL >> 4) << 16 | (uint64)(1024 >> 4) << 32 | (uint64)1 << 62;
}

//@ local tile_q = SWAP and TILE_M or TILE_N
//@ local sums, places = {}, {}
//@ for i = 0, tile_q // 2 - 1 do
//@     sums[i + 1], places[i + 1] = '"+f"(d[' .. i .. "])", "%" .. i
//@ end
// Adds the product of 64 of P and the tile's Q, 16 deep.
DEVICE void multiply(float d[TILE_Q / 2], uint64 p, uint64 q)
{
    asm volatile("{\n.reg .pred p;\nsetp.eq.u32 p, 0, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n$(tile_q)k16.f32.$(T).$(T) {$(table.concat(places, ", "))}, "
                 "%$(tile_q // 2), %$(tile_q // 2 + 1), p, 1, 1, %$(tile_q // 2 + 2), %$(tile_q // 2 + 3);\n}"
                 : $(table.concat(sums, ", "))
                 : "l"(p), "l"(q), "n"(!P_BY_DEPTH), "n"(!Q_BY_DEPTH));
}

// What stands in registers is as the assembler last said, whatever runs in between.
DEVICE void settle(float sum[OWN][TILE_Q / 2])
{
#pragma unroll
    for (int r = 0; r < OWN; r++)
#pragma unroll
        for (int s = 0; s < TILE_Q / 2; s++)
            asm volatile("" : "+f"(sum[r][s])::"memory");
}

#if CLUSTER_K
// Sends what this warp has of the tile to the blocks that add it up: they get units by turns. The barrier there counts the bytes. A block
// that is alone is no cluster, and must not st.async: it stores.
DEVICE void send(uint32 room, uint32 barrier, float sum[OWN][TILE_Q / 2], int warp, int lane)
{
    const uint32 blocks = blocks_in_cluster(), share = (UNITS + blocks - 1) / blocks;
    // A warp's next unit is WARPS further: `rounds` times all blocks and `more`.
    const uint32 rounds = WARPS / blocks, more = WARPS % blocks;
    uint32 block = warp % blocks, at = rank_in_cluster() * share + warp / blocks;
#pragma unroll
    for (int r = 0; r < OWN; r++)
#pragma unroll
        for (int s = 0; s < TILE_Q / 8; s++) {
            const float *v = &sum[r][s * 4];
            const uint32 to = room + at * UNIT + lane * 16;
            asm volatile("{\n.reg .pred alone;\nsetp.eq.u32 alone, %7, 1;\n"
                         "@alone st.shared.v4.f32 [%0], {%2, %3, %4, %5};\n"
                         "@!alone st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%1], {%2, %3, %4, %5}, [%6];\n}" ::"r"(
                             to),
                         "r"(in_block(to, block)), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3]), "r"(in_block(barrier, block)), "r"(blocks)
                         : "memory");
            block += more;
            at += rounds + (block >= blocks);
            block -= block >= blocks ? blocks : 0;
        }
}

// Waits for the sums that this block adds up.
DEVICE void wait_for_sums(uint32 barrier)
{
    if (blocks_in_cluster() > 1) {
        wait_for_others(barrier, 0);
    } else {
        __syncwarp();
        asm volatile("bar.sync 1, %0;" ::"n"(32 * ADDERS) : "memory");
    }
}

// Adds up this block's part of the tile that begins at p, q, and makes elements of C of it. The warps that add take the block's units by
// turns.
DEVICE void add_up(const char *sums, int64 p, int64 q, int64 size_p, int64 size_q, T *c, int64 ldc, float alpha, float beta, int warp,
                   int lane)
{
    const uint32 blocks = blocks_in_cluster(), rank = rank_in_cluster(), share = (UNITS + blocks - 1) / blocks;
    // All units of a warp were sent by the same one, which had them in this order.
    const uint32 of = (warp * blocks + rank) % WARPS;
    uint32 order = (warp * blocks + rank) / WARPS;
    const int64 step_p = SWAP ? 1 : ldc, step_q = SWAP ? ldc : 1;
    p += of / 4 * OWN * 64 + of % 4 * 16 + lane / 4;
    q += lane % 4 * 2;
    const int32 rows_p = (int32)min(size_p - p, (int64)TILE_P), rows_q = (int32)min(size_q - q, (int64)TILE_Q); // inside, from here on
    c += p * step_p + q * step_q;
    sums += lane * 16;
    for (uint32 i = warp; i * blocks + rank < UNITS; i += ADDERS, order += ADDERS / WARPS * blocks) {
        float4 w[MOST_K]; // all are on their way at the same time
        float v[4] = { 0, 0, 0, 0 };
#pragma unroll
        for (int j = 0; j < MOST_K; j++)
            w[j] = j < blocks ? *(const float4 *)(sums + (j * share + i) * UNIT) : make_float4(0, 0, 0, 0);
#pragma unroll
        for (int j = 0; j < MOST_K; j++) {
            v[0] += w[j].x;
            v[1] += w[j].y;
            v[2] += w[j].z;
            v[3] += w[j].w;
        }
        const int32 on_p = OWN == 1 ? 0 : order / (TILE_Q / 8) * 64, on_q = order % (TILE_Q / 8) * 8;
        T *to = c + on_p * step_p + on_q * step_q;
#pragma unroll
        for (int e = 0; e < 4; e++)
            if (on_p + e / 2 * 8 < rows_p && on_q + e % 2 < rows_q)
                c_put(to, e / 2 * 8 * step_p + e % 2 * step_q, alpha, v[e], beta);
    }
}
#elif FILL
// One of P's sums over a part of the inner product: `room` of Q, `step` apart. A lane has two of each 8. even: these lie side by side, and
// may be stored as one.
DEVICE void put_partial(float *to, int64 step, int64 room, bool even, const float *sum, int lane)
{
#pragma unroll
    for (int s = 0; s < TILE_Q / 8; s++) {
        int q = s * 8 + lane % 4 * 2;
        if (even && q < room)
            *(float2 *)(to + q) = make_float2(sum[s * 4], sum[s * 4 + 1]);
        else if (q < room) {
            to[q * step] = sum[s * 4];
            if (q + 1 < room)
                to[(q + 1) * step] = sum[s * 4 + 1];
        }
    }
}
#else
DEVICE uint32 pair(float low, float high)
{
    uint32 both;
    asm("cvt.rn.$(T)x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

// Makes elements of C of sums. c: the first of them, of which there are `room`, `step` apart.
DEVICE void mix(float *sum, float alpha, float beta, const T *c, int64 step, int64 room, int lane)
{
    if (beta == 0) { // on its own, since what follows is long
#pragma unroll
        for (int s = 0; s < TILE_Q / 8; s++) {
            sum[s * 4] *= alpha;
            sum[s * 4 + 1] *= alpha;
        }
        return;
    }
#pragma unroll
    for (int s = 0; s < TILE_Q / 8; s++) {
        int q = s * 8 + lane % 4 * 2;
        if (q < room)
            sum[s * 4] = mixed(alpha, sum[s * 4], beta, T_get(c, q * step));
        if (q + 1 < room)
            sum[s * 4 + 1] = mixed(alpha, sum[s * 4 + 1], beta, T_get(c, (q + 1) * step));
    }
}

// Where a column of a row of C is in pieces of 64 columns, swizzled as lines are.
#define WORD(row, column) ((row)*LINE + (((column) / 8 % 8) ^ ((row) % 8)) * 16)

// A warp's 16 of P and all of Q as elements to the piece or pieces that begin there: rows of C, or with SWAP columns from this one on.
DEVICE void stage(uint32 at, const float *sum, int column, int lane)
{
#pragma unroll
    for (int s = 0; s < TILE_Q; s += 16) {
        const float *v = sum + s / 2;
#if SWAP
        uint32 to = at + WORD(s + lane / 16 * 8 + lane % 8, column + lane / 8 % 2 * 8);
#define ORDER ".trans"
#else
        uint32 to = at + s / 64 * PIECE + WORD(lane % 16, s + lane / 16 * 8);
#define ORDER ""
#endif
        if (s + 16 <= TILE_Q)
            asm volatile("stmatrix.sync.aligned.m8n8.x4" ORDER ".shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(pair(v[0], v[1])),
                         "r"(pair(v[2], v[3])), "r"(pair(v[4], v[5])), "r"(pair(v[6], v[7]))
                         : "memory");
        else // the addresses are of the first 16 lanes
            asm volatile("stmatrix.sync.aligned.m8n8.x2" ORDER ".shared.b16 [%0], {%1, %2};" ::"r"(to), "r"(pair(v[0], v[1])),
                         "r"(pair(v[2], v[3]))
                         : "memory");
    }
}

#if BY_ENGINE
// Waits for those who bring the same pieces to C: the warp's lanes, with SWAP its warpgroup's.
DEVICE void meet_at_pieces(int group)
{
#if SWAP
    asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
#else
    __syncwarp();
#endif
}

// Brings pieces to C, but not what lies outside of it.
DEVICE void put_pieces(uint32 from, const tensor_map *c, int32 left, int32 top, int32 matrix)
{
    for (int s = 0; s < (SWAP ? 64 : TILE_N); s += 64)
        asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(c), "r"(left + s), "r"(top),
                     "r"(matrix), "r"(from + s / 64 * PIECE)
                     : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
#else
#if WIDE_C
typedef uint4 word;
#else
typedef T word;
#endif

DEVICE void put_rows(const char *from, T *c, int64 ldc, int64 high, int64 room, int lane)
{
    const int items = sizeof(word) / sizeof(T);
    __syncwarp();
    for (int row = 0; row < min(high, (int64)16); row++)
        for (int j = lane * items; j < min(room, (int64)TILE_N); j += 32 * items)
            *(word *)&c[row * ldc + j] = *(const word *)(from + j / 64 * PIECE + WORD(row, j) + j % 8 * T_bytes);
    __syncwarp();
}
#endif
#endif

// Which tile of C, of which matrix of the batch, and which part of the inner product is the work-th of all. Tiles are walked in groups
// of GROUP along P, so that blocks that run at the same time need the same of P and Q. The tiles of a cluster are one here.
struct place {
    int32 p, q, matrix;
    uint32 part;
};

// `across` tiles along Q and `down` along P; `batch` matrices.
DEVICE struct place place_of(uint32 work, uint32 across, uint32 down, uint32 batch)
{
    struct place at;
    uint32 other = work < across * down ? 0 : work / (across * down), tile = work - other * (across * down);
    uint32 group = tile < GROUP * across ? 0 : tile / (GROUP * across), rest = tile - group * (GROUP * across);
    uint32 first = group * GROUP, high = min((uint32)GROUP, down - first);
    at.p = (int32)(((first + rest % high) * CLUSTER_P + rank_in_cluster() % CLUSTER_P) * TILE_P);
    at.q = (int32)((rest / high * CLUSTER_Q + rank_in_cluster() / CLUSTER_P % CLUSTER_Q) * TILE_Q);
    uint32 part = other < batch ? 0 : other / batch;
    at.matrix = (int32)(other - part * batch);
    at.part = CLUSTER_K ? rank_in_cluster() : part;
    return at;
}

DEVICE uint32 tiles_in(int64 size, int64 tile)
{
    return (uint32)((size + tile - 1) / tile);
}

#define MAP const __grid_constant__ tensor_map
#if BY_LANES
#define MAP_C
#define STRIDES , int64 lda, int64 ldb
#else
#define MAP_C MAP map_c,
#define STRIDES
#endif
#if LANES_A
#define PARAM_A const T *__restrict__ a
#else
#define PARAM_A MAP a
#endif
#if LANES_B
#define PARAM_B const T *__restrict__ b
#else
#define PARAM_B MAP b
#endif

KERNEL void CLUSTERED __launch_bounds__(THREADS, 1)
gemm_wgmma(T *__restrict__ c, MAP_C float alpha, PARAM_A, PARAM_B, float beta, int64 m, int64 n, int64 k, int64 ldc, int64 batch,
           int64 parts, float *__restrict__ partial STRIDES DYNAMIC_SHARED_PARAM)
{
    DYNAMIC_SHARED(char, dynamic);
    uint32 base = (uint32)__cvta_generic_to_shared(dynamic), stages = (base + 1023) / 1024 * 1024;
    uint32 of_c = stages + STAGES * STAGE;
    uint32 full = of_c + ROOM_C, empty = full + STAGES * 8; // barriers: a place is filled, a place is free
#if CLUSTER_K
    uint32 sums = empty + STAGES * 8; // the sums have come
#endif
    const int64 size_p = SWAP ? n : m, size_q = SWAP ? m : n;
    uint32 across = tiles_in(size_q, TILE_Q * CLUSTER_Q), down = tiles_in(size_p, TILE_P * CLUSTER_P);
    uint32 works = across * down * (uint32)(batch * parts);
    // Parts take steps of k by turns, so that blocks that run at the same time read neighbouring memory.
    uint32 depth = (uint32)k, stride = (CLUSTER_K ? blocks_in_cluster() : (uint32)parts) * DEEP;
    const uint32 begin = blockIdx.x / blocks_in_cluster(), after = gridDim.x / blocks_in_cluster();
    int thread = threadIdx.x, lane = thread % 32;

#if FILL
    START_NEXT;
#endif
    if (thread == 0) { // one thread makes all barriers: one for each lane took longer
        for (int s = 0; s < STAGES; s++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(full + s * 8), "r"(FILLERS) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(empty + s * 8), "r"(WARPS * WRITERS) : "memory");
        }
#if CLUSTER_K
        const uint32 blocks = blocks_in_cluster(), units = (UNITS + blocks - 1 - rank_in_cluster()) / blocks; // that this block adds up
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(sums) : "memory");
        expect_bytes(sums, units * blocks * UNIT);
#endif
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if (thread == 32) {
#if !LANES_A
        expect(&a);
#endif
#if !LANES_B
        expect(&b);
#endif
#if BY_ENGINE
        expect(&map_c);
#endif
    }
    struct place to = place_of(begin, across, down, (uint32)batch);
    meet();

    uint32 at = 0, parity = 0; // the next place, and whether its round is an odd one
//@ if LANES_A or LANES_B then
    if (thread < 128 * BRINGERS) {
#if LANES_P
        const struct rows rows_p = rows_of(SIDE_P, SWAP ? ldb : lda, P_BY_DEPTH ? size_p : k, P_BY_DEPTH ? k : size_p);
#endif
#if LANES_Q
        const struct rows rows_q = rows_of(SIDE_Q, SWAP ? lda : ldb, Q_BY_DEPTH ? size_q : k, Q_BY_DEPTH ? k : size_q);
#endif
        const int group = thread / 128, own = thread % 128;
        int turn = 0;
        for (uint32 work = begin; work < works; work += after) {
            if (work > begin)
                to = place_of(work, across, down, (uint32)batch);
            for (uint32 d = to.part * DEEP; d < depth; d += stride) {
                if (turn == group) {
                    const uint32 place = stages + at * STAGE, barrier = full + at * 8;
#if LANES_P
                    uint32 low_p[HELD(P_BY_DEPTH, TILE_P)], high_p[HELD(P_BY_DEPTH, TILE_P)];
                    fetch(low_p, high_p, &rows_p, P_BY_DEPTH, TILE_P, to.p, d, to.matrix, own);
#endif
#if LANES_Q
                    uint32 low_q[HELD(Q_BY_DEPTH, TILE_Q)], high_q[HELD(Q_BY_DEPTH, TILE_Q)];
                    fetch(low_q, high_q, &rows_q, Q_BY_DEPTH, TILE_Q, to.q, d, to.matrix, own);
#endif
                    wait(empty + at * 8, parity ^ 1);
#if !LANES_P || !LANES_Q
                    if (own == 0) {
                        expect_bytes(barrier, LINE * (LANES_P ? LINES_Q : TILE_P));
#if LANES_P
                        bring(place + TILE_P * LINE, &SIDE_Q, Q_BY_DEPTH, TILE_Q, to.q, d, to.matrix, barrier, 0, 1, 0);
#else
                        bring(place, &SIDE_P, P_BY_DEPTH, TILE_P, to.p, d, to.matrix, barrier, 0, 1, 0);
#endif
                    }
#endif
#if LANES_P
                    store(place, low_p, high_p, rows_p.pairs, P_BY_DEPTH, TILE_P, own);
#endif
#if LANES_Q
                    store(place + TILE_P * LINE, low_q, high_q, rows_q.pairs, Q_BY_DEPTH, TILE_Q, own);
#endif
                    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
                    __syncwarp();
                    release(barrier, lane);
                }
                turn = turn + 1 < BRINGERS ? turn + 1 : 0;
                advance(&at, &parity);
            }
        }
//@ else
    if (thread < 128) {
#if CONSUMERS > 1
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(CONSUMERS == 2 ? 40 : 32));
#endif
        if (thread < 32 && elected()) {
            WAIT_FOR_IT;
            const uint32 rank_p = rank_in_cluster() % CLUSTER_P, rank_q = rank_in_cluster() / CLUSTER_P % CLUSTER_Q; // 0 with CLUSTER_K
            uint32 same_p = 0, same_q = ((1 << CLUSTER_P) - 1) << rank_q * CLUSTER_P; // blocks
            for (int j = 0; j < CLUSTER_Q; j++)
                same_p |= 1 << (rank_p + j * CLUSTER_P);
            for (uint32 work = begin; work < works; work += after) {
                if (work > begin)
                    to = place_of(work, across, down, (uint32)batch);
                for (uint32 d = to.part * DEEP; d < depth; d += stride) {
                    uint32 place = stages + at * STAGE, barrier = full + at * 8;
                    wait(empty + at * 8, parity ^ 1);
                    expect_bytes(barrier, STAGE);
                    bring(place, SWAP ? &b : &a, P_BY_DEPTH, TILE_P, to.p, d, to.matrix, barrier, rank_q, CLUSTER_Q, same_p);
                    bring(place + TILE_P * LINE, SWAP ? &a : &b, Q_BY_DEPTH, TILE_Q, to.q, d, to.matrix, barrier, rank_p, CLUSTER_P,
                          same_q);
                    advance(&at, &parity);
                }
            }
            // A block that others write to does not end before they have said that they need its places no more.
            for (int s = 0; s < STAGES && CLUSTER > 1; s++) {
                wait(empty + at * 8, parity ^ 1);
                advance(&at, &parity);
            }
        }
//@ end
    } else {
#if CONSUMERS > 1
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(CONSUMERS == 2 ? 232 : 160));
#endif
        int group = __shfl_sync(0xffffffff, thread / 128, 0) - BRINGERS, warp = thread % 128 / 32;
        const uint32 free = whom_to_tell(empty, lane);
        float sum[OWN][TILE_Q / 2];
#if BY_ENGINE
        const bool brings = SWAP ? thread % 128 == 0 : lane == 0;
#endif
        for (uint32 work = begin; work < works; work += after) {
            if (work > begin)
                to = place_of(work, across, down, (uint32)batch);
#pragma unroll
            for (int r = 0; r < OWN; r++)
#pragma unroll
                for (int s = 0; s < TILE_Q / 2; s++)
                    sum[r][s] = 0;
            settle(sum);
            uint32 before = at; // the place that is still read
            for (uint32 d = to.part * DEEP; d < depth; d += stride) {
                uint32 place = stages + at * STAGE;
                uint64 of_p = panels(place + group * OWN * PANEL), of_q = panels(place + TILE_P * LINE);
                wait(full + at * 8, parity);
                asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
                for (int s = 0; s < DEEP / 16; s++)
#pragma unroll
                    for (int r = 0; r < OWN; r++)
                        multiply(sum[r], of_p + (r * PANEL + s * AHEAD(P_BY_DEPTH)) / 16, of_q + s * AHEAD(Q_BY_DEPTH) / 16);
                asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
                asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
                if (d >= stride)
                    release(free + before * 8, lane);
                before = at;
                advance(&at, &parity);
            }
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
            settle(sum);
            release(free + before * 8, lane);
#if CLUSTER_K
            send(of_c, sums, sum, group * 4 + warp, lane);
#else
#if BY_ENGINE
            if (brings)
                asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); // the tile before has gone
            meet_at_pieces(group);
#endif
            const int64 room = size_q - to.q;
#pragma unroll
            for (int r = 0; r < OWN; r++) {
                const int panel = group * OWN + r;
                int64 first = to.p + panel * 64 + warp * 16, upper = first + lane / 4, lower = upper + 8;
#if FILL
                const bool even = !SWAP && n % 2 == 0;
                const int64 step_p = SWAP ? 1 : n, step_q = SWAP ? n : 1;
                float *of_q = partial + (to.part * batch + to.matrix) * m * n + to.q * step_q;
                put_partial(of_q + upper * step_p, step_q, upper < size_p ? room : 0, even, &sum[r][0], lane);
                put_partial(of_q + lower * step_p, step_q, lower < size_p ? room : 0, even, &sum[r][2], lane);
#else
                const int64 step_p = SWAP ? 1 : ldc, step_q = SWAP ? ldc : 1;
                T *of_q = c + to.matrix * m * ldc + to.q * step_q;
                uint32 staged = SWAP ? panel * TILE_Q * LINE : (panel * 64 + warp * 16) * (ROOM_C / TILE_M);
                mix(&sum[r][0], alpha, beta, of_q + upper * step_p, step_q, upper < size_p ? room : 0, lane);
                mix(&sum[r][2], alpha, beta, of_q + lower * step_p, step_q, lower < size_p ? room : 0, lane);
                stage(of_c + staged, sum[r], warp * 16, lane);
#if BY_ENGINE
                asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
                meet_at_pieces(group);
                if (brings)
                    put_pieces(of_c + staged, &map_c, SWAP ? to.p + panel * 64 : to.q, SWAP ? to.q : (int32)first, to.matrix);
#else
                put_rows(dynamic + (of_c - base) + staged, of_q + first * ldc, ldc, m - first, room, lane);
#endif
#endif
            }
#endif
        }
#if BY_ENGINE
        if (brings)
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); // nor does shared memory end before
#endif
    }
#if CLUSTER_K
    if (thread >= THREADS - 32 * ADDERS) { // each block has but one tile
        wait_for_sums(sums);
        add_up(dynamic + (of_c - base), to.p, to.q, size_p, size_q, c + to.matrix * m * ldc, ldc, alpha, beta,
               thread / 32 - (THREADS / 32 - ADDERS), lane);
    }
#endif
}
