/* What an op's expressions do, tried on a few problems and devices: a slip shows when the script is read, not in the middle of a
 * run. A try proves nothing for other problems, so what depends on them stays an outcome of its configuration later. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "device/backend.h"
#include "model/plan.h"
#include "op/read.h"

/* Problem i: all axes 1; all 37; all 1021, which six axes can have without overflow. Behind these, one for each axis: it alone is past
 * 2^33, so that limits of the grid show. */
enum { NPROBLEMS = 3, ROUNDED = 40, MAX_OWN = 8 };
static struct problem plain_problem(const struct op *op, int i)
{
    static const int64_t sizes[NPROBLEMS] = { 1, 37, 1021 };
    struct problem p = { 0 };
    int longer = i - NPROBLEMS;
    for (int a = 0; a < op->naxes; a++) {
        const struct axis *axis = &op->axes[a];
        bool flag = axis->kind == AXIS_FLAG;
        p.size[a] = flag ? longer < 0 && i % 2 : longer < 0 ? sizes[i] : a == longer ? ((int64_t)1 << 33) + 3 : 1;
        if (axis->kind == AXIS_STRIDE && axis->preset && a != longer)
            axis_preset(op, a, &p, &p.size[a], NULL); /* check_presets tells what is wrong with it */
    }
    return p;
}

static int check_presets(const struct op *op, struct err *err)
{
    int rc = 0;
    for (int i = 0; i < NPROBLEMS; i++)
        for (int a = 0; !rc && a < op->naxes; a++) {
            const struct problem p = plain_problem(op, i);
            int64_t size;
            rc = op->axes[a].preset ? axis_preset(op, a, &p, &size, err) : 0;
        }
    return rc;
}

/* To the next multiple of 2^k, or the one before; all axes that are not flags. */
static struct problem rounded(const struct op *op, struct problem p, int k, bool up)
{
    const int64_t unit = (int64_t)1 << k;
    for (int a = 0; a < op->naxes; a++)
        if (op->axes[a].kind != AXIS_FLAG)
            p.size[a] = up || p.size[a] < unit ? (p.size[a] + unit - 1) / unit * unit : p.size[a] / unit * unit;
    return p;
}

/* Nothing larger than the op takes along each axis alone. An axis whose limit another one's size decides may need a second look. */
static int cut_to_max(const struct op *op, const struct plan *plan, int row, struct problem *p, struct err *err)
{
    struct val slots[MAX_SLOTS];
    int rc = 0;
    for (int k = 0; !rc && k < 2 * op->naxes; k++) {
        int64_t most;
        int a = k % op->naxes;
        plan_slots(plan, p, row, &backend_real(0)->sample, NULL, slots);
        rc = plan_axis_max(plan, a, slots, &most, err);
        if (!rc && p->size[a] > most && most >= 1)
            p->size[a] = most;
    }
    return rc;
}

/* The problem i as it is, or near it, where the op takes it; *found: whether there is one. Behind `plain` ones come the op's shapes. */
static int sample_problem(const struct op *op, const struct plan *plan, int row, int plain, int i, struct problem *p, bool *found,
                          struct err *err)
{
    struct val slots[MAX_SLOTS];
    const char *fails = "";
    *p = i < plain ? plain_problem(op, i) : op->shapes[i - plain].problem;
    *found = i >= plain || !op_limited(op);
    int rc = *found ? 0 : cut_to_max(op, plan, row, p, err);
    for (int k = 0; !rc && !*found && k < 2 * ROUNDED; k++) {
        struct problem near = rounded(op, *p, k / 2, k % 2);
        plan_slots(plan, &near, row, &backend_real(0)->sample, NULL, slots);
        int failed = plan_takes(plan, slots, &fails, k ? NULL : err);
        rc = k ? 0 : failed;
        *found = !failed && !fails;
        if (*found)
            *p = near;
        fails = "";
    }
    return rc;
}

