/* Builds plans: compiles a variant's expressions, each once. plan_check.c lists the checks that a configuration has to pass, plan_eval.c
 * evaluates the rest. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/plan_parts.h"

/* What an expression may speak of. */
enum {
    PARAMS = 1,
    AXES = 2,
    TYPES = 4,
    DEVICE = 8,
    KEPT = 16,     /* of a device what the database keeps, too */
    MEASURED = 32, /* of a run: metrics alone */
    ROUNDS = 64,   /* ROUND and STEP, of launches that repeat */
    ALL = PARAMS | AXES | TYPES | DEVICE | KEPT,
    OF_METRICS = PARAMS | AXES | TYPES | KEPT | MEASURED,
};

/* What op_check lets pass never has more names than there are slots. */
static void name_slots(struct plan *p)
{
    const char **name = p->names;
    p->scope.names = p->names;
    for (int i = 0; i < p->variant->nparams; i++)
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
    p->first_round = (int)(name - p->names);
    bool repeats = false;
    for (int i = 0; i < p->variant->nlaunches; i++)
        repeats = repeats || launch_repeats(&p->variant->launches[i]);
    if (repeats) {
        *name++ = "ROUND";
        *name++ = "STEP";
    }
    p->scope.n = (int)(name - p->names);
    for (int i = 0; i < p->op->nargs; i++)
        if (p->op->args[i].kind == ARG_SCALAR)
            p->late[p->scope.nlate++] = p->op->args[i].name;
    p->scope.late = p->late;
    name[0] = "time";
    name[1] = "energy";
}

static int slot_kind(const struct plan *p, int slot)
{
    if (slot >= p->first_device && slot < p->first_round)
        return devspec_kept(slot - p->first_device) ? KEPT : DEVICE;
    return slot < p->first_axis     ? PARAMS
           : slot < p->first_type   ? AXES
           : slot < p->first_device ? TYPES
           : slot < p->scope.n      ? ROUNDS
                                    : MEASURED;
}

const char *plan_print(const struct plan *p, const char *fmt, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return arena_strdup(p->arena, text);
}

/* Compiles a text, which may name only what is in `may`; without one *out stays null. What follows is its place, for messages. */
__attribute__((format(printf, 6, 7))) static int compile(struct plan *p, const char *text, int may, const struct field **out,
                                                         struct err *err, const char *fmt, ...)
{
    char place[256];
    struct field *f;
    va_list ap;
    if (!text)
        return 0;
    va_start(ap, fmt);
    vsnprintf(place, sizeof place, fmt, ap);
    va_end(ap);
    if (!(f = arena_alloc(p->arena, sizeof *f)) || !(f->place = arena_strdup(p->arena, place)))
        return err_nomem(err);
    struct scope scope = p->scope;
    scope.n += may & MEASURED ? 2 : 0;
    int rc = expr_compile(text, &scope, &f->expr, err), n;
    if (rc) {
        err_prefix(err, "%s: ", place);
        return rc;
    }
    f->next = p->fields;
    *out = p->fields = f;
    const int *slots = expr_slots(f->expr, &n);
    for (int i = 0; i < n; i++)
        if (!(slot_kind(p, slots[i]) & may))
            return err_set(err, ERR_INVALID, "%s: %s cannot be used here: only %s%s%s", place, p->names[slots[i]],
                           may & PARAMS ? "parameters and " : "", may & AXES ? "axes and " : "",
                           may & MEASURED ? "types, device.backend, device.multiprocessors, time and energy" : "types");
    return 0;
}

/* A list of texts, or null for one that is not there: "WHOSE, what[1]". */
static int compile_list(struct plan *p, const char *const *texts, int n, int may, const struct field **out, struct err *err,
                        const char *whose, const char *what)
{
    int rc = 0;
    for (int i = 0; i < n && !rc; i++)
        rc = compile(p, texts[i], may, &out[i], err, "%s, %s[%d]", whose, what, i + 1);
    return rc;
}

static void start_buffer(const struct plan *p, struct buffer_fields *b, const char *name, int rank, const char *type)
{
    bool computing = false;
    int t = type ? op_type_of(p->op, type, &computing) : -1;
    *b = (struct buffer_fields){
        .place = name,
        .rank = rank,
        .type_slot = t < 0 ? -1 : p->first_type + t,
        .computing = computing,
        .type = t < 0 ? dtype_find(type ? type : "i64") : NULL, /* op_check has seen that it is one */
    };
}

static int compile_check(struct plan *p, const struct check *c, const char *whose, struct check_fields *f, struct err *err)
{
    const int may = AXES | TYPES;
    return compile(p, c->length, may, &f->length, err, "%scheck.sum", whose)
        ?: compile(p, c->rtol, may, &f->rtol, err, "%scheck.rtol", whose)
        ?: compile(p, c->atol, may, &f->atol, err, "%scheck.atol", whose);
}

