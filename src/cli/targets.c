#include "cli/targets.h"

#include "base/mem.h"
#include "cli/cli.h"
#include "device/device.h"
#include "model/plan.h"
#include "op/load.h"

int named_op(const char *word, struct op **op, struct err *err)
{
    int rc = op_load(word, op, err);
    return rc == ERR_NOTFOUND ? ERR_USAGE : rc;
}

int targets_op(const struct args *args, struct targets *t, struct err *err)
{
    return home_find(&t->home, err) ?: named_op(args->op, &t->op, err);
}

int targets_device(const struct args *args, struct targets *t, struct err *err)
{
    int rc = device_find(args->device, &t->dev, err);
    return rc == ERR_INVALID ? ERR_USAGE : rc;
}

static int read_rows(const struct args *args, struct targets *t, struct err *err)
{
    int n = args->dtypes.n;
    t->rows = mem_array(n ? n : 1, sizeof *t->rows);
    if (!t->rows)
        return err_nomem(err);
    for (; t->nrows < n; t->nrows++) {
        t->rows[t->nrows] = op_row(t->op, args->dtypes.at[t->nrows], err);
        if (t->rows[t->nrows] < 0)
            return ERR_USAGE;
    }
    if (!n) {
        int f32 = op_row(t->op, "f32", NULL);
        t->rows[t->nrows++] = f32 < 0 ? 0 : f32;
    }
    return 0;
}

static int read_shapes(const struct args *args, struct targets *t, struct err *err)
{
    for (; t->nproblems < args->shapes.n; t->nproblems++)
        if (problem_parse(t->op, args->shapes.at[t->nproblems], &t->problems[t->nproblems], err))
            return ERR_USAGE;
    return 0;
}

/* Whether a shape of the op's own is meant for this device. */
static int shape_applies(const struct plan *plan, const struct shape *shape, const struct problem *p, const struct targets *t,
                         bool *applies, struct err *err)
{
    struct val slots[MAX_SLOTS];
    struct expr *when = NULL;
    *applies = true;
    if (!shape->when)
        return 0;
    int rc = expr_compile(shape->when, plan_scope(plan), &when, err);
    if (!rc) {
        plan_slots(plan, p, t->rows[0], &t->dev, NULL, slots);
        rc = expr_bool(when, slots, applies, err);
    }
    expr_free(when);
    if (rc)
        err_prefix(err, "%s: shapes: when '%s': ", t->op->file, shape->when);
    return rc;
}

static int own_shapes(struct targets *t, struct err *err)
{
    struct plan *plan = NULL;
    int rc = plan_new(t->op, -1, &plan, err);
    for (int i = 0; !rc && i < t->op->nshapes; i++) {
        struct problem *p = &t->problems[t->nproblems];
        bool applies = false;
        for (int a = 0; a < t->op->naxes; a++)
            p->size[a] = t->op->shapes[i].size[a];
        rc = shape_applies(plan, &t->op->shapes[i], p, t, &applies, err);
        t->nproblems += applies;
    }
    plan_free(plan);
    if (!rc && !t->nproblems)
        rc = err_set(err, ERR_USAGE, "%s names no shape of its own for this device: give one with --shape", t->op->name);
    return rc;
}

int targets_words(const struct args *args, struct targets *t, struct err *err)
{
    int most = args->shapes.n ? args->shapes.n : t->op->nshapes;
    t->problems = mem_array(most + 1, sizeof *t->problems);
    if (!t->problems)
        return err_nomem(err);
    return read_rows(args, t, err) ?: read_shapes(args, t, err);
}

int targets_problems(const struct args *args, struct targets *t, struct err *err)
{
    int rc = targets_words(args, t, err);
    return !rc && !args->shapes.n ? own_shapes(t, err) : rc;
}

int targets_all(const struct args *args, struct targets *t, struct err *err)
{
    return targets_op(args, t, err) ?: targets_device(args, t, err) ?: targets_problems(args, t, err);
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
    int rc = store_default_path(mode == STORE_WRITE, &path, err) ?: store_open(path, mode, out, err);
    mem_free(path);
    return rc;
}

int database_read(const struct args *args, struct store **out, struct err *err)
{
    *out = NULL;
    int rc = database_open(args, STORE_READ, out, err);
    return rc == ERR_NOTFOUND && !args->db ? 0 : rc;
}

int database_done(struct store *s, int rc)
{
    int n = s ? store_left_out(s) : 0;
    if (n)
        complain("%d row%s of %s %s damaged and left out", n, n > 1 ? "s" : "", store_path(s), n > 1 ? "are" : "is");
    return n && !rc ? FAILED : rc;
}
