/* Ops: their interface, as a caller of their kernels has to know it, and their contract, against which those were proved. */
#include <string.h>

#include "base/hash.h"
#include "store/sql.h"

const char *const axis_words[] = { "size", "stride", "batch", "flag", NULL };
const char *const arg_words[] = { "input", "output", "inout", "value", NULL };

int interface_hash(const struct op *op, char hash[HASH_HEX], struct err *err)
{
    struct buf b = { 0 };
    for (int i = 0; i < op->naxes; i++) {
        buf_lstr(&b, op->axes[i].name);
        buf_lstr(&b, axis_words[op->axes[i].kind]);
    }
    buf_str(&b, "types");
    for (int i = 0; i < op->ntypes; i++)
        buf_lstr(&b, op->types[i]);
    buf_str(&b, "args");
    for (int i = 0; i < op->nargs; i++) {
        const struct arg *a = &op->args[i];
        buf_lstr(&b, a->name);
        buf_lstr(&b, arg_words[a->kind]);
        buf_lstr(&b, arg_type(a));
        buf_lstr(&b, a->value);
        buf_u32(&b, (uint32_t)a->rank);
        for (int d = 0; d < a->rank; d++)
            buf_lstr(&b, a->extent[d]);
    }
    int rc = b.failed ? err_nomem(err) : 0;
    if (!rc)
        hash_hex(b.data, b.len, hash);
    buf_free(&b);
    return rc;
}

int identity_hash(const char *interface, const char *contract, char hash[HASH_HEX], struct err *err)
{
    struct buf b = { 0 };
    buf_lstr(&b, interface);
    buf_lstr(&b, contract);
    int rc = b.failed ? err_nomem(err) : 0;
    if (!rc && *contract)
        hash_hex(b.data, b.len, hash);
    else if (!rc)
        memcpy(hash, interface, HASH_HEX);
    buf_free(&b);
    return rc;
}

/* The row of (name, hash); 0 where there is none. */
static int find_op(struct store *s, const char *name, const char *hash, int64_t *id, struct err *err)
{
    struct query q;
    int rc = query_begin(&q, s, "SELECT id FROM op WHERE name = ? AND hash = ?", err);
    if (rc)
        return rc;
    put_text(&q, name);
    put_text(&q, hash);
    return query_id(&q, id, err);
}

/* Makes the row current, and any other of this name not. */
static int make_current(struct store *s, const char *name, int64_t id, struct err *err)
{
    struct query q;
    int rc = query_begin(&q, s, "UPDATE op SET current = 0 WHERE name = ? AND id != ? AND current = 1", err);
    if (rc)
        return rc;
    put_text(&q, name);
    put_int(&q, id);
    rc = query_run(&q, err);
    if (rc || (rc = query_begin(&q, s, "UPDATE op SET current = 1 WHERE id = ?", err)))
        return rc;
    put_int(&q, id);
    return query_run(&q, err);
}

static int save_axes(struct store *s, const struct op *op, int64_t id, struct err *err)
{
    struct query q;
    for (int i = 0; i < op->naxes; i++) {
        int rc = query_begin(&q, s, "INSERT INTO op_axis (op, place, name, kind) VALUES (?, ?, ?, ?)", err);
        if (rc)
            return rc;
        put_int(&q, id);
        put_int(&q, i);
        put_text(&q, op->axes[i].name);
        put_text(&q, axis_words[op->axes[i].kind]);
        if ((rc = query_run(&q, err)))
            return rc;
    }
    return 0;
}

static int save_types(struct store *s, const struct op *op, int64_t id, struct err *err)
{
    struct query q;
    for (int i = 0; i < op->ntypes; i++) {
        int rc = query_begin(&q, s, "INSERT INTO op_type (op, place, name) VALUES (?, ?, ?)", err);
        if (rc)
            return rc;
        put_int(&q, id);
        put_int(&q, i);
        put_text(&q, op->types[i]);
        if ((rc = query_run(&q, err)))
            return rc;
    }
    return 0;
}

static int save_extents(struct store *s, const struct arg *a, int64_t id, int place, struct err *err)
{
    struct query q;
    for (int d = 0; d < a->rank; d++) {
        int rc = query_begin(&q, s, "INSERT INTO op_extent (op, arg, place, extent) VALUES (?, ?, ?, ?)", err);
        if (rc)
            return rc;
        put_int(&q, id);
        put_int(&q, place);
        put_int(&q, d);
        put_text(&q, a->extent[d]);
        if ((rc = query_run(&q, err)))
            return rc;
    }
    return 0;
}

