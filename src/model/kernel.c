/* Kernels as data: what the database and an exported file keep of an op and of its tuned kernels. */
#include "model/kernel.h"

#include <string.h>

#include "expr/expr.h"
#include "model/head.h"
#include "model/serial.h"

const struct config only_config = { 0 };

/* What a caller of the op's kernels has to know, in the form that is kept: what is the same is said in the same way. What scalars were
 * tuned with is a kernel's, and a caller need not know it. `args` has room for MAX_ARGS. */
static struct op interface_of(const struct op *op, struct arg *args, bool tuned)
{
    for (int i = 0; i < op->nargs; i++) {
        args[i] = op->args[i];
        args[i].type = arg_type(&op->args[i]);
        args[i].fill = FILL_AUTO;
        args[i].partial = false;
        if (args[i].kind == ARG_SCALAR && !tuned)
            args[i].value = NULL;
        args[i].other = NULL;
        args[i].constant = NULL;
        args[i].own_check = false;
        args[i].check = (struct check){ 0 };
        args[i].data = (struct arg_data){ .file.name = tuned ? op->args[i].data.file.name : NULL };
    }
    return (struct op){ .name = op->name,
                        .naxes = op->naxes,
                        .axes = op->axes,
                        .ntypes = op->ntypes,
                        .types = op->types,
                        .nwhere = op->nwhere,
                        .where = op->where,
                        .nrows = op->nrows,
                        .rows = op->rows,
                        .nargs = op->nargs,
                        .args = args,
                        .work_bytes = op->work_bytes,
                        .work_flops = op->work_flops,
                        .nmetrics = op->nmetrics,
                        .metrics = op->metrics,
                        .objective = op->objective,
                        .outside = op->outside,
                        .outside_digest = op->outside_digest,
                        .outside_beside = op->outside_beside };
}

/* c null: the interface. */
static void put_kept(struct buf *out, const struct op *op, const struct config *c, int form)
{
    struct arg args[MAX_ARGS];
    struct param params[MAX_PARAMS];
    struct op kept = interface_of(op, args, c);
    struct variant v = { .name = NULL };
    if (c) {
        v = op->variants[c->variant];
        for (int i = 0; i < v.nparams; i++)
            params[i] = (struct param){ v.params[i].name, 1, &v.params[i].values[c->at[i]] };
        v.params = params;
        v.template_name = v.template_text = ""; /* its source is made already */
        v.build = (struct build){ 0 };
        for (int i = 0; i < op->nargs; i++)
            args[i].constant = arg_is_constant(op, &v, i) ? op->args[i].constant : NULL;
        kept.nvariants = 1;
        kept.variants = &v;
    }
    op_put_form(out, &kept, form);
}

void interface_put(struct buf *out, const struct op *op)
{
    put_kept(out, op, NULL, OP_FORM);
}

/* Expressions of one configuration: all but a few of its constraints are shorter then, or hold for good. */
struct shortening {
    struct bound_names known; /* its parameters */
    struct arena *arena;
    bool failed;
};

static const char *shorter(struct shortening *s, const char *text)
{
    struct buf left = { 0 };
    if (text)
        expr_fold(text, &s->known, &left);
    const char *copy = text ? arena_strdup(s->arena, buf_text(&left)) : NULL;
    s->failed = s->failed || left.failed || (text && !copy);
    buf_free(&left);
    return copy;
}

static void shorten_list(struct shortening *s, const char **texts, int n)
{
    for (int i = 0; i < n; i++)
        texts[i] = shorter(s, texts[i]);
}

static void *copy_of(struct shortening *s, const void *array, int n, size_t bytes)
{
    void *copy = arena_array(s->arena, (size_t)n + 1, bytes);
    s->failed = s->failed || !copy;
    if (copy && n)
        memcpy(copy, array, (size_t)n * bytes);
    return copy;
}

static void shorten_launch(struct shortening *s, struct launch *l)
{
    shorten_list(s, l->grid, 3);
    shorten_list(s, l->block, 3);
    shorten_list(s, l->cluster, 3);
    l->shared = shorter(s, l->shared);
    l->when = shorter(s, l->when);
    if (l->when && !strcmp(l->when, "true"))
        l->when = NULL;
    l->values = copy_of(s, l->values, l->nvalues, sizeof *l->values);
    for (int i = 0; i < l->nvalues && l->values; i++)
        l->values[i].value = shorter(s, l->values[i].value);
}

static void shorten(struct shortening *s, struct variant *v)
{
    const char **where = copy_of(s, v->where, v->nwhere, sizeof *where);
    v->launches = copy_of(s, v->launches, v->nlaunches, sizeof *v->launches);
    v->workspaces = copy_of(s, v->workspaces, v->nworkspaces, sizeof *v->workspaces);
    if (s->failed)
        return;
    int n = 0;
    for (int i = 0; i < v->nwhere; i++) {
        where[n] = shorter(s, where[i]);
        n += where[n] && strcmp(where[n], "true") != 0;
    }
    v->where = where;
    v->nwhere = n;
    for (int i = 0; i < v->nlaunches; i++)
        shorten_launch(s, &v->launches[i]);
    for (int i = 0; i < v->nworkspaces; i++)
        v->workspaces[i].count = shorter(s, v->workspaces[i].count);
}

