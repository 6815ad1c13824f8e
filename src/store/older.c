/* Files of versions 1 to 3. They held a kernel in many tables, of which each row is put together here: as a file of the newest version
 * holds it, so that all else is read in one way. The same words serve to read such a file as it is, and to migrate it. */
#include "store/older.h"

#include <float.h>
#include <string.h>

#include "model/serial.h"
#include "older_sql.h"
#include "store/sql.h"

/* ---- the serial form (form 3 of src/model/op_serial.c, which stays readable) out of rows */

/* One list of the form: its rows, and for each column how it is written. The first column is the row's place, which counts from 0. */
struct older_part {
    const char *sql;                /* ?1: the op's or kernel's id; of an inner list, ?2: the place of the row that it belongs to */
    const char *columns;            /* s: text; b: a byte; n: 32 bits; v: a type and a value; i: the inner list */
    const struct older_part *inner; /* null: none */
    int most;                       /* rows */
    bool bare;                      /* no count is in front */
};

static const struct older_part axes = {
    "SELECT place, name, CASE kind WHEN 'size' THEN 0 WHEN 'stride' THEN 1 WHEN 'batch' THEN 2 WHEN "
    "'flag' THEN 3 END AS kind FROM main.op_axis WHERE op = ?1 ORDER BY place",
    "sb", NULL, MAX_AXES, false
};
static const struct older_part types = { "SELECT place, name FROM main.op_type WHERE op = ?1 ORDER BY place", "s", NULL, MAX_TYPES,
                                         false };
static const struct older_part rows = { "SELECT 0 AS place, count(DISTINCT line) AS lines FROM main.op_binding WHERE op = ?1", "n",
                                        NULL, 1, true };
static const struct older_part cells = {
    "SELECT line * (SELECT count(*) FROM main.op_type WHERE op = ?1) + type AS place, dtype FROM main.op_binding WHERE op = ?1 "
    "ORDER BY line, type",
    "s", NULL, MAX_MANY, true
};
static const struct older_part extents = { "SELECT place, extent FROM main.op_extent WHERE op = ?1 AND arg = ?2 ORDER BY place",
                                           "s", NULL, MAX_RANK, false };
static const struct older_part args = {
    "SELECT place, name, CASE kind WHEN 'input' THEN 0 WHEN 'output' THEN 1 WHEN 'inout' THEN 2 WHEN 'value' THEN 3 END AS kind, "
    "type, value, 0 AS fill, 0 AS partial FROM main.op_arg WHERE op = ?1 ORDER BY place",
    "sbsisbb", &extents, MAX_ARGS, false
};
static const struct older_part params = {
    "SELECT place, name, 1 AS n, CASE type WHEN 'bool' THEN 1 WHEN 'int' THEN 2 WHEN 'float' THEN 3 WHEN 'string' THEN 4 END AS "
    "type, value FROM main.tuned_param WHERE tuned = ?1 ORDER BY place",
    "snv", NULL, MAX_PARAMS, false
};
static const struct older_part where = { "SELECT place, text FROM main.tuned_where WHERE tuned = ?1 ORDER BY place", "s", NULL,
                                         MAX_MANY, false };
static const struct older_part launch_args = {
    "SELECT place, arg FROM main.tuned_launch_arg WHERE tuned = ?1 AND launch = ?2 ORDER BY place", "n", NULL, 2 * MAX_ARGS, false
};
static const struct older_part launches = { "SELECT place, kernel, grid_x, block_x, grid_y, block_y, grid_z, block_z, shared FROM "
                                            "main.tuned_launch WHERE tuned = ?1 ORDER BY place",
                                            "ssssssssi", &launch_args, MAX_LAUNCHES, false };
static const struct older_part workspaces = {
    "SELECT place, name, type, count, clear FROM main.tuned_workspace WHERE tuned = ?1 ORDER BY place", "sssb", NULL, MAX_ARGS,
    false
};
static const struct older_part needs = {
    "SELECT place, CASE kind WHEN 'align' THEN 0 WHEN 'noalias' THEN 1 END AS kind, arg, bytes FROM "
    "main.tuned_need WHERE tuned = ?1 ORDER BY place",
    "bns", NULL, MAX_MANY, false
};
static const struct older_part clear = { "SELECT place, arg FROM main.tuned_clear WHERE tuned = ?1 ORDER BY place", "n", NULL,
                                         MAX_ARGS, false };

