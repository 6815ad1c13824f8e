/* Tuned kernels in the database. What is read is checked, for the file may come from anywhere. */
#include <string.h>

#include "base/hash.h"
#include "model/kernel.h"
#include "store/sql.h"

/* ---- written */

/* Whose kernel it is: a winner's device, problem and provenance, or a default's op, types and backend. The others stay 0 and null. */
struct owner {
    int64_t device, problem, provenance, op;
    const char *cache, *types, *backend;
    int rank;
};

static int code_hash(const struct tuned *t, char hash[HASH_HEX], struct err *err)
{
    struct buf b = { 0 };
    buf_lstr(&b, t->source);
    buf_bytes(&b, t->binary ? t->binary : "", t->binary ? t->binary_bytes : 0);
    buf_lstr(&b, t->format);
    buf_lstr(&b, t->arch);
    buf_lstr(&b, t->compiler);
    if (t->portable) /* without it, as version 1 had it */
        buf_lstr(&b, t->portable);
    int rc = buf_check(&b, err);
    if (!rc)
        hash_hex(b.data, b.len, hash);
    buf_free(&b);
    return rc;
}

static int save_code(struct store *s, const struct tuned *t, int64_t *id, struct err *err)
{
    char hash[HASH_HEX];
    struct query q;
    int rc =
        code_hash(t, hash, err)
            ?: query_begin(&q, s,
                           "INSERT INTO code (hash, source, binary, format, arch, compiler, portable) VALUES (?, ?, ?, ?, ?, ?, ?) "
                           "ON CONFLICT DO NOTHING",
                           err);
    if (rc)
        return rc;
    put_text(&q, hash);
    put_text(&q, t->source);
    put_blob(&q, t->binary, t->binary ? t->binary_bytes : 0);
    put_text(&q, t->format);
    put_text(&q, t->arch);
    put_line(&q, t->compiler);
    put_text(&q, t->portable);
    return query_run(&q, err) ?: sql_id(s, id, err, "SELECT id FROM code WHERE hash = ?", "t", hash);
}

int code_prune(struct store *s, struct err *err)
{
    return sql_run(s, err, "DELETE FROM code WHERE NOT EXISTS (SELECT 1 FROM tuned WHERE tuned.code = code.id)", "");
}

static int save_row(struct store *s, const struct owner *o, const struct tuned *t, int64_t code, const struct buf *kernel,
                    struct err *err)
{
    struct query q;
    int rc =
        query_begin(&q, s,
                    "INSERT INTO tuned (role, device, problem, cache, op, types, backend, rank, key, variant, config, time_ns, "
                    "copy_ns, code, provenance, verified, kernel, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                    "?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))",
                    err);
    if (rc)
        return rc;
    put_text(&q, o->op ? "default" : "winner");
    put_id(&q, o->device);
    put_id(&q, o->problem);
    put_text(&q, o->cache);
    put_id(&q, o->op);
    put_text(&q, o->types);
    put_text(&q, o->backend);
    if (o->op)
        put_int(&q, o->rank);
    else
        put_id(&q, 0);
    put_text(&q, t->key);
    put_text(&q, t->variant);
    put_text(&q, t->json);
    put_real(&q, t->time_ns);
    put_real(&q, t->copy_ns);
    put_int(&q, code);
    put_id(&q, o->provenance);
    put_int(&q, !t->unverified);
    put_blob(&q, kernel->data, kernel->len);
    return query_run(&q, err);
}

static int save(struct store *s, const struct owner *o, const struct tuned *t, struct err *err)
{
    struct buf kernel = { 0 };
    int64_t code;
    op_put(&kernel, t->op);
    int rc = (kernel.failed ? err_nomem(err) : save_code(s, t, &code, err)) ?: save_row(s, o, t, code, &kernel, err);
    buf_free(&kernel);
    return rc ? rc : code_prune(s, err); /* the replaced kernel's */
}

static int drop_winner(struct store *s, const struct owner *o, struct err *err)
{
    return sql_run(s, err, "DELETE FROM tuned WHERE device = ? AND problem = ? AND cache = ?", "iit", o->device, o->problem,
                   o->cache);
}

int store_winner(struct store *s, const struct target *t, const struct tuned *k, struct err *err)
{
    const struct owner o = {
        .device = t->device, .problem = t->problem, .provenance = t->provenance, .cache = t->cold ? "cold" : "warm"
    };
    int rc = write_begin(s, err);
    if (rc)
        return rc;
    rc = drop_winner(s, &o, err) ?: save(s, &o, k, err);
    return write_end(s, rc, err);
}

