/* The tables of an exported file, as initializers in C. */
#include <string.h>

#include "base/mem.h"
#include "export/c_tables.h"

/* Pieces of code, each written once however many kernels have it. */
struct blob {
    const void *bytes;
    size_t n;
    bool text;
};
struct blobs {
    struct blob *all;
    int n;
    bool failed;
};

/* Its number, for the name of its array; -1 where there is none. */
static int blob_of(struct blobs *b, const void *bytes, size_t n, bool text)
{
    if (!bytes)
        return -1;
    for (int i = 0; i < b->n; i++)
        if (b->all[i].n == n && b->all[i].text == text && !memcmp(b->all[i].bytes, bytes, n))
            return i;
    struct blob *more = mem_resize(b->all, (size_t)b->n + 1, sizeof *more);
    if (!more) {
        b->failed = true;
        return -1;
    }
    b->all = more;
    more[b->n] = (struct blob){ bytes, n, text };
    return b->n++;
}

/* What of a kernel's code is of use without a compiler: OpenCL's driver has one. */
struct code {
    int source, binary, portable;
};

static struct code code_of(struct blobs *b, const struct tuned *k, const char *backend)
{
    struct code c = { -1, -1, -1 };
    if (!strcmp(backend, "opencl"))
        c.source = blob_of(b, k->source, strlen(k->source), true);
    if (!strcmp(backend, "cuda")) {
        c.binary = blob_of(b, k->binary, k->binary_bytes, false);
        c.portable = blob_of(b, k->portable, k->portable ? strlen(k->portable) : 0, true);
    }
    return c;
}

static void put_blobs(struct buf *out, const struct blobs *b)
{
    for (int i = 0; i < b->n; i++) {
        const struct blob *x = &b->all[i];
        buf_fmt(out, "\nstatic const %s code_%d[%zu] =\n", x->text ? "char" : "unsigned char", i, x->n + 1);
        c_bytes(out, x->bytes, x->n);
        buf_str(out, ";\n");
    }
}

/* ---- kernels */

static void put_member(struct buf *out, const char *name, const char *text)
{
    if (!text)
        return;
    buf_fmt(out, "    .%s = ", name);
    c_text(out, text);
    buf_str(out, ",\n");
}

static void put_texts(struct buf *out, const char *name, const char *const *texts, int n)
{
    buf_fmt(out, "%s{ ", name);
    for (int i = 0; i < n; i++) {
        c_text(out, texts[i]);
        buf_str(out, i + 1 < n ? ", " : " }");
    }
}

static void put_integers(struct buf *out, const char *name, const int *all, int n)
{
    if (!n)
        return;
    buf_fmt(out, "%s(int[]){ ", name);
    for (int i = 0; i < n; i++)
        buf_fmt(out, "%d%s", all[i], i + 1 < n ? ", " : " }");
}

static void put_launches(struct buf *out, const struct tuned *k)
{
    buf_fmt(out, "    .nlaunches = %d,\n    .launches = (struct launch[]){\n", k->nlaunches);
    for (int i = 0; i < k->nlaunches; i++) {
        const struct launch *l = &k->launches[i];
        buf_str(out, "        { .kernel = ");
        c_text(out, l->kernel);
        put_texts(out, ", .grid = ", l->grid, 3);
        put_texts(out, ", .block = ", l->block, 3);
        buf_str(out, ", .shared = ");
        c_text(out, l->shared);
        buf_fmt(out, ", .nargs = %d", l->nargs);
        put_integers(out, ", .args = ", l->args, l->nargs);
        buf_str(out, " },\n");
    }
    buf_str(out, "    },\n");
}

static void put_params(struct buf *out, const struct tuned *k)
{
    if (!k->nparams)
        return;
    buf_fmt(out, "    .nparams = %d,\n    .params = (struct tuned_param[]){\n", k->nparams);
    for (int i = 0; i < k->nparams; i++) {
        buf_str(out, "        { ");
        c_text(out, k->params[i].name);
        buf_str(out, ", ");
        c_val(out, k->params[i].value);
        buf_str(out, " },\n");
    }
    buf_str(out, "    },\n");
}

static void put_conditions(struct buf *out, const struct tuned *k)
{
    const struct requires *r = &k->requires;
    if (k->nwhere) {
        buf_fmt(out, "    .nwhere = %d,\n", k->nwhere);
        put_texts(out, "    .where = (const char *[])", k->where, k->nwhere);
        buf_str(out, ",\n");
    }
    if (k->nneeds) {
        buf_fmt(out, "    .nneeds = %d,\n    .needs = (struct need[]){ ", k->nneeds);
        for (int i = 0; i < k->nneeds; i++) {
            buf_fmt(out, "{ %s, %d, ", k->needs[i].kind == NEED_ALIGN ? "NEED_ALIGN" : "NEED_NOALIAS", k->needs[i].arg);
            c_text(out, k->needs[i].bytes);
            buf_str(out, " }, ");
        }
        buf_str(out, "},\n");
    }
    if (r->backend || r->cc || r->arch_specific || r->grid_order || r->grid_progress) {
        buf_str(out, "    .requires = { ");
        c_text(out, r->backend);
        buf_fmt(out, ", %d, %d, %d, %d },\n", r->cc, r->arch_specific, r->grid_order, r->grid_progress);
    }
}

