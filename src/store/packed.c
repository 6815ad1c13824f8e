/* Records in one piece, the columns `packed`: what a look-up would else gather from many tables. As little trusted as those. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "store/sql.h"

struct old_serial {
    struct cursor *in;
    struct arena *arena;
    bool nomem;
};

static void put_count(struct buf *out, int n)
{
    buf_u32(out, (uint32_t)n);
}

static void put_ints(struct buf *out, const int *v, int n)
{
    put_count(out, n);
    for (int i = 0; i < n; i++)
        put_count(out, v[i]);
}

static void put_val(struct buf *out, struct val v)
{
    buf_u8(out, (uint8_t)v.type);
    switch (v.type) {
    case VAL_BOOL:
        buf_u8(out, v.b);
        break;
    case VAL_INT:
        buf_i64(out, v.i);
        break;
    case VAL_FLOAT:
        buf_f64(out, v.f);
        break;
    case VAL_STR:
        buf_lstr(out, v.s);
        break;
    case VAL_NIL:
        break;
    }
}

static void put_launch(struct buf *out, const struct launch *l)
{
    buf_lstr(out, l->kernel);
    for (int d = 0; d < 3; d++) {
        buf_lstr(out, l->grid[d]);
        buf_lstr(out, l->block[d]);
    }
    buf_lstr(out, l->shared);
    put_ints(out, l->args, l->nargs);
}

static void put_workspaces(struct buf *out, const struct workspace *w, int n)
{
    put_count(out, n);
    for (int i = 0; i < n; i++) {
        buf_lstr(out, w[i].name);
        buf_lstr(out, w[i].type);
        buf_lstr(out, w[i].count);
        buf_u8(out, w[i].clear);
    }
}

static void put_needs(struct buf *out, const struct need *v, int n)
{
    put_count(out, n);
    for (int i = 0; i < n; i++) {
        buf_u8(out, (uint8_t)v[i].kind);
        put_count(out, v[i].arg);
        buf_lstr(out, v[i].bytes);
    }
}

static bool old_failed(const struct old_serial *r)
{
    return r->in->bad || r->nomem;
}

/* How many things follow: each takes a byte at least, so no more than bytes are left. */
static int read_count(struct old_serial *r)
{
    uint32_t n = get_u32(r->in);
    if (n > (size_t)(r->in->end - r->in->at) || n > INT32_MAX)
        r->in->bad = true;
    return old_failed(r) ? 0 : (int)n;
}

/* The array for *n things; with a failure there are none of them. */
static void *serial_array(struct old_serial *r, int *n, size_t bytes)
{
    void *p = old_failed(r) ? NULL : arena_array(r->arena, (size_t)*n, bytes);
    if (!p) {
        r->nomem = r->nomem || !r->in->bad;
        *n = 0;
    }
    return p;
}

static const char *read_str(struct old_serial *r)
{
    size_t n;
    const char *s = old_failed(r) ? NULL : get_lstr(r->in, &n);
    if (!s)
        return NULL;
    const char *copy = arena_strndup(r->arena, s, n);
    r->nomem = r->nomem || !copy;
    return copy;
}

/* 32 bits as they were written: an index or a small number, for op_check to judge. */
static int read_int(struct old_serial *r)
{
    return (int)(int32_t)get_u32(r->in);
}

static bool read_bool(struct old_serial *r)
{
    uint8_t v = get_u8(r->in);
    if (v > 1)
        r->in->bad = true;
    return v == 1;
}

static struct val read_val(struct old_serial *r)
{
    struct val v = { .type = VAL_NIL };
    switch (get_u8(r->in)) {
    case VAL_BOOL:
        return val_bool(read_bool(r));
    case VAL_INT:
        return val_int(get_i64(r->in));
    case VAL_FLOAT:
        return val_float(get_f64(r->in));
    case VAL_STR:
        v = val_str(read_str(r));
        if (!v.s)
            r->in->bad = true;
        return v;
    default:
        r->in->bad = true;
        return v;
    }
}

enum { MAGIC = 0x31747563 }; /* "cut1": of this form; another form gets another number */

void tuned_put(struct buf *out, const struct tuned *t)
{
    buf_u32(out, MAGIC);
    put_count(out, t->nparams);
    for (int i = 0; i < t->nparams; i++) {
        buf_lstr(out, t->params[i].name);
        put_val(out, t->params[i].value);
    }
    put_workspaces(out, t->workspaces, t->nworkspaces);
    put_count(out, t->nlaunches);
    for (int i = 0; i < t->nlaunches; i++)
        put_launch(out, &t->launches[i]);
    put_count(out, t->nwhere);
    for (int i = 0; i < t->nwhere; i++)
        buf_lstr(out, t->where[i]);
    put_needs(out, t->needs, t->nneeds);
    put_ints(out, t->clear, t->nclear);
}

/* Each of these is what the column of the same value may be. */
static int read_counted(struct old_serial *r, int least, int most)
{
    int n = read_count(r);
    if (n < least || n > most)
        r->in->bad = true;
    return old_failed(r) ? 0 : n;
}

static int read_below(struct old_serial *r, int end)
{
    int v = read_int(r);
    if (v >= 0 && v < end)
        return v;
    r->in->bad = true;
    return 0;
}

static const char *read_text(struct old_serial *r, size_t max, bool nullable)
{
    const char *s = read_str(r);
    if (s ? !text_ok(s, max, false) : !nullable && !r->nomem)
        r->in->bad = true;
    return s;
}

static const char *read_name(struct old_serial *r)
{
    const char *s = read_text(r, MAX_NAME, false);
    if (s && !name_ok(s))
        r->in->bad = true;
    return s;
}

