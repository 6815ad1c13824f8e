/* A template becomes a Lua chunk of as many lines, so that Lua's messages name the template's own: lines of text turn into calls
 * that put them out, lines of Lua stay as they are. */
#include "source/template.h"

#include <string.h>

#include <lauxlib.h>

#include "lua/sandbox.h"

enum { MAX_OUTPUT = 16 << 20 };
static const struct sandbox_rules rules = { .what = "template", .memory = (size_t)64 << 20, .instructions = 100000000 };

/* The Lua of a line that begins with //@; null for a line of text. */
static const char *lua_line(const char *line, const char *end)
{
    while (line < end && (*line == ' ' || *line == '\t'))
        line++;
    return end - line >= 3 && memcmp(line, "//@", 3) == 0 ? line + 3 : NULL;
}

bool template_has_lua(const char *text)
{
    if (strstr(text, "$("))
        return true;
    for (const char *line = text; *line;) {
        const char *end = strchrnul(line, '\n');
        if (lua_line(line, end))
            return true;
        line = *end ? end + 1 : end;
    }
    return false;
}

/* The parenthesis that closes what begins at s; strings inside are skipped. Null if the line ends first. */
static const char *closing(const char *s, const char *end)
{
    int depth = 1;
    for (; s < end; s++) {
        if (*s == '"' || *s == '\'') {
            char quote = *s++;
            while (s < end && *s != quote)
                s += *s == '\\' ? 2 : 1;
            if (s >= end)
                return NULL;
        } else if (*s == '(') {
            depth++;
        } else if (*s == ')' && --depth == 0) {
            return s;
        }
    }
    return NULL;
}

/* One line of a template. */
static int text_line(struct buf *chunk, const char *text, const char *line, const char *end, const char *name, int number,
                     struct err *err)
{
    const char *from = line;
    for (const char *s = line; s + 1 < end; s++) {
        if (s[0] != '$' || s[1] != '(')
            continue;
        const char *close = closing(s + 2, end);
        if (!close)
            return err_set(err, ERR_INVALID, "%s:%d: $( is not closed on its line", name, number);
        buf_fmt(chunk, "__put(%td,%td);__put((%.*s));", from - text, s - text, (int)(close - s - 2), s + 2);
        s = close;
        from = close + 1;
    }
    buf_fmt(chunk, "__put(%td,%td);__put\"\\n\";", from - text, end - text);
    return 0;
}

static int make_chunk(const char *name, const char *text, struct buf *chunk, struct err *err)
{
    int rc = 0, number = 1;
    for (const char *line = text; *line && !rc; number++) {
        const char *end = strchrnul(line, '\n'), *lua = lua_line(line, end);
        if (lua)
            buf_put(chunk, lua, (size_t)(end - lua));
        else
            rc = text_line(chunk, text, line, end, name, number, err);
        buf_str(chunk, "\n");
        line = *end ? end + 1 : end;
    }
    return rc ?: buf_check(chunk, err);
}

struct filling {
    const char *text;
    size_t bytes; /* of it */
    const struct template_var *vars;
    int nvars;
    struct buf chunk, out;
};

/* __put(from, to): text of the template between these bytes. __put(value): numbers, texts, and booleans as 1 and 0, as in the #define
 * lines. */
static int lua_put(lua_State *L)
{
    struct filling *f = lua_touserdata(L, lua_upvalueindex(1));
    size_t n = 1;
    const char *s = "";
    if (lua_gettop(L) == 2) {
        lua_Integer from = luaL_checkinteger(L, 1), to = luaL_checkinteger(L, 2);
        luaL_argcheck(L, from >= 0 && from <= to && to <= (lua_Integer)f->bytes, 1, "no part of the template");
        s = f->text + from;
        n = (size_t)(to - from);
    } else if (lua_isboolean(L, 1)) {
        s = lua_toboolean(L, 1) ? "1" : "0";
    } else if (lua_isnumber(L, 1) || lua_isstring(L, 1)) {
        s = lua_tolstring(L, 1, &n);
    } else {
        return luaL_error(L, "$( ) gives %s, not a number, a text or a boolean", luaL_typename(L, 1));
    }
    if (n > MAX_OUTPUT || f->out.len > MAX_OUTPUT - n)
        return luaL_error(L, "the filled template is larger than %d MB", MAX_OUTPUT >> 20);
    if (memchr(s, 0, n))
        return luaL_error(L, "$( ) gives a text with a zero byte");
    buf_put(&f->out, s, n);
    return 0;
}

static void fill(lua_State *L, void *arg)
{
    struct filling *f = arg;
    for (int i = 0; i < f->nvars; i++) {
        sandbox_push(L, f->vars[i].value);
        lua_setglobal(L, f->vars[i].name);
    }
    lua_pushlightuserdata(L, f);
    lua_pushcclosure(L, lua_put, 1);
    lua_setglobal(L, "__put"); /* scripts have no names with two _ in front */
    sandbox_text(L, NULL, buf_text(&f->chunk), f->chunk.len, 0);
}

int template_fill(const char *name, const char *text, const struct template_var *vars, int nvars, struct buf *out, struct err *err)
{
    struct filling f = { .text = text, .bytes = strlen(text), .vars = vars, .nvars = nvars };
    if (!template_has_lua(text)) {
        buf_put(out, text, f.bytes);
        return buf_check(out, err);
    }
    int rc = make_chunk(name, text, &f.chunk, err) ?: sandbox_run(&rules, name, fill, &f, err) ?: buf_check(&f.out, err);
    if (!rc)
        buf_put(out, f.out.data, f.out.len);
    buf_free(&f.chunk);
    buf_free(&f.out);
    return rc ?: buf_check(out, err);
}
