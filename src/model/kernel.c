/* Kernels as data: what the database and an exported file keep of an op and of its tuned kernels. */
#include "model/kernel.h"

#include <string.h>

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

void interface_put(struct buf *out, const struct op *op)
{
    struct arg args[MAX_ARGS];
    const struct op face = interface_of(op, args, false);
    op_put(out, &face);
}

void kernel_put(struct buf *out, const struct op *op, const struct config *c)
{
    struct arg args[MAX_ARGS];
    struct param params[MAX_PARAMS];
    struct op kernel = interface_of(op, args, true);
    struct variant v = op->variants[c->variant];
    for (int i = 0; i < v.nparams; i++)
        params[i] = (struct param){ v.params[i].name, 1, &v.params[i].values[c->at[i]] };
    v.params = params;
    v.template_name = v.template_text = ""; /* its source is made already */
    v.build = (struct build){ 0 };
    for (int i = 0; i < op->nargs; i++)
        args[i].constant = arg_is_constant(op, &v, i) ? op->args[i].constant : NULL;
    kernel.nvariants = 1;
    kernel.variants = &v;
    op_put(out, &kernel);
}

/* At most the name of a file, so that a winner can say what it was tuned on. */
static bool kept_data(const struct arg_data *d)
{
    const struct data_file *f = &d->file;
    return !d->init && !d->range[0] && !d->range[1] && !d->below && !d->sorted && !f->digest && !f->element && !f->rank && !f->at &&
           !f->bytes;
}

/* Nothing but what interface_put and kernel_put write. */
static bool is_built(const struct build *b)
{
    return b->language || b->nmore || b->noptions;
}

static bool is_kept(const struct op *op, int nvariants)
{
    bool ok = op->nvariants == nvariants && !op->nshapes && !op->ndefaults && !op->nincludes && !op->reference.template_text &&
              !op->reference.nlaunches && !op->reference.template_name && !op->ninclude_dirs && !op->nheader_dirs && !op->headers &&
              !op->init.template_text;
    ok = ok && !is_built(&op->reference.build) && !(nvariants && is_built(&op->variants->build));
    for (int i = 0; ok && i < op->nargs; i++)
        ok = op->args[i].type && op->args[i].fill == FILL_AUTO && !op->args[i].partial && !op->args[i].own_check &&
             kept_data(&op->args[i].data) && (op->args[i].kind != ARG_SCALAR || !op->args[i].value == !nvariants);
    for (int i = 0; ok && i < op->nargs; i++)
        ok = !op->args[i].constant || (nvariants && arg_is_constant(op, op->variants, i));
    for (int v = 0; ok && v < nvariants; v++)
        for (int i = 0; ok && i < op->variants[v].nparams; i++)
            ok = op->variants[v].params[i].n == 1;
    return ok;
}

static int get_kept(const void *bytes, size_t n, int nvariants, struct op **out, struct err *err)
{
    struct op *op;
    struct cursor in = cursor_on(bytes, n);
    struct err why = { 0 };
    int rc = op_get(&in, true, &op, &why);
    if (rc) /* no script is at fault */
        return err_set(err, rc == ERR_NOMEM ? rc : ERR_CORRUPT, "%s", why.msg);
    if (in.at == in.end && is_kept(op, nvariants)) {
        *out = op;
        return 0;
    }
    op_free(op);
    return err_set(err, ERR_CORRUPT, "op: its bytes are cut or not as cutune writes them");
}

int interface_get(const void *bytes, size_t n, struct op **out, struct err *err)
{
    return get_kept(bytes, n, 0, out, err);
}

int kernel_get(const void *bytes, size_t n, struct op **out, struct err *err)
{
    return get_kept(bytes, n, 1, out, err);
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
        same = !strcmp(a->axes[i].name, b->axes[i].name) && a->axes[i].kind == b->axes[i].kind;
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
