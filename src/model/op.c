#include "model/op.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/pairs.h"

struct op *op_new(void)
{
    struct arena *arena;
    struct op *op = arena_with(sizeof *op, &arena);
    if (op)
        op->arena = arena;
    return op;
}

void op_free(struct op *op)
{
    if (op)
        arena_free(op->arena); /* the op itself lies in it */
}

struct op op_of_init(const struct op *op)
{
    struct op of = *op;
    of.nvariants = 1;
    of.variants = (struct variant *)&op->init; /* which nobody changes */
    of.ndefaults = of.nmetrics = 0;
    of.objective = NULL;
    return of;
}

void op_as_default(const struct op *op, const struct op_default *d, struct served *out)
{
    out->op = *op;
    out->variant = op->variants[d->config.variant];
    out->config = d->config;
    out->config.variant = 0;
    out->op.nvariants = 1;
    out->op.variants = &out->variant;
    for (int i = 0; i < out->variant.nwhere; i++)
        out->where[i] = out->variant.where[i];
    for (int i = 0; i < d->nwhen; i++)
        out->where[out->variant.nwhere++] = d->when[i];
    out->variant.where = out->where;
}

const struct variant *op_code(const struct op *op, const struct config *c)
{
    return c ? &op->variants[c->variant] : &op->reference;
}

int op_variant(const struct op *op, const char *name)
{
    return name_find(NAMED(op->variants, op->nvariants), name);
}

int op_type_of(const struct op *op, const char *type, bool *computing)
{
    char name[MAX_NAME + 1];
    size_t n = strlen(type), tail = strlen("_acc");
    int t = op_type(op, type);
    *computing = t < 0 && n > tail && n - tail < sizeof name && !strcmp(type + n - tail, "_acc");
    if (!*computing)
        return t;
    snprintf(name, sizeof name, "%.*s", (int)(n - tail), type);
    t = op_type(op, name);
    *computing = t >= 0;
    return t;
}

int op_type(const struct op *op, const char *name)
{
    return name_find(NAMED(op->types, op->ntypes), name);
}

const char *arg_type(const struct arg *a)
{
    return a->type ? a->type : "i64";
}

bool arg_is_buffer(const struct arg *a)
{
    return a->kind != ARG_VALUE && a->kind != ARG_SCALAR;
}

bool arg_is_written(const struct arg *a)
{
    return a->kind == ARG_OUTPUT || a->kind == ARG_INOUT;
}

const struct check *op_arg_check(const struct op *op, int arg)
{
    return op->args[arg].own_check ? &op->args[arg].check : &op->check;
}

bool op_checks(const struct op *op, enum check_kind kind)
{
    bool any = false;
    for (int i = 0; i < op->nargs; i++)
        any = any || (arg_is_written(&op->args[i]) && op_arg_check(op, i)->kind == kind);
    return any;
}

bool op_fills_bits(const struct op *op, enum fill fill)
{
    return fill == FILL_BITS || (fill == FILL_AUTO && !op_checks(op, CHECK_SUM) && !op_checks(op, CHECK_CLOSE));
}

bool data_given(const struct arg_data *d)
{
    return d->range[0] || d->range[1] || d->below || d->sorted || d->file.name || d->init;
}

bool data_said(const struct arg_data *d)
{
    return data_given(d) || d->peaks[0] || d->peaks[1] || d->peaks[2];
}

bool op_proves(const struct op *op)
{
    bool all = true;
    for (int i = 0; i < op->nargs; i++)
        all = all && op->args[i].kind != ARG_INOUT && (op->args[i].kind != ARG_OUTPUT || op->args[i].data.file.name);
    return op->reference.template_text || all;
}

const char *op_reference(const struct op *op)
{
    return op->reference.template_name ?: "of the op";
}

bool arg_is_constant(const struct op *op, const struct variant *v, int arg)
{
    bool passed = false;
    for (int i = 0; i < v->nlaunches; i++)
        for (int k = 0; k < v->launches[i].nargs; k++)
            passed = passed || v->launches[i].args[k] == arg;
    return op->args[arg].constant && !passed && v->launches != op->init.launches; /* which are to make inputs */
}

