/* `metrics` and `objective` of an op. */
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "op/read.h"

/* "EXPRESSION", or { "EXPRESSION", minimize = true } */
static void read_metric(struct reader *r, void *out)
{
    lua_State *L = r->L;
    struct metric *m = out;
    if (!lua_istable(L, -1)) {
        read_expr(r, &m->value);
        return;
    }
    if (lua_rawgeti(L, -1, 1) == LUA_TNIL || lua_rawlen(L, -2) != 1)
        fail(r, "must be an expression, or { EXPRESSION, minimize = true }");
    read_expr(r, &m->value);
    lua_pop(L, 1);
    lua_pushnil(L);
    lua_rawseti(L, -2, 1); /* so that only what has a name is left */
    read_table(r, "minimize", "b", &m->minimize);
}

static int metric_order(const void *a, const void *b)
{
    return strcmp(((const struct metric *)a)->name, ((const struct metric *)b)->name);
}

void read_metrics(struct reader *r, void *out)
{
    lua_State *L = r->L;
    struct op *op = out;
    int n = 0, table = lua_gettop(L);
    want_table(r);
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1), n++)
        if (lua_type(L, -2) != LUA_TSTRING)
            fail(r, "must be { NAME = EXPRESSION, ... }");
    if (n > MAX_METRICS)
        fail(r, "has %d; at most %d are possible", n, MAX_METRICS);
    op->metrics = make_array(r, n, sizeof *op->metrics);
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
        struct metric *m = &op->metrics[op->nmetrics];
        lua_pushvalue(L, -2);
        read_name(r, &m->name);
        lua_pop(L, 1);
        size_t mark = enter(r, "%s: ", m->name);
        read_metric(r, m);
        leave(r, mark);
        op->nmetrics++;
    }
    qsort(op->metrics, (size_t)op->nmetrics, sizeof *op->metrics, metric_order); /* Lua has them in no order */
}
