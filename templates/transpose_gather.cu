// out[j][i] = in[i][j] for few rows that begin anywhere: whole columns are one contiguous piece of out, and are written in whole lines.
#include "transpose.h"
#define COLUMNS (WIDTH / T_bytes)
#define EACH    (16 / T_bytes)                        // elements of a vector
#define LINE    (128 / T_bytes)                       // and of a line
#define ACROSS  (WIDTH / 16 + 1)                      // vectors that may have some of a row
#define LANES   (ACROSS < THREADS ? ACROSS : THREADS) // threads that copy the same row

// From memory to shared memory: past the registers, or BATCH vectors are read before one is put down.
#if defined(BACKEND_CUDA) && __CUDA_ARCH__ >= 800
#define BATCH 1
DEVICE void read_vector(uint4 *v, uint8 *to, const uint8 *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}
DEVICE void put_vector(uint4 v, uint8 *to) {}
DEVICE void wait_for_copies(void)
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}
#else
#define BATCH 4
DEVICE void read_vector(uint4 *v, SHARED uint8 *to, GLOBAL const uint8 *from)
{
    *v = *(GLOBAL const uint4 *)from;
}
DEVICE void put_vector(uint4 v, SHARED uint8 *to)
{
    *(SHARED uint4 *)to = v;
}
#define wait_for_copies()
#endif

// Where rows lie in shared memory: as far behind a multiple of ALIGN as in memory, so that sectors of 32 bytes stay whole: one that is split
// over two is fetched twice. Eight threads read a column at rows EACH apart. Those must lie an odd multiple of 16 bytes apart, to be in
// eight different groups of four banks. An odd LDIN does that by itself. For an even one each EACH rows begin `skew` bytes later, which
// splits sectors of every second EACH rows: conflicts would cost more.
struct tile {
    uint32 begin, pitch, rows;
};
DEVICE uint32 row_at(const struct tile *tile, uint32 r, uint32 skew)
{
    return tile->begin + r * tile->pitch + r / EACH * skew;
}

// Copies of each row `bytes` from byte `left` on, in whole aligned vectors; what these have beside them comes along, and is of no use. Rows
// of in have `row` bytes. skew and inside are constants of each call: inside, no vector passes the end of the last row.
DEVICE void copy_rows(SHARED uint8 *to, const struct tile *tile, GLOBAL const uint8 *in, int64 left, uint32 bytes, int64 row, uint32 skew,
                      int inside)
{
    const uint32 at_once = THREADS / LANES; // rows
    const int64 end = tile->rows * row;
#pragma unroll
    for (uint32 x = threadIdx.x % LANES * 16; x < ACROSS * 16; x += LANES * 16) {
        int64 from = threadIdx.x / LANES * row + left;
#pragma unroll 2
        for (uint32 r = threadIdx.x / LANES; r < tile->rows; r += BATCH * at_once) {
            uint4 v[BATCH];
            uint32 at[BATCH];
            int whole[BATCH];
#pragma unroll
            for (uint32 b = 0; b < BATCH; b++) {
                const uint32 begin = row_at(tile, r + b * at_once, skew), offset = begin % 16;
                at[b] = begin + x - offset;
                whole[b] = 0;
                if (x < bytes + offset && threadIdx.x < at_once * LANES && (BATCH == 1 || r + b * at_once < tile->rows)) {
                    whole[b] = inside || from + x - offset + 16 <= end;
                    if (whole[b])
                        read_vector(&v[b], to + at[b], in + from + x - offset);
                    else
#pragma unroll 1
                        for (int64 k = from + x - offset; k < end; k += T_bytes)
                            *(SHARED T_bits *)(to + (begin + k - from)) = *(GLOBAL const T_bits *)(in + k);
                }
                from += at_once * row;
            }
#pragma unroll
            for (uint32 b = 0; b < BATCH; b++)
                if (whole[b])
                    put_vector(v[b], to + at[b]);
        }
    }
}

