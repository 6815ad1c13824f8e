/* Where buffers lie. What a short kernel takes depends on it: on an H200 one that reads and writes 0.5 MB took 4.3 to 4.6 us, by the
 * place alone, and which of two is faster may depend on it as well. So a play-off on small buffers goes through several places. */
#include "measure/internal.h"

enum { STEP = 1 << 20, MOST_BYTES = 4 << 20 };

/* On a CPU noise outweighs it. */
static bool are_small(const struct bench *b)
{
    bool small = !b->set.dev.shares_cores;
    for (int i = 0; i < b->nargs; i++)
        small = small && b->args[i].buf.bytes <= MOST_BYTES;
    return small;
}

/* All of it is written, since some drivers find out only then that there is no memory for it. */
static int make(struct bench *b, int arg, struct places *p, struct err *err)
{
    const int64_t bytes = b->args[arg].buf.bytes, each = bytes + 2 * GUARD, step = (each + STEP - 1) / STEP * STEP;
    int rc = device_alloc(b->dev, (PLACES - 1) * step, &p->room[arg], err)
        ?: device_fill(b->dev, p->room[arg], 0, (PLACES - 1) * step, 0, err);
    for (int i = 1; !rc && i < PLACES; i++)
        rc = device_view(b->dev, p->room[arg], (i - 1) * step, each, &p->at[i][arg].whole, err)
                 ?: device_view(b->dev, p->room[arg], (i - 1) * step + GUARD, bytes, &p->at[i][arg].inside, err);
    return rc;
}

void places_make(struct bench *b, struct places *p)
{
    struct err why;
    int rc = 0;
    *p = (struct places){ .n = are_small(b) ? PLACES : 1 };
    for (int i = 0; i < b->nargs; i++)
        p->at[0][i] = (struct place){ b->args[i].buf.whole, b->args[i].buf.inside };
    for (int i = 0; !rc && p->n > 1 && i < b->nargs; i++)
        rc = b->args[i].buf.inside ? make(b, i, p, &why) : 0;
    if (rc || device_sync(b->dev, &why))
        places_free(b, p);
}

static void move(struct bench *b, struct places *p, int to)
{
    for (int i = 0; p->now != to && i < b->nargs; i++) {
        b->args[i].buf.whole = p->at[to][i].whole;
        b->args[i].buf.inside = p->at[to][i].inside;
        b->inputs_pass = -1;
    }
    p->now = to;
}

/* The first to play there finds the inputs as the others do. */
int places_go(struct bench *b, struct places *p, int to, struct err *err)
{
    if (p->now == to)
        return 0;
    move(b, p, to);
    return inputs_fill(b, TIMED, err) ?: device_sync(b->dev, err);
}

void places_free(struct bench *b, struct places *p)
{
    move(b, p, 0);
    for (int i = 0; i < b->nargs; i++) {
        for (int k = 1; k < PLACES; k++) {
            device_free(b->dev, p->at[k][i].inside);
            device_free(b->dev, p->at[k][i].whole);
        }
        device_free(b->dev, p->room[i]);
    }
    *p = (struct places){ .n = 1 };
}
