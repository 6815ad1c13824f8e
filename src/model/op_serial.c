/* The op as bytes and back. The reader bounds what it allocates by the bytes that are left; what the values mean together is
 * op_check's. */
#include <string.h>

#include "model/op.h"
#include "model/serial.h"

enum { MAGIC = 0x326f7563 }; /* "cuo2": of this form; another form gets another number */

static void put_vals(struct buf *out, const struct val *v, int n)
{
    put_count(out, n);
    for (int i = 0; i < n; i++)
        put_val(out, v[i]);
}

static void put_arg(struct buf *out, const struct arg *a)
{
    buf_lstr(out, a->name);
    buf_u8(out, (uint8_t)a->kind);
    buf_lstr(out, a->type);
    put_count(out, a->rank);
    for (int i = 0; i < a->rank; i++)
        buf_lstr(out, a->extent[i]);
    buf_lstr(out, a->value);
    buf_u8(out, (uint8_t)a->fill);
    buf_u8(out, a->partial);
}

static void put_conditions(struct buf *out, const struct variant *v)
{
    put_needs(out, v->needs, v->nneeds);
    put_ints(out, v->clear, v->nclear);
    buf_lstr(out, v->requires.backend);
    put_count(out, v->requires.cc);
    buf_u8(out, v->requires.arch_specific);
    buf_u8(out, v->requires.grid_order);
    buf_u8(out, v->requires.grid_progress);
}

static void put_variant(struct buf *out, const struct variant *v)
{
    buf_lstr(out, v->name);
    buf_lstr(out, v->template_name);
    buf_lstr(out, v->template_text);
    put_count(out, v->nparams);
    for (int i = 0; i < v->nparams; i++) {
        buf_lstr(out, v->params[i].name);
        put_vals(out, v->params[i].values, v->params[i].n);
    }
    put_count(out, v->nwhere);
    for (int i = 0; i < v->nwhere; i++)
        buf_lstr(out, v->where[i].text);
    put_count(out, v->nlaunches);
    for (int i = 0; i < v->nlaunches; i++)
        put_launch(out, &v->launches[i]);
    put_workspaces(out, v->workspaces, v->nworkspaces);
    put_conditions(out, v);
}

static void put_problem(struct buf *out, const struct op *op)
{
    put_count(out, op->naxes);
    for (int i = 0; i < op->naxes; i++) {
        buf_lstr(out, op->axes[i].name);
        buf_u8(out, (uint8_t)op->axes[i].kind);
    }
    put_count(out, op->ntypes);
    for (int i = 0; i < op->ntypes; i++)
        buf_lstr(out, op->types[i]);
    put_count(out, op->nrows);
    for (int i = 0; i < op->nrows * op->ntypes; i++)
        buf_lstr(out, op->rows[i]->name);
    put_count(out, op->nargs);
    for (int i = 0; i < op->nargs; i++)
        put_arg(out, &op->args[i]);
    put_count(out, op->nshapes);
    for (int i = 0; i < op->nshapes; i++) {
        for (int a = 0; a < op->naxes; a++)
            buf_i64(out, op->shapes[i].size[a]);
        buf_lstr(out, op->shapes[i].when);
    }
}

void op_put(struct buf *out, const struct op *op)
{
    buf_u32(out, MAGIC);
    buf_lstr(out, op->name);
    buf_lstr(out, op->file);
    put_problem(out, op);
    buf_lstr(out, op->work_bytes);
    buf_lstr(out, op->work_flops);
    buf_lstr(out, op->reference_name);
    buf_lstr(out, op->reference_text);
    put_launch(out, &op->reference);
    buf_u8(out, (uint8_t)op->check);
    buf_lstr(out, op->check_length);
    put_count(out, op->nvariants);
    for (int i = 0; i < op->nvariants; i++)
        put_variant(out, &op->variants[i]);
    put_count(out, op->ndefaults);
    for (int i = 0; i < op->ndefaults; i++) {
        put_count(out, op->defaults[i].variant);
        put_vals(out, op->defaults[i].values, op->variants[op->defaults[i].variant].nparams);
    }
    buf_lstr(out, op->prelude_cuda);
    buf_lstr(out, op->prelude_opencl);
    put_count(out, op->nincludes);
    for (int i = 0; i < op->nincludes; i++) {
        buf_lstr(out, op->includes[i].name);
        buf_lstr(out, op->includes[i].text);
        buf_u8(out, op->includes[i].shared);
    }
}