/* Rows of inner lists whose outer row is gone: there may be none. */
static const struct older_part lost_extents = {
    "SELECT 0 AS place FROM main.op_extent WHERE op = ?1 AND arg NOT IN (SELECT place FROM "
    "main.op_arg WHERE op = ?1)",
    "", NULL, 0, true
};
static const struct older_part lost_launch_args = {
    "SELECT 0 AS place FROM main.tuned_launch_arg WHERE tuned = ?1 AND launch NOT IN "
    "(SELECT place FROM main.tuned_launch WHERE tuned = ?1)",
    "", NULL, 0, true
};

static int put_part(struct store *s, struct buf *out, const struct older_part *p, int64_t id, int64_t outer, struct err *err);

static void put_value_of(struct query *q, struct buf *out)
{
    struct serial io = { .out = out };
    struct val v = { .type = (enum val_type)col_int(q, VAL_BOOL, VAL_STR) };
    if (v.type == VAL_BOOL)
        v.b = col_bool(q);
    else if (v.type == VAL_INT)
        v.i = col_int(q, INT64_MIN, INT64_MAX);
    else if (v.type == VAL_FLOAT)
        v.f = col_real(q, -DBL_MAX, DBL_MAX);
    else
        v.s = col_text(q, MAX_NAME, 0);
    io_val(&io, &v);
}

static int put_row(struct query *q, struct buf *out, const struct older_part *p, int64_t id, int place, struct err *err)
{
    int rc = 0;
    col_int(q, place, place);
    for (const char *c = p->columns; !rc && *c; c++)
        if (*c == 's')
            buf_lstr(out, col_text(q, MAX_LINE, NULLABLE));
        else if (*c == 'b')
            buf_u8(out, (uint8_t)col_int(q, 0, UINT8_MAX));
        else if (*c == 'n')
            buf_u32(out, (uint32_t)col_int(q, 0, MAX_MANY));
        else if (*c == 'v')
            put_value_of(q, out);
        else
            rc = put_part(q->store, out, p->inner, id, place, err);
    return rc ?: query_check(q, err);
}

static void set_count(struct buf *out, size_t at, int n)
{
    for (int i = 0; i < 4 && !out->failed; i++)
        out->data[at + (size_t)i] = (char)(n >> 8 * i);
}

static int put_part(struct store *s, struct buf *out, const struct older_part *p, int64_t id, int64_t outer, struct err *err)
{
    struct query q;
    size_t at = out->len;
    int n = 0, rc = query_begin(&q, s, p->sql, err);
    if (rc)
        return rc;
    put_int(&q, id);
    if (strstr(p->sql, "?2"))
        put_int(&q, outer);
    if (!p->bare)
        buf_u32(out, 0);
    while ((rc = query_step(&q, err)) > 0) {
        rc = n == p->most || out->len > MAX_RECORD ? store_damaged(s, err, "more rows of one record than there can be")
                                                   : put_row(&q, out, p, id, n++, err);
        if (rc)
            break;
    }
    query_end(&q);
    if (!p->bare)
        set_count(out, at, n);
    return rc;
}

static int put_parts(struct store *s, struct buf *out, const struct older_part *const *parts, int n, int64_t id, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < n; i++)
        rc = put_part(s, out, parts[i], id, 0, err);
    return rc;
}

/* ---- the functions of the statements below */

/* Null for NULL; and for what is no text, which is damage. */
static const char *text_of(sqlite3_value *v, int *rc)
{
    bool none = sqlite3_value_type(v) == SQLITE_NULL;
    const char *s = sqlite3_value_type(v) == SQLITE_TEXT ? (const char *)sqlite3_value_text(v) : NULL;
    if (s && strlen(s) == (size_t)sqlite3_value_bytes(v))
        return s;
    if (!none && !*rc)
        *rc = ERR_CORRUPT;
    return NULL;
}

/* Gives the bytes; none for a record that is damaged, which costs that record. */
static void give(sqlite3_context *context, struct buf *out, int rc, const struct err *why)
{
    if (rc == ERR_NOMEM || (!rc && out->failed))
        sqlite3_result_error_nomem(context);
    else if (rc && rc != ERR_CORRUPT)
        sqlite3_result_error(context, why->msg, -1);
    else if (rc)
        sqlite3_result_zeroblob(context, 0);
    else
        sqlite3_result_blob64(context, out->data, out->len, SQLITE_TRANSIENT);
    buf_free(out);
}

/* What ends an op's bytes: no variants, and nothing that only tuning needs. */
static void put_end(struct buf *out)
{
    buf_u32(out, 0); /* defaults */
    buf_u32(out, 0); /* preludes */
    buf_u32(out, 0); /* includes */
}

enum { END = 12 };

