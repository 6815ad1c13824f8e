/* Ops read back: everything is checked, for the file may come from anywhere. */
#include "model/plan.h"
#include "store/sql.h"

/* At the op's row, or at none. */
static int find_row(struct query *q, struct store *s, const char *name, struct err *err)
{
    int rc =
        query_begin(q, s, "SELECT id, hash, contract, packed, work_bytes, work_flops FROM op WHERE name = ? AND current = 1", err);
    if (rc)
        return rc;
    put_text(q, name);
    return query_step(q, err);
}

int op_id(struct store *s, const char *name, int64_t *id, struct err *err)
{
    struct query q;
    int rc = find_row(&q, s, name, err);
    *id = rc > 0 ? col_int(&q, 1, INT64_MAX) : 0;
    if (rc > 0)
        rc = query_check(&q, err);
    query_end(&q);
    return rc;
}

int op_nargs(struct store *s, int64_t id, int *n, struct err *err)
{
    struct query q;
    int rc = query_begin(&q, s, "SELECT count(*) AS arguments FROM op_arg WHERE op = ?", err);
    if (rc)
        return rc;
    put_int(&q, id);
    *n = 0;
    if ((rc = query_step(&q, err)) > 0) {
        *n = (int)col_int(&q, 0, MAX_ARGS);
        rc = query_check(&q, err);
    }
    query_end(&q);
    return rc;
}

/* What the op is in one piece, or an empty one. */
static int take_packed(struct query *q, const char *hash, const char *contract, struct op **out, bool *whole, struct err *err)
{
    size_t n;
    const void *packed = col_blob(q, MAX_PACKED, &n);
    *whole = packed != NULL;
    struct cursor in = cursor_on(packed, n);
    int rc = packed ? packed_interface_get(&in, hash, contract, out) : 0;
    if (rc == ERR_CORRUPT)
        query_bad(q, "packed");
    else if (!packed)
        rc = (*out = op_new()) ? 0 : ERR_NOMEM;
    return rc == ERR_NOMEM ? err_nomem(err) : query_check(q, err);
}

/* An op of what its own row says. *whole: there is nothing to add. */
static int take_row(struct query *q, const char *name, struct op **out, int64_t *id, bool *whole, struct err *err)
{
    char hash[HASH_HEX], contract[HASH_HEX];
    int nargs = 0;
    *id = col_int(q, 1, INT64_MAX);
    col_key(q, hash);
    col_key_or_none(q, contract);
    int rc = take_packed(q, hash, contract, out, whole, err);
    if (rc)
        return rc;
    struct op *op = *out;
    op->work_bytes = copy_text(q, op->arena, MAX_LINE, NULLABLE);
    op->work_flops = copy_text(q, op->arena, MAX_LINE, NULLABLE);
    op->name = arena_strdup(op->arena, name);
    op->contract = *contract ? arena_strdup(op->arena, contract) : NULL;
    rc = op->name && (op->contract || !*contract) ? query_check(q, err) : err_nomem(err);
    if (rc || !*whole)
        return rc;
    rc = op_nargs(q->store, *id, &nargs, err); /* kernels' places are checked against these */
    return !rc && nargs != op->nargs ? store_damaged(q->store, err, "op %s has %d arguments, not %d", name, nargs, op->nargs) : rc;
}

static int load_axes(struct store *s, struct op *op, int64_t id, struct err *err)
{
    struct query q;
    int rc = query_by_id(&q, s, "SELECT place, name, kind FROM op_axis WHERE op = ? ORDER BY place", id, MAX_AXES, &op->naxes, err);
    if (!rc && !(op->axes = arena_array(op->arena, (size_t)op->naxes, sizeof *op->axes)))
        rc = err_nomem(err);
    for (int i = 0; !rc && i < op->naxes && (rc = query_step(&q, err)) > 0; i++) {
        col_place(&q, i);
        op->axes[i].name = copy_name(&q, op->arena);
        op->axes[i].kind = (enum axis_kind)col_word(&q, axis_words);
        rc = query_check(&q, err);
    }
    query_end(&q);
    return rc;
}

static int load_types(struct store *s, struct op *op, int64_t id, struct err *err)
{
    struct query q;
    int rc = query_by_id(&q, s, "SELECT place, name FROM op_type WHERE op = ? ORDER BY place", id, MAX_TYPES, &op->ntypes, err);
    if (!rc && !(op->types = arena_array(op->arena, (size_t)op->ntypes, sizeof *op->types)))
        rc = err_nomem(err);
    for (int i = 0; !rc && i < op->ntypes && (rc = query_step(&q, err)) > 0; i++) {
        col_place(&q, i);
        op->types[i] = copy_name(&q, op->arena);
        rc = query_check(&q, err);
    }
    query_end(&q);
    return rc;
}

