#include "op/fields.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "base/mem.h"
#include "lua/sandbox.h"

void fail(struct reader *r, const char *fmt, ...)
{
    struct err *err = sandbox_err(r->L);
    char text[sizeof err->msg];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    err_set(err, ERR_INVALID, "%s%s", r->where, text);
    sandbox_raise(r->L);
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
    size_t end = strlen(r->where);
    snprintf(r->where + end, sizeof r->where - end, ": ");
    return mark;
}

void leave(struct reader *r, size_t mark)
{
    r->where[mark] = 0;
}

void *make_array(struct reader *r, int n, size_t bytes)
{
    void *p = arena_array(r->op->arena, n > 0 ? (size_t)n : 1, bytes);
    fail_if(r, p ? 0 : ERR_NOMEM, NULL);
    return p;
}

const char *keep_text(struct reader *r, const char *s, size_t n)
{
    const char *kept = arena_strndup(r->op->arena, s, n);
    fail_if(r, kept ? 0 : ERR_NOMEM, NULL);
    return kept;
}

bool word_among(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = words; n && (at = strstr(at, word)); at += n)
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0))
            return true;
    return false;
}

void known_fields(struct reader *r, int t, const char *known)
{
    lua_State *L = r->L;
    for (lua_pushnil(L); lua_next(L, t); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            fail(r, "an entry without a name; known here: %s", known);
        if (!word_among(known, lua_tostring(L, -2)))
            fail(r, "unknown field '%.80s'; known here: %s", lua_tostring(L, -2), known);
    }
}

int list_length(struct reader *r, int t, int min, int max)
{
    lua_State *L = r->L;
    lua_Unsigned length = lua_rawlen(L, t), keys = 0;
    bool numbers = true;
    for (lua_pushnil(L); lua_next(L, t); lua_pop(L, 1), keys++)
        numbers = numbers && lua_isinteger(L, -2) && (lua_Unsigned)lua_tointeger(L, -2) - 1 < length;
    if (!numbers || keys != length)
        fail(r, "must be a list { ... } without names or holes");
    if (min == max && length != (lua_Unsigned)min)
        fail(r, "must have %d entries, and has %llu", min, (unsigned long long)length);
    if (length < (lua_Unsigned)min || length > (lua_Unsigned)max)
        fail(r, "has %llu entries; from %d to %d are possible", (unsigned long long)length, min, max);
    return (int)length;
}

/* The value at the top of the stack, which must be a table. */
static int want_table(struct reader *r, const char *key)
{
    if (!lua_istable(r->L, -1))
        fail(r, "%s%smust be a table, not %s", key, *key ? ": " : "", luaL_typename(r->L, -1));
    return lua_gettop(r->L);
}

int entry_table(struct reader *r, int t, int i)
{
    lua_rawgeti(r->L, t, i);
    return want_table(r, "");
}

/* Pushes the field and returns its type; if it is absent, nothing is pushed. */
static int push_field(struct reader *r, int t, const char *key, bool needed)
{
    lua_pushstring(r->L, key);
    int type = lua_rawget(r->L, t);
    if (type == LUA_TNIL)
        lua_pop(r->L, 1);
    if (type == LUA_TNIL && needed)
        fail(r, "%s is missing", key);
    return type;
}

int field_table(struct reader *r, int t, const char *key, bool needed)
{
    return push_field(r, t, key, needed) == LUA_TNIL ? 0 : want_table(r, key);
}

/* Takes the value off the stack: a text, or with `number` also a number. */
static const char *take_text(struct reader *r, const char *key, bool number)
{
    int type = lua_type(r->L, -1);
    size_t n;
    if (type != LUA_TSTRING && !(number && type == LUA_TNUMBER))
        fail(r, "%s: must be a text%s, not %s", key, number ? " or a number" : "", lua_typename(r->L, type));
    const char *text = lua_tolstring(r->L, -1, &n);
    if (n == 0 || n > MAX_TEXT || memchr(text, 0, n))
        fail(r, "%s: must have 1 to %d bytes, none of them zero", key, MAX_TEXT);
    text = keep_text(r, text, n);
    lua_pop(r->L, 1);
    return text;
}

