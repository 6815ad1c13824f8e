/* Ops: their interface, as a caller of their kernels has to know it, and their contract, against which those were proved. */
#include <string.h>

#include "base/hash.h"
#include "model/kernel.h"
#include "model/plan.h"
#include "store/sql.h"

static void put_interface(struct buf *b, const struct op *op)
{
    static const char *const axis_words[] = { "size", "stride", "batch", "flag" };
    static const char *const arg_words[] = { "input", "output", "inout", "value", "scalar" };
    for (int i = 0; i < op->naxes; i++) {
        buf_lstr(b, op->axes[i].name);
        buf_lstr(b, axis_words[op->axes[i].kind]);
        if (op->axes[i].preset) /* a problem's text leaves it out */
            buf_lstr(b, op->axes[i].preset);
    }
    buf_str(b, "types");
    for (int i = 0; i < op->ntypes; i++)
        buf_lstr(b, op->types[i]);
    buf_str(b, "args");
    for (int i = 0; i < op->nargs; i++) {
        const struct arg *a = &op->args[i];
        buf_lstr(b, a->name);
        buf_lstr(b, arg_words[a->kind]);
        buf_lstr(b, arg_type(a));
        buf_lstr(b, a->kind == ARG_SCALAR ? NULL : a->value);
        buf_u32(b, (uint32_t)a->rank);
        for (int d = 0; d < a->rank; d++)
            buf_lstr(b, a->extent[d]);
    }
}

/* An op's row is found by this hash of its interface and its contract: when either changes, earlier records are stale. It is what it was
 * in version 1, so that older rows are found again. They have no contract, "", and then it is the interface's hash. */
static int identity(const struct op *op, const char *contract, char hash[HASH_HEX], struct err *err)
{
    struct buf b = { 0 };
    put_interface(&b, op);
    hash_hex(buf_text(&b), b.len, hash);
    if (*contract && !b.failed) {
        buf_clear(&b);
        buf_lstr(&b, hash);
        buf_lstr(&b, contract);
    }
    return hash_buf(&b, 0, hash, err);
}

/* What each variant was made of, as JSON; nothing for an op without variants. One that the op no longer has is not in it, so what was
 * measured of that is stale. */
static int list_variants(const struct op *op, struct buf *out, struct err *err)
{
    char made[HASH_HEX];
    int rc = 0;
    if (!op->nvariants)
        return 0;
    buf_str(out, "{");
    for (int i = 0; !rc && i < op->nvariants; i++) {
        rc = variant_made(op, &op->variants[i], made, err);
        buf_fmt(out, "%s\"%s\":\"%s\"", i ? "," : "", op->variants[i].name, rc ? "" : made);
    }
    buf_str(out, "}");
    return rc;
}

/* What of the op's current row is stale once the op is this one. */
static int count_outdated(struct store *s, const char *name, const char *hash, const char *variants, struct outdated *out,
                          struct err *err)
{
    static const char count[] =
        "SELECT op.hash <> ?2 AS other, (SELECT count(*) FROM problem JOIN measurement AS m ON m.problem = problem.id WHERE "
        "problem.op = op.id AND m.protocol = ?4 AND " IS_OF_NOW " AND (op.hash <> ?2 OR NOT " IS_OF("m", "?3") ")) AS results, "
        "(SELECT count(*) FROM problem JOIN tuned ON tuned.problem = problem.id WHERE problem.op = op.id AND op.hash <> ?2 AND "
        "tuned." IS_VERIFIED ") AS winners FROM op WHERE op.name = ?1 AND op.current = 1 AND (op.hash <> ?2 OR op.variants IS NOT ?3)";
    int rc = sql_run(s, err, count, "tttn:fjj", name, hash, variants, PROTOCOL, &out->other, &out->results, &out->winners);
    if (rc == ERR_NOTFOUND && err)
        *err = (struct err){ 0 };
    return rc == ERR_NOTFOUND ? 0 : rc;
}

/* Makes the op's row the current one of its name, unless its contract is a reference beside the op's own. What may change without making
 * all records stale is replaced: how work is counted, which types there are, and the variants. */
int op_save(struct store *s, const struct op *op, struct outdated *out, int64_t *id, struct err *err)
{
    static const char insert[] =
        "INSERT INTO op (name, hash, contract, current, interface, variants) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name, hash) "
        "DO UPDATE SET current = max(current, excluded.current), interface = excluded.interface, variants = excluded.variants "
        "RETURNING id";
    char contract[HASH_HEX], hash[HASH_HEX];
    struct buf interface = { 0 }, variants = { 0 };
    interface_put(&interface, op);
    int rc = op_contract(op, contract, err) ?: identity(op, contract, hash, err) ?: list_variants(op, &variants, err);
    rc = rc ?: buf_check(&interface, err) ?: buf_check(&variants, err);
    if (out && !op->outside_beside)
        rc = rc ?: count_outdated(s, op->name, hash, variants.data, out, err);
    if (!op->outside_beside)
        rc = rc ?: sql_run(s, err, "UPDATE op SET current = 0 WHERE name = ? AND hash != ? AND current = 1", "tt", op->name, hash);
    rc = rc
             ?: sql_run(s, err, insert, "tttnbt:i", op->name, hash, contract, !op->outside_beside, interface.data, interface.len,
                        variants.data, id);
    buf_free(&interface);
    buf_free(&variants);
    return rc;
}

/* ---- read back: everything is checked, for the file may come from anywhere */

/* Its expressions have to compile. */
static int check_plan(const struct op *op, struct err *err)
{
    struct plan *plan = NULL;
    int rc = plan_new(op, -1, &plan, err);
    plan_free(plan);
    return rc;
}

static int take_op(struct query *q, const char *name, struct op **out)
{
    char contract[HASH_HEX];
    struct err why = { 0 };
    const void *bytes;
    size_t n;
    if (!query_take(q, "Kb", contract, &bytes, &n))
        return q->rc;
    if (n > MAX_RECORD)
        return query_damaged(q, "interface");
    int rc = interface_get(bytes, n, out, &why) ?: check_plan(*out, &why);
    if (rc)
        return rc == ERR_NOMEM ? err_nomem(q->err) : store_damaged(q->store, q->err, "op %s: %s", name, why.msg);
    struct op *op = *out;
    op->name = arena_strdup(op->arena, name);
    op->contract = *contract ? arena_strdup(op->arena, contract) : NULL;
    return op->name && (op->contract || !*contract) ? 0 : err_nomem(q->err);
}

int store_op(struct store *s, const char *name, struct op **out, struct err *err)
{
    struct query q;
    struct op *op = NULL;
    query_ask(&q, s, err, "SELECT contract, interface FROM op WHERE name = ? AND current = 1", "t", name);
    if (query_step(&q))
        q.rc = take_op(&q, name, &op);
    else
        q.rc =
            q.rc ?: err_set(err, ERR_NOTFOUND, "%s: op %s is not known to this database: nothing was tuned for it", s->path, name);
    int rc = query_end(&q);
    if (rc)
        op_free(op);
    else
        *out = op;
    return rc;
}