static struct val *read_vals(struct serial *r, int *n)
{
    *n = read_count(r);
    struct val *v = serial_array(r, n, sizeof *v);
    for (int i = 0; i < *n && !serial_failed(r); i++)
        v[i] = read_val(r);
    return v;
}

static void read_launch(struct serial *r, struct launch *l)
{
    l->kernel = read_str(r);
    for (int d = 0; d < 3; d++) {
        l->grid[d] = read_str(r);
        l->block[d] = read_str(r);
    }
    l->shared = read_str(r);
    l->args = read_ints(r, &l->nargs);
}

static void read_arg(struct serial *r, struct arg *a)
{
    a->name = read_str(r);
    a->kind = get_u8(r->in);
    a->type = read_str(r);
    a->rank = read_count(r);
    if (a->rank > MAX_RANK) {
        r->in->bad = true;
        a->rank = 0;
    }
    for (int i = 0; i < a->rank; i++)
        a->extent[i] = read_str(r);
    a->value = read_str(r);
    a->fill = get_u8(r->in);
    a->partial = read_bool(r);
}

static void read_conditions(struct serial *r, struct variant *v)
{
    v->nneeds = read_count(r);
    v->needs = serial_array(r, &v->nneeds, sizeof *v->needs);
    for (int i = 0; i < v->nneeds; i++) {
        v->needs[i].kind = get_u8(r->in);
        v->needs[i].arg = read_int(r);
        v->needs[i].bytes = read_str(r);
    }
    v->clear = read_ints(r, &v->nclear);
    v->requires.backend = read_str(r);
    v->requires.cc = read_int(r);
    v->requires.arch_specific = read_bool(r);
    v->requires.grid_order = read_bool(r);
    v->requires.grid_progress = read_bool(r);
}

static void read_variant(struct serial *r, struct variant *v)
{
    v->name = read_str(r);
    v->template_name = read_str(r);
    v->template_text = read_str(r);
    v->nparams = read_count(r);
    v->params = serial_array(r, &v->nparams, sizeof *v->params);
    for (int i = 0; i < v->nparams && !serial_failed(r); i++) {
        v->params[i].name = read_str(r);
        v->params[i].values = read_vals(r, &v->params[i].n);
    }
    v->nwhere = read_count(r);
    v->where = serial_array(r, &v->nwhere, sizeof *v->where);
    for (int i = 0; i < v->nwhere; i++)
        v->where[i].text = read_str(r);
    v->nlaunches = read_count(r);
    v->launches = serial_array(r, &v->nlaunches, sizeof *v->launches);
    for (int i = 0; i < v->nlaunches && !serial_failed(r); i++)
        read_launch(r, &v->launches[i]);
    v->nworkspaces = read_count(r);
    v->workspaces = serial_array(r, &v->nworkspaces, sizeof *v->workspaces);
    for (int i = 0; i < v->nworkspaces; i++) {
        v->workspaces[i].name = read_str(r);
        v->workspaces[i].type = read_str(r);
        v->workspaces[i].count = read_str(r);
        v->workspaces[i].clear = read_bool(r);
    }
    read_conditions(r, v);
}

static void read_rows(struct serial *r, struct op *op)
{
    op->nrows = read_count(r);
    if (op->ntypes > MAX_TYPES || op->nrows > INT32_MAX / MAX_TYPES) {
        r->in->bad = true;
        op->nrows = 0;
    }
    int n = op->nrows * op->ntypes;
    op->rows = serial_array(r, &n, sizeof *op->rows);
    for (int i = 0; i < n; i++) {
        const char *name = read_str(r);
        op->rows[i] = name ? dtype_find(name) : NULL;
    }
}

