/* Tuned kernels in the database. What is read is checked, for the file may come from anywhere. */
#include <string.h>

#include "base/hash.h"
#include "model/kernel.h"
#include "model/objective.h"
#include "store/sql.h"

/* ---- written */

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
    return hash_buf(&b, 0, hash, err);
}

static int save_code(struct store *s, const struct tuned *t, int64_t *id, struct err *err)
{
    char hash[HASH_HEX];
    int rc = code_hash(t, hash, err) ?: sql_run(s, err, "SELECT id FROM code WHERE hash = ?", "t:i", hash, id);
    if (rc != ERR_NOTFOUND)
        return rc;
    return sql_run(s, err,
                   "INSERT INTO code (hash, source, binary, format, arch, compiler, portable) VALUES (?, ?, ?, ?, ?, ?, ?) "
                   "RETURNING id",
                   "tsbttls:i", hash, t->source, t->binary, t->binary_bytes, t->format, t->arch, t->compiler, t->portable, id);
}

int code_prune(struct store *s, struct err *err)
{
    return sql_run(s, err, "DELETE FROM code WHERE NOT EXISTS (SELECT 1 FROM tuned WHERE tuned.code = code.id)", "");
}

/* A winner has a target; a default an op, types and a backend. It takes the place of the one there. */
static int save(struct store *s, const struct target *winner, int64_t op, const char *types, const char *backend,
                const struct tuned *t, struct err *err)
{
    static const char insert[] =
        "INSERT OR REPLACE INTO tuned (role, device, problem, cache, provenance, op, types, backend, rank, key, variant, config, "
        "time_ns, copy_ns, code, verified, kernel, created) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
        "iif(?1 = 'default', ?9, NULL), ?, ?, ?, ?, ?, ?, ?, ?, " NOW ")";
    struct buf kernel = { 0 };
    int64_t code;
    op_put(&kernel, t->op);
    int rc = buf_check(&kernel, err) ?: save_code(s, t, &code, err);
    if (!rc)
        rc = sql_run(s, err, insert, "tToottntttrrinb", winner ? "winner" : "default", winner, winner ? winner->provenance : 0, op,
                     types, backend, t->rank, t->key, t->variant, t->json, t->time_ns, t->copy_ns, code,
                     t->unverified ? UNVERIFIED : t->alone ? VERIFIED_ALONE : VERIFIED, kernel.data, kernel.len);
    buf_free(&kernel);
    return rc ?: code_prune(s, err); /* the replaced kernel's */
}

int store_winner(struct store *s, const struct target *t, const struct tuned *k, struct err *err)
{
    return write_end(s, write_begin(s, err) ?: save(s, t, 0, NULL, NULL, k, err), err);
}

int store_default(struct store *s, const struct devspec *dev, const struct op *op, int row, const struct tuned *k, struct err *err)
{
    static const char drop[] =
        "DELETE FROM tuned WHERE op = ? AND types = ? AND backend = ? AND rank >= ?"; /* not in its list any more */
    struct buf types = { 0 };
    int64_t id;
    op_row_print(&types, op, row);
    int rc = buf_check(&types, err) ?: write_begin(s, err) ?: op_save(s, op, NULL, &id, err);
    rc = rc ?: sql_run(s, err, drop, "ittn", id, buf_text(&types), dev->backend, op->ndefaults);
    rc = write_end(s, rc ?: save(s, NULL, id, buf_text(&types), dev->backend, k, err), err);
    buf_free(&types);
    return rc;
}

int store_unpin(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *problem, struct err *err)
{
    static const char find[] =
        "SELECT tuned.id FROM tuned JOIN problem ON problem.id = tuned.problem JOIN op ON op.id = problem.op "
        "WHERE tuned.device = (SELECT id FROM device WHERE " IS_DEVICE ") AND op.name = ? AND problem.types = ? "
        "AND problem.sizes = ? AND tuned.cache = '" AS_PINNED "' LIMIT 1";
    int64_t id;
    int rc = write_begin(s, err), n = 0;
    while (!rc && !(rc = sql_run(s, err, find, "dttt:i", dev, op, types, problem, &id))) {
        rc = sql_run(s, err, "DELETE FROM tuned WHERE id = ?", "i", id);
        n++;
    }
    if (rc == ERR_NOTFOUND)
        rc = n ? code_prune(s, err)
               : err_set(err, rc, "%s: nothing is pinned for %s %s %s on %s", s->path, op, types, problem, dev->name);
    return write_end(s, rc, err);
}