/* older_interface(id, name, work_bytes, work_flops): what op.interface holds. */
static void older_interface(sqlite3_context *context, int n, sqlite3_value **v)
{
    static const struct older_part *const parts[] = { &axes, &types, &rows, &cells, &args, &lost_extents };
    struct buf out = { 0 };
    struct err why = { 0 };
    (void)n;
    int rc = 0;
    buf_str(&out, "cuo3");
    buf_lstr(&out, text_of(v[1], &rc));
    buf_lstr(&out, NULL); /* file */
    rc = rc ?: put_parts(sqlite3_user_data(context), &out, parts, 6, sqlite3_value_int64(v[0]), &why);
    buf_u32(&out, 0); /* shapes */
    buf_lstr(&out, text_of(v[2], &rc));
    buf_lstr(&out, text_of(v[3], &rc));
    for (int i = 0; i < 10; i++) /* the reference's name, text, kernel, grid, block and shared memory */
        buf_lstr(&out, NULL);
    buf_u32(&out, 0); /* its arguments */
    buf_u8(&out, 0);  /* check */
    buf_lstr(&out, NULL);
    buf_u32(&out, 0); /* variants */
    put_end(&out);
    give(context, &out, rc, &why);
}

/* older_kernel(id, interface, variant, requires_backend, _cc, _arch_specific, _grid_order, _grid_progress): what tuned.kernel holds. */
static void older_kernel(sqlite3_context *context, int n, sqlite3_value **v)
{
    static const struct older_part *const parts[] = { &params, &where, &launches, &lost_launch_args, &workspaces, &needs, &clear };
    struct buf out = { 0 };
    struct err why = { 0 };
    (void)n;
    const void *interface = sqlite3_value_blob(v[1]);
    size_t bytes = (size_t)sqlite3_value_bytes(v[1]);
    if (bytes < END + 4) {
        sqlite3_result_zeroblob(context, 0);
        return;
    }
    buf_put(&out, interface, bytes - END - 4);
    int rc = 0;
    buf_u32(&out, 1); /* variant */
    buf_lstr(&out, text_of(v[2], &rc));
    buf_lstr(&out, ""); /* its template's name and text */
    buf_lstr(&out, "");
    rc = rc ?: put_parts(sqlite3_user_data(context), &out, parts, 7, sqlite3_value_int64(v[0]), &why);
    buf_lstr(&out, text_of(v[3], &rc));
    buf_u32(&out, (uint32_t)sqlite3_value_int64(v[4]));
    for (int i = 5; i < 8; i++)
        buf_u8(&out, (uint8_t)sqlite3_value_int64(v[i]));
    put_end(&out);
    give(context, &out, rc, &why);
}

static bool is_listed(const char *names, const char *name, size_t n)
{
    for (const char *at = names; at && (at = strstr(at, name)); at++)
        if ((at == names || at[-1] == ',') && (at[n] == ',' || !at[n]))
            return true;
    return false;
}

/* Whether a value as val_print wrote it reads like a number or a truth value. */
static bool is_literal(const char *text)
{
    static const char digits[] = "0123456789";
    const char *at = text + (*text == '-');
    size_t n = strspn(at, digits);
    if (!strcmp(text, "true") || !strcmp(text, "false"))
        return true;
    if (!n || (*at == '0' && n > 1)) /* 007 is a word */
        return false;
    at += n;
    if (*at == '.') {
        if (!(n = strspn(at + 1, digits)))
            return false;
        at += 1 + n;
    }
    if (*at == 'e' && (at[1] == '+' || at[1] == '-')) {
        if (!(n = strspn(at + 2, digits)))
            return false;
        at += 2 + n;
    }
    return !*at;
}

/* older_config(config, names): "TILE=32,VEC=true" as JSON. A value that reads like a number or a truth value is one, but of the named
 * parameters, which are words. What is no such text stays as it is, and is damage. */
static void older_config(sqlite3_context *context, int n, sqlite3_value **v)
{
    int rc = 0;
    const char *config = text_of(v[0], &rc), *words = text_of(v[1], &rc);
    struct buf out = { 0 }, pair = { 0 };
    bool good = config;
    (void)n;
    buf_str(&out, "{");
    for (size_t m; good && *config; config += m + (config[m] == ',')) {
        m = strcspn(config, ",");
        buf_clear(&pair);
        buf_put(&pair, config, m);
        char *value = pair.failed ? NULL : strchr(buf_text(&pair), '=');
        good = value;
        if (!value)
            break;
        *value++ = 0;
        const char *quote = is_literal(value) && !is_listed(words, pair.data, strlen(pair.data)) ? "" : "\"";
        buf_fmt(&out, "%s\"%s\":%s%s%s", out.len > 1 ? "," : "", pair.data, quote, value, quote);
    }
    buf_str(&out, "}");
    if (out.failed || pair.failed)
        sqlite3_result_error_nomem(context);
    else if (good)
        sqlite3_result_text(context, out.data, -1, SQLITE_TRANSIENT);
    else
        sqlite3_result_value(context, v[0]);
    buf_free(&out);
    buf_free(&pair);
}

