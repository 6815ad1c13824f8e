/* The checks that a configuration has to pass: the script's constraints, what the variant requires of the device, and the device's limits,
 * which are checked without the script saying so. */
#include <stdio.h>
#include <string.h>

#include "model/plan_parts.h"

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
        rc = add(p, (struct condition){ .of = OF_BACKEND, .text = plan_print(p, "requires: backend %.40s", r->backend) }, err);
    if (!rc && r->cc && !r->arch_specific)
        rc = add(p, (struct condition){ .of = OF_CC, .text = plan_print(p, "requires: cc %d", r->cc) }, err);
    if (!rc && r->arch_specific)
        rc = add(p, (struct condition){ .of = OF_ARCH, .text = plan_print(p, "requires: sm_%da", r->cc) }, err);
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

static int add_view_limit(struct plan *p, const struct launch_fields *f, int view, struct err *err)
{
    enum { LISTS = 4, A_VIEW = LISTS * MAX_VIEW_RANK + MAX_RANK + 4 };
    const struct view_fields *m = &f->views[view];
    const struct field **fields = arena_array(p->arena, A_VIEW, sizeof *fields), **at = fields;
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
    *at++ = m->channels;
    return add(p,
               (struct condition){ .of = OF_VIEW,
                                   .text = plan_print(p, "limit: %s of %s", m->kind, m->buffer->place),
                                   .fields = fields,
                                   .nfields = A_VIEW,
                                   .buffer = m->buffer,
                                   .launch = f,
                                   .extent = view },
               err);
}

static int add_special(struct plan *p, const struct launch_fields *f, const char *what, int cc, struct err *err)
{
    const char *text = plan_print(p, "requires: %s (cc %d)", what, cc);
    return add(p, (struct condition){ .of = OF_SPECIAL, .text = text, .launch = f, .extent = cc }, err);
}

/* Of launches that not every device can make. */
static int add_special_limits(struct plan *p, const struct launch *l, const struct launch_fields *f, struct err *err)
{
    const struct condition in_clusters = {
        .of = OF_CLUSTER, .text = "limit: grid in clusters", .fields = f->extent, .nfields = EXTENTS, .launch = f
    };
    const struct condition at_once = {
        .of = OF_AT_ONCE, .text = "limit: blocks at once", .fields = f->extent, .nfields = FIRST_BLOCK, .launch = f
    };
    int rc = 0;
    if (l->cluster[0] || l->cluster[1] || l->cluster[2])
        rc = add_special(p, f, "clusters", CC_CLUSTERS, err) ?: add(p, in_clusters, err);
    if (!rc && l->cooperative)
        rc = add_special(p, f, "cooperative launches", CC_COOPERATIVE, err) ?: add(p, at_once, err);
    if (!rc && l->dependent)
        rc = add_special(p, f, "dependent launches", CC_DEPENDENT_LAUNCH, err);
    return rc;
}

static int add_view_limits(struct plan *p, const struct launch *l, const struct launch_fields *f, struct err *err)
{
    /* each device of that backend has them */
    const struct condition has = { .of = OF_SPECIAL, .text = "requires: backend cuda (textures)", .launch = f };
    int textures = 0, rc = 0;
    for (int i = 0; i < l->nviews; i++)
        textures += l->views[i].texture;
    if (textures < l->nviews)
        rc = add_special(p, f, "tensor maps", CC_TENSOR_MAPS, err);
    if (!rc && textures)
        rc = add(p, has, err);
    for (int i = 0; !rc && i < l->nviews; i++)
        rc = add_view_limit(p, f, i, err);
    return rc;
}

static int add_buffer_limit(struct plan *p, const struct buffer_fields *b, struct err *err)
{
    struct condition c = { .of = OF_BYTES, .fields = b->extent, .nfields = b->rank, .buffer = b };
    if (b->rank < 0)
        return 0;
    c.text = plan_print(p, "limit: bytes of %s", b->place);
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
            for (int d = 0; d < p->buffers[arg].rank; d++)
                fields[n++] = p->buffers[arg].extent[d];
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
        c.text = plan_print(p, "%s <= %s", p->op->axes[i].name, p->op->axes[i].max);
        rc = add(p, c, err);
    }
    return rc;
}

/* With room for so many limits. */
static int list_constraints(struct plan *p, int limits, struct err *err)
{
    enum { REQUIRED = 5 };
    const struct variant *v = p->variant;
    p->checks = arena_array(p->arena, (size_t)(v->nwhere + REQUIRED + limits), sizeof *p->checks);
    int rc = p->checks ? 0 : err_nomem(err);
    for (int i = 0; !rc && i < v->nwhere; i++)
        rc = add(p, (struct condition){ .of = OF_WHERE, .text = v->where[i], .fields = &p->where[i], .nfields = 1 }, err);
    return rc ?: add_required(p, err);
}

int plan_list_constraints(struct plan *p, struct err *err)
{
    return list_constraints(p, 0, err);
}

