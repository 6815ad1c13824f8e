/* op_check: what everything else relies on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/include.h"

enum { MANY = MAX_MANY, MOST_VARIANTS = 256 };

static int counted(int n, int least, int most, const char *what, struct err *err)
{
    if (n >= least && n <= most)
        return 0;
    return err_set(err, ERR_INVALID, "%d %s: there can be %d to %d", n, what, least, most);
}

static int named(const char *name, const char *what, struct err *err)
{
    if (name && name_ok(name))
        return 0;
    return err_set(err, ERR_INVALID, "%s `%.80s` is no name: a letter or _, then letters, digits, _, at most %d in all", what,
                   name ? name : "", MAX_NAME);
}

/* The names so far that another one must differ from. */
struct names {
    const char *name[2 * MAX_ARGS + MAX_PARAMS + MAX_AXES + MAX_TYPES];
    int n;
};

static int name_once(struct names *seen, const char *name, const char *what, struct err *err)
{
    int rc = named(name, what, err);
    if (rc)
        return rc;
    for (int i = 0; i < seen->n; i++)
        if (!strcmp(seen->name[i], name))
            return err_set(err, ERR_INVALID, "%s %s: the name is taken: choose another", what, name);
    seen->name[seen->n++] = name;
    return 0;
}

/* A name that expressions use: it must not be a word of their language. */
static int scope_name(struct names *seen, const char *name, const char *what, struct err *err)
{
    static const char *const words[] = { "and", "or",  "not", "true",  "false",  "nil",  "device", "variant", "ceildiv",
                                         "min", "max", "abs", "floor", "sizeof", "log2", "ispow2", "alignup" };
    int rc = name_once(seen, name, what, err);
    if (rc)
        return rc;
    bool reserved = dtype_find(name) != NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        reserved = reserved || !strcmp(words[i], name);
    return reserved ? err_set(err, ERR_INVALID, "%s %s: a word of the expression language: choose another name", what, name) : 0;
}

static int check_axes(const struct op *op, struct names *scope, struct err *err)
{
    int rc = counted(op->naxes, 1, MAX_AXES, "axes", err);
    for (int i = 0; !rc && i < op->naxes; i++) {
        if ((unsigned)op->axes[i].kind > AXIS_FLAG)
            return err_set(err, ERR_INVALID, "axis %d has no kind that is known", i + 1);
        rc = scope_name(scope, op->axes[i].name, "axis", err);
    }
    return rc;
}

static int check_types(const struct op *op, struct names *scope, struct err *err)
{
    int rc = counted(op->ntypes, 1, MAX_TYPES, "types", err);
    for (int i = 0; !rc && i < op->ntypes; i++)
        rc = scope_name(scope, op->types[i], "type", err);
    rc = rc ?: counted(op->nrows, 1, MANY, "bindings of types", err);
    for (int i = 0; !rc && i < op->nrows * op->ntypes; i++)
        if (!op->rows[i])
            rc = err_set(err, ERR_INVALID, "binding %d of the types lacks an element type", i / op->ntypes + 1);
    return rc;
}

static int check_type_use(const struct op *op, const char *type, const char *what, const char *name, struct err *err)
{
    if (type && (op_type(op, type) >= 0 || dtype_find(type)))
        return 0;
    return err_set(err, ERR_INVALID, "%s %s: `%.80s` is no type: use one of the op's, or an element type such as f32", what, name,
                   type ? type : "");
}

static int check_arg(const struct op *op, const struct arg *a, struct err *err)
{
    if ((unsigned)a->kind > ARG_VALUE || (unsigned)a->fill > FILL_NUMBERS)
        return err_set(err, ERR_INVALID, "argument %s: no kind or filling that is known", a->name);
    bool value = a->kind == ARG_VALUE;
    if (value != (a->value != NULL) || (value && a->rank))
        return err_set(err, ERR_INVALID, "argument %s: a scalar has a value and no extents, a buffer has no value", a->name);
    if (a->partial && a->kind != ARG_OUTPUT)
        return err_set(err, ERR_INVALID, "argument %s: only an output can be partial", a->name);
    if (a->rank < 0 || a->rank > MAX_RANK)
        return err_set(err, ERR_INVALID, "argument %s: %d dimensions: there can be 0 to %d", a->name, a->rank, MAX_RANK);
    for (int i = 0; i < a->rank; i++)
        if (!a->extent[i])
            return err_set(err, ERR_INVALID, "argument %s: dimension %d has no extent", a->name, i + 1);
    return value && !a->type ? 0 : check_type_use(op, a->type, "argument", a->name, err);
}

