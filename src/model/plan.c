/* Builds plans: compiles a variant's expressions, each once, and lists the checks that a configuration has to pass: the script's
 * constraints, what the variant requires of the device, and the device's limits, which are checked without the script saying so.
 * plan_eval.c evaluates them. */
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

/* A text that lives as long as the plan; null without memory. */
__attribute__((format(printf, 2, 3))) static const char *print(struct plan *p, const char *fmt, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return arena_strdup(p->arena, text);
}

/* Compiles a text, which may name only what is in `may`; without one *out stays null. place: for messages; null without memory. */
static int compile(struct plan *p, const char *text, int may, const char *place, const struct field **out, struct err *err)
{
    if (!text)
        return 0;
    struct field *f = arena_alloc(p->arena, sizeof *f);
    if (!f || !place)
        return err_nomem(err);
    *f = (struct field){ .place = place, .next = p->fields };
    struct scope scope = p->scope;
    scope.n += may & MEASURED ? 2 : 0;
    int rc = expr_compile(text, &scope, &f->expr, err), n;
    if (rc) {
        err_prefix(err, "%s: ", place);
        return rc;
    }
    *out = p->fields = f;
    const int *slots = expr_slots(f->expr, &n);
    for (int i = 0; i < n; i++)
        if (!(slot_kind(p, slots[i]) & may))
            return err_set(err, ERR_INVALID, "%s: %s cannot be used here: only %s%s%s", place, p->names[slots[i]],
                           may & PARAMS ? "parameters and " : "", may & AXES ? "axes and " : "",
                           may & MEASURED ? "types, device.backend, device.multiprocessors, time and energy" : "types");
    return 0;
}

static void start_buffer(const struct plan *p, struct buffer_fields *b, const char *name, int rank, const char *type)
{
    int t = type ? op_type(p->op, type) : -1;
    *b = (struct buffer_fields){
        .place = name,
        .rank = rank,
        .type_slot = t < 0 ? -1 : p->first_type + t,
        .type = t < 0 ? dtype_find(type ? type : "i64") : NULL, /* op_check has seen that it is one */
    };
}

static int compile_arg(struct plan *p, const struct arg *a, struct buffer_fields *b, struct err *err)
{
    const int may = AXES | TYPES;
    start_buffer(p, b, a->name, arg_is_buffer(a) ? a->rank : -1, a->type);
    if (!arg_is_buffer(a))
        return compile(p, a->value, may, print(p, "%s %s", a->kind == ARG_VALUE ? "value" : "scalar", a->name), &b->value, err);
    int rc = 0;
    for (int i = 0; !rc && i < b->rank; i++)
        rc = compile(p, a->extent[i], may, print(p, "argument %s, extent[%d]", a->name, i + 1), &b->extent[i], err);
    for (int i = 0; !rc && i < 2; i++)
        rc = compile(p, a->data.range[i], may, print(p, "argument %s, range[%d]", a->name, i + 1), &b->range[i], err);
    return rc ?: compile(p, a->data.below, may, print(p, "argument %s, below", a->name), &b->below, err);
}

/* arg: whose check it is; null: the op's. */
static int compile_check(struct plan *p, const struct check *c, const char *arg, struct check_fields *f, struct err *err)
{
    static const char *const places[] = { "check.length", "check.rtol", "check.atol" };
    const char *const texts[] = { c->length, c->rtol, c->atol };
    const struct field **const fields[] = { &f->length, &f->rtol, &f->atol };
    int rc = 0;
    for (int i = 0; !rc && i < 3; i++)
        if (texts[i])
            rc = compile(p, texts[i], AXES | TYPES, arg ? print(p, "argument %s, %s", arg, places[i]) : places[i], fields[i], err);
    return rc;
}

