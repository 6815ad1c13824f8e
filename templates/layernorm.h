// The layer norm for rows.h: (v - mean) / sqrt(variance + eps) * w + b. Squares are taken about means, so that nothing cancels where the
// mean is far from 0.
#define ROW_VECTORS 2
#include "rows.h"

struct state {
    float count, mean, squares; // squares: the sum of (v - mean)^2
#ifdef PACKED
    float sum; // until it is closed, `mean` is the first element, and `sum` and `squares` are about it
#endif
};

DEVICE struct state state_empty(void)
{
    struct state s = { 0.0f, 0.0f, 0.0f };
    return s;
}

#ifdef PACKED // rows_staged.cu, where a thread has few elements: less work, and what cancels if the first is far from the others is little
DEVICE struct state state_add(struct state s, float v)
{
    s.mean = s.count == 0.0f ? v : s.mean;
    float d = v - s.mean;
    s.count += 1.0f;
    s.sum += d;
    s.squares += d * d;
    return s;
}

DEVICE struct state state_close(struct state s)
{
    float d = s.count > 0.0f ? row_share(s.sum, s.count) : 0.0f;
    s.mean += d;
    s.squares = fmax(s.squares - d * s.sum, 0.0f);
    return s;
}
#else
DEVICE struct state state_add(struct state s, float v)
{
    float d = v - s.mean;
    s.count += 1.0f;
    s.mean += row_share(d, s.count);
    s.squares += d * (v - s.mean);
    return s;
}

DEVICE struct state state_close(struct state s)
{
    return s;
}
#endif

DEVICE struct state state_merge(struct state a, struct state b)
{
    float count = a.count + b.count, share = count > 0.0f ? row_share(b.count, count) : 0.0f, d = b.mean - a.mean;
    a.mean += d * share;
    a.squares += b.squares + d * d * a.count * share;
    a.count = count;
    return a;
}

DEVICE struct finish row_finish(struct state s, int64 n, float eps)
{
    struct finish f = { s.mean, rsqrt(row_share(s.squares, (float)n) + eps) };
    return f;
}

DEVICE float row_value(float v, struct finish f, float w, float b)
{
    return (v - f.shift) * f.factor * w + b;
}

#ifdef BACKEND_CUDA
#define ROW_FILL 0.0f
#include "rows_team.h"

DEVICE struct state team_take(float (&v)[HELD], struct place p)
{
    struct state s = state_empty();
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        s.count += INSIDE(p, i) ? 1.0f : 0.0f;
        s.mean += v[i];
    }
    s.mean = s.count > 0.0f ? row_share(s.mean, s.count) : 0.0f;
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        float d = INSIDE(p, i) ? v[i] - s.mean : 0.0f;
        s.squares += d * d;
    }
    return s;
}

DEVICE struct state team_merge(struct state s, int width)
{
    float count = lanes_sum(s.count, width), sum = lanes_sum(s.mean * s.count, width);
    float mean = count > 0.0f ? row_share(sum, count) : 0.0f, d = s.mean - mean; // a warp may have no element
    return { count, mean, lanes_sum(s.squares + d * d * s.count, width) };
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
