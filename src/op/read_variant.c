/* The parts of a variant: parameters, workspaces, needs, requires; and the defaults, which name a variant's values. */
#include <string.h>

#include "device/backend.h"
#include "op/read.h"

/* The text of a word is Lua's. */
static void read_val(struct reader *r, void *out)
{
    struct val v = *(struct val *)out = sandbox_val(r->L, -1);
    if (v.type == VAL_NIL)
        fail(r, "must be a number, a boolean or a word, not %s", lua_typename(r->L, lua_type(r->L, -1)));
    size_t n = v.type == VAL_STR ? lua_rawlen(r->L, -1) : 1;
    if (n == 0 || n > MAX_NAME || (v.type == VAL_STR && strspn(v.s, WORD_LETTERS) != n))
        fail(r, "'%.80s' must be a word of letters, digits and _, at most %d", v.s, MAX_NAME);
}

/* { "TILE", 32, 8, 16 }. op_check sees to it that the values are finite, of one type, and differ. */
static void read_param(struct reader *r, void *out)
{
    struct param *p = out;
    int list = lua_gettop(r->L);
    p->n = list_length(r, 2, MAX_VALUES + 1) - 1;
    p->values = make_array(r, p->n, sizeof *p->values);
    size_t mark = enter(r, "entry 1: ");
    lua_rawgeti(r->L, list, 1);
    read_name(r, &p->name);
    for (int i = 0; i < p->n; i++) {
        leave(r, mark);
        enter(r, "%s: value %d: ", p->name, i + 1);
        lua_rawgeti(r->L, list, i + 2);
        read_val(r, &p->values[i]);
        if (p->values[i].type == VAL_STR)
            read_text(r, &p->values[i].s);
        lua_settop(r->L, list);
    }
}

void read_workspace(struct reader *r, void *out)
{
    struct workspace *w = out;
    read_table(r, "name type count clear", "NEXb", &w->name, &w->type, &w->count, &w->clear);
}

static void read_need(struct reader *r, void *out)
{
    struct need *need = out;
    read_table(r, "kind arg", "WF+", "aligned noalias", &need->kind, read_arg_name, &need->arg);
    if (need->kind == NEED_ALIGN)
        read_table(r, "kind arg bytes", "--X", &need->bytes);
    else
        known_fields(r, "kind arg");
}

static void read_requires(struct reader *r, void *out)
{
    struct requires *q = out;
    const struct backend *b = NULL;
    int backend = -1;
    int64_t cc = 0;
    read_table(r, "backend cc arch_specific grid_order grid_progress", "wibbb", backend_names().text, &backend, &cc,
               &q->arch_specific, &q->grid_order, &q->grid_progress);
    if (backend >= 0)
        b = backend_real(backend);
    if (cc < 0 || cc > 9999)
        fail(r, "cc: is the compute capability times 10, 90 for 9.0");
    if (cc && b && !b->sample.cc)
        fail(r, "cc: %s has no compute capability", b->name);
    q->backend = b ? b->name : NULL;
    q->cc = (int)cc;
}

void read_variant(struct reader *r, void *out)
{
    static const struct list params = { read_param, 0, MAX_PARAMS, sizeof(struct param), "params[%d]: ", false },
                             where = { read_text, 0, MAX_WHERE, sizeof(const char *), "where: entry %d: ", false },
                             cleared = { read_arg_name, 0, MAX_ARGS, sizeof(int), "clear: entry %d: ", false },
                             needs = { read_need, 0, MAX_NEEDS, sizeof(struct need), "needs[%d]: ", false };
    /* a launch may take all arguments and all workspaces */
    const struct list workspaces = {
        read_workspace, 0, MAX_ARGS - r->op->nargs, sizeof(struct workspace), "workspaces[%d]: ", false
    };
    struct variant *v = out;
    read_table(r, "name", "N+", &v->name);
    leave(r, 0);
    enter(r, "variant %s: ", v->name);
    known_fields(r, "name template language options params where clear workspaces launch needs requires");
    read_table(r, "requires", "f+", read_requires, &v->requires);
    read_source(r, v, true);
    r->variant = v;
    read_table(r, "params where clear workspaces launch needs", "llllFl+", &params, &v->params, &v->nparams, &where, &v->where,
               &v->nwhere, &cleared, &v->clear, &v->nclear, &workspaces, &v->workspaces, &v->nworkspaces, read_launches, v, &needs,
               &v->needs, &v->nneeds);
    r->variant = NULL;
}

static void read_when(struct reader *r, void *out)
{
    static const struct list list = { read_text, 1, MAX_WHEN, sizeof(char *), "entry %d: ", true };
    struct op_default *d = out;
    d->nwhen = read_one_or_list(r, &list, d->when);
}

void read_default(struct reader *r, void *out)
{
    struct op_default *d = out;
    struct config *c = &d->config;
    const char *name;
    read_table(r, "variant when", "Nf+", &name, read_when, d);
    c->variant = op_variant(r->op, name);
    if (c->variant < 0)
        fail(r, "there is no variant '%s'", name);
    const struct variant *v = &r->op->variants[c->variant];
    if (v->nwhere + d->nwhen > MAX_WHERE)
        fail(r, "when: with those of the variant there are more than %d constraints", MAX_WHERE);
    char keys[MAX_PARAMS * (MAX_NAME + 1) + sizeof "variant when"] = "variant when";
    for (int i = 0; i < v->nparams; i++)
        strcat(strcat(keys, " "), v->params[i].name);
    known_fields(r, keys);
    for (int i = 0; i < v->nparams; i++) {
        const struct param *p = &v->params[i];
        struct val given = { 0 };
        read_table(r, p->name, "f+", read_val, &given);
        int at = given.type == VAL_NIL ? 0 : param_value(p, given);
        if (at < 0)
            fail(r, "%s: this is none of the parameter's values", p->name);
        c->at[i] = (uint16_t)at;
    }
}
