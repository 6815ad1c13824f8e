#include "op/host.h"

#include <stdio.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "base/mem.h"

enum { STRIDE = 10000 }; /* instructions between two calls of the hook */

struct host {
    lua_State *L;
    size_t used;
    int64_t left; /* instructions */
    struct host_limits limits;
};

static void *limited_alloc(void *ud, void *p, size_t old, size_t size)
{
    struct host *h = ud;
    size_t had = p ? old : 0; /* without p, `old` is a type */
    if (size == 0) {
        mem_free(p);
        h->used -= had;
        return NULL;
    }
    if (size > had && size - had > h->limits.memory - h->used)
        return NULL;
    void *q = mem_resize(p, size, 1);
    if (q)
        h->used += size - had;
    else if (size <= had) /* Lua takes it that shrinking cannot fail */
        return p;
    return q;
}

static struct host *host_of(lua_State *L)
{
    void *h;
    lua_getallocf(L, &h);
    return h;
}

/* Never disarmed, so a script that catches the error in a loop meets it again. */
static void count_hook(lua_State *L, lua_Debug *ar)
{
    (void)ar;
    struct host *h = host_of(L);
    if (h->left > 0)
        h->left -= STRIDE;
    if (h->left > 0)
        return;
    luaL_where(L, 0); /* inside a hook that is the script's own line */
    lua_pushfstring(L, "ran for more than %d million instructions", (int)(h->limits.instructions / 1000000));
    lua_concat(L, 2);
    lua_error(L);
}

/* What each removed name could do: reach files, run binary chunks, escape or delay the limits, print into the caller's output. */
static void open_libraries(lua_State *L)
{
    static const luaL_Reg libraries[] = {
        { LUA_GNAME, luaopen_base },       { LUA_STRLIBNAME, luaopen_string }, { LUA_TABLIBNAME, luaopen_table },
        { LUA_MATHLIBNAME, luaopen_math }, { LUA_UTF8LIBNAME, luaopen_utf8 },
    };
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        luaL_requiref(L, libraries[i].name, libraries[i].func, 1);
        lua_pop(L, 1);
    }
    static const char *const removed[] = { "dofile",       "loadfile",     "load", "collectgarbage", "print", "xpcall",
                                           "setmetatable", "getmetatable", "warn" };
    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++) {
        lua_pushnil(L);
        lua_setglobal(L, removed[i]);
    }
    lua_getglobal(L, LUA_STRLIBNAME);
    lua_pushnil(L);
    lua_setfield(L, -2, "dump");
    lua_getglobal(L, LUA_MATHLIBNAME); /* a script gives the same op each time */
    lua_pushnil(L);
    lua_setfield(L, -2, "random");
    lua_pushnil(L);
    lua_setfield(L, -2, "randomseed");
    lua_settop(L, 0);
}

static int open_protected(lua_State *L)
{
    open_libraries(L);
    return 0;
}

/* Whether Lua's message is about what stands in every book on Lua, but not here. */
static bool names_absent(const char *text)
{
    static const char *const absent[] = { "io",      "os",           "debug",        "package",        "coroutine",
                                          "require", "load",         "loadfile",     "dofile",         "print",
                                          "xpcall",  "setmetatable", "getmetatable", "collectgarbage", "warn" };
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        char phrase[48];
        snprintf(phrase, sizeof phrase, "a nil value (global '%s')", absent[i]);
        if (strstr(text, phrase))
            return true;
    }
    return false;
}

/* Takes the error value off the stack into err. */
static int caught(lua_State *L, int status, struct err *err)
{
    const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL; /* no conversion: it could fail */
    int rc;
    if (status == LUA_ERRMEM)
        rc = err_set(err, ERR_NOMEM, "the script needs more than its %zu MB of memory", host_of(L)->limits.memory >> 20);
    else if (!text || !*text)
        rc = err_set(err, ERR_INVALID, "error() was called without a text");
    else
        rc = err_set(err, ERR_INVALID, "%s%s", text, names_absent(text) ? ": it does not exist for scripts and templates" : "");
    lua_pop(L, 1);
    return rc;
}

int host_open(const struct host_limits *limits, struct host **out, struct err *err)
{
    struct host *h = mem_zalloc(sizeof *h);
    if (!h)
        return err_nomem(err);
    h->limits = *limits;
    h->left = limits->instructions;
    h->L = lua_newstate(limited_alloc, h);
    if (!h->L) {
        mem_free(h);
        return err_nomem(err);
    }
    lua_pushcfunction(h->L, open_protected); /* a light function: needs no memory */
    int status = lua_pcall(h->L, 0, 0, 0);
    if (status != LUA_OK) {
        int rc = caught(h->L, status, err);
        host_close(h);
        return rc;
    }
    lua_sethook(h->L, count_hook, LUA_MASKCOUNT, STRIDE);
    *out = h;
    return 0;
}

void host_close(struct host *h)
{
    if (!h)
        return;
    lua_close(h->L);
    mem_free(h);
}

lua_State *host_lua(struct host *h)
{
    return h->L;
}

int host_run(struct host *h, const char *name, const char *text, size_t bytes, int results, struct err *err)
{
    char chunk[LUA_IDSIZE + 1];
    snprintf(chunk, sizeof chunk, "=%s", name);
    if (bytes && *text == LUA_SIGNATURE[0])
        return err_set(err, ERR_INVALID, "%s: compiled Lua: a script is wanted as text", name);
    int status = luaL_loadbufferx(h->L, text, bytes, chunk, "t");
    if (status == LUA_OK)
        status = lua_pcall(h->L, 0, results, 0);
    return status == LUA_OK ? 0 : caught(h->L, status, err);
}

struct protected_call {
    int (*f)(lua_State *L, void *arg);
    void *arg;
    int rc;
};

static int call_protected(lua_State *L)
{
    struct protected_call *call = lua_touserdata(L, 1);
    lua_remove(L, 1);
    call->rc = call->f(L, call->arg);
    return 0;
}

int host_protect(struct host *h, int values, int (*f)(lua_State *L, void *arg), void *arg, struct err *err)
{
    struct protected_call call = { .f = f, .arg = arg };
    lua_pushcfunction(h->L, call_protected);
    lua_pushlightuserdata(h->L, &call);
    lua_rotate(h->L, -(values + 2), 2); /* the values come last */
    int status = lua_pcall(h->L, values + 1, 0, 0);
    return status == LUA_OK ? call.rc : caught(h->L, status, err);
}

void host_push(lua_State *L, struct val v)
{
    switch (v.type) {
    case VAL_NIL:
        lua_pushnil(L);
        break;
    case VAL_BOOL:
        lua_pushboolean(L, v.b);
        break;
    case VAL_INT:
        lua_pushinteger(L, v.i);
        break;
    case VAL_FLOAT:
        lua_pushnumber(L, v.f);
        break;
    case VAL_STR:
        lua_pushstring(L, v.s);
        break;
    }
}
