/* Tuned kernels out of their tables: everything is checked, for the file may come from anywhere. */
#include <float.h>
#include <string.h>

#include "base/mem.h"
#include "store/sql.h"

/* Begins a query for a kernel's rows and makes an array for them on its arena. */
static int begin(struct query *q, struct store *s, const char *sql, int64_t id, int max, struct arena *a, size_t bytes, int *n,
                 void *out, struct err *err)
{
    int rc = query_by_id(q, s, sql, id, max, n, err);
    if (rc)
        return rc;
    q->room = MAX_TERMS;
    void *array = arena_array(a, (size_t)*n, bytes);
    memcpy(out, &array, sizeof array); /* whatever type of pointer it is */
    return array ? 0 : err_nomem(err);
}

static struct val take_value(struct query *q, struct arena *a, int kind)
{
    switch ((enum val_type)(kind + VAL_BOOL)) {
    case VAL_BOOL:
        return val_bool(col_bool(q));
    case VAL_INT:
        return val_int(col_int(q, INT64_MIN, INT64_MAX));
    case VAL_FLOAT:
        return val_float(col_real(q, -DBL_MAX, DBL_MAX));
    default:
        return val_str(copy_text(q, a, MAX_NAME, 0));
    }
}

int params_load(struct store *s, int64_t id, struct arena *arena, int *n, struct tuned_param **out, struct err *err)
{
    struct query q;
    int rc = begin(&q, s, "SELECT place, name, type, value FROM tuned_param WHERE tuned = ? ORDER BY place", id, MAX_PARAMS, arena,
                   sizeof **out, n, out, err);
    for (int i = 0; !rc && i < *n && (rc = query_step(&q, err)) > 0; i++) {
        col_place(&q, i);
        (*out)[i].name = copy_name(&q, arena);
        (*out)[i].value = take_value(&q, arena, col_word(&q, val_words));
        rc = query_check(&q, err);
    }
    query_end(&q);
    return rc;
}

static int load_launch_args(struct store *s, struct tuned *t, int64_t id, int nargs, struct err *err)
{
    struct query q;
    int n, *all, at = 0;
    int rc = begin(&q, s, "SELECT launch, place, arg FROM tuned_launch_arg WHERE tuned = ? ORDER BY launch, place", id,
                   MAX_LAUNCHES * 2 * MAX_ARGS, t->arena, sizeof *all, &n, &all, err);
    while (!rc && at < n && (rc = query_step(&q, err)) > 0) {
        int launch = (int)col_int(&q, 0, t->nlaunches - 1);
        if ((rc = query_check(&q, err)))
            break;
        struct launch *l = &t->launches[launch];
        if (!l->nargs)
            l->args = &all[at];
        if (l->nargs == 2 * MAX_ARGS)
            query_bad(&q, "arg");
        col_place(&q, l->nargs++);
        all[at++] = (int)col_int(&q, 0, nargs + t->nworkspaces - 1);
        rc = query_check(&q, err);
    }
    query_end(&q);
    return rc;
}

static int load_launches(struct store *s, struct tuned *t, int64_t id, int nargs, struct err *err)
{
    struct query q;
    int rc =
        begin(&q, s,
              "SELECT place, kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared FROM tuned_launch WHERE tuned = ? "
              "ORDER BY place",
              id, MAX_LAUNCHES, t->arena, sizeof *t->launches, &t->nlaunches, &t->launches, err);
    for (int i = 0; !rc && i < t->nlaunches && (rc = query_step(&q, err)) > 0; i++) {
        struct launch *l = &t->launches[i];
        col_place(&q, i);
        l->kernel = copy_name(&q, t->arena);
        for (int d = 0; d < 3; d++)
            l->grid[d] = copy_text(&q, t->arena, MAX_LINE, NULLABLE);
        for (int d = 0; d < 3; d++)
            l->block[d] = copy_text(&q, t->arena, MAX_LINE, NULLABLE);
        l->shared = copy_text(&q, t->arena, MAX_LINE, NULLABLE);
        rc = query_check(&q, err);
    }
    query_end(&q);
    if (!rc && !t->nlaunches)
        rc = store_damaged(s, err, "a kernel without a launch");
    return rc ? rc : load_launch_args(s, t, id, nargs, err);
}

