#include "replay/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct recording *build_new(const char *title)
{
    struct recording *b = mem_zalloc(sizeof *b);
    if (!b)
        return NULL;
    b->op = op_new();
    b->title = mem_strdup(title);
    if (b->op)
        b->op->variants = arena_array(b->op->arena, MAX_VARIANTS, sizeof *b->op->variants);
    if (b->op && b->title && b->op->variants) {
        b->op->name = "recorded";
        return b;
    }
    build_free(b);
    return NULL;
}

void build_free(struct recording *b)
{
    if (!b)
        return;
    op_free(b->op);
    mem_free(b->title);
    mem_free(b->recorded);
    mem_free(b->values);
    mem_free(b);
}

static int bad_name(const char *what, const char *name, struct err *err)
{
    int rc = err_set(err, ERR_INVALID, "'%.80s' is no name of a %s: a text of 1 to %d bytes%s", name, what, MAX_NAME,
                     strcmp(name, "variant") ? "" : ", but not this one");
    if (err)
        err_line(err->msg);
    return rc;
}

int build_variant(struct recording *b, const char *name, int *out, bool *made, struct err *err)
{
    *out = op_variant(b->op, name);
    *made = *out < 0;
    if (*out >= 0)
        return 0;
    if (!*name || !text_ok(name, MAX_NAME, false))
        return bad_name("variant", name, err);
    if (b->op->nvariants == MAX_VARIANTS)
        return err_set(err, ERR_INVALID, "more than %d variants", MAX_VARIANTS);
    struct variant *v = &b->op->variants[b->op->nvariants];
    v->name = arena_strdup(b->op->arena, name);
    v->params = arena_array(b->op->arena, MAX_PARAMS, sizeof *v->params);
    if (!v->name || !v->params)
        return err_nomem(err);
    *out = b->op->nvariants++;
    return 0;
}

int build_param(struct recording *b, int variant, const char *name, struct err *err)
{
    struct variant *v = &b->op->variants[variant];
    if (!*name || !text_ok(name, MAX_NAME, false) || !strcmp(name, "variant"))
        return bad_name("parameter", name, err);
    for (int p = 0; p < v->nparams; p++)
        if (!strcmp(v->params[p].name, name))
            return err_set(err, ERR_INVALID, "the parameter %s is named twice", name);
    if (v->nparams == MAX_PARAMS)
        return err_set(err, ERR_INVALID, "more than %d parameters", MAX_PARAMS);
    v->params[v->nparams].name = arena_strdup(b->op->arena, name);
    return v->params[v->nparams++].name ? 0 : err_nomem(err);
}

int build_add(struct recording *b, int variant, const struct recorded_trial *t, struct err *err)
{
    if (b->nrecorded == MAX_RECORDED)
        return err_set(err, ERR_INVALID, "more than %d configurations", MAX_RECORDED);
    if (!mem_grow((void **)&b->recorded, b->nrecorded, sizeof *b->recorded))
        return err_nomem(err);
    b->recorded[b->nrecorded++] = (struct recorded){ variant, b->nvalues, *t };
    b->costs = b->costs || t->seconds > 0;
    return 0;
}

int build_value(struct recording *b, struct val v, struct err *err)
{
    if (v.type == VAL_STR && !(v.s = arena_strdup(b->op->arena, v.s)))
        return err_nomem(err);
    if (b->nvalues > INT32_MAX - 1 || !mem_grow((void **)&b->values, (int)b->nvalues, sizeof *b->values))
        return err_nomem(err);
    b->values[b->nvalues++] = v;
    return 0;
}

/* Numbers by what they are worth, before texts. */
static int compare_values(const void *a, const void *b)
{
    const struct val *x = a, *y = b;
    if (x->type == VAL_STR || y->type == VAL_STR)
        return x->type == y->type ? strcmp(x->s, y->s) : x->type == VAL_STR ? 1 : -1;
    if ((x->type == VAL_BOOL) != (y->type == VAL_BOOL))
        return x->type == VAL_BOOL ? -1 : 1;
    if (x->type == VAL_INT && y->type == VAL_INT)
        return (x->i > y->i) - (x->i < y->i);
    double f = x->type == VAL_BOOL ? x->b : x->type == VAL_INT ? (double)x->i : x->f;
    double g = y->type == VAL_BOOL ? y->b : y->type == VAL_INT ? (double)y->i : y->f;
    return (f > g) - (f < g);
}

