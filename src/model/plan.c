/* Builds plans: compiles a variant's expressions, each once. plan_eval.c evaluates them, plan_check.c refuses with them. */
#include "model/plan.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "model/plan_parts.h"

/* What an expression may speak of. */
enum { PARAMS = 1, AXES = 2, TYPES = 4, DEVICE = 8, ALL = PARAMS | AXES | TYPES | DEVICE };

/* What op_check lets pass never has more names than there are slots. */
static void name_slots(struct plan *p)
{
    const char **name = p->names;
    p->scope.names = p->names;
    for (int i = 0; p->variant && i < p->variant->nparams; i++)
        *name++ = p->variant->params[i].name;
    p->first_axis = (int)(name - p->names);
    for (int i = 0; i < p->op->naxes; i++)
        *name++ = p->op->axes[i].name;
    p->first_type = (int)(name - p->names);
    for (int i = 0; i < p->op->ntypes; i++)
        *name++ = p->op->types[i];
    p->first_device = (int)(name - p->names);
    for (int i = 0; devspec_name(i); i++)
        *name++ = devspec_name(i);
    p->scope.n = (int)(name - p->names);
}

static int slot_kind(const struct plan *p, int slot)
{
    return slot < p->first_axis ? PARAMS : slot < p->first_type ? AXES : slot < p->first_device ? TYPES : DEVICE;
}

/* The first name of the expression that has no business in it. */
static const char *stranger(const struct plan *p, const struct expr *e, int may)
{
    int n;
    const int *slots = expr_slots(e, &n);
    for (int i = 0; i < n; i++)
        if (!(slot_kind(p, slots[i]) & may))
            return p->names[slots[i]];
    return NULL;
}