static int load_bindings(struct store *s, struct op *op, int64_t id, struct err *err)
{
    enum { MAX_CELLS = 65536 };
    struct query q;
    int n, rc = query_by_id(&q, s, "SELECT line, type, dtype FROM op_binding WHERE op = ? ORDER BY line, type", id, MAX_CELLS, &n,
                            err);
    if (rc)
        goto out;
    if (!op->ntypes || n % op->ntypes) {
        rc = store_damaged(s, err, "op %s has %d types bound to %d names", op->name, n, op->ntypes);
        goto out;
    }
    op->nrows = n / op->ntypes;
    op->rows = arena_array(op->arena, (size_t)n, sizeof *op->rows);
    if (!op->rows)
        rc = err_nomem(err);
    for (int i = 0; !rc && i < n && (rc = query_step(&q, err)) > 0; i++) {
        col_place(&q, i / op->ntypes);
        col_place(&q, i % op->ntypes);
        const char *name = col_name(&q);
        op->rows[i] = dtype_find(name);
        rc = query_check(&q, err);
        if (!rc && !op->rows[i])
            rc = store_damaged(s, err, "op %s is bound to %s, which is no element type", op->name, name);
    }
out:
    query_end(&q);
    return rc;
}

static int load_args(struct store *s, struct op *op, int64_t id, struct err *err)
{
    struct query q;
    int rc = query_by_id(&q, s, "SELECT place, name, kind, type, value FROM op_arg WHERE op = ? ORDER BY place", id, MAX_ARGS,
                         &op->nargs, err);
    if (!rc && !(op->args = arena_array(op->arena, (size_t)op->nargs, sizeof *op->args)))
        rc = err_nomem(err);
    for (int i = 0; !rc && i < op->nargs && (rc = query_step(&q, err)) > 0; i++) {
        struct arg *a = &op->args[i];
        col_place(&q, i);
        a->name = copy_name(&q, op->arena);
        a->kind = (enum arg_kind)col_word(&q, arg_words);
        a->type = copy_name(&q, op->arena);
        a->value = copy_text(&q, op->arena, MAX_LINE, NULLABLE);
        rc = query_check(&q, err);
    }
    query_end(&q);
    return rc;
}

static int load_extents(struct store *s, struct op *op, int64_t id, struct err *err)
{
    struct query q;
    int n, rc = query_by_id(&q, s, "SELECT arg, place, extent FROM op_extent WHERE op = ? ORDER BY arg, place", id,
                            MAX_ARGS * MAX_RANK, &n, err);
    while (!rc && (rc = query_step(&q, err)) > 0) {
        int place = (int)col_int(&q, 0, op->nargs - 1);
        rc = query_check(&q, err);
        if (rc)
            break;
        struct arg *a = &op->args[place];
        if (a->rank == MAX_RANK) {
            rc = store_damaged(s, err, "argument %s of op %s has too many extents", a->name, op->name);
            break;
        }
        col_place(&q, a->rank);
        a->extent[a->rank++] = copy_text(&q, op->arena, MAX_LINE, 0);
        rc = query_check(&q, err);
    }
    query_end(&q);
    return rc;
}

static int load_tables(struct store *s, struct op *op, int64_t id, struct err *err)
{
    int rc = load_axes(s, op, id, err);
    if (rc || (rc = load_types(s, op, id, err)) || (rc = load_bindings(s, op, id, err)) || (rc = load_args(s, op, id, err)))
        return rc;
    return load_extents(s, op, id, err);
}

/* Names that clash, types that are none, expressions that do not compile: the model knows. */
static int check(struct store *s, const struct op *op, struct err *err)
{
    struct plan *plan = NULL;
    struct err why = { 0 };
    int rc = op_check(op, &why);
    if (!rc)
        rc = plan_new(op, -1, &plan, &why);
    plan_free(plan);
    if (!rc)
        return 0;
    return rc == ERR_NOMEM ? err_nomem(err) : store_damaged(s, err, "op %s: %s", op->name, why.msg);
}

static int load(struct store *s, const char *name, struct op **out, struct err *err)
{
    struct query q;
    int64_t id = 0;
    bool whole = false;
    int rc = find_row(&q, s, name, err);
    if (!rc)
        rc = err_set(err, ERR_NOTFOUND, "%s: op %s is not known to this database: nothing was tuned for it", s->path, name);
    else if (rc > 0)
        rc = take_row(&q, name, out, &id, &whole, err);
    query_end(&q);
    if (!rc && !whole)
        rc = load_tables(s, *out, id, err);
    return rc ? rc : check(s, *out, err);
}

int store_op(struct store *s, const char *name, struct op **out, struct err *err)
{
    struct op *op = NULL;
    bool mine;
    int rc = read_begin(s, &mine, err);
    if (rc)
        return rc;
    rc = load(s, name, &op, err);
    read_end(s, mine);
    if (rc)
        op_free(op);
    else
        *out = op;
    return rc;
}