static int compile_arg(struct plan *p, const struct arg *a, struct buffer_fields *b, struct err *err)
{
    const int may = AXES | TYPES;
    char whose[MAX_NAME + sizeof "argument , "];
    start_buffer(p, b, a->name, arg_is_buffer(a) ? a->rank : -1, a->type);
    if (!arg_is_buffer(a))
        return compile(p, a->value, may, &b->value, err, "%s %s", a->kind == ARG_VALUE ? "value" : "scalar", a->name)
                   ?: compile(p, a->other, may, &b->other, err, "scalar %s, other", a->name);
    snprintf(whose, sizeof whose, "argument %s", a->name);
    int rc = compile_list(p, a->extent, b->rank, may, b->extent, err, whose, "extent")
        ?: compile_list(p, a->data.range, 2, may, b->range, err, whose, "range")
        ?: compile_list(p, a->data.peaks, 3, may, b->peaks, err, whose, "peaks")
        ?: compile(p, a->data.below, may, &b->below, err, "%s, below", whose);
    return rc ?: compile_check(p, &a->check, strcat(whose, ", "), &b->check, err);
}

static int compile_op(struct plan *p, struct err *err)
{
    const struct op *op = p->op;
    const int may = AXES | TYPES;
    p->buffers = arena_array(p->arena, (size_t)plan_buffers(p), sizeof *p->buffers);
    p->op_where = arena_array(p->arena, (size_t)op->nwhere, sizeof *p->op_where);
    p->op_max = arena_array(p->arena, (size_t)op->naxes, sizeof *p->op_max);
    int rc = p->buffers && p->op_where && p->op_max ? 0 : err_nomem(err);
    for (int i = 0; !rc && i < op->nargs; i++)
        rc = compile_arg(p, &op->args[i], &p->buffers[i], err);
    for (int i = 0; !rc && i < op->nwhere; i++)
        rc = compile(p, op->where[i], may, &p->op_where[i], err, "where `%.120s`", op->where[i]);
    for (int i = 0; !rc && i < op->naxes; i++)
        rc = compile(p, op->axes[i].max, may, &p->op_max[i], err, "axis %s, max", op->axes[i].name);
    return rc
        ?: compile(p, op->work_bytes, may, &p->work_bytes, err, "work.bytes")
        ?: compile(p, op->work_flops, may, &p->work_flops, err, "work.flops")
        ?: compile_check(p, &op->check, "", &p->check, err);
}

static int compile_view(struct plan *p, const struct view *m, const char *where, struct view_fields *f, struct err *err)
{
    f->buffer = &p->buffers[m->arg];
    const int rank = m->texture ? view_rank(p->op, m) : m->rank;
    for (int i = 0; i < rank && !m->nextents; i++)
        f->extent[i] = f->buffer->extent[i];
    f->kind = m->texture ? "texture" : "tensor map";
    const char *whose = plan_print(p, "%s, %s of %s", where, f->kind, f->buffer->place);
    if (!whose)
        return err_nomem(err);
    return compile_list(p, m->extent, m->nextents, ALL, f->extent, err, whose, "extent")
        ?: compile_list(p, m->box, m->rank, ALL, f->box, err, whose, "box")
        ?: compile_list(p, m->stride, m->nstrides, ALL, f->stride, err, whose, "stride")
        ?: compile_list(p, m->step, m->nsteps, ALL, f->step, err, whose, "step")
        ?: compile(p, m->swizzle, ALL, &f->swizzle, err, "%s, swizzle", whose)
        ?: compile(p, m->interleave, ALL, &f->interleave, err, "%s, interleave", whose)
        ?: compile(p, m->l2, ALL, &f->l2, err, "%s, l2", whose)
        ?: compile(p, m->channels, ALL, &f->channels, err, "%s, channels", whose)
        ?: view_literals(f, err);
}

/* Those compiled since `before`, of a launch that repeats: they are evaluated many times, if a stranger's table says so. */
static int check_lengths(const struct plan *p, const struct field *before, struct err *err)
{
    for (const struct field *f = p->fields; f != before; f = f->next)
        if (strlen(expr_text(f->expr)) > MAX_REPEATED)
            return err_set(err, ERR_INVALID, "%s: of a launch that repeats an expression has at most %d bytes", f->place,
                           MAX_REPEATED);
    return 0;
}