/* Compiles a text; without one *out stays null. fmt: its place. */
__attribute__((format(printf, 6, 7))) static int compile(struct plan *p, const char *text, int may, const struct field **out,
                                                         struct err *err, const char *fmt, ...)
{
    if (!text)
        return 0;
    char place[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(place, sizeof place, fmt, ap);
    va_end(ap);
    struct field *f = arena_alloc(p->arena, sizeof *f);
    if (!f || !(f->place = arena_strdup(p->arena, place)))
        return err_nomem(err);
    int rc = expr_compile(text, &p->scope, &f->expr, err);
    if (rc) {
        err_prefix(err, "%s: ", place);
        return rc;
    }
    f->next = p->fields;
    p->fields = f;
    const char *name = stranger(p, f->expr, may);
    if (name)
        return err_set(err, ERR_INVALID, "%s: %s cannot be used here: only %s%s%s", place, name,
                       may & PARAMS ? "parameters and " : "", may & AXES ? "axes and " : "", "types");
    *out = f;
    return 0;
}

static void resolve_type(const struct plan *p, struct buffer_fields *b, const char *type)
{
    if (!type)
        type = "i64";
    int t = op_type(p->op, type);
    b->type_slot = t < 0 ? -1 : p->first_type + t;
    b->type = t < 0 ? dtype_find(type) : NULL; /* op_check has seen that it is one */
}

static int compile_arg(struct plan *p, const struct arg *a, struct buffer_fields *b, struct err *err)
{
    b->place = a->name;
    b->rank = a->kind == ARG_VALUE ? -1 : a->rank;
    resolve_type(p, b, a->type);
    int rc = 0;
    if (a->kind == ARG_VALUE)
        rc = compile(p, a->value, AXES | TYPES, &b->value, err, "value %s", a->name);
    for (int i = 0; !rc && i < b->rank; i++)
        rc = compile(p, a->extent[i], AXES | TYPES, &b->extent[i], err, "argument %s, extent[%d]", a->name, i + 1);
    return rc;
}

static int compile_op(struct plan *p, struct err *err)
{
    const struct op *op = p->op;
    p->args = arena_array(p->arena, (size_t)op->nargs, sizeof *p->args);
    if (!p->args)
        return err_nomem(err);
    int rc = 0;
    for (int i = 0; !rc && i < op->nargs; i++)
        rc = compile_arg(p, &op->args[i], &p->args[i], err);
    return rc
        ?: compile(p, op->work_bytes, AXES | TYPES, &p->work_bytes, err, "work.bytes")
        ?: compile(p, op->work_flops, AXES | TYPES, &p->work_flops, err, "work.flops")
        ?: compile(p, op->check_length, AXES | TYPES, &p->length, err, "check.length");
}

/* where: for messages, "variant tile" or "variant tile, launch 2". */
static int compile_launch(struct plan *p, const struct launch *l, struct launch_fields *f, const char *where, struct err *err)
{
    int rc = 0;
    for (int d = 0; !rc && d < 3; d++)
        rc = compile(p, l->grid[d], ALL, &f->grid[d], err, "%s, grid[%d]", where, d + 1);
    for (int d = 0; !rc && d < 3; d++)
        rc = compile(p, l->block[d], ALL, &f->block[d], err, "%s, block[%d]", where, d + 1);
    return rc ?: compile(p, l->shared, ALL, &f->shared, err, "%s, shared", where);
}

static int compile_launches(struct plan *p, const struct launch *launches, int n, const char *whose, struct err *err)
{
    p->launches = arena_array(p->arena, (size_t)n, sizeof *p->launches);
    if (!p->launches)
        return err_nomem(err);
    p->nlaunches = n;
    int rc = 0;
    for (int i = 0; !rc && i < n; i++) {
        char where[160];
        snprintf(where, sizeof where, n > 1 ? "%s, launch %d" : "%s", whose, i + 1);
        rc = compile_launch(p, &launches[i], &p->launches[i], where, err);
    }
    return rc;
}

static int compile_workspaces(struct plan *p, const struct variant *v, struct err *err)
{
    p->workspaces = arena_array(p->arena, (size_t)v->nworkspaces, sizeof *p->workspaces);
    if (!p->workspaces)
        return err_nomem(err);
    int rc = 0;
    for (int i = 0; !rc && i < v->nworkspaces; i++) {
        struct buffer_fields *b = &p->workspaces[i];
        b->place = v->workspaces[i].name;
        b->rank = 1;
        resolve_type(p, b, v->workspaces[i].type);
        rc = compile(p, v->workspaces[i].count, ALL, &b->extent[0], err, "variant %s, workspace %s, count", v->name, b->place);
    }
    return rc;
}

static int compile_variant(struct plan *p, const struct variant *v, struct err *err)
{
    p->where = arena_array(p->arena, (size_t)v->nwhere, sizeof *p->where);
    p->needs = arena_array(p->arena, (size_t)v->nneeds, sizeof *p->needs);
    if (!p->where || !p->needs)
        return err_nomem(err);
    int rc = 0;
    for (int i = 0; !rc && i < v->nwhere; i++)
        rc = compile(p, v->where[i].text, ALL, &p->where[i], err, "variant %s, constraint `%.120s`", v->name, v->where[i].text);
    for (int i = 0; !rc && i < v->nneeds; i++)
        rc = compile(p, v->needs[i].bytes, PARAMS | TYPES, &p->needs[i], err, "variant %s, needs[%d]", v->name, i + 1);
    rc = rc ?: compile_workspaces(p, v, err);
    if (rc)
        return rc;
    char whose[MAX_NAME + 16];
    snprintf(whose, sizeof whose, "variant %s", v->name);
    return compile_launches(p, v->launches, v->nlaunches, whose, err);
}

int plan_new(const struct op *op, int variant, struct plan **out, struct err *err)
{
    if (variant < -1 || variant >= op->nvariants)
        return err_set(err, ERR_INVALID, "%s has no variant %d", op->name, variant);
    struct arena *arena = arena_new();
    struct plan *p = arena ? arena_alloc(arena, sizeof *p) : NULL;
    if (!p) {
        arena_free(arena);
        return err_nomem(err);
    }
    p->arena = arena;
    p->op = op;
    p->variant = variant < 0 ? NULL : &op->variants[variant];
    name_slots(p);
    int rc = compile_op(p, err);
    if (!rc && p->variant)
        rc = compile_variant(p, p->variant, err);
    else if (!rc)
        rc = compile_launches(p, &op->reference, op->reference_text ? 1 : 0, "reference", err);
    rc = rc ?: plan_list_checks(p, err);
    if (rc)
        plan_free(p);
    else
        *out = p;
    return rc;
}

void plan_free(struct plan *p)
{
    if (!p)
        return;
    for (const struct field *f = p->fields; f; f = f->next)
        expr_free(f->expr);
    arena_free(p->arena); /* the plan itself lies in it */
}

int plans_get(struct plans *all, int variant, const struct plan **out, struct err *err)
{
    const int n = all->op->nvariants;
    if (!all->made)
        all->made = mem_array((size_t)n + 1, sizeof *all->made);
    if (!all->made)
        return err_nomem(err);
    struct plan **made = &all->made[variant < 0 ? n : variant];
    int rc = *made ? 0 : plan_new(all->op, variant, made, err);
    *out = *made;
    return rc;
}

void plans_free(struct plans *all)
{
    for (int i = 0; all->made && i <= all->op->nvariants; i++)
        plan_free(all->made[i]);
    mem_free(all->made);
    all->made = NULL;
}

const struct scope *plan_scope(const struct plan *p)
{
    return &p->scope;
}

void plan_slots(const struct plan *p, const struct problem *prob, int row, const struct devspec *dev, const struct config *config,
                struct val slots[MAX_SLOTS])
{
    const struct op *op = p->op;
    for (int i = 0; i < p->first_axis; i++)
        slots[i] = p->variant->params[i].values[config->at[i]];
    for (int i = 0; i < op->naxes; i++)
        slots[p->first_axis + i] = val_int(prob->size[i]);
    for (int i = 0; i < op->ntypes; i++)
        slots[p->first_type + i] = val_str(op->rows[row * op->ntypes + i]->name);
    for (int i = p->first_device; i < p->scope.n; i++)
        slots[i] = devspec_val(dev, i - p->first_device);
}
