#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

/* The compiled statement for a literal; another one if that is on its way already. */
static int compile(struct query *q, const char *sql)
{
    struct store *s = q->store;
    int rc = s->db ? 0 : store_connect(s, q->err), i = 0;
    if (!rc && !s->active) {
        s->steps = 0;
        rc = s->older ? older_left(s, q->err) : 0;
    }
    if (rc)
        return rc;
    while (i < s->ncached && s->cached[i].sql != sql)
        i++;
    bool known = i < s->ncached;
    if (known && !sqlite3_stmt_busy(s->cached[i].stmt)) {
        q->stmt = s->cached[i].stmt;
        return 0;
    }
    int code = sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &q->stmt, NULL);
    if (code)
        return store_failed(s, code, q->err);
    q->own = known || i == MAX_CACHED;
    if (!q->own) {
        s->cached[i].sql = sql;
        s->cached[i].stmt = q->stmt;
        s->ncached++;
    }
    return 0;
}

int query_end(struct query *q)
{
    buf_free(&q->key);
    if (!q->stmt)
        return q->rc;
    q->store->active--;
    if (q->own) {
        sqlite3_finalize(q->stmt);
    } else {
        sqlite3_reset(q->stmt);
        sqlite3_clear_bindings(q->stmt);
    }
    q->stmt = NULL;
    return q->rc;
}

/* Returns the letters of the columns, which follow a colon. */
static const char *begin(struct query *q, struct store *s, struct err *err, const char *sql, const char *values, va_list *ap)
{
    *q = (struct query){ .store = s, .err = err };
    q->rc = compile(q, sql);
    s->active += q->stmt != NULL;
    for (; !q->rc && *values && *values != ':'; values++)
        row_put(q, *values, ap);
    return values + (*values == ':');
}

void query_begin(struct query *q, struct store *s, struct err *err, const char *sql, const char *values, ...)
{
    va_list ap;
    va_start(ap, values);
    begin(q, s, err, sql, values, &ap);
    va_end(ap);
}

static void put_key(struct buf *key, char letter, va_list *ap)
{
    if (letter == 't') {
        buf_lstr(key, va_arg(*ap, const char *));
        return;
    }
    const struct devspec *d = va_arg(*ap, const struct devspec *);
    buf_fmt(key, "%s\n%s\n%s\n%s\n%d %" PRId64, d->backend, d->name, d->arch, d->mig, d->multiprocessors, devspec_memory(d));
}

void query_ask(struct query *q, struct store *s, struct err *err, const char *sql, const char *values, ...)
{
    struct buf key = { 0 };
    va_list ap;
    va_start(ap, values);
    if (s->answers)
        buf_lstr(&key, sql);
    for (const char *v = values; s->answers && *v; v++)
        put_key(&key, *v, &ap);
    va_end(ap);
    *q = (struct query){ .store = s, .err = err, .key = key, .rc = buf_check(&key, err) };
    if (q->rc || answer_find(q))
        return;
    va_start(ap, values);
    begin(q, s, err, sql, values, &ap);
    va_end(ap);
    q->key = key;
}

bool query_step(struct query *q)
{
    if (q->ncells) {
        bool first = !q->served;
        q->served = true;
        q->at = 0;
        return first && !q->rc;
    }
    int code = q->rc ? SQLITE_DONE : sqlite3_step(q->stmt);
    q->at = 0;
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        q->rc = store_failed(q->store, code, q->err);
    if (code == SQLITE_ROW && q->key.len && *q->store->state)
        answer_keep(q);
    return code == SQLITE_ROW;
}

int query_damaged(struct query *q, const char *column)
{
    q->rc = q->rc ?: store_damaged(q->store, q->err, "column %s holds what cutune would not have written", column);
    return q->rc;
}

static bool take(struct query *q, const char *columns, va_list *ap)
{
    const char *bad = row_take(q, columns, ap);
    if (bad)
        query_damaged(q, bad);
    return !q->rc;
}

bool query_take(struct query *q, const char *columns, ...)
{
    va_list ap;
    va_start(ap, columns);
    bool fine = take(q, columns, &ap);
    va_end(ap);
    return fine;
}

bool query_good_row(struct query *q, const char *columns, ...)
{
    va_list ap;
    while (query_step(q)) {
        va_start(ap, columns);
        bool bad = row_take(q, columns, &ap);
        va_end(ap);
        if (q->rc || !bad)
            return !q->rc;
        q->store->left_out++;
    }
    return false;
}

void store_leave_out(struct store *s, int n)
{
    s->left_out += n;
}

int store_left_out(struct store *s)
{
    int n = s->left_out;
    s->left_out = 0;
    return n;
}

/* ---- whole statements */

static int run(struct store *s, struct err *err, const char *sql, const char *letters, va_list *ap)
{
    struct query q;
    const char *columns = begin(&q, s, err, sql, letters, ap);
    if (query_step(&q))
        take(&q, columns, ap);
    else if (*columns && !q.rc)
        q.rc = err_set(err, ERR_NOTFOUND, "%s: no such row", s->path);
    return query_end(&q);
}

int sql_run(struct store *s, struct err *err, const char *sql, const char *letters, ...)
{
    va_list ap;
    va_start(ap, letters);
    int rc = run(s, err, sql, letters, &ap);
    va_end(ap);
    return rc;
}

int sql_write(struct store *s, struct err *err, const char *sql, const char *letters, ...)
{
    va_list ap;
    va_start(ap, letters);
    int rc = write_end(s, write_begin(s, err) ?: run(s, err, sql, letters, &ap), err);
    va_end(ap);
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
    int rc = s->db ? 0 : store_connect(s, err);
    *mine = !rc && sqlite3_get_autocommit(s->db);
    return rc ? rc : *mine ? sql_run(s, err, "BEGIN", "") : 0;
}

void read_end(struct store *s, bool mine)
{
    if (mine && s->db && !sqlite3_get_autocommit(s->db))
        sql_run(s, NULL, "COMMIT", "");
}

int store_begin(struct store *s, bool write, struct err *err)
{
    bool mine;
    int rc = write ? write_begin(s, err) : s->db ? read_begin(s, &mine, err) : 0; /* or once it is opened */
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

int store_generation(struct store *s, uint64_t *out, struct err *err)
{
    int64_t version;
    if (!s->db && answers_hold(s)) {
        *out = 1;
        return 0;
    }
    int rc = sql_run(s, err, "PRAGMA data_version", ":j", &version); /* moves with the commits of others, not with one's own */
    if (!rc)
        *out = ((uint64_t)version + 1) << 32 | (uint32_t)sqlite3_total_changes(s->db);
    return rc;
}
