/* `cutune run --wanted`: tunes what applications asked for and got no exact answer to, what costs them the most first. */
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/run.h"
#include "cli/text.h"
#include "measure/bench.h"
#include "op/load.h"

struct wanted_row {
    const char *op_name, *types, *sizes;
    const struct op *op;
    struct op *loaded; /* the op, if this row was the first to need it */
    struct problem problem;
};

struct wanted_rows {
    struct wanted_row *row;
    int n;
    struct arena *arena; /* of the texts */
    struct err *err;
};

static int keep_row(void *arg, const struct wanted_problem *w)
{
    struct wanted_rows *rows = arg;
    struct wanted_row row = { .op_name = arena_strdup(rows->arena, w->op),
                              .types = arena_strdup(rows->arena, w->types),
                              .sizes = arena_strdup(rows->arena, w->sizes) };
    if (!row.op_name || !row.types || !row.sizes || !mem_grow((void **)&rows->row, rows->n, sizeof row))
        return err_nomem(rows->err);
    rows->row[rows->n++] = row;
    return 0;
}

/* Reads the op of a row, once for all rows of one op. Null: it is not installed, or cannot be read. */
static const struct op *op_of_row(struct wanted_rows *rows, int i)
{
    struct err err = { 0 };
    struct wanted_row *row = &rows->row[i];
    for (int k = 0; k < i; k++)
        if (strcmp(rows->row[k].op_name, row->op_name) == 0)
            return rows->row[k].op;
    if (op_load(row->op_name, &row->loaded, &err))
        complain("%s is wanted, and stays so: %s", row->op_name, err.msg);
    return row->loaded;
}

/* Makes a finding of a row. *is: whether it is one; a problem that the op or the device cannot have will never be tuned here, so it is
 * forgotten. If an application asks for it again, it is back. */
static int read_row(const struct devspec *dev, struct store *store, struct wanted_row *w, struct finding *f, bool *is,
                    struct err *err)
{
    struct err why = { 0 };
    *f = (struct finding){ .op = w->op, .problem = &w->problem, .types = w->types, .sizes = w->sizes };
    f->row = op_row(w->op, w->types, &why);
    *is = f->row >= 0 && !problem_parse(w->op, w->sizes, &w->problem, &why) && !bench_fits(w->op, &w->problem, f->row, dev, &why);
    if (*is)
        return 0;
    complain("%s %s %s is wanted no more: %s", w->op_name, w->types, w->sizes, why.msg);
    return store_wanted_done(store, dev, w->op_name, w->types, w->sizes, err);
}

static int tune_rows(const struct targets *t, struct run_args *run, struct store *store, struct wanted_rows *rows, struct err *err)
{
    struct finding *found = mem_array((size_t)rows->n + 1, sizeof *found);
    int n = 0, rc = found ? 0 : err_nomem(err);
    for (int i = 0; i < rows->n && !rc && !run_stop; i++) {
        struct wanted_row *row = &rows->row[i];
        bool is = false;
        if (!t->op)
            row->op = op_of_row(rows, i);
        else if (strcmp(t->op->name, row->op_name) == 0)
            row->op = t->op;
        if (row->op)
            rc = read_row(&t->dev, store, row, &found[n], &is, err);
        n += is;
    }
    if (!rc && !n && !run_stop && !run->args->json)
        text_line("nothing%s is wanted on %s", t->op || rows->n ? " that can be tuned" : "", t->dev.name);
    rc = rc ?: run_problems(&t->dev, run, store, found, n, err);
    mem_free(found);
    return rc;
}

/* For writing, but if there is no database nothing is wanted, and none is made. */
static int open_database(const struct args *args, struct store **out, struct err *err)
{
    int rc = database_read(args, out, err);
    if (rc || !*out)
        return rc;
    store_close(*out);
    *out = NULL;
    return database_open(args, STORE_WRITE, out, err);
}

int run_wanted(const struct targets *t, struct run_args *run, struct err *err)
{
    struct store *store = NULL;
    struct wanted_rows rows = { .arena = arena_new(), .err = err };
    int rc = rows.arena ? open_database(run->args, &store, err) : err_nomem(err);
    if (!rc && store)
        rc = store_each_wanted(store, &t->dev, keep_row, &rows, err);
    rc = rc ?: tune_rows(t, run, store, &rows, err);
    for (int i = 0; i < rows.n; i++)
        op_free(rows.row[i].loaded);
    mem_free(rows.row);
    arena_free(rows.arena);
    store_close(store);
    return rc;
}
