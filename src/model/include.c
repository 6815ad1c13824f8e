#include "model/include.h"

#include <stdio.h>
#include <string.h>

static bool ends_line(char c)
{
    return c == '\n' || c == '\r';
}

static const char *past_end(const char *s)
{
    return s + (s[0] == '\r' && s[1] == '\n' ? 2 : 1);
}

/* Where compilers differ. These stand in #error lines, too, so there are no quotes in them. */
static const char trigraph[] = "a trigraph, which only some compilers replace: write the character itself",
                  blank[] = "a blank behind the \\ at the end of a line, which only some compilers join: take it away",
                  raw[] = "a raw string, an R before the quote: write an ordinary one",
                  digits[] =
                      "an apostrophe within a number or word, and a string or comment behind it: put them on lines of their own";

/* The next character as a compiler's first phases give it: lines that end in \ are joined, trigraphs replaced, and every end of a line
 * is \n. 0 at the end of the text. *odd is set if only some compilers read it so. */
static char take(const char **at, int *lines, const char **odd)
{
    for (;;) {
        const char *s = *at;
        size_t n = 1;
        char c = *s;
        if (!c)
            return 0;
        if (!strncmp(s, "?\?=", 3) || !strncmp(s, "?\?/", 3)) {
            c = s[2] == '=' ? '#' : '\\';
            n = 3;
            *odd = trigraph;
        }
        const char *after = s + n + (c == '\\' ? strspn(s + n, " \t\v\f") : 0);
        if (c == '\\' && ends_line(*after)) {
            *odd = after > s + n ? blank : *odd;
            *at = past_end(after);
            ++*lines;
            continue;
        }
        *at = ends_line(c) ? past_end(s) : s + n;
        return ends_line(c) ? '\n' : c;
    }
}

static char *skip_blanks(char *s)
{
    return s + strspn(s, " \t\v\f");
}

static char peek(const char *at)
{
    const char *odd;
    int lines = 0;
    return take(&at, &lines, &odd);
}

/* Whether a " behind these words opens a raw string: R, LR, uR, UR, u8R. */
static bool opens_raw(const struct buf *words)
{
    const char *end = buf_text(words) + words->len, *at = end;
    while (at > buf_text(words) && strchr(WORD_LETTERS, at[-1]))
        at--;
    return end > at && end[-1] == 'R' &&
           (end - at == 1 || (end - at == 2 && strchr("LuU", *at)) || (end - at == 3 && !strncmp(at, "u8", 2)));
}

/* How many characters stand here that mean only themselves to take and take_line: most do, and are taken at once. in: as there. */
static size_t plain(const char *s, char in)
{
    return !in         ? strcspn(s, "\n\r\\?/\"'")
           : in == '*' ? strcspn(s, "\n\r\\?*")
           : in == '/' ? strcspn(s, "\n\r\\?")
                       : 0;
}

/* Reads one line as a compiler sees it, and puts it without comments into t->words. Returns how many ends of lines were in it. What only
 * some compilers see so would hide lines from us or from them: *odd says what it is. */
static int take_line(struct text *t, const char **odd)
{
    char in = 0, last = 0; /* in: the second letter of the comment, or the quote, that is open */
    bool doubt = false;    /* a ' that opens a character, or does not */
    int lines = 0;
    const char *way = NULL;
    for (char c;;) {
        size_t n = plain(t->at, in);
        if (n && !in) {
            buf_put(&t->words, t->at, n);
            last = t->at[n - 1];
        }
        way = n && in == '*' ? NULL : way;
        t->at += n;
        if (!(c = take(&t->at, &lines, &way)))
            break;
        lines += c == '\n';
        if (c == '\n' && in != '*')
            break;
        if (doubt && (c == '"' || (c == '/' && peek(t->at) == '*')))
            *odd = digits;
        if (in == '*' && c == '*' && peek(t->at) == '/') {
            take(&t->at, &lines, &way);
            in = 0;
            c = ' ';
        } else if (in == '*' || in == '/') {
            way = in == '/' ? way : NULL; /* of a comment like this nothing matters but its end */
            continue;
        } else if (!in && c == '/' && (peek(t->at) == '*' || peek(t->at) == '/')) {
            in = take(&t->at, &lines, &way);
            *odd = way ?: *odd;
            continue;
        } else if (in && c == '\\' && peek(t->at) && peek(t->at) != '\n') {
            buf_put(&t->words, &c, 1);
            c = take(&t->at, &lines, &way);
        } else if (in) {
            in = c == in ? 0 : in;
        } else if (c == '\'' && last && strchr(WORD_LETTERS, last)) {
            doubt = true;
            in = last >= '0' && last <= '9' ? 0 : c; /* not the ' of 1'000 */
        } else if (c == '"' || c == '\'') {
            in = c;
            *odd = c == '"' && opens_raw(&t->words) ? raw : *odd;
        }
        *odd = way ?: *odd;
        buf_put(&t->words, &c, 1);
        last = c;
    }
    *odd = way ?: *odd;
    t->in_comment = in == '*';
    return lines;
}