static void read_shapes(struct serial *r, struct op *op)
{
    op->nshapes = read_count(r);
    op->shapes = serial_array(r, &op->nshapes, sizeof *op->shapes);
    for (int i = 0; i < op->nshapes && !serial_failed(r); i++) {
        int n = op->naxes;
        int64_t *size = serial_array(r, &n, sizeof *size);
        for (int a = 0; a < n; a++)
            size[a] = get_i64(r->in);
        op->shapes[i] = (struct shape){ .size = size, .when = read_str(r) };
    }
}

static void read_problem(struct serial *r, struct op *op)
{
    op->naxes = read_count(r);
    op->axes = serial_array(r, &op->naxes, sizeof *op->axes);
    for (int i = 0; i < op->naxes; i++) {
        op->axes[i].name = read_str(r);
        op->axes[i].kind = get_u8(r->in);
    }
    op->ntypes = read_count(r);
    op->types = serial_array(r, &op->ntypes, sizeof *op->types);
    for (int i = 0; i < op->ntypes; i++)
        op->types[i] = read_str(r);
    read_rows(r, op);
    op->nargs = read_count(r);
    op->args = serial_array(r, &op->nargs, sizeof *op->args);
    for (int i = 0; i < op->nargs; i++)
        read_arg(r, &op->args[i]);
    read_shapes(r, op);
}

static void read_defaults(struct serial *r, struct op *op)
{
    op->ndefaults = read_count(r);
    op->defaults = serial_array(r, &op->ndefaults, sizeof *op->defaults);
    for (int i = 0; i < op->ndefaults && !serial_failed(r); i++) {
        struct default_config *d = &op->defaults[i];
        int nvalues;
        d->variant = read_int(r);
        d->values = read_vals(r, &nvalues);
        if (d->variant < 0 || d->variant >= op->nvariants || nvalues != op->variants[d->variant].nparams)
            r->in->bad = true;
    }
}

static void read_includes(struct serial *r, struct op *op)
{
    op->nincludes = read_count(r);
    op->includes = serial_array(r, &op->nincludes, sizeof *op->includes);
    for (int i = 0; i < op->nincludes; i++) {
        op->includes[i].name = read_str(r);
        op->includes[i].text = read_str(r);
        op->includes[i].shared = read_bool(r);
    }
}

static void read_op(struct serial *r, struct op *op)
{
    if (get_u32(r->in) != MAGIC)
        r->in->bad = true;
    op->name = read_str(r);
    op->file = read_str(r);
    read_problem(r, op);
    op->work_bytes = read_str(r);
    op->work_flops = read_str(r);
    op->reference_name = read_str(r);
    op->reference_text = read_str(r);
    read_launch(r, &op->reference);
    op->check = get_u8(r->in);
    op->check_length = read_str(r);
    op->nvariants = read_count(r);
    op->variants = serial_array(r, &op->nvariants, sizeof *op->variants);
    for (int i = 0; i < op->nvariants && !serial_failed(r); i++)
        read_variant(r, &op->variants[i]);
    read_defaults(r, op);
    op->prelude_cuda = read_str(r);
    op->prelude_opencl = read_str(r);
    read_includes(r, op);
}

int op_get(struct cursor *in, struct op **out, struct err *err)
{
    struct op *op = op_new();
    if (!op)
        return err_nomem(err);
    struct serial r = { .in = in, .arena = op->arena };
    read_op(&r, op);
    int rc;
    if (r.nomem)
        rc = err_nomem(err);
    else if (in->bad)
        rc = err_set(err, ERR_CORRUPT, "op: its bytes are cut or not as cutune writes them");
    else if ((rc = op_check(op, err)) == 0)
        *out = op;
    if (rc < 0)
        op_free(op);
    return rc;
}