// EACH elements from row i of column c on; `wrap` bytes lie from a column's last row to the next one's first. Columns that are_short have fewer
// than EACH rows, so there may be several.
DEVICE uint4 gathered(SHARED const uint8 *bytes, const struct tile *tile, uint32 c, uint32 i, uint32 wrap, uint32 skew,
                      int are_short)
{
    uint32 at = row_at(tile, i, skew) + c * T_bytes, last = tile->rows - 1 - i;
    uint32 edge = EACH - 1 - i % EACH; // the last element before the skew grows, unless the column ends there or before
    if (edge >= last)
        edge = EACH;
    union vector v;
#pragma unroll
    for (uint32 e = 0; e < EACH; e++) {
        v.one[e] = *(SHARED const T_bits *)(bytes + at);
        at += e == last ? wrap : skew && e == edge ? tile->pitch + skew : tile->pitch;
        if (are_short && e == last)
            last += tile->rows;
    }
    return v.all;
}

// Writes the whole vectors of a piece of out that begins `lead` elements into a line, if out begins at one.
DEVICE void write_piece(GLOBAL T_bits *piece, SHARED const uint8 *bytes, const struct tile *tile, int count, int lead, uint32 skew,
                        int are_short)
{
    const uint32 wrap = row_at(tile, 0, skew) + T_bytes - row_at(tile, tile->rows - 1, skew);
    // Eight threads write a line, the others of a warp three more, each APART further on: which banks they come from depends on that.
    const int warp = threadIdx.x / 32, line = (warp / APART * 4 + threadIdx.x % 32 / 8) * APART + warp % APART;
    const uint32 rows = tile->rows;
    const uint32 across = THREADS * EACH / rows, down = THREADS * EACH % rows; // from a thread's vector to its next
    int p = line * LINE + threadIdx.x % 8 * EACH - lead;
    if (p < 0)
        p += THREADS * EACH;
    uint32 c = (uint32)p / rows, i = (uint32)p % rows;
#pragma unroll 1
    for (; p + EACH <= count; p += THREADS * EACH) {
        write_whole((GLOBAL uint4 *)(piece + p), gathered(bytes, tile, c, i, wrap, skew, are_short));
        c += across;
        i += down;
        if (i >= rows) {
            i -= rows;
            c++;
        }
    }
}

KERNEL void __launch_bounds__(THREADS)
transpose(GLOBAL T_bits *__restrict__ out, GLOBAL const T_bits *__restrict__ in, int64 m, int64 n STRIDES DYNAMIC_SHARED_PARAM)
{
    DYNAMIC_SHARED(uint8, bytes);
    ENTER_MATRIX(block, (uint32)((n + COLUMNS - 1) / COLUMNS));
    const int64 left = (int64)block * COLUMNS, row = LDIN * T_bytes;
    const uint32 rows = (uint32)m, columns = (uint32)min(n - left, (int64)COLUMNS);
    const struct tile tile = { (BEFORE(m) * (uint32)row + (uint32)left * T_bytes) % ALIGN,
                               WIDTH + 16 + ((uint32)row - WIDTH - 16) % ALIGN, rows };
    const uint32 skew = LDIN % 2 ? 0 : 16;
    if (left + columns + EACH <= LDIN) // else the last row's last vector may pass the end
        copy_rows(bytes, &tile, (GLOBAL const uint8 *)in, left * T_bytes, columns * T_bytes, row, skew, 1);
    else
        copy_rows(bytes, &tile, (GLOBAL const uint8 *)in, left * T_bytes, columns * T_bytes, row, skew, 0);
    wait_for_copies();
    __syncthreads();

    GLOBAL T_bits *piece = out + left * m;
    const int count = (int)(columns * rows), lead = (int)((BEFORE(n) + (uint32)left) * rows % LINE);
    if (rows < EACH)
        write_piece(piece, bytes, &tile, count, lead, 0, 1);
    else if (skew)
        write_piece(piece, bytes, &tile, count, lead, 16, 0);
    else
        write_piece(piece, bytes, &tile, count, lead, 0, 0);
    // The first and the last of the piece, by elements.
    const int head = min(-lead & (EACH - 1), count), tail = (count - head) % EACH, e = (int)threadIdx.x;
    if (e < EACH ? e < head : e < EACH + tail) {
        const uint32 q = (uint32)(e < EACH ? e : count - 1 - (e - EACH));
        piece[q] = *(SHARED const T_bits *)(bytes + (row_at(&tile, q % rows, skew) + q / rows * T_bytes));
    }
}
