/* Values put into statements, and columns taken from rows: what the letters in src/store/sql.h mean. A file may come from anywhere, so
 * every column is checked. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "store/sql.h"

/* ---- values */

static void put(struct query *q, int code)
{
    if (code && !q->rc)
        q->rc = store_failed(q->store, code, q->err);
}

static void put_int(struct query *q, int64_t v)
{
    put(q, sqlite3_bind_int64(q->stmt, ++q->at, v));
}

static void put_id(struct query *q, int64_t v)
{
    if (v)
        put_int(q, v);
    else
        put(q, sqlite3_bind_null(q->stmt, ++q->at));
}

static void put_text(struct query *q, const char *v)
{
    put(q, sqlite3_bind_text(q->stmt, ++q->at, v, -1, SQLITE_STATIC));
}

static void put_line(struct query *q, const char *v)
{
    char *copy = v ? mem_strdup(v) : NULL;
    if (copy)
        err_line(copy);
    put(q, v && !copy ? SQLITE_NOMEM : sqlite3_bind_text(q->stmt, ++q->at, copy, -1, mem_free));
}

static void put_device(struct query *q, const struct devspec *d)
{
    put_text(q, d->backend);
    put_line(q, d->name);
    put_line(q, d->arch);
    put_line(q, d->mig);
    put_int(q, d->multiprocessors);
    put_int(q, devspec_memory(d));
}

static void put_target(struct query *q, const struct target *t)
{
    put_id(q, t ? t->device : 0);
    put_id(q, t ? t->problem : 0);
    put_text(q, !t ? NULL : t->pinned ? AS_PINNED : t->cold ? "cold" : "warm");
}

static void put_source(struct query *q, const char *v)
{
    struct buf packed = { 0 };
    if (v && !q->rc)
        q->rc = text_pack(v, &packed, q->err);
    if (packed.len)
        put(q, sqlite3_bind_blob64(q->stmt, ++q->at, packed.data, packed.len, SQLITE_TRANSIENT));
    else
        put_text(q, v);
    buf_free(&packed);
}

void row_put(struct query *q, char letter, va_list *ap)
{
    const void *bytes = letter == 'b' ? va_arg(*ap, const void *) : NULL;
    if (letter == 'i')
        put_int(q, va_arg(*ap, int64_t));
    else if (letter == 'n')
        put_int(q, va_arg(*ap, int));
    else if (letter == 'o')
        put_id(q, va_arg(*ap, int64_t));
    else if (letter == 'r')
        put(q, sqlite3_bind_double(q->stmt, ++q->at, va_arg(*ap, double)));
    else if (letter == 't')
        put_text(q, va_arg(*ap, const char *));
    else if (letter == 's')
        put_source(q, va_arg(*ap, const char *));
    else if (letter == 'l')
        put_line(q, va_arg(*ap, const char *));
    else if (letter == 'b')
        put(q, sqlite3_bind_blob64(q->stmt, ++q->at, bytes, va_arg(*ap, size_t), SQLITE_STATIC));
    else if (letter == 'd')
        put_device(q, va_arg(*ap, const struct devspec *));
    else if (letter == 'T')
        put_target(q, va_arg(*ap, const struct target *));
}

/* ---- columns */

/* The column taken last is bad. */
static void bad(struct query *q)
{
    const char *name = q->stmt ? sqlite3_column_name(q->stmt, q->at - 1) : NULL;
    q->bad = q->bad ?: name ?: "of a record"; /* SQLite had no memory for the name */
}

/* A copy where the query's texts and blobs have to be. */
static const void *keep(struct query *q, const void *p, size_t n)
{
    void *copy = q->arena ? arena_alloc(q->arena, n) : NULL;
    if (copy)
        memcpy(copy, p, n);
    else if (q->arena)
        q->rc = q->rc ?: err_nomem(q->err);
    return q->arena ? copy : p;
}

struct cell query_cell(struct query *q, int column)
{
    if (q->ncells)
        return column < q->ncells ? q->cells[column] : (struct cell){ .type = SQLITE_NULL };
    struct cell c = { .type = sqlite3_column_type(q->stmt, column) };
    if (c.type == SQLITE_INTEGER)
        c.i = sqlite3_column_int64(q->stmt, column);
    else if (c.type == SQLITE_FLOAT)
        c.r = sqlite3_column_double(q->stmt, column);
    else if (c.type == SQLITE_TEXT)
        c.p = sqlite3_column_text(q->stmt, column);
    else if (c.type == SQLITE_BLOB)
        c.p = sqlite3_column_blob(q->stmt, column);
    if (c.type == SQLITE_TEXT || c.type == SQLITE_BLOB)
        c.n = (size_t)sqlite3_column_bytes(q->stmt, column);
    return c;
}

static int64_t take_int(struct query *q, int64_t low, int64_t high)
{
    struct cell c = query_cell(q, q->at++);
    if (c.type == SQLITE_INTEGER && c.i >= low && c.i <= high)
        return c.i;
    bad(q);
    return low;
}

static double take_real(struct query *q, double high)
{
    struct cell c = query_cell(q, q->at++);
    if (c.type == SQLITE_FLOAT && c.r >= 0 && c.r <= high)
        return c.r;
    bad(q);
    return 0;
}