/* The one of this rank, and those that the op's list no longer has. */
static int drop_defaults(struct store *s, const struct owner *o, int ndefaults, struct err *err)
{
    return sql_run(s, err, "DELETE FROM tuned WHERE op = ? AND types = ? AND backend = ? AND (rank = ? OR rank >= ?)", "ittii",
                   o->op, o->types, o->backend, (int64_t)o->rank, (int64_t)ndefaults);
}

int store_default(struct store *s, const struct devspec *dev, const struct op *op, int row, const struct tuned *k, struct err *err)
{
    struct buf types = { 0 };
    op_row_print(&types, op, row);
    struct owner o = { .types = buf_text(&types), .backend = dev->backend, .rank = k->rank };
    int rc = types.failed ? err_nomem(err) : write_begin(s, err);
    if (!rc) {
        rc = op_save(s, op, &o.op, err) ?: drop_defaults(s, &o, op->ndefaults, err) ?: save(s, &o, k, err);
        rc = write_end(s, rc, err);
    }
    buf_free(&types);
    return rc;
}

/* ---- read */

static void take_binary(struct query *q, struct tuned *t)
{
    size_t n;
    const void *blob = col_blob(q, MAX_BINARY, &n);
    if (!n)
        return;
    void *copy = arena_alloc(t->op->arena, n);
    q->nomem = q->nomem || !copy;
    if (copy)
        memcpy(copy, blob, n);
    t->binary = copy;
    t->binary_bytes = n;
}

/* The columns are what people see; the kernel's own values are what it runs with. */
static void take_config(struct query *q, struct tuned *t)
{
    struct buf config = { 0 };
    t->json = copy_text(q, t->op->arena, MAX_LINE, 0);
    if (!config_of_json(&config, t->json ? t->json : ""))
        query_bad(q, "config");
    t->config = arena_strdup(t->op->arena, buf_text(&config));
    q->nomem = q->nomem || config.failed || !t->config;
    buf_free(&config);
}

/* The kernel's own bytes come first: the rest of the record lies beside it. */
static int take_kernel(struct query *q, struct tuned **out, struct err *err)
{
    struct err why = { 0 };
    struct op *kernel = NULL;
    size_t n;
    const void *bytes = col_blob(q, MAX_RECORD, &n);
    int rc = query_check(q, err);
    if (!rc && (rc = kernel_get(bytes, n, &kernel, &why)))
        rc = rc == ERR_NOMEM ? err_nomem(err) : store_damaged(q->store, err, "a kernel: %s", why.msg);
    rc = rc ?: tuned_on(kernel, out, err);
    if (!rc)
        (*out)->bytes = n;
    return rc;
}

int tuned_take(struct query *q, struct tuned **out, struct err *err)
{
    static const char *const roles[] = { "winner", "default", NULL };
    struct tuned *t = NULL;
    int rc = take_kernel(q, &t, err);
    if (rc)
        return rc;
    struct arena *a = t->op->arena;
    t->role = (enum tuned_role)col_word(q, roles);
    t->rank = (int)col_int(q, 0, MAX_DEFAULTS - 1);
    col_key(q, t->key);
    t->variant = arena_strdup(a, col_name(q));
    take_config(q, t);
    q->nomem = q->nomem || !t->variant;
    t->time_ns = col_real(q, 0, TIME_MAX);
    t->copy_ns = col_real(q, 0, TIME_MAX);
    t->unverified = !col_bool(q);
    t->when = copy_text(q, a, MAX_NAME, 0);
    t->source = copy_text(q, a, MAX_SOURCE, MANY_LINES);
    take_binary(q, t);
    t->format = copy_text(q, a, MAX_NAME, t->binary ? 0 : NULLABLE);
    t->arch = copy_text(q, a, MAX_NAME, NULLABLE);
    t->compiler = copy_text(q, a, MAX_LINE, NULLABLE);
    t->portable = copy_text(q, a, MAX_SOURCE, NULLABLE | MANY_LINES);
    if (t->format && !name_ok(t->format)) /* a backend's word */
        query_bad(q, "format");
    if (t->when && strlen(t->when) != strlen("2026-01-01T00:00:00Z"))
        query_bad(q, "created");
    rc = query_check(q, err);
    if (rc)
        tuned_free(t);
    else
        *out = t;
    return rc;
}

int store_tuned(struct store *s, int64_t id, struct tuned **out, struct err *err)
{
    struct query q;
    int rc =
        query_begin(&q, s, "SELECT " TUNED_COLUMNS "FROM tuned LEFT JOIN code ON code.id = tuned.code WHERE tuned.id = ?", err);
    if (rc)
        return rc;
    put_int(&q, id);
    rc = query_step(&q, err);
    if (rc > 0)
        rc = tuned_take(&q, out, err);
    else if (!rc)
        rc = err_set(err, ERR_NOTFOUND, "%s: kernel %lld is no longer there", s->path, (long long)id);
    query_end(&q);
    return rc;
}
