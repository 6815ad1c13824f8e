#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "op/read.h"

void fail(struct reader *r, const char *fmt, ...)
{
    struct err *err = sandbox_err(r->L);
    char text[sizeof err->msg];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    sandbox_check(r->L, err_set(err, ERR_INVALID, "%s%s", r->where, text));
    abort(); /* Lua's header does not say that errors never return */
}

void fail_if(struct reader *r, int rc, const struct err *why)
{
    if (rc == ERR_NOMEM)
        sandbox_check(r->L, err_nomem(sandbox_err(r->L)));
    if (rc)
        fail(r, "%s", why->msg);
}

size_t enter(struct reader *r, const char *fmt, ...)
{
    size_t mark = strlen(r->where);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->where + mark, sizeof r->where - mark, fmt, ap); /* cut if it is too long: it is only a place */
    va_end(ap);
    return mark;
}

void leave(struct reader *r, size_t mark)
{
    r->where[mark] = 0;
}

void *made(struct reader *r, void *p)
{
    fail_if(r, p ? 0 : ERR_NOMEM, NULL);
    return p;
}

void *make_array(struct reader *r, int n, size_t bytes)
{
    return made(r, arena_array(r->op->arena, (size_t)n, bytes));
}

const char *word_among(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = words; n && !strchr(word, ' ') && (at = strstr(at, word)); at += n)
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0))
            return at;
    return NULL;
}

/* -- single values -- */

enum { MAX_TEXT = 4096 };

void read_expr(struct reader *r, void *out)
{
    int type = lua_type(r->L, -1);
    size_t n;
    if (type != LUA_TSTRING && type != LUA_TNUMBER)
        fail(r, "must be a text or a number, not %s", lua_typename(r->L, type));
    if (type == LUA_TNUMBER && !isfinite(lua_tonumber(r->L, -1)))
        fail(r, "must be a finite number, not %s", lua_tostring(r->L, -1));
    const char *text = lua_tolstring(r->L, -1, &n);
    if (n == 0 || n > MAX_TEXT || memchr(text, 0, n))
        fail(r, "must have 1 to %d bytes, none of them zero", MAX_TEXT);
    *(const char **)out = made(r, arena_strndup(r->op->arena, text, n));
}

void read_text(struct reader *r, void *out)
{
    if (lua_type(r->L, -1) != LUA_TSTRING)
        fail(r, "must be a text, not %s", luaL_typename(r->L, -1));
    read_expr(r, out);
}

void read_name(struct reader *r, void *out)
{
    read_text(r, out);
    if (!name_ok(*(const char **)out))
        fail(r, "'%.80s' is no name: a letter or _, then letters, digits, _, at most %d", *(const char **)out, MAX_NAME);
}

static void read_element(struct reader *r, void *out)
{
    read_text(r, out);
    const char *type = *(const char **)out;
    bool computing;
    if (op_type_of(r->op, type, &computing) < 0 && !dtype_find(type))
        fail(r, "'%.80s' is neither a type name of this op nor an element type (f32, i64, u8, bf16, ...)", type);
}

static void read_bool(struct reader *r, void *out)
{
    if (!lua_isboolean(r->L, -1))
        fail(r, "must be true or false, not %s", luaL_typename(r->L, -1));
    *(bool *)out = lua_toboolean(r->L, -1);
}

static void read_integer(struct reader *r, void *out)
{
    int whole = 0; /* 1e6 is */
    const bool number = lua_type(r->L, -1) == LUA_TNUMBER;
    const lua_Integer value = number ? lua_tointegerx(r->L, -1, &whole) : 0;
    if (!whole)
        fail(r, "must be an integer, not %s", number ? "a float" : luaL_typename(r->L, -1));
    *(int64_t *)out = value;
}

void read_word(struct reader *r, const char *words, int *place)
{
    const char *word, *second = strchr(words, ' ');
    bool two = second && second == strrchr(words, ' ');
    read_text(r, &word);
    const char *at = word_among(words, word);
    if (!at)
        fail(r, "'%.80s' is %s %s", word, two ? "neither" : "none of", luaL_gsub(r->L, words, " ", two ? " nor " : ", "));
    for (*place = 0; at > words; at--)
        *place += at[-1] == ' ';
}

/* -- lists -- */

void want_table(struct reader *r)
{
    if (!lua_istable(r->L, -1))
        fail(r, "must be a table, not %s", luaL_typename(r->L, -1));
}