void kernel_put(struct buf *out, const struct op *op, const struct config *c)
{
    const char *names[MAX_PARAMS];
    struct val values[MAX_PARAMS];
    struct variant v = op->variants[c->variant];
    struct shortening s = { .known = { names, values, v.nparams }, .arena = arena_new() };
    for (int i = 0; i < v.nparams; i++) {
        names[i] = v.params[i].name;
        values[i] = v.params[i].values[c->at[i]];
    }
    s.failed = !s.arena;
    if (!s.failed)
        shorten(&s, &v);
    struct op one = *op;
    one.nvariants = 1;
    one.variants = &v;
    struct config of_one = *c;
    of_one.variant = 0;
    if (!s.failed)
        put_kept(out, &one, &of_one, OP_FORM);
    out->failed = out->failed || s.failed;
    arena_free(s.arena);
}

/* What these two would not have written is refused: what is read is put again, and compared. */
static int get_kept(const void *bytes, size_t n, const struct config *c, struct op **out, struct err *err)
{
    struct op *op;
    struct cursor in = cursor_on(bytes, n);
    struct buf again = { 0 };
    struct err why = { 0 };
    int rc = op_get(&in, true, &op, &why);
    if (rc) /* no script is at fault */
        return err_set(err, rc == ERR_NOMEM ? rc : ERR_CORRUPT, "%s", why.msg);
    bool same = op->nvariants == (c ? 1 : 0);
    if (same)
        put_kept(&again, op, c, ((const char *)bytes)[3]);
    same = same && again.len == n && !memcmp(again.data, bytes, n);
    rc = again.failed ? err_nomem(err) : same ? 0 : err_set(err, ERR_CORRUPT, "op: its bytes are cut or not as cutune writes them");
    buf_free(&again);
    if (rc)
        op_free(op);
    else
        *out = op;
    return rc;
}

int interface_get(const void *bytes, size_t n, struct op **out, struct err *err)
{
    return get_kept(bytes, n, NULL, out, err);
}

int kernel_get(const void *bytes, size_t n, struct op **out, struct err *err)
{
    return get_kept(bytes, n, &only_config, out, err);
}

void tuned_with_print(struct buf *out, const struct op *op)
{
    for (int i = 0; i < op->nargs; i++)
        if (op->args[i].kind == ARG_SCALAR)
            buf_fmt(out, "%s%s=%s", out->len ? "," : "", op->args[i].name, op->args[i].value ?: "");
        else if (op->args[i].data.file.name)
            buf_fmt(out, "%s%s=%s", out->len ? "," : "", op->args[i].name, op->args[i].data.file.name);
    if (op->outside)
        buf_fmt(out, "%sreference=%s", out->len ? "," : "", op->outside);
}

int kernel_call(struct op *kernel, const char *entries, size_t n, struct err *err)
{
    struct variant *v = kernel->variants;
    char name[MAX_ENTRY + 1];
    int line = 0;
    for (int i = 0; n && i < v->nlaunches + kernel->nargs; i++) {
        int arg = i - v->nlaunches;
        const char **called = arg < 0 ? &v->launches[i].kernel : &kernel->args[arg].constant;
        if (!*called)
            continue;
        if (!list_line(entries, n, line++, name) || !entry_ok(name))
            return err_set(err, ERR_CORRUPT, "the compiler does not tell what the code calls %s", *called);
        *called = arena_strdup(kernel->arena, name);
        if (!*called)
            return err_nomem(err);
    }
    return 0;
}

/* ---- a kernel for an op as it is now */

bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool same_arg(const struct arg *a, const struct arg *b)
{
    bool same = !strcmp(a->name, b->name) && a->kind == b->kind && same_text(a->type, b->type) && a->rank == b->rank &&
                (a->kind == ARG_SCALAR || same_text(a->value, b->value));
    for (int d = 0; same && d < a->rank; d++)
        same = !strcmp(a->extent[d], b->extent[d]);
    return same;
}

bool same_interface(const struct op *a, const struct op *b)
{
    bool same = a->naxes == b->naxes && a->ntypes == b->ntypes && a->nargs == b->nargs;
    for (int i = 0; same && i < a->naxes; i++)
        same = !strcmp(a->axes[i].name, b->axes[i].name) && a->axes[i].kind == b->axes[i].kind &&
               same_text(a->axes[i].preset, b->axes[i].preset);
    for (int i = 0; same && i < a->ntypes; i++)
        same = !strcmp(a->types[i], b->types[i]);
    for (int i = 0; same && i < a->nargs; i++)
        same = same_arg(&a->args[i], &b->args[i]);
    return same;
}

int kernel_join(struct op *kernel, const struct op *op, struct err *err)
{
    if (!same_interface(kernel, op))
        return err_set(err, ERR_CORRUPT, "a record is damaged: its arguments are not those of %s", op->name);
    kernel->nrows = op->nrows;
    kernel->rows = op->rows;
    kernel->work_bytes = op->work_bytes;
    kernel->work_flops = op->work_flops;
    return 0;
}