int plan_list_checks(struct plan *p, struct err *err)
{
    enum { A_LAUNCH = 1 + EXTENTS + 7 + MAX_VIEWS, STEPS = 1 };
    const struct variant *v = p->variant;
    int rc = list_constraints(p, A_LAUNCH * v->nlaunches + plan_buffers(p) + STEPS + p->op->nwhere + p->op->naxes, err);
    for (int i = 0; !rc && i < v->nlaunches; i++)
        rc = add_launch_limits(p, &p->launches[i], err)
            ?: add_special_limits(p, &v->launches[i], &p->launches[i], err)
            ?: add_view_limits(p, &v->launches[i], &p->launches[i], err);
    for (int i = 0; !rc && i < plan_buffers(p); i++)
        rc = add_buffer_limit(p, &p->buffers[i], err);
    return rc ?: add_steps(p, err) ?: add_op_limits(p, err);
}

/* ---- asked */

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
static int check_threads(const struct condition *c, const struct val *slots, int64_t most, bool *holds, struct err *err)
{
    int64_t threads = 1;
    int rc = 0;
    for (int d = 0; !rc && d < 3; d++) {
        int64_t n = 1;
        rc = c->fields[d] ? field_int(c->fields[d], INT64_MIN, slots, &n, err) : 0;
        if (__builtin_mul_overflow(threads, n < 1 ? 1 : n, &threads))
            threads = INT64_MAX;
    }
    *holds = !rc && threads <= most;
    return rc;
}

static bool of_backend(const struct requires *r, const struct devspec *dev)
{
    return !r->backend || !strcmp(r->backend, dev->backend);
}

/* A block without threads is refused, and less than no shared memory is an error. */
static int check_extent(const struct condition *c, const struct val *slots, const struct devspec *dev, bool *holds, struct err *err)
{
    const bool block = c->extent < SHARED_BYTES;
    int64_t most = block ? dev->max_block[c->extent - FIRST_BLOCK] : dev->max_shared, n = 0;
    int rc = field_int(c->fields[0], block ? INT64_MIN : 0, slots, &n, err);
    *holds = !rc && n >= block && n <= most;
    return rc;
}

int plan_check(const struct plan *p, int i, const struct val *slots, const struct devspec *dev, bool *holds, struct err *err)
{
    const struct condition *c = &p->checks[i];
    int64_t bytes = 0;
    bool launched = true;
    int rc = c->launch ? plan_launched(c->launch, slots, &launched, err) : 0;
    *holds = !rc;
    if (rc || !launched)
        return rc;
    switch (c->of) {
    case OF_WHERE:
    case OF_OP:
        rc = expr_bool(c->fields[0]->expr, slots, holds, err);
        if (rc)
            err_prefix(err, "%s: ", c->fields[0]->place);
        return rc;
    case OF_BACKEND:
        *holds = of_backend(&p->variant->requires, dev);
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
    case OF_THREADS:
        return check_threads(c, slots, dev->max_threads, holds, err);
    case OF_EXTENT:
        if (c->extent >= FIRST_BLOCK)
            return check_extent(c, slots, dev, holds, err);
        return plan_check_grids(p, c, slots, dev, holds, err);
    case OF_CLUSTER:
    case OF_AT_ONCE:
        return plan_check_grids(p, c, slots, dev, holds, err);
    case OF_VIEW:
        return plan_check_view(p, c, slots, holds, err);
    case OF_SPECIAL:
        /* A device without a compute capability can do it all if it promises anything of blocks. */
        *holds = !dev->unordered && (!dev->cc || dev->cc >= c->extent);
        return 0;
    case OF_BYTES:
        rc = plan_bytes(c->buffer, slots, &bytes, err);
        *holds = !rc && bytes <= dev->max_alloc;
        return rc;
    case OF_STEPS:
        return plan_check_steps(p, slots, holds, err);
    case OF_MAX:
        rc = field_int(c->fields[0], INT64_MIN, slots, &bytes, err);
        *holds = !rc && slots[p->first_axis + c->extent].i <= bytes;
    }
    return rc;
}

const struct expr *plan_check_expr(const struct plan *p, int i, int k, bool *plain)
{
    const struct condition *c = &p->checks[i];
    const struct launch_fields *l = c->launch;
    const struct field *const of_launch[] = { l ? l->when : NULL, l ? l->repeat[0] : NULL, l ? l->repeat[1] : NULL };
    *plain = c->of == OF_WHERE || c->of == OF_OP;
    if (c->nslots && c->slots[c->nslots - 1] >= p->first_round)
        return NULL;
    for (int f = 0; f < c->nfields + 3; f++) {
        const struct field *field = f < c->nfields ? c->fields[f] : of_launch[f - c->nfields];
        if (field && k-- == 0)
            return field->expr;
    }
    return NULL;
}

int plan_takes(const struct plan *p, const struct val *slots, const char **fails, struct err *err)
{
    static const struct devspec none; /* an op's own limits do not depend on one */
    int rc = 0;
    *fails = NULL;
    for (int i = 0; !rc && !*fails && i < p->nchecks; i++) {
        const struct condition *c = &p->checks[i];
        bool holds = true;
        rc = c->of == OF_OP || c->of == OF_MAX ? plan_check(p, i, slots, &none, &holds, err) : 0;
        *fails = holds ? NULL : c->text;
    }
    return rc;
}

