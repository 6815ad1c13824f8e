/* A template becomes a Lua chunk of as many lines, so that Lua's messages name the template's own: lines of text turn into calls
 * that put them out, lines of Lua stay as they are. */
#include "source/template.h"

#include <string.h>

#include <lauxlib.h>

#include "lua/sandbox.h"

enum { MAX_OUTPUT = 16 << 20 };
static const struct sandbox_rules rules = { .what = "template", .memory = (size_t)64 << 20, .instructions = 100000000 };
static const char put_name[] = "__put"; /* scripts have no names with two _ in front */

/* The Lua of a line that begins with //@; null for a line of text. */
static const char *lua_line(const char *line, const char *end)
{
    while (line < end && (*line == ' ' || *line == '\t'))
        line++;
    return end - line >= 3 && memcmp(line, "//@", 3) == 0 ? line + 3 : NULL;
}

static const char *line_end(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end : line + strlen(line);
}

bool template_has_lua(const char *text)
{
    if (strstr(text, "$("))
        return true;
    for (const char *line = text; *line;) {
        const char *end = line_end(line);
        if (lua_line(line, end))
            return true;
        line = *end ? end + 1 : end;
    }
    return false;
}

/* __put "...": the text as a Lua literal. */
static void put_literal(struct buf *chunk, const char *s, const char *end)
{
    if (s == end)
        return;
    buf_fmt(chunk, "%s\"", put_name);
    for (; s < end; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            buf_fmt(chunk, "\\%c", c);
        else if (c < ' ' || c == 0x7f)
            buf_fmt(chunk, "\\%03d", c);
        else
            buf_put(chunk, s, 1);
    }
    buf_str(chunk, "\";");
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

static int text_line(struct buf *chunk, const char *s, const char *end, const char *name, int line, struct err *err)
{
    const char *from = s;
    for (; s + 1 < end; s++) {
        if (s[0] != '$' || s[1] != '(')
            continue;
        const char *close = closing(s + 2, end);
        if (!close)
            return err_set(err, ERR_INVALID, "%s:%d: $( is not closed on its line", name, line);
        put_literal(chunk, from, s);
        buf_fmt(chunk, "%s((", put_name);
        buf_put(chunk, s + 2, (size_t)(close - s - 2));
        buf_str(chunk, "));");
        s = close;
        from = close + 1;
    }
    put_literal(chunk, from, end);
    buf_fmt(chunk, "%s\"\\n\";", put_name);
    return 0;
}

static int make_chunk(const char *name, const char *text, struct buf *chunk, struct err *err)
{
    int rc = 0, number = 1;
    for (const char *line = text; *line && !rc; number++) {
        const char *end = line_end(line), *lua = lua_line(line, end);
        if (lua)
            buf_put(chunk, lua, (size_t)(end - lua));
        else
            rc = text_line(chunk, line, end, name, number, err);
        buf_str(chunk, "\n");
        line = *end ? end + 1 : end;
    }
    return rc ?: buf_check(chunk, err);
}

/* Numbers, texts, and booleans as 1 and 0, as in the #define lines. */
static int lua_put(lua_State *L)
{
    struct buf *out = lua_touserdata(L, lua_upvalueindex(1));
    size_t n = 1;
    const char *s = "";
    if (lua_isboolean(L, 1))
        s = lua_toboolean(L, 1) ? "1" : "0";
    else if (lua_isnumber(L, 1) || lua_isstring(L, 1))
        s = lua_tolstring(L, 1, &n);
    else
        return luaL_error(L, "$( ) gives %s, not a number, a text or a boolean", luaL_typename(L, 1));
    if (n > MAX_OUTPUT || out->len > MAX_OUTPUT - n)
        return luaL_error(L, "the filled template is larger than %d MB", MAX_OUTPUT >> 20);
    if (memchr(s, 0, n))
        return luaL_error(L, "$( ) gives a text with a zero byte");
    buf_put(out, s, n);
    return 0;
}

struct filling {
    const struct template_var *vars;
    int nvars;
    const struct buf *chunk;
    struct buf *out;
};

static void fill(lua_State *L, void *arg)
{
    const struct filling *f = arg;
    for (int i = 0; i < f->nvars; i++) {
        sandbox_push(L, f->vars[i].value);
        lua_setglobal(L, f->vars[i].name);
    }
    lua_pushlightuserdata(L, f->out);
    lua_pushcclosure(L, lua_put, 1);
    lua_setglobal(L, put_name);
    sandbox_text(L, NULL, buf_text(f->chunk), f->chunk->len, 0);
}

int template_fill(const char *name, const char *text, const struct template_var *vars, int nvars, struct buf *out, struct err *err)
{
    struct buf chunk = { 0 }, filled = { 0 };
    struct filling f = { vars, nvars, &chunk, &filled };
    bool lua = template_has_lua(text);
    int rc = lua ? make_chunk(name, text, &chunk, err) : 0;
    if (!rc && lua)
        rc = sandbox_run(&rules, name, fill, &f, err);
    if (!rc)
        buf_str(out, lua ? buf_text(&filled) : text);
    if (!rc && (filled.failed || out->failed))
        rc = err_nomem(err);
    buf_free(&chunk);
    buf_free(&filled);
    return rc;
}