const char *field_text(struct reader *r, int t, const char *key, bool needed)
{
    return push_field(r, t, key, needed) == LUA_TNIL ? NULL : take_text(r, key, false);
}

const char *field_expr(struct reader *r, int t, const char *key, bool needed)
{
    return push_field(r, t, key, needed) == LUA_TNIL ? NULL : take_text(r, key, true);
}

const char *entry_text(struct reader *r, int t, int i, bool number)
{
    char key[32];
    snprintf(key, sizeof key, "entry %d", i);
    lua_rawgeti(r->L, t, i);
    return take_text(r, key, number);
}

const char *field_name(struct reader *r, int t, const char *key)
{
    const char *name = field_text(r, t, key, true);
    if (!name_ok(name))
        fail(r, "%s: '%.80s' is no name: a letter or _, then letters, digits, _, at most %d", key, name, MAX_NAME);
    return name;
}

bool field_bool(struct reader *r, int t, const char *key)
{
    int type = push_field(r, t, key, false);
    if (type == LUA_TNIL)
        return false;
    if (type != LUA_TBOOLEAN)
        fail(r, "%s: must be true or false, not %s", key, lua_typename(r->L, type));
    bool set = lua_toboolean(r->L, -1);
    lua_pop(r->L, 1);
    return set;
}

int64_t field_integer(struct reader *r, int t, const char *key)
{
    int type = push_field(r, t, key, false);
    if (type == LUA_TNIL)
        return 0;
    if (!lua_isinteger(r->L, -1))
        fail(r, "%s: must be an integer, not %s", key, type == LUA_TNUMBER ? "a float" : lua_typename(r->L, type));
    int64_t i = lua_tointeger(r->L, -1);
    lua_pop(r->L, 1);
    return i;
}

/* "neither a nor b", or "none of a, b, c". */
static void print_choice(const char *words, char *out, size_t room)
{
    const char *second = strchr(words, ' ');
    if (second && !strchr(second + 1, ' ')) {
        snprintf(out, room, "neither %.*s nor %s", (int)(second - words), words, second + 1);
        return;
    }
    size_t n = (size_t)snprintf(out, room, "none of ");
    for (; *words && n + 2 < room; words++) {
        if (*words == ' ')
            out[n++] = ',';
        out[n++] = *words;
    }
    out[n] = 0;
}

int field_word(struct reader *r, int t, const char *key, bool needed, const char *words)
{
    char choice[200];
    const char *word = field_text(r, t, key, needed);
    int place = 0;
    if (!word)
        return -1;
    for (const char *at = words; *at; at += *at == ' ', place++) {
        size_t n = strcspn(at, " ");
        if (strlen(word) == n && !memcmp(word, at, n))
            return place;
        at += n;
    }
    print_choice(words, choice, sizeof choice);
    fail(r, "%s: '%.80s' is %s", key, word, choice);
}

void *field_list(struct reader *r, int t, const struct list *l, int *n)
{
    int top = lua_gettop(r->L), list = field_table(r, t, l->key, l->min > 0);
    if (!list)
        return NULL;
    size_t mark = enter(r, "%s", l->key);
    *n = list_length(r, list, l->min, l->max);
    char *out = make_array(r, *n, l->bytes);
    leave(r, mark);
    for (int i = 0; i < *n; i++) {
        enter(r, l->each ? "%s %d" : "%s[%d]", l->each ? l->each : l->key, i + 1);
        l->read(r, entry_table(r, list, i + 1), out + (size_t)i * l->bytes);
        leave(r, mark);
        lua_settop(r->L, list);
    }
    lua_settop(r->L, top);
    return out;
}
