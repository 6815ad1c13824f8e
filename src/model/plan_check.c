/* The checks that a configuration has to pass: the script's constraints, what the variant requires of the device, and the device's limits,
 * which are checked without the script saying so. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/plan_parts.h"

/* Adds a check that reads n fields and, unless it is negative, a type's slot. fmt: its text. */
__attribute__((format(printf, 7, 8))) static int add(struct plan *p, struct condition c, const struct field *const *fields, int n,
                                                     int type_slot, struct err *err, const char *fmt, ...)
{
    struct buf text = { 0 };
    va_list ap;
    va_start(ap, fmt);
    buf_vfmt(&text, fmt, ap);
    va_end(ap);
    c.text = text.failed ? NULL : arena_strdup(p->arena, buf_text(&text));
    buf_free(&text);

    bool reads[MAX_SLOTS] = { false };
    for (int i = 0, m = 0; i < n; i++) {
        const int *slots = fields[i] ? expr_slots(fields[i]->expr, &m) : NULL;
        for (int j = 0; slots && j < m; j++)
            reads[slots[j]] = true;
    }
    if (type_slot >= 0)
        reads[type_slot] = true;
    for (int i = 0; i < p->scope.n; i++)
        c.nslots += reads[i];
    int *slots = arena_array(p->arena, (size_t)c.nslots, sizeof *slots);
    if (!c.text || !slots)
        return err_nomem(err);
    c.slots = slots;
    for (int i = 0; i < p->scope.n; i++)
        if (reads[i])
            *slots++ = i;
    p->checks[p->nchecks++] = c;
    return 0;
}

static int add_where(struct plan *p, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && p->variant && i < p->variant->nwhere; i++)
        rc = add(p, (struct condition){ .of = OF_WHERE, .at = i }, &p->where[i], 1, -1, err, "%s", p->variant->where[i].text);
    p->first_required = p->nchecks;
    return rc;
}

static int add_required(struct plan *p, struct err *err)
{
    const struct requires none = { 0 }, *r = p->variant ? &p->variant->requires : &none;
    int rc = 0;
    if (r->backend)
        rc = add(p, (struct condition){ .of = OF_BACKEND }, NULL, 0, -1, err, "requires: backend %.40s", r->backend);
    if (!rc && r->cc && !r->arch_specific)
        rc = add(p, (struct condition){ .of = OF_CC }, NULL, 0, -1, err, "requires: cc %d", r->cc);
    if (!rc && r->arch_specific)
        rc = add(p, (struct condition){ .of = OF_ARCH }, NULL, 0, -1, err, "requires: sm_%da", r->cc);
    if (!rc && r->grid_order)
        rc = add(p, (struct condition){ .of = OF_ORDER }, NULL, 0, -1, err, "requires: grid_order");
    if (!rc && r->grid_progress)
        rc = add(p, (struct condition){ .of = OF_ORDER }, NULL, 0, -1, err, "requires: grid_progress");
    p->first_limit = p->nchecks;
    return rc;
}

static int add_launch_limits(struct plan *p, int at, struct err *err)
{
    const struct launch_fields *l = &p->launches[at];
    int rc = add(p, (struct condition){ .of = OF_THREADS, .at = at }, l->block, 3, -1, err, "limit: threads a block");
    for (int d = 0; !rc && d < 3; d++) {
        struct condition c = { .of = OF_BLOCK, .at = at, .dim = d };
        if (l->block[d])
            rc = add(p, c, &l->block[d], 1, -1, err, "limit: block %c", 'x' + d);
    }
    for (int d = 0; !rc && d < 3; d++) {
        struct condition c = { .of = OF_GRID, .at = at, .dim = d };
        if (l->grid[d])
            rc = add(p, c, &l->grid[d], 1, -1, err, "limit: grid %c", 'x' + d);
    }
    if (!rc && l->shared)
        rc = add(p, (struct condition){ .of = OF_SHARED, .at = at }, &l->shared, 1, -1, err, "limit: shared memory");
    return rc;
}

static int add_buffer_limit(struct plan *p, enum check_of of, int at, const struct buffer_fields *b, struct err *err)
{
    if (b->rank < 0)
        return 0;
    return add(p, (struct condition){ .of = of, .at = at }, b->extent, b->rank, b->type_slot, err, "limit: bytes of %s", b->place);
}

static int add_buffer_limits(struct plan *p, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < p->op->nargs; i++)
        rc = add_buffer_limit(p, OF_ARG, i, &p->args[i], err);
    for (int i = 0; !rc && p->variant && i < p->variant->nworkspaces; i++)
        rc = add_buffer_limit(p, OF_WORKSPACE, i, &p->workspaces[i], err);
    return rc;
}

int plan_list_checks(struct plan *p, struct err *err)
{
    enum { REQUIRED = 5, A_LAUNCH = 8 };
    int most = REQUIRED + A_LAUNCH * p->nlaunches + p->op->nargs;
    if (p->variant)
        most += p->variant->nwhere + p->variant->nworkspaces;
    p->checks = arena_array(p->arena, (size_t)most, sizeof *p->checks);
    if (!p->checks)
        return err_nomem(err);
    int rc = add_where(p, err) ?: add_required(p, err);
    for (int i = 0; !rc && i < p->nlaunches; i++)
        rc = add_launch_limits(p, i, err);
    return rc ?: add_buffer_limits(p, err);
}

