/* Tuned kernels as structs: made from an op, and freed. */
#include "base/mem.h"
#include "store/sql.h"

const char *const need_words[] = { "align", "noalias", NULL };
const char *const val_words[] = { "bool", "int", "float", "string", NULL };

/* A copy on the record's arena; null stays null. *failed where there is no memory. */
static const char *keep(struct tuned *t, const char *s, bool *failed)
{
    const char *copy = s ? arena_strdup(t->arena, s) : NULL;
    *failed = *failed || (s && !copy);
    return copy;
}

static void *room(struct tuned *t, int n, size_t bytes, bool *failed)
{
    void *p = arena_array(t->arena, (size_t)n, bytes);
    *failed = *failed || !p;
    return p;
}

static void copy_params(struct tuned *t, const struct variant *v, const struct config *c, bool *failed)
{
    t->params = room(t, v->nparams, sizeof *t->params, failed);
    for (t->nparams = 0; !*failed && t->nparams < v->nparams; t->nparams++) {
        const struct param *p = &v->params[t->nparams];
        struct tuned_param *to = &t->params[t->nparams];
        to->name = keep(t, p->name, failed);
        to->value = p->values[c->at[t->nparams]];
        if (to->value.type == VAL_STR)
            to->value.s = keep(t, to->value.s, failed);
    }
}

static void copy_launches(struct tuned *t, const struct variant *v, bool *failed)
{
    t->launches = room(t, v->nlaunches, sizeof *t->launches, failed);
    for (t->nlaunches = 0; !*failed && t->nlaunches < v->nlaunches; t->nlaunches++) {
        const struct launch *l = &v->launches[t->nlaunches];
        struct launch *to = &t->launches[t->nlaunches];
        to->kernel = keep(t, l->kernel, failed);
        for (int d = 0; d < 3; d++) {
            to->grid[d] = keep(t, l->grid[d], failed);
            to->block[d] = keep(t, l->block[d], failed);
        }
        to->shared = keep(t, l->shared, failed);
        to->args = room(t, l->nargs, sizeof *to->args, failed);
        for (to->nargs = 0; !*failed && to->nargs < l->nargs; to->nargs++)
            to->args[to->nargs] = l->args[to->nargs];
    }
}

static void copy_conditions(struct tuned *t, const struct variant *v, bool *failed)
{
    t->where = room(t, v->nwhere, sizeof *t->where, failed);
    for (t->nwhere = 0; !*failed && t->nwhere < v->nwhere; t->nwhere++)
        t->where[t->nwhere] = keep(t, v->where[t->nwhere].text, failed);
    t->needs = room(t, v->nneeds, sizeof *t->needs, failed);
    for (t->nneeds = 0; !*failed && t->nneeds < v->nneeds; t->nneeds++) {
        const struct need *n = &v->needs[t->nneeds];
        t->needs[t->nneeds] = (struct need){ n->kind, n->arg, keep(t, n->bytes, failed) };
    }
    t->requires = v->requires;
    t->requires.backend = keep(t, v->requires.backend, failed);
}

static void copy_memory(struct tuned *t, const struct variant *v, bool *failed)
{
    t->workspaces = room(t, v->nworkspaces, sizeof *t->workspaces, failed);
    for (t->nworkspaces = 0; !*failed && t->nworkspaces < v->nworkspaces; t->nworkspaces++) {
        const struct workspace *w = &v->workspaces[t->nworkspaces];
        t->workspaces[t->nworkspaces] =
            (struct workspace){ keep(t, w->name, failed), keep(t, w->type, failed), keep(t, w->count, failed), w->clear };
    }
    t->clear = room(t, v->nclear, sizeof *t->clear, failed);
    for (t->nclear = 0; !*failed && t->nclear < v->nclear; t->nclear++)
        t->clear[t->nclear] = v->clear[t->nclear];
}

int tuned_of(const struct op *op, const struct config *c, struct tuned **out, struct err *err)
{
    const struct variant *v = &op->variants[c->variant];
    struct tuned *t = tuned_new();
    struct buf config = { 0 };
    bool failed = !t;
    if (!failed) {
        config_print(&config, op, c);
        t->variant = keep(t, v->name, &failed);
        t->config = keep(t, buf_text(&config), &failed);
        failed = failed || config.failed;
    }
    if (!failed)
        copy_params(t, v, c, &failed);
    if (!failed)
        copy_launches(t, v, &failed);
    if (!failed)
        copy_conditions(t, v, &failed);
    if (!failed)
        copy_memory(t, v, &failed);
    buf_free(&config);
    if (!failed) {
        *out = t;
        return 0;
    }
    tuned_free(t);
    return err_nomem(err);
}

struct tuned *tuned_new(void)
{
    struct arena *arena = arena_new();
    struct tuned *t = arena ? arena_alloc(arena, sizeof *t) : NULL;
    if (!t) {
        arena_free(arena);
        return NULL;
    }
    t->arena = arena;
    return t;
}

void tuned_free(struct tuned *t)
{
    if (t)
        arena_free(t->arena); /* t lies on it */
}
