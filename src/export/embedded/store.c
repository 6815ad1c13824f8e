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

int store_each_op(struct store *s, int (*each)(void *arg, const char *name), void *arg, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < nembedded_ops; i++)
        rc = each(arg, embedded_ops[i].name);
    return rc;
}

/* ---- kernels */

static int read_kernel(const struct embedded_kernel *k, struct tuned **out, struct err *err)
{
    struct op *op;
    struct tuned *t = NULL;
    int rc = kernel_get(k->op, k->op_bytes, &op, err) ?: tuned_on(op, &t, err);
    if (rc)
        return rc;
    const struct tuned told = *t;
    *t = k->tuned;
    t->op = told.op;
    t->variant = told.variant;
    t->config = told.config;
    t->json = told.json;
    t->bytes = k->op_bytes;
    t->id = (int64_t)(intptr_t)k;
    *out = t;
    return 0;
}

int store_find_winner(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *problem,
                      struct tuned **out, struct err *err)
{
    const struct embedded_op *e = op_named(op);
    for (int i = 0; e && i < e->nkernels; i++) {
        const struct embedded_kernel *k = &e->kernels[i];
        if (k->tuned.role == TUNED_WINNER && !strcmp(k->row.types, types) && !strcmp(k->row.sizes, problem) &&
            devspec_same(&k->row.dev, dev))
            return read_kernel(k, out, err);
    }
    return err_set(err, ERR_NOTFOUND, "no record of %s %s %s on %s was exported", op, types, problem, dev->name);
}

int store_tuned(struct store *s, int64_t id, struct tuned **out, struct err *err)
{
    return read_kernel((const struct embedded_kernel *)(intptr_t)id, out, err);
}

/* Measurements are not exported. */
int store_failed_for(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *problem,
                     const char *variant, const char *json, bool *failed, struct err *err)
{
    *failed = false;
    return 0;
}

int store_each_default(struct store *s, const char *backend, const char *op, const char *types, int from,
                       int (*each)(void *arg, struct tuned *t), void *arg, struct err *err)
{
    const struct embedded_op *e = op_named(op);
    int rc = 0;
    for (int i = 0; !rc && e && i < e->nkernels; i++) {
        const struct embedded_kernel *k = &e->kernels[i];
        struct tuned *t = NULL;
        bool asked = k->tuned.role == TUNED_DEFAULT && k->tuned.rank >= from;
        if (!asked || strcmp(k->row.dev.backend, backend) || strcmp(k->row.types, types))
            continue;
        rc = read_kernel(k, &t, err) ?: each(arg, t);
    }
    return rc;
}

int store_each_default_config(struct store *s, const char *op,
                              int (*each)(void *arg, const char *backend, const char *variant, const char *json), void *arg,
                              struct err *err)
{
    const struct embedded_op *e = op_named(op);
    int rc = 0;
    for (int i = 0; !rc && e && i < e->nkernels; i++)
        if (e->kernels[i].tuned.role == TUNED_DEFAULT)
            rc = each(arg, e->kernels[i].row.dev.backend, e->kernels[i].row.variant, e->kernels[i].row.json);
    return rc;
}

/* ---- lists */

int store_each_winner_of(struct store *s, const char *op, const struct winner_choice *choice,
                         int (*each)(void *arg, const struct winner *w), void *arg, struct err *err)
{
    const struct embedded_op *e = op_named(op);
    int rc = 0;
    for (int i = 0; !rc && e && i < e->nkernels; i++)
        if (e->kernels[i].tuned.role == TUNED_WINNER)
            rc = each(arg, &e->kernels[i].row);
    return rc;
}

int store_each_time(struct store *s, const char *op, const struct winner_choice *choice, int (*each)(void *arg, const struct timed *t), void *arg, struct err *err)
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

int store_unserved(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *problem,
                   const char **why, struct err *err)
{
    *why = NULL;
    return 0;
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

void store_leave_out(struct store *s, int n) {}

/* There are no shipped tables and no cache either, and nobody to tell of misses. */
int open_database(struct cutune *c, const char *given, struct err *err)
{
    c->capture = false;
    c->refresh_ms = 0;
    return store_open(given, STORE_READ, &c->store, err);
}

int open_tables(struct cutune *c, const char *given, struct err *err)
{
    return 0;
}

struct store *tables_of(struct cutune *c)
{
    return NULL;
}

int take_cache(const char *given, char **out, struct err *err)
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
