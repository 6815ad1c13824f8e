#include "op/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "model/op.h"

int reader_fail(struct reader *r, const char *fmt, ...)
{
    char text[sizeof r->err->msg];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return err_set(r->err, ERR_INVALID, "%s%s", r->where, text);
}

size_t reader_enter(struct reader *r, const char *fmt, ...)
{
    size_t mark = strlen(r->where);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->where + mark, sizeof r->where - mark, fmt, ap); /* cut where too long: it is only a place */
    va_end(ap);
    size_t end = strlen(r->where);
    snprintf(r->where + end, sizeof r->where - end, ": ");
    return mark;
}

void reader_leave(struct reader *r, size_t mark)
{
    r->where[mark] = 0;
}

int reader_array(struct reader *r, int n, size_t bytes, void *out)
{
    void *p = arena_array(r->arena, n > 0 ? (size_t)n : 1, bytes);
    if (!p)
        return err_nomem(r->err);
    memcpy(out, &p, sizeof p);
    return 0;
}

bool word_among(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = words; n && (at = strstr(at, word)); at += n)
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0))
            return true;
    return false;
}

int table_keys(struct reader *r, int t, const char *known, bool list)
{
    lua_State *L = r->L;
    for (lua_pushnil(L); lua_next(L, t); lua_pop(L, 1)) {
        bool text = lua_type(L, -2) == LUA_TSTRING;
        if (text ? word_among(known, lua_tostring(L, -2)) : list && lua_isinteger(L, -2))
            continue;
        int rc = text ? reader_fail(r, "unknown field '%.80s'; known here: %s", lua_tostring(L, -2), known)
                      : reader_fail(r, "an entry without a name; known here: %s", known);
        lua_pop(L, 2);
        return rc;
    }
    return 0;
}

static int want_table(struct reader *r, const char *key, int *sub)
{
    if (lua_istable(r->L, -1)) {
        *sub = lua_gettop(r->L);
        return 0;
    }
    int rc = reader_fail(r, "%s%smust be a table, not %s", key, *key ? ": " : "", luaL_typename(r->L, -1));
    lua_pop(r->L, 1);
    return rc;
}

/* Pushes t[key] and returns its type. */
static int push_field(struct reader *r, int t, const char *key)
{
    lua_pushstring(r->L, key);
    return lua_rawget(r->L, t);
}

int table_sub(struct reader *r, int t, const char *key, bool needed, int *sub)
{
    *sub = 0;
    if (push_field(r, t, key) != LUA_TNIL)
        return want_table(r, key, sub);
    lua_pop(r->L, 1);
    return needed ? reader_fail(r, "%s is missing", key) : 0;
}

int table_item(struct reader *r, int t, int i, int *sub)
{
    lua_rawgeti(r->L, t, i);
    return want_table(r, "", sub);
}

int table_length(struct reader *r, int t, int min, int max, int *n)
{
    lua_State *L = r->L;
    lua_Unsigned length = lua_rawlen(L, t);
    lua_Unsigned keys = 0;
    for (lua_pushnil(L); lua_next(L, t); lua_pop(L, 1)) {
        if (!lua_isinteger(L, -2) || lua_tointeger(L, -2) < 1 || (lua_Unsigned)lua_tointeger(L, -2) > length) {
            lua_pop(L, 2);
            return reader_fail(r, "must be a list { ... } without names or holes");
        }
        keys++;
    }
    if (keys != length)
        return reader_fail(r, "must be a list { ... } without names or holes");
    if (min == max && length != (lua_Unsigned)min)
        return reader_fail(r, "must have %d entries, and has %llu", min, (unsigned long long)length);
    if (length < (lua_Unsigned)min || length > (lua_Unsigned)max)
        return reader_fail(r, "has %llu entries; from %d to %d are possible", (unsigned long long)length, min, max);
    *n = (int)length;
    return 0;
}

/* Takes the value off the stack: a text, or with `number` also a number. */
static int take_text(struct reader *r, const char *key, bool number, const char **out)
{
    lua_State *L = r->L;
    int type = lua_type(L, -1);
    int rc = 0;
    size_t n = 0;
    if (type != LUA_TSTRING && !(number && type == LUA_TNUMBER)) {
        rc = reader_fail(r, "%s: must be a text%s, not %s", key, number ? " or a number" : "", lua_typename(L, type));
        goto out;
    }
    const char *text = lua_tolstring(L, -1, &n);
    if (n == 0 || n > MAX_TEXT || memchr(text, 0, n))
        rc = reader_fail(r, "%s: must have 1 to %d bytes, none of them zero", key, MAX_TEXT);
    else if (!(*out = arena_strndup(r->arena, text, n)))
        rc = err_nomem(r->err);
out:
    lua_pop(L, 1);
    return rc;
}

static int field_text(struct reader *r, int t, const char *key, bool needed, bool number, const char **out)
{
    *out = NULL;
    if (push_field(r, t, key) != LUA_TNIL)
        return take_text(r, key, number, out);
    lua_pop(r->L, 1);
    return needed ? reader_fail(r, "%s is missing", key) : 0;
}

int table_text(struct reader *r, int t, const char *key, bool needed, const char **out)
{
    return field_text(r, t, key, needed, false, out);
}

int table_expr(struct reader *r, int t, const char *key, bool needed, const char **out)
{
    return field_text(r, t, key, needed, true, out);
}

static int text_at(struct reader *r, int t, int i, bool number, const char **out)
{
    char key[32];
    snprintf(key, sizeof key, "entry %d", i);
    lua_rawgeti(r->L, t, i);
    return take_text(r, key, number, out);
}

int table_text_at(struct reader *r, int t, int i, const char **out)
{
    return text_at(r, t, i, false, out);
}

int table_expr_at(struct reader *r, int t, int i, const char **out)
{
    return text_at(r, t, i, true, out);
}

int table_name(struct reader *r, int t, const char *key, const char **out)
{
    int rc = table_text(r, t, key, true, out);
    if (!rc && !name_ok(*out))
        rc = reader_fail(r, "%s: '%.80s' is no name: a letter or _, then letters, digits, _, at most %d", key, *out, MAX_NAME);
    return rc;
}

int table_bool(struct reader *r, int t, const char *key, bool *out)
{
    int type = push_field(r, t, key);
    *out = type == LUA_TBOOLEAN && lua_toboolean(r->L, -1);
    lua_pop(r->L, 1);
    if (type == LUA_TNIL || type == LUA_TBOOLEAN)
        return 0;
    return reader_fail(r, "%s: must be true or false, not %s", key, lua_typename(r->L, type));
}

int table_int(struct reader *r, int t, const char *key, int64_t *out)
{
    int type = push_field(r, t, key);
    bool integer = lua_isinteger(r->L, -1);
    *out = integer ? lua_tointeger(r->L, -1) : 0;
    lua_pop(r->L, 1);
    if (type == LUA_TNIL || integer)
        return 0;
    return reader_fail(r, "%s: must be an integer, not %s", key, type == LUA_TNUMBER ? "a float" : lua_typename(r->L, type));
}