/* where: for messages, "variant tile" or "variant tile, launch 2". */
static int compile_launch(struct plan *p, const struct launch *l, const char *where, struct launch_fields *f, struct err *err)
{
    const struct field *before = p->fields;
    f->values = arena_array(p->arena, (size_t)l->nvalues, sizeof *f->values);
    f->views = arena_array(p->arena, (size_t)l->nviews, sizeof *f->views);
    if (!where || !f->values || !f->views)
        return err_nomem(err);
    int rc = compile_list(p, l->grid, 3, ALL | ROUNDS, f->extent, err, where, "grid")
        ?: compile_list(p, l->block, 3, ALL, f->extent + FIRST_BLOCK, err, where, "block")
        ?: compile(p, l->shared, ALL, &f->extent[SHARED_BYTES], err, "%s, shared", where)
        ?: compile_list(p, l->cluster, 3, ALL, f->extent + FIRST_CLUSTER, err, where, "cluster")
        ?: compile(p, l->when, ALL, &f->when, err, "%s, when", where)
        ?: compile(p, l->rounds, ALL, &f->repeat[0], err, "%s, times", where)
        ?: compile(p, l->steps, ALL | ROUNDS, &f->repeat[1], err, "%s, times", where);
    if (l->together)
        f->repeat[0] = f[-1].repeat[0];
    for (int i = 0; !rc && i < FIRST_BLOCK; i++)
        f->changes = f->changes || field_reads(f->extent[i], p->first_round);
    for (int i = 0; !rc && i < l->nvalues; i++)
        rc = compile(p, l->values[i].value, ALL | ROUNDS, &f->values[i], err, "%s, value %s", where, l->values[i].name);
    for (int i = 0; !rc && i < l->nviews; i++)
        rc = compile_view(p, &l->views[i], where, &f->views[i], err);
    return rc ?: launch_repeats(l) ? check_lengths(p, before, err) : 0;
}

static int compile_workspace(struct plan *p, const struct workspace *w, const char *whose, struct buffer_fields *b, struct err *err)
{
    start_buffer(p, b, w->name, 1, w->type);
    return compile(p, w->count, ALL, &b->extent[0], err, "%s, workspace %s, count", whose, w->name);
}

static const char *whose_variant(const struct plan *p)
{
    return p->variant->name ? plan_print(p, "variant %s", p->variant->name) : "reference";
}

static int compile_constraints(struct plan *p, struct err *err)
{
    const struct variant *v = p->variant;
    const char *whose = whose_variant(p);
    p->where = arena_array(p->arena, (size_t)v->nwhere, sizeof *p->where);
    int rc = whose && p->where ? 0 : err_nomem(err);
    for (int i = 0; !rc && i < v->nwhere; i++)
        rc = compile(p, v->where[i], ALL, &p->where[i], err, "%s, constraint `%.120s`", whose, v->where[i]);
    return rc;
}

/* All but its constraints. Metrics may speak of parameters, so each variant has its own; the reference has none. */
static int compile_variant(struct plan *p, struct err *err)
{
    const struct variant *v = p->variant;
    const struct op *op = p->op;
    const char *whose = whose_variant(p);
    p->needs = arena_array(p->arena, (size_t)v->nneeds, sizeof *p->needs);
    p->launches = arena_array(p->arena, (size_t)v->nlaunches, sizeof *p->launches);
    p->metrics = arena_array(p->arena, (size_t)op->nmetrics, sizeof *p->metrics);
    int rc = whose && p->needs && p->launches && p->metrics ? 0 : err_nomem(err);
    for (int i = 0; !rc && i < v->nneeds; i++)
        rc = compile(p, v->needs[i].bytes, PARAMS | TYPES, &p->needs[i], err, "%s, needs[%d]", whose, i + 1);
    for (int i = 0; !rc && i < v->nworkspaces; i++)
        rc = compile_workspace(p, &v->workspaces[i], whose, &p->buffers[op->nargs + i], err);
    for (int i = 0; !rc && i < v->nlaunches; i++)
        rc = compile_launch(p, &v->launches[i], v->nlaunches > 1 ? plan_print(p, "%s, launch %d", whose, i + 1) : whose,
                            &p->launches[i], err);
    for (int i = 0; !rc && v->name && i < op->nmetrics; i++)
        rc = compile(p, op->metrics[i].value, OF_METRICS, &p->metrics[i], err, "%s, metric %s", whose, op->metrics[i].name);
    return rc;
}

static int compile_all(struct plan *p, struct err *err)
{
    return compile_op(p, err) ?: compile_constraints(p, err) ?: compile_variant(p, err) ?: plan_list_checks(p, err);
}

static int build(const struct op *op, int variant, int (*parts)(struct plan *p, struct err *err), struct plan **out, struct err *err)
{
    struct arena *arena;
    struct plan *p = arena_with(sizeof *p, &arena);
    if (!p)
        return err_nomem(err);
    p->arena = arena;
    p->op = op;
    p->variant = variant < 0 ? &op->reference : &op->variants[variant];
    name_slots(p);
    int rc = parts(p, err);
    if (rc)
        plan_free(p);
    else
        *out = p;
    return rc;
}

int plan_new(const struct op *op, int variant, struct plan **out, struct err *err)
{
    if (variant < -1 || variant >= op->nvariants)
        return err_set(err, ERR_INVALID, "%s has no variant %d", op->name, variant);
    return build(op, variant, compile_all, out, err);
}

static int compile_first(struct plan *p, struct err *err)
{
    return compile_constraints(p, err) ?: plan_list_constraints(p, err);
}

int plan_constraints(const struct op *op, int variant, struct plan **out, struct err *err)
{
    return build(op, variant, compile_first, out, err);
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
