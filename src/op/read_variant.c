/* The parts of a variant: parameters, workspaces, launches, needs, requires; and the defaults, which name a variant's values. */
#include <stdio.h>
#include <string.h>

#include "device/backend.h"
#include "lua/sandbox.h"
#include "op/read.h"

enum { MAX_WHERE = 256, MAX_NEEDS = 64 };

/* The value at the top of the stack. Its text is Lua's. */
static struct val param_val(struct reader *r)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    struct val v = sandbox_val(r->L, -1);
    if (v.type == VAL_NIL)
        fail(r, "must be a number, a boolean or a word, not %s", lua_typename(r->L, lua_type(r->L, -1)));
    size_t n = v.type == VAL_STR ? lua_rawlen(r->L, -1) : 1;
    if (n == 0 || n > MAX_NAME || (v.type == VAL_STR && strspn(v.s, good) != n))
        fail(r, "'%.80s' must be a word of letters, digits and _, at most %d", v.s, MAX_NAME);
    return v;
}

/* { "TILE", 32, 8, 16 }. op_check sees to it that the values are finite, of one type, and differ. */
static void read_param(struct reader *r, int t, void *out)
{
    struct param *p = out;
    p->n = list_length(r, t, 2, MAX_VALUES + 1) - 1;
    p->name = entry_text(r, t, 1, false);
    if (!name_ok(p->name))
        fail(r, "'%.80s' is no name: a letter or _, then letters, digits, _, at most %d", p->name, MAX_NAME);
    p->values = make_array(r, p->n, sizeof *p->values);
    for (int i = 0; i < p->n; i++) {
        size_t mark = enter(r, "%s: value %d", p->name, i + 1);
        lua_rawgeti(r->L, t, i + 2);
        p->values[i] = param_val(r);
        if (p->values[i].type == VAL_STR)
            p->values[i].s = keep_text(r, p->values[i].s, strlen(p->values[i].s));
        lua_pop(r->L, 1);
        leave(r, mark);
    }
}

static void read_where(struct reader *r, int t, struct variant *v)
{
    int list = field_table(r, t, "where", false);
    if (!list)
        return;
    size_t mark = enter(r, "where");
    v->nwhere = list_length(r, list, 0, MAX_WHERE);
    v->where = make_array(r, v->nwhere, sizeof *v->where);
    for (int i = 0; i < v->nwhere; i++)
        v->where[i].text = entry_text(r, list, i + 1, false);
    leave(r, mark);
}

static void read_workspace(struct reader *r, int t, void *out)
{
    struct workspace *w = out;
    known_fields(r, t, "name type count clear");
    w->name = field_name(r, t, "name");
    w->type = read_element(r, t);
    w->count = field_expr(r, t, "count", true);
    w->clear = field_bool(r, t, "clear");
}

static int arg_index(const struct reader *r, const char *name)
{
    const struct variant *v = r->variant;
    for (int i = 0; i < r->op->nargs; i++)
        if (strcmp(r->op->args[i].name, name) == 0)
            return i;
    for (int i = 0; v && i < v->nworkspaces; i++)
        if (strcmp(v->workspaces[i].name, name) == 0)
            return r->op->nargs + i;
    return -1;
}

/* A list of names of arguments, and of the variant's workspaces, as indices. If it is absent: null. */
static int *read_arg_names(struct reader *r, int t, const char *key, int *n)
{
    int list = field_table(r, t, key, false);
    if (!list)
        return NULL;
    size_t mark = enter(r, "%s", key);
    *n = list_length(r, list, 0, MAX_ARGS);
    int *out = make_array(r, *n, sizeof *out);
    for (int i = 0; i < *n; i++) {
        const char *name = entry_text(r, list, i + 1, false);
        out[i] = arg_index(r, name);
        if (out[i] < 0)
            fail(r, "there is no argument%s '%.80s'", r->variant && r->variant->nworkspaces ? " and no workspace" : "", name);
    }
    leave(r, mark);
    return out;
}

/* One expression, or a list of up to three. */
static void read_extents(struct reader *r, int t, const char *key, const char *out[3])
{
    lua_pushstring(r->L, key);
    if (lua_rawget(r->L, t) != LUA_TTABLE) {
        out[0] = field_expr(r, t, key, false);
        return;
    }
    int list = lua_gettop(r->L);
    size_t mark = enter(r, "%s", key);
    int n = list_length(r, list, 1, 3);
    for (int i = 0; i < n; i++)
        out[i] = entry_text(r, list, i + 1, true);
    leave(r, mark);
}

void read_launch(struct reader *r, int t, void *out)
{
    struct launch *l = out;
    known_fields(r, t, "kernel grid block shared args");
    l->kernel = field_name(r, t, "kernel");
    read_extents(r, t, "grid", l->grid);
    read_extents(r, t, "block", l->block);
    l->shared = field_expr(r, t, "shared", false);
    l->args = read_arg_names(r, t, "args", &l->nargs);
    if (l->args)
        return;
    l->nargs = r->op->nargs + (r->variant ? r->variant->nworkspaces : 0);
    l->args = make_array(r, l->nargs, sizeof *l->args);
    for (int i = 0; i < l->nargs; i++)
        l->args[i] = i;
}

