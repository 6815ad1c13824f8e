#include "search/child.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "model/record.h"

enum { MAX_MEMORY_MB = 1024 }; /* of Lua */
static const size_t MAX_MEMORY = (size_t)MAX_MEMORY_MB << 20;

/* -- the socket: the child may block on it, and ends when it is closed -- */

static void send_or_end(int socket, const struct buf *b)
{
    if (b->failed)
        _exit(1);
    for (size_t sent = 0; sent < b->len;) {
        ssize_t n = send(socket, b->data + sent, b->len - sent, MSG_NOSIGNAL);
        if (n < 0)
            _exit(0);
        sent += (size_t)n;
    }
}

static void receive_or_end(int socket, void *p, size_t n)
{
    for (size_t got = 0; got < n;) {
        ssize_t more = recv(socket, (char *)p + got, n - got, 0);
        if (more <= 0)
            _exit(0);
        got += (size_t)more;
    }
}

static void send_error(int socket, bool memory, const char *text)
{
    struct buf b = { 0 };
    size_t n = strnlen(text, 2000);
    buf_u32(&b, (uint32_t)n + 6);
    buf_u8(&b, WIRE_ERROR);
    buf_u8(&b, memory);
    buf_bytes(&b, text, n);
    send_or_end(socket, &b);
    buf_free(&b);
}

/* -- the strategy. Whatever fails is a Lua error, which ends serve(). Its stack: -- */

enum { AT_STRATEGY = 1, AT_SOCKET, AT_ASK, AT_TELL, AT_SEEN };

static const struct strategy *the_strategy(lua_State *L)
{
    return lua_touserdata(L, AT_STRATEGY);
}

static int the_socket(lua_State *L)
{
    return (int)lua_tointeger(L, AT_SOCKET);
}

/* Strategies may print, to where progress goes: results go to stdout. */
static int print_function(lua_State *L)
{
    for (int i = 1, n = lua_gettop(L); i <= n; i++) {
        fprintf(stderr, "%s%s", luaL_tolstring(L, i, NULL), i < n ? "\t" : "");
        lua_pop(L, 1);
    }
    fputc('\n', stderr);
    return 0;
}

/* No files, no processes, no code but the strategy's own, no chance but random(). */
static void open_libraries(lua_State *L, uint64_t seed)
{
    static const luaL_Reg libraries[] = {
        { LUA_GNAME, luaopen_base },       { LUA_TABLIBNAME, luaopen_table }, { LUA_STRLIBNAME, luaopen_string },
        { LUA_MATHLIBNAME, luaopen_math }, { LUA_UTF8LIBNAME, luaopen_utf8 }, { LUA_COLIBNAME, luaopen_coroutine },
    };
    static const char *const gone[] = { "dofile", "loadfile", "load" };
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        luaL_requiref(L, libraries[i].name, libraries[i].func, 1);
        lua_pop(L, 1);
    }
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
        lua_pushnil(L);
        lua_setglobal(L, gone[i]);
    }
    lua_getglobal(L, "math");
    lua_pushnil(L);
    lua_setfield(L, -2, "random");
    lua_pushnil(L);
    lua_setfield(L, -2, "randomseed");
    lua_pop(L, 1);
    lua_register(L, "print", print_function);
    lua_set_random(L, seed);
}

/* Runs the file, calls the function that it returns, and leaves ask, tell and the set of indices given so far on the stack. */
static void load_strategy(lua_State *L)
{
    const struct strategy *s = the_strategy(L);
    char chunk[1024];
    snprintf(chunk, sizeof chunk, "@%s", s->file);
    if (s->script_len && *s->script == LUA_SIGNATURE[0])
        luaL_error(L, "%s: compiled Lua: a script is wanted as text", s->file);
    if (luaL_loadbufferx(L, s->script, s->script_len, chunk, "t") != LUA_OK)
        lua_error(L);
    lua_call(L, 0, 1);
    if (!lua_isfunction(L, -1))
        luaL_error(L, "%s: has to return a function(space, seed)", s->file);
    lua_push_space(L, s->space);
    lua_pushinteger(L, (lua_Integer)s->seed);
    lua_call(L, 2, 1);
    if (!lua_istable(L, -1))
        luaL_error(L, "%s: its function has to return a table: { ask = ask }, or { ask = ask, tell = tell }", s->file);
    int table = lua_gettop(L);
    if (lua_getfield(L, table, "ask") != LUA_TFUNCTION)
        luaL_error(L, "%s: its table has no function ask(k)", s->file);
    int tell = lua_getfield(L, table, "tell");
    if (tell != LUA_TFUNCTION && tell != LUA_TNIL)
        luaL_error(L, "%s: tell has to be a function", s->file);
    lua_newtable(L);
    lua_remove(L, table);
}

/* The index on top of the stack, checked; and taken off. */
static int64_t checked_index(lua_State *L)
{
    const struct strategy *s = the_strategy(L);
    int whole;
    lua_Integer i = lua_tointegerx(L, -1, &whole);
    if (!whole || lua_type(L, -1) != LUA_TNUMBER || i < 0 || i >= space_count(s->space))
        luaL_error(L, "%s: ask gave %s, which is no index: those are integers from 0 up to space:count() - 1", s->file,
                   luaL_tolstring(L, -1, NULL));
    if (lua_rawgeti(L, AT_SEEN, i) != LUA_TNIL)
        luaL_error(L, "%s: ask gave index %I twice", s->file, (LUAI_UACINT)i);
    lua_pushboolean(L, 1);
    lua_rawseti(L, AT_SEEN, i);
    lua_pop(L, 2);
    return i;
}