static int check_args(const struct op *op, struct names *seen, struct err *err)
{
    int rc = counted(op->nargs, 1, MAX_ARGS, "arguments", err);
    for (int i = 0; !rc && i < op->nargs; i++) {
        rc = name_once(seen, op->args[i].name, "argument", err) ?: check_arg(op, &op->args[i], err);
    }
    return rc;
}

static int check_value(const struct param *p, int i, struct err *err)
{
    struct val v = p->values[i];
    if (v.type != p->values[0].type || v.type < VAL_BOOL || v.type > VAL_STR)
        return err_set(err, ERR_INVALID, "parameter %s: value %d is of another type than the first", p->name, i + 1);
    if (v.type == VAL_FLOAT && !isfinite(v.f))
        return err_set(err, ERR_INVALID, "parameter %s: value %d is not finite", p->name, i + 1);
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"; /* templates see NAME_word */
    if (v.type == VAL_STR && (!*v.s || strlen(v.s) > MAX_NAME || v.s[strspn(v.s, letters)]))
        return err_set(err, ERR_INVALID, "parameter %s: `%.80s` should be a word of letters, digits and _, at most %d", p->name,
                       v.s, MAX_NAME);
    return 0;
}

/* Some order over values of one type. */
static int val_order(const void *a, const void *b)
{
    const struct val *x = a, *y = b;
    switch (x->type) {
    case VAL_BOOL:
        return x->b - y->b;
    case VAL_INT:
        return (x->i > y->i) - (x->i < y->i);
    case VAL_FLOAT:
        return (x->f > y->f) - (x->f < y->f);
    case VAL_STR:
        return strcmp(x->s, y->s);
    case VAL_NIL:
        break;
    }
    return 0;
}

static int check_distinct(const struct param *p, struct err *err)
{
    struct val *sorted = mem_array((size_t)p->n, sizeof *sorted);
    if (!sorted)
        return err_nomem(err);
    memcpy(sorted, p->values, (size_t)p->n * sizeof *sorted);
    qsort(sorted, (size_t)p->n, sizeof *sorted, val_order);
    int same = 1;
    while (same < p->n && val_order(&sorted[same - 1], &sorted[same]))
        same++;
    int rc = 0;
    if (same < p->n) {
        struct buf text = { 0 };
        val_print(&text, sorted[same]);
        rc = err_set(err, ERR_INVALID, "parameter %s: the value %s is there twice", p->name, buf_text(&text));
        buf_free(&text);
    }
    mem_free(sorted);
    return rc;
}

static int check_params(const struct variant *v, struct names scope, struct err *err)
{
    int rc = counted(v->nparams, 0, MAX_PARAMS, "parameters", err);
    for (int i = 0; !rc && i < v->nparams; i++) {
        const struct param *p = &v->params[i];
        rc = scope_name(&scope, p->name, "parameter", err);
        if (!rc && (p->n < 1 || p->n > MAX_VALUES))
            rc = err_set(err, ERR_INVALID, "parameter %s: %d values: there can be 1 to %d", p->name, p->n, MAX_VALUES);
        for (int j = 0; !rc && j < p->n; j++)
            rc = check_value(p, j, err);
        rc = rc ?: check_distinct(p, err);
    }
    return rc;
}

