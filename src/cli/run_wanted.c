/* `cutune run --wanted`: tunes what applications asked for and got no exact answer to, what costs them the most first. */
#include <string.h>

#include "base/mem.h"
#include "cli/run.h"
#include "measure/bench.h"

/* The rows of the database as they come. Their texts are on the arena. */
struct wanted_rows {
    struct tuning *t;
    struct arena *arena;
    struct err *err;
};

static int keep_row(void *arg, const struct wanted_problem *w)
{
    struct wanted_rows *rows = arg;
    struct tuning *t = rows->t;
    struct finding f = { .row = -1,
                         .wanted = arena_strdup(rows->arena, w->op),
                         .types = arena_strdup(rows->arena, w->types),
                         .sizes = arena_strdup(rows->arena, w->sizes) };
    if (!f.wanted || !f.types || !f.sizes || !mem_grow((void **)&t->found, t->n, sizeof f))
        return err_nomem(rows->err);
    t->found[t->n++] = f;
    return 0;
}

/* Reads the op of a row, once for all rows of one op. Null: it is not installed, or cannot be read. */
static const struct op *op_of_row(struct tuning *t, const struct finding *f)
{
    struct err err = { 0 };
    for (const struct finding *g = t->found; g < f; g++)
        if (!strcmp(g->wanted, f->wanted))
            return g->op;
    if (request_op(t->request, f->wanted, &err))
        complain("%s is wanted, and stays so: %s", f->wanted, err.msg);
    return t->request->op;
}

/* A problem that the op or the device cannot have will never be tuned here, so it is forgotten: its row is then -1. If an application
 * asks for it again, it is back. */
static int read_row(struct request *r, struct finding *f, struct err *err)
{
    struct err why = { 0 };
    f->row = op_row(f->op, f->types, &why);
    if (f->row >= 0 && !problem_parse(f->op, f->sizes, &f->problem, &why) && !bench_fits(f->op, &f->problem, f->row, &r->dev, &why))
        return 0;
    f->row = -1;
    complain("%s %s %s is wanted no more: %s", f->wanted, f->types, f->sizes, why.msg);
    return store_wanted_done(r->store, &r->dev, f->wanted, f->types, f->sizes, err);
}

/* What then is left of the rows is those that can be tuned, of this op if it is not null. */
static int choose(struct tuning *t, const struct op *only, struct err *err)
{
    int n = 0, rc = 0;
    for (struct finding *f = t->found; !rc && f < t->found + t->n && !run_stop; f++) {
        if (!only)
            f->op = op_of_row(t, f);
        else if (!strcmp(only->name, f->wanted))
            f->op = only;
        rc = f->op ? read_row(t->request, f, err) : 0;
    }
    for (int i = 0; i < t->n; i++)
        if (t->found[i].row >= 0)
            t->found[n++] = t->found[i];
    t->n = n;
    return rc;
}

int run_wanted(struct tuning *t, struct err *err)
{
    struct request *r = t->request;
    const struct op *only = r->op;
    struct wanted_rows rows = { t, arena_new(), err };
    int rc = rows.arena ? request_read(r, err) : err_nomem(err);
    if (!rc && r->store) { /* for writing; but if there is no database nothing is wanted, and none is made */
        store_close(r->store);
        r->store = NULL;
        rc = request_database(r, STORE_WRITE, err) ?: store_each_wanted(r->store, &r->dev, keep_row, &rows, err);
    }
    bool any = t->n;
    rc = rc ?: choose(t, only, err);
    if (!rc && !t->n && !run_stop && !r->args.json)
        text_line("nothing%s is wanted on %s", only || any ? " that can be tuned" : "", r->dev.name);
    rc = rc ?: run_problems(t, err);
    arena_free(rows.arena);
    return rc;
}
