#include "lua/sandbox.h"

#include <stdio.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "base/mem.h"
#include "expr/expr.h"

enum { STRIDE = 10000 }; /* instructions between two calls of the hook */

struct sandbox {
    const struct sandbox_rules *rules;
    const char *path;
    size_t used;  /* bytes */
    int64_t left; /* instructions */
    struct err why;
    void (*f)(lua_State *L, void *arg);
    void *arg;
};

static void *limited_alloc(void *ud, void *p, size_t old, size_t size)
{
    struct sandbox *s = ud;
    size_t had = p ? old : 0; /* without p, `old` is a type */
    if (size == 0) {
        mem_free(p);
        s->used -= had;
        return NULL;
    }
    if (size > had && size - had > s->rules->memory - s->used)
        return NULL;
    void *q = mem_resize(p, size, 1);
    if (q)
        s->used += size - had;
    else if (size <= had) /* Lua relies on it that shrinking cannot fail */
        return p;
    return q;
}

static struct sandbox *sandbox_of(lua_State *L)
{
    void *s;
    lua_getallocf(L, &s);
    return s;
}

/* Never disarmed, so a script that catches the error in a loop meets it again. */
static void count_hook(lua_State *L, lua_Debug *ar)
{
    (void)ar;
    struct sandbox *s = sandbox_of(L);
    if (s->left > 0)
        s->left -= STRIDE;
    if (s->left > 0)
        return;
    luaL_where(L, 0); /* inside a hook that is the script's own line */
    lua_pushfstring(L, "ran for more than %d million instructions", (int)(s->rules->instructions / 1000000));
    lua_concat(L, 2);
    lua_error(L);
}

/* Globals of Lua that do not exist here: they could reach files, run binary chunks, escape or delay the limits, print into the caller's
 * output. A program has those of the second line. */
static const char *const absent[] = { "io",     "os",           "debug",        "package",        "require",
                                      "load",   "loadfile",     "dofile",       "print",          "coroutine",
                                      "xpcall", "setmetatable", "getmetatable", "collectgarbage", "warn" };

static int absent_from(const struct sandbox_rules *rules)
{
    return rules->program ? 9 : sizeof absent / sizeof *absent;
}

/* Whether Lua's message is about what every book on Lua has, but not this state. */
static bool names_absent(const char *text, const struct sandbox_rules *rules)
{
    for (int i = 0; i < absent_from(rules); i++) {
        char phrase[48];
        snprintf(phrase, sizeof phrase, "a nil value (global '%s')", absent[i]);
        if (strstr(text, phrase))
            return true;
    }
    return false;
}

/* Whether it is about an expression that stands outside of a text: grid = ceildiv(n, 256), or where = { 2 * n <= 64 }. */
static bool lacks_quotes(const char *text, const struct sandbox_rules *rules)
{
    static const char call[] = "attempt to call a nil value (global '", arithmetic[] = "attempt to perform arithmetic on a nil value (global '";
    const char *called = strstr(text, call);
    char name[16] = "";
    if (called)
        snprintf(name, sizeof name, "%.*s", (int)strcspn(called + sizeof call - 1, "'"), called + sizeof call - 1);
    return rules->expressions && (expr_function(name) || strstr(text, arithmetic));
}

void script_place(const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    size_t n = strlen(file);
    if (!err)
        return;
    if (!strncmp(err->msg, file, n) && err->msg[n] == ':')
        err_prefix(err, "%.*s", (int)(file - path), path);
    else if (strncmp(err->msg, path, strlen(path)))
        err_prefix(err, "%s: ", path);
}

/* The error value at the top of the stack, as an error. */
static int caught(lua_State *L, int status, struct err *err)
{
    const struct sandbox *s = sandbox_of(L);
    const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL; /* no conversion: it could fail */
    if (status == LUA_ERRMEM)
        return err_set(err, ERR_NOMEM, "the %s needs more than its %zu MB of memory", s->rules->what, s->rules->memory >> 20);
    if (lua_touserdata(L, -1) == s)
        return err_set(err, s->why.code, "%s", s->why.msg);
    if (!text || !*text)
        return err_set(err, ERR_INVALID, "error() was called without a text");
    return err_set(err, ERR_INVALID, "%s%s", text,
                   lacks_quotes(text, s->rules)    ? ": an expression is written as a text: \"ceildiv(n, BLOCK)\""
                   : !names_absent(text, s->rules) ? ""
                   : s->rules->program             ? ": it does not exist for strategies"
                                                   : ": it does not exist for scripts and templates");
}

