/* Compiled code by what it was made of (worker/cache.h): configurations that compile to the same share it. */
#include <search.h>
#include <string.h>

#include "base/mem.h"
#include "tune/run.h"

enum { CODES_MAX = 256 << 20 }; /* bytes; past that the oldest leave */

static int by_key(const void *a, const void *b)
{
    return strcmp(a, b); /* of two struct code, or of a key and one: they begin with their keys */
}

static size_t size_of(const struct code *c)
{
    return sizeof *c + c->source.len + c->binary.len + c->portable.len + c->entries.len;
}

static void code_free(struct code *c)
{
    buf_free(&c->source);
    buf_free(&c->binary);
    buf_free(&c->portable);
    buf_free(&c->entries);
    mem_free(c);
}

const struct code *codes_find(const struct codes *all, const char *key)
{
    struct code **at = *key ? tfind(key, &all->root, by_key) : NULL;
    return at ? *at : NULL;
}

static void drop_first(struct codes *all)
{
    struct code *c = all->first;
    all->first = c->next;
    all->bytes -= size_of(c);
    tdelete(c, &all->root, by_key);
    code_free(c);
}

static void drop(struct codes *all, const char *key)
{
    for (struct code **at = &all->first; *at; at = &(*at)->next)
        if (!strcmp((*at)->key, key)) {
            struct code *c = *at;
            *at = c->next;
            if (!c->next)
                all->last = at;
            all->bytes -= size_of(c);
            tdelete(c, &all->root, by_key);
            code_free(c);
            return;
        }
}

static void copy(struct buf *to, const struct buf *from)
{
    buf_clear(to);
    buf_put(to, buf_text(from), from->len);
}

void codes_add(struct codes *all, const struct job *job)
{
    struct code *c = *job->code ? mem_zalloc(sizeof *c) : NULL;
    if (!c)
        return;
    if (codes_find(all, job->code))
        drop(all, job->code);
    memcpy(c->key, job->code, HASH_HEX);
    memcpy(c->compiler, job->compiler, sizeof c->compiler);
    c->ms = job->compile_ms;
    c->cached = job->cached;
    copy(&c->source, &job->source);
    copy(&c->binary, &job->binary);
    copy(&c->portable, &job->portable);
    copy(&c->entries, &job->entries);
    if (c->source.failed || c->binary.failed || c->portable.failed || c->entries.failed || !tsearch(c, &all->root, by_key)) {
        code_free(c);
        return;
    }
    *(all->first ? all->last : &all->first) = c;
    all->last = &c->next;
    all->bytes += size_of(c);
    while (all->bytes > CODES_MAX)
        drop_first(all);
}

int code_give(const struct code *c, struct job *job, struct err *err)
{
    memcpy(job->compiler, c->compiler, sizeof job->compiler);
    job->compile_ms = c->ms;
    job->cached = c->cached;
    copy(&job->source, &c->source);
    copy(&job->binary, &c->binary);
    copy(&job->portable, &c->portable);
    copy(&job->entries, &c->entries);
    return buf_check(&job->source, err)
        ?: buf_check(&job->binary, err)
        ?: buf_check(&job->portable, err)
        ?: buf_check(&job->entries, err);
}

void codes_free(struct codes *all)
{
    while (all->first)
        drop_first(all);
}
