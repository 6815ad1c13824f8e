/* The op as bytes and back: the one serial form, which children are sent, which the database keeps and which an exported file holds.
 *
 * A new member is one more line in the function of its struct, and raises OP_FORM: read it if s->form has it. What the values mean together
 * is op_check's to judge; that each is there and within its bounds is seen here. */
#include "model/serial.h"

/* "cuo" and the form, a letter. All from FIRST_FORM on are read, since databases hold them. */
enum { MAGIC = 0x6f7563, FIRST_FORM = '3' };

static void io_axes(struct serial *s, struct op *op)
{
    io_array(s, &op->axes, &op->naxes, 1, MAX_AXES, sizeof *op->axes);
    for (int i = 0; i < op->naxes; i++) {
        io_str(s, &op->axes[i].name);
        io_enum(s, &op->axes[i].kind, AXIS_FLAG);
        if (s->form >= '4')
            io_str(s, &op->axes[i].max);
        if (s->form >= '5')
            io_str(s, &op->axes[i].preset);
    }
}

static void io_texts(struct serial *s, const char ***texts, int *n, int most)
{
    io_array(s, texts, n, 0, most, sizeof **texts);
    for (int i = 0; i < *n; i++)
        io_given(s, &(*texts)[i]);
}

static void io_files(struct serial *s, struct template_file **files, int *n, int most)
{
    io_array(s, files, n, 0, most, sizeof **files);
    for (int i = 0; i < *n; i++) {
        io_given(s, &(*files)[i].name);
        io_given(s, &(*files)[i].text);
    }
}

static void io_dtype(struct serial *s, const struct dtype **type)
{
    const char *name = s->in ? NULL : (*type)->name;
    io_str(s, &name);
    if (!s->in)
        return;
    *type = name ? dtype_find(name) : NULL;
    s->in->bad = s->in->bad || !*type;
}

static void io_types(struct serial *s, struct op *op)
{
    int cells = op->nrows * op->ntypes;
    io_array(s, &op->types, &op->ntypes, 1, MAX_TYPES, sizeof *op->types);
    for (int i = 0; i < op->ntypes; i++)
        io_str(s, &op->types[i]);
    io_count(s, &op->nrows, 1, MAX_ROWS);
    if (s->in) {
        cells = op->nrows * op->ntypes;
        op->rows = arena_array(s->arena, (size_t)cells, sizeof *op->rows);
        s->nomem = s->nomem || !op->rows;
    }
    for (int i = 0; i < cells && op->rows; i++)
        io_dtype(s, &op->rows[i]);
}

/* What it may rest on besides kind and length came with form 4. */
static void io_check(struct serial *s, struct check *c)
{
    io_enum(s, &c->kind, s->form >= '4' ? CHECK_CLOSE : CHECK_SUM);
    io_str(s, &c->length);
    if (s->form >= '4') {
        io_str(s, &c->rtol);
        io_str(s, &c->atol);
    }
}

static void io_data_file(struct serial *s, struct data_file *f)
{
    io_str(s, &f->name);
    if (!f->name)
        return;
    io_str(s, &f->digest);
    io_str(s, &f->element);
    io_count(s, &f->rank, 0, MAX_RANK);
    for (int i = 0; i < f->rank; i++)
        io_number(s, &f->shape[i], 0, INT64_MAX);
    io_number(s, &f->at, 0, INT64_MAX);
    io_number(s, &f->bytes, 0, INT64_MAX);
}

static void io_data(struct serial *s, struct arg_data *d)
{
    io_str(s, &d->range[0]);
    io_str(s, &d->range[1]);
    io_str(s, &d->below);
    for (int i = 0; i < 3 && s->form >= '6'; i++)
        io_str(s, &d->peaks[i]);
    io_bool(s, &d->sorted);
    io_bool(s, &d->init);
    io_data_file(s, &d->file);
}

static void io_arg(struct serial *s, struct arg *a)
{
    io_str(s, &a->name);
    io_enum(s, &a->kind, s->form >= '4' ? ARG_SCALAR : ARG_VALUE);
    io_str(s, &a->type);
    io_count(s, &a->rank, 0, MAX_RANK);
    for (int i = 0; i < a->rank; i++)
        io_given(s, &a->extent[i]);
    io_str(s, &a->value);
    io_enum(s, &a->fill, FILL_NUMBERS);
    io_bool(s, &a->partial);
    if (s->form >= '4') {
        io_bool(s, &a->own_check);
        if (a->own_check)
            io_check(s, &a->check);
        io_data(s, &a->data);
        io_str(s, &a->constant);
        io_str(s, &a->other);
    }
}

static void io_shapes(struct serial *s, struct op *op)
{
    io_array(s, &op->shapes, &op->nshapes, 0, MAX_SHAPES, sizeof *op->shapes);
    for (int i = 0; i < op->nshapes; i++) {
        for (int a = 0; a < op->naxes; a++)
            io_number(s, &op->shapes[i].problem.size[a], 0, INT64_MAX);
        io_str(s, &op->shapes[i].when);
    }
}

