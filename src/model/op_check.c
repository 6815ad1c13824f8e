/* op_check: what everything else relies on. That all is there which must be, and no more than may be, has been seen to: op.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/include.h"
#include "model/objective.h"
#include "model/op_must.h"
#include "model/pairs.h"

static int named(const char *name, const char *what, struct err *err)
{
    return must(name && name_ok(name), err, "%s `%.80s` is no name: a letter or _, then letters, digits, _, at most %d in all",
                what, name ?: "", MAX_NAME);
}

/* The names so far that another one must differ from. */
struct names {
    const char *name[2 * MAX_ARGS + MAX_PARAMS + MAX_AXES + MAX_TYPES];
    int n;
};

static int name_once(struct names *seen, const char *name, const char *what, struct err *err)
{
    int rc =
        named(name, what, err)
            ?: must(name_find(NAMED(seen->name, seen->n), name) < 0, err, "%s %s: the name is taken: choose another", what, name);
    if (!rc)
        seen->name[seen->n++] = name;
    return rc;
}

/* A name that expressions use: it must not be a word of their language. */
static int scope_name(struct names *seen, const char *name, const char *what, struct err *err)
{
    static const char *const words[] = { "and", "or",  "not", "true",  "false",  "nil",  "device", "variant", "ceildiv",
                                         "min", "max", "abs", "floor", "sizeof", "log2", "ispow2", "alignup" };
    return name_once(seen, name, what, err)
               ?: must(!dtype_find(name) && name_find(NAMED(words, sizeof words / sizeof *words), name) < 0, err,
                       "%s %s: a word of the expression language: choose another name", what, name);
}

static int check_scope(const struct op *op, struct names *scope, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < op->naxes; i++)
        rc = scope_name(scope, op->axes[i].name, "axis", err)
                 ?: must(!i || op->axes[i].preset || !op->axes[i - 1].preset, err,
                         "axis %s: it has no default, but %s before it has one: those come last", op->axes[i].name,
                         i ? op->axes[i - 1].name : "");
    for (int i = 0; !rc && i < op->ntypes; i++)
        rc = scope_name(scope, op->types[i], "type", err);
    return rc;
}

static int check_type_use(const struct op *op, const char *type, const char *what, const char *name, struct err *err)
{
    bool computing;
    return must(type && (op_type_of(op, type, &computing) >= 0 || dtype_find(type)), err,
                "%s %s: `%.80s` is no type: use one of the op's, or an element type such as f32", what, name, type ?: "");
}

static int check_check(const struct check *c, const char *whose, struct err *err)
{
    bool right = (c->kind == CHECK_SUM || !c->length) && (c->kind == CHECK_CLOSE || (!c->rtol && !c->atol));
    return must(right, err, "%s: its check has what belongs to another: only a sum has a length, only close rtol and atol", whose);
}

/* What a scalar was tuned with is not known of an op without kernels (interface_put). */
static int check_scalar_arg(const struct op *op, const struct arg *a, const struct names *scope, struct err *err)
{
    bool known = !op->nvariants && !op->reference.template_text;
    return must(a->type && !a->rank && !a->fill && (a->value || known), err,
                "argument %s: a scalar has a type and a value to tune with, and no extents", a->name)
               ?: must(name_find(NAMED(scope->name, scope->n), a->name) < 0, err,
                       "argument %s: a scalar cannot have the name of an axis or a type", a->name);
}

/* One value may be passed twice under its name: the rows and the columns of a square matrix. */
static bool value_again(const struct op *op, int i)
{
    const struct arg *a = &op->args[i];
    for (int k = 0; k < i && a->kind == ARG_VALUE; k++) {
        const struct arg *b = &op->args[k];
        if (b->kind == ARG_VALUE && a->value && b->value && a->name && !strcmp(b->name, a->name) && !strcmp(b->value, a->value) &&
            !strcmp(arg_type(a), arg_type(b)))
            return true;
    }
    return false;
}

