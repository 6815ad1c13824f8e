/* From a record back to an op that a plan can be made of, so that geometry and constraints are evaluated in one place only. */
#include "base/mem.h"
#include "runtime/runtime.h"

static int rebuild_params(struct arena *a, const struct tuned *t, struct variant *v)
{
    v->nparams = t->nparams;
    v->params = arena_array(a, (size_t)t->nparams, sizeof *v->params);
    for (int i = 0; v->params && i < t->nparams; i++)
        v->params[i] = (struct param){ t->params[i].name, 1, &t->params[i].value };
    return v->params ? 0 : ERR_NOMEM;
}

static int rebuild_launches(struct arena *a, const struct tuned *t, struct variant *v)
{
    v->nlaunches = t->nlaunches;
    v->launches = arena_array(a, (size_t)t->nlaunches, sizeof *v->launches);
    for (int i = 0; v->launches && i < t->nlaunches; i++) {
        const struct tuned_launch *l = &t->launches[i];
        v->launches[i] = (struct launch){
            .kernel = l->kernel,
            .grid = { l->grid[0], l->grid[1], l->grid[2] },
            .block = { l->block[0], l->block[1], l->block[2] },
            .shared = l->shared,
            .nargs = l->nargs,
            .args = l->args,
        };
    }
    return v->launches ? 0 : ERR_NOMEM;
}

static int rebuild_conditions(struct arena *a, const struct tuned *t, struct variant *v)
{
    v->nwhere = t->nwhere;
    v->where = arena_array(a, (size_t)t->nwhere, sizeof *v->where);
    for (int i = 0; v->where && i < t->nwhere; i++)
        v->where[i].text = t->where[i];
    v->nneeds = t->nneeds;
    v->needs = arena_array(a, (size_t)t->nneeds, sizeof *v->needs);
    for (int i = 0; v->needs && i < t->nneeds; i++)
        v->needs[i] = (struct need){ (enum need_kind)t->needs[i].kind, t->needs[i].arg, t->needs[i].bytes };
    v->requires = t->requires;
    return v->where && v->needs ? 0 : ERR_NOMEM;
}

static int rebuild_memory(struct arena *a, const struct tuned *t, struct variant *v)
{
    v->nworkspaces = t->nworkspaces;
    v->workspaces = arena_array(a, (size_t)t->nworkspaces, sizeof *v->workspaces);
    for (int i = 0; v->workspaces && i < t->nworkspaces; i++) {
        const struct tuned_workspace *w = &t->workspaces[i];
        v->workspaces[i] = (struct workspace){ w->name, w->type, w->count, w->clear };
    }
    v->nclear = t->nclear;
    v->clear = t->clear;
    return v->workspaces ? 0 : ERR_NOMEM;
}

int rebuild_op(const struct op *op, const struct tuned *t, struct op **out, struct err *err)
{
    struct err why = { 0 };
    struct op *small = op_new();
    if (!small)
        return err_nomem(err);
    struct arena *arena = small->arena;
    *small = *op; /* its interface */
    small->arena = arena;
    small->nvariants = 1;
    small->variants = arena_alloc(arena, sizeof *small->variants);
    struct variant *v = small->variants;
    int rc = v ? 0 : ERR_NOMEM;
    if (v) {
        v->name = t->variant;
        v->template_name = v->template_text = ""; /* its source is made already */
        if ((rc = rebuild_params(arena, t, v)) || (rc = rebuild_launches(arena, t, v)) || (rc = rebuild_conditions(arena, t, v)) ||
            (rc = rebuild_memory(arena, t, v)))
            err_nomem(&why);
        else
            rc = op_check(small, &why);
    }
    if (!rc) {
        *out = small;
        return 0;
    }
    op_free(small);
    return rc == ERR_NOMEM ? err_nomem(err) : err_set(err, ERR_CORRUPT, "a record is damaged: %s", why.msg);
}