static int protected(lua_State *L)
{
    static const luaL_Reg libraries[] = {
        { LUA_GNAME, luaopen_base },       { LUA_STRLIBNAME, luaopen_string }, { LUA_TABLIBNAME, luaopen_table },
        { LUA_MATHLIBNAME, luaopen_math }, { LUA_UTF8LIBNAME, luaopen_utf8 },  { LUA_COLIBNAME, luaopen_coroutine },
    };
    struct sandbox *s = sandbox_of(L);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        luaL_requiref(L, libraries[i].name, libraries[i].func, 1);
        lua_pop(L, 1);
    }
    for (int i = 0; i < absent_from(s->rules); i++) {
        lua_pushnil(L);
        lua_setglobal(L, absent[i]);
    }
    if (luaL_dostring(L, "string.dump, math.random, math.randomseed = nil")) /* the same script gives the same each time */
        lua_error(L);
    if (s->rules->instructions)
        lua_sethook(L, count_hook, LUA_MASKCOUNT, STRIDE);
    s->f(L, s->arg);
    return 0;
}

int sandbox_run(const struct sandbox_rules *rules, const char *path, void (*f)(lua_State *L, void *arg), void *arg, struct err *err)
{
    struct sandbox s = { .rules = rules, .path = path, .left = rules->instructions, .f = f, .arg = arg };
    lua_State *L = lua_newstate(limited_alloc, &s);
    if (!L)
        return err_nomem(err);
    lua_pushcfunction(L, protected); /* a light function: needs no memory */
    int status = lua_pcall(L, 0, 0, 0);
    int rc = status == LUA_OK ? 0 : caught(L, status, err);
    if (rc)
        script_place(path, err);
    lua_close(L);
    return rc;
}

void sandbox_text(lua_State *L, const char *name, const char *text, size_t bytes, int results)
{
    const char *path = sandbox_of(L)->path, *slash = strrchr(path, '/');
    if (!name)
        name = slash ? slash + 1 : path;
    if (bytes && *text == LUA_SIGNATURE[0])
        luaL_error(L, "%s: compiled Lua: a script is wanted as text", name);
    lua_pushfstring(L, "@%s", name);
    if (luaL_loadbufferx(L, text, bytes, lua_tostring(L, -1), "t") != LUA_OK)
        lua_error(L);
    lua_remove(L, -2);
    lua_call(L, 0, results);
}

struct err *sandbox_err(lua_State *L)
{
    return &sandbox_of(L)->why;
}

void sandbox_check(lua_State *L, int rc)
{
    if (!rc)
        return;
    lua_pushlightuserdata(L, sandbox_of(L));
    lua_error(L);
}

void sandbox_push(lua_State *L, struct val v)
{
    if (v.type == VAL_BOOL)
        lua_pushboolean(L, v.b);
    else if (v.type == VAL_INT)
        lua_pushinteger(L, v.i);
    else if (v.type == VAL_FLOAT)
        lua_pushnumber(L, v.f);
    else
        lua_pushstring(L, v.type == VAL_STR ? v.s : NULL); /* null is nil */
}

struct val sandbox_val(lua_State *L, int at)
{
    int type = lua_type(L, at);
    if (type == LUA_TBOOLEAN)
        return val_bool(lua_toboolean(L, at));
    if (type == LUA_TSTRING)
        return val_str(lua_tostring(L, at));
    if (lua_isinteger(L, at))
        return val_int(lua_tointeger(L, at));
    return type == LUA_TNUMBER ? val_float(lua_tonumber(L, at)) : (struct val){ .type = VAL_NIL };
}