/* The name between the quotes, cut out of the words. */
static enum line_kind take_name(struct line *l, char *s)
{
    char close = *s == '"' ? '"' : '>';
    char *end = *s == '"' || *s == '<' ? strchr(s + 1, close) : NULL;
    if (!end)
        return LINE_OTHER_INCLUDE;
    *end = 0;
    l->name = s + 1;
    return close == '"' ? LINE_INCLUDE : LINE_SYSTEM;
}

static enum line_kind kind_of(struct line *l, struct buf *words)
{
    static const char *const names[] = {
        [LINE_IF] = " if ifdef ifndef ",
        [LINE_ELSE] = " else elif elifdef elifndef ",
        [LINE_ENDIF] = " endif ",
        [LINE_DEFINE] = " define ",
        [LINE_ONCE] = " pragma ",
        [LINE_INCLUDE] = " include ",
        [LINE_OTHER_INCLUDE] = " include_next import embed ",
    };
    char name[20];
    char *s = skip_blanks(words->data);
    if (!*s)
        return LINE_BLANK;
    if (*s != '#' && strncmp(s, "%:", 2))
        return LINE_TEXT;
    s = skip_blanks(s + (*s == '#' ? 1 : 2));
    l->words = s;
    size_t n = strspn(s, WORD_LETTERS);
    snprintf(name, sizeof name, " %.*s ", (int)(n < 18 ? n : 18), s);
    char *after = skip_blanks(s + n);
    enum line_kind kind = LINE_IF;
    while (kind <= LINE_OTHER_INCLUDE && !(names[kind] && strstr(names[kind], name)))
        kind++;
    if (kind == LINE_INCLUDE)
        return take_name(l, after);
    if (kind == LINE_ONCE && (strncmp(after, "once", 4) || *skip_blanks(after + 4)))
        return LINE_TEXT;
    return kind <= LINE_OTHER_INCLUDE ? kind : LINE_TEXT;
}

bool text_next(struct text *t, struct line *out)
{
    if (!*t->at || t->words.failed)
        return false;
    *out = (struct line){ .from = t->at, .number = t->ended + 1, .words = "" };
    buf_clear(&t->words);
    out->lines = take_line(t, &out->odd);
    buf_put(&t->words, "", 0);
    if (t->words.failed)
        return false;
    out->to = t->at;
    t->ended += out->lines;
    out->kind = t->words.len ? kind_of(out, &t->words) : LINE_BLANK;
    t->once = t->once || out->kind == LINE_ONCE;
    t->parted = t->parted || (out->kind == LINE_ELSE && t->depth <= t->guard);
    t->depth += (out->kind == LINE_IF) - (out->kind == LINE_ENDIF);
    out->sure = t->sure && t->depth == t->guard && !t->parted;
    return true;
}

int text_end(struct text *t, int rc, struct err *err)
{
    rc = rc ?: buf_check(&t->words, err);
    buf_free(&t->words);
    return rc;
}

/* Whether l is #ifndef X or #if !defined X, and the next directive is #define X. The caller sees whether all the rest lies in it. */
static bool opens_guard(struct text *t, struct line *l)
{
#define NAME "%255[A-Za-z0-9_]"
    char name[256], defined[256];
    int n = 0;
    sscanf(l->words, "ifndef " NAME " %n", name, &n);
    if (!n)
        sscanf(l->words, "if ! defined " NAME " %n", name, &n);
    if (!n)
        sscanf(l->words, "if ! defined ( " NAME " ) %n", name, &n);
    if (l->kind != LINE_IF || !n || l->words[n])
        return false;
    while (text_next(t, l) && l->kind == LINE_BLANK)
        ;
    n = 0;
    sscanf(l->words, "define " NAME "%n", defined, &n);
    return l->kind == LINE_DEFINE && n && !strcmp(name, defined) && strchr(" \t", l->words[n]);
#undef NAME
}

int text_file(struct text *t, const struct include *file, bool sure, struct err *err)
{
    struct text s = { .at = file->text };
    struct line l;
    bool first = true, guard = false, closed = false;
    while (text_next(&s, &l)) {
        if (l.kind == LINE_BLANK || l.kind == LINE_ONCE)
            continue;
        if (first)
            guard = opens_guard(&s, &l);
        else if (closed || (l.kind == LINE_ELSE && s.depth == 1))
            guard = false;
        first = false;
        closed = s.depth == 0;
    }
    *t = (struct text){ file, file->name, file->text, .sure = sure, .once = s.once, .guard = guard && closed };
    return text_end(&s, 0, err);
}

