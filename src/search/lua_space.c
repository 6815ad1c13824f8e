/* What a strategy sees of the space, and its random numbers. */
#include <lauxlib.h>
#include <string.h>

#include "base/util.h"
#include "lua/sandbox.h"
#include "search/child.h"

/* Every function here has its C object as the first upvalue. */
static const struct space *the_space(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

static int space_count_method(lua_State *L)
{
    lua_pushinteger(L, the_space(L)->count);
    return 1;
}

static int space_config_method(lua_State *L)
{
    const struct space *s = the_space(L);
    lua_Integer i = luaL_checkinteger(L, 2);
    luaL_argcheck(L, i >= 0 && i < s->count, 2, "no configuration has this index");
    struct config c;
    space_at(s, i, &c);
    const struct variant *v = &s->op->variants[c.variant];
    lua_createtable(L, 0, v->nparams + 1);
    lua_pushstring(L, v->name);
    lua_setfield(L, -2, "variant");
    for (int p = 0; p < v->nparams; p++) {
        sandbox_push(L, v->params[p].values[c.at[p]]);
        lua_setfield(L, -2, v->params[p].name);
    }
    return 1;
}

/* Reads the table at 2; false if it is no point of the cartesian product. */
static bool to_config(lua_State *L, const struct op *op, struct config *c)
{
    *c = (struct config){ 0 };
    lua_getfield(L, 2, "variant");
    const char *name = lua_tostring(L, -1);
    c->variant = name ? op_variant(op, name) : -1;
    if (c->variant < 0)
        return false;
    const struct variant *v = &op->variants[c->variant];
    for (int p = 0; p < v->nparams; p++) {
        lua_getfield(L, 2, v->params[p].name);
        int at = param_value(&v->params[p], sandbox_val(L, -1));
        lua_pop(L, 1);
        if (at < 0)
            return false;
        c->at[p] = (uint16_t)at;
    }
    return true;
}

static int space_find_method(lua_State *L)
{
    const struct space *s = the_space(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    struct config c;
    int64_t i = to_config(L, s->op, &c) ? space_find(s, &c) : -1;
    if (i >= 0)
        lua_pushinteger(L, i);
    else
        lua_pushnil(L);
    return 1;
}

static int space_variants_method(lua_State *L)
{
    const struct space *s = the_space(L);
    const struct op *op = s->op;
    int64_t first = 0;
    lua_createtable(L, op->nvariants, 0);
    for (int v = 0; v < op->nvariants; v++) {
        int64_t count = space_variant_count(s, v);
        lua_createtable(L, 0, 3);
        lua_pushstring(L, op->variants[v].name);
        lua_setfield(L, -2, "name");
        lua_pushinteger(L, first);
        lua_setfield(L, -2, "first");
        lua_pushinteger(L, count);
        lua_setfield(L, -2, "count");
        lua_rawseti(L, -2, v + 1);
        first += count;
    }
    return 1;
}

void lua_push_space(lua_State *L, const struct space *space)
{
    static const luaL_Reg methods[] = {
        { "count", space_count_method },
        { "config", space_config_method },
        { "find", space_find_method },
        { "variants", space_variants_method },
        { NULL, NULL },
    };
    luaL_newlibtable(L, methods);
    lua_pushlightuserdata(L, (void *)(uintptr_t)space); /* Lua knows no const */
    luaL_setfuncs(L, methods, 1);
}

/* random(n): uniform, by leaving out the tail of the 64-bit numbers that no multiple of n covers. */
static int random_function(lua_State *L)
{
    lua_Integer n = luaL_checkinteger(L, 1);
    luaL_argcheck(L, n > 0, 1, "random(n) gives 0 to n - 1: n has to be positive");
    uint64_t seed = (uint64_t)lua_tointeger(L, lua_upvalueindex(1)), place = (uint64_t)lua_tointeger(L, lua_upvalueindex(2));
    uint64_t most = UINT64_MAX - UINT64_MAX % (uint64_t)n, r;
    do
        r = rand_at(seed, place++);
    while (r >= most);
    lua_pushinteger(L, (lua_Integer)place);
    lua_replace(L, lua_upvalueindex(2));
    lua_pushinteger(L, (lua_Integer)(r % (uint64_t)n));
    return 1;
}

void lua_set_random(lua_State *L, uint64_t seed)
{
    lua_pushinteger(L, (lua_Integer)seed);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, random_function, 2);
    lua_setglobal(L, "random");
}