/* A list of launches, or the only one. */
static void read_launches(struct reader *r, int t, struct variant *v)
{
    static const struct list launches = { "launch", NULL, 1, MAX_LAUNCHES, sizeof(struct launch), read_launch };
    int only = field_table(r, t, "launch", true);
    lua_pushstring(r->L, "kernel");
    if (lua_rawget(r->L, only) == LUA_TNIL) {
        v->launches = field_list(r, t, &launches, &v->nlaunches);
        return;
    }
    size_t mark = enter(r, "launch");
    v->nlaunches = 1;
    v->launches = make_array(r, 1, sizeof *v->launches);
    read_launch(r, only, v->launches);
    leave(r, mark);
}

static void read_need(struct reader *r, int t, void *out)
{
    struct need *need = out;
    known_fields(r, t, "kind arg bytes");
    need->kind = (enum need_kind)field_word(r, t, "kind", true, "aligned noalias"); /* in the order of enum need_kind */
    const char *name = field_text(r, t, "arg", true);
    need->arg = arg_index(r, name);
    if (need->arg < 0 || need->arg >= r->op->nargs || r->op->args[need->arg].kind == ARG_VALUE)
        fail(r, "arg: there is no buffer '%.80s'", name);
    if (need->kind == NEED_ALIGN)
        need->bytes = field_expr(r, t, "bytes", true);
    else
        known_fields(r, t, "kind arg");
}

static void read_requires(struct reader *r, int t, struct requires *q)
{
    const struct backend *b = NULL;
    char names[128] = ""; /* of all backends */
    size_t n = 0;
    int requires = field_table(r, t, "requires", false);
    if (!requires)
        return;
    size_t mark = enter(r, "requires");
    known_fields(r, requires, "backend cc arch_specific grid_order grid_progress");
    for (int i = 0; (b = backend_real(i)); i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? " " : "", b->name);
    int backend = field_word(r, requires, "backend", false, names);
    if (backend >= 0)
        b = backend_real(backend);
    q->backend = b ? b->name : NULL;
    int64_t cc = field_integer(r, requires, "cc");
    if (cc < 0 || cc > 9999)
        fail(r, "cc: is the compute capability times 10, 90 for 9.0");
    if (cc && b && !b->sample.cc)
        fail(r, "cc: %s has no compute capability", b->name);
    q->cc = (int)cc;
    q->arch_specific = field_bool(r, requires, "arch_specific");
    q->grid_order = field_bool(r, requires, "grid_order");
    q->grid_progress = field_bool(r, requires, "grid_progress");
    leave(r, mark);
}

void read_variant(struct reader *r, int t, void *out)
{
    static const struct list params = { "params", NULL, 0, MAX_PARAMS, sizeof(struct param), read_param },
                             needs = { "needs", NULL, 0, MAX_NEEDS, sizeof(struct need), read_need };
    /* a launch may take all arguments and all workspaces */
    const struct list workspaces = { "workspaces", NULL, 0, MAX_ARGS - r->op->nargs, sizeof(struct workspace), read_workspace };
    struct variant *v = out;
    v->name = field_name(r, t, "name");
    leave(r, 0);
    enter(r, "variant %s", v->name);
    known_fields(r, t, "name template params where launch workspaces clear needs requires");
    read_template(r, t, &v->template_name, &v->template_text);
    v->params = field_list(r, t, &params, &v->nparams);
    read_where(r, t, v);
    v->clear = read_arg_names(r, t, "clear", &v->nclear);
    for (int i = 0; i < v->nclear; i++)
        if (r->op->args[v->clear[i]].kind != ARG_OUTPUT)
            fail(r, "clear: '%s' is not an output", r->op->args[v->clear[i]].name);
    v->workspaces = field_list(r, t, &workspaces, &v->nworkspaces);
    r->variant = v;
    read_launches(r, t, v);
    r->variant = NULL;
    v->needs = field_list(r, t, &needs, &v->nneeds);
    read_requires(r, t, &v->requires);
}

void read_default(struct reader *r, int t, void *out)
{
    struct default_config *d = out;
    const char *name = field_name(r, t, "variant");
    d->variant = op_variant(r->op, name);
    if (d->variant < 0)
        fail(r, "there is no variant '%s'", name);
    const struct variant *v = &r->op->variants[d->variant];
    char known[MAX_PARAMS * (MAX_NAME + 1) + sizeof "variant"] = "variant";
    for (int i = 0; i < v->nparams; i++)
        strcat(strcat(known, " "), v->params[i].name);
    known_fields(r, t, known);
    d->values = make_array(r, v->nparams, sizeof *d->values);
    for (int i = 0; i < v->nparams; i++) {
        const struct param *p = &v->params[i];
        int at = 0;
        lua_pushstring(r->L, p->name);
        if (lua_rawget(r->L, t) != LUA_TNIL) {
            size_t mark = enter(r, "%s", p->name);
            at = param_value(p, param_val(r));
            if (at < 0)
                fail(r, "this is none of the parameter's values");
            leave(r, mark);
        }
        d->values[i] = p->values[at];
        lua_pop(r->L, 1);
    }
}
