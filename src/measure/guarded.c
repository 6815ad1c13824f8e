/* Buffers between guard zones, and the pool that workspaces are taken from. */
#include "measure/internal.h"

static int64_t with_guards(int64_t bytes)
{
    return GUARD + bytes + GUARD;
}

int guarded_alloc(struct bench *b, int64_t bytes, struct guarded *out, struct err *err)
{
    *out = (struct guarded){ .bytes = bytes, .total = with_guards(bytes) };
    int rc = device_alloc(b->dev, out->total, &out->whole, err) ?: device_view(b->dev, out->whole, GUARD, bytes, &out->inside, err);
    if (rc)
        guarded_free(b, out);
    return rc;
}

void guarded_free(struct bench *b, struct guarded *g)
{
    device_free(b->dev, g->inside);
    device_free(b->dev, g->whole);
    *g = (struct guarded){ 0 };
}

int guarded_paint(struct bench *b, struct guarded *g, int pass, struct err *err)
{
    static const uint8_t paints[PASSES] = { 0xff, 0x5a };
    g->paint = paints[pass];
    return device_fill(b->dev, g->whole, 0, GUARD, g->paint, err)
               ?: device_fill(b->dev, g->whole, GUARD + g->bytes, g->total - GUARD - g->bytes, g->paint, err);
}

int guarded_poison(struct bench *b, struct guarded *g, enum poison with, struct err *err)
{
    if (with != POISON_RANDOM)
        return device_fill(b->dev, g->inside, 0, g->bytes, with == POISON_ONES ? 0xff : 0, err);
    struct service *s = &b->services[0]; /* of any type */
    int64_t n = g->bytes / s->type->bytes, left = g->bytes % s->type->bytes;
    return service_fill(b, s, g->inside, n, (struct contents){ .seed = b->digest_key }, err)
               ?: device_fill(b->dev, g->inside, g->bytes - left, left, 0x96, err);
}

static void pool_give_back(struct bench *b, int i)
{
    device_free(b->dev, b->pool[i].memory);
    b->pool[i].memory = NULL;
    b->pool[i].bytes = 0;
}

static int enlarge(struct bench *b, const int64_t *bytes, int n, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < n; i++) {
        if (b->pool[i].bytes >= bytes[i])
            continue;
        pool_give_back(b, i);
        rc = device_alloc(b->dev, with_guards(bytes[i]), &b->pool[i].memory, err);
        if (!rc)
            b->pool[i].bytes = bytes[i];
    }
    return rc;
}

/* What other candidates needed is given back only if it is in the way. */
int pool_reserve(struct bench *b, const int64_t *bytes, int n, struct err *err)
{
    int rc = enlarge(b, bytes, n, err);
    if (rc != ERR_NOMEM)
        return rc;
    pool_free(b);
    return enlarge(b, bytes, n, err);
}

int pool_take(struct bench *b, int i, int64_t bytes, struct guarded *out, struct err *err)
{
    *out = (struct guarded){ .whole = b->pool[i].memory, .bytes = bytes, .total = with_guards(bytes) };
    return device_view(b->dev, out->whole, GUARD, bytes, &out->inside, err);
}

void pool_free(struct bench *b)
{
    for (int i = 0; i < MAX_ARGS; i++)
        pool_give_back(b, i);
}
