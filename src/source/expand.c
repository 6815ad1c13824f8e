/* Replaces #include lines by the text of the files. */
#include <stdio.h>
#include <string.h>

#include "model/include.h"
#include "source/template.h"

enum { MAX_TEXT = 16 << 20, MAX_DEPTH = 64 };

struct expansion {
    const struct op *op;
    const struct expanding *how;
    struct buf *out;
    struct err *err;
    bool hidden;             /* the macros are undefined now, */
    int headers;             /* and stay so in so many files, each within the one before */
    bool open[MAX_INCLUDES]; /* being put in now */
    bool done[MAX_INCLUDES]; /* put in at a place that is surely compiled, and once is enough */
    int depth;
};

static int expand(struct expansion *x, struct text *t);

static void empty_lines(struct expansion *x, int n)
{
    while (n-- > 0)
        buf_str(x->out, "\n");
}

/* Says what is wrong with a line: here if the line is surely compiled, else by an #error, to a compiler that gets there. */
static int fault(struct expansion *x, const struct text *t, const struct line *l, const char *what)
{
    if (l->sure)
        return err_set(x->err, ERR_INVALID, "%s:%d: %s", t->name, l->number, what);
    buf_fmt(x->out, "#error %s\n", what);
    empty_lines(x, l->lines - 1);
    return 0;
}

static int out_lines(const struct buf *out)
{
    int n = 1;
    for (const char *at = buf_text(out); (at = strchr(at, '\n')); at++)
        n++;
    return n;
}

static void line_mark(struct expansion *x, const struct text *t, int number)
{
    if (!t->file && x->how->filled)
        buf_fmt(x->out, "#line %d \"%s, filled\"\n", out_lines(x->out) + 1, t->name);
    else
        buf_fmt(x->out, "#line %d \"%s\"\n", number, t->name);
}

/* Makes what follows begin a line of its own, even if the text ends in a \. */
static void end_lines(struct buf *out, const char *text)
{
    size_t n = strlen(text);
    if (n && text[n - 1] != '\n')
        buf_str(out, "\n");
    while (n && strchr(" \t\r\n", text[n - 1]))
        n--;
    if (n && (text[n - 1] == '\\' || text[n - 1] == '/'))
        buf_str(out, "\n");
}

static bool ends_whole(const struct buf *b)
{
    return !b->len || b->data[b->len - 1] == '\n';
}

/* Takes the macros away: their names are what stands behind each #define. */
static void hide_macros(struct expansion *x)
{
    static const char word[] = "#define ";
    for (const char *at = x->hidden ? NULL : strstr(x->how->macros, word); at; at = strstr(at, word)) {
        at += strlen(word);
        buf_fmt(x->out, "#undef %.*s\n", (int)strspn(at, WORD_LETTERS), at);
    }
    x->hidden = true;
}

/* Before line l. */
static void show_macros(struct expansion *x, const struct text *t, const struct line *l)
{
    if (!x->hidden || x->headers)
        return;
    x->hidden = false;
    buf_str(x->out, x->how->macros);
    line_mark(x, t, l->number);
}

static int put_file(struct expansion *x, const struct text *from, const struct line *l, int k)
{
    const struct include *file = &x->op->includes[k];
    struct text t;
    int rc = text_file(&t, file, l->sure, x->err);
    if (rc)
        return rc;
    bool once = t.once || t.guard;
    if (once && (x->open[k] || x->done[k])) {
        empty_lines(x, l->lines);
        return 0;
    }
    if (x->open[k])
        return fault(x, from, l, "a file that includes itself wants #pragma once, or an include guard");
    if (x->depth == MAX_DEPTH)
        return err_set(x->err, ERR_INVALID, "%s:%d: files include each other more than %d deep", from->name, l->number, MAX_DEPTH);
    x->open[k] = true;
    x->depth++;
    if (t.once)
        buf_fmt(x->out, "#ifndef CUTUNE_INCLUDED_%d\n#define CUTUNE_INCLUDED_%d\n", k, k);
    line_mark(x, &t, 1);
    rc = expand(x, &t);
    end_lines(x->out, file->text);
    if (include_is_numbers(file))
        buf_str(x->out, x->how->numbers ?: "");
    if (t.once)
        buf_str(x->out, "#endif\n");
    line_mark(x, from, l->number + l->lines);
    x->depth--;
    x->open[k] = false;
    x->done[k] = x->done[k] || (once && l->sure);
    return rc;
}

/* What is included in < >, or lies in a folder of the user's. */
static bool is_header(const struct expansion *x, const struct text *t, const struct line *l, bool climbs)
{
    if (l->kind == LINE_SYSTEM)
        return (!x->how->bare && !climbs) || op_include(x->op, t->file, l->name, true) >= 0;
    return l->kind == LINE_INCLUDE && !x->how->bare && op_include(x->op, t->file, l->name, false) < 0 &&
           op_include_outside(x->op, l->name);
}

