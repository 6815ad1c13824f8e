/* Kernels: made once of a record and a problem, read from then on. */
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "model/kernel.h"
#include "runtime/runtime.h"

/* What making a kernel works with. */
struct kernel_making {
    cutune_handle *h;
    const struct question *q;
    const struct tuned *t;
    const struct op *op; /* the record's, with one variant */
    struct plan *plan;
    struct val slots[MAX_SLOTS];
    struct cutune_kernel *k;
    struct arena *arena;                      /* the kernel's */
    int buffer[MAX_ARGS];                     /* of the op's arguments: which buffer, -1 for a value */
    int64_t offset[MAX_ARGS], room[MAX_ARGS]; /* of the workspaces */
};

/* The database's words, not the caller's: what does not compile there is damage. */
static int as_damage(int rc, const struct kernel_making *m, struct err *err)
{
    if (rc && rc != ERR_NOMEM) {
        err_prefix(err, "a record of %s is damaged: ", m->q->op->name);
        if (err)
            err->code = ERR_CORRUPT;
        return ERR_CORRUPT;
    }
    return rc;
}

/* What compiles and has no value, as where a product of sizes is too large, is not for this problem. */
static int as_refusal(int rc, struct err *err)
{
    if (rc && rc != ERR_NOMEM) {
        if (err)
            err->code = ERR_UNSUPPORTED;
        return ERR_UNSUPPORTED;
    }
    return rc;
}

static int check(struct kernel_making *m, struct err *err)
{
    int rc = kernel_join(m->t->op, m->q->op, err) ?: as_damage(plan_new(m->op, 0, &m->plan, err), m, err);
    if (rc)
        return rc;
    plan_slots(m->plan, &m->q->problem, m->q->row, &m->h->dev, &only_config, m->slots);
    const char *why = plan_refuses(m->plan, m->slots, &m->h->dev);
    return why ? err_set(err, ERR_UNSUPPORTED, "%s", why) : 0;
}

static int list_buffers(struct kernel_making *m, struct err *err)
{
    struct cutune_kernel *k = m->k;
    const struct op *op = m->op;
    k->element = arena_array(m->arena, (size_t)op->nargs + 1, sizeof *k->element);
    k->bytes = arena_array(m->arena, (size_t)op->nargs + 1, sizeof *k->bytes);
    k->buffer_names = arena_array(m->arena, (size_t)op->nargs + 1, sizeof *k->buffer_names);
    if (!k->element || !k->bytes || !k->buffer_names)
        return err_nomem(err);
    for (int i = 0; i < op->nargs; i++) {
        m->buffer[i] = op->args[i].kind == ARG_VALUE ? -1 : k->nbuffers;
        if (m->buffer[i] < 0)
            continue;
        int b = k->nbuffers++;
        int rc = as_refusal(plan_arg_bytes(m->plan, i, m->slots, &k->bytes[b], err), err);
        if (rc)
            return rc;
        k->element[b] = (uint64_t)op_arg_dtype(op, op->args[i].type, m->q->row)->bytes - 1;
        k->buffer_names[b] = arena_strdup(m->arena, op->args[i].name);
        if (!k->buffer_names[b])
            return err_nomem(err);
    }
    k->work.nbuffers = k->nbuffers;
    return 0;
}

/* Alignment beyond the elements' own, and the pairs that must not overlap. */
static int list_needs(struct kernel_making *m, struct err *err)
{
    struct cutune_kernel *k = m->k;
    const struct variant *v = m->op->variants;
    bool alone[MAX_ARGS] = { 0 }, written[MAX_ARGS] = { 0 };
    for (int i = 0; i < v->nneeds; i++) {
        const struct need *n = &v->needs[i];
        int b = m->buffer[n->arg];
        if (b < 0)
            continue;
        if (n->kind == NEED_NOALIAS) {
            alone[b] = true;
            continue;
        }
        int64_t bytes;
        int rc = as_refusal(plan_need(m->plan, i, m->slots, &bytes, err), err);
        if (rc)
            return rc;
        if (bytes < 1 || bytes & (bytes - 1))
            return err_set(err, ERR_CORRUPT, "a record of %s is damaged: an alignment of %lld bytes is no power of two",
                           m->q->op->name, (long long)bytes);
        if (!k->need && !(k->need = arena_array(m->arena, (size_t)m->op->nargs + 1, sizeof *k->need)))
            return err_nomem(err);
        k->need[b] |= (uint64_t)bytes - 1;
    }
    for (int i = 0; i < m->op->nargs; i++)
        if (m->buffer[i] >= 0)
            written[m->buffer[i]] = m->op->args[i].kind != ARG_INPUT;
    k->pairs = arena_array(m->arena, MAX_PAIRS, sizeof *k->pairs);
    if (!k->pairs)
        return err_nomem(err);
    for (int a = 0; a < k->nbuffers; a++)
        for (int b = a + 1; b < k->nbuffers; b++) {
            bool hard = written[a] || written[b];
            if (hard || alone[a] || alone[b])
                k->pairs[k->npairs++] = (struct apart){ (uint8_t)a, (uint8_t)b, hard };
        }
    return 0;
}

