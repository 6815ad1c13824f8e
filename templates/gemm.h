// What the templates of gemm share. C = alpha op(A) op(B) + beta C: op(A) is m x k and op(B) k x n, by rows, which lie lda, ldb and ldc
// elements apart in memory. If ta is 1, A lies in memory as k x m, if tb is 1, B as n x k. The matrices of a batch follow each other.
// Templates whose loops differ by that have it as a parameter: FORM is nn, nt, tn or tt, for A and for B; or any, for what ta and tb say.
#if defined(FORM_any) && FORM == FORM_any
#define TA ta
#define TB tb
#elif defined(FORM)
#define TA (FORM == FORM_tn || FORM == FORM_tt)
#define TB (FORM == FORM_nt || FORM == FORM_tt)
#endif

// What becomes of an element of C that is `old`. If beta is 0, that is not to be read: it may be NaN.
DEVICE T_acc mixed(T_acc alpha, T_acc sum, T_acc beta, T_acc old)
{
    return beta == 0 ? alpha * sum : alpha * sum + beta * old;
}

DEVICE void c_put(GLOBAL T *c, int64 at, T_acc alpha, T_acc sum, T_acc beta)
{
    T_put(c, at, mixed(alpha, sum, beta, beta == 0 ? 0 : T_get(c, at)));
}

// Which rows or columns a tile reads, of `count`. In place of those behind the edge, whose sums are not stored, it reads others, and not
// the same one again and again: cp.async takes far longer if many threads read one address. They are counted from `low` on, where the tile
// before begins; this tile is `from` further.
struct edge {
    int64 low;
    uint32 from, count, others; // so many are read in place of those behind the edge: a power of two
};

DEVICE struct edge edge_of(int64 begin, int64 tile, int64 count)
{
    struct edge e;
    e.low = max(begin - tile, (int64)0);
    e.from = (uint32)(begin - e.low);
    e.count = e.others = (uint32)min(count - e.low, 2 * tile);
    for (int s = 1; s < 32; s *= 2)
        e.others |= e.others >> s;
    e.others -= e.others >> 1;
    return e;
}

DEVICE uint32 inside(const struct edge *e, uint32 i)
{
    i += e->from;
    return i < e->count ? i : (i - e->count) & (e->others - 1);
}
