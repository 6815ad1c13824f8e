/* Kernels: made once of a record and a problem, read from then on. */
#include <string.h>

#include "base/mem.h"
#include "model/kernel.h"
#include "runtime/runtime.h"

/* What making a kernel works with. */
struct kernel_making {
    cutune_handle *h;
    const struct question *q;
    const struct tuned *t;
    const struct op *op;           /* the record's, */
    const struct variant *variant; /* with one variant */
    struct plan *plan;
    struct val slots[MAX_SLOTS];
    struct cutune_kernel *k;
    struct guest_clear *clears;
    int buffer[MAX_ARGS];                     /* of the op's arguments: its place among the buffers, -1 for a value */
    bool written[MAX_ARGS];                   /* of the buffers, */
    int64_t bytes[MAX_ARGS];                  /* and this; 0: a scalar */
    int64_t offset[MAX_ARGS], room[MAX_ARGS]; /* of the workspaces */
};

/* The same failure as another code, unless memory ran out or a record is damaged. */
static int as_code(int code, int rc, struct err *err)
{
    if (!rc || rc == ERR_NOMEM || rc == ERR_CORRUPT)
        return rc;
    if (err)
        err->code = code;
    return code;
}

int kernel_plan(struct op *kernel, const struct op *op, int (*make)(const struct op *, int, struct plan **, struct err *),
                struct plan **out, struct err *err)
{
    int rc = kernel_join(kernel, op, err);
    if (rc)
        return rc;
    rc = as_code(ERR_CORRUPT, make(kernel, 0, out, err), err);
    if (rc == ERR_CORRUPT) /* these are the database's words, not the caller's */
        err_prefix(err, "a record of %s is damaged: ", op->name);
    return rc;
}

static int check(struct kernel_making *m, struct err *err)
{
    int rc = kernel_plan(m->t->op, m->q->op, plan_new, &m->plan, err);
    if (rc)
        return rc;
    plan_slots(m->plan, &m->q->problem, m->q->row, &m->h->dev, &only_config, m->slots);
    const char *why = plan_refuses(m->plan, m->slots, &m->h->dev);
    return why ? err_set(err, ERR_UNSUPPORTED, "%s", why) : 0;
}

/* The kernel, with room for all that it lists. */
static int alloc(struct kernel_making *m, struct err *err)
{
    const struct variant *v = m->variant;
    size_t nargs = (size_t)m->op->nargs;
    struct arena *arena;
    struct cutune_kernel *k = arena_with(sizeof *k, &arena);
    if (!k)
        return err_nomem(err);
    m->k = k;
    k->arena = arena;
    k->handle = m->h;
    k->backend = m->h->backend;
    k->guest = m->h->guest;
    k->checks = k->backend && k->backend->addresses;
    k->known = m->q->known;
    k->row = m->q->row;
    k->problem = m->q->problem;
    k->rank = m->t->rank;
    k->record_ns = m->t->time_ns;
    k->pinned = m->t->pinned;
    k->why = "";
    k->variant = arena_strdup(arena, m->t->variant);
    k->config = arena_strdup(arena, m->t->config);
    k->json = arena_strdup(arena, m->t->json);
    k->buffers = arena_array(arena, nargs, sizeof *k->buffers);
    k->pairs = arena_array(arena, nargs * nargs / 2, sizeof *k->pairs);
    k->constants = arena_array(arena, nargs, sizeof *k->constants);
    m->clears = arena_array(arena, (size_t)(v->nclear + v->nworkspaces), sizeof *m->clears);
    bool good = k->variant && k->config && k->json && k->buffers && k->pairs && k->constants && m->clears;
    return good ? 0 : err_nomem(err);
}

