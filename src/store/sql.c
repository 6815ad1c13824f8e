#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "store/older.h"

int store_damaged(struct store *s, struct err *err, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return err_set(err, ERR_CORRUPT, "%s: damaged: %s", s->path, text);
}

/* SQLite goes on writing into a file that nobody can find any more. */
static int store_moved(struct store *s, struct err *err)
{
    return err_set(err, ERR_IO, "%s: removed or replaced while it was written", s->path);
}

int store_failed(struct store *s, int rc, struct err *err)
{
    if (rc == SQLITE_READONLY_DBMOVED)
        return store_moved(s, err);
    if (rc == SQLITE_IOERR_WRITE || rc == SQLITE_IOERR_SHMSIZE || rc == SQLITE_IOERR_TRUNCATE)
        return err_set(err, ERR_IO, "%s: cannot be written any further: past `ulimit -f`, or the disk fails", s->path);
    const char *said = s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(rc);
    switch (rc & 0xff) {
    case SQLITE_NOMEM:
        return err_nomem(err);
    case SQLITE_NOTADB:
        return err_set(err, ERR_INVALID, "%s: not a database", s->path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return err_set(err, ERR_BUSY, "%s: another process has held it for more than %g s", s->path, s->busy_ms / 1000.0);
    case SQLITE_READONLY:
        if (rc == SQLITE_READONLY_ROLLBACK)
            return err_set(err, ERR_IO, "%s: its last writer did not end: open it once where it can be written", s->path);
        return err_set(err, ERR_IO, "%s: read-only: no permission to write it or its folder", s->path);
    case SQLITE_FULL:
        return err_set(err, ERR_IO, "%s: the disk is full", s->path);
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_PERM:
        return err_set(err, ERR_IO, "%s: %s", s->path, said);
    case SQLITE_INTERRUPT:
        if (s->most)
            return err_set(err, ERR_TIMEOUT, "%s: too much is in it to be read in full", s->path);
        return store_damaged(s, err, "what it was asked has no end: its pages lead in circles");
    case SQLITE_CONSTRAINT:
        return err_set(err, ERR_INVALID, "%s: not stored: %s", s->path, said);
    default: /* no such table, a page that is none, a value past every limit */
        return store_damaged(s, err, "%s", said);
    }
}

enum { STEPS_AT_ONCE = 1000 };

/* Not 0: the statement has had its share. */
static int count_steps(void *arg)
{
    struct store *s = arg;
    struct stat st;
    s->steps += STEPS_AT_ONCE;
    if (s->most)
        return s->steps > s->most;
    if (s->steps <= STEPS_ALWAYS)
        return 0;
    return s->steps > STEPS_ALWAYS + (stat(s->absolute, &st) ? 0 : STEPS_A_BYTE * (int64_t)st.st_size);
}

int sql_number(struct store *s, const char *sql, int64_t *out)
{
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL);
    if (!code)
        code = sqlite3_step(stmt);
    if (code == SQLITE_ROW) {
        *out = sqlite3_column_int64(stmt, 0);
        code = SQLITE_OK;
    }
    sqlite3_finalize(stmt);
    return code == SQLITE_DONE ? SQLITE_ERROR : code;
}

void store_limit(struct store *s, int64_t steps)
{
    s->most = steps;
}

void store_bound(struct store *s)
{
    sqlite3_progress_handler(s->db, STEPS_AT_ONCE, count_steps, s);
}

/* The compiled statement for a literal, unless it is on its way already: then another one. */
static sqlite3_stmt *cached(struct store *s, const char *sql, bool *own)
{
    *own = true;
    for (int i = 0; i < s->ncached; i++) {
        if (s->cached[i].sql != sql)
            continue;
        *own = sqlite3_stmt_busy(s->cached[i].stmt);
        return *own ? NULL : s->cached[i].stmt;
    }
    return NULL;
}

int query_begin(struct query *q, struct store *s, const char *sql, struct err *err)
{
    *q = (struct query){ .store = s };
    if (!s->active) {
        s->steps = 0;
        int rc = s->older ? older_left(s, err) : 0;
        if (rc)
            return rc;
    }
    q->stmt = cached(s, sql, &q->own);
    if (q->stmt) {
        s->active++;
        return 0;
    }
    int rc = sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &q->stmt, NULL);
    if (rc)
        return store_failed(s, rc, err);
    s->active++;
    bool known = false;
    for (int i = 0; i < s->ncached; i++)
        known = known || s->cached[i].sql == sql;
    if (!known && s->ncached < MAX_CACHED) {
        s->cached[s->ncached].sql = sql;
        s->cached[s->ncached++].stmt = q->stmt;
        q->own = false;
    }
    return 0;
}

