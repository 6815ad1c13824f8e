/* The store's calls, as far as src/runtime makes them, answered from the rows. */
#include <string.h>

#include "export/embedded/embedded.h"
#include "model/kernel.h"

static char here; /* what a struct store is here: nothing */

/* ---- ops */

static const struct embedded_op *op_named(const char *name)
{
    for (int i = 0; i < nembedded_ops; i++)
        if (!strcmp(embedded_ops[i].name, name))
            return &embedded_ops[i];
    return NULL;
}

int store_op(struct store *s, const char *name, struct op **out, struct err *err)
{
    const struct embedded_op *e = op_named(name);
    return e ? interface_get(e->op, e->op_bytes, out, err) : err_set(err, ERR_NOTFOUND, "op %s was not exported", name);
}

/* ---- kernels */

static bool take_variant(struct tuned *t, const struct variant *v)
{
    t->variant = v->name;
    t->nlaunches = v->nlaunches;
    t->launches = v->launches;
    t->nworkspaces = v->nworkspaces;
    t->workspaces = v->workspaces;
    t->nneeds = v->nneeds;
    t->needs = v->needs;
    t->nclear = v->nclear;
    t->clear = v->clear;
    t->requires = v->requires;
    t->nparams = v->nparams;
    t->params = arena_array(t->arena, (size_t)v->nparams, sizeof *t->params);
    t->nwhere = v->nwhere;
    t->where = arena_array(t->arena, (size_t)v->nwhere, sizeof *t->where);
    for (int i = 0; t->params && i < v->nparams; i++)
        t->params[i] = (struct tuned_param){ v->params[i].name, v->params[i].values[0] };
    for (int i = 0; t->where && i < v->nwhere; i++)
        t->where[i] = v->where[i].text;
    return t->params && t->where;
}

/* Lies on its op's arena. */
static int read_kernel(const struct embedded_kernel *k, struct tuned **out, struct err *err)
{
    struct op *op;
    int rc = kernel_get(k->op, k->op_bytes, &op, err);
    if (rc)
        return rc;
    struct tuned *t = arena_alloc(op->arena, sizeof *t);
    if (t) {
        *t = (struct tuned){
            .arena = op->arena,
            .role = k->role,
            .rank = k->rank,
            .config = k->row.config,
            .time_ns = k->row.time_ns,
            .source = k->source,
            .binary = k->binary,
            .binary_bytes = k->binary_bytes,
            .format = k->format,
            .arch = k->arch,
            .portable = k->portable,
        };
    }
    if (t && take_variant(t, op->variants)) {
        *out = t;
        return 0;
    }
    op_free(op);
    return err_nomem(err);
}

void tuned_free(struct tuned *t)
{
    if (t)
        arena_free(t->arena);
}

int store_find_winner(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *problem,
                      struct tuned **out, struct err *err)
{
    const struct embedded_op *e = op_named(op);
    for (int i = 0; e && i < e->nkernels; i++) {
        const struct embedded_kernel *k = &e->kernels[i];
        if (k->role == TUNED_WINNER && !strcmp(k->row.types, types) && !strcmp(k->row.sizes, problem) &&
            devspec_same(&k->row.dev, dev))
            return read_kernel(k, out, err);
    }
    return err_set(err, ERR_NOTFOUND, "no record of %s %s %s on %s was exported", op, types, problem, dev->name);
}

int store_find_terms(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *problem,
                     struct tuned **out, struct err *err)
{
    return store_find_winner(s, dev, op, types, problem, out, err);
}

int store_each_default(struct store *s, const char *backend, const char *op, const char *types,
                       int (*each)(void *arg, const struct tuned *t), void *arg, struct err *err)
{
    const struct embedded_op *e = op_named(op);
    int rc = 0;
    for (int i = 0; !rc && e && i < e->nkernels; i++) {
        const struct embedded_kernel *k = &e->kernels[i];
        struct tuned *t = NULL;
        if (k->role != TUNED_DEFAULT || strcmp(k->row.dev.backend, backend) || strcmp(k->row.types, types))
            continue;
        rc = read_kernel(k, &t, err);
        if (!rc)
            rc = each(arg, t);
        tuned_free(t);
    }
    return rc;
}

/* ---- lists */

int store_each_winner_of(struct store *s, const char *op, int (*each)(void *arg, const struct winner *w), void *arg,
                         struct err *err)
{
    const struct embedded_op *e = op_named(op);
    int rc = 0;
    for (int i = 0; !rc && e && i < e->nkernels; i++)
        if (e->kernels[i].role == TUNED_WINNER)
            rc = each(arg, &e->kernels[i].row);
    return rc;
}

int store_each_time(struct store *s, const char *op, int (*each)(void *arg, const struct timed *t), void *arg, struct err *err)
{
    const struct embedded_op *e = op_named(op);
    int rc = 0;
    for (int i = 0; !rc && e && i < e->ntimes; i++)
        rc = each(arg, &e->times[i]);
    return rc;
}

int store_each_winner(struct store *s, int (*each)(void *arg, const struct listed *l), void *arg, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < nembedded_listed; i++)
        rc = each(arg, &embedded_listed[i]);
    return rc;
}

int store_stale_winners(struct store *s, const char *op, int64_t *n, struct err *err)
{
    *n = 0;
    return 0;
}

/* ---- what is a file's */

int store_open(const char *path, enum store_mode mode, struct store **out, struct err *err)
{
    *out = (struct store *)&here;
    return 0;
}

void store_close(struct store *s) {}

const char *store_path(const struct store *s)
{
    return "the tables of this program";
}

bool store_replaced(const struct store *s)
{
    return false;
}

int store_generation(struct store *s, uint64_t *out, struct err *err)
{
    *out = 1; /* for ever */
    return 0;
}

int store_begin(struct store *s, bool write, struct err *err)
{
    return 0;
}

int store_end(struct store *s, int rc, struct err *err)
{
    return rc;
}

/* What was exported is to be used in full. */
void store_limit(struct store *s, int64_t steps) {}

int store_left_out(struct store *s)
{
    return 0;
}

/* Misses are not captured. */
int store_wanted_add(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *sizes,
                     int64_t count, double time_ns, struct err *err)
{
    return 0;
}

int store_wanted_trim(struct store *s, int most, struct err *err)
{
    return 0;
}