struct trial {
    const struct op *op;
    const struct variant *variant; /* null: the op's own expressions */
    const struct plan *plan;
    const struct devspec *dev;
    const struct problem *problem;
    int row;
    struct val slots[MAX_SLOTS];
};

/* Too many of them are none of the script's slips: it may be so for this problem only. */
static int try_launches(const struct trial *t, struct err *err)
{
    const struct guest_param none[2 * MAX_ARGS] = { { .kind = GUEST_VALUE } };
    struct guest_launch *launches;
    struct arena *arena = arena_new();
    int n, rc = arena ? guest_launches(t->plan, t->slots, none, arena, &launches, &n, NULL, err) : err_nomem(err);
    arena_free(arena);
    return rc == ERR_UNSUPPORTED ? 0 : rc;
}

static int try_op(const struct trial *t, struct err *err)
{
    unsigned char value[16];
    double bytes, flops;
    int64_t n;
    int rc = 0, size;
    struct bounds bounds;
    for (int i = 0; i < t->op->nargs && !rc; i++)
        rc = (arg_is_buffer(&t->op->args[i]) ? plan_arg_bytes(t->plan, i, t->slots, &n, err)
                                             : plan_arg_value(t->plan, i, t->slots, value, &size, err)
                                                   ?: plan_arg_other(t->plan, i, t->slots, value, &size, err))
                 ?: plan_bounds(t->plan, i, t->slots, &bounds, err);
    for (int i = 0; i < t->op->npeers && !rc; i++) {
        struct peer_values values;
        rc = peer_evaluate(t->plan, &t->op->peers[i], t->slots, &values, err);
        if (rc)
            err_prefix(err, "peers: peer %d: ", i + 1);
    }
    return rc
        ?: plan_work(t->plan, t->slots, &bytes, &flops, err)
        ?: plan_bounds(t->plan, -1, t->slots, &bounds, err)
        ?: try_launches(t, err);
}

/* The constraints, up to the first that does not hold. */
static int try_where(const struct trial *t, bool *holds, struct err *err)
{
    int rc = 0;
    *holds = true;
    for (int i = 0; i < t->variant->nwhere && !rc && *holds; i++)
        rc = plan_check(t->plan, i, t->slots, t->dev, holds, err);
    return rc;
}

static int try_when(const struct trial *t, struct err *err)
{
    bool holds;
    return try_where(t, &holds, err);
}

/* The launches of a configuration are tried only if its constraints hold. */
static int try_variant(const struct trial *t, struct err *err)
{
    const struct variant *v = t->variant;
    double metric;
    int64_t bytes;
    bool holds;
    int rc = try_where(t, &holds, err);
    if (rc || !holds)
        return rc;
    rc = rc ?: try_launches(t, err);
    for (int i = 0; i < v->nworkspaces && !rc; i++)
        rc = plan_workspace_bytes(t->plan, i, t->slots, &bytes, err);
    for (int i = 0; i < t->op->nmetrics && !rc; i++)
        rc = plan_metric(t->plan, i, t->slots, 1e-3, 1e-3, &metric, err);
    for (int i = 0; i < v->nneeds && !rc; i++)
        rc = v->needs[i].kind == NEED_ALIGN ? plan_need(t->plan, i, t->slots, &bytes, err) : 0;
    return rc;
}

/* More alignment than the elements have themselves, which a caller's pointer need not have. */
static int stricter_need(const struct trial *t, struct err *err)
{
    int rc = 0;
    for (int i = 0; i < t->variant->nneeds && !rc; i++) {
        const struct need *need = &t->variant->needs[i];
        const struct arg *arg = &t->op->args[need->arg];
        int64_t bytes = 0, own = op_arg_dtype(t->op, arg->type, t->row)->bytes;
        if (need->kind == NEED_ALIGN)
            rc = plan_need(t->plan, i, t->slots, &bytes, err);
        if (!rc && (need->kind != NEED_ALIGN || bytes > own))
            rc = err_set(err, ERR_INVALID, "it needs more of %s than that it is aligned to its elements", arg->name);
    }
    return rc;
}