static int check_launch(const struct launch *l, int known_args, struct err *err)
{
    int rc = named(l->kernel, "kernel", err) ?: counted(l->nargs, 0, 2 * MAX_ARGS, "arguments of a kernel", err);
    for (int i = 0; !rc && i < l->nargs; i++)
        if (l->args[i] < 0 || l->args[i] >= known_args)
            rc = err_set(err, ERR_INVALID, "kernel %s: its argument %d is none of the op's or variant's", l->kernel, i + 1);
    return rc;
}

static int check_workspaces(const struct op *op, const struct variant *v, struct names seen, struct err *err)
{
    int rc = counted(v->nworkspaces, 0, MAX_ARGS, "workspaces", err);
    for (int i = 0; !rc && i < v->nworkspaces; i++) {
        const struct workspace *w = &v->workspaces[i];
        rc = name_once(&seen, w->name, "workspace", err);
        if (!rc && !w->count)
            rc = err_set(err, ERR_INVALID, "workspace %s: has no count of elements", w->name);
        rc = rc ?: check_type_use(op, w->type, "workspace", w->name, err);
    }
    return rc;
}

static int check_needs(const struct op *op, const struct variant *v, struct err *err)
{
    int rc = counted(v->nneeds, 0, MANY, "preconditions", err);
    for (int i = 0; !rc && i < v->nneeds; i++) {
        const struct need *n = &v->needs[i];
        if ((unsigned)n->kind > NEED_NOALIAS || n->arg < 0 || n->arg >= op->nargs || op->args[n->arg].kind == ARG_VALUE)
            return err_set(err, ERR_INVALID, "precondition %d: must be of a buffer of the op's", i + 1);
        if ((n->kind == NEED_ALIGN) != (n->bytes != NULL))
            return err_set(err, ERR_INVALID, "precondition %d: an alignment has bytes, anything else has none", i + 1);
    }
    rc = rc ?: counted(v->nclear, 0, op->nargs, "cleared arguments", err);
    for (int i = 0; !rc && i < v->nclear; i++)
        if (v->clear[i] < 0 || v->clear[i] >= op->nargs || op->args[v->clear[i]].kind != ARG_OUTPUT)
            rc = err_set(err, ERR_INVALID, "cleared argument %d: must be an output of the op's", i + 1);
        else if (op->args[v->clear[i]].partial)
            rc = err_set(err, ERR_INVALID, "cleared argument %s: is partial, so what is left alone of it must stay as it was",
                         op->args[v->clear[i]].name);
    return rc;
}

static int check_requires(const struct requires *r, struct err *err)
{
    if (r->backend && !name_ok(r->backend))
        return err_set(err, ERR_INVALID, "requires: backend `%.40s` is no name", r->backend);
    if (r->cc < 0)
        return err_set(err, ERR_INVALID, "requires: cc %d: a compute capability times 10", r->cc);
    if (r->arch_specific && !r->cc)
        return err_set(err, ERR_INVALID, "requires: what is specific to an architecture must say its cc");
    return 0;
}

static int check_variant(const struct op *op, const struct variant *v, const struct names *scope, const struct names *args,
                         struct err *err)
{
    if (!v->template_name || !v->template_text)
        return err_set(err, ERR_INVALID, "has no template");
    int rc = check_params(v, *scope, err) ?: counted(v->nwhere, 0, MANY, "constraints", err);
    for (int i = 0; !rc && i < v->nwhere; i++)
        if (!v->where[i].text)
            rc = err_set(err, ERR_INVALID, "constraint %d is empty", i + 1);
    rc = rc ?: check_workspaces(op, v, *args, err) ?: counted(v->nlaunches, 1, MAX_LAUNCHES, "launches", err);
    for (int i = 0; !rc && i < v->nlaunches; i++)
        rc = check_launch(&v->launches[i], op->nargs + v->nworkspaces, err);
    return rc ?: check_needs(op, v, err) ?: check_requires(&v->requires, err);
}