/* A parameter's values are those that were recorded, in order. */
static int list_values(struct recording *b, int variant, int param, struct val *room, struct err *err)
{
    struct param *p = &b->op->variants[variant].params[param];
    size_t n = 0, kept = 0;
    for (int i = 0; i < b->nrecorded; i++)
        if (b->recorded[i].variant == variant)
            room[n++] = b->values[b->recorded[i].first + (size_t)param];
    qsort(room, n, sizeof *room, compare_values);
    for (size_t i = 0; i < n; i++)
        if (!kept || compare_values(&room[kept - 1], &room[i]))
            room[kept++] = room[i];
    if (kept > MAX_VALUES)
        return err_set(err, ERR_INVALID, "the parameter %s has more than %d values", p->name, MAX_VALUES);
    p->values = arena_array(b->op->arena, kept, sizeof *p->values);
    if (!p->values)
        return err_nomem(err);
    memcpy(p->values, room, kept * sizeof *room);
    p->n = (int)kept;
    return 0;
}

static void find_config(const struct recording *b, const struct recorded *r, struct config *c)
{
    const struct variant *v = &b->op->variants[r->variant];
    *c = (struct config){ .variant = r->variant };
    for (int p = 0; p < v->nparams; p++) {
        const struct param *param = &v->params[p];
        const struct val *at =
            bsearch(&b->values[r->first + (size_t)p], param->values, (size_t)param->n, sizeof *at, compare_values);
        c->at[p] = (uint16_t)(at - param->values);
    }
}

static int fill(struct recording *b, struct recorded_space *t, struct config *configs, struct err *err)
{
    for (int i = 0; i < b->nrecorded; i++)
        find_config(b, &b->recorded[i], &configs[i]);
    int rc = space_listed(t->op, configs, b->nrecorded, &t->space, err);
    if (rc)
        return rc;
    t->trials = mem_array((size_t)t->space->count, sizeof *t->trials);
    if (!t->trials)
        return err_nomem(err);
    for (int i = 0; i < b->nrecorded; i++) {
        struct recorded_trial *to = &t->trials[space_find(t->space, &configs[i])];
        *to = b->recorded[i].trial;
        if (!t->costs)
            to->seconds = 1;
    }
    return 0;
}

static void table_free(struct recorded_space *t)
{
    if (!t)
        return;
    space_free(t->space);
    op_free(t->op);
    mem_free(t->title);
    mem_free(t->trials);
    mem_free(t);
}

int build_end(struct recording *b, struct recorded_space **out, struct err *err)
{
    struct recorded_space *t = mem_zalloc(sizeof *t);
    struct config *configs = mem_array((size_t)b->nrecorded, sizeof *configs);
    struct val *room = mem_array((size_t)b->nrecorded, sizeof *room);
    int rc = t && configs && room ? 0 : err_nomem(err);
    for (int v = 0; !rc && v < b->op->nvariants; v++)
        for (int p = 0; !rc && p < b->op->variants[v].nparams; p++)
            rc = list_values(b, v, p, room, err);
    if (!rc) {
        t->title = b->title;
        t->op = b->op;
        t->origin = b->origin;
        t->costs = b->costs;
        b->title = NULL;
        b->op = NULL;
        struct recording of = *b;
        of.op = t->op;
        rc = fill(&of, t, configs, err);
    }
    mem_free(room);
    mem_free(configs);
    if (rc)
        table_free(t);
    else
        *out = t;
    return rc;
}

void tables_free(struct tables *t)
{
    for (int i = 0; i < t->n; i++)
        table_free(t->at[i]);
    mem_free(t->at);
    *t = (struct tables){ 0 };
}