static int check_arg(const struct op *op, int i, const struct names *scope, struct names *seen, struct err *err)
{
    const struct arg *a = &op->args[i];
    const bool value = a->kind == ARG_VALUE, scalar = a->kind == ARG_SCALAR, output = a->kind == ARG_OUTPUT;
    return (value_again(op, i) ? 0 : name_once(seen, a->name, "argument", err))
        ?: must(value ? a->value && !a->rank : scalar || !a->value, err,
                "argument %s: a value has an expression and no extents, a buffer has none", a->name)
        ?: (scalar ? check_scalar_arg(op, a, scope, err) : 0)
        ?: must(!a->constant || (a->kind == ARG_INPUT && entry_ok(a->constant)), err,
                "argument %s: only an input can be constant, by the name of an array of the kernels'", a->name)
        ?: must(!a->other || scalar, err, "argument %s: only a scalar has another value", a->name)
        ?: must(!a->partial || output, err, "argument %s: only an output can be partial", a->name)
        ?: must(!a->own_check || arg_is_written(a), err, "argument %s: only what is written has a check", a->name)
        ?: check_check(&a->check, a->name, err)
        ?: check_type_use(op, value ? arg_type(a) : a->type, "argument", a->name, err)
        ?: op_check_data(op, a, err);
}

static int check_args(const struct op *op, const struct names *scope, struct names *seen, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < op->nargs; i++)
        rc = check_arg(op, i, scope, seen, err);
    return rc;
}

static int check_value(const struct param *p, int i, struct err *err)
{
    const struct val v = p->values[i];
    const char *word = v.type == VAL_STR ? v.s : "word"; /* templates see NAME_word */
    return must(v.type == p->values[0].type, err, "parameter %s: value %d is of another type than the first", p->name, i + 1)
        ?: must(v.type != VAL_FLOAT || isfinite(v.f), err, "parameter %s: value %d is not finite", p->name, i + 1)
        ?: must(*word && strlen(word) <= MAX_NAME && !word[strspn(word, WORD_LETTERS)], err,
                "parameter %s: `%.80s` should be a word of letters, digits and _, at most %d", p->name, word, MAX_NAME);
}

/* Some order over values of one type. */
static int val_order(const void *a, const void *b)
{
    const struct val *x = a, *y = b;
    if (x->type == VAL_STR)
        return strcmp(x->s, y->s);
    if (x->type == VAL_FLOAT)
        return (x->f > y->f) - (x->f < y->f);
    int64_t i = x->type == VAL_BOOL ? x->b : x->i, j = x->type == VAL_BOOL ? y->b : y->i;
    return (i > j) - (i < j);
}

int param_distinct(const struct param *p, struct err *err)
{
    struct buf text = { 0 };
    struct val *sorted = mem_array((size_t)p->n, sizeof *sorted);
    if (!sorted)
        return err_nomem(err);
    memcpy(sorted, p->values, (size_t)p->n * sizeof *sorted);
    qsort(sorted, (size_t)p->n, sizeof *sorted, val_order);
    int same = 1;
    while (same < p->n && val_order(&sorted[same - 1], &sorted[same]))
        same++;
    if (same < p->n)
        val_print(&text, sorted[same]);
    int rc = must(same == p->n, err, "parameter %s: the value %s is there twice", p->name, buf_text(&text));
    buf_free(&text);
    mem_free(sorted);
    return rc;
}

static int check_params(const struct variant *v, struct names scope, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < v->nparams; i++) {
        const struct param *p = &v->params[i];
        rc = scope_name(&scope, p->name, "parameter", err);
        for (int j = 0; !rc && j < p->n; j++)
            rc = check_value(p, j, err);
        rc = rc ?: param_distinct(p, err);
    }
    return rc;
}

/* Buffers that change places: written ones, of one type. */
static int check_swaps(const struct op *op, const struct variant *v, const int *swaps, int n, struct err *err)
{
    const char *type[2];
    int rc = must(n % 2 == 0, err, "swap: %d buffers are no pairs", n);
    for (int i = 0; !rc && i < n; i++) {
        const struct arg *a = swaps[i] < op->nargs ? &op->args[swaps[i]] : NULL;
        int w = swaps[i] - op->nargs;
        rc = must(a ? arg_is_written(a) : w < v->nworkspaces, err,
                  "swap: entry %d: only outputs, inouts and workspaces change places", i / 2 + 1);
        if (!rc)
            type[i % 2] = a ? a->type : v->workspaces[w].type;
        if (!rc && i % 2)
            rc = must(swaps[i] != swaps[i - 1] && !strcmp(type[0], type[1]), err,
                      "swap: entry %d: two buffers of one type are needed", i / 2 + 1);
        for (int j = 1; !rc && i % 2 && j < i; j += 2)
            rc = must((swaps[i] != swaps[j] || swaps[i - 1] != swaps[j - 1]) && (swaps[i] != swaps[j - 1] || swaps[i - 1] != swaps[j]), err,
                      "swap: entries %d and %d name the same two buffers, which then stay where they are", j / 2 + 1, i / 2 + 1);
    }
    return rc;
}