void io_workspaces(struct serial *s, struct variant *v)
{
    io_array(s, &v->workspaces, &v->nworkspaces, 0, MAX_ARGS, sizeof *v->workspaces);
    for (int i = 0; i < v->nworkspaces; i++) {
        io_str(s, &v->workspaces[i].name);
        io_str(s, &v->workspaces[i].type);
        io_given(s, &v->workspaces[i].count);
        io_bool(s, &v->workspaces[i].clear);
    }
}

static void io_build(struct serial *s, struct build *b)
{
    if (s->form < '4')
        return;
    io_str(s, &b->language);
    io_files(s, &b->more, &b->nmore, MAX_FILES);
    io_array(s, &b->options, &b->noptions, 0, MAX_OPTIONS, sizeof *b->options);
    for (int i = 0; i < b->noptions; i++) {
        io_given(s, &b->options[i].backend);
        io_given(s, &b->options[i].text);
    }
}

static void io_launches(struct serial *s, struct variant *v)
{
    io_array(s, &v->launches, &v->nlaunches, 1, MAX_LAUNCHES, sizeof *v->launches);
    for (int i = 0; i < v->nlaunches && !serial_failed(s); i++)
        io_whole_launch(s, &v->launches[i]);
}

/* Its first launch is always there, as it was the only one before form 4. Most references have no other, and no workspaces. */
static void io_reference(struct serial *s, struct variant *r)
{
    struct launch none = { .kernel = NULL }, *first = r->nlaunches ? r->launches : &none;
    bool more = r->nlaunches > 1 || r->nworkspaces;
    io_str(s, &r->template_name);
    io_str(s, &r->template_text);
    io_build(s, &r->build);
    if (s->in && r->template_text) {
        r->launches = first = arena_alloc(s->arena, sizeof *first);
        r->nlaunches = 1;
        s->nomem = s->nomem || !first;
    }
    if (!first) /* without memory */
        return;
    io_whole_launch(s, first);
    if (s->form < '4')
        return;
    io_bool(s, &more);
    if (more) {
        io_launches(s, r);
        io_workspaces(s, r);
    }
}

static void io_params(struct serial *s, struct variant *v)
{
    io_array(s, &v->params, &v->nparams, 0, MAX_PARAMS, sizeof *v->params);
    for (int i = 0; i < v->nparams && !serial_failed(s); i++) {
        struct param *p = &v->params[i];
        io_str(s, &p->name);
        io_array(s, &p->values, &p->n, 1, MAX_VALUES, sizeof *p->values);
        for (int k = 0; k < p->n && !serial_failed(s); k++)
            io_val(s, &p->values[k]);
    }
}

static void io_needs(struct serial *s, struct variant *v)
{
    io_array(s, &v->needs, &v->nneeds, 0, MAX_NEEDS, sizeof *v->needs);
    for (int i = 0; i < v->nneeds; i++) {
        io_enum(s, &v->needs[i].kind, NEED_NOALIAS);
        io_int(s, &v->needs[i].arg, 0, MAX_ARGS - 1);
        io_str(s, &v->needs[i].bytes);
    }
}

static void io_variant(struct serial *s, struct variant *v)
{
    io_str(s, &v->name);
    io_given(s, &v->template_name);
    io_given(s, &v->template_text);
    io_build(s, &v->build);
    io_params(s, v);
    io_texts(s, &v->where, &v->nwhere, MAX_WHERE);
    io_launches(s, v);
    io_workspaces(s, v);
    io_needs(s, v);
    io_ints(s, &v->clear, &v->nclear, MAX_ARGS);
    io_str(s, &v->requires.backend);
    io_int(s, &v->requires.cc, 0, INT32_MAX);
    io_bool(s, &v->requires.arch_specific);
    io_bool(s, &v->requires.grid_order);
    io_bool(s, &v->requires.grid_progress);
}

/* The values themselves, in the order of the variant's parameters. */
static void io_default(struct serial *s, const struct op *op, struct op_default *d)
{
    struct config *c = &d->config;
    io_int(s, &c->variant, 0, op->nvariants - 1);
    if (serial_failed(s))
        return;
    const struct variant *v = &op->variants[c->variant];
    int n = v->nparams;
    io_count(s, &n, n, n);
    for (int i = 0; i < n; i++) {
        struct val value = { .type = VAL_NIL };
        if (!s->in)
            value = v->params[i].values[c->at[i]];
        io_val(s, &value);
        int at = s->in ? param_value(&v->params[i], value) : c->at[i];
        if (at < 0)
            s->in->bad = true;
        else
            c->at[i] = (uint16_t)at;
    }
    io_count(s, &d->nwhen, 0, MAX_WHEN);
    for (int i = 0; i < d->nwhen; i++)
        io_given(s, &d->when[i]);
}