static void read_params(struct old_serial *r, struct tuned *t)
{
    t->nparams = read_counted(r, 0, MAX_PARAMS);
    t->params = serial_array(r, &t->nparams, sizeof *t->params);
    for (int i = 0; i < t->nparams && !old_failed(r); i++) {
        t->params[i].name = read_name(r);
        struct val v = t->params[i].value = read_val(r);
        if ((v.type == VAL_FLOAT && !isfinite(v.f)) || (v.type == VAL_STR && v.s && !text_ok(v.s, MAX_NAME, false)))
            r->in->bad = true;
    }
}

static void read_workspaces(struct old_serial *r, struct tuned *t)
{
    t->nworkspaces = read_counted(r, 0, MAX_ARGS);
    t->workspaces = serial_array(r, &t->nworkspaces, sizeof *t->workspaces);
    for (int i = 0; i < t->nworkspaces; i++) {
        struct workspace *w = &t->workspaces[i];
        w->name = read_name(r);
        w->type = read_name(r);
        w->count = read_text(r, MAX_LINE, false);
        w->clear = read_bool(r);
    }
}

static void read_launch(struct old_serial *r, struct launch *l, int nargs)
{
    l->kernel = read_name(r);
    for (int d = 0; d < 3; d++) {
        l->grid[d] = read_text(r, MAX_LINE, true);
        l->block[d] = read_text(r, MAX_LINE, true);
    }
    l->shared = read_text(r, MAX_LINE, true);
    l->nargs = read_counted(r, 0, 2 * MAX_ARGS);
    l->args = serial_array(r, &l->nargs, sizeof *l->args);
    for (int i = 0; i < l->nargs; i++)
        l->args[i] = read_below(r, nargs);
}

static void read_conditions(struct old_serial *r, struct tuned *t, int nargs)
{
    t->nwhere = read_counted(r, 0, MAX_CONDITIONS);
    t->where = serial_array(r, &t->nwhere, sizeof *t->where);
    for (int i = 0; i < t->nwhere; i++)
        t->where[i] = read_text(r, MAX_LINE, false);
    t->nneeds = read_counted(r, 0, MAX_CONDITIONS);
    t->needs = serial_array(r, &t->nneeds, sizeof *t->needs);
    for (int i = 0; i < t->nneeds; i++) {
        struct need *n = &t->needs[i];
        n->kind = get_u8(r->in);
        n->arg = read_below(r, nargs);
        n->bytes = read_text(r, MAX_LINE, n->kind != NEED_ALIGN);
        if (n->kind > NEED_NOALIAS)
            r->in->bad = true;
    }
}

int tuned_get(struct cursor *in, struct tuned *t, int nargs)
{
    struct old_serial r = { .in = in, .arena = t->arena };
    if (get_u32(in) != MAGIC)
        in->bad = true;
    read_params(&r, t);
    read_workspaces(&r, t);
    t->nlaunches = read_counted(&r, 1, MAX_LAUNCHES);
    t->launches = serial_array(&r, &t->nlaunches, sizeof *t->launches);
    for (int i = 0; i < t->nlaunches && !old_failed(&r); i++)
        read_launch(&r, &t->launches[i], nargs + t->nworkspaces);
    read_conditions(&r, t, nargs);
    t->nclear = read_counted(&r, 0, MAX_ARGS);
    t->clear = serial_array(&r, &t->nclear, sizeof *t->clear);
    for (int i = 0; i < t->nclear; i++)
        t->clear[i] = read_below(&r, nargs);
    if (r.nomem)
        return ERR_NOMEM;
    return in->bad || in->at != in->end ? ERR_CORRUPT : 0;
}

/* Of an op what its tables keep; what they do not, a caller of its kernels has no use for. */
static struct op interface_of(const struct op *op)
{
    return (struct op){ .arena = op->arena,
                        .name = op->name,
                        .naxes = op->naxes,
                        .axes = op->axes,
                        .ntypes = op->ntypes,
                        .types = op->types,
                        .nrows = op->nrows,
                        .rows = op->rows,
                        .nargs = op->nargs,
                        .args = op->args };
}

void packed_interface_put(struct buf *out, const struct op *op)
{
    struct arg args[MAX_ARGS];
    struct op face = interface_of(op);
    for (int i = 0; i < op->nargs; i++) {
        args[i] = op->args[i];
        args[i].type = arg_type(&op->args[i]);
        args[i].fill = FILL_AUTO;
        args[i].partial = false;
    }
    face.args = args;
    op_put(out, &face);
}

static bool texts_ok(const struct arg *a)
{
    bool ok = !a->value || text_ok(a->value, MAX_LINE, false);
    for (int d = 0; d < a->rank; d++)
        ok = ok && text_ok(a->extent[d], MAX_LINE, false);
    return ok;
}

int packed_interface_get(struct cursor *in, const char *hash, const char *contract, struct op **out)
{
    struct op *op;
    char interface[HASH_HEX], is[HASH_HEX];
    int rc = op_get(in, &op, NULL);
    if (rc)
        return rc == ERR_NOMEM ? rc : ERR_CORRUPT;
    *op = interface_of(op);
    bool ok = in->at == in->end;
    for (int i = 0; i < op->nargs; i++) {
        op->args[i].type = arg_type(&op->args[i]);
        op->args[i].fill = FILL_AUTO;
        op->args[i].partial = false;
        ok = ok && texts_ok(&op->args[i]);
    }
    rc = ok ? interface_hash(op, interface, NULL) : ERR_CORRUPT;
    if (!rc)
        rc = identity_hash(interface, contract, is, NULL);
    if (!rc && strcmp(is, hash) != 0)
        rc = ERR_CORRUPT;
    if (rc)
        op_free(op);
    else
        *out = op;
    return rc;
}