/* Words that some expressions know beside the names of the op, and of v's parameters if there is one. */
static int words_free(const struct op *op, const struct variant *v, const char *const words[2], const char *whose, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < 2; i++) {
        bool taken = name_find(NAMED(op->axes, op->naxes), words[i]) >= 0 || op_type(op, words[i]) >= 0 ||
                     (v && name_find(NAMED(v->params, v->nparams), words[i]) >= 0);
        rc = must(!taken, err, "the name %s is %s: choose another", words[i], whose);
    }
    return rc;
}

static int check_repeats(const struct op *op, const struct variant *v, const struct launch *l, const struct names *args,
                         struct err *err)
{
    static const char *const words[2] = { "ROUND", "STEP" };
    struct names seen = *args;
    int rc = 0;
    for (int i = 0; !rc && i < l->nvalues; i++) {
        const struct dtype *t = dtype_find(l->values[i].type);
        rc = name_once(&seen, l->values[i].name, "value", err)
                 ?: must(t && t->kind != DT_COMPLEX, err, "value %s: `%.40s` is no type of a number", l->values[i].name,
                         l->values[i].type);
    }
    return rc ?: launch_repeats(l) ? words_free(op, v, words, "that of a repetition here", err) : 0;
}

static int check_launch_view(const struct op *op, const struct variant *v, const struct view *m, struct err *err)
{
    const struct arg *a = m->arg < op->nargs ? &op->args[m->arg] : NULL;
    int extents = m->nextents ?: a ? a->rank : 0;
    if (m->texture)
        return texture_check(op, v, m, err);
    return must(a ? arg_is_buffer(a) : m->arg - op->nargs < v->nworkspaces, err, "tensor map: must be of a buffer")
        ?: must(m->rank && m->rank == extents, err, "tensor map: a box of %d extents over %d: say `extent` if they are not the argument's",
                m->rank, extents)
        ?: must(!m->nstrides || m->nstrides == m->rank - 1, err, "tensor map: %d strides: all extents but the innermost have one",
                m->nstrides)
        ?: must(!m->nsteps || m->nsteps == m->rank, err, "tensor map: %d steps for %d extents", m->nsteps, m->rank);
}

static int check_launch(const struct op *op, const struct variant *v, const struct launch *l, const struct names *args,
                        struct err *err)
{
    int known_args = op->nargs + v->nworkspaces + l->nvalues + l->nviews;
    int rc = must(l->kernel && entry_ok(l->kernel), err, "kernel `%.80s` is no name of a function", l->kernel ?: "");
    for (int i = 0; !rc && i < l->nargs; i++)
        rc = must(l->args[i] < known_args, err, "its argument %d is none of the op's or variant's", i + 1);
    rc = rc
        ?: must(!l->together || (l != v->launches && !l->rounds && !l->nround_swaps), err,
                "it has no rounds of its own and nothing before it")
        ?: check_repeats(op, v, l, args, err)
        ?: check_swaps(op, v, l->swaps, l->nswaps, err)
        ?: check_swaps(op, v, l->round_swaps, l->nround_swaps, err);
    for (int i = 0; !rc && i < l->nviews; i++)
        rc = check_launch_view(op, v, &l->views[i], err);
    if (rc)
        err_prefix(err, "kernel %s: ", l->kernel ?: "");
    return rc;
}

static int check_workspaces(const struct op *op, const struct variant *v, struct names *seen, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < v->nworkspaces; i++) {
        const struct workspace *w = &v->workspaces[i];
        rc = name_once(seen, w->name, "workspace", err) ?: check_type_use(op, w->type, "workspace", w->name, err);
    }
    return rc;
}