/* A limit that only a very large size passes: the op may say that it takes none such. */
static void say_max(const struct trial *t, const char *fails, struct err *err)
{
    static const char grid[] = "limit: grid ", launches[] = "limit: launches";
    char most[48] = "";
    int axis = 0;
    for (int i = 1; i < t->op->naxes; i++)
        axis = t->problem->size[i] > t->problem->size[axis] ? i : axis;
    const bool of_grid = !strncmp(fails, grid, sizeof grid - 1);
    if (strncmp(fails, "limit: ", 7) != 0 || t->problem->size[axis] < 1 << 30 || (of_grid && fails[sizeof grid])) /* in clusters: of no size */
        return;
    if (of_grid)
        snprintf(most, sizeof most, " (at most %" PRId64 " blocks)", t->dev->max_grid[fails[sizeof grid - 1] - 'x']);
    else if (!strncmp(fails, launches, sizeof launches - 1))
        snprintf(most, sizeof most, " (at most %d)", MAX_STEPS);
    err_set(err, ERR_INVALID, "it fails '%s'%s: if the op takes no such size, say so: size(\"%s\", { max = ... })", fails, most,
            t->op->axes[axis].name);
}

static int try_last_default(const struct trial *t, struct err *err)
{
    int rc = stricter_need(t, err);
    if (rc)
        return rc;
    const char *fails = plan_refuses(t->plan, t->slots, t->dev);
    if (!fails)
        return 0;
    rc = err_set(err, ERR_INVALID, "it fails '%s'", fails);
    say_max(t, fails, err);
    return rc;
}

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

/* Whether a device of this backend can have what is required; then it has. */
static bool can_require(struct devspec *dev, const struct requires *q)
{
    if (dev->cc && dev->cc < q->cc)
        dev->cc = q->cc;
    return !q->backend || !strcmp(q->backend, dev->backend);
}

/* A configuration, or (null) the op's own expressions: tried for every type binding and so many problems on all samples. If the op does
 * not take all problems, it is tried for its own shapes, too. */
static int try_all(const struct op *op, const struct plan *own, const struct config *config, int nproblems,
                   int (*try)(const struct trial *t, struct err *err), struct err *err)
{
    const struct backend *b;
    struct trial t = { .op = op, .variant = config ? &op->variants[config->variant] : NULL };
    const int nshapes = !op_limited(op) ? 0 : op->nshapes < MAX_OWN ? op->nshapes : MAX_OWN;
    int (*const make)(const struct op *, int, struct plan **, struct err *) = try == try_when ? plan_constraints : plan_new;
    struct plan *plan = NULL;
    int rc = config ? make(op, config->variant, &plan, err) : 0;
    t.plan = config ? plan : own;
    for (t.row = 0; t.row < op->nrows && !rc; t.row++) {
        for (int p = 0; p < nproblems + nshapes && !rc; p++) {
            struct problem prob;
            bool found;
            rc = sample_problem(op, own, t.row, nproblems, p, &prob, &found, err);
            t.problem = &prob;
            for (int d = 0; !rc && found && (b = backend_real(d)); d++) { /* a GPU, and a processor */
                struct devspec dev = b->sample;
                if (t.variant && !can_require(&dev, &t.variant->requires))
                    continue;
                t.dev = &dev;
                plan_slots(t.plan, &prob, t.row, t.dev, config, t.slots);
                rc = try(&t, err);
                if (rc)
                    blame(&t, &prob, err);
            }
        }
    }
    plan_free(plan);
    return rc;
}