enum { NULLABLE = 1, MANY_LINES = 2, NAME = 4, FULL = 8 /* it has `max` bytes */, HEX = 16, PACKED = 32 /* or it is text */ };

static bool text_fits(const char *s, size_t max, int flags)
{
    return text_ok(s, max, flags & MANY_LINES) && (!(flags & NAME) || name_ok(s)) && (!(flags & FULL) || strlen(s) == max) &&
           (!(flags & HEX) || !s[strspn(s, "0123456789abcdef")]);
}

/* A packed text, on the query's memory; null if it is bad. */
static const char *unpacked(struct query *q, struct cell c, size_t max)
{
    size_t n = packed_length(c.p, c.n);
    if (!n || n > max || !q->arena)
        return NULL;
    char *text = arena_alloc(q->arena, n + 1);
    int rc = text ? text_unpack(c.p, c.n, text) : ERR_NOMEM;
    if (rc == ERR_NOMEM)
        q->rc = q->rc ?: err_nomem(q->err);
    return !rc && strlen(text) == n ? text : NULL;
}

/* Null for NULL, "" for one that is bad. */
static const char *take_text(struct query *q, size_t max, int flags)
{
    struct cell c = query_cell(q, q->at++);
    const char *s = c.p;
    if (c.type == SQLITE_BLOB && flags & PACKED && (s = unpacked(q, c, max)) && text_fits(s, max, flags))
        return s;
    if (c.type == SQLITE_NULL && flags & NULLABLE)
        return NULL;
    if (c.type == SQLITE_TEXT && s && strlen(s) == c.n && text_fits(s, max, flags))
        return keep(q, s, c.n + 1);
    bad(q);
    return "";
}

static void copy_text(struct query *q, char *to, size_t room, int flags)
{
    snprintf(to, room, "%s", take_text(q, room - 1, flags) ?: "");
}

static void take_bytes(struct query *q, const void **p, size_t *n)
{
    struct cell c = query_cell(q, q->at++);
    *n = c.n;
    if ((c.type != SQLITE_BLOB && c.type != SQLITE_NULL) || *n > MAX_BINARY || (*n && !c.p))
        bad(q);
    *p = *n && !q->bad ? keep(q, c.p, *n) : NULL;
}

static enum outcome take_outcome(struct query *q)
{
    int outcome = outcome_find(take_text(q, MAX_NAME, 0) ?: "");
    if (outcome < 0)
        bad(q);
    return outcome < 0 ? OUT_INVALID : (enum outcome)outcome;
}

static const char *take_config(struct query *q, struct buf *text)
{
    const char *json = take_text(q, MAX_LINE, 0);
    buf_clear(text);
    buf_str(text, "");
    if (!config_of_json(text, json ?: ""))
        bad(q);
    q->rc = q->rc ?: buf_check(text, q->err);
    return json;
}

static void take_device(struct query *q, struct devspec *d)
{
    copy_text(q, d->backend, sizeof d->backend, 0);
    copy_text(q, d->name, sizeof d->name, 0);
    copy_text(q, d->arch, sizeof d->arch, 0);
    copy_text(q, d->mig, sizeof d->mig, 0);
    d->multiprocessors = (int)take_int(q, 0, INT32_MAX);
    d->memory = take_int(q, 0, INT64_MAX);
}

static const struct {
    char letter;
    size_t max;
    int flags;
} texts[] = {
    { 't', MAX_LINE, 0 },       { 'w', MAX_NAME, 0 },
    { 'p', MAX_NAME, NAME },    { 's', MAX_SOURCE, MANY_LINES | PACKED },
    { 'y', MAX_TYPES_TEXT, 0 }, { 'z', MAX_SIZES_TEXT, 0 },
    { 'x', MAX_REASON, 0 },     { 'a', sizeof "2026-01-01T00:00:00Z" - 1, FULL },
};

static void take_column(struct query *q, char letter, int nullable, va_list *ap)
{
    void *to = va_arg(*ap, void *);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].letter == letter)
            *(const char **)to = take_text(q, texts[i].max, texts[i].flags | nullable);
    if (letter == 'i' || letter == 'j' || letter == 'm')
        *(int64_t *)to = take_int(q, letter == 'i' ? 1 : letter == 'j' ? 0 : -1, INT64_MAX);
    else if (letter == 'n' || letter == 'u')
        *(int *)to = (int)take_int(q, letter == 'n' ? 0 : -1, INT32_MAX);
    else if (letter == 'f')
        *(bool *)to = take_int(q, 0, 1);
    else if (letter == 'r' || letter == 'v')
        *(double *)to = take_real(q, letter == 'r' ? TIME_MAX : 1e30);
    else if (letter == 'b')
        take_bytes(q, to, va_arg(*ap, size_t *));
    else if (letter == 'k')
        copy_text(q, to, HASH_HEX, HEX | FULL | nullable);
    else if (letter == 'o')
        *(enum outcome *)to = take_outcome(q);
    else if (letter == 'c')
        *va_arg(*ap, const char **) = take_config(q, to);
    else if (letter == 'd')
        take_device(q, to);
}

const char *row_take(struct query *q, const char *columns, va_list *ap)
{
    q->bad = NULL;
    for (; *columns; columns++)
        take_column(q, (char)tolower(*columns), isupper(*columns) ? NULLABLE : 0, ap);
    return q->bad;
}