static int check_needs(const struct op *op, const struct variant *v, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < v->nneeds; i++) {
        const struct need *n = &v->needs[i];
        bool buffer = n->arg < op->nargs && arg_is_buffer(&op->args[n->arg]);
        bool right = (n->kind == NEED_ALIGN) == (n->bytes != NULL);
        rc = must(buffer, err, "precondition %d: '%s' is no buffer of the op's", i + 1,
                  n->arg < op->nargs ? op->args[n->arg].name : "")
                 ?: must(right, err, "precondition %d: an alignment has bytes, anything else has none", i + 1);
    }
    rc = rc ?: must(v->nclear <= op->nargs, err, "%d cleared arguments: there can be 0 to %d", v->nclear, op->nargs);
    for (int i = 0; !rc && i < v->nclear; i++) {
        const struct arg *a = v->clear[i] < op->nargs ? &op->args[v->clear[i]] : NULL;
        rc = must(a && a->kind == ARG_OUTPUT, err, "clear: entry %d, '%s': %s", i + 1, a ? a->name : "",
                  a && a->kind == ARG_INOUT ? "an inout is restored before each run: make it an output, or leave it out here"
                                            : "must be an output of the op's")
                 ?: must(!a->partial, err, "cleared argument %s: is partial, so what is left alone of it must stay as it was",
                         a->name);
    }
    return rc;
}

static int check_requires(const struct requires *r, struct err *err)
{
    return must(!r->backend || name_ok(r->backend), err, "requires: backend `%.40s` is no name", r->backend ?: "")
               ?: must(!r->arch_specific || r->cc, err, "requires: what is specific to an architecture must say its cc");
}

static int check_build(const struct build *b, struct err *err)
{
    int rc = must(!b->language || name_ok(b->language), err, "language `%.40s` is no name", b->language ?: "");
    for (int i = 0; !rc && i < b->nmore; i++)
        rc = must(*b->more[i].name, err, "file %d of the template has no name", i + 2);
    for (int i = 0; !rc && i < b->noptions; i++)
        rc = must(name_ok(b->options[i].backend), err, "option %d: backend `%.40s` is no name", i + 1, b->options[i].backend);
    return rc;
}

/* What is launched: of a variant, the reference and init alike. Its own names are taken for its launches, too. */
static int check_code(const struct op *op, const struct variant *v, const struct names *args, struct err *err)
{
    struct names seen = *args;
    int rc = check_workspaces(op, v, &seen, err);
    for (int i = 0; !rc && i < v->nlaunches; i++)
        rc = check_launch(op, v, &v->launches[i], &seen, err);
    return rc ?: check_build(&v->build, err);
}

static int check_variant(const struct op *op, const struct variant *v, const struct names *scope, const struct names *args,
                         struct err *err)
{
    return check_params(v, *scope, err)
        ?: check_code(op, v, args, err)
        ?: check_needs(op, v, err)
        ?: check_requires(&v->requires, err);
}

static int check_variants(const struct op *op, const struct names *scope, const struct names *args, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < op->nvariants; i++) {
        const struct variant *v = &op->variants[i];
        rc = named(v->name, "variant", err) ?: must(op_variant(op, v->name) == i, err, "variant %s is there twice", v->name);
        if (rc)
            return rc;
        rc = check_variant(op, v, scope, args, err);
        if (rc)
            err_prefix(err, "variant %s: ", v->name);
    }
    return rc;
}

static int check_shapes(const struct op *op, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < op->nshapes; i++)
        for (int a = 0; !rc && a < op->naxes; a++)
            rc = must(axis_takes(&op->axes[a], op->shapes[i].problem.size[a]), err, "shape %d: %s cannot be %lld", i + 1,
                      op->axes[a].name, (long long)op->shapes[i].problem.size[a]);
    return rc;
}