static void send_word(lua_State *L, enum message kind)
{
    unsigned char bytes[] = { 1, 0, 0, 0, (unsigned char)kind };
    struct buf b = { 0 };
    buf_put(&b, bytes, sizeof bytes);
    send_or_end(the_socket(L), &b);
    buf_free(&b);
}

static void answer(lua_State *L, lua_Integer k)
{
    const struct strategy *s = the_strategy(L);
    lua_pushvalue(L, AT_ASK);
    lua_pushinteger(L, k);
    lua_call(L, 1, 1);
    if (lua_type(L, -1) == LUA_TSTRING && !strcmp(lua_tostring(L, -1), "done")) {
        send_word(L, WIRE_DONE);
        lua_pop(L, 1);
        return;
    }
    if (!lua_istable(L, -1))
        luaL_error(L, "%s: ask has to return a table of indices, or \"done\", not %s", s->file, luaL_typename(L, -1));
    lua_Unsigned n = lua_rawlen(L, -1);
    if (n > (lua_Unsigned)k)
        luaL_error(L, "%s: ask(%I) gave %I indices", s->file, (LUAI_UACINT)k, (LUAI_UACINT)n);
    /* In Lua's memory, so that an error frees it. */
    int64_t *index = lua_newuserdatauv(L, (size_t)n * sizeof *index + 1, 0);
    for (lua_Unsigned i = 0; i < n; i++) {
        lua_rawgeti(L, -2, (lua_Integer)i + 1);
        index[i] = checked_index(L);
    }
    struct buf b = { 0 };
    buf_u32(&b, (uint32_t)(5 + 8 * n));
    buf_u8(&b, WIRE_INDICES);
    buf_u32(&b, (uint32_t)n);
    for (lua_Unsigned i = 0; i < n; i++)
        buf_i64(&b, index[i]);
    send_or_end(the_socket(L), &b);
    buf_free(&b);
    lua_pop(L, 2);
}

/* Adds an outcome to the list on top of the stack. */
static void add_outcome(lua_State *L, struct cursor *c)
{
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, get_i64(c));
    lua_setfield(L, -2, "index");
    lua_pushstring(L, outcome_name((enum outcome)get_u8(c)));
    lua_setfield(L, -2, "outcome");
    lua_pushnumber(L, get_f64(c));
    lua_setfield(L, -2, "time_ns");
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

/* Tells what was collected in the list on top of the stack, and puts an empty one there. */
static void tell(lua_State *L)
{
    if (lua_rawlen(L, -1) == 0)
        return;
    if (lua_isnil(L, AT_TELL)) {
        lua_pop(L, 1);
    } else {
        lua_pushvalue(L, AT_TELL);
        lua_insert(L, -2);
        lua_call(L, 1, 0);
    }
    lua_newtable(L);
}

/* Outcomes are collected and told before the next question is asked. */
static void serve_message(lua_State *L)
{
    unsigned char head[4], body[32];
    receive_or_end(the_socket(L), head, sizeof head);
    struct cursor c = cursor_on(head, sizeof head);
    uint32_t n = get_u32(&c);
    if (n > sizeof body)
        luaL_error(L, "%s: a broken message came in", the_strategy(L)->file);
    receive_or_end(the_socket(L), body, n);
    c = cursor_on(body, n);
    if (get_u8(&c) == WIRE_TELL) {
        add_outcome(L, &c);
    } else {
        tell(L);
        answer(L, get_u32(&c));
    }
}

/* Called with a strategy and a socket; ends by an error only. */
static int serve(lua_State *L)
{
    open_libraries(L, the_strategy(L)->seed);
    load_strategy(L);
    send_word(L, WIRE_READY);
    lua_newtable(L); /* outcomes to tell */
    while (true)
        serve_message(L);
    return 0;
}

static void *limited_alloc(void *used, void *p, size_t old, size_t size)
{
    size_t *sum = used, was = p ? old : 0; /* without p, `old` tells the kind of object */
    if (size == 0) {
        free(p);
        *sum -= was;
        return NULL;
    }
    if (size > was && size - was > MAX_MEMORY - *sum)
        return NULL;
    void *q = realloc(p, size);
    if (q)
        *sum += size - was;
    return q;
}

_Noreturn void child_main(int socket, const struct strategy *s)
{
    size_t used = 0;
    lua_State *L = lua_newstate(limited_alloc, &used);
    if (!L) {
        send_error(socket, true, "out of memory");
        _exit(1);
    }
    lua_pushcfunction(L, serve);
    lua_pushlightuserdata(L, (void *)(uintptr_t)s); /* Lua knows no const */
    lua_pushinteger(L, socket);
    bool memory = lua_pcall(L, 2, 0, 0) == LUA_ERRMEM; /* comes back with an error only */
    const char *text = lua_tostring(L, -1);
    char line[2048];
    if (memory)
        snprintf(line, sizeof line, "%s: out of memory: a strategy may use %d MB", s->file, MAX_MEMORY_MB);
    else if (lua_type(L, -1) == LUA_TSTRING)
        snprintf(line, sizeof line, "%s", text);
    else
        snprintf(line, sizeof line, "%s: failed with an error that is no text, but a %s", s->file, luaL_typename(L, -1));
    send_error(socket, memory, line);
    _exit(1);
}