static int compile_op(struct plan *p, struct err *err)
{
    const struct op *op = p->op;
    const int may = AXES | TYPES;
    p->args = arena_array(p->arena, (size_t)op->nargs, sizeof *p->args);
    p->arg_checks = arena_array(p->arena, (size_t)op->nargs, sizeof *p->arg_checks);
    p->op_where = arena_array(p->arena, (size_t)op->nwhere, sizeof *p->op_where);
    p->op_max = arena_array(p->arena, (size_t)op->naxes, sizeof *p->op_max);
    int rc = p->args && p->arg_checks && p->op_where && p->op_max ? 0 : err_nomem(err);
    for (int i = 0; !rc && i < op->nargs; i++)
        rc = compile_arg(p, &op->args[i], &p->args[i], err)
                 ?: compile_check(p, &op->args[i].check, op->args[i].name, &p->arg_checks[i], err);
    for (int i = 0; !rc && i < op->nwhere; i++)
        rc = compile(p, op->where[i], may, print(p, "where `%.120s`", op->where[i]), &p->op_where[i], err);
    for (int i = 0; !rc && i < op->naxes; i++)
        if (op->axes[i].max)
            rc = compile(p, op->axes[i].max, may, print(p, "axis %s, max", op->axes[i].name), &p->op_max[i], err);
    return rc
        ?: compile(p, op->work_bytes, may, "work.bytes", &p->work_bytes, err)
        ?: compile(p, op->work_flops, may, "work.flops", &p->work_flops, err)
        ?: compile_check(p, &op->check, NULL, &p->check, err);
}

static bool reads_round(const struct plan *p, const struct field *f)
{
    int n = 0;
    const int *slots = f ? expr_slots(f->expr, &n) : NULL;
    return n && slots[n - 1] >= p->first_round; /* they are ascending */
}

/* A list of texts, or null for one that is not there. */
static int compile_list(struct plan *p, const char *const *texts, int n, const char *where, const char *what,
                        const struct field **out, struct err *err)
{
    int rc = 0;
    for (int i = 0; i < n && !rc; i++)
        rc = compile(p, texts[i], ALL, print(p, "%s, %s[%d]", where, what, i + 1), &out[i], err);
    return rc;
}

static int compile_view(struct plan *p, const struct view *m, const char *where, struct view_fields *f, struct err *err)
{
    f->buffer = m->arg < p->op->nargs ? &p->args[m->arg] : &p->workspaces[m->arg - p->op->nargs];
    for (int i = 0; i < m->rank && !m->nextents; i++)
        f->extent[i] = f->buffer->extent[i];
    const char *whose = print(p, "%s, tensor map of %s", where, f->buffer->place);
    if (!whose)
        return err_nomem(err);
    return compile_list(p, m->extent, m->nextents, whose, "extent", f->extent, err)
        ?: compile_list(p, m->box, m->rank, whose, "box", f->box, err)
        ?: compile_list(p, m->stride, m->nstrides, whose, "stride", f->stride, err)
        ?: compile_list(p, m->step, m->nsteps, whose, "step", f->step, err)
        ?: compile(p, m->swizzle, ALL, print(p, "%s, swizzle", whose), &f->swizzle, err)
        ?: compile(p, m->interleave, ALL, print(p, "%s, interleave", whose), &f->interleave, err)
        ?: compile(p, m->l2, ALL, print(p, "%s, l2", whose), &f->l2, err);
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
    static const char *const places[] = { "grid[1]",  "grid[2]", "grid[3]",    "block[1]",   "block[2]",
                                          "block[3]", "shared",  "cluster[1]", "cluster[2]", "cluster[3]" };
    const char *const texts[] = { l->grid[0],  l->grid[1], l->grid[2],    l->block[0],   l->block[1],
                                  l->block[2], l->shared,  l->cluster[0], l->cluster[1], l->cluster[2] };
    const struct field *before = p->fields;
    f->values = arena_array(p->arena, (size_t)l->nvalues, sizeof *f->values);
    f->views = arena_array(p->arena, (size_t)l->nviews, sizeof *f->views);
    int rc = where && f->values && f->views ? 0 : err_nomem(err);
    for (int i = 0; !rc && i < EXTENTS; i++)
        if (texts[i]) /* most have none: then no place is printed */
            rc = compile(p, texts[i], i < FIRST_BLOCK ? ALL | ROUNDS : ALL, print(p, "%s, %s", where, places[i]), &f->extent[i],
                         err);
    for (int i = 0; !rc && i < FIRST_BLOCK; i++)
        f->changes = f->changes || reads_round(p, f->extent[i]);
    if (!rc && l->when)
        rc = compile(p, l->when, ALL, print(p, "%s, when", where), &f->when, err);
    if (!rc && l->together)
        f->repeat[0] = f[-1].repeat[0];
    else if (!rc && l->rounds)
        rc = compile(p, l->rounds, ALL, print(p, "%s, times", where), &f->repeat[0], err);
    if (!rc && l->steps)
        rc = compile(p, l->steps, ALL | ROUNDS, print(p, "%s, times", where), &f->repeat[1], err);
    for (int i = 0; !rc && i < l->nvalues; i++)
        rc = compile(p, l->values[i].value, ALL | ROUNDS, print(p, "%s, value %s", where, l->values[i].name), &f->values[i], err);
    for (int i = 0; !rc && i < l->nviews; i++)
        rc = compile_view(p, &l->views[i], where, &f->views[i], err);
    return rc ?: launch_repeats(l) ? check_lengths(p, before, err) : 0;
}