static int make_functions(struct store *s, struct err *err)
{
    static const struct {
        const char *name;
        int nargs;
        void (*call)(sqlite3_context *context, int n, sqlite3_value **v);
    } functions[] = { { "older_interface", 4, older_interface },
                      { "older_kernel", 8, older_kernel },
                      { "older_config", 2, older_config } };
    int code = 0;
    for (size_t i = 0; !code && i < sizeof functions / sizeof *functions; i++)
        code = sqlite3_create_function_v2(s->db, functions[i].name, functions[i].nargs, SQLITE_UTF8 | SQLITE_INNOCUOUS, s,
                                          functions[i].call, NULL, NULL, NULL);
    return code ? store_failed(s, code, err) : 0;
}

/* ---- each table as the newest version has it */

enum { NTABLES = 8 };

#define WORDS(op)  "(SELECT group_concat(name) FROM temp.older_words AS w WHERE w.op = " op " AND w.variant = t.variant)"
#define OF_PROBLEM "(SELECT p.op FROM main.%1$sproblem AS p WHERE p.id = t.problem)"
#define OP(contract, variants)                                                                                                     \
    "SELECT id, name, hash, current, " contract " AS contract, " variants " AS variants, older_interface(id, name, work_bytes, "   \
    "work_flops) AS interface FROM main.%1$sop AS t"
#define MEASUREMENT(made)                                                                                                          \
    "SELECT id, device, problem, cache, key, protocol, provenance, variant, older_config(config, " WORDS(                          \
        OF_PROBLEM) ") AS "                                                                                                        \
                    "config, outcome, reason, n, median, min, max, mean, stddev, ci_low, ci_high, samples, compile_ms, "           \
                    "registers, shared, local, "                                                                                   \
                    "max_threads, sm_mhz, mem_mhz, created, " made " AS made FROM main.%1$smeasurement AS t"
#define TUNED(verified)                                                                                                            \
    "SELECT id, role, device, problem, cache, op, types, backend, rank, key, variant, older_config(config, " WORDS(                \
        "coalesce(t.op, " OF_PROBLEM                                                                                               \
        ")") ") AS config, time_ns, copy_ns, code, provenance, created, " verified " AS verified, "                                \
             "older_kernel(id, (SELECT older_interface(o.id, o.name, o.work_bytes, o.work_flops) FROM main.%1$sop AS o WHERE "     \
             "o.id = "                                                                                                             \
             "coalesce(t.op, " OF_PROBLEM                                                                                          \
             ")), variant, requires_backend, requires_cc, requires_arch_specific, requires_grid_order, "                           \
             "requires_grid_progress) AS kernel FROM main.%1$stuned AS t"

/* By the version that a file is of, from 1. `%1$s` is before the name of a table that has been renamed. Parents are before their
 * children; what is last came last. */
static const struct {
    const char *table, *as[3];
} tables[NTABLES] = {
    { "device", { "SELECT * FROM main.%1$sdevice", "SELECT * FROM main.%1$sdevice", "SELECT * FROM main.%1$sdevice" } },
    { "provenance",
      { "SELECT * FROM main.%1$sprovenance", "SELECT * FROM main.%1$sprovenance", "SELECT * FROM main.%1$sprovenance" } },
    { "op",
      { OP("NULL", "NULL"), OP("NULL", "NULL"),
        OP("contract",
           "(SELECT '{' || group_concat('\"' || v.name || '\":\"' || v.made || '\"') || '}' FROM main.op_variant AS v WHERE v.op = "
           "t.id)") } },
    { "problem", { "SELECT * FROM main.%1$sproblem", "SELECT * FROM main.%1$sproblem", "SELECT * FROM main.%1$sproblem" } },
    { "measurement", { MEASUREMENT("NULL"), MEASUREMENT("NULL"), MEASUREMENT("made") } },
    { "code", { "SELECT *, NULL AS portable FROM main.%1$scode", "SELECT * FROM main.%1$scode", "SELECT * FROM main.%1$scode" } },
    { "tuned", { TUNED("1"), TUNED("verified"), TUNED("verified") } },
    { "wanted",
      { "SELECT 0 AS device, '' AS op, '' AS types, '' AS sizes, 1 AS count, 0.0 AS time_ns, '' AS last WHERE 0",
        "SELECT * FROM main.%1$swanted", "SELECT * FROM main.%1$swanted" } },
};

