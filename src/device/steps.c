/* The launches of a variant for a problem, ready for a backend. */
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "device/backend.h"

struct launches {
    const struct plan *plan;
    struct val slots[MAX_SLOTS];
    const struct guest_param *args;
    struct arena *arena;
    const char *kernels[MAX_LAUNCHES]; /* names, */
    const char **names[MAX_LAUNCHES];  /* and of the parameters as they are written */
    struct {
        const struct step *step;
        const struct guest_param *params;
    } last[MAX_LAUNCHES][2]; /* the last two steps of a launch that have parameters of their own, the later one first */
    const struct tensor *tensors[MAX_LAUNCHES][MAX_VIEWS];
    struct guest_texture *textures[MAX_LAUNCHES][MAX_VIEWS];
    struct guest_texture *all_textures;
    int64_t nparams; /* made so far */
};

/* What is passed in a buffer's place. `of`: what stands for that. */
static struct guest_param view_of(const struct guest_param *of, enum guest_param_kind kind, int bytes)
{
    struct guest_param p = *of;
    p.in_workspace = of->kind == GUEST_WORKSPACE;
    p.kind = kind;
    p.bytes = bytes;
    return p;
}

/* The map is the same in each repetition, but for its place. */
static int make_map(struct launches *m, int launch, int view, const struct guest_param *of, struct guest_param *out,
                    struct err *err)
{
    const struct tensor **kept = &m->tensors[launch][view];
    int rc = 0;
    if (!*kept) {
        struct tensor *made = arena_alloc(m->arena, sizeof *made);
        rc = made ? plan_tensor(m->plan, launch, view, m->slots, made, err) : err_nomem(err);
        *kept = made;
    }
    *out = view_of(of, GUEST_TENSOR, TENSOR_BYTES);
    out->tensor = *kept;
    return rc;
}

/* The one that is there for the same view of the same buffer, or else a new one, which may be null without memory. */
static struct guest_texture *keep_texture(struct launches *m, const struct guest_texture *like)
{
    struct guest_texture *t = m->all_textures;
    while (t && (t->index != like->index || memcmp(&t->is, &like->is, sizeof t->is)))
        t = t->next;
    if (!t && (t = arena_alloc(m->arena, sizeof *t))) {
        t->is = like->is;
        t->index = like->index;
        t->next = m->all_textures;
        m->all_textures = t;
    }
    return t;
}

static int make_texture(struct launches *m, int launch, int view, const struct guest_param *of, struct guest_param *out,
                        struct err *err)
{
    struct guest_texture **kept = &m->textures[launch][view];
    if (!*kept) {
        struct guest_texture like;
        memset(&like, 0, sizeof like); /* it is compared byte by byte */
        like.index = of->index;
        int rc = plan_texture(m->plan, launch, view, m->slots, &like.is, err);
        if (rc)
            return rc;
        *kept = keep_texture(m, &like);
    }
    *out = view_of(of, GUEST_TEXTURE, TEXTURE_BYTES);
    out->texture = *kept;
    return *kept ? 0 : err_nomem(err);
}

static int make_params(struct launches *m, const struct step *s, const struct launch *l, int nargs, struct guest_param **out,
                       struct err *err)
{
    struct guest_param *params = arena_array(m->arena, (size_t)l->nargs + 1, sizeof *params);
    int rc = params ? 0 : err_nomem(err);
    m->nparams += l->nargs;
    if (!rc && m->nparams > MAX_STEP_PARAMS)
        rc = err_set(err, ERR_UNSUPPORTED, "limit: more than %d parameters in all launches", MAX_STEP_PARAMS);
    for (int i = 0; !rc && i < l->nargs; i++) {
        int value = s->args[i] - nargs;
        if (value < 0) {
            params[i] = m->args[s->args[i]];
            continue;
        }
        if (value >= l->nvalues) {
            const int view = value - l->nvalues;
            const struct guest_param *of = &m->args[s->args[l->nargs + view]];
            rc = (l->views[view].texture ? make_texture : make_map)(m, s->launch, view, of, &params[i], err);
            continue;
        }
        params[i].kind = GUEST_VALUE;
        rc = plan_step_value(m->plan, s->launch, value, m->slots, params[i].value, &params[i].bytes, err);
    }
    *out = params;
    return rc;
}

/* Those of a step with the same arguments, unless the launch has values of its own. */
static int take_params(struct launches *m, const struct step *s, const struct launch *l, int nargs, const struct guest_param **out,
                       struct err *err)
{
    struct guest_param *made;
    const int i = s->launch;
    for (int k = 0; k < 2 && !l->nvalues; k++)
        if (m->last[i][k].step && m->last[i][k].step->args == s->args) {
            *out = m->last[i][k].params;
            return 0;
        }
    int rc = make_params(m, s, l, nargs, &made, err);
    m->last[i][1] = m->last[i][0];
    m->last[i][0].step = s;
    *out = m->last[i][0].params = made;
    return rc;
}

/* They live as long as the launches, as the plan's op may not. */
static int take_names(struct launches *m, int i, const struct launch *l, struct err *err)
{
    const char **names = arena_array(m->arena, (size_t)l->nargs + 1, sizeof *names);
    bool good = names;
    for (int k = 0; good && k < l->nargs; k++) {
        names[k] = arena_strdup(m->arena, plan_arg_name(m->plan, i, l->args[k]));
        good = names[k];
    }
    m->names[i] = names;
    m->kernels[i] = arena_strdup(m->arena, l->kernel);
    return good && m->kernels[i] ? 0 : err_nomem(err);
}

static int make_launch(struct launches *m, const struct step *s, struct guest_launch *out, struct err *err)
{
    const struct launch *l = plan_launch(m->plan, s->launch);
    struct geometry *g = &out->geometry;
    int rc = m->kernels[s->launch] ? 0 : take_names(m, s->launch, l, err);
    if (rc)
        return rc;
    *out = (struct guest_launch){
        .kernel = m->kernels[s->launch], .nparams = l->nargs, .names = m->names[s->launch], .views = l->nviews > 0, .of = s->launch
    };
    plan_set_round(m->plan, s->round, s->step, m->slots);
    rc = plan_geometry(m->plan, s->launch, m->slots, g, err);
    for (int d = 0; !rc && d < 3; d++)
        if (g->grid[d] > UINT_MAX || g->block[d] > UINT_MAX || g->shared > UINT_MAX)
            rc = err_set(err, ERR_UNSUPPORTED, "limit: a launch of 2^32 blocks or more along an axis");
    return rc ?: take_params(m, s, l, plan_buffers(m->plan), &out->params, err);
}

int guest_launches(const struct plan *p, const struct val *slots, const struct guest_param *args, struct arena *arena,
                   struct guest_launch **out, int *n, struct guest_texture **textures, struct err *err)
{
    struct launches m = { .plan = p, .args = args, .arena = arena };
    struct step *steps;
    int rc = plan_steps(p, slots, arena, &steps, n, err);
    if (rc)
        return rc;
    memcpy(m.slots, slots, sizeof m.slots);
    *out = arena_array(arena, (size_t)*n + 1, sizeof **out);
    if (!*out)
        return err_nomem(err);
    for (int i = 0; !rc && i < *n; i++)
        rc = make_launch(&m, &steps[i], &(*out)[i], err);
    if (!rc && *n) /* there is none of ours before it */
        (*out)->geometry.dependent = false;
    if (textures)
        *textures = m.all_textures;
    return rc;
}