void query_end(struct query *q)
{
    if (!q->stmt)
        return;
    q->store->active--;
    if (q->own) {
        sqlite3_finalize(q->stmt);
    } else {
        sqlite3_reset(q->stmt);
        sqlite3_clear_bindings(q->stmt);
    }
    q->stmt = NULL;
}

static void put(struct query *q, int rc)
{
    if (!q->rc)
        q->rc = rc;
}

void put_int(struct query *q, int64_t v)
{
    put(q, sqlite3_bind_int64(q->stmt, ++q->at, v));
}

void put_id(struct query *q, int64_t v)
{
    put(q, v ? sqlite3_bind_int64(q->stmt, q->at + 1, v) : sqlite3_bind_null(q->stmt, q->at + 1));
    q->at++;
}

void put_real(struct query *q, double v)
{
    put(q, sqlite3_bind_double(q->stmt, ++q->at, v));
}

void put_text(struct query *q, const char *v)
{
    put(q, sqlite3_bind_text(q->stmt, ++q->at, v, -1, SQLITE_STATIC));
}

void put_line(struct query *q, const char *v)
{
    char *copy = v ? mem_strdup(v) : NULL;
    if (copy)
        err_line(copy);
    put(q, v && !copy ? SQLITE_NOMEM : sqlite3_bind_text(q->stmt, ++q->at, copy, -1, mem_free));
}

void put_blob(struct query *q, const void *p, size_t n)
{
    put(q, sqlite3_bind_blob64(q->stmt, ++q->at, p, n, SQLITE_STATIC));
}

int query_step(struct query *q, struct err *err)
{
    int rc = q->rc ? q->rc : sqlite3_step(q->stmt);
    q->at = 0;
    if (rc == SQLITE_ROW)
        return 1;
    return rc == SQLITE_DONE ? 0 : store_failed(q->store, rc, err);
}

int query_run(struct query *q, struct err *err)
{
    int rc = query_step(q, err);
    query_end(q);
    return rc < 0 ? rc : 0;
}

void query_bad(struct query *q, const char *column)
{
    if (!q->bad)
        q->bad = column ? column : "of a record"; /* SQLite had no memory for the name */
}

static void *bad(struct query *q, int column)
{
    query_bad(q, sqlite3_column_name(q->stmt, column));
    return NULL;
}

int64_t col_int(struct query *q, int64_t low, int64_t high)
{
    int column = q->at++;
    int64_t v = sqlite3_column_int64(q->stmt, column);
    if (sqlite3_column_type(q->stmt, column) == SQLITE_INTEGER && v >= low && v <= high)
        return v;
    bad(q, column);
    return low;
}

bool col_bool(struct query *q)
{
    return col_int(q, 0, 1);
}

double col_real(struct query *q, double low, double high)
{
    int column = q->at++;
    double v = sqlite3_column_double(q->stmt, column);
    if (sqlite3_column_type(q->stmt, column) == SQLITE_FLOAT && v >= low && v <= high)
        return v;
    bad(q, column);
    return low;
}

const char *col_text(struct query *q, size_t max, int flags)
{
    int column = q->at++, type = sqlite3_column_type(q->stmt, column);
    if (type == SQLITE_NULL && flags & NULLABLE)
        return NULL;
    if (type == SQLITE_TEXT) {
        const char *s = (const char *)sqlite3_column_text(q->stmt, column);
        size_t n = (size_t)sqlite3_column_bytes(q->stmt, column);
        if (s && strlen(s) == n && text_ok(s, max, flags & MANY_LINES))
            return s;
    }
    bad(q, column);
    return "";
}

const char *col_name(struct query *q)
{
    int column = q->at;
    const char *name = col_text(q, MAX_NAME, 0);
    if (name_ok(name))
        return name;
    bad(q, column);
    return "bad";
}

const char *copy_text(struct query *q, struct arena *a, size_t max, int flags)
{
    const char *text = col_text(q, max, flags);
    char *copy = text ? arena_strdup(a, text) : NULL;
    q->nomem = q->nomem || (text && !copy);
    return copy;
}

const void *col_blob(struct query *q, size_t max, size_t *n)
{
    int column = q->at++, type = sqlite3_column_type(q->stmt, column);
    *n = 0;
    if (type == SQLITE_NULL)
        return NULL;
    const void *p = type == SQLITE_BLOB ? sqlite3_column_blob(q->stmt, column) : NULL;
    size_t bytes = (size_t)sqlite3_column_bytes(q->stmt, column);
    if (type != SQLITE_BLOB || bytes > max || (bytes && !p))
        return bad(q, column);
    *n = bytes;
    return p;
}

int col_word(struct query *q, const char *const *words)
{
    int column = q->at;
    const char *text = col_text(q, MAX_NAME, 0);
    for (int i = 0; words[i]; i++)
        if (!strcmp(words[i], text))
            return i;
    bad(q, column);
    return 0;
}