/* Which parameters are words, though their values may read like numbers. */
static const char words[] =
    "CREATE TEMP TABLE older_words (op, variant, name, PRIMARY KEY (op, variant, name)) WITHOUT ROWID;"
    "INSERT OR IGNORE INTO temp.older_words SELECT coalesce(t.op, p.op, 0), t.variant, w.name FROM main.tuned_param AS w JOIN "
    "main.tuned AS t ON t.id = w.tuned LEFT JOIN main.problem AS p ON p.id = t.problem WHERE w.type = 'string';";

static void put_select(struct buf *sql, const char *before, int table, int version, const char *prefix)
{
    buf_fmt(sql, "%s %s%s", before, tables[table].table, *prefix ? " " : " AS ");
    for (const char *at = tables[table].as[version - 1], *mark; *at; at = mark) {
        mark = strstr(at, "%1$s");
        buf_put(sql, at, mark ? (size_t)(mark - at) : strlen(at));
        if (!mark)
            break;
        buf_str(sql, prefix);
        mark += 4;
    }
    buf_str(sql, ";");
}

/* Unless rc says that something has failed. */
static int run(struct store *s, struct buf *sql, int rc, struct err *err)
{
    s->steps = 0;
    int code = rc ? 0 : sql->failed ? SQLITE_NOMEM : sqlite3_exec(s->db, sql->data, NULL, NULL, NULL);
    buf_free(sql);
    return code ? store_failed(s, code, err) : rc;
}

int older_read(struct store *s, int version, struct err *err)
{
    struct buf sql = { 0 };
    buf_str(&sql, "PRAGMA temp_store = MEMORY;");
    buf_str(&sql, words);
    for (int i = 0; i < NTABLES; i++)
        put_select(&sql, "CREATE TEMP VIEW", i, version, "");
    s->older = version;
    return run(s, &sql, make_functions(s, err), err);
}

int older_migrate(struct store *s, int version, struct err *err)
{
    static const char *const gone[] = { "op_axis",     "op_type",          "op_binding",   "op_extent",   "op_arg",
                                        "tuned_param", "tuned_launch_arg", "tuned_launch", "tuned_where", "tuned_workspace",
                                        "tuned_need",  "tuned_clear",      "op_variant" };
    struct buf sql = { 0 };
    int ntables = NTABLES - (version < 2), ngone = (int)(sizeof gone / sizeof *gone) - (version < 3);
    buf_str(&sql, words);
    buf_str(&sql, "DROP INDEX op_current; DROP INDEX tuned_code;");
    for (int i = 0; i < ntables; i++)
        buf_fmt(&sql, "ALTER TABLE %s RENAME TO older_%s;", tables[i].table, tables[i].table);
    buf_str(&sql, newest_schema);
    for (int i = 0; i < NTABLES; i++)
        put_select(&sql, "INSERT INTO main.", i, version, "older_");
    for (int i = 0; i < ngone; i++)
        buf_fmt(&sql, "DROP TABLE %s;", gone[i]);
    for (int i = ntables; i-- > 0;)
        buf_fmt(&sql, "DROP TABLE older_%s;", tables[i].table);
    buf_str(&sql, "DROP TABLE temp.older_words;");
    return run(s, &sql, make_functions(s, err), err);
}

int older_left(struct store *s, struct err *err)
{
    struct buf sql = { 0 };
    int64_t version = 0;
    int code = sql_number(s, "PRAGMA user_version", &version), older = s->older;
    if (code || version == older)
        return code ? store_failed(s, code, err) : 0;
    for (int i = 0; i < NTABLES; i++)
        buf_fmt(&sql, "DROP VIEW IF EXISTS temp.%s;", tables[i].table);
    int rc = run(s, &sql, 0, err);
    s->older = 0;
    rc = rc ?: schema_check(s, newest_schema, err);
    s->older = rc ? older : 0;
    return rc;
}

/* ---- whether a file is what it says */

int older_check(struct store *s, int version, struct err *err)
{
    struct buf known = { 0 };
    for (const char *at = older_sql, *end; *at; at = end) {
        end = at + strcspn(at, "\n");
        end += *end == '\n';
        bool later = end - at > 5 && !memcmp(end - 5, "-- ", 3) && end[-2] > '0' + version; /* the line is of a later version */
        if (!later)
            buf_put(&known, at, (size_t)(end - at));
    }
    int rc = known.failed ? err_nomem(err) : schema_check(s, known.data, err);
    buf_free(&known);
    return rc;
}
