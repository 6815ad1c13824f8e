/* What an op's expressions do, tried on a few problems and devices: a slip shows when the script is read, not in the middle of a
 * run. A try proves nothing for other problems, so what depends on them stays an outcome of its configuration later. */
#include <stdio.h>
#include <string.h>

#include "device/backend.h"
#include "model/plan.h"
#include "op/read.h"

/* A GPU, and a processor; null past the last. */
static const struct devspec *sample(int i)
{
    const struct backend *b = backend_real(i);
    return b ? &b->sample : NULL;
}

/* Problem i: all axes 1; all 37; all 1021, which six axes can have without overflow. */
enum { NPROBLEMS = 3 };
static struct problem sample_problem(const struct op *op, int i)
{
    static const int64_t sizes[NPROBLEMS] = { 1, 37, 1021 };
    struct problem p = { 0 };
    for (int a = 0; a < op->naxes; a++)
        p.size[a] = op->axes[a].kind == AXIS_FLAG ? i % 2 : sizes[i];
    return p;
}

/* Axis a alone is past 2^33, all others are 1: grid limits show here. */
static struct problem long_problem(const struct op *op, int a)
{
    struct problem p = sample_problem(op, 0);
    if (op->axes[a].kind != AXIS_FLAG)
        p.size[a] = ((int64_t)1 << 33) + 3;
    return p;
}

struct trial {
    const struct op *op;
    const struct plan *plan;
    const struct devspec *dev;
    int row;
    struct val slots[MAX_SLOTS];
};

/* "for T=f32 and m=1,n=1 on cuda: " in front of the message. */
static void blame(const struct trial *t, const struct problem *prob, struct err *err)
{
    struct buf what = { 0 };
    buf_str(&what, "for ");
    op_row_print(&what, t->op, t->row);
    buf_str(&what, " and ");
    problem_print(&what, t->op, prob);
    buf_fmt(&what, " on %s: ", t->dev->backend);
    err_prefix(err, "%s", buf_text(&what));
    buf_free(&what);
}

static int try_op(const struct trial *t, struct err *err)
{
    unsigned char value[16];
    double bytes, flops;
    int64_t n;
    int rc = 0, size;
    struct geometry geometry;
    for (int i = 0; i < t->op->nargs && !rc; i++)
        rc = t->op->args[i].kind == ARG_VALUE ? plan_arg_value(t->plan, i, t->slots, value, &size, err)
                                              : plan_arg_bytes(t->plan, i, t->slots, t->row, &n, err);
    if (!rc)
        rc = plan_work(t->plan, t->slots, &bytes, &flops, err);
    if (!rc)
        rc = plan_length(t->plan, t->slots, &n, err);
    return rc ? rc : plan_geometry(t->plan, 0, t->slots, &geometry, err);
}

/* A configuration of variant v: its launches are tried only where its constraints hold. */
static int try_variant(const struct trial *t, const struct variant *v, struct err *err)
{
    struct geometry geometry;
    int64_t bytes;
    int rc;
    for (int i = 0; i < v->nwhere; i++) {
        bool holds = true;
        if ((rc = plan_where(t->plan, i, t->slots, &holds, err)) || !holds)
            return rc;
    }
    for (int i = 0; i < v->nlaunches; i++)
        if ((rc = plan_geometry(t->plan, i, t->slots, &geometry, err)))
            return rc;
    for (int i = 0; i < v->nworkspaces; i++)
        if ((rc = plan_workspace_bytes(t->plan, i, t->slots, t->row, &bytes, err)))
            return rc;
    for (int i = 0; i < v->nneeds; i++)
        if (v->needs[i].kind == NEED_ALIGN && (rc = plan_need(t->plan, i, t->slots, &bytes, err)))
            return rc;
    return 0;
}

/* Every type binding on every sample; variant -1: the op's own expressions. */
static int try_all(const struct op *op, const struct plan *plan, int variant, struct err *err)
{
    struct config config = { .variant = variant };
    for (int row = 0; row < op->nrows; row++)
        for (int d = 0; sample(d); d++)
            for (int p = 0; p < NPROBLEMS; p++) {
                struct problem prob = sample_problem(op, p);
                struct trial t = { .op = op, .plan = plan, .dev = sample(d), .row = row };
                plan_slots(plan, &prob, row, t.dev, variant < 0 ? NULL : &config, t.slots);
                int rc = variant < 0 ? try_op(&t, err) : try_variant(&t, &op->variants[variant], err);
                if (rc) {
                    blame(&t, &prob, err);
                    return rc;
                }
            }
    return 0;
}

static int check_plan(const struct op *op, int variant, struct err *err)
{
    struct plan *plan = NULL;
    int rc = plan_new(op, variant, &plan, err);
    if (!rc)
        rc = try_all(op, plan, variant, err); /* a plan's messages name the variant */
    plan_free(plan);
    return rc;
}