void col_key(struct query *q, char key[HASH_HEX])
{
    int column = q->at;
    const char *text = col_text(q, HASH_HEX - 1, 0);
    if (strspn(text, "0123456789abcdef") != HASH_HEX - 1)
        bad(q, column);
    snprintf(key, HASH_HEX, "%s", text);
}

void col_key_or_none(struct query *q, char key[HASH_HEX])
{
    key[0] = 0;
    if (sqlite3_column_type(q->stmt, q->at) == SQLITE_NULL)
        q->at++;
    else
        col_key(q, key);
}

int query_check(struct query *q, struct err *err)
{
    if (q->nomem)
        return err_nomem(err);
    return q->bad ? store_damaged(q->store, err, "column %s holds what cutune would not have written", q->bad) : 0;
}

int row_check(struct query *q, struct err *err)
{
    if (q->nomem)
        return err_nomem(err);
    q->store->left_out += q->bad != NULL;
    bool fine = !q->bad;
    q->bad = NULL;
    return fine;
}

void store_leave_out(struct store *s)
{
    s->left_out++;
}

int store_left_out(struct store *s)
{
    int n = s->left_out;
    s->left_out = 0;
    return n;
}

static void put_all(struct query *q, const char *values, va_list ap)
{
    for (; *values; values++) {
        const struct buf *bytes;
        switch (*values) {
        case 'i':
            put_int(q, va_arg(ap, int64_t));
            break;
        case 't':
            put_text(q, va_arg(ap, const char *));
            break;
        case 'l':
            put_line(q, va_arg(ap, const char *));
            break;
        case 'r':
            put_real(q, va_arg(ap, double));
            break;
        case 'b':
            bytes = va_arg(ap, const struct buf *);
            put_blob(q, bytes->data, bytes->len);
            break;
        case 'd':
            put_device(q, va_arg(ap, const struct devspec *));
            break;
        }
    }
}

int sql_run(struct store *s, struct err *err, const char *sql, const char *values, ...)
{
    struct query q;
    va_list ap;
    int rc = query_begin(&q, s, sql, err);
    if (rc)
        return rc;
    va_start(ap, values);
    put_all(&q, values, ap);
    va_end(ap);
    return query_run(&q, err);
}

int sql_id(struct store *s, int64_t *id, struct err *err, const char *sql, const char *values, ...)
{
    struct query q;
    va_list ap;
    *id = 0;
    int rc = query_begin(&q, s, sql, err);
    if (rc)
        return rc;
    va_start(ap, values);
    put_all(&q, values, ap);
    va_end(ap);
    rc = query_step(&q, err);
    if (rc > 0) {
        *id = col_int(&q, 1, INT64_MAX);
        rc = query_check(&q, err);
    }
    query_end(&q);
    return rc;
}

int write_begin(struct store *s, struct err *err)
{
    if (s->joined == WRITES_JOINED)
        return 0;
    return sql_run(s, err, "BEGIN IMMEDIATE", ""); /* waits for another writer here, not halfway */
}

/* Whether the file is no longer where it was. Then what is in the log goes into it, wherever it is now: a file that was only renamed
 * has lost nothing, and one that took its place is not taken for the one that the log belongs to. */
static bool moved(struct store *s)
{
    int is = 0;
    sqlite3_file_control(s->db, NULL, SQLITE_FCNTL_HAS_MOVED, &is);
    if (is)
        sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return is;
}

int write_end(struct store *s, int rc, struct err *err)
{
    if (s->joined == WRITES_JOINED)
        return rc;
    rc = rc ?: sql_run(s, err, "COMMIT", "");
    if (rc && !sqlite3_get_autocommit(s->db))
        sql_run(s, NULL, "ROLLBACK", "");
    return !rc && moved(s) ? store_moved(s, err) : rc;
}

int read_begin(struct store *s, bool *mine, struct err *err)
{
    *mine = sqlite3_get_autocommit(s->db);
    return *mine ? sql_run(s, err, "BEGIN", "") : 0;
}

void read_end(struct store *s, bool mine)
{
    if (mine && !sqlite3_get_autocommit(s->db))
        sql_run(s, NULL, "COMMIT", "");
}

int store_begin(struct store *s, bool write, struct err *err)
{
    bool mine;
    int rc = write ? write_begin(s, err) : read_begin(s, &mine, err);
    if (!rc)
        s->joined = write ? WRITES_JOINED : READS_JOINED;
    return rc;
}

int store_end(struct store *s, int rc, struct err *err)
{
    bool wrote = s->joined == WRITES_JOINED;
    s->joined = ALONE;
    if (wrote)
        return write_end(s, rc, err);
    read_end(s, true);
    return rc;
}