static int list_buffers(struct kernel_making *m, struct err *err)
{
    struct cutune_kernel *k = m->k;
    for (int i = 0; i < m->op->nargs; i++) {
        const struct arg *arg = &m->op->args[i];
        m->buffer[i] = arg->kind == ARG_VALUE ? -1 : k->work.nbuffers++;
        int b = m->buffer[i];
        if (b < 0)
            continue;
        int rc = plan_arg_bytes(m->plan, i, m->slots, &m->bytes[b], err);
        if (rc)
            return rc;
        k->buffers[b].name = m->q->op->args[i].name;
        k->buffers[b].scalar = arg->kind == ARG_SCALAR;
        k->nscalars += k->buffers[b].scalar;
        if (k->buffers[b].scalar)
            continue; /* in host memory, wherever the caller has it */
        m->written[b] = arg->kind != ARG_INPUT;
        k->buffers[b].element = k->checks ? (uint64_t)op_arg_dtype(m->op, arg->type, m->q->row)->bytes - 1 : 0;
        k->buffers[b].span = k->checks ? (uint64_t)m->bytes[b] : 1;
        k->buffers[b].bytes = m->bytes[b];
        k->buffers[b].written = m->written[b];
    }
    return 0;
}

/* The device takes tensor maps, and textures without an array, of aligned buffers only. True if there are any of a caller's. */
static bool need_views(struct kernel_making *m)
{
    bool any = false;
    for (int i = 0; i < m->variant->nlaunches; i++)
        for (int k = 0; k < m->variant->launches[i].nviews; k++) {
            const struct view *view = &m->variant->launches[i].views[k];
            int b = view->arg < m->op->nargs ? m->buffer[view->arg] : -1;
            if (b < 0 || view_align(view) == 1)
                continue;
            m->k->buffers[b].need |= m->k->checks ? (uint64_t)view_align(view) - 1 : 0;
            any = true;
        }
    return any;
}

/* Alignment beyond the elements' own, and the pairs that must not overlap. */
static int list_needs(struct kernel_making *m, struct err *err)
{
    struct cutune_kernel *k = m->k;
    bool alone[MAX_ARGS] = { 0 }, asks = need_views(m);
    for (int i = 0; i < m->variant->nneeds; i++) {
        const struct need *n = &m->variant->needs[i];
        int b = m->buffer[n->arg];
        if (b < 0)
            continue;
        if (n->kind == NEED_NOALIAS) {
            alone[b] = true;
            continue;
        }
        int64_t bytes;
        int rc = plan_need(m->plan, i, m->slots, &bytes, err);
        if (rc)
            return rc;
        if (bytes < 1 || bytes & (bytes - 1))
            return err_set(err, ERR_CORRUPT, "a record of %s is damaged: an alignment of %lld bytes is no power of two",
                           m->q->op->name, (long long)bytes);
        k->buffers[b].need |= k->checks ? (uint64_t)bytes - 1 : 0;
        asks = true;
    }
    for (int a = 0; a < k->work.nbuffers; a++)
        for (int b = a + 1; b < k->work.nbuffers; b++) {
            bool hard = m->written[a] || m->written[b];
            if ((!hard && !alone[a] && !alone[b]) || k->buffers[a].scalar || k->buffers[b].scalar)
                continue;
            k->pairs[k->npairs++] = (struct apart){ (uint8_t)a, (uint8_t)b, hard };
            asks = asks || !hard;
        }
    atomic_init(&k->fallback, asks ? NULL : k);
    return 0;
}

static int list_workspaces(struct kernel_making *m, struct err *err)
{
    int64_t end = 0;
    for (int i = 0; i < m->variant->nworkspaces; i++) {
        int64_t bytes;
        int rc = plan_workspace_bytes(m->plan, i, m->slots, &bytes, err);
        if (rc)
            return rc;
        m->offset[i] = end;
        m->room[i] = bytes;
        if (__builtin_add_overflow(end, bytes, &end) || __builtin_add_overflow(end, GUEST_ALIGN - 1, &end))
            return err_set(err, ERR_UNSUPPORTED, "more than 2^63 bytes of workspace");
        end -= end % GUEST_ALIGN;
    }
    m->k->work.workspace = end;
    return 0;
}

