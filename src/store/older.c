/* Files of versions 1 to 4. Those of 4 have the tables of 5. For the others SQL says how their tables look to the newest version (db/migrations): such a file is read as it is, and
 * migrated, by the same words. Here are the functions that the SQL needs, and what runs it. */
#include "store/older.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/serial.h"
#include "older_migrate_sql.h"
#include "older_sql.h"
#include "older_views_sql.h"

/* ---- the functions: pack, pack_rows and config_json */

/* Null for NULL, and for what is no text, which is damage. */
static const char *text_of(sqlite3_value *v, bool *bad)
{
    const char *s = sqlite3_value_type(v) == SQLITE_TEXT ? (const char *)sqlite3_value_text(v) : NULL;
    if (s && strlen(s) == (size_t)sqlite3_value_bytes(v))
        return s;
    *bad = *bad || sqlite3_value_type(v) != SQLITE_NULL;
    return NULL;
}

static int64_t int_of(sqlite3_value *v, int64_t low, int64_t high, bool *bad)
{
    int64_t i = sqlite3_value_int64(v);
    *bad = *bad || sqlite3_value_type(v) != SQLITE_INTEGER || i < low || i > high;
    return i;
}

static void put_val(struct buf *out, enum val_type type, sqlite3_value *v, bool *bad)
{
    struct serial io = { .out = out };
    struct val val = { .type = type };
    if (type == VAL_BOOL)
        val.b = int_of(v, 0, 1, bad);
    else if (type == VAL_INT)
        val.i = int_of(v, INT64_MIN, INT64_MAX, bad);
    else if (type == VAL_FLOAT && sqlite3_value_type(v) == SQLITE_FLOAT && isfinite(sqlite3_value_double(v)))
        val.f = sqlite3_value_double(v);
    else if (type == VAL_STR && sqlite3_value_type(v) == SQLITE_TEXT)
        val.s = text_of(v, bad);
    else
        *bad = true;
    if (!*bad)
        io_val(&io, &val);
}

/* Puts the values after their letters, which come first. */
static void put_values(struct buf *out, const char *letters, sqlite3_value **v, bool *bad)
{
    for (; *letters; letters++, v++)
        if (*letters == 's') {
            buf_lstr(out, text_of(*v, bad));
        } else if (*letters == 'b') {
            buf_u8(out, (uint8_t)int_of(*v, 0, UINT8_MAX, bad));
        } else if (*letters == 'n') {
            buf_u32(out, (uint32_t)int_of(*v, 0, MAX_VALUES, bad));
        } else if (*letters == 'v') {
            put_val(out, (enum val_type)int_of(v[0], VAL_BOOL, VAL_STR, bad), v[1], bad);
            v++;
        } else {
            *bad = *bad || sqlite3_value_type(*v) != SQLITE_BLOB;
            buf_put(out, sqlite3_value_blob(*v) ?: "", (size_t)sqlite3_value_bytes(*v));
        }
    *bad = *bad || out->len > MAX_RECORD;
}

/* Gives the bytes; NULL for a record that is damaged. */
static void give(sqlite3_context *context, struct buf *out, bool bad)
{
    if (out->failed)
        sqlite3_result_error_nomem(context);
    else if (!bad)
        sqlite3_result_blob64(context, out->data, out->len, SQLITE_TRANSIENT);
    buf_free(out);
}

static void pack(sqlite3_context *context, int n, sqlite3_value **v)
{
    struct buf out = { 0 };
    bool bad = n < 1;
    if (!bad)
        put_values(&out, text_of(v[0], &bad) ?: "", v + 1, &bad);
    give(context, &out, bad);
}

struct older_rows {
    struct buf bytes;
    int n;
    bool bad;
};

static void pack_row(sqlite3_context *context, int n, sqlite3_value **v)
{
    struct older_rows *rows = sqlite3_aggregate_context(context, sizeof *rows);
    (void)n;
    if (!rows) {
        sqlite3_result_error_nomem(context);
    } else if (!rows->bad) {
        int_of(v[1], rows->n, rows->n, &rows->bad);
        put_values(&rows->bytes, text_of(v[0], &rows->bad) ?: "", v + 2, &rows->bad);
        rows->n++;
    }
}

static void pack_rows(sqlite3_context *context)
{
    struct older_rows *rows = sqlite3_aggregate_context(context, 0);
    struct buf out = { 0 };
    buf_u32(&out, rows ? (uint32_t)rows->n : 0);
    if (rows) {
        buf_put(&out, buf_text(&rows->bytes), rows->bytes.len);
        out.failed = out.failed || rows->bytes.failed;
        buf_free(&rows->bytes);
    }
    give(context, &out, rows && rows->bad);
}

/* Whether a name is in a list with commas between. */
static bool is_listed(const char *names, const char *name, size_t n)
{
    for (size_t m; names && *names; names += m + (names[m] == ',')) {
        m = strcspn(names, ",");
        if (m == n && !memcmp(names, name, n))
            return true;
    }
    return false;
}

static bool digits(const char **at)
{
    size_t n = strspn(*at, "0123456789");
    *at += n;
    return n;
}

/* Whether a value as val_print wrote it reads like a number or a truth value. */
static bool is_literal(const char *text)
{
    const char *at = text + (*text == '-');
    if (!strcmp(text, "true") || !strcmp(text, "false"))
        return true;
    if ((*at == '0' && isdigit((unsigned char)at[1])) || !digits(&at)) /* 007 is a word */
        return false;
    if (*at == '.') {
        at++;
        if (!digits(&at))
            return false;
    }
    if (*at == 'e' && (at[1] == '+' || at[1] == '-')) {
        at += 2;
        if (!digits(&at))
            return false;
    }
    return !*at;
}

