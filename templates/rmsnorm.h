// The root mean square norm for rows.h: v * w / sqrt(the mean of v * v + eps).
#define ROW_VECTORS 1
#include "rows.h"

struct state {
    float squares;
};

DEVICE struct state state_empty(void)
{
    struct state s = { 0.0f };
    return s;
}

DEVICE struct state state_add(struct state s, float v)
{
    s.squares += v * v;
    return s;
}

DEVICE struct state state_close(struct state s)
{
    return s;
}

DEVICE struct state state_merge(struct state a, struct state b)
{
    a.squares += b.squares;
    return a;
}

DEVICE struct finish row_finish(struct state s, int64 n, float eps)
{
    struct finish f = { 0.0f, rsqrt(row_share(s.squares, (float)n) + eps) };
    return f;
}

DEVICE float row_value(float v, struct finish f, float w, float b)
{
    return v * f.factor * w;
}

#ifdef BACKEND_CUDA
#define ROW_FILL 0.0f
#define TEAM_WEIGHS 1 // a weight may be applied before the row's state is known
#include "rows_team.h"

DEVICE struct state team_take(float (&v)[HELD], struct place)
{
    struct state s = state_empty();
#pragma unroll
    for (int i = 0; i < HELD; i++)
        s.squares += v[i] * v[i];
    return s;
}

DEVICE struct state team_merge(struct state s, int width)
{
    return { lanes_sum(s.squares, width) };
}

DEVICE struct finish team_finish(struct state s, struct state, int64 n, float eps)
{
    return row_finish(s, n, eps);
}

DEVICE float team_value(float v, struct finish f, float w, float b)
{
    return row_value(v, f, w, b);
}
#endif
