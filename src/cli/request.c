/* From the words of the command line to what they name: the op, the device, the problems, the types, the database. */
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "device/device.h"
#include "model/plan.h"
#include "op/load.h"

int request_op(struct request *r, const char *word, struct err *err)
{
    r->op = NULL;
    if (!word)
        return err_set(err, ERR_USAGE, "--op is missing: --op NAME, one that `cutune ops` lists, or --op FILE.lua");
    if (!mem_grow((void **)&r->ops, r->nops, sizeof *r->ops))
        return err_nomem(err);
    int rc = home_find(&r->home, err);
    if (rc)
        return rc;
    rc = op_load_with(word, r->args.include_dirs.at, r->args.include_dirs.n, &r->ops[r->nops], err);
    if (!rc)
        r->op = r->ops[r->nops++];
    return rc == ERR_NOTFOUND ? ERR_USAGE : rc;
}

/* A device of an architecture, which need not be there; the backend that has such ones, or null. */
static const struct backend *device_of(const char *arch, struct devspec *out)
{
    const struct backend *b;
    for (int i = 0; (b = backend_at(i)); i++)
        if (b->compiling->arch && b->compiling->arch(arch, out))
            return b;
    return NULL;
}

int request_device(struct request *r, struct err *err)
{
    const struct args *args = &r->args;
    const struct backend *b = args->arch ? device_of(args->arch, &r->dev) : NULL;
    if (args->arch && !b)
        return err_set(err, ERR_USAGE, "--arch '%s': an architecture such as sm_90 or sm_90a is wanted", args->arch);
    if (b && !args->device)
        return 0;
    int rc = device_find(args->device, &r->dev, err);
    if (!rc && b && b != backend_find(r->dev.backend))
        return err_set(err, ERR_USAGE, "--arch %s: only CUDA devices have one: leave --device %s away", args->arch, args->device);
    return rc == ERR_INVALID ? ERR_USAGE : rc;
}

/* Those of the op's own shapes that are meant for this device. */
static int own_shapes(struct request *r, struct err *err)
{
    const struct op *op = r->op;
    struct plan *plan = NULL;
    int rc = plan_new(op, -1, &plan, err);
    for (const struct shape *s = op->shapes; !rc && s < op->shapes + op->nshapes; s++) {
        struct problem *p = &r->problems[r->nproblems];
        struct val slots[MAX_SLOTS];
        struct expr *when = NULL;
        bool applies = true;
        *p = s->problem;
        plan_slots(plan, p, r->rows[0], &r->dev, NULL, slots);
        if (s->when)
            rc = expr_compile(s->when, plan_scope(plan), &when, err) ?: expr_bool(when, slots, &applies, err);
        if (rc)
            err_prefix(err, "%s: shapes: when '%s': ", op->file, s->when);
        expr_free(when);
        r->nproblems += applies;
    }
    plan_free(plan);
    if (!rc && !r->nproblems)
        rc = err_set(err, ERR_USAGE, "%s names no shape of its own for this device: give one with --shape", op->name);
    return rc;
}

int request_problems(struct request *r, bool own, struct err *err)
{
    const struct words *types = &r->args.dtypes, *shapes = &r->args.shapes;
    r->rows = mem_array((size_t)types->n + 1, sizeof *r->rows);
    r->problems = mem_array((size_t)(shapes->n ? shapes->n : r->op->nshapes) + 1, sizeof *r->problems);
    if (!r->rows || !r->problems)
        return err_nomem(err);
    for (; r->nrows < types->n; r->nrows++) {
        r->rows[r->nrows] = op_row(r->op, types->at[r->nrows], err);
        if (r->rows[r->nrows] < 0)
            return ERR_USAGE;
    }
    if (!types->n) {
        int f32 = op_row(r->op, "f32", NULL);
        r->rows[r->nrows++] = f32 < 0 ? 0 : f32;
    }
    for (; r->nproblems < shapes->n; r->nproblems++)
        if (problem_parse(r->op, shapes->at[r->nproblems], &r->problems[r->nproblems], err))
            return ERR_USAGE;
    for (int i = 0; i < r->nproblems * r->nrows; i++) {
        int rc = op_takes(r->op, &r->problems[i / r->nrows], r->rows[i % r->nrows], err);
        if (rc)
            return rc == ERR_INVALID ? ERR_USAGE : rc;
    }
    return own && !shapes->n ? own_shapes(r, err) : 0;
}