static int load_where(struct store *s, struct tuned *t, int64_t id, struct err *err)
{
    struct query q;
    int rc = begin(&q, s, "SELECT place, text FROM tuned_where WHERE tuned = ? ORDER BY place", id, MAX_CONDITIONS, t->arena,
                   sizeof *t->where, &t->nwhere, &t->where, err);
    for (int i = 0; !rc && i < t->nwhere && (rc = query_step(&q, err)) > 0; i++) {
        col_place(&q, i);
        t->where[i] = copy_text(&q, t->arena, MAX_LINE, 0);
        rc = query_check(&q, err);
    }
    query_end(&q);
    return rc;
}

static int load_workspaces(struct store *s, struct tuned *t, int64_t id, struct err *err)
{
    struct query q;
    int rc = begin(&q, s, "SELECT place, name, type, count, clear FROM tuned_workspace WHERE tuned = ? ORDER BY place", id,
                   MAX_ARGS, t->arena, sizeof *t->workspaces, &t->nworkspaces, &t->workspaces, err);
    for (int i = 0; !rc && i < t->nworkspaces && (rc = query_step(&q, err)) > 0; i++) {
        struct workspace *w = &t->workspaces[i];
        col_place(&q, i);
        w->name = copy_name(&q, t->arena);
        w->type = copy_name(&q, t->arena);
        w->count = copy_text(&q, t->arena, MAX_LINE, 0);
        w->clear = col_bool(&q);
        rc = query_check(&q, err);
    }
    query_end(&q);
    return rc;
}

static int load_needs(struct store *s, struct tuned *t, int64_t id, int nargs, struct err *err)
{
    struct query q;
    int rc = begin(&q, s, "SELECT place, kind, arg, bytes FROM tuned_need WHERE tuned = ? ORDER BY place", id, MAX_CONDITIONS,
                   t->arena, sizeof *t->needs, &t->nneeds, &t->needs, err);
    for (int i = 0; !rc && i < t->nneeds && (rc = query_step(&q, err)) > 0; i++) {
        struct need *n = &t->needs[i];
        col_place(&q, i);
        n->kind = (enum need_kind)col_word(&q, need_words);
        n->arg = (int)col_int(&q, 0, nargs - 1);
        n->bytes = copy_text(&q, t->arena, MAX_LINE, n->kind == NEED_ALIGN ? 0 : NULLABLE);
        rc = query_check(&q, err);
    }
    query_end(&q);
    return rc;
}

static int load_clear(struct store *s, struct tuned *t, int64_t id, int nargs, struct err *err)
{
    struct query q;
    int rc = begin(&q, s, "SELECT place, arg FROM tuned_clear WHERE tuned = ? ORDER BY place", id, MAX_ARGS, t->arena,
                   sizeof *t->clear, &t->nclear, &t->clear, err);
    for (int i = 0; !rc && i < t->nclear && (rc = query_step(&q, err)) > 0; i++) {
        col_place(&q, i);
        t->clear[i] = (int)col_int(&q, 0, nargs - 1);
        rc = query_check(&q, err);
    }
    query_end(&q);
    return rc;
}

static void take_binary(struct query *q, struct tuned *t)
{
    size_t n;
    const void *blob = col_blob(q, MAX_BINARY, &n);
    if (!n)
        return;
    void *copy = arena_alloc(t->arena, n);
    q->nomem = q->nomem || !copy;
    if (copy)
        memcpy(copy, blob, n);
    t->binary = copy;
    t->binary_bytes = n;
}

static bool among(const char *const *words, const char *text)
{
    while (*words && strcmp(*words, text))
        words++;
    return *words;
}

/* What the record says in one piece; false where it does not. */
static bool take_packed(struct query *q, struct tuned *t, const void *packed, size_t n, int nargs)
{
    struct cursor in = cursor_on(packed, n);
    int rc = packed ? tuned_get(&in, t, nargs) : 0;
    q->nomem = q->nomem || rc == ERR_NOMEM;
    if (rc == ERR_CORRUPT)
        query_bad(q, "packed");
    return packed;
}