static void put_memory(struct buf *out, const struct tuned *k)
{
    if (k->nworkspaces) {
        buf_fmt(out, "    .nworkspaces = %d,\n    .workspaces = (struct workspace[]){ ", k->nworkspaces);
        for (int i = 0; i < k->nworkspaces; i++) {
            const struct workspace *w = &k->workspaces[i];
            const char *const texts[] = { w->name, w->type, w->count };
            buf_str(out, "{ ");
            for (int j = 0; j < 3; j++) {
                c_text(out, texts[j]);
                buf_str(out, ", ");
            }
            buf_fmt(out, "%d }, ", w->clear);
        }
        buf_str(out, "},\n");
    }
    if (k->nclear) {
        buf_fmt(out, "    .nclear = %d", k->nclear);
        put_integers(out, ",\n    .clear = ", k->clear, k->nclear);
        buf_str(out, ",\n");
    }
}

static void put_code(struct buf *out, struct code c, const struct tuned *k)
{
    if (c.source >= 0)
        buf_fmt(out, "    .source = code_%d,\n", c.source);
    if (c.binary >= 0) {
        buf_fmt(out, "    .binary = code_%d,\n    .binary_bytes = %zu,\n", c.binary, k->binary_bytes);
        put_member(out, "format", k->format);
        put_member(out, "arch", k->arch);
    }
    if (c.portable >= 0)
        buf_fmt(out, "    .portable = code_%d,\n", c.portable);
}

static void put_kernel(struct buf *out, struct blobs *b, const struct tuned *k, const char *backend, const char *name, int op,
                       int i)
{
    struct code c = code_of(b, k, backend);
    buf_fmt(out, "\nstatic struct tuned %s_%d_%d = {\n", name, op, i);
    put_member(out, "variant", k->variant);
    put_member(out, "config", k->config);
    buf_fmt(out, "    .rank = %d,\n    .time_ns = ", k->rank);
    c_real(out, k->time_ns);
    buf_str(out, ",\n");
    put_code(out, c, k);
    put_params(out, k);
    put_launches(out, k);
    put_conditions(out, k);
    put_memory(out, k);
    buf_str(out, "};\n");
}

/* ---- ops */

static void put_args(struct buf *out, const struct op *op)
{
    static const char *const kinds[] = { "INPUT", "OUTPUT", "INOUT", "VALUE" };
    buf_fmt(out, "            .nargs = %d,\n            .args = (struct arg[]){\n", op->nargs);
    for (int i = 0; i < op->nargs; i++) {
        const struct arg *a = &op->args[i];
        buf_str(out, "                { .name = ");
        c_text(out, a->name);
        buf_fmt(out, ", .kind = ARG_%s, .type = ", kinds[a->kind]);
        c_text(out, a->type);
        buf_fmt(out, ", .rank = %d", a->rank);
        if (a->rank)
            put_texts(out, ", .extent = ", a->extent, a->rank);
        buf_str(out, ", .value = ");
        c_text(out, a->value);
        buf_str(out, " },\n");
    }
    buf_str(out, "            },\n");
}

static void put_op(struct buf *out, const struct op *op)
{
    static const char *const kinds[] = { "SIZE", "STRIDE", "BATCH", "FLAG" };
    buf_str(out, "        .op = {\n            .name = ");
    c_text(out, op->name);
    buf_fmt(out, ",\n            .naxes = %d,\n            .axes = (struct axis[]){ ", op->naxes);
    for (int i = 0; i < op->naxes; i++) {
        buf_str(out, "{ ");
        c_text(out, op->axes[i].name);
        buf_fmt(out, ", AXIS_%s }, ", kinds[op->axes[i].kind]);
    }
    buf_fmt(out, "},\n            .ntypes = %d,\n", op->ntypes);
    put_texts(out, "            .types = (const char *[])", op->types, op->ntypes);
    buf_fmt(out, ",\n            .nrows = %d,\n", op->nrows);
    put_args(out, op);
    buf_str(out, "            .work_bytes = ");
    c_text(out, op->work_bytes);
    buf_str(out, ",\n            .work_flops = ");
    c_text(out, op->work_flops);
    buf_str(out, ",\n        },\n        .rows = (const char *const[]){ ");
    for (int i = 0; i < op->nrows * op->ntypes; i++) {
        c_text(out, op->rows[i]->name);
        buf_str(out, ", ");
    }
    buf_str(out, "},\n");
}