static void io_includes(struct serial *s, struct op *op)
{
    io_array(s, &op->includes, &op->nincludes, 0, MAX_INCLUDES, sizeof *op->includes);
    for (int i = 0; i < op->nincludes; i++) {
        io_given(s, &op->includes[i].name);
        io_given(s, &op->includes[i].text);
        io_bool(s, &op->includes[i].shared);
        if (s->form >= '4')
            io_bool(s, &op->includes[i].outside);
    }
    if (s->form < '4')
        return;
    io_texts(s, &op->include_dirs, &op->ninclude_dirs, MAX_INCLUDE_DIRS);
    io_texts(s, &op->header_dirs, &op->nheader_dirs, MAX_INCLUDE_DIRS);
    io_str(s, &op->headers);
}

static void io_metrics(struct serial *s, struct op *op)
{
    io_array(s, &op->metrics, &op->nmetrics, 0, MAX_METRICS, sizeof *op->metrics);
    for (int i = 0; i < op->nmetrics; i++) {
        io_str(s, &op->metrics[i].name);
        io_given(s, &op->metrics[i].value);
        io_bool(s, &op->metrics[i].minimize);
    }
    io_str(s, &op->objective);
}

/* Of a stored kernel there are none. */
static void io_peers(struct serial *s, struct op *op)
{
    if (s->form < '4')
        return;
    io_array(s, &op->peers, &op->npeers, 0, MAX_PEERS, sizeof *op->peers);
    for (int i = 0; i < op->npeers && !serial_failed(s); i++) {
        struct peer *p = &op->peers[i];
        io_enum(s, &p->library, LIBRARY_CUTENSOR);
        io_enum(s, &p->call, CALL_GEMM);
        io_enum(s, &p->mode, MODE_F16);
        io_str(s, &p->when);
        for (int k = 0; k < 3; k++)
            io_int(s, &p->buffer[k], -1, MAX_ARGS - 1);
        for (int k = 0; k < PEER_NUMBERS; k++)
            io_str(s, &p->number[k]);
    }
}

static void io_init(struct serial *s, struct variant *init)
{
    bool there = init->template_text;
    if (s->form < '4')
        return;
    io_bool(s, &there);
    if (!there)
        return;
    init->name = "init";
    io_given(s, &init->template_name);
    io_given(s, &init->template_text);
    io_build(s, &init->build);
    io_launches(s, init);
}

static void io_op(struct serial *s, struct op *op)
{
    io_str(s, &op->name);
    io_str(s, &op->file);
    io_axes(s, op);
    io_types(s, op);
    if (s->form >= '4')
        io_texts(s, &op->where, &op->nwhere, MAX_WHERE);
    io_array(s, &op->args, &op->nargs, 1, MAX_ARGS, sizeof *op->args);
    for (int i = 0; i < op->nargs; i++)
        io_arg(s, &op->args[i]);
    io_shapes(s, op);
    io_str(s, &op->work_bytes);
    io_str(s, &op->work_flops);
    io_reference(s, &op->reference);
    io_check(s, &op->check);
    io_array(s, &op->variants, &op->nvariants, 0, MAX_VARIANTS, sizeof *op->variants);
    for (int i = 0; i < op->nvariants && !serial_failed(s); i++)
        io_variant(s, &op->variants[i]);
    io_array(s, &op->defaults, &op->ndefaults, 0, MAX_OP_DEFAULTS, sizeof *op->defaults);
    for (int i = 0; i < op->ndefaults && !serial_failed(s); i++)
        io_default(s, op, &op->defaults[i]);
    io_files(s, &op->preludes, &op->npreludes, MAX_PRELUDES);
    io_includes(s, op);
    if (s->form >= '4') {
        io_metrics(s, op);
        io_str(s, &op->outside);
        io_str(s, &op->outside_digest);
        io_bool(s, &op->outside_beside);
    }
    io_init(s, &op->init);
    io_peers(s, op);
}

void op_put_form(struct buf *out, const struct op *op, int form)
{
    struct serial s = { .out = out, .form = form };
    buf_u32(out, MAGIC | (uint32_t)form << 24);
    io_op(&s, (struct op *)op); /* writing changes nothing */
}

void op_put(struct buf *out, const struct op *op)
{
    op_put_form(out, op, OP_FORM);
}

int op_get(struct cursor *in, bool lines, struct op **out, struct err *err)
{
    struct op *op = op_new();
    if (!op)
        return err_nomem(err);
    struct serial s = { .in = in, .arena = op->arena, .lines = lines };
    uint32_t head = get_u32(in);
    s.form = (int)(head >> 24);
    if ((head & 0xffffff) != MAGIC || s.form < FIRST_FORM || s.form > OP_FORM)
        in->bad = true;
    io_op(&s, op);
    int rc = 0;
    if (s.nomem)
        rc = err_nomem(err);
    else if (in->bad)
        rc = err_set(err, ERR_CORRUPT, "op: its bytes are cut or not as cutune writes them");
    rc = rc ?: op_check(op, err);
    if (rc)
        op_free(op);
    else
        *out = op;
    return rc;
}
