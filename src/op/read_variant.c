/* The parts of a variant: parameters, workspaces, needs, requires; and the defaults, which name a variant's values. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "device/backend.h"
#include "op/read.h"

enum { MAX_WHERE = 256, MAX_NEEDS = 64 };

/* The value at the top of the stack, which stays there. */
static int read_param_value(struct reader *r, struct val *out)
{
    lua_State *L = r->L;
    switch (lua_type(L, -1)) {
    case LUA_TBOOLEAN:
        *out = val_bool(lua_toboolean(L, -1));
        return 0;
    case LUA_TNUMBER:
        *out = lua_isinteger(L, -1) ? val_int(lua_tointeger(L, -1)) : val_float(lua_tonumber(L, -1));
        return out->type == VAL_INT || isfinite(out->f) ? 0 : reader_fail(r, "must be a finite number");
    case LUA_TSTRING: {
        size_t n;
        const char *s = lua_tolstring(L, -1, &n);
        static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
        if (n == 0 || n > MAX_NAME || strspn(s, good) != n)
            return reader_fail(r, "'%.80s' must be a word of letters, digits and _, at most %d", s, MAX_NAME);
        *out = val_str(arena_strdup(r->arena, s));
        return out->s ? 0 : err_nomem(r->err);
    }
    default:
        return reader_fail(r, "must be a number, a boolean or a word, not %s", lua_typename(L, lua_type(L, -1)));
    }
}

/* { "TILE", 32, 8, 16 }: the entry at index t. That the values are of one type and differ is op_check's. */
static int read_param(struct reader *r, int t, struct param *p)
{
    int n = 0, rc;
    if ((rc = table_length(r, t, 2, MAX_VALUES + 1, &n)) || (rc = table_text_at(r, t, 1, &p->name)))
        return rc;
    if (!name_ok(p->name))
        return reader_fail(r, "'%.80s' is no name: a letter or _, then letters, digits, _, at most %d", p->name, MAX_NAME);
    p->n = n - 1;
    if ((rc = reader_array(r, p->n, sizeof *p->values, &p->values)))
        return rc;
    for (int i = 0; i < p->n; i++) {
        size_t mark = reader_enter(r, "%s: value %d", p->name, i + 1);
        lua_rawgeti(r->L, t, i + 2);
        if ((rc = read_param_value(r, &p->values[i])))
            return rc;
        lua_pop(r->L, 1);
        reader_leave(r, mark);
    }
    return 0;
}

static int read_params(struct op_reader *o, int t, struct variant *v)
{
    struct reader *r = o->r;
    int sub = 0, item = 0, rc = table_sub(r, t, "params", false, &sub);
    if (rc || !sub)
        return rc;
    size_t mark = reader_enter(r, "params");
    if ((rc = table_length(r, sub, 0, MAX_PARAMS, &v->nparams)) ||
        (rc = reader_array(r, v->nparams, sizeof *v->params, &v->params)))
        return rc;
    reader_leave(r, mark);
    for (int i = 0; i < v->nparams; i++) {
        mark = reader_enter(r, "params[%d]", i + 1);
        if ((rc = table_item(r, sub, i + 1, &item)) || (rc = read_param(r, item, &v->params[i])))
            return rc;
        reader_leave(r, mark);
        lua_pop(r->L, 1);
    }
    lua_pop(r->L, 1);
    return 0;
}

static int read_where(struct op_reader *o, int t, struct variant *v)
{
    struct reader *r = o->r;
    int sub = 0, rc = table_sub(r, t, "where", false, &sub);
    if (rc || !sub)
        return rc;
    size_t mark = reader_enter(r, "where");
    if ((rc = table_length(r, sub, 0, MAX_WHERE, &v->nwhere)) || (rc = reader_array(r, v->nwhere, sizeof *v->where, &v->where)))
        return rc;
    for (int i = 0; i < v->nwhere; i++)
        if ((rc = table_text_at(r, sub, i + 1, &v->where[i].text)))
            return rc;
    reader_leave(r, mark);
    lua_pop(r->L, 1);
    return 0;
}