static void put_winners(struct buf *out, const struct c_op *op, int at)
{
    if (!op->nwinners)
        return;
    buf_fmt(out, "\nstatic const struct embedded_winner winners_%d[] = {\n", at);
    for (int i = 0; i < op->nwinners; i++) {
        const struct c_winner *w = &op->winners[i];
        buf_fmt(out, "    { %d, %lld, ", w->device, (long long)w->id);
        c_text(out, w->types);
        buf_str(out, ", ");
        c_text(out, w->sizes);
        const double reals[] = { w->time_ns, w->bytes, w->flops };
        for (int j = 0; j < 3; j++) {
            buf_str(out, ", ");
            c_real(out, reals[j]);
        }
        buf_fmt(out, ", &winner_%d_%d },\n", at, i);
    }
    buf_str(out, "};\n");
}

static void put_times(struct buf *out, const struct c_op *op, int at)
{
    if (!op->ntimes)
        return;
    buf_fmt(out, "\nstatic const struct embedded_time times_%d[] = {\n", at);
    for (int i = 0; i < op->ntimes; i++) {
        buf_fmt(out, "%s{ %d, %d, ", i % 4 ? " " : "    ", op->times[i].problem, op->times[i].kernel);
        c_real(out, op->times[i].median);
        buf_str(out, i % 4 == 3 || i + 1 == op->ntimes ? " },\n" : " },");
    }
    buf_str(out, "};\n");
}

static void put_defaults(struct buf *out, const struct c_op *op, int at)
{
    if (!op->ndefaults)
        return;
    buf_fmt(out, "\nstatic const struct embedded_default defaults_%d[] = {\n", at);
    for (int i = 0; i < op->ndefaults; i++) {
        buf_str(out, "    { ");
        c_text(out, op->defaults[i].backend);
        buf_str(out, ", ");
        c_text(out, op->defaults[i].types);
        buf_fmt(out, ", &default_%d_%d },\n", at, i);
    }
    buf_str(out, "};\n");
}

static void put_ops(struct buf *out, const struct c_tables *t)
{
    for (int i = 0; i < t->nops; i++) {
        put_winners(out, &t->ops[i], i);
        put_times(out, &t->ops[i], i);
        put_defaults(out, &t->ops[i], i);
    }
    buf_str(out, "\nconst struct embedded_op embedded_ops[] = {\n");
    for (int i = 0; i < t->nops; i++) {
        const struct c_op *op = &t->ops[i];
        buf_str(out, "    {\n");
        put_op(out, op->op);
        if (op->nwinners)
            buf_fmt(out, "        .nwinners = %d,\n        .winners = winners_%d,\n", op->nwinners, i);
        if (op->ntimes)
            buf_fmt(out, "        .ntimes = %d,\n        .times = times_%d,\n", op->ntimes, i);
        if (op->ndefaults)
            buf_fmt(out, "        .ndefaults = %d,\n        .defaults = defaults_%d,\n", op->ndefaults, i);
        buf_str(out, "    },\n");
    }
    buf_fmt(out, "%s};\nconst int embedded_nops = %d;\n", t->nops ? "" : "    { .rows = NULL },\n", t->nops);
}

static void put_devices(struct buf *out, const struct c_tables *t)
{
    buf_str(out, "\nconst struct devspec embedded_devices[] = {\n");
    for (int i = 0; i < t->ndevices; i++) {
        const struct devspec *d = &t->devices[i];
        const char *const texts[] = { d->backend, d->name, d->arch, d->mig };
        static const char *const members[] = { "backend", "name", "arch", "mig" };
        buf_str(out, "    { ");
        for (int j = 0; j < 4; j++) {
            buf_fmt(out, ".%s = ", members[j]);
            c_text(out, texts[j]);
            buf_str(out, ", ");
        }
        buf_fmt(out, ".multiprocessors = %d, .memory = %lld },\n", d->multiprocessors, (long long)d->memory);
    }
    buf_fmt(out, "%s};\n", t->ndevices ? "" : "    { .memory = 0 },\n");
}

int c_tables_write(struct buf *out, struct c_tables *t, struct err *err)
{
    struct buf kernels = { 0 };
    struct blobs blobs = { 0 };
    for (int i = 0; i < t->nops; i++) {
        const struct c_op *op = &t->ops[i];
        for (int j = 0; j < op->nwinners; j++)
            put_kernel(&kernels, &blobs, op->winners[j].kernel, t->devices[op->winners[j].device].backend, "winner", i, j);
        for (int j = 0; j < op->ndefaults; j++)
            put_kernel(&kernels, &blobs, op->defaults[j].kernel, op->defaults[j].backend, "default", i, j);
    }
    buf_str(out, "#include \"export/embedded/embedded.h\"\n");
    c_formulas_write(out, &t->formulas);
    put_devices(out, t);
    put_blobs(out, &blobs);
    buf_put(out, kernels.data, kernels.len);
    put_ops(out, t);
    buf_str(out, "\nconst cutune_record embedded_records[] = {\n");
    buf_put(out, t->records.data, t->records.len);
    buf_fmt(out, "%s};\nconst int embedded_nrecords = %d;\n", t->nrecords ? "" : "    { .size = 0 },\n", t->nrecords);
    bool failed = out->failed || kernels.failed || blobs.failed;
    buf_free(&kernels);
    mem_free(blobs.all);
    return failed ? err_nomem(err) : 0;
}