static void list_clears(struct kernel_making *m)
{
    const struct variant *v = m->variant;
    int n = 0;
    for (int i = 0; i < v->nclear; i++) {
        int b = m->buffer[v->clear[i]];
        if (b >= 0)
            m->clears[n++] = (struct guest_clear){ .index = b, .bytes = m->bytes[b] };
    }
    for (int i = 0; i < v->nworkspaces; i++)
        if (v->workspaces[i].clear)
            m->clears[n++] = (struct guest_clear){ .workspace = true, .offset = m->offset[i], .bytes = m->room[i] };
    m->k->work.clears = m->clears;
    m->k->work.nclears = n;
}

static int list_constants(struct kernel_making *m, struct err *err)
{
    struct guest_work *work = &m->k->work;
    for (int i = 0; i < m->op->nargs; i++) {
        struct guest_constant *c = &m->k->constants[work->nconstants];
        if (!m->op->args[i].constant)
            continue;
        *c = (struct guest_constant){ .index = m->buffer[i], .bytes = m->bytes[m->buffer[i]] };
        c->symbol = arena_strdup(m->k->arena, m->op->args[i].constant);
        if (!c->symbol)
            return err_nomem(err);
        work->nconstants++;
    }
    work->constants = m->k->constants;
    return 0;
}

/* What stands for each argument, and behind them for each workspace. */
static int make_args(struct kernel_making *m, struct guest_param *args, struct err *err)
{
    int nargs = m->op->nargs, rc = 0;
    for (int i = 0; !rc && i < nargs; i++) {
        args[i] = (struct guest_param){ .kind = m->buffer[i] >= 0 ? GUEST_BUFFER : GUEST_VALUE };
        if (m->buffer[i] >= 0)
            args[i].index = m->buffer[i];
        else
            rc = plan_arg_value(m->plan, i, m->slots, args[i].value, &args[i].bytes, err);
        if (m->op->args[i].kind == ARG_SCALAR) {
            args[i].kind = GUEST_SCALAR;
            args[i].bytes = op_arg_dtype(m->op, m->op->args[i].type, m->q->row)->bytes;
        }
    }
    for (int i = 0; i < m->variant->nworkspaces; i++)
        args[nargs + i] = (struct guest_param){ .kind = GUEST_WORKSPACE, .offset = m->offset[i], .room = m->room[i] };
    return rc;
}

static int make_launches(struct kernel_making *m, struct err *err)
{
    struct guest_param args[2 * MAX_ARGS];
    struct cutune_kernel *k = m->k;
    int rc = make_args(m, args, err)
                 ?: guest_launches(m->plan, m->slots, args, k->arena, &k->launches, &k->work.nlaunches, &k->work.textures, err);
    k->work.launches = k->launches;
    return rc;
}

/* All that a launch needs. What compiles and has no value, for example because a product of sizes is too large, is not for this problem. */
static int make(struct kernel_making *m, struct err *err)
{
    int rc = alloc(m, err) ?: list_buffers(m, err) ?: list_needs(m, err) ?: list_workspaces(m, err);
    if (!rc)
        list_clears(m);
    return as_code(ERR_UNSUPPORTED, rc ?: list_constants(m, err) ?: make_launches(m, err), err);
}

int kernel_new(cutune_handle *h, const struct question *q, struct tuned *t, struct cutune_kernel **out, struct err *err)
{
    struct kernel_making m = { .h = h, .q = q, .t = t, .op = t->op, .variant = t->op->variants };
    struct code *code = NULL;
    int rc = check(&m, err) ?: make(&m, err) ?: (h->backend ? code_get(h, t, &code, err) : 0);
    plan_free(m.plan);
    if (!code || code->record != t)
        tuned_free(t);
    if (rc) {
        kernel_free(m.k);
        return rc;
    }
    m.k->code = code;
    m.k->next = h->kernels;
    *out = h->kernels = m.k;
    return 0;
}

void kernel_free(struct cutune_kernel *k)
{
    if (k)
        arena_free(k->arena); /* it lies there itself */
}