static int read_workspaces(struct op_reader *o, int t, struct variant *v)
{
    struct reader *r = o->r;
    int sub = 0, item = 0, rc = table_sub(r, t, "workspaces", false, &sub);
    if (rc || !sub)
        return rc;
    size_t mark = reader_enter(r, "workspaces");
    int most = MAX_ARGS - o->op->nargs; /* a launch may take all of both */
    if ((rc = table_length(r, sub, 0, most, &v->nworkspaces)) ||
        (rc = reader_array(r, v->nworkspaces, sizeof *v->workspaces, &v->workspaces)))
        return rc;
    reader_leave(r, mark);
    for (int i = 0; i < v->nworkspaces; i++) {
        struct workspace *w = &v->workspaces[i];
        mark = reader_enter(r, "workspaces[%d]", i + 1);
        if ((rc = table_item(r, sub, i + 1, &item)) || (rc = table_keys(r, item, "name type count clear", false)) ||
            (rc = table_name(r, item, "name", &w->name)) || (rc = read_element(o, item, &w->type)) ||
            (rc = table_expr(r, item, "count", true, &w->count)) || (rc = table_bool(r, item, "clear", &w->clear)))
            return rc;
        reader_leave(r, mark);
        lua_pop(r->L, 1);
    }
    lua_pop(r->L, 1);
    return 0;
}

static int read_launches(struct op_reader *o, int t, struct variant *v)
{
    struct reader *r = o->r;
    int sub = 0, item = 0, rc;
    if ((rc = table_sub(r, t, "launch", true, &sub)))
        return rc;
    lua_pushstring(r->L, "kernel");
    bool only = lua_rawget(r->L, sub) != LUA_TNIL;
    lua_pop(r->L, 1);
    size_t mark = reader_enter(r, "launch");
    v->nlaunches = 1;
    if ((!only && (rc = table_length(r, sub, 1, MAX_LAUNCHES, &v->nlaunches))) ||
        (rc = reader_array(r, v->nlaunches, sizeof *v->launches, &v->launches)) ||
        (only && (rc = read_launch(o, sub, v, &v->launches[0]))))
        return rc;
    reader_leave(r, mark);
    for (int i = 0; i < v->nlaunches && !only; i++) {
        mark = reader_enter(r, "launch[%d]", i + 1);
        if ((rc = table_item(r, sub, i + 1, &item)) || (rc = read_launch(o, item, v, &v->launches[i])))
            return rc;
        reader_leave(r, mark);
        lua_pop(r->L, 1);
    }
    lua_pop(r->L, 1);
    return 0;
}

static int read_clear(struct op_reader *o, int t, struct variant *v)
{
    int rc = read_arg_names(o, t, "clear", NULL, &v->nclear, &v->clear);
    if (v->nclear < 0)
        v->nclear = 0;
    for (int i = 0; i < v->nclear && !rc; i++)
        if (o->op->args[v->clear[i]].kind != ARG_OUTPUT)
            rc = reader_fail(o->r, "clear: '%s' is not an output", o->op->args[v->clear[i]].name);
    return rc;
}

static int read_need(struct op_reader *o, int t, struct need *need)
{
    struct reader *r = o->r;
    const char *kind = NULL, *name = NULL;
    int rc;
    if ((rc = table_keys(r, t, "kind arg bytes", false)) || (rc = table_text(r, t, "kind", true, &kind)) ||
        (rc = table_text(r, t, "arg", true, &name)))
        return rc;
    bool align = strcmp(kind, "aligned") == 0;
    if (!align && strcmp(kind, "noalias"))
        return reader_fail(r, "kind: '%.80s' is neither aligned nor noalias", kind);
    need->kind = align ? NEED_ALIGN : NEED_NOALIAS;
    for (need->arg = 0; need->arg < o->op->nargs; need->arg++)
        if (strcmp(o->op->args[need->arg].name, name) == 0)
            break;
    if (need->arg == o->op->nargs || o->op->args[need->arg].kind == ARG_VALUE)
        return reader_fail(r, "arg: there is no buffer '%.80s'", name);
    if (!align)
        return table_keys(r, t, "kind arg", false);
    return table_expr(r, t, "bytes", true, &need->bytes);
}

