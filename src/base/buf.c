#include "base/buf.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"

static bool room(struct buf *b, size_t n)
{
    if (b->failed || n < b->cap - b->len) /* one more byte for the zero */
        return !b->failed;
    size_t cap = b->cap ?: 64;
    while (cap - b->len <= n && cap <= SIZE_MAX / 2)
        cap *= 2;
    char *data = cap - b->len > n ? mem_resize(b->data, cap, 1) : NULL;
    b->failed = !data;
    b->data = data ?: b->data;
    b->cap = data ? cap : b->cap;
    return data;
}

void buf_put(struct buf *b, const void *p, size_t n)
{
    if (!room(b, n))
        return;
    if (n)
        memcpy(b->data + b->len, p, n);
    b->len += n;
    b->data[b->len] = 0;
}

void buf_str(struct buf *b, const char *s)
{
    buf_put(b, s, strlen(s));
}

void buf_vfmt(struct buf *b, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    if (n >= 0 && room(b, (size_t)n)) {
        vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
}

void buf_fmt(struct buf *b, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    buf_vfmt(b, fmt, args);
    va_end(args);
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->failed = false;
    if (b->data)
        b->data[0] = 0;
}

void buf_free(struct buf *b)
{
    mem_free(b->data);
    *b = (struct buf){ 0 };
}

const char *buf_text(const struct buf *b)
{
    return b->data ? b->data : "";
}

int buf_check(const struct buf *b, struct err *err)
{
    return b->failed ? err_nomem(err) : 0;
}

int hash_buf(struct buf *b, int rc, char out[HASH_HEX], struct err *err)
{
    rc = rc ?: buf_check(b, err);
    if (!rc)
        hash_hex(b->data, b->len, out);
    buf_free(b);
    return rc;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the wire form is that of memory");

void buf_u8(struct buf *b, uint8_t v)
{
    buf_put(b, &v, 1);
}

void buf_u32(struct buf *b, uint32_t v)
{
    buf_put(b, &v, sizeof v);
}

void buf_i64(struct buf *b, int64_t v)
{
    buf_put(b, &v, sizeof v);
}

void buf_f64(struct buf *b, double v)
{
    buf_put(b, &v, sizeof v);
}

void buf_bytes(struct buf *b, const void *p, size_t n)
{
    if (n >= UINT32_MAX) {
        b->failed = true;
        return;
    }
    buf_u32(b, (uint32_t)n);
    buf_put(b, p, n);
}

void buf_lstr(struct buf *b, const char *s)
{
    if (s)
        buf_bytes(b, s, strlen(s));
    else
        buf_u32(b, UINT32_MAX); /* no length that buf_bytes writes */
}

struct cursor cursor_on(const void *p, size_t n)
{
    const char *at = p ? p : "";
    return (struct cursor){ .at = at, .end = at + (p ? n : 0) };
}

static const char *take(struct cursor *c, size_t n)
{
    c->bad = c->bad || (size_t)(c->end - c->at) < n;
    if (c->bad)
        return NULL;
    c->at += n;
    return c->at - n;
}

static uint64_t get_number(struct cursor *c, size_t bytes)
{
    const char *p = take(c, bytes);
    uint64_t v = 0;
    if (p)
        memcpy(&v, p, bytes);
    return v;
}

uint8_t get_u8(struct cursor *c)
{
    return (uint8_t)get_number(c, 1);
}

uint32_t get_u32(struct cursor *c)
{
    return (uint32_t)get_number(c, 4);
}

int64_t get_i64(struct cursor *c)
{
    return (int64_t)get_number(c, 8);
}

double get_f64(struct cursor *c)
{
    uint64_t bits = get_number(c, 8);
    double v;
    memcpy(&v, &bits, 8);
    return v;
}

const void *get_bytes(struct cursor *c, size_t *n)
{
    uint32_t len = get_u32(c);
    const void *p = c->bad ? NULL : take(c, len);
    *n = p ? len : 0;
    return p;
}

const char *get_lstr(struct cursor *c, size_t *n)
{
    struct cursor ahead = *c;
    *n = 0;
    if (get_u32(&ahead) == UINT32_MAX && !ahead.bad) {
        *c = ahead;
        return NULL;
    }
    const char *p = get_bytes(c, n);
    if (p && memchr(p, 0, *n)) {
        c->bad = true;
        *n = 0;
        return NULL;
    }
    return p;
}