int plan_axis_max(const struct plan *p, int axis, const struct val *slots, int64_t *max, struct err *err)
{
    *max = INT64_MAX;
    return p->op_max[axis] ? field_int(p->op_max[axis], INT64_MIN, slots, max, err) : 0;
}

bool op_limited(const struct op *op)
{
    bool limited = op->nwhere > 0;
    for (int i = 0; i < op->naxes; i++)
        limited = limited || op->axes[i].max;
    return limited;
}

int op_takes(const struct op *op, const struct problem *prob, int row, struct err *err)
{
    static const struct devspec none; /* which these expressions do not ask for */
    struct plan *p = NULL;
    struct val slots[MAX_SLOTS];
    struct buf text = { 0 };
    const char *fails = NULL;
    int rc = op_limited(op) ? plan_new(op, -1, &p, err) : 0;
    if (p) {
        plan_slots(p, prob, row, &none, NULL, slots);
        rc = plan_takes(p, slots, &fails, err);
    }
    if (fails) {
        problem_print(&text, op, prob);
        rc = err_set(err, ERR_INVALID, "%s does not take %s: `%s` must hold", op->name, buf_text(&text), fails);
    }
    buf_free(&text);
    plan_free(p);
    return rc;
}

const char *plan_refuses(const struct plan *p, const struct val *slots, const struct devspec *dev)
{
    return plan_refuses_why(p, slots, dev, NULL);
}

const char *plan_refuses_why(const struct plan *p, const struct val *slots, const struct devspec *dev, struct err *why)
{
    const int nwhere = p->variant->nwhere, first_limit = nwhere + p->nrequired;
    for (int k = 0; k < p->nchecks; k++) {
        int i = k < p->nrequired ? nwhere + k : k < first_limit ? k - p->nrequired : k; /* what is required comes first */
        bool holds = false;
        if (plan_check(p, i, slots, dev, &holds, why) || !holds)
            return p->checks[i].text;
    }
    return NULL;
}

/* Whether what `make` makes of it refuses the configuration: then `why` says what does, else it is "". */
static int ask(int (*make)(const struct op *, int, struct plan **, struct err *), const struct served *as,
               const struct problem *prob, int row, const struct devspec *dev, char *why, size_t size, struct err *err)
{
    struct plan *p;
    struct val slots[MAX_SLOTS];
    int rc = make(&as->op, 0, &p, err);
    if (rc)
        return rc;
    plan_slots(p, prob, row, dev, &as->config, slots);
    snprintf(why, size, "%s", plan_refuses(p, slots, dev) ?: "");
    plan_free(p);
    return 0;
}

int op_default(const struct op *op, const struct problem *prob, int row, const struct devspec *dev, struct config *out,
               struct err *err)
{
    char why[160] = "there are no defaults";
    for (int i = 0; i < op->ndefaults; i++) {
        const struct requires *needs = &op->variants[op->defaults[i].config.variant].requires;
        struct served as;
        bool may = of_backend(needs, dev) && dev->cc >= needs->cc;
        if (!may && i + 1 < op->ndefaults) /* the last is asked why */
            continue;
        op_as_default(op, &op->defaults[i], &as);
        /* A constraint refuses most of them, without the rest of their plans. */
        int rc = ask(plan_constraints, &as, prob, row, dev, why, sizeof why, err);
        if (!rc && !*why)
            rc = ask(plan_new, &as, prob, row, dev, why, sizeof why, err);
        if (rc)
            return rc;
        if (!*why) {
            *out = op->defaults[i].config;
            return 0;
        }
    }
    return err_set(err, ERR_UNSUPPORTED, "%s: no default configuration may run here: %s", op->name, why);
}

/* It reads parameters, types and device.backend only. */
static bool of_any_size(const struct plan *p, const struct condition *c)
{
    bool any = c->of == OF_WHERE;
    for (int i = 0; i < c->nslots; i++)
        any = any && (c->slots[i] < p->first_axis || (c->slots[i] >= p->first_type && c->slots[i] <= p->first_device));
    return any;
}

int default_serves(const struct served *as, int row, const struct devspec *dev, bool *out, struct err *err)
{
    static const struct problem none = { { 0 } }; /* not asked for */
    struct plan *p;
    struct val slots[MAX_SLOTS];
    *out = of_backend(&as->variant.requires, dev);
    int rc = *out ? plan_constraints(&as->op, 0, &p, err) : 0;
    if (rc || !*out)
        return rc;
    plan_slots(p, &none, row, dev, &as->config, slots);
    for (int i = 0; *out && i < p->nchecks; i++)
        if (of_any_size(p, &p->checks[i]) && plan_check(p, i, slots, dev, out, NULL))
            *out = false;
    plan_free(p);
    return 0;
}