/* config_json(config, names): "TILE=32,VEC=true" as JSON. A value that reads like a number or a truth value is one, but of the named
 * parameters, which are words. What is no such text stays as it is, and is damage. */
static void config_json(sqlite3_context *context, int n, sqlite3_value **v)
{
    struct buf out = { 0 };
    bool bad = n != 2;
    char value[MAX_NAME + 1];
    const char *config = text_of(v[0], &bad), *words = text_of(v[1], &bad);
    bad = bad || !config;
    buf_str(&out, "{");
    for (size_t m; !bad && *config; config += m + (config[m] == ',')) {
        m = strcspn(config, ",");
        const char *equals = memchr(config, '=', m);
        bad = !equals || config + m - equals > MAX_NAME;
        if (bad)
            break;
        snprintf(value, sizeof value, "%.*s", (int)(config + m - equals - 1), equals + 1);
        const char *quote = is_literal(value) && !is_listed(words, config, (size_t)(equals - config)) ? "" : "\"";
        buf_fmt(&out, "%s\"%.*s\":%s%s%s", out.len > 1 ? "," : "", (int)(equals - config), config, quote, value, quote);
    }
    buf_str(&out, "}");
    if (out.failed)
        sqlite3_result_error_nomem(context);
    else if (bad)
        sqlite3_result_value(context, v[0]);
    else
        sqlite3_result_text(context, out.data, -1, SQLITE_TRANSIENT);
    buf_free(&out);
}

/* ---- SQL of older versions */

enum { ALIKE = 4 }; /* a version whose tables are those of the newest */

/* Puts the lines that are for a version; and before a line of dashes db/schema.sql. */
static void put_lines(struct buf *out, const char *text, int version)
{
    for (size_t n; *text; text += n) {
        n = strcspn(text, "\n") + 1;
        if (!strncmp(text, "----", 4))
            buf_str(out, newest_schema);
        const char *end = text + n;
        bool from = n > 5 && !memcmp(end - 5, "-- ", 3) && isdigit((unsigned char)end[-2]);
        bool before = n > 6 && !memcmp(end - 6, "-- <", 4);
        if ((!from || version >= end[-2] - '0') && (!before || version < end[-2] - '0'))
            buf_put(out, text, n);
    }
}

int older_check(struct store *s, int version, struct err *err)
{
    struct buf known = { 0 };
    if (version == ALIKE)
        return schema_check(s, newest_schema, err);
    put_lines(&known, older_sql, version);
    int rc = buf_check(&known, err) ?: schema_check(s, known.data, err);
    buf_free(&known);
    return rc;
}

/* Frees the SQL. */
static int run(struct store *s, struct buf *sql, struct err *err)
{
    int code = sqlite3_create_function(s->db, "pack", -1, SQLITE_UTF8 | SQLITE_INNOCUOUS, NULL, pack, NULL, NULL);
    code = code ?: sqlite3_create_function(s->db, "pack_rows", -1, SQLITE_UTF8 | SQLITE_INNOCUOUS, NULL, NULL, pack_row, pack_rows);
    code = code ?: sqlite3_create_function(s->db, "config_json", 2, SQLITE_UTF8 | SQLITE_INNOCUOUS, NULL, config_json, NULL, NULL);
    s->steps = 0;
    code = code ?: sql->failed ? SQLITE_NOMEM : sqlite3_exec(s->db, sql->data, NULL, NULL, NULL);
    buf_free(sql);
    return code ? store_failed(s, code, err) : 0;
}

/* The tables that look different now; the last one only to version 1. */
static const char *const changed[] = { "op", "measurement", "code", "tuned", "wanted" };

int older_read(struct store *s, int version, struct err *err)
{
    struct buf sql = { 0 };
    if (version == ALIKE)
        return 0;
    buf_str(&sql, "PRAGMA temp_store = MEMORY;");
    put_lines(&sql, older_views_sql, version);
    for (int i = 0; i < 4 + (version == 1); i++)
        buf_fmt(&sql, "CREATE TEMP VIEW %s AS SELECT * FROM newest_%s;", changed[i], changed[i]);
    s->older = version;
    return run(s, &sql, err);
}

int older_left(struct store *s, struct err *err)
{
    struct buf sql = { 0 };
    int64_t version = 0;
    int code = sql_number(s, "PRAGMA user_version", &version), older = s->older;
    if (code || version == older)
        return code ? store_failed(s, code, err) : 0;
    for (int i = 0; i < 5; i++)
        buf_fmt(&sql, "DROP VIEW IF EXISTS temp.%s;", changed[i]);
    s->older = 0;
    int rc = run(s, &sql, err) ?: schema_check(s, newest_schema, err);
    s->older = rc ? older : 0;
    return rc;
}

int older_migrate(struct store *s, int version, struct err *err)
{
    struct buf sql = { 0 };
    if (version == ALIKE) {
        buf_fmt(&sql, "PRAGMA user_version = %d", SCHEMA_VERSION);
        return run(s, &sql, err);
    }
    put_lines(&sql, older_views_sql, version);
    put_lines(&sql, older_migrate_sql, version);
    return run(s, &sql, err);
}
