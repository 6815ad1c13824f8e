// For rows_registers.cu: a row is kept in the registers of a team of TEAM = LANES * CLUSTER threads, PACKS packs of VEC elements in
// each. The op's header has, beside what rows.h says,
//
//     ROW_FILL                     the value of elements that are none
//     team_take(v, p)              the state of this thread's HELD elements, which it may change
//     team_merge(s, width)         the states of `width` neighbouring lanes, a power of two, merged in each of them
//     team_finish(s, own, n, eps)  from the whole row's state and the thread's own
//     team_value(v, f, w, b)       an element of the result, from v as team_take left it
#ifndef PACKS
#define PACKS 1
#endif
#ifndef VEC
#define VEC 1
#endif
#ifndef PEEL
#define PEEL 0
#endif
#ifndef TEAM_WEIGHS
#define TEAM_WEIGHS 0
#endif
#ifndef WHOLE
#define WHOLE 0 // the packs of a team are the row, with none left over
#endif
#ifndef CLUSTER
#define CLUSTER 1
#endif
#ifndef LANES
#define LANES BLOCK
#endif
#define TEAM (LANES * CLUSTER)
#define HELD (PACKS * VEC)

// Where this thread's packs lie: pack i begins AT(p, i) elements after `base`, which is a row's first element or, if packs are to
// be aligned in a row that is not, up to VEC - 1 elements before it. The row's elements are those from begin to end.
struct place {
    int64 base, room; // room: elements from base to the end of the matrix
    int first, begin, end;
};
#define AT(p, i) ((p).first + (i)*TEAM * VEC)
// Only the first pack of a team and its last ones may hold what is not the row's.
#define MAY_BEGIN(i) (PEEL && (i) == 0)
#define MAY_END(i) (!WHOLE && (i) >= PACKS - 1 - PEEL)
#define INSIDE(p, e)                                                                                                               \
    ((!MAY_BEGIN((e) / VEC) || AT(p, (e) / VEC) + (e) % VEC >= (p).begin) &&                                                       \
     (!MAY_END((e) / VEC) || AT(p, (e) / VEC) + (e) % VEC < (p).end))

DEVICE float lanes_sum(float v, int width)
{
#pragma unroll
    for (int k = 1; k < width; k *= 2)
        v += __shfl_xor_sync(0xffffffff, v, k);
    return v;
}

DEVICE float lanes_max(float v, int width)
{
#pragma unroll
    for (int k = 1; k < width; k *= 2)
        v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, k));
    return v;
}