int store_kept_winner(struct store *s, const struct target *t, struct kept_winner *out, struct buf *config, struct err *err)
{
    struct query q;
    struct buf text = { 0 };
    const char *variant, *json;
    int verified = 0;
    query_begin(&q, s, err,
                "SELECT key, copy_ns, verified, variant, config FROM tuned WHERE device = ? AND problem = ? AND cache = ? AND " IS_VERIFIED, "T",
                t);
    if (!query_step(&q))
        q.rc = q.rc ?: err_set(err, ERR_NOTFOUND, "%s: no winner yet", s->path);
    else if (query_take(&q, "krnpc", out->key, &out->copy_ns, &verified, &variant, &text, &json))
        buf_fmt(config, "variant=%s%s%s", variant, text.len ? "," : "", buf_text(&text));
    out->alone = verified == VERIFIED_ALONE;
    buf_free(&text);
    return query_end(&q);
}

/* Of a kernel's bytes; if they are damaged it is unknown. */
static void print_objective(struct buf *out, const void *bytes, size_t n)
{
    struct op *kernel;
    struct objective by;
    if (n > MAX_RECORD || kernel_get(bytes, n, &kernel, NULL))
        return;
    if (!objective_find(kernel, NULL, &by, NULL))
        objective_print(out, kernel, &by);
    op_free(kernel);
}

int store_winner_objective(struct store *s, const struct target *t, struct buf *out, struct err *err)
{
    struct query q;
    const void *bytes;
    size_t n;
    query_begin(&q, s, err, "SELECT kernel FROM tuned WHERE device = ? AND problem = ? AND cache = ? AND " IS_VERIFIED, "T", t);
    if (query_step(&q) && query_take(&q, "b", &bytes, &n))
        print_objective(out, bytes, n);
    return query_end(&q);
}

/* ---- read */

/* What take_tuned takes, with code or without. */
#define RECORD                                                                                                                     \
    "SELECT kernel, tuned.id, CASE role WHEN 'winner' THEN 0 WHEN 'default' THEN 1 END AS role, coalesce(rank, 0) AS rank, key, "  \
    "variant, config, time_ns, copy_ns, verified, created, coalesce(tuned.cache = '" AS_PINNED "', 0) AS pinned"
#define WITH_CODE RECORD ", source, binary, format, arch, compiler, portable FROM tuned LEFT JOIN code ON code.id = tuned.code "
#define WITHOUT_CODE RECORD " FROM tuned "

/* The kernel's own bytes come first: the rest of the record lies beside it. The columns are what people see; the kernel's own values are
 * what it runs with. */
static int take_tuned(struct query *q, bool with_code, struct tuned **out)
{
    struct op *kernel = NULL;
    struct tuned *t;
    struct buf config = { 0 };
    struct err why = { 0 };
    const void *bytes;
    size_t n;
    int role, verified;
    if (!query_take(q, "b", &bytes, &n))
        return q->rc;
    if (n > MAX_RECORD)
        return query_damaged(q, "kernel");
    int rc = kernel_get(bytes, n, &kernel, &why);
    if (rc)
        return rc == ERR_NOMEM ? err_nomem(q->err) : store_damaged(q->store, q->err, "a kernel: %s", why.msg);
    rc = tuned_on(kernel, &t, q->err);
    if (rc)
        return rc;
    q->arena = kernel->arena;
    query_take(q, "innkpcrrnaf", &t->id, &role, &t->rank, t->key, &t->variant, &config, &t->json, &t->time_ns, &t->copy_ns, &verified,
               &t->when, &t->pinned);
    if (with_code)
        query_take(q, "sbPWTS", &t->source, &t->binary, &t->binary_bytes, &t->format, &t->arch, &t->compiler, &t->portable);
    q->arena = NULL;
    t->config = arena_strdup(kernel->arena, buf_text(&config));
    buf_free(&config);
    q->rc = q->rc ?: t->config ? 0 : err_nomem(q->err);
    t->role = (enum tuned_role)role;
    t->unverified = verified == UNVERIFIED;
    t->alone = verified == VERIFIED_ALONE;
    t->bytes = n + t->binary_bytes + strlen(t->source ?: "") + strlen(t->portable ?: "");
    if (t->rank >= MAX_OP_DEFAULTS)
        query_damaged(q, "rank");
    if (verified > (t->role == TUNED_WINNER ? VERIFIED_ALONE : VERIFIED))
        query_damaged(q, "verified");
    if (t->binary && !t->format)
        query_damaged(q, "format");
    if (q->rc)
        tuned_free(t);
    else
        *out = t;
    return q->rc;
}