static int check_reference(const struct op *op, const struct names *args, struct err *err)
{
    const struct variant *v = &op->reference;
    int rc = must(v->template_text || (!v->nlaunches && !v->nworkspaces), err, "it has launches, and no template")
        ?: must(!v->template_text || v->template_name, err, "its template has no name")
        ?: check_code(op, v, args, err);
    for (int i = 0; !rc && i < v->nlaunches; i++) {
        const struct launch *l = &v->launches[i];
        rc = must(
            !l->cluster[0] && !l->cluster[1] && !l->cluster[2] && !l->cooperative && !l->dependent && !l->nviews, err,
            "it runs on every device: it can have no clusters, tensor maps or textures, and be neither cooperative nor dependent");
    }
    if (rc)
        err_prefix(err, "reference: ");
    return rc;
}

static int check_init(const struct op *op, const struct names *args, struct err *err)
{
    bool any = !op->init.template_text;
    for (int i = 0; i < op->nargs; i++)
        any = any || op->args[i].data.init;
    int rc = must(any, err, "there is no input that it writes: mark it { init = true }") ?: check_code(op, &op->init, args, err);
    for (int i = 0; !rc && i < op->init.nlaunches; i++)
        for (int k = 0; !rc && k < op->init.launches[i].nviews; k++)
            rc = must(!op->init.launches[i].views[k].texture, err, "kernels that make inputs have no textures");
    if (rc)
        err_prefix(err, "init: ");
    return rc;
}

static int check_outside(const struct op *op, struct err *err)
{
    const char *digest = op->outside_digest;
    if (!op->outside && !digest && !op->outside_beside)
        return 0;
    bool whole = op->outside && digest && strlen(digest) == HASH_HEX - 1 && !digest[strspn(digest, "0123456789abcdef")];
    return must(whole && !op->reference.template_text && text_ok(op->outside, MAX_OUTSIDE, false), err,
                "a reference outside lacks its name or digest, or is there beside the op's own");
}

static int check_includes(const struct op *op, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < op->ninclude_dirs; i++)
        rc = must(include_path_ok(op->include_dirs[i]), err, "folder %d of includes: `%.80s` is no path below a folder", i + 1,
                  op->include_dirs[i]);
    for (int i = 0; !rc && i < op->nincludes; i++) {
        const struct include *file = &op->includes[i];
        rc = must(include_path_ok(file->name), err, "included file %d: `%.80s` is no path below a folder", i + 1, file->name);
        for (int k = 0; !rc && k < i; k++)
            rc = must(op->includes[k].shared != file->shared || op->includes[k].outside != file->outside ||
                          strcmp(op->includes[k].name, file->name),
                      err, "included file %s is there twice", file->name);
    }
    return rc;
}

static int check_metrics(const struct op *op, struct err *err)
{
    static const char *const words[2] = { "time", "energy" };
    struct objective own;
    int rc = 0;
    for (int i = 0; !rc && i < op->nmetrics; i++) {
        const char *name = op->metrics[i].name;
        rc = named(name, "metric", err)
            ?: must(!i || strcmp(op->metrics[i - 1].name, name) < 0, err, "metric %s: is there twice, or not in the order of names",
                    name)
            ?: must(!objective_word(name), err, "metric %s: this is an objective without being a metric: choose another name", name);
    }
    for (int v = -1; !rc && op->nmetrics && v < op->nvariants; v++) {
        rc = words_free(op, v < 0 ? NULL : &op->variants[v], words, "what metrics call a measurement of a run", err);
        if (rc && v >= 0)
            err_prefix(err, "variant %s: ", op->variants[v].name);
    }
    return rc ?: objective_find(op, NULL, &own, err);
}

int op_check(const struct op *op, struct err *err)
{
    struct names scope = { .n = 0 }, args = { .n = 0 };
    int rc = named(op->name, "op", err);
    if (rc)
        return rc;
    rc = check_scope(op, &scope, err)
        ?: check_args(op, &scope, &args, err)
        ?: check_check(&op->check, "check", err)
        ?: check_reference(op, &args, err)
        ?: check_init(op, &args, err)
        ?: check_variants(op, &scope, &args, err)
        ?: check_shapes(op, err)
        ?: check_outside(op, err)
        ?: check_includes(op, err)
        ?: check_metrics(op, err);
    for (int i = 0; !rc && i < op->npeers; i++)
        rc = peer_check(op, &op->peers[i], err);
    if (rc)
        err_prefix(err, "op %s: ", op->name);
    return rc;
}
