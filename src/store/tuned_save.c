/* Tuned kernels into their tables. */
#include "base/hash.h"
#include "store/sql.h"

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
    int rc = b.failed ? err_nomem(err) : 0;
    if (!rc)
        hash_hex(b.data, b.len, hash);
    buf_free(&b);
    return rc;
}

static int save_code(struct store *s, const struct tuned *t, int64_t *id, struct err *err)
{
    char hash[HASH_HEX];
    struct query q;
    int rc = code_hash(t, hash, err);
    if (rc)
        return rc;
    rc = query_begin(&q, s,
                     "INSERT INTO code (hash, source, binary, format, arch, compiler, portable) VALUES (?, ?, ?, ?, ?, ?, ?) ON "
                     "CONFLICT DO NOTHING",
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
    if ((rc = query_run(&q, err)) || (rc = query_begin(&q, s, "SELECT id FROM code WHERE hash = ?", err)))
        return rc;
    put_text(&q, hash);
    return query_id(&q, id, err);
}

int code_prune(struct store *s, struct err *err)
{
    struct query q;
    int rc = query_begin(&q, s, "DELETE FROM code WHERE NOT EXISTS (SELECT 1 FROM tuned WHERE tuned.code = code.id)", err);
    return rc ? rc : query_run(&q, err);
}

static int save_head(struct store *s, const struct owner *o, const struct tuned *t, int64_t code, const struct buf *packed,
                     struct err *err)
{
    struct query q;
    int rc =
        query_begin(&q, s,
                    "INSERT INTO tuned (role, device, problem, cache, op, types, backend, rank, key, variant, config, time_ns, "
                    "copy_ns, code, provenance, requires_backend, requires_cc, requires_arch_specific, requires_grid_order, "
                    "requires_grid_progress, verified, packed, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                    "?, ?, ?, ?, ?, "
                    "strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))",
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
    put_text(&q, t->config);
    put_real(&q, t->time_ns);
    put_real(&q, t->copy_ns);
    put_int(&q, code);
    put_id(&q, o->provenance);
    put_text(&q, t->requires.backend);
    put_int(&q, t->requires.cc);
    put_int(&q, t->requires.arch_specific);
    put_int(&q, t->requires.grid_order);
    put_int(&q, t->requires.grid_progress);
    put_int(&q, !t->unverified);
    put_packed(&q, packed);
    return query_run(&q, err);
}

static void put_value(struct query *q, struct val v)
{
    switch (v.type) {
    case VAL_BOOL:
        put_int(q, v.b);
        break;
    case VAL_INT:
        put_int(q, v.i);
        break;
    case VAL_FLOAT:
        put_real(q, v.f);
        break;
    case VAL_STR:
        put_text(q, v.s);
        break;
    case VAL_NIL:
        put_text(q, NULL);
        break;
    }
}

static int save_params(struct store *s, int64_t id, const struct tuned *t, struct err *err)
{
    struct query q;
    int rc = 0;
    for (int i = 0; !rc && i < t->nparams; i++) {
        const struct tuned_param *p = &t->params[i];
        if ((rc = query_begin(&q, s, "INSERT INTO tuned_param (tuned, place, name, type, value) VALUES (?, ?, ?, ?, ?)", err)))
            break;
        put_int(&q, id);
        put_int(&q, i);
        put_text(&q, p->name);
        put_text(&q, p->value.type == VAL_NIL ? NULL : val_words[p->value.type - VAL_BOOL]);
        put_value(&q, p->value);
        rc = query_run(&q, err);
    }
    return rc;
}

static int save_launch_args(struct store *s, int64_t id, int launch, const struct launch *l, struct err *err)
{
    struct query q;
    int rc = 0;
    for (int i = 0; !rc && i < l->nargs; i++) {
        if ((rc = query_begin(&q, s, "INSERT INTO tuned_launch_arg (tuned, launch, place, arg) VALUES (?, ?, ?, ?)", err)))
            break;
        put_int(&q, id);
        put_int(&q, launch);
        put_int(&q, i);
        put_int(&q, l->args[i]);
        rc = query_run(&q, err);
    }
    return rc;
}

static int save_launches(struct store *s, int64_t id, const struct tuned *t, struct err *err)
{
    struct query q;
    int rc = 0;
    for (int i = 0; !rc && i < t->nlaunches; i++) {
        const struct launch *l = &t->launches[i];
        if ((rc = query_begin(
                 &q, s,
                 "INSERT INTO tuned_launch (tuned, place, kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared) "
                 "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                 err)))
            break;
        put_int(&q, id);
        put_int(&q, i);
        put_text(&q, l->kernel);
        for (int d = 0; d < 3; d++)
            put_text(&q, l->grid[d]);
        for (int d = 0; d < 3; d++)
            put_text(&q, l->block[d]);
        put_text(&q, l->shared);
        rc = query_run(&q, err);
        if (!rc)
            rc = save_launch_args(s, id, i, l, err);
    }
    return rc;
}

static int save_where(struct store *s, int64_t id, const struct tuned *t, struct err *err)
{
    struct query q;
    int rc = 0;
    for (int i = 0; !rc && i < t->nwhere; i++) {
        if ((rc = query_begin(&q, s, "INSERT INTO tuned_where (tuned, place, text) VALUES (?, ?, ?)", err)))
            break;
        put_int(&q, id);
        put_int(&q, i);
        put_text(&q, t->where[i]);
        rc = query_run(&q, err);
    }
    return rc;
}

static int save_workspaces(struct store *s, int64_t id, const struct tuned *t, struct err *err)
{
    struct query q;
    int rc = 0;
    for (int i = 0; !rc && i < t->nworkspaces; i++) {
        const struct workspace *w = &t->workspaces[i];
        if ((rc = query_begin(
                 &q, s, "INSERT INTO tuned_workspace (tuned, place, name, type, count, clear) VALUES (?, ?, ?, ?, ?, ?)", err)))
            break;
        put_int(&q, id);
        put_int(&q, i);
        put_text(&q, w->name);
        put_text(&q, w->type);
        put_text(&q, w->count);
        put_int(&q, w->clear);
        rc = query_run(&q, err);
    }
    return rc;
}

static int save_needs(struct store *s, int64_t id, const struct tuned *t, struct err *err)
{
    struct query q;
    int rc = 0;
    for (int i = 0; !rc && i < t->nneeds; i++) {
        const struct need *n = &t->needs[i];
        if ((rc = query_begin(&q, s, "INSERT INTO tuned_need (tuned, place, kind, arg, bytes) VALUES (?, ?, ?, ?, ?)", err)))
            break;
        put_int(&q, id);
        put_int(&q, i);
        put_text(&q, need_words[n->kind]);
        put_int(&q, n->arg);
        put_text(&q, n->bytes);
        rc = query_run(&q, err);
    }
    return rc;
}

static int save_clear(struct store *s, int64_t id, const struct tuned *t, struct err *err)
{
    struct query q;
    int rc = 0;
    for (int i = 0; !rc && i < t->nclear; i++) {
        if ((rc = query_begin(&q, s, "INSERT INTO tuned_clear (tuned, place, arg) VALUES (?, ?, ?)", err)))
            break;
        put_int(&q, id);
        put_int(&q, i);
        put_int(&q, t->clear[i]);
        rc = query_run(&q, err);
    }
    return rc;
}

static int save_all(struct store *s, const struct owner *o, const struct tuned *t, struct err *err)
{
    struct buf packed = { 0 };
    int64_t code, id;
    tuned_put(&packed, t);
    int rc = packed.failed ? err_nomem(err) : save_code(s, t, &code, err);
    if (!rc)
        rc = save_head(s, o, t, code, &packed, err);
    buf_free(&packed);
    if (rc)
        return rc;
    id = sqlite3_last_insert_rowid(s->db);
    if ((rc = save_params(s, id, t, err)) || (rc = save_launches(s, id, t, err)) || (rc = save_where(s, id, t, err)) ||
        (rc = save_workspaces(s, id, t, err)) || (rc = save_needs(s, id, t, err)) || (rc = save_clear(s, id, t, err)))
        return rc;
    return code_prune(s, err); /* the replaced kernel's */
}

static int drop_winner(struct store *s, const struct owner *o, struct err *err)
{
    struct query q;
    int rc = query_begin(&q, s, "DELETE FROM tuned WHERE device = ? AND problem = ? AND cache = ?", err);
    if (rc)
        return rc;
    put_int(&q, o->device);
    put_int(&q, o->problem);
    put_text(&q, o->cache);
    return query_run(&q, err);
}

int store_winner(struct store *s, const struct target *t, const struct tuned *k, struct err *err)
{
    const struct owner o = {
        .device = t->device, .problem = t->problem, .provenance = t->provenance, .cache = t->cold ? "cold" : "warm"
    };
    int rc = write_begin(s, err);
    if (rc)
        return rc;
    if (!(rc = drop_winner(s, &o, err)))
        rc = save_all(s, &o, k, err);
    return write_end(s, rc, err);
}

/* The one of this rank, and those that the op's list no longer has. */
static int drop_defaults(struct store *s, const struct owner *o, int ndefaults, struct err *err)
{
    struct query q;
    int rc = query_begin(&q, s, "DELETE FROM tuned WHERE op = ? AND types = ? AND backend = ? AND (rank = ? OR rank >= ?)", err);
    if (rc)
        return rc;
    put_int(&q, o->op);
    put_text(&q, o->types);
    put_text(&q, o->backend);
    put_int(&q, o->rank);
    put_int(&q, ndefaults);
    return query_run(&q, err);
}

int store_default(struct store *s, const struct devspec *dev, const struct op *op, int row, const struct tuned *k, struct err *err)
{
    struct buf types = { 0 };
    op_row_print(&types, op, row);
    struct owner o = { .types = buf_text(&types), .backend = dev->backend, .rank = k->rank };
    int rc = types.failed ? err_nomem(err) : write_begin(s, err);
    if (!rc) {
        if (!(rc = op_save(s, op, &o.op, err)) && !(rc = drop_defaults(s, &o, op->ndefaults, err)))
            rc = save_all(s, &o, k, err);
        rc = write_end(s, rc, err);
    }
    buf_free(&types);
    return rc;
}