static int list_workspaces(struct kernel_making *m, struct err *err)
{
    const struct variant *v = m->op->variants;
    int64_t end = 0;
    for (int i = 0; i < v->nworkspaces; i++) {
        int64_t bytes;
        int rc = as_refusal(plan_workspace_bytes(m->plan, i, m->slots, &bytes, err), err);
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

static int list_clears(struct kernel_making *m, struct err *err)
{
    const struct variant *v = m->op->variants;
    struct guest_clear *all = arena_array(m->arena, (size_t)(v->nclear + v->nworkspaces) + 1, sizeof *all);
    if (!all)
        return err_nomem(err);
    int n = 0;
    for (int i = 0; i < v->nclear; i++) {
        int b = m->buffer[v->clear[i]];
        if (b >= 0)
            all[n++] = (struct guest_clear){ .index = b, .bytes = m->k->bytes[b] };
    }
    for (int i = 0; i < v->nworkspaces; i++)
        if (v->workspaces[i].clear)
            all[n++] = (struct guest_clear){ .workspace = true, .offset = m->offset[i], .bytes = m->room[i] };
    m->k->work.clears = all;
    m->k->work.nclears = n;
    return 0;
}

static int make_param(struct kernel_making *m, int arg, struct guest_param *out, struct err *err)
{
    if (arg >= m->op->nargs) {
        int w = arg - m->op->nargs;
        *out = (struct guest_param){ .kind = GUEST_WORKSPACE, .offset = m->offset[w], .room = m->room[w] };
        return 0;
    }
    if (m->buffer[arg] >= 0) {
        *out = (struct guest_param){ .kind = GUEST_BUFFER, .index = m->buffer[arg] };
        return 0;
    }
    *out = (struct guest_param){ .kind = GUEST_VALUE };
    return as_refusal(plan_arg_value(m->plan, arg, m->slots, out->value, &out->bytes, err), err);
}

static int make_launch(struct kernel_making *m, int i, struct err *err)
{
    const struct launch *l = &m->op->variants->launches[i];
    struct guest_launch *out = &m->k->launches[i];
    struct geometry *g = &m->k->geometry[i];
    int rc = as_refusal(plan_geometry(m->plan, i, m->slots, g, err), err);
    if (rc)
        return rc;
    for (int d = 0; d < 3; d++) {
        if (g->grid[d] > UINT_MAX || g->block[d] > UINT_MAX || g->shared > UINT_MAX)
            return err_set(err, ERR_UNSUPPORTED, "limit: a launch of 2^32 blocks or more along an axis");
        out->grid[d] = (unsigned)g->grid[d];
        out->block[d] = (unsigned)g->block[d];
    }
    out->shared = (unsigned)g->shared;
    struct guest_param *params = arena_array(m->arena, (size_t)l->nargs + 1, sizeof *params);
    m->k->entries[i] = arena_strdup(m->arena, l->kernel);
    if (!params || !m->k->entries[i])
        return err_nomem(err);
    for (int p = 0; !rc && p < l->nargs; p++)
        rc = make_param(m, l->args[p], &params[p], err);
    out->params = params;
    out->nparams = l->nargs;
    return rc;
}

static int make_launches(struct kernel_making *m, struct err *err)
{
    struct cutune_kernel *k = m->k;
    int n = m->op->variants->nlaunches, rc = 0;
    k->launches = arena_array(m->arena, (size_t)n, sizeof *k->launches);
    k->geometry = arena_array(m->arena, (size_t)n, sizeof *k->geometry);
    k->entries = arena_array(m->arena, (size_t)n, sizeof *k->entries);
    if (!k->launches || !k->geometry || !k->entries)
        return err_nomem(err);
    k->work.launches = k->launches;
    k->work.nlaunches = n;
    for (int i = 0; !rc && i < n; i++)
        rc = make_launch(m, i, err);
    return rc;
}

static int make_words(struct kernel_making *m, struct err *err)
{
    m->k->variant = arena_strdup(m->arena, m->t->variant);
    m->k->config = arena_strdup(m->arena, m->t->config);
    m->k->op_name = arena_strdup(m->arena, m->op->name);
    m->k->why = "";
    return m->k->variant && m->k->config && m->k->op_name ? 0 : err_nomem(err);
}

static struct cutune_kernel *kernel_alloc(void)
{
    struct arena *arena = arena_new();
    struct cutune_kernel *k = arena ? arena_alloc(arena, sizeof *k) : NULL;
    if (k)
        k->arena = arena;
    else
        arena_free(arena);
    return k;
}

int kernel_new(cutune_handle *h, const struct question *q, struct tuned *t, struct cutune_kernel **out, struct err *err)
{
    static int (*const steps[])(struct kernel_making *, struct err *) = { make_words,      list_buffers, list_needs,
                                                                          list_workspaces, list_clears,  make_launches };
    struct kernel_making m = { .h = h, .q = q, .t = t, .op = t->op };
    int rc = check(&m, err);
    if (!rc && !(m.k = kernel_alloc()))
        rc = err_nomem(err);
    if (rc)
        goto out;
    m.arena = m.k->arena;
    m.k->handle = h;
    m.k->backend = h->backend;
    m.k->guest = h->guest;
    m.k->checks = h->backend && h->backend->addresses;
    for (size_t i = 0; !rc && i < sizeof steps / sizeof *steps; i++)
        rc = steps[i](&m, err);
    if (!rc && h->backend)
        rc = code_get(h, t, &m.k->code, err);
out:
    plan_free(m.plan);
    if (rc && m.k)
        kernel_free(m.k);
    if (rc)
        return rc;
    m.k->next = h->kernels;
    h->kernels = m.k;
    *out = m.k;
    return 0;
}

void kernel_free(struct cutune_kernel *k)
{
    arena_free(k->arena); /* it lies there itself */
}