static int compile_workspace(struct plan *p, const struct workspace *w, const char *whose, struct buffer_fields *b, struct err *err)
{
    start_buffer(p, b, w->name, 1, w->type);
    return compile(p, w->count, ALL, print(p, "%s, workspace %s, count", whose, w->name), &b->extent[0], err);
}

/* They may speak of parameters, so each variant has its own. */
static int compile_metrics(struct plan *p, const char *whose, struct err *err)
{
    const struct op *op = p->op;
    int rc = 0;
    p->metrics = arena_array(p->arena, (size_t)op->nmetrics, sizeof *p->metrics);
    if (!p->metrics)
        return err_nomem(err);
    for (int i = 0; !rc && p->variant->name && i < op->nmetrics; i++)
        rc = compile(p, op->metrics[i].value, OF_METRICS, print(p, "%s, metric %s", whose, op->metrics[i].name), &p->metrics[i],
                     err);
    return rc;
}

static int compile_variant(struct plan *p, struct err *err)
{
    const struct variant *v = p->variant;
    const char *whose = v->name ? print(p, "variant %s", v->name) : "reference";
    p->where = arena_array(p->arena, (size_t)v->nwhere, sizeof *p->where);
    p->needs = arena_array(p->arena, (size_t)v->nneeds, sizeof *p->needs);
    p->workspaces = arena_array(p->arena, (size_t)v->nworkspaces, sizeof *p->workspaces);
    p->launches = arena_array(p->arena, (size_t)v->nlaunches, sizeof *p->launches);
    int rc = whose && p->where && p->needs && p->workspaces && p->launches ? 0 : err_nomem(err);
    for (int i = 0; !rc && i < v->nwhere; i++)
        rc = compile(p, v->where[i], ALL, print(p, "%s, constraint `%.120s`", whose, v->where[i]), &p->where[i], err);
    for (int i = 0; !rc && i < v->nneeds; i++)
        rc = compile(p, v->needs[i].bytes, PARAMS | TYPES, print(p, "%s, needs[%d]", whose, i + 1), &p->needs[i], err);
    for (int i = 0; !rc && i < v->nworkspaces; i++)
        rc = compile_workspace(p, &v->workspaces[i], whose, &p->workspaces[i], err);
    for (int i = 0; !rc && i < v->nlaunches; i++)
        rc = compile_launch(p, &v->launches[i], v->nlaunches > 1 ? print(p, "%s, launch %d", whose, i + 1) : whose, &p->launches[i],
                            err);
    return rc ?: compile_metrics(p, whose, err);
}

static void note_field(const struct field *f, bool reads[MAX_SLOTS])
{
    int n = 0;
    const int *slots = f ? expr_slots(f->expr, &n) : NULL;
    for (int i = 0; i < n; i++)
        reads[slots[i]] = true;
}

/* Whether and how often it takes place. */
static void note_launch(const struct launch_fields *l, bool reads[MAX_SLOTS])
{
    note_field(l->when, reads);
    note_field(l->repeat[0], reads);
    note_field(l->repeat[1], reads);
}

