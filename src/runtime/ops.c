/* What ops take, told to callers. */
#include "runtime/ops.h"

#include <string.h>

#include "base/mem.h"

_Static_assert(CUTUNE_RANK == (int)MAX_RANK && CUTUNE_AXES == (int)MAX_AXES && CUTUNE_ARGS == (int)MAX_ARGS,
               "cutune.h and model/op.h have the same limits");
_Static_assert(CUTUNE_ARG_INPUT == (int)ARG_INPUT && CUTUNE_ARG_OUTPUT == (int)ARG_OUTPUT && CUTUNE_ARG_INOUT == (int)ARG_INOUT,
               "cutune.h and model/op.h name the same kinds of arguments");
_Static_assert(CUTUNE_AXIS_SIZE == (int)AXIS_SIZE && CUTUNE_AXIS_STRIDE == (int)AXIS_STRIDE &&
                   CUTUNE_AXIS_BATCH == (int)AXIS_BATCH && CUTUNE_AXIS_FLAG == (int)AXIS_FLAG,
               "cutune.h and model/op.h name the same kinds of axes");

static void op_forget(struct cutune_op *o)
{
    for (int i = 0; i < MAX_ARGS; i++)
        for (int d = 0; d < MAX_RANK; d++) {
            expr_free(o->extent[i][d]);
            expr_free(o->whole[i][d]);
        }
    for (int i = 0; i < MAX_AXES; i++)
        expr_free(o->preset[i]);
    plan_free(o->plan);
    arena_free(o->arena);
}

void ops_forget(struct cutune *c)
{
    for (struct cutune_op *o = c->described, *next; o; o = next) {
        next = o->next;
        op_forget(o);
    }
}

/* The axis whose name is the whole of an extent, if that is a row stride with a default. */
static int row_stride(const struct op *op, const char *extent)
{
    for (int i = 0; i < op->naxes; i++)
        if (op->axes[i].kind == AXIS_STRIDE && op->axes[i].preset && !strcmp(op->axes[i].name, extent))
            return i;
    return -1;
}

static int compile_arg(struct cutune_op *o, const struct scope *scope, int i, struct err *err)
{
    const struct arg *a = &o->op->args[o->arg[i]];
    int rc = 0;
    for (int d = 0; !rc && d < a->rank; d++) {
        int stride = o->stride[i][d] = row_stride(o->op, a->extent[d]);
        rc = expr_compile(a->extent[d], scope, &o->whole[i][d], err)
                 ?: expr_compile(stride < 0 ? a->extent[d] : o->op->axes[stride].preset, scope, &o->extent[i][d], err);
    }
    return rc;
}

static int describe_types(struct cutune_op *o, struct err *err)
{
    struct buf text = { 0 };
    o->types = arena_array(o->arena, (size_t)o->op->nrows, sizeof *o->types);
    int rc = o->types ? 0 : err_nomem(err);
    for (int row = 0; !rc && row < o->op->nrows; row++) {
        buf_clear(&text);
        op_row_print(&text, o->op, row);
        rc = buf_check(&text, err);
        if (!rc && !(o->types[row] = arena_strdup(o->arena, buf_text(&text))))
            rc = err_nomem(err);
    }
    buf_free(&text);
    return rc;
}

static int describe_op(struct cutune *c, const struct op *op, struct cutune_op **out, struct err *err)
{
    struct arena *arena;
    struct cutune_op *o = arena_with(sizeof *o, &arena);
    if (!o)
        return err_nomem(err);
    o->arena = arena;
    o->op = op;
    o->generation = c->generation;
    for (int i = 0; i < op->nargs; i++)
        if (op->args[i].kind != ARG_VALUE)
            o->arg[o->nargs++] = i;
    int rc = plan_new(op, -1, &o->plan, err) ?: describe_types(o, err);
    const struct scope *scope = rc ? NULL : plan_scope(o->plan);
    for (int i = 0; !rc && i < o->nargs; i++)
        rc = compile_arg(o, scope, i, err);
    for (int i = 0; !rc && i < op->naxes; i++)
        rc = op->axes[i].preset ? expr_compile(op->axes[i].preset, scope, &o->preset[i], err) : 0;
    if (rc) {
        op_forget(o);
        return rc;
    }
    o->next = c->described;
    *out = c->described = o;
    return 0;
}