static int save_args(struct store *s, const struct op *op, int64_t id, struct err *err)
{
    struct query q;
    for (int i = 0; i < op->nargs; i++) {
        const struct arg *a = &op->args[i];
        int rc = query_begin(&q, s, "INSERT INTO op_arg (op, place, name, kind, type, value) VALUES (?, ?, ?, ?, ?, ?)", err);
        if (rc)
            return rc;
        put_int(&q, id);
        put_int(&q, i);
        put_text(&q, a->name);
        put_text(&q, arg_words[a->kind]);
        put_text(&q, arg_type(a));
        put_text(&q, a->value);
        if ((rc = query_run(&q, err)) || (rc = save_extents(s, a, id, i, err)))
            return rc;
    }
    return 0;
}

static int make_op(struct store *s, const struct op *op, const char *hash, const char *contract, int64_t *id, struct err *err)
{
    struct query q;
    int rc = query_begin(&q, s, "INSERT INTO op (name, hash, contract, current) VALUES (?, ?, ?, 0)", err);
    if (rc)
        return rc;
    put_text(&q, op->name);
    put_text(&q, hash);
    put_text(&q, contract);
    rc = query_run(&q, err);
    if (rc)
        return rc;
    *id = sqlite3_last_insert_rowid(s->db);
    if ((rc = save_axes(s, op, *id, err)) || (rc = save_types(s, op, *id, err)))
        return rc;
    return save_args(s, op, *id, err);
}

/* What may change without making a record stale: how work is counted, and which types there are. */
static int save_work(struct store *s, const struct op *op, int64_t id, const struct buf *packed, struct err *err)
{
    struct query q;
    int rc = query_begin(&q, s, "UPDATE op SET work_bytes = ?, work_flops = ?, packed = ? WHERE id = ?", err);
    if (rc)
        return rc;
    put_text(&q, op->work_bytes);
    put_text(&q, op->work_flops);
    put_packed(&q, packed);
    put_int(&q, id);
    return query_run(&q, err);
}

static int save_bindings(struct store *s, const struct op *op, int64_t id, struct err *err)
{
    struct query q;
    int rc = query_begin(&q, s, "DELETE FROM op_binding WHERE op = ?", err);
    if (rc)
        return rc;
    put_int(&q, id);
    rc = query_run(&q, err);
    for (int i = 0; !rc && i < op->nrows * op->ntypes; i++) {
        rc = query_begin(&q, s, "INSERT INTO op_binding (op, line, type, dtype) VALUES (?, ?, ?, ?)", err);
        if (rc)
            return rc;
        put_int(&q, id);
        put_int(&q, i / op->ntypes);
        put_int(&q, i % op->ntypes);
        put_text(&q, op->rows[i]->name);
        rc = query_run(&q, err);
    }
    return rc;
}

/* Variants that the op no longer has leave no line, so what was measured of them is stale. */
static int save_variants(struct store *s, const struct op *op, int64_t id, struct err *err)
{
    char made[HASH_HEX];
    struct query q;
    int rc = query_begin(&q, s, "DELETE FROM op_variant WHERE op = ?", err);
    if (rc)
        return rc;
    put_int(&q, id);
    rc = query_run(&q, err);
    for (int i = 0; !rc && i < op->nvariants; i++) {
        if ((rc = variant_made(op, &op->variants[i], made, err)) ||
            (rc = query_begin(&q, s, "INSERT INTO op_variant (op, name, made) VALUES (?, ?, ?)", err)))
            return rc;
        put_int(&q, id);
        put_text(&q, op->variants[i].name);
        put_text(&q, made);
        rc = query_run(&q, err);
    }
    return rc;
}

int op_save(struct store *s, const struct op *op, int64_t *id, struct err *err)
{
    char interface[HASH_HEX], contract[HASH_HEX], hash[HASH_HEX];
    struct buf packed = { 0 };
    int rc = interface_hash(op, interface, err);
    if (rc || (rc = op_contract(op, contract, err)) || (rc = identity_hash(interface, contract, hash, err)) ||
        (rc = find_op(s, op->name, hash, id, err)))
        return rc;
    if (!*id && (rc = make_op(s, op, hash, contract, id, err)))
        return rc;
    packed_interface_put(&packed, op);
    rc = packed.failed ? err_nomem(err) : make_current(s, op->name, *id, err);
    if (!rc && !(rc = save_work(s, op, *id, &packed, err)) && !(rc = save_bindings(s, op, *id, err)))
        rc = save_variants(s, op, *id, err);
    buf_free(&packed);
    return rc;
}