static int read_needs(struct op_reader *o, int t, struct variant *v)
{
    struct reader *r = o->r;
    int sub = 0, item = 0, rc = table_sub(r, t, "needs", false, &sub);
    if (rc || !sub)
        return rc;
    size_t mark = reader_enter(r, "needs");
    if ((rc = table_length(r, sub, 0, MAX_NEEDS, &v->nneeds)) || (rc = reader_array(r, v->nneeds, sizeof *v->needs, &v->needs)))
        return rc;
    reader_leave(r, mark);
    for (int i = 0; i < v->nneeds; i++) {
        mark = reader_enter(r, "needs[%d]", i + 1);
        if ((rc = table_item(r, sub, i + 1, &item)) || (rc = read_need(o, item, &v->needs[i])))
            return rc;
        reader_leave(r, mark);
        lua_pop(r->L, 1);
    }
    lua_pop(r->L, 1);
    return 0;
}

static int check_backend(struct reader *r, const struct requires *q)
{
    const struct backend *b, *found = NULL;
    char names[128] = "";
    size_t n = 0;
    if (!q->backend)
        return 0;
    for (int i = 0; (b = backend_real(i)); i++) {
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? " nor " : "", b->name);
        found = strcmp(b->name, q->backend) ? found : b;
    }
    if (!found)
        return reader_fail(r, "backend: '%.80s' is neither %s", q->backend, names);
    return q->cc && !found->sample.cc ? reader_fail(r, "cc: %s has no compute capability", found->name) : 0;
}

static int read_requires(struct op_reader *o, int t, struct requires *q)
{
    struct reader *r = o->r;
    int64_t cc = 0;
    int sub = 0, rc = table_sub(r, t, "requires", false, &sub);
    if (rc || !sub)
        return rc;
    size_t mark = reader_enter(r, "requires");
    if ((rc = table_keys(r, sub, "backend cc arch_specific grid_order grid_progress", false)) ||
        (rc = table_text(r, sub, "backend", false, &q->backend)) || (rc = table_int(r, sub, "cc", &cc)) ||
        (rc = table_bool(r, sub, "arch_specific", &q->arch_specific)) || (rc = table_bool(r, sub, "grid_order", &q->grid_order)) ||
        (rc = table_bool(r, sub, "grid_progress", &q->grid_progress)))
        return rc;
    if (cc < 0 || cc > 9999)
        return reader_fail(r, "cc: is the compute capability times 10, 90 for 9.0");
    q->cc = (int)cc;
    rc = check_backend(r, q);
    if (rc)
        return rc;
    reader_leave(r, mark);
    lua_pop(r->L, 1);
    return 0;
}

int read_variant(struct op_reader *o, int t, struct variant *v)
{
    int rc;
    if ((rc = table_keys(o->r, t, "name template params where launch workspaces clear needs requires", false)) ||
        (rc = read_template(o, t, &v->template_name, &v->template_text)) || (rc = read_params(o, t, v)) ||
        (rc = read_where(o, t, v)) || (rc = read_workspaces(o, t, v)) || (rc = read_launches(o, t, v)) ||
        (rc = read_clear(o, t, v)) || (rc = read_needs(o, t, v)) || (rc = read_requires(o, t, &v->requires)))
        return rc;
    return 0;
}

int read_default(struct op_reader *o, int t, struct default_config *d)
{
    struct reader *r = o->r;
    const char *name = NULL;
    int rc;
    if ((rc = table_name(r, t, "variant", &name)))
        return rc;
    if ((d->variant = op_variant(o->op, name)) < 0)
        return reader_fail(r, "there is no variant '%s'", name);
    const struct variant *v = &o->op->variants[d->variant];
    char known[MAX_PARAMS * (MAX_NAME + 1) + sizeof "variant"] = "variant";
    for (int i = 0; i < v->nparams; i++)
        strcat(strcat(known, " "), v->params[i].name);
    if ((rc = table_keys(r, t, known, false)) || (rc = reader_array(r, v->nparams, sizeof *d->values, &d->values)))
        return rc;
    for (int i = 0; i < v->nparams; i++) {
        const struct param *p = &v->params[i];
        d->values[i] = p->values[0];
        lua_pushstring(r->L, p->name);
        if (lua_rawget(r->L, t) != LUA_TNIL) {
            size_t mark = reader_enter(r, "%s", p->name);
            struct val value;
            if ((rc = read_param_value(r, &value)))
                return rc;
            int at = param_value(p, value);
            if (at < 0)
                return reader_fail(r, "this is none of the parameter's values");
            d->values[i] = p->values[at];
            reader_leave(r, mark);
        }
        lua_pop(r->L, 1);
    }
    return 0;
}