int cutune_op_find(cutune *c, const char *name, const cutune_op **out)
{
    struct known_op *known;
    if (!c || !name || !out)
        return refuse(CUTUNE_ERR_INVALID, !c ? "no cutune given" : !name ? "no op named" : "no place for the op");
    if (check_forks(c->generation))
        return CUTUNE_ERR_INVALID;
    struct err why = { 0 };
    int rc = reading_begin(c, &why);
    if (rc)
        return outcome(rc, &why);
    rc = known_op_get(c, name, &known, &why);
    struct cutune_op *o = rc ? NULL : c->described;
    while (o && o->op != known->op)
        o = o->next;
    if (!rc && !o)
        rc = describe_op(c, known->op, &o, &why);
    rc = reading_end(c, rc, NULL);
    if (!rc)
        *out = o;
    return outcome(rc, &why);
}

struct each_op {
    int (*call)(void *arg, const char *name);
    void *arg;
    struct store *known; /* that told its ops already; null: none */
};

static int each_known(void *arg, const char *name)
{
    const struct each_op *e = arg;
    struct op *op = NULL;
    if (e->known && !store_op(e->known, name, &op, NULL)) {
        op_free(op);
        return 0;
    }
    return e->call(e->arg, name);
}

int cutune_each_op(cutune *c, int (*each)(void *arg, const char *name), void *arg)
{
    struct each_op e = { each, arg, NULL };
    struct err why = { 0 };
    int rc = listing_begin(c, each != NULL);
    if (rc)
        return rc;
    rc = c->store ? store_each_op(c->store, each_known, &e, &why) : 0;
    e.known = c->store;
    struct store *tables = rc ? NULL : tables_of(c);
    if (tables)
        rc = store_each_op(tables, each_known, &e, &why);
    reading_end(c, rc, NULL);
    return why.code ? outcome(rc, &why) : rc; /* what the function returned is no failure */
}

int cutune_op_args(const cutune_op *o)
{
    return o ? o->nargs : 0;
}

int cutune_op_arg(const cutune_op *o, int i, cutune_arg *out)
{
    if (i < 0 || i >= cutune_op_args(o) || !out || out->size < sizeof *out)
        return refuse(CUTUNE_ERR_INVALID, "no argument %d, or no cutune_arg with its size set", i);
    const struct arg *a = &o->op->args[o->arg[i]];
    out->name = a->name;
    out->kind = a->kind == ARG_SCALAR ? CUTUNE_ARG_SCALAR : (cutune_arg_kind)a->kind;
    out->type = arg_type(a);
    out->rank = a->rank;
    memcpy(out->extent, a->extent, sizeof out->extent);
    return CUTUNE_OK;
}

int cutune_op_axes(const cutune_op *o)
{
    return o ? o->op->naxes : 0;
}

int cutune_op_axis(const cutune_op *o, int i, cutune_axis *out)
{
    if (i < 0 || i >= cutune_op_axes(o) || !out || out->size < sizeof *out)
        return refuse(CUTUNE_ERR_INVALID, "no axis %d, or no cutune_axis with its size set", i);
    const struct axis *a = &o->op->axes[i];
    out->name = a->name;
    out->kind = (cutune_axis_kind)a->kind;
    out->preset = a->preset;
    return CUTUNE_OK;
}

const char *cutune_op_types(const cutune_op *o, int i)
{
    return o && i >= 0 && i < o->op->nrows ? o->types[i] : NULL;
}

int cutune_kernel_is_of(const cutune_kernel *k, const cutune_op *o)
{
    return k && o && k->known->op == o->op;
}