int list_length(struct reader *r, int min, int max)
{
    lua_State *L = r->L;
    want_table(r);
    lua_Unsigned length = lua_rawlen(L, -1), keys = 0;
    bool numbers = true;
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1), keys++) {
        if (lua_type(L, -2) == LUA_TSTRING)
            fail(r, "must be a list { ... } without names or holes, and has the name '%.80s'", lua_tostring(L, -2));
        numbers = numbers && lua_isinteger(L, -2) && (lua_Unsigned)lua_tointeger(L, -2) - 1 < length;
    }
    if (!numbers || keys != length)
        fail(r, "must be a list { ... } without names or holes");
    if (min == max && length != (lua_Unsigned)min)
        fail(r, "must have %d entries, and has %llu", min, (unsigned long long)length);
    if (length < (lua_Unsigned)min || length > (lua_Unsigned)max)
        fail(r, "has %llu entries; from %d to %d are possible", (unsigned long long)length, min, max);
    return (int)length;
}

int read_list(struct reader *r, const struct list *l, size_t mark, void *array)
{
    int list = lua_gettop(r->L), n = list_length(r, l->min, l->max);
    char *out = array;
    if (!l->inside) {
        out = make_array(r, n, l->bytes);
        memcpy(array, &out, sizeof out);
    }
    for (int i = 0; i < n; i++, out += l->bytes) {
        leave(r, mark);
        enter(r, l->entry, i + 1);
        lua_rawgeti(r->L, list, i + 1);
        l->read(r, out);
        lua_settop(r->L, list);
    }
    return n;
}

int read_one_or_list(struct reader *r, const struct list *l, void *array)
{
    if (lua_istable(r->L, -1))
        return read_list(r, l, strlen(r->where), array);
    l->read(r, array);
    return 1;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int read_named(struct reader *r, const struct list *l, void *array)
{
    lua_State *L = r->L;
    int table = lua_gettop(L), n = 0;
    char *all = make_array(r, l->max, l->bytes), *out = all;
    want_table(r);
    for (lua_pushnil(L); lua_next(L, table); lua_settop(L, table + 1), n++, out += l->bytes) {
        if (lua_type(L, -2) != LUA_TSTRING)
            fail(r, "must be %s: an entry has no name", l->entry);
        if (n == l->max)
            fail(r, "more than %d entries", l->max);
        lua_pushvalue(L, -2);
        read_name(r, out);
        lua_pop(L, 1);
        size_t mark = enter(r, "%s: ", *(const char **)out);
        l->read(r, out);
        leave(r, mark);
    }
    qsort(all, (size_t)n, l->bytes, by_name);
    memcpy(array, &all, sizeof all);
    return n;
}

/* -- tables -- */

void known_fields(struct reader *r, const char *keys)
{
    lua_State *L = r->L;
    want_table(r);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            fail(r, "an entry without a name; known here: %s", keys);
        if (!word_among(keys, lua_tostring(L, -2)))
            fail(r, "unknown field '%.80s'; known here: %s", lua_tostring(L, -2), keys);
    }
}

/* The value at the top of the stack, as `how` says; if it is nil, only the arguments are taken. */
static void read_field(struct reader *r, int how, size_t mark, va_list *args)
{
    static const char letters[] = "ntexbi";
    static reads *const readers[] = { read_name, read_text, read_element, read_expr, read_bool, read_integer };
    const char *known = strchr(letters, how);
    reads *read = known ? readers[known - letters] : how == 'f' ? va_arg(*args, reads *) : NULL;
    const char *words = how == 'w' ? va_arg(*args, const char *) : NULL;
    const struct list *list = how == 'l' ? va_arg(*args, const struct list *) : NULL;
    void *out = va_arg(*args, void *);
    int *n = how == 'l' ? va_arg(*args, int *) : NULL;
    if (lua_isnil(r->L, -1))
        return;
    if (words)
        read_word(r, words, out);
    else if (list)
        *n = read_list(r, list, mark, out);
    else
        read(r, out);
}

void read_table(struct reader *r, const char *keys, const char *how, ...)
{
    int table = lua_gettop(r->L);
    va_list args;
    va_start(args, how);
    want_table(r);
    if (!strchr(how, '+'))
        known_fields(r, keys);
    for (; *how && *how != '+'; how++) {
        size_t n = strcspn(keys, " ");
        if (*how != '-') {
            lua_pushlstring(r->L, keys, n);
            if (lua_rawget(r->L, table) == LUA_TNIL && isupper((unsigned char)*how))
                fail(r, "%.*s is missing", (int)n, keys);
            size_t mark = enter(r, "%.*s: ", (int)n, keys);
            read_field(r, tolower((unsigned char)*how), mark, &args);
            leave(r, mark);
            lua_settop(r->L, table);
        }
        keys += n + (keys[n] == ' ');
    }
    va_end(args);
}