int plan_checks(const struct plan *p)
{
    return p->nchecks;
}

const char *plan_check_text(const struct plan *p, int i)
{
    return p->checks[i].text;
}

const int *plan_check_slots(const struct plan *p, int i, int *n)
{
    *n = p->checks[i].nslots;
    return p->checks[i].slots;
}

/* An extent below 1 passes here: it is refused as that of the block. */
static int check_threads(const struct launch_fields *l, const struct val *slots, int64_t most, bool *holds, struct err *err)
{
    int64_t threads = 1;
    *holds = true;
    for (int d = 0; d < 3; d++) {
        int64_t n = 1;
        int rc = l->block[d] ? field_int(l->block[d], slots, &n, err) : 0;
        if (rc)
            return rc;
        if (__builtin_mul_overflow(threads, n < 1 ? 1 : n, &threads))
            *holds = false;
    }
    *holds = *holds && threads <= most;
    return 0;
}

static int check_limit(const struct plan *p, const struct condition *c, const struct val *slots, const struct devspec *dev,
                       bool *holds, struct err *err)
{
    const struct launch_fields *l = c->of < OF_ARG ? &p->launches[c->at] : NULL;
    const struct buffer_fields *b = c->of == OF_ARG ? &p->args[c->at] : c->of == OF_WORKSPACE ? &p->workspaces[c->at] : NULL;
    int64_t n = 0, least = 0, most = 0;
    int rc;
    switch (c->of) {
    case OF_THREADS:
        return check_threads(l, slots, dev->max_threads, holds, err);
    case OF_BLOCK:
        rc = field_int(l->block[c->dim], slots, &n, err);
        least = 1;
        most = dev->max_block[c->dim];
        break;
    case OF_GRID:
        rc = field_from(l->grid[c->dim], 1, slots, &n, err);
        most = dev->max_grid[c->dim];
        break;
    case OF_SHARED:
        rc = field_from(l->shared, 0, slots, &n, err);
        most = dev->max_shared;
        break;
    default:
        rc = buffer_bytes(b, buffer_type(b, slots), slots, &n, err);
        most = dev->max_alloc;
    }
    *holds = !rc && n >= least && n <= most;
    return rc;
}

int plan_check(const struct plan *p, int i, const struct val *slots, const struct devspec *dev, bool *holds, struct err *err)
{
    const struct condition *c = &p->checks[i];
    switch (c->of) {
    case OF_WHERE:
        return plan_where(p, c->at, slots, holds, err);
    case OF_BACKEND:
        *holds = !strcmp(dev->backend, p->variant->requires.backend);
        return 0;
    case OF_CC:
        *holds = dev->cc >= p->variant->requires.cc;
        return 0;
    case OF_ARCH:
        *holds = dev->cc == p->variant->requires.cc;
        return 0;
    case OF_ORDER:
        *holds = !dev->unordered;
        return 0;
    default:
        return check_limit(p, c, slots, dev, holds, err);
    }
}

/* The first of some checks that fails. */
static const char *first_failed(const struct plan *p, int from, int to, const struct val *slots, const struct devspec *dev)
{
    for (int i = from; i < to; i++) {
        bool holds;
        if (plan_check(p, i, slots, dev, &holds, NULL) < 0 || !holds)
            return p->checks[i].text;
    }
    return NULL;
}

const char *plan_refuses(const struct plan *p, const struct val *slots, const struct devspec *dev)
{
    const char *text = first_failed(p, p->first_required, p->first_limit, slots, dev);
    if (!text)
        text = first_failed(p, 0, p->first_required, slots, dev);
    return text ? text : first_failed(p, p->first_limit, p->nchecks, slots, dev);
}

/* Why a configuration may not run, into `why`; "" if it may. */
static int try_config(const struct op *op, const struct config *c, const struct problem *prob, int row, const struct devspec *dev,
                      char why[160], struct err *err)
{
    struct plan *p;
    struct val slots[MAX_SLOTS];
    int rc = plan_new(op, c->variant, &p, err);
    if (rc)
        return rc;
    plan_slots(p, prob, row, dev, c, slots);
    const char *text = plan_refuses(p, slots, dev);
    snprintf(why, 160, "%s", text ? text : "");
    plan_free(p);
    return 0;
}

int op_default(const struct op *op, const struct problem *prob, int row, const struct devspec *dev, struct config *out,
               struct err *err)
{
    char why[160] = "there are no defaults";
    for (int i = 0; i < op->ndefaults; i++) {
        struct config c;
        config_of_default(op, i, &c);
        int rc = try_config(op, &c, prob, row, dev, why, err);
        if (!rc && !*why)
            *out = c;
        if (rc || !*why)
            return rc;
    }
    return err_set(err, ERR_UNSUPPORTED, "%s: no default configuration may run here: %s", op->name, why);
}