static int check_variants(const struct op *op, const struct names *scope, const struct names *args, struct err *err)
{
    int rc = counted(op->nvariants, 0, MOST_VARIANTS, "variants", err);
    for (int i = 0; !rc && i < op->nvariants; i++) {
        const struct variant *v = &op->variants[i];
        rc = named(v->name, "variant", err);
        if (!rc && op_variant(op, v->name) != i)
            rc = err_set(err, ERR_INVALID, "variant %s is there twice", v->name);
        if (!rc) {
            rc = check_variant(op, v, scope, args, err);
            if (rc)
                err_prefix(err, "variant %s: ", v->name);
        }
    }
    return rc;
}

static int check_defaults(const struct op *op, struct err *err)
{
    int rc = counted(op->ndefaults, 0, MANY, "defaults", err);
    for (int i = 0; !rc && i < op->ndefaults; i++) {
        const struct default_config *d = &op->defaults[i];
        if (d->variant < 0 || d->variant >= op->nvariants)
            return err_set(err, ERR_INVALID, "default %d: has no variant of the op's", i + 1);
        const struct variant *v = &op->variants[d->variant];
        for (int j = 0; !rc && j < v->nparams; j++)
            if (param_value(&v->params[j], d->values[j]) < 0)
                rc = err_set(err, ERR_INVALID, "default %d: its %s is not among the values of variant %s", i + 1, v->params[j].name,
                             v->name);
    }
    return rc;
}

static int check_shapes(const struct op *op, struct err *err)
{
    int rc = counted(op->nshapes, 0, MANY, "shapes", err);
    for (int i = 0; !rc && i < op->nshapes; i++)
        for (int a = 0; !rc && a < op->naxes; a++)
            if (!axis_takes(&op->axes[a], op->shapes[i].size[a]))
                rc = err_set(err, ERR_INVALID, "shape %d: %s cannot be %lld", i + 1, op->axes[a].name,
                             (long long)op->shapes[i].size[a]);
    return rc;
}

static int check_reference(const struct op *op, struct err *err)
{
    if ((unsigned)op->check > CHECK_SUM)
        return err_set(err, ERR_INVALID, "check: no kind that is known");
    if (!op->reference_text)
        return 0;
    if (!op->reference_name)
        return err_set(err, ERR_INVALID, "reference: its template has no name");
    int rc = check_launch(&op->reference, op->nargs, err);
    if (rc)
        err_prefix(err, "reference: ");
    return rc;
}

static int check_preludes(const struct op *op, struct err *err)
{
    int rc = counted(op->npreludes, 0, MAX_PRELUDES, "preludes", err);
    for (int i = 0; !rc && i < op->npreludes; i++)
        if (!op->preludes[i].file || !op->preludes[i].text)
            return err_set(err, ERR_INVALID, "prelude %d has no name or no text", i + 1);
    return rc;
}

static int check_includes(const struct op *op, struct err *err)
{
    int rc = counted(op->nincludes, 0, MAX_INCLUDES, "included files", err);
    for (int i = 0; !rc && i < op->nincludes; i++) {
        const struct include *file = &op->includes[i];
        if (!file->name || !include_path_ok(file->name))
            return err_set(err, ERR_INVALID, "included file %d: `%.80s` is no path below a folder", i + 1,
                           file->name ? file->name : "");
        if (!file->text)
            return err_set(err, ERR_INVALID, "included file %s has no text", file->name);
        for (int k = 0; k < i; k++)
            if (op->includes[k].shared == file->shared && !strcmp(op->includes[k].name, file->name))
                return err_set(err, ERR_INVALID, "included file %s is there twice", file->name);
    }
    return rc;
}

int op_check(const struct op *op, struct err *err)
{
    struct names scope = { .n = 0 }, args = { .n = 0 };
    int rc = named(op->name, "op", err);
    if (rc)
        return rc;
    rc = check_axes(op, &scope, err)
        ?: check_types(op, &scope, err)
        ?: check_args(op, &args, err)
        ?: check_reference(op, err)
        ?: check_variants(op, &scope, &args, err)
        ?: check_defaults(op, err)
        ?: check_shapes(op, err)
        ?: check_preludes(op, err)
        ?: check_includes(op, err);
    if (rc)
        err_prefix(err, "op %s: ", op->name);
    return rc;
}