int request_all(struct request *r, struct err *err)
{
    return request_op(r, r->args.op, err) ?: request_device(r, err) ?: request_problems(r, true, err);
}

int request_filter(struct request *r, const char *word, struct buf filter[FILTERS], struct err *err)
{
    const struct args *args = &r->args;
    bool limited = args->shapes.n || args->dtypes.n, is_name = word && name_ok(word);
    if (!word && limited)
        return err_set(err, ERR_USAGE, "%s needs --op: sizes and types are those of an op", args->shapes.n ? "--shape" : "--dtype");
    if (!word)
        return 0;
    if (is_name && !limited) { /* stored, perhaps from a script that is elsewhere */
        buf_str(&filter[FILTER_OP], word);
        return 0;
    }
    int rc = request_op(r, word, err) ?: request_problems(r, false, err);
    if (rc)
        return rc;
    buf_str(&filter[FILTER_OP], r->op->name);
    if (args->dtypes.n)
        op_row_print(&filter[FILTER_TYPES], r->op, r->rows[0]);
    if (args->shapes.n)
        problem_print(&filter[FILTER_PROBLEM], r->op, &r->problems[0]);
    return 0;
}

int request_op_names(struct request *r, struct err *err)
{
    int rc = 0;
    for (const char **word = r->args.ops.at; !rc && word < r->args.ops.at + r->args.ops.n; word++)
        if (!name_ok(*word) && !(rc = request_op(r, *word, err)))
            *word = r->op->name;
    return rc;
}

int request_device_name(struct request *r, struct err *err)
{
    if (!r->args.device || !strchr(r->args.device, ':'))
        return 0;
    int rc = device_find(r->args.device, &r->dev, err);
    r->args.device = r->dev.name;
    return rc;
}

int request_config(const struct request *r, struct config *c, struct buf *refused, struct err *err)
{
    const struct args *args = &r->args;
    struct plan *plan = NULL;
    struct val slots[MAX_SLOTS];
    struct err why = { 0 };
    if (config_parse(r->op, args->variant, args->config ? args->config : "", c, err))
        return ERR_USAGE;
    int rc = plan_new(r->op, c->variant, &plan, err);
    if (rc)
        return rc;
    plan_slots(plan, &r->problems[0], r->rows[0], &r->dev, c, slots);
    const char *constraint = plan_refuses_why(plan, slots, &r->dev, &why);
    if (constraint)
        buf_fmt(refused, "%s%s%s", constraint, *why.msg ? ": " : "", why.msg);
    plan_free(plan);
    return buf_check(refused, err);
}

int request_database(struct request *r, enum store_mode mode, struct err *err)
{
    char *path = NULL;
    int rc = r->args.db ? 0 : store_default_path(mode == STORE_WRITE, &path, err);
    rc = rc ?: store_open(path ? path : r->args.db, mode, &r->store, err);
    mem_free(path);
    return rc;
}

int request_read(struct request *r, struct err *err)
{
    int rc = request_database(r, STORE_READ, err);
    return rc == ERR_NOTFOUND && !r->args.db ? 0 : rc;
}

int damage_told(const struct store *s, int n, int rc)
{
    if (n)
        complain("%d row%s of %s %s damaged and left out", n, n > 1 ? "s" : "", store_path(s), n > 1 ? "are" : "is");
    return n && !rc ? FAILED : rc;
}

int request_damage(const struct request *r, int rc)
{
    return damage_told(r->store, r->store ? store_left_out(r->store) : 0, rc);
}

void request_free(struct request *r)
{
    store_close(r->store);
    while (r->nops)
        op_free(r->ops[--r->nops]);
    mem_free(r->ops);
    mem_free(r->problems);
    mem_free(r->rows);
}