/* ---- where files lie */

/* Appends the parts of a name to a path. False if they lead out of the folder, or if no file may have such a name. */
static bool append(char path[MAX_PATH_NAME + 1], const char *name)
{
    size_t len = strlen(path), n = strlen(name);
    if (!n || *name == '/' || name[n - 1] == '/')
        return false;
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || strchr("\x7f\"\\", *c))
            return false;
    for (; *name; name += n + (name[n] == '/')) {
        n = strcspn(name, "/");
        if (n == 2 && !strncmp(name, "..", 2)) {
            if (!len)
                return false;
            const char *slash = strrchr(path, '/');
            len = slash ? (size_t)(slash - path) : 0;
            path[len] = 0;
        } else if (n && !(n == 1 && *name == '.')) {
            if (*name == '.' || len + n + 1 > MAX_PATH_NAME)
                return false;
            len += (size_t)sprintf(path + len, "%s%.*s", len ? "/" : "", (int)n, name);
        }
    }
    return *path;
}

int include_places(const struct op *op, const struct include *from, const char *name, bool angled,
                   struct include_place out[MAX_PLACES])
{
    const char *slash = from ? strrchr(from->name, '/') : NULL;
    struct include_place p = { .shared = from && from->shared };
    int n = 0;
    if (slash)
        memcpy(p.path, from->name, (size_t)(slash - from->name));
    if (from && !angled && append(p.path, name))
        out[n++] = p;
    for (int i = angled ? 0 : -1; i < op->ninclude_dirs; i++) {
        p = (struct include_place){ .shared = false };
        if (i >= 0 && !append(p.path, op->include_dirs[i]))
            continue;
        if (append(p.path, name))
            out[n++] = p;
    }
    p = (struct include_place){ .shared = true };
    if (!angled && append(p.path, name))
        out[n++] = p;
    return n;
}

bool include_path_ok(const char *path)
{
    struct include_place p = { 0 };
    return append(p.path, path) && !strcmp(p.path, path);
}

int op_include_at(const struct op *op, const struct include_place *place)
{
    for (int k = 0; k < op->nincludes; k++)
        if (op->includes[k].shared == place->shared && !op->includes[k].outside && !strcmp(op->includes[k].name, place->path))
            return k;
    return -1;
}

int op_include(const struct op *op, const struct include *from, const char *name, bool angled)
{
    struct include_place places[MAX_PLACES];
    int n = include_places(op, from, name, angled, places), found = -1;
    for (int i = 0; i < n && found < 0; i++)
        found = op_include_at(op, &places[i]);
    return found;
}

bool include_is_numbers(const struct include *file)
{
    const char *slash = strrchr(file->name, '/');
    return !strcmp(slash ? slash + 1 : file->name, NUMBERS) && (file->shared || strstr(file->text, "NUMBERS_INLINE"));
}

bool op_include_outside(const struct op *op, const char *name)
{
    bool is = false;
    for (int k = 0; k < op->nincludes; k++)
        is = is || (op->includes[k].outside && !strcmp(op->includes[k].name, name));
    return is;
}

/* Marks the files that the text may include. */
static int mark_includes(const struct op *op, struct text t, bool *marked, struct err *err)
{
    struct line l;
    int rc = 0;
    while (!rc && text_next(&t, &l)) {
        bool angled = l.kind == LINE_SYSTEM;
        int k = angled || l.kind == LINE_INCLUDE ? op_include(op, t.file, l.name, angled) : -1;
        if (k < 0 || marked[k])
            continue;
        marked[k] = true;
        rc = mark_includes(op, (struct text){ .file = &op->includes[k], .at = op->includes[k].text }, marked, err);
    }
    return text_end(&t, rc, err);
}

int put_with_includes(struct buf *out, const struct op *op, const char *text, struct err *err)
{
    bool marked[MAX_INCLUDES] = { false };
    buf_lstr(out, text);
    bool any = text && strstr(text, "$("); /* a text that computes parts of itself may include any of them */
    int rc = text && op->nincludes && !any ? mark_includes(op, (struct text){ .at = text }, marked, err) : 0;
    for (int i = 0; text && i < op->nincludes; i++)
        if (any || marked[i]) {
            buf_u8(out, op->includes[i].shared);
            buf_lstr(out, op->includes[i].name);
            buf_lstr(out, op->includes[i].text);
        }
    return rc;
}
