#include "cli/targets.h"

#include "base/mem.h"
#include "cli/cli.h"
#include "device/device.h"
#include "model/plan.h"
#include "op/load.h"

int targets_op(const struct args *args, struct targets *t)
{
    struct err err = { 0 };
    if (home_find(&t->home, &err) != 0)
        return complain(FAILED, "%s", err.msg);
    int rc = op_load(args->op, &t->op, &err);
    return rc ? complain(rc == ERR_NOTFOUND ? USAGE : FAILED, "%s", err.msg) : DONE;
}

int targets_device(const struct args *args, struct targets *t)
{
    struct err err = { 0 };
    int rc = device_find(args->device, &t->dev, &err);
    return rc ? complain(rc == ERR_INVALID ? USAGE : FAILED, "%s", err.msg) : DONE;
}

static int read_rows(const struct args *args, struct targets *t)
{
    struct err err = { 0 };
    t->rows = mem_array(args->ndtypes ? args->ndtypes : 1, sizeof *t->rows);
    if (!t->rows)
        return complain(FAILED, "out of memory");
    for (; t->nrows < args->ndtypes; t->nrows++) {
        t->rows[t->nrows] = op_row(t->op, args->dtypes[t->nrows], &err);
        if (t->rows[t->nrows] < 0)
            return complain(USAGE, "%s", err.msg);
    }
    if (!args->ndtypes) {
        int f32 = op_row(t->op, "f32", NULL);
        t->rows[t->nrows++] = f32 < 0 ? 0 : f32;
    }
    return DONE;
}

static int read_shapes(const struct args *args, struct targets *t)
{
    struct err err = { 0 };
    for (; t->nproblems < args->nshapes; t->nproblems++)
        if (problem_parse(t->op, args->shapes[t->nproblems], &t->problems[t->nproblems], &err) != 0)
            return complain(USAGE, "%s", err.msg);
    return DONE;
}

/* Whether the op's own shape is meant for this device. */
static int shape_applies(const struct plan *plan, const struct shape *shape, const struct problem *p, const struct targets *t,
                         bool *applies, struct err *err)
{
    struct val slots[MAX_SLOTS];
    struct expr *when = NULL;
    *applies = true;
    if (!shape->when)
        return 0;
    int rc = expr_compile(shape->when, plan_scope(plan), &when, err);
    if (rc == 0) {
        plan_slots(plan, p, t->rows[0], &t->dev, NULL, slots);
        rc = expr_bool(when, slots, applies, err);
    }
    expr_free(when);
    if (rc)
        err_prefix(err, "%s: shapes: when '%s': ", t->op->file, shape->when);
    return rc;
}

static int own_shapes(struct targets *t)
{
    struct err err = { 0 };
    struct plan *plan = NULL;
    int rc = plan_new(t->op, -1, &plan, &err);
    for (int i = 0; rc == 0 && i < t->op->nshapes; i++) {
        struct problem *p = &t->problems[t->nproblems];
        bool applies = false;
        for (int a = 0; a < t->op->naxes; a++)
            p->size[a] = t->op->shapes[i].size[a];
        rc = shape_applies(plan, &t->op->shapes[i], p, t, &applies, &err);
        t->nproblems += applies;
    }
    plan_free(plan);
    if (rc)
        return complain(FAILED, "%s", err.msg);
    if (!t->nproblems)
        return complain(USAGE, "%s names no shape of its own for this device: give one with --shape", t->op->name);
    return DONE;
}

int targets_words(const struct args *args, struct targets *t)
{
    int most = args->nshapes ? args->nshapes : t->op->nshapes;
    t->problems = mem_array(most + 1, sizeof *t->problems);
    if (!t->problems)
        return complain(FAILED, "out of memory");
    int code = read_rows(args, t);
    return code == DONE ? read_shapes(args, t) : code;
}

int targets_problems(const struct args *args, struct targets *t)
{
    int code = targets_words(args, t);
    return code == DONE && !args->nshapes ? own_shapes(t) : code;
}

int targets_all(const struct args *args, struct targets *t)
{
    int code = targets_op(args, t);
    if (code == DONE)
        code = targets_device(args, t);
    if (code == DONE)
        code = targets_problems(args, t);
    return code;
}

void targets_free(struct targets *t)
{
    op_free(t->op);
    mem_free(t->problems);
    mem_free(t->rows);
}

void target_print(struct buf *out, const struct op *op, const struct problem *p, int row)
{
    buf_fmt(out, "%s ", op->name);
    op_row_print(out, op, row);
    buf_str(out, " ");
    problem_print(out, op, p);
}

int database_open(const struct args *args, enum store_mode mode, struct store **out, struct err *err)
{
    if (args->db)
        return store_open(args->db, mode, out, err);
    char *path = NULL;
    int rc = store_default_path(mode == STORE_WRITE, &path, err);
    if (rc == 0)
        rc = store_open(path, mode, out, err);
    mem_free(path);
    return rc;
}

int database_read(const struct args *args, struct store **out)
{
    struct err err = { 0 };
    *out = NULL;
    int rc = database_open(args, STORE_READ, out, &err);
    if (rc == ERR_NOTFOUND && !args->db)
        return DONE;
    return rc ? complain(FAILED, "%s", err.msg) : DONE;
}

int database_done(struct store *s, int code)
{
    int n = s ? store_left_out(s) : 0;
    if (n)
        complain(FAILED, "%d row%s of %s %s damaged and left out", n, n > 1 ? "s" : "", store_path(s), n > 1 ? "are" : "is");
    return n && code == DONE ? FAILED : code;
}