static int check_shapes(const struct op *op, struct err *err)
{
    const char *names[MAX_SLOTS];
    struct val slots[MAX_SLOTS];
    struct scope scope = { .names = names };
    while (devspec_name(scope.n)) {
        names[scope.n] = devspec_name(scope.n);
        slots[scope.n] = devspec_val(sample(0), scope.n);
        scope.n++;
    }
    int rc = 0;
    for (int i = 0; i < op->nshapes && !rc; i++) {
        struct expr *when = NULL;
        bool holds;
        if (!op->shapes[i].when)
            continue;
        rc = expr_compile(op->shapes[i].when, &scope, &when, err);
        if (!rc)
            rc = expr_bool(when, slots, &holds, err);
        expr_free(when);
        if (rc)
            err_prefix(err, "shapes: shape %d: when: ", i + 1);
    }
    return rc;
}

static int default_config(const struct op *op, const struct default_config *d, struct config *out)
{
    *out = (struct config){ .variant = d->variant };
    const struct variant *v = &op->variants[d->variant];
    for (int i = 0; i < v->nparams; i++)
        out->at[i] = (uint16_t)param_value(&v->params[i], d->values[i]);
    return d->variant;
}

/* As far as tries can tell, the last default holds for every problem on every device. */
static int check_last_default(const struct op *op, struct err *err)
{
    struct config config;
    struct plan *plan = NULL;
    const struct variant *v = &op->variants[default_config(op, &op->defaults[op->ndefaults - 1], &config)];
    const struct requires *q = &v->requires;
    if (v->nneeds || q->backend || q->cc || q->arch_specific || q->grid_order || q->grid_progress)
        return err_set(err, ERR_INVALID, "defaults: the last must always hold, but variant %s has needs or requires", v->name);
    int nproblems = NPROBLEMS + op->naxes, rc = plan_new(op, config.variant, &plan, err);
    for (int i = 0; i < op->nrows * nproblems && !rc; i++)
        for (int d = 0; sample(d) && !rc; d++) {
            int row = i / nproblems, p = i % nproblems;
            struct trial t = { .op = op, .plan = plan, .dev = sample(d), .row = row };
            struct problem prob = p < NPROBLEMS ? sample_problem(op, p) : long_problem(op, p - NPROBLEMS);
            plan_slots(plan, &prob, row, t.dev, &config, t.slots);
            const char *fails = plan_refuses(plan, t.slots, t.dev);
            if (!fails)
                continue;
            rc = err_set(err, ERR_INVALID, "it fails '%s'", fails);
            blame(&t, &prob, err);
            err_prefix(err, "defaults: the last must always hold; ");
        }
    plan_free(plan);
    return rc;
}

/* Whether the template declares the kernel with DYNAMIC_SHARED_PARAM: between its name with a parenthesis and its body. */
static bool declares_shared(const char *text, const char *kernel)
{
    size_t n = strlen(kernel);
    for (const char *at = text; (at = strstr(at, kernel)); at += n) {
        const char *open = at + n + strspn(at + n, " \t\n"), *word = strstr(open, "DYNAMIC_SHARED_PARAM");
        bool starts = at > text && strchr(" \t\n*", at[-1]);
        if (starts && *open == '(' && word && word < open + strcspn(open, "{;"))
            return true;
    }
    return false;
}

static int check_shared(const struct launch *l, const char *text, struct err *err)
{
    if (l->shared || !declares_shared(text, l->kernel))
        return 0;
    return err_set(err, ERR_INVALID,
                   "kernel %s declares DYNAMIC_SHARED_PARAM: its launch must say how many bytes, shared = EXPRESSION", l->kernel);
}

static int check_dynamic_shared(const struct op *op, struct err *err)
{
    int rc = check_shared(&op->reference, op->reference_text, err);
    if (rc)
        err_prefix(err, "reference: ");
    for (int i = 0; i < op->nvariants && !rc; i++) {
        const struct variant *v = &op->variants[i];
        for (int j = 0; j < v->nlaunches && !rc; j++)
            rc = check_shared(&v->launches[j], v->template_text, err);
        if (rc)
            err_prefix(err, "variant %s: ", v->name);
    }
    return rc;
}

int script_check(const struct op *op, struct err *err)
{
    int rc = op_check(op, err);
    if (!rc)
        rc = script_check_names(op, err);
    if (!rc)
        rc = check_dynamic_shared(op, err);
    for (int v = -1; v < op->nvariants && !rc; v++)
        rc = check_plan(op, v, err);
    if (!rc)
        rc = check_shapes(op, err);
    return rc ? rc : check_last_default(op, err);
}
