/* From a record back to an op that a plan can be made of, so that geometry and constraints are evaluated in one place only. */
#include "base/mem.h"
#include "runtime/runtime.h"

static int rebuild_variant(struct arena *a, const struct tuned *t, struct variant *v)
{
    *v = (struct variant){
        .name = t->variant,
        .template_name = "", /* its source is made already */
        .template_text = "",
        .nparams = t->nparams,
        .params = arena_array(a, (size_t)t->nparams, sizeof *v->params),
        .nwhere = t->nwhere,
        .where = arena_array(a, (size_t)t->nwhere, sizeof *v->where),
        .nlaunches = t->nlaunches,
        .launches = t->launches,
        .nworkspaces = t->nworkspaces,
        .workspaces = t->workspaces,
        .nneeds = t->nneeds,
        .needs = t->needs,
        .nclear = t->nclear,
        .clear = t->clear,
        .requires = t->requires,
    };
    if (!v->params || !v->where)
        return ERR_NOMEM;
    for (int i = 0; i < t->nparams; i++)
        v->params[i] = (struct param){ t->params[i].name, 1, &t->params[i].value };
    for (int i = 0; i < t->nwhere; i++)
        v->where[i].text = t->where[i];
    return 0;
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
    int rc = small->variants ? rebuild_variant(arena, t, small->variants) : ERR_NOMEM;
    if (!rc)
        rc = op_check(small, &why);
    if (!rc) {
        *out = small;
        return 0;
    }
    op_free(small);
    return rc == ERR_NOMEM ? err_nomem(err) : err_set(err, ERR_CORRUPT, "a record is damaged: %s", why.msg);
}
