/* The store's queries, answered from the tables. */
#include <string.h>

#include "export/embedded/embedded.h"

static const struct embedded_op *op_of(const char *name)
{
    for (int i = 0; i < embedded_nops; i++)
        if (!strcmp(embedded_ops[i].op.name, name))
            return &embedded_ops[i];
    return NULL;
}

int store_op(struct store *s, const char *name, struct op **out, struct err *err)
{
    (void)s;
    const struct embedded_op *e = op_of(name);
    if (!e)
        return err_set(err, ERR_NOTFOUND, "op %s was not exported", name);
    struct op *op = op_new();
    if (!op)
        return err_nomem(err);
    struct arena *arena = op->arena;
    *op = e->op;
    op->arena = arena;
    op->rows = arena_array(arena, (size_t)(op->nrows * op->ntypes), sizeof *op->rows);
    for (int i = 0; op->rows && i < op->nrows * op->ntypes; i++)
        op->rows[i] = dtype_find(e->rows[i]);
    if (op->rows) {
        *out = op;
        return 0;
    }
    op_free(op);
    return err_nomem(err);
}

int store_each_winner_of(struct store *s, const char *op, int (*each)(void *arg, const struct winner *w), void *arg,
                         struct err *err)
{
    const struct embedded_op *e = op_of(op);
    int rc = 0;
    (void)s;
    (void)err;
    for (int i = 0; !rc && e && i < e->nwinners; i++) {
        const struct embedded_winner *from = &e->winners[i];
        const struct winner w = {
            .id = from->id,
            .device = from->device + 1,
            .problem = i + 1,
            .types = from->types,
            .sizes = from->sizes,
            .variant = from->kernel->variant,
            .config = from->kernel->config,
            .time_ns = from->time_ns,
            .bytes = from->bytes,
            .flops = from->flops,
            .dev = embedded_devices[from->device],
        };
        rc = each(arg, &w);
    }
    return rc;
}

int store_each_time(struct store *s, const char *op, int (*each)(void *arg, const struct timed *t), void *arg, struct err *err)
{
    const struct embedded_op *e = op_of(op);
    int rc = 0;
    (void)s;
    (void)err;
    for (int i = 0; !rc && e && i < e->ntimes; i++) {
        const struct embedded_winner *problem = &e->winners[e->times[i].problem], *of = &e->winners[e->times[i].kernel];
        const struct timed t = {
            .device = problem->device + 1,
            .problem = e->times[i].problem + 1,
            .types = problem->types,
            .sizes = problem->sizes,
            .variant = of->kernel->variant,
            .config = of->kernel->config,
            .median = e->times[i].median,
        };
        rc = each(arg, &t);
    }
    return rc;
}

int store_find_winner(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *problem,
                      struct tuned **out, struct err *err)
{
    const struct embedded_op *e = op_of(op);
    (void)s;
    for (int i = 0; e && i < e->nwinners; i++) {
        const struct embedded_winner *w = &e->winners[i];
        if (!strcmp(w->types, types) && !strcmp(w->sizes, problem) && devspec_same(&embedded_devices[w->device], dev)) {
            *out = w->kernel;
            return 0;
        }
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
    const struct embedded_op *e = op_of(op);
    int rc = 0;
    (void)s;
    (void)err;
    for (int i = 0; !rc && e && i < e->ndefaults; i++)
        if (!strcmp(e->defaults[i].backend, backend) && !strcmp(e->defaults[i].types, types))
            rc = each(arg, e->defaults[i].kernel);
    return rc;
}

/* What was exported is to be used in full. */
void store_limit(struct store *s, int64_t steps)
{
    (void)s;
    (void)steps;
}

int store_stale_winners(struct store *s, const char *op, int64_t *n, struct err *err)
{
    (void)s, (void)op, (void)err;
    *n = 0;
    return 0;
}

const char *store_path(const struct store *s)
{
    (void)s;
    return "the tables of this program";
}

int store_generation(struct store *s, uint64_t *out, struct err *err)
{
    (void)s;
    (void)err;
    *out = 1; /* for ever */
    return 0;
}

int store_begin(struct store *s, bool write, struct err *err)
{
    (void)s;
    (void)write;
    (void)err;
    return 0;
}

int store_end(struct store *s, int rc, struct err *err)
{
    (void)s;
    (void)err;
    return rc;
}

/* Records lie in the tables. */
void tuned_free(struct tuned *t)
{
    (void)t;
}