/* Adds a check; its slots are those that its fields and its buffer's type read. Its text is null without memory. */
static int add(struct plan *p, struct condition c, struct err *err)
{
    bool reads[MAX_SLOTS] = { false };
    for (int i = 0; i < c.nfields; i++)
        note_field(c.fields[i], reads);
    if (c.launch)
        note_launch(c.launch, reads);
    if (c.buffer && c.buffer->type_slot >= 0)
        reads[c.buffer->type_slot] = true;
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

static int add_required(struct plan *p, struct err *err)
{
    const struct requires *r = &p->variant->requires;
    int rc = 0, before = p->nchecks;
    if (r->backend)
        rc = add(p, (struct condition){ .of = OF_BACKEND, .text = print(p, "requires: backend %.40s", r->backend) }, err);
    if (!rc && r->cc && !r->arch_specific)
        rc = add(p, (struct condition){ .of = OF_CC, .text = print(p, "requires: cc %d", r->cc) }, err);
    if (!rc && r->arch_specific)
        rc = add(p, (struct condition){ .of = OF_ARCH, .text = print(p, "requires: sm_%da", r->cc) }, err);
    if (!rc && r->grid_order)
        rc = add(p, (struct condition){ .of = OF_ORDER, .text = "requires: grid_order" }, err);
    if (!rc && r->grid_progress)
        rc = add(p, (struct condition){ .of = OF_ORDER, .text = "requires: grid_progress" }, err);
    p->nrequired = p->nchecks - before;
    return rc;
}

/* First those of the block, then those of the grid. */
static int add_launch_limits(struct plan *p, const struct launch_fields *l, struct err *err)
{
    static const char *const texts[] = { "limit: grid x",  "limit: grid y",  "limit: grid z",       "limit: block x",
                                         "limit: block y", "limit: block z", "limit: shared memory" };
    struct condition c = {
        .of = OF_THREADS, .text = "limit: threads a block", .fields = &l->extent[FIRST_BLOCK], .nfields = 3, .launch = l
    };
    int rc = add(p, c, err);
    for (int k = 0; !rc && k <= SHARED_BYTES; k++) {
        int i = k < SHARED_BYTES ? (k + FIRST_BLOCK) % SHARED_BYTES : k;
        c = (struct condition){
            .of = OF_EXTENT, .text = texts[i], .fields = &l->extent[i], .nfields = 1, .launch = l, .extent = i
        };
        if (l->extent[i])
            rc = add(p, c, err);
    }
    return rc;
}

static int add_view_limit(struct plan *p, const struct launch_fields *f, int map, struct err *err)
{
    enum { LISTS = 4, A_MAP = LISTS * MAX_VIEW_RANK + MAX_RANK + 3 };
    const struct view_fields *m = &f->views[map];
    const struct field **fields = arena_array(p->arena, A_MAP, sizeof *fields), **at = fields;
    if (!fields)
        return err_nomem(err);
    const struct field *const *const lists[LISTS] = { m->extent, m->stride, m->box, m->step };
    for (int k = 0; k < LISTS; k++)
        for (int i = 0; i < MAX_VIEW_RANK; i++)
            *at++ = lists[k][i];
    for (int i = 0; i < m->buffer->rank; i++)
        *at++ = m->buffer->extent[i];
    *at++ = m->swizzle;
    *at++ = m->interleave;
    *at++ = m->l2;
    return add(p,
               (struct condition){ .of = OF_TENSOR,
                                   .text = print(p, "limit: tensor map of %s", m->buffer->place),
                                   .fields = fields,
                                   .nfields = A_MAP,
                                   .buffer = m->buffer,
                                   .launch = f,
                                   .extent = map },
               err);
}

/* Of launches that not every device can make. */
static int add_special_limits(struct plan *p, const struct launch *l, const struct launch_fields *f, struct err *err)
{
    const struct condition needs = { .of = OF_SPECIAL, .launch = f };
    struct condition c;
    int rc = 0;
    if (l->cluster[0] || l->cluster[1] || l->cluster[2]) {
        c = needs;
        c.text = print(p, "requires: clusters (cc %d)", c.extent = CC_CLUSTERS);
        rc = add(p, c, err);
        c = (struct condition){
            .of = OF_CLUSTER, .text = "limit: grid in clusters", .fields = f->extent, .nfields = EXTENTS, .launch = f
        };
        rc = rc ?: add(p, c, err);
    }
    if (!rc && l->cooperative) {
        c = needs;
        c.text = print(p, "requires: cooperative launches (cc %d)", c.extent = CC_COOPERATIVE);
        rc = add(p, c, err);
        c = (struct condition){
            .of = OF_AT_ONCE, .text = "limit: blocks at once", .fields = f->extent, .nfields = FIRST_BLOCK, .launch = f
        };
        rc = rc ?: add(p, c, err);
    }
    if (!rc && l->dependent) {
        c = needs;
        c.text = print(p, "requires: dependent launches (cc %d)", c.extent = CC_DEPENDENT_LAUNCH);
        rc = add(p, c, err);
    }
    if (!rc && l->nviews) {
        c = needs;
        c.text = print(p, "requires: tensor maps (cc %d)", c.extent = CC_TENSOR_MAPS);
        rc = add(p, c, err);
    }
    for (int i = 0; !rc && i < l->nviews; i++)
        rc = add_view_limit(p, f, i, err);
    return rc;
}

static int add_buffer_limit(struct plan *p, const struct buffer_fields *b, struct err *err)
{
    struct condition c = { .of = OF_BYTES, .fields = b->extent, .nfields = b->rank, .buffer = b };
    if (b->rank < 0)
        return 0;
    c.text = print(p, "limit: bytes of %s", b->place);
    return add(p, c, err);
}

/* What is said of repetitions reads what any launch does. */
static int add_steps(struct plan *p, struct err *err)
{
    const struct variant *v = p->variant;
    int n = 0, nswaps = 0;
    for (int i = 0; i < v->nlaunches; i++)
        nswaps += v->launches[i].nswaps + v->launches[i].nround_swaps;
    if (!nswaps && p->first_round == p->scope.n)
        return 0;
    const struct field **fields = arena_array(p->arena, (size_t)(3 * v->nlaunches + nswaps * MAX_RANK), sizeof *fields);
    if (!fields)
        return err_nomem(err);
    for (int i = 0; i < v->nlaunches; i++) {
        const struct launch *l = &v->launches[i];
        fields[n++] = p->launches[i].when;
        fields[n++] = p->launches[i].repeat[0];
        fields[n++] = p->launches[i].repeat[1];
        for (int k = 0; k < l->nswaps + l->nround_swaps; k++) {
            int arg = k < l->nswaps ? l->swaps[k] : l->round_swaps[k - l->nswaps];
            const struct buffer_fields *b = arg < p->op->nargs ? &p->args[arg] : &p->workspaces[arg - p->op->nargs];
            for (int d = 0; d < b->rank; d++)
                fields[n++] = b->extent[d];
        }
    }
    const char *text = nswaps ? "limit: launches in all, and swapped buffers of one size" : "limit: launches in all";
    return add(p, (struct condition){ .of = OF_STEPS, .text = text, .fields = fields, .nfields = n }, err);
}

/* What the op takes: of a kernel from a database, what it took when the kernel was tuned. */
static int add_op_limits(struct plan *p, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < p->op->nwhere; i++)
        rc = add(p, (struct condition){ .of = OF_OP, .text = p->op->where[i], .fields = &p->op_where[i], .nfields = 1 }, err);
    for (int i = 0; !rc && i < p->op->naxes; i++) {
        struct condition c = { .of = OF_MAX, .fields = &p->op_max[i], .nfields = 1, .extent = i };
        if (!p->op_max[i])
            continue;
        c.text = print(p, "%s <= %s", p->op->axes[i].name, p->op->axes[i].max);
        rc = add(p, c, err);
    }
    return rc;
}