int param_value(const struct param *p, struct val v)
{
    for (int i = 0; i < p->n; i++)
        if (val_eq(p->values[i], v))
            return i;
    return -1;
}

/* The types that a user's words give; those left out stay null. */
static int read_types(const struct op *op, const char *text, const struct dtype *given[MAX_TYPES], struct err *err)
{
    const struct pairs types = { "types", { "", op->name }, "type", "its types are", "", NULL, NAMED(op->types, op->ntypes) };
    struct pair pairs[MAX_TYPES] = { { 0 } };
    int rc = pairs_read(text, &types, pairs, err);
    for (int t = 0; !rc && t < op->ntypes; t++) {
        if (!pairs[t].name)
            continue;
        char name[8];
        snprintf(name, sizeof name, "%.*s", pairs[t].value_len, pairs[t].value);
        given[t] = dtype_find(name);
        if (!given[t])
            rc = err_set(err, ERR_INVALID, "types: %s=%.*s is no element type: try one like f32", op->types[t], pairs[t].value_len,
                         pairs[t].value);
    }
    return rc;
}

static int no_row(const struct op *op, const char *text, struct err *err)
{
    struct word_list known = { 0 };
    for (int r = 0; r < op->nrows; r++) {
        struct buf row = { 0 };
        op_row_print(&row, op, r);
        word_add(&known, buf_text(&row), "");
        buf_free(&row);
    }
    err_set(err, ERR_NOTFOUND, "types: %s does not take %.80s: it takes %s", op->name, *text ? text : "nothing", known.text);
    return -1;
}

int op_row(const struct op *op, const char *text, struct err *err)
{
    const struct dtype *given[MAX_TYPES] = { NULL };
    if (!strchr(text, '=')) {
        given[0] = dtype_find(text);
        if (!given[0])
            return no_row(op, text, err);
    } else if (read_types(op, text, given, err)) {
        return -1;
    }
    for (int r = 0; r < op->nrows; r++) {
        int t = 0;
        while (t < op->ntypes && (!given[t] || given[t] == op->rows[r * op->ntypes + t]))
            t++;
        if (t == op->ntypes)
            return r;
    }
    return no_row(op, text, err);
}

void op_row_print(struct buf *out, const struct op *op, int row)
{
    const struct dtype *const *types = &op->rows[row * op->ntypes];
    if (op->ntypes == 1) {
        buf_str(out, types[0]->name);
        return;
    }
    for (int t = 0; t < op->ntypes; t++)
        buf_fmt(out, "%s%s=%s", t ? "," : "", op->types[t], types[t]->name);
}

void op_data_print(struct buf *out, const struct op *op, const char *before)
{
    for (int i = 0; i < op->nargs; i++)
        if (op->args[i].data.file.name && op->args[i].kind != ARG_OUTPUT) {
            buf_fmt(out, "%s%s", before, op->args[i].data.file.name);
            before = ", ";
        }
}

const struct dtype *op_arg_dtype(const struct op *op, const char *type, int row)
{
    if (!type)
        type = "i64"; /* a value whose type the script does not say */
    bool computing;
    int t = op_type_of(op, type, &computing);
    const struct dtype *own = t < 0 ? dtype_find(type) : op->rows[row * op->ntypes + t];
    return computing ? dtype_computing(own) : own;
}

bool entry_ok(const char *s)
{
    size_t n = strspn(s, WORD_LETTERS " :<>,()&*+-./%!|^~?=[]"), word = strspn(s, WORD_LETTERS);
    return n && n <= MAX_ENTRY && !s[n] && (*s < '0' || *s > '9') && *s != ' ' && (word == n || strpbrk(s, "<:("));
}

bool name_ok(const char *s)
{
    size_t n = strspn(s, WORD_LETTERS);
    return n > 0 && n <= MAX_NAME && !s[n] && !(*s >= '0' && *s <= '9');
}

bool text_ok(const char *s, size_t max, bool many_lines)
{
    size_t n = 0;
    bool ascii = true;
    for (; s[n]; n++) {
        if (!many_lines && ((unsigned char)s[n] < ' ' || s[n] == 0x7f))
            return false;
        ascii = ascii && !(s[n] & 0x80);
    }
    return n <= max && (ascii || many_lines || utf8_ok(s));
}
