#include "export/c_items.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"

/* ---- words */

static const char *skip_comment(const char *p, const char *end)
{
    if (p[1] == '/') {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        return newline ? newline : end;
    }
    const char *close = memmem(p + 2, (size_t)(end - p - 2), "*/", 2);
    return close ? close + 2 : end;
}

static bool is_comment(const char *p, const char *end)
{
    return end - p > 1 && p[0] == '/' && (p[1] == '*' || p[1] == '/');
}

struct c_word c_next(const char **from, const char *end)
{
    const char *p = *from;
    while (p < end && (isspace((unsigned char)*p) || *p == '\\' || is_comment(p, end)))
        p = is_comment(p, end) ? skip_comment(p, end) : p + 1;
    struct c_word w = { .kind = C_END, .at = p };
    if (p == end) {
        *from = p;
        return w;
    }
    if (isalpha((unsigned char)*p) || *p == '_') {
        w.kind = C_NAME;
        while (p < end && (isalnum((unsigned char)*p) || *p == '_'))
            p++;
    } else if (isdigit((unsigned char)*p)) {
        w.kind = C_NUMBER;
        while (p < end && (isalnum((unsigned char)*p) || *p == '.' || ((*p == '+' || *p == '-') && strchr("eEpP", p[-1]))))
            p++;
    } else if (*p == '"' || *p == '\'') {
        w.kind = C_TEXT;
        for (p++; p < end && *p != *w.at; p++)
            p += *p == '\\' && p + 1 < end;
        p += p < end;
    } else {
        w.kind = C_SIGN;
        p += p[0] == '-' && end - p > 1 && p[1] == '>' ? 2 : 1;
    }
    w.len = (size_t)(p - w.at);
    *from = p;
    return w;
}

bool c_is(struct c_word w, const char *text)
{
    return w.len == strlen(text) && !memcmp(w.at, text, w.len);
}

/* ---- what an item defines */

static int add_name(struct c_items *c, struct c_word w, bool tag, struct err *err)
{
    if (!mem_grow((void **)&c->names, c->nnames, sizeof *c->names))
        return err_nomem(err);
    c->names[c->nnames++] = (struct c_name){ w, tag, false, c->nitems };
    return 0;
}

/* Moves past the bracket that closes the one just read. */
static void skip_brackets(const char **p, const char *end)
{
    int depth = 1;
    struct c_word w;
    while (depth > 0 && (w = c_next(p, end)).kind != C_END)
        depth += c_is(w, "(") || c_is(w, "{") || c_is(w, "[") ? 1 : c_is(w, ")") || c_is(w, "}") || c_is(w, "]") ? -1 : 0;
}

/* The names between an enumeration's braces; p is after the first. */
static int add_constants(struct c_items *c, const char **p, const char *end, struct err *err)
{
    bool first = true; /* of an entry */
    struct c_word w;
    int rc = 0;
    while (!rc && (w = c_next(p, end)).kind != C_END && !c_is(w, "}")) {
        if (first && w.kind == C_NAME)
            rc = add_name(c, w, false, err);
        if (c_is(w, "(") || c_is(w, "{"))
            skip_brackets(p, end);
        first = c_is(w, ",");
    }
    return rc;
}

static bool is_tag_word(struct c_word w)
{
    return c_is(w, "struct") || c_is(w, "union") || c_is(w, "enum");
}

/* Moves past what a variable begins with; returns the comma or semicolon behind it. */
static struct c_word skip_value(const char **p, const char *end)
{
    struct c_word w;
    while ((w = c_next(p, end)).kind != C_END && !c_is(w, ",") && !c_is(w, ";"))
        if (c_is(w, "{") || c_is(w, "(") || c_is(w, "["))
            skip_brackets(p, end);
    return w;
}

/* What of a declaration was read. */
struct declaration {
    bool type; /* a typedef */
    struct c_word last;
    struct c_word tag; /* struct, union or enum, where a tag or its body may follow */
    bool over;         /* a function: nothing more is declared */
};

/* A name that is followed by w may be what is declared. */
static int take_name(struct c_items *c, struct declaration *d, struct c_word w, bool *code, struct err *err)
{
    bool word = d->last.kind == C_NAME && !is_tag_word(d->last);
    if (word && d->tag.len && (c_is(w, "{") || c_is(w, ";"))) {
        int rc = add_name(c, d->last, true, err);
        if (!rc)
            c->names[c->nnames - 1].body = c_is(w, "{");
        return rc;
    }
    if (!word || c_is(d->last, "void") || !(c_is(w, ";") || c_is(w, ",") || c_is(w, "=") || c_is(w, "[") || c_is(w, "(")))
        return 0;
    *code = !d->type;
    d->over = c_is(w, "(");
    return add_name(c, d->last, false, err);
}

/* A declaration's names: its tag, its constants, and the functions, variables or types that it declares. */
static int add_declared(struct c_items *c, const char *p, const char *end, bool *code, bool *local, struct err *err)
{
    struct declaration d = { 0 };
    struct c_word w;
    int rc = 0;
    *code = *local = false;
    while (!rc && !d.over && (w = c_next(&p, end)).kind != C_END) {
        if (c_is(w, "__attribute__")) {
            c_next(&p, end);
            skip_brackets(&p, end);
            continue;
        }
        *local = *local || c_is(w, "static");
        d.type = d.type || c_is(w, "typedef");
        rc = take_name(c, &d, w, code, err);
        if (c_is(w, "{") && c_is(d.tag, "enum"))
            rc = rc ? rc : add_constants(c, &p, end, err);
        else if (c_is(w, "{") || c_is(w, "["))
            skip_brackets(&p, end);
        else if (c_is(w, "="))
            w = skip_value(&p, end);
        if (is_tag_word(w))
            d.tag = w;
        else if (!is_tag_word(d.last))
            d.tag = (struct c_word){ 0 };
        d.last = c_is(w, "[") ? (struct c_word){ 0 } : w;
    }
    return rc;
}