static int list_checks(struct plan *p, struct err *err)
{
    enum { REQUIRED = 5, A_LAUNCH = 1 + EXTENTS + 6 + MAX_VIEWS, STEPS = 1 };
    const struct variant *v = p->variant;
    int most =
        v->nwhere + REQUIRED + A_LAUNCH * v->nlaunches + p->op->nargs + v->nworkspaces + STEPS + p->op->nwhere + p->op->naxes;
    p->checks = arena_array(p->arena, (size_t)most, sizeof *p->checks);
    int rc = p->checks ? 0 : err_nomem(err);
    for (int i = 0; !rc && i < v->nwhere; i++)
        rc = add(p, (struct condition){ .of = OF_WHERE, .text = v->where[i], .fields = &p->where[i], .nfields = 1 }, err);
    rc = rc ?: add_required(p, err);
    for (int i = 0; !rc && i < v->nlaunches; i++)
        rc = add_launch_limits(p, &p->launches[i], err) ?: add_special_limits(p, &v->launches[i], &p->launches[i], err);
    for (int i = 0; !rc && i < p->op->nargs; i++)
        rc = add_buffer_limit(p, &p->args[i], err);
    for (int i = 0; !rc && i < v->nworkspaces; i++)
        rc = add_buffer_limit(p, &p->workspaces[i], err);
    return rc ?: add_steps(p, err) ?: add_op_limits(p, err);
}

int plan_new(const struct op *op, int variant, struct plan **out, struct err *err)
{
    if (variant < -1 || variant >= op->nvariants)
        return err_set(err, ERR_INVALID, "%s has no variant %d", op->name, variant);
    struct arena *arena;
    struct plan *p = arena_with(sizeof *p, &arena);
    if (!p)
        return err_nomem(err);
    p->arena = arena;
    p->op = op;
    p->variant = variant < 0 ? &op->reference : &op->variants[variant];
    name_slots(p);
    int rc = compile_op(p, err) ?: compile_variant(p, err) ?: list_checks(p, err);
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