/* Bounds that no sample problem can have. One is enough: an index below n does not fit 8 bits for each n, and need not. */
static int try_data(struct trial *t, int arg, struct err *err)
{
    struct extremes extremes;
    struct peaks peaks;
    int rc = 0;
    for (int p = NPROBLEMS - 1; p >= 0; p--) {
        struct problem prob;
        bool found;
        int bad = sample_problem(t->op, t->plan, t->row, NPROBLEMS, p, &prob, &found, err);
        if (bad)
            return bad;
        plan_slots(t->plan, &prob, t->row, t->dev, NULL, t->slots);
        rc = !found ? 0
                    : plan_arg_extremes(t->plan, arg, t->slots, &extremes, err) ?: plan_arg_peaks(t->plan, arg, t->slots, &peaks, err);
        if (found && !rc)
            break;
        if (rc)
            blame(t, &prob, err);
    }
    return rc;
}

static int check_data(const struct op *op, const struct plan *own, struct err *err)
{
    struct trial t = { .op = op, .plan = own, .dev = &backend_real(0)->sample };
    int rc = 0;
    for (int i = 0; i < op->nargs && !rc; i++)
        for (t.row = 0; t.row < op->nrows && !rc && data_said(&op->args[i].data); t.row++)
            rc = try_data(&t, i, err);
    return rc;
}

static int check_shapes(const struct op *op, struct err *err)
{
    const char *names[MAX_SLOTS];
    struct val slots[MAX_SLOTS];
    struct scope scope = { .names = names };
    for (; devspec_name(scope.n); scope.n++) {
        names[scope.n] = devspec_name(scope.n);
        slots[scope.n] = devspec_val(&backend_real(0)->sample, scope.n);
    }
    int rc = 0;
    for (int i = 0; i < op->nshapes && !rc; i++) {
        const char *text = op->shapes[i].when;
        struct expr *when = NULL;
        bool holds;
        rc = text ? expr_compile(text, &scope, &when, err) ?: expr_bool(when, slots, &holds, err) : 0;
        expr_free(when);
        if (rc)
            err_prefix(err, "shapes: shape %d: when: ", i + 1);
        for (int row = 0; row < op->nrows && !rc; row++) {
            rc = op_takes(op, &op->shapes[i].problem, row, err);
            if (rc)
                err_prefix(err, "shapes: shape %d: ", i + 1);
        }
    }
    return rc;
}

static int check_whens(const struct op *op, const struct plan *own, struct err *err)
{
    int rc = 0;
    for (int i = 0; i < op->ndefaults && !rc; i++) {
        struct served as;
        op_as_default(op, &op->defaults[i], &as);
        rc = op->defaults[i].nwhen ? try_all(&as.op, own, &as.config, NPROBLEMS, try_when, err) : 0;
        if (rc)
            err_prefix(err, "defaults: default %d: when: ", i + 1);
    }
    return rc;
}

/* Whether no variant does with less than this one requires: then it is the op that requires it. */
static bool all_require(const struct op *op, const struct requires *least)
{
    bool all = true;
    for (int i = 0; i < op->nvariants; i++) {
        const struct requires *q = &op->variants[i].requires;
        all = all && (!least->backend || (q->backend && !strcmp(q->backend, least->backend))) && q->cc >= least->cc;
    }
    return all;
}

/* A look-up falls back to the last default, so it must run on every device that the op is for, and for every problem. That cannot be
 * proved; the tries find the usual slips. */
static int check_last_default(const struct op *op, const struct plan *own, struct err *err)
{
    const struct config *config = &op->defaults[op->ndefaults - 1].config;
    const struct variant *v = &op->variants[config->variant];
    const struct requires *q = &v->requires;
    if (op->defaults[op->ndefaults - 1].nwhen)
        return err_set(err, ERR_INVALID, "defaults: the last must always hold, so it has no when");
    if (!all_require(op, q) || q->arch_specific || q->grid_order || q->grid_progress)
        return err_set(err, ERR_INVALID, "defaults: the last must always hold, but variant %s has requires", v->name);
    int rc = try_all(op, own, config, NPROBLEMS + op->naxes, try_last_default, err);
    if (rc)
        err_prefix(err, "defaults: the last must always hold; ");
    return rc;
}

