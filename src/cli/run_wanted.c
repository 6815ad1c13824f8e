/* `cutune run --wanted`: tunes what applications asked for and got no exact answer to, what costs them the most first. */
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/run.h"
#include "cli/text.h"
#include "measure/bench.h"
#include "op/load.h"

struct row {
    char *op, *types, *sizes;
    struct problem problem;
};

struct rows {
    struct row *row;
    int n;
};

static int keep_row(void *arg, const struct wanted_problem *w)
{
    struct rows *rows = arg;
    struct row *row = mem_resize(rows->row, (size_t)rows->n + 1, sizeof *row);
    if (!row)
        return ERR_NOMEM;
    rows->row = row;
    row += rows->n++;
    *row = (struct row){ .op = mem_strdup(w->op), .types = mem_strdup(w->types), .sizes = mem_strdup(w->sizes) };
    return row->op && row->types && row->sizes ? 0 : ERR_NOMEM;
}

static void rows_free(struct rows *rows)
{
    for (int i = 0; i < rows->n; i++) {
        mem_free(rows->row[i].op);
        mem_free(rows->row[i].types);
        mem_free(rows->row[i].sizes);
    }
    mem_free(rows->row);
}

/* The ops that came up, each read once. */
struct library {
    const struct op *given; /* --op's; null: any that is installed */
    struct known {
        const char *name;
        struct op *op; /* null: it cannot be read */
    } * known;
    int n;
};

static const struct op *installed(struct library *lib, const char *name)
{
    struct err err = { 0 };
    for (int i = 0; i < lib->n; i++)
        if (strcmp(lib->known[i].name, name) == 0)
            return lib->known[i].op;
    struct known *k = &lib->known[lib->n++];
    k->name = name;
    if (op_load(name, &k->op, &err) != 0)
        complain(FAILED, "%s is wanted, and stays so: %s", name, err.msg);
    return k->op;
}

static int forget(struct store *store, const struct devspec *dev, const struct row *w)
{
    struct err err = { 0 };
    int rc = store_wanted_done(store, dev, w->op, w->types, w->sizes, &err);
    if (rc)
        complain(FAILED, "%s", err.msg);
    return rc;
}

/* A problem that the op or the device cannot have will never be tuned here: it is forgotten. Whoever asks again brings it back. */
static int drop(struct store *store, const struct devspec *dev, const struct row *w, const struct err *why)
{
    complain(FAILED, "%s %s %s is wanted no more: %s", w->op, w->types, w->sizes, why->msg);
    return forget(store, dev, w);
}

/* One row. *tuned: f is filled in. Returns 0, or the code that ended its run. */
static int tune_row(struct store *store, struct run_args *run, const struct devspec *dev, const struct op *op, struct row *w,
                    struct finding *f, bool *tuned)
{
    struct err err = { 0 };
    int row = op_row(op, w->types, &err);
    if (row < 0 || problem_parse(op, w->sizes, &w->problem, &err) || bench_fits(op, &w->problem, row, dev, &err))
        return drop(store, dev, w, &err);
    *f = (struct finding){ .op = op, .problem = &w->problem, .row = row };
    int rc = run_problem(store, run, dev, f);
    *tuned = rc == 0;
    return rc || found_nothing(&f->report) || f->report.interrupted ? rc : forget(store, dev, w);
}

static int tune_rows(struct store *store, struct run_args *run, const struct devspec *dev, struct rows *rows, struct library *lib,
                     struct finding *found, int *n)
{
    int code = DONE, rc = 0;
    for (int i = 0; i < rows->n && !run_stop && rc != ERR_IO; i++) {
        struct row *w = &rows->row[i];
        bool tuned = false;
        if (lib->given && strcmp(lib->given->name, w->op) != 0)
            continue;
        const struct op *op = lib->given ? lib->given : installed(lib, w->op);
        rc = op ? tune_row(store, run, dev, op, w, &found[*n], &tuned) : 0;
        if (rc || (tuned && found_nothing(&found[*n].report)))
            code = FAILED;
        *n += tuned;
    }
    return code;
}

/* For writing, but where there is no database nothing is wanted: none is made. */
static int open_database(const struct run_args *run, struct store **out)
{
    struct err err = { 0 };
    int code = database_read(&run->args, out);
    if (code != DONE || !*out)
        return code;
    store_close(*out);
    *out = NULL;
    return database_open(&run->args, STORE_WRITE, out, &err) ? complain(FAILED, "%s", err.msg) : DONE;
}

int run_wanted(const struct targets *t, struct run_args *run)
{
    struct err err = { 0 };
    struct store *store = NULL;
    struct rows rows = { 0 };
    struct library lib = { .given = t->op };
    struct finding *found = NULL;
    int n = 0, code = open_database(run, &store);
    if (code != DONE)
        goto out;
    if (store && store_each_wanted(store, &t->dev, keep_row, &rows, &err)) {
        code = complain(FAILED, "%s", err.code ? err.msg : "out of memory");
        goto out;
    }
    found = mem_array((size_t)rows.n + 1, sizeof *found);
    lib.known = mem_array((size_t)rows.n + 1, sizeof *lib.known);
    if (!found || !lib.known) {
        code = complain(FAILED, "out of memory");
        goto out;
    }
    code = tune_rows(store, run, &t->dev, &rows, &lib, found, &n);
    if (!n && !run_stop && !run->args.json && code == DONE)
        text_line("nothing%s is wanted on %s", t->op || rows.n ? " that can be tuned" : "", t->dev.name);
    code = run_report(&t->dev, run, store, found, n, code);
    code = run_verify(store, database_done(store, code));
out:
    for (int i = 0; lib.known && i < lib.n; i++)
        op_free(lib.known[i].op);
    mem_free(lib.known);
    mem_free(found);
    rows_free(&rows);
    store_close(store);
    return code;
}
