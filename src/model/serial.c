#include "model/serial.h"

void put_count(struct buf *out, int n)
{
    buf_u32(out, (uint32_t)n);
}

void put_ints(struct buf *out, const int *v, int n)
{
    put_count(out, n);
    for (int i = 0; i < n; i++)
        put_count(out, v[i]);
}

void put_val(struct buf *out, struct val v)
{
    buf_u8(out, (uint8_t)v.type);
    switch (v.type) {
    case VAL_BOOL:
        buf_u8(out, v.b);
        break;
    case VAL_INT:
        buf_i64(out, v.i);
        break;
    case VAL_FLOAT:
        buf_f64(out, v.f);
        break;
    case VAL_STR:
        buf_lstr(out, v.s);
        break;
    case VAL_NIL:
        break;
    }
}

void put_launch(struct buf *out, const struct launch *l)
{
    buf_lstr(out, l->kernel);
    for (int d = 0; d < 3; d++) {
        buf_lstr(out, l->grid[d]);
        buf_lstr(out, l->block[d]);
    }
    buf_lstr(out, l->shared);
    put_ints(out, l->args, l->nargs);
}

void put_workspaces(struct buf *out, const struct workspace *w, int n)
{
    put_count(out, n);
    for (int i = 0; i < n; i++) {
        buf_lstr(out, w[i].name);
        buf_lstr(out, w[i].type);
        buf_lstr(out, w[i].count);
        buf_u8(out, w[i].clear);
    }
}

void put_needs(struct buf *out, const struct need *v, int n)
{
    put_count(out, n);
    for (int i = 0; i < n; i++) {
        buf_u8(out, (uint8_t)v[i].kind);
        put_count(out, v[i].arg);
        buf_lstr(out, v[i].bytes);
    }
}

bool serial_failed(const struct serial *r)
{
    return r->in->bad || r->nomem;
}

/* How many things follow: each takes a byte at least, so no more than bytes are left. */
int read_count(struct serial *r)
{
    uint32_t n = get_u32(r->in);
    if (n > (size_t)(r->in->end - r->in->at) || n > INT32_MAX)
        r->in->bad = true;
    return serial_failed(r) ? 0 : (int)n;
}

/* The array for *n things; with a failure there are none of them. */
void *serial_array(struct serial *r, int *n, size_t bytes)
{
    void *p = serial_failed(r) ? NULL : arena_array(r->arena, (size_t)*n, bytes);
    if (!p) {
        r->nomem = r->nomem || !r->in->bad;
        *n = 0;
    }
    return p;
}

const char *read_str(struct serial *r)
{
    size_t n;
    const char *s = serial_failed(r) ? NULL : get_lstr(r->in, &n);
    if (!s)
        return NULL;
    const char *copy = arena_strndup(r->arena, s, n);
    r->nomem = r->nomem || !copy;
    return copy;
}

/* 32 bits as they were written: an index or a small number, for op_check to judge. */
int read_int(struct serial *r)
{
    return (int)(int32_t)get_u32(r->in);
}

bool read_bool(struct serial *r)
{
    uint8_t v = get_u8(r->in);
    if (v > 1)
        r->in->bad = true;
    return v == 1;
}

int *read_ints(struct serial *r, int *n)
{
    *n = read_count(r);
    int *v = serial_array(r, n, sizeof *v);
    for (int i = 0; i < *n; i++)
        v[i] = read_int(r);
    return v;
}

struct val read_val(struct serial *r)
{
    struct val v = { .type = VAL_NIL };
    switch (get_u8(r->in)) {
    case VAL_BOOL:
        return val_bool(read_bool(r));
    case VAL_INT:
        return val_int(get_i64(r->in));
    case VAL_FLOAT:
        return val_float(get_f64(r->in));
    case VAL_STR:
        v = val_str(read_str(r));
        if (!v.s)
            r->in->bad = true;
        return v;
    default:
        r->in->bad = true;
        return v;
    }
}