/* The compiler reads it, unless it is a file of the script's. Our macros are not defined in it. */
static int put_header(struct expansion *x, const struct text *t, const struct line *l)
{
    int k = l->kind == LINE_SYSTEM ? op_include(x->op, t->file, l->name, true) : -1;
    if (!x->hidden) {
        hide_macros(x);
        line_mark(x, t, l->number);
    }
    if (k >= 0) {
        x->headers++;
        int rc = put_file(x, t, l, k);
        x->headers--;
        return rc;
    }
    if (l->kind == LINE_SYSTEM) {
        buf_put(x->out, l->from, (size_t)(l->to - l->from));
    } else {
        buf_fmt(x->out, "#include <%s>\n", l->name);
        empty_lines(x, l->lines - 1);
    }
    return 0;
}

static int put_include(struct expansion *x, const struct text *t, const struct line *l)
{
    struct include_place places[MAX_PLACES];
    char what[400];
    int k = op_include(x->op, t->file, l->name, false);
    if (k >= 0)
        return put_file(x, t, l, k);
    snprintf(
        what, sizeof what,
        include_places(x->op, t->file, l->name, false, places)
            ? "there is no \"%.200s\" below the folder of the script or of the templates; a name that Lua makes must stand in a "
              "plain #include too"
            : "\"%.200s\" is no file below the folder of the script or of the templates",
        l->name);
    return fault(x, t, l, what);
}

/* Whether an #if asks the compiler for a file that is no header of its own. */
static bool asks_for_file(const struct line *l)
{
    bool asks = false;
    for (const char *at = l->words; (at = strstr(at, "__has_"));) {
        bool file = !strncmp(at, "__has_include", 13) || !strncmp(at, "__has_embed", 11);
        at += strspn(at, WORD_LETTERS);
        const char *open = at + strspn(at, " \t"), *name = open + 1 + strspn(open + (*open != 0), " \t");
        size_t n = *open == '(' && *name == '<' ? strcspn(name, ">") : 0;
        bool plain = n > 1 && name[1] != '/' && !memmem(name, n, "..", 2);
        asks = asks || (file && !plain && (*open == '(' || l->kind == LINE_DEFINE));
    }
    return asks;
}

static int put_line(struct expansion *x, const struct text *t, const struct line *l)
{
    bool climbs = l->kind == LINE_SYSTEM && (*l->name == '/' || strstr(l->name, ".."));
    if (l->odd) /* an #include might hide there, and no key would tell */
        return fault(x, t, l, l->odd);
    if (asks_for_file(l)) /* an #error in place of an #if would leave its #endif alone */
        return err_set(x->err, ERR_INVALID,
                       "%s:%d: __has_include and the like are for headers of the compiler: <name>, without / in front and ..",
                       t->name, l->number);
    if (is_header(x, t, l, climbs))
        return put_header(x, t, l);
    if (l->kind != LINE_BLANK) /* a directive shows them, too: both may lie within an #if */
        show_macros(x, t, l);
    if (l->kind == LINE_INCLUDE)
        return put_include(x, t, l);
    if (l->kind == LINE_OTHER_INCLUDE)
        return fault(x, t, l, "an #include wants the name of a file in quotes, not a macro");
    if (l->kind == LINE_SYSTEM && x->how->bare) /* PoCL would look in the current folder, and no key would tell */
        return fault(x, t, l,
                     "OpenCL C has no headers: an #include in < > stands in #ifdef BACKEND_CUDA; a file of yours is in quotes");
    if (climbs)
        return fault(x, t, l, "an #include in < > is for headers of the compiler: it has no / in front and no ..");
    if (l->kind == LINE_ONCE)
        buf_str(x->out, "\n"); /* done here */
    else
        buf_put(x->out, l->from, (size_t)(l->to - l->from));
    return 0;
}

static int expand(struct expansion *x, struct text *t)
{
    struct line l;
    int rc = 0;
    while (!rc && text_next(t, &l)) {
        rc = t->depth < 0 && t->file ? err_set(x->err, ERR_INVALID, "%s:%d: #endif without #if", t->name, l.number)
                                     : put_line(x, t, &l);
        if (!rc && x->out->len > MAX_TEXT)
            rc = err_set(x->err, ERR_INVALID, "%s:%d: with what it includes the source is larger than %d MB", t->name, l.number,
                         MAX_TEXT >> 20);
    }
    if (x->hidden && !x->headers) { /* to the end of the file */
        buf_fmt(x->out, "%s%s", ends_whole(x->out) ? "" : "\n", x->how->macros);
        x->hidden = false;
    }
    rc = text_end(t, rc, x->err) ?: buf_check(x->out, x->err);
    if (!rc && t->file && (t->in_comment || t->depth))
        rc = err_set(x->err, ERR_INVALID, "%s: its last %s has no end", t->name, t->in_comment ? "comment" : "#if");
    return rc;
}

int include_expand(const struct expanding *how, const char *text, struct buf *out, struct err *err)
{
    struct expansion x = { .op = how->op, .how = how, .out = out, .err = err };
    struct text t = { .name = how->name, .at = text, .sure = true };
    if (!how->filled || !how->first)
        line_mark(&x, &t, 1);
    int rc = expand(&x, &t);
    return rc ?: buf_check(out, err);
}