/* Its own row and its code; *nargs: how many arguments the op has, which others are places of. *whole: there is nothing to add. */
static int take_head(struct query *q, struct tuned *t, int64_t *id, int *nargs, bool *whole, struct err *err)
{
    static const char *const roles[] = { "winner", "default", NULL }, *const formats[] = { "cubin", "ptx", "clbin", "null", NULL };
    size_t n;
    *id = col_int(q, 1, INT64_MAX);
    t->role = (enum tuned_role)col_word(q, roles);
    t->rank = (int)col_int(q, 0, MAX_DEFAULTS - 1);
    col_key(q, t->key);
    t->variant = copy_name(q, t->arena);
    t->config = copy_text(q, t->arena, MAX_LINE, 0);
    t->time_ns = col_real(q, 0, 1e18);
    t->copy_ns = col_real(q, 0, 1e18);
    t->requires.backend = copy_text(q, t->arena, MAX_NAME, NULLABLE);
    t->requires.cc = (int)col_int(q, 0, INT32_MAX);
    t->requires.arch_specific = col_bool(q);
    t->requires.grid_order = col_bool(q);
    t->requires.grid_progress = col_bool(q);
    t->unverified = !col_bool(q);
    t->when = copy_text(q, t->arena, MAX_NAME, 0);
    t->source = copy_text(q, t->arena, MAX_SOURCE, MANY_LINES);
    take_binary(q, t);
    t->format = copy_text(q, t->arena, MAX_NAME, t->binary ? 0 : NULLABLE);
    t->arch = copy_text(q, t->arena, MAX_NAME, NULLABLE);
    t->compiler = copy_text(q, t->arena, MAX_LINE, NULLABLE);
    t->portable = copy_text(q, t->arena, MAX_SOURCE, NULLABLE | MANY_LINES);
    const void *packed = col_blob(q, MAX_PACKED, &n);
    int64_t op = col_int(q, 1, INT64_MAX);
    int rc = query_check(q, err);
    if (rc || (rc = op_nargs(q->store, op, nargs, err)))
        return rc;
    *whole = take_packed(q, t, packed, n, *nargs);
    if (t->format && !among(formats, t->format))
        query_bad(q, "format");
    if (t->when && strlen(t->when) != strlen("2026-01-01T00:00:00Z"))
        query_bad(q, "created");
    return query_check(q, err);
}

int tuned_take(struct query *q, struct tuned **out, struct err *err)
{
    struct store *s = q->store;
    struct tuned *t = tuned_new();
    bool whole = false;
    int64_t id = 0;
    if (!t)
        return err_nomem(err);
    int nargs = 0, rc = take_head(q, t, &id, &nargs, &whole, err);
    if (!rc && !whole && !(rc = params_load(s, id, t->arena, &t->nparams, &t->params, err)) &&
        !(rc = load_workspaces(s, t, id, err)) && !(rc = load_launches(s, t, id, nargs, err)) &&
        !(rc = load_where(s, t, id, err)) && !(rc = load_needs(s, t, id, nargs, err)))
        rc = load_clear(s, t, id, nargs, err);
    if (rc)
        tuned_free(t);
    else
        *out = t;
    return rc;
}

int tuned_load(struct store *s, int64_t id, struct tuned **out, struct err *err)
{
    struct query q;
    int rc = query_begin(&q, s,
                         "SELECT " TUNED_COLUMNS "coalesce(op, (SELECT problem.op FROM problem WHERE problem.id = tuned.problem)) "
                         "AS op FROM tuned LEFT JOIN code ON code.id = tuned.code WHERE tuned.id = ?",
                         err);
    if (rc)
        return rc;
    put_int(&q, id);
    rc = query_step(&q, err);
    if (rc >= 0)
        rc = rc ? tuned_take(&q, out, err) : store_damaged(s, err, "a kernel is gone that was there");
    query_end(&q);
    return rc;
}