/* Whether the other value of a scalar is the tuned one, whatever the sizes: an expression may come to it for some. */
static bool never_varies(const struct op *op, const struct plan *plan, int arg, int row)
{
    bool same = op->args[arg].other;
    for (int i = 0; i < NPROBLEMS && same; i++) {
        const struct problem p = plain_problem(op, i);
        struct val slots[MAX_SLOTS];
        unsigned char tuned[16], other[16];
        int size;
        plan_slots(plan, &p, row, &backend_real(0)->sample, NULL, slots);
        same = !plan_arg_value(plan, arg, slots, tuned, &size, NULL) && !plan_arg_other(plan, arg, slots, other, &size, NULL) &&
               !memcmp(tuned, other, (size_t)size);
    }
    return same;
}

static bool sums(const struct op *op)
{
    bool sum = false;
    for (int i = 0; i < op->nargs; i++)
        sum = sum || (arg_is_written(&op->args[i]) && op_arg_check(op, i)->kind == CHECK_SUM);
    return sum;
}

/* Whether it takes more than half the digits that its type has, as 0.1 does: then a * (x + y) and a * x + a * y differ, though x and y are
 * whole. Of the plainest problem: what follows from sizes may be right for some. */
static bool rounds(const struct op *op, const struct plan *plan, int arg, int row, bool other)
{
    const struct problem p = plain_problem(op, 0);
    const struct dtype *t = op_arg_dtype(op, op->args[arg].type, row);
    struct val slots[MAX_SLOTS];
    unsigned char value[16];
    double number;
    int size, exponent;
    plan_slots(plan, &p, row, &backend_real(0)->sample, NULL, slots);
    int rc = other ? plan_arg_other(plan, arg, slots, value, &size, NULL) : plan_arg_value(plan, arg, slots, value, &size, NULL);
    if (rc || t->eps <= 0 || !number_get(t, value, &number) || !isfinite(number))
        return false;
    double digits = ldexp(frexp(number, &exponent), -ilogb(t->eps) / 2);
    return digits != floor(digits);
}

static int check_scalar(const struct op *op, const struct plan *plan, int arg, int row, struct err *err)
{
    const struct arg *a = &op->args[arg];
    if (never_varies(op, plan, arg, row))
        return err_set(err, ERR_INVALID,
                       "scalar %s: other = %s is what it is tuned with: name another value, or a kernel that has this one built "
                       "in would pass",
                       a->name, a->other);
    for (int other = 0; other <= (a->other != NULL) && a->kind == ARG_SCALAR && sums(op); other++)
        if (rounds(op, plan, arg, row, other))
            return err_set(
                err, ERR_INVALID,
                "scalar %s: sums are not exact with %s, so right kernels would differ: take a power of two, such as 0.5, "
                "or check = 'close'",
                a->name, other ? a->other : a->value);
    return 0;
}

static int check_scalars(const struct op *op, const struct plan *own, struct err *err)
{
    int rc = 0;
    for (int i = 0; i < op->nargs && !rc; i++)
        for (int row = 0; row < op->nrows && !rc; row++)
            rc = check_scalar(op, own, i, row, err);
    return rc;
}

int check_expressions(const struct op *op, struct err *err)
{
    struct plan *own = NULL; /* the op's */
    int rc = check_presets(op, err) ?: check_shapes(op, err) ?: plan_new(op, -1, &own, err);
    rc = rc ?: try_all(op, own, NULL, NPROBLEMS, try_op, err) ?: check_scalars(op, own, err) ?: check_data(op, own, err);
    const struct op init = op_of_init(op);
    if (!rc && op->init.template_text)
        rc = try_all(&init, own, &(struct config){ 0 }, NPROBLEMS, try_variant, err);
    for (int v = 0; v < op->nvariants && !rc; v++)
        rc = try_all(op, own, &(struct config){ .variant = v }, NPROBLEMS, try_variant, err);
    rc = rc ?: check_whens(op, own, err) ?: check_last_default(op, own, err);
    plan_free(own);
    return rc;
}
