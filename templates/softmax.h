// Softmax for rows.h: exp(v - most) / the sum of those. `most` begins at the least number rather than at -infinity, so that minus
// infinity among the elements gives 0.
#define ROW_VECTORS 0
#include "rows.h"

struct state {
    float most, sum; // the largest element; the sum of exp(v - most)
};

DEVICE struct state state_empty(void)
{
    struct state s = { -ROW_MOST, 0.0f };
    return s;
}

DEVICE struct state state_add(struct state s, float v)
{
    if (v > s.most) {
        s.sum = s.sum * row_exp(s.most - v) + 1.0f;
        s.most = v;
    } else {
        s.sum += row_exp(v - s.most);
    }
    return s;
}

DEVICE struct state state_close(struct state s)
{
    return s;
}

DEVICE struct state state_merge(struct state a, struct state b)
{
    struct state s;
    s.most = a.most > b.most ? a.most : b.most;
    s.sum = a.sum * row_exp(a.most - s.most) + b.sum * row_exp(b.most - s.most);
    return s;
}

DEVICE struct finish row_finish(struct state s, int64 n, float unused)
{
    struct finish f = { s.most, row_share(1.0f, s.sum) };
    return f;
}

DEVICE float row_value(float v, struct finish f, float w, float b)
{
    return row_exp(v - f.shift) * f.factor;
}

#ifdef BACKEND_CUDA
#define ROW_FILL __int_as_float(0xff800000) // minus infinity
#include "rows_team.h"

// v becomes exp(v - the thread's most): one exponential an element in all.
DEVICE struct state team_take(float (&v)[HELD], struct place)
{
    struct state s = state_empty();
#pragma unroll
    for (int i = 0; i < HELD; i++)
        s.most = fmaxf(s.most, v[i]);
#pragma unroll
    for (int i = 0; i < HELD; i++)
        s.sum += v[i] = row_exp(v[i] - s.most);
    return s;
}

DEVICE struct state team_merge(struct state s, int width)
{
    float most = lanes_max(s.most, width);
    s.sum = lanes_sum(s.sum * row_exp(s.most - most), width);
    s.most = most;
    return s;
}

DEVICE struct finish team_finish(struct state s, struct state own, int64 n, float)
{
    return { 0.0f, row_share(row_exp(own.most - s.most), s.sum) };
}

DEVICE float team_value(float v, struct finish f, float, float)
{
    return v * f.factor;
}
#endif