/* ---- where items begin and end */

static const char *line_end(const char *p, const char *end)
{
    while (p < end && *p != '\n') /* a backslash before the line's end goes on */
        p += p[0] == '\\' && end - p > 1 ? 2 : 1;
    return p < end ? p + 1 : end;
}

static bool directive(const char *p, const char *end, const char *word, struct c_word *name)
{
    if (p == end || *p++ != '#')
        return false;
    struct c_word w = c_next(&p, end);
    *name = c_next(&p, end);
    return c_is(w, word);
}

/* The end of the lines that a directive opens: #if... to its #endif, `#define X` to its #undef. */
static const char *group_end(const char *p, const char *end, bool condition)
{
    int depth = 0;
    struct c_word name;
    while (p < end) {
        if (directive(p, end, "ifdef", &name) || directive(p, end, "ifndef", &name) || directive(p, end, "if", &name))
            depth++;
        bool closes = condition ? directive(p, end, "endif", &name) && --depth == 0 : directive(p, end, "undef", &name);
        p = line_end(p, end);
        if (closes)
            break;
    }
    return p;
}

/* The end of a declaration or function. */
static const char *item_end(const char *p, const char *end)
{
    int depth = 0;
    bool value = false, body = false;
    struct c_word w, last = { .kind = C_END };
    while ((w = c_next(&p, end)).kind != C_END) {
        if (depth == 0 && c_is(w, "="))
            value = true;
        if (depth == 0 && c_is(w, "{"))
            body = !value && c_is(last, ")");
        if (c_is(w, "{") || c_is(w, "("))
            depth++;
        if (c_is(w, "}") || c_is(w, ")"))
            depth--;
        if (depth == 0 && (c_is(w, ";") || (body && c_is(w, "}"))))
            break;
        last = w;
    }
    return line_end(p, end); /* with a comment behind it */
}

static int add_item(struct c_items *c, int file, enum c_what what, bool local, const char *at, const char *code, const char *end,
                    struct err *err)
{
    if (!mem_grow((void **)&c->items, c->nitems, sizeof *c->items))
        return err_nomem(err);
    c->items[c->nitems++] = (struct c_item){ file, what, at, code, end, local, false };
    return 0;
}

static int read_directive(struct c_items *c, int file, const char *at, const char **p, const char *end, struct err *err)
{
    const char *start = *p;
    struct c_word name, guard;
    bool header = c->files[file].header;
    *p = line_end(start, end);
    if (directive(start, end, "include", &name))
        return add_item(c, file, c_is(name, "<") ? ITEM_INCLUDE : ITEM_USES, true, start, name.at, *p, err);
    if (directive(start, end, "define", &name)) {
        if (c_is(name, "X")) {
            *p = group_end(start, end, false);
            return add_item(c, file, ITEM_ALWAYS, true, at, start, *p, err);
        }
        int rc = add_name(c, name, false, err);
        return rc ? rc : add_item(c, file, ITEM_TYPE, !header, at, start, *p, err);
    }
    if (header && directive(start, end, "ifndef", &name) && directive(*p, end, "define", &guard) && name.len == guard.len &&
        !memcmp(name.at, guard.at, name.len)) {
        *p = line_end(*p, end); /* its guard, whose end is at the end of the file */
        return 0;
    }
    if (directive(start, end, "endif", &name))
        return 0;
    *p = group_end(start, end, true);
    return add_item(c, file, ITEM_ALWAYS, true, at, start, *p, err);
}

static int read_declaration(struct c_items *c, int file, const char *at, const char **p, const char *end, struct err *err)
{
    const char *start = *p;
    bool code, local;
    *p = item_end(start, end);
    if (!strncmp(start, "_Static_assert", 14)) /* what held when cutune was built */
        return 0;
    int rc = add_declared(c, start, *p, &code, &local, err);
    if (!code)
        local = !c->files[file].header;
    return rc ? rc : add_item(c, file, code ? ITEM_CODE : ITEM_TYPE, local, at, start, *p, err);
}

static int read_file(struct c_items *c, int file, struct err *err)
{
    const char *p = c->files[file].text, *end = p + strlen(p), *comment = NULL;
    int rc = 0;
    while (!rc && p < end) {
        if (*p == '\n') {
            comment = NULL; /* it was about what came before, or about the file */
            p++;
        } else if (is_comment(p, end)) {
            comment = comment ? comment : p;
            p = line_end(skip_comment(p, end), end);
        } else if (*p == '#') {
            rc = read_directive(c, file, comment ? comment : p, &p, end, err);
            comment = NULL;
        } else {
            rc = read_declaration(c, file, comment ? comment : p, &p, end, err);
            comment = NULL;
        }
    }
    return rc;
}

int c_items_read(const struct c_file *files, int n, struct c_items *out, struct err *err)
{
    struct c_items c = { .files = files, .nfiles = n };
    int rc = 0;
    for (int i = 0; !rc && i < n; i++)
        rc = read_file(&c, i, err);
    if (rc)
        c_items_free(&c);
    else
        *out = c;
    return rc;
}

void c_items_free(struct c_items *c)
{
    mem_free(c->items);
    mem_free(c->names);
    *c = (struct c_items){ 0 };
}
