#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static long fail_at = -1;

void mem_fail_at(long nth)
{
    fail_at = nth;
}

static bool must_fail(void)
{
    if (fail_at <= 0)
        return fail_at == 0;
    fail_at--;
    return false;
}

/* What mem_use set; nulls: malloc's own. */
static struct {
    void *(*alloc)(void *arg, size_t bytes);
    void *(*resize)(void *arg, void *p, size_t bytes);
    void (*free)(void *arg, void *p);
    void *arg;
} other;

void mem_use(void *(*alloc)(void *, size_t), void *(*resize)(void *, void *, size_t), void (*release)(void *, void *), void *arg)
{
    other = (__typeof__(other)){ alloc, resize, release, arg };
}

void *mem_alloc(size_t bytes)
{
    if (must_fail())
        return NULL;
    return other.alloc ? other.alloc(other.arg, bytes ?: 1) : malloc(bytes ?: 1);
}

void *mem_zalloc(size_t bytes)
{
    if (!other.alloc)
        return must_fail() ? NULL : calloc(1, bytes ?: 1);
    void *p = mem_alloc(bytes);
    return p ? memset(p, 0, bytes) : NULL;
}

void *mem_array(size_t n, size_t bytes)
{
    size_t total;
    return __builtin_mul_overflow(n, bytes, &total) ? NULL : mem_zalloc(total);
}

void *mem_resize(void *p, size_t n, size_t bytes)
{
    size_t total;
    if (__builtin_mul_overflow(n, bytes, &total) || must_fail())
        return NULL;
    return other.resize ? other.resize(other.arg, p, total ?: 1) : realloc(p, total ?: 1);
}

bool mem_grow(void **p, int n, size_t bytes)
{
    void *more = n & (n - 1) ? *p : mem_resize(*p, n ? 2 * (size_t)n : 1, bytes);
    *p = more ?: *p;
    return more;
}

void mem_free(void *p)
{
    if (p && other.free)
        other.free(other.arg, p);
    else
        free(p);
}

char *mem_strndup(const char *s, size_t n)
{
    char *copy = mem_alloc(n + 1);
    if (copy) {
        memcpy(copy, s, n);
        copy[n] = 0;
    }
    return copy;
}

char *mem_strdup(const char *s)
{
    return mem_strndup(s, strlen(s));
}

struct chunk {
    struct chunk *next;
    size_t used, size;
    max_align_t data[];
};

struct arena {
    struct chunk *chunks;
};

/* Sanitizer builds set it to 0: each allocation is then a chunk of its own, so that reading past its end is noticed. */
#ifndef ARENA_CHUNK
#define ARENA_CHUNK (16 << 10)
#endif
static const size_t CHUNK = ARENA_CHUNK;

struct arena *arena_new(void)
{
    return mem_zalloc(sizeof(struct arena));
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    for (struct chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        mem_free(c);
    }
    mem_free(a);
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    const size_t unit = sizeof(max_align_t);
    if (bytes > SIZE_MAX / 2)
        return NULL;
    size_t need = bytes ? (bytes + unit - 1) / unit * unit : unit;
    struct chunk *c = a->chunks;
    if (!c || c->size - c->used < need) {
        size_t size = !c ? CHUNK / 16 : c->size < CHUNK / 2 ? 2 * c->size : CHUNK; /* small arenas are many */
        size = need > size ? need : size;
        c = mem_zalloc(sizeof *c + size);
        if (!c)
            return NULL;
        c->size = size;
        c->next = a->chunks;
        a->chunks = c;
    }
    void *p = (char *)c->data + c->used;
    c->used += need;
    return p;
}

void *arena_with(size_t bytes, struct arena **a)
{
    *a = arena_new();
    void *owner = *a ? arena_alloc(*a, bytes) : NULL;
    if (!owner)
        arena_free(*a);
    return owner;
}

void *arena_array(struct arena *a, size_t n, size_t bytes)
{
    size_t total;
    return __builtin_mul_overflow(n, bytes, &total) ? NULL : arena_alloc(a, total);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    char *copy = arena_alloc(a, n + 1);
    if (copy)
        memcpy(copy, s, n);
    return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}