int store_tuned(struct store *s, int64_t id, struct tuned **out, struct err *err)
{
    struct query q;
    query_begin(&q, s, err, WITH_CODE "WHERE tuned.id = ?", "i", id);
    if (query_step(&q))
        q.rc = take_tuned(&q, true, out);
    else
        q.rc = q.rc ?: err_set(err, ERR_NOTFOUND, "%s: kernel %lld is no longer there", s->path, (long long)id);
    return query_end(&q);
}

#define OF_PROBLEM                                                                                                                 \
    "WHERE tuned.device = (SELECT id FROM device WHERE " IS_DEVICE ") AND tuned.problem = (SELECT problem.id "                     \
    "FROM op CROSS JOIN problem ON problem.op = op.id WHERE op.name = ? AND op.current = 1 AND problem.types = ? "                 \
    "AND problem.sizes = ?) AND tuned." IS_VERIFIED " ORDER BY tuned.cache LIMIT 1" /* pinned, cold, warm: as the index has them */

int store_find_winner(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *problem,
                      struct tuned **out, struct err *err)
{
    struct query q;
    query_ask(&q, s, err, WITH_CODE OF_PROBLEM, "dttt", dev, op, types, problem);
    if (query_step(&q))
        q.rc = take_tuned(&q, true, out);
    else
        q.rc = q.rc ?: err_set(err, ERR_NOTFOUND, "%s: no tuned record of %s %s %s on %s", s->path, op, types, problem, dev->name);
    return query_end(&q);
}

int store_failed_for(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *problem,
                     const char *variant, const char *json, bool *failed, struct err *err)
{
    return sql_run(s, err,
                   "SELECT EXISTS (SELECT 1 FROM op JOIN problem ON problem.op = op.id JOIN measurement AS m ON m.problem = problem.id "
                   "WHERE op.name = ?7 AND op.current = 1 AND problem.types = ?8 AND problem.sizes = ?9 "
                   "AND m.device = (SELECT id FROM device WHERE " IS_DEVICE ") AND m.protocol = ?10 AND m.variant = ?11 "
                   "AND m.config = ?12 AND m.outcome IN (" FAILED ") AND " IS_OF_NOW ") AS failed",
                   "dtttntt:f", dev, op, types, problem, PROTOCOL, variant, json, failed);
}

/* A damaged one costs itself only: it is counted and left out. In the order of the index: by RECORD's own `rank` all would be sorted first. */
int store_each_default(struct store *s, const char *backend, const char *op, const char *types, int from,
                       int (*each)(void *arg, struct tuned *t), void *arg, struct err *err)
{
    struct query q;
    struct err why = { 0 };
    int told = 0;
    query_begin(&q, s, &why,
                WITHOUT_CODE "WHERE tuned.op = (SELECT id FROM op WHERE name = ? AND current = 1) AND tuned.types = ? "
                             "AND tuned.backend = ? AND tuned.rank >= ? AND tuned.verified <> 0 ORDER BY tuned.rank",
                "tttn", op, types, backend, from);
    while (!told && query_step(&q)) {
        struct tuned *t = NULL;
        q.rc = take_tuned(&q, false, &t);
        if (q.rc == ERR_CORRUPT) {
            s->left_out++;
            q.rc = 0;
        } else if (!q.rc) {
            told = each(arg, t);
        }
    }
    int rc = query_end(&q);
    return rc ? err_set(err, rc, "%s", why.msg) : told;
}
