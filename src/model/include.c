#include "model/include.h"

#include <stdlib.h>
#include <string.h>

struct lines lines_of(const char *text)
{
    return (struct lines){ .at = text, .number = 1 };
}

void lines_end(struct lines *s)
{
    buf_free(&s->words);
}

static bool ends_line(char c)
{
    return c == '\n' || c == '\r';
}

static const char *past_end(const char *s)
{
    return s + (s[0] == '\r' && s[1] == '\n' ? 2 : 1);
}

/* The next character as a compiler's first phases give it: lines that end in \ are joined, trigraphs replaced, and every end of a line
 * is \n. 0 at the end of the text. */
static char take(const char **at, int *lines)
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
        }
        const char *after = s + n + (c == '\\' ? strspn(s + n, " \t\v\f") : 0);
        if (c == '\\' && ends_line(*after)) {
            *at = past_end(after);
            ++*lines;
            continue;
        }
        *at = ends_line(c) ? past_end(s) : s + n;
        return ends_line(c) ? '\n' : c;
    }
}

static const char *skip_blanks(const char *s)
{
    return s + strspn(s, " \t\v\f");
}

/* Bytes of the name that stands at s. */
static size_t name_bytes(const char *s)
{
    return strspn(s, "abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
}

static char peek(const char *at)
{
    int lines = 0;
    return take(&at, &lines);
}

/* Reads one line as a compiler sees it, and puts it without comments into s->words. Returns how many ends of lines were in it. */
static int take_line(struct lines *s)
{
    char quote = 0, last = 0;
    bool comment = false, rest = false;
    int lines = 0;
    for (char c; (c = take(&s->at, &lines));) {
        lines += c == '\n';
        if (c == '\n' && !comment)
            break;
        if (comment && c == '*' && peek(s->at) == '/') {
            take(&s->at, &lines);
            comment = false;
            c = ' ';
        } else if (comment || rest) {
            continue;
        } else if (!quote && c == '/' && (peek(s->at) == '*' || peek(s->at) == '/')) {
            comment = take(&s->at, &lines) == '*';
            rest = !comment;
            continue;
        } else if (quote && c == '\\' && peek(s->at) && peek(s->at) != '\n') {
            buf_put(&s->words, &c, 1);
            c = take(&s->at, &lines);
        } else if (quote) {
            quote = c == quote ? 0 : quote;
        } else if (c == '"' || (c == '\'' && !(last >= '0' && last <= '9'))) { /* not the ' of 1'000 */
            quote = c;
        }
        buf_put(&s->words, &c, 1);
        last = c;
    }
    s->in_comment = comment;
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
    static const struct {
        const char *word;
        enum line_kind kind;
    } known[] = {
        { "if", LINE_IF },
        { "ifdef", LINE_IF },
        { "ifndef", LINE_IF },
        { "else", LINE_ELSE },
        { "elif", LINE_ELSE },
        { "elifdef", LINE_ELSE },
        { "elifndef", LINE_ELSE },
        { "endif", LINE_ENDIF },
        { "define", LINE_DEFINE },
        { "include", LINE_INCLUDE },
        { "pragma", LINE_ONCE },
        { "include_next", LINE_OTHER_INCLUDE },
        { "import", LINE_OTHER_INCLUDE },
        { "embed", LINE_OTHER_INCLUDE },
    };
    if (!words->len)
        return LINE_BLANK;
    char *s = words->data + (skip_blanks(words->data) - words->data);
    if (!*s)
        return LINE_BLANK;
    size_t hash = *s == '#' ? 1 : !strncmp(s, "%:", 2) ? 2 : 0;
    if (!hash)
        return LINE_TEXT;
    s += hash;
    s += skip_blanks(s) - s;
    size_t n = name_bytes(s);
    char *after = s + n;
    after += skip_blanks(after) - after;
    l->words = after;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].word) == n && !strncmp(s, known[i].word, n)) {
            if (known[i].kind == LINE_INCLUDE)
                return take_name(l, after);
            if (known[i].kind == LINE_ONCE && (strncmp(after, "once", 4) || *skip_blanks(after + 4)))
                return LINE_TEXT;
            l->negative = !strcmp(known[i].word, "ifndef") || (!strcmp(known[i].word, "if") && *after == '!');
            return known[i].kind;
        }
    return LINE_TEXT;
}

bool lines_next(struct lines *s, struct line *out)
{
    if (!*s->at || s->words.failed)
        return false;
    *out = (struct line){ .from = s->at, .number = s->number };
    buf_clear(&s->words);
    out->lines = take_line(s);
    buf_put(&s->words, "", 0);
    if (s->words.failed)
        return false;
    out->to = s->at;
    s->number += out->lines;
    out->kind = s->words.len ? kind_of(out, &s->words) : LINE_BLANK;
    return true;
}

/* ---- what surrounds a line */

struct position position_of(const struct text_facts *f)
{
    return (struct position){ .base = f->guard };
}

bool position_pass(struct position *p, const struct line *l)
{
    if (l->kind == LINE_ELSE && p->depth <= p->base)
        p->parted = true;
    p->depth += (l->kind == LINE_IF) - (l->kind == LINE_ENDIF);
    return p->depth >= 0;
}

bool position_sure(const struct position *p)
{
    return p->depth == p->base && !p->parted;
}

/* Whether l is #ifndef X or #if !defined X, and the next directive is #define X. The caller sees whether all the rest lies in it. */
static bool opens_guard(struct lines *s, struct line *l)
{
    char name[256];
    const char *w = l->words;
    if (!l->negative) /* a line without a directive has no words */
        return false;
    if (*w == '!')
        w = skip_blanks(w + 1);
    if (!strncmp(w, "defined", 7))
        w = skip_blanks(w + 7);
    if (*w == '(')
        w = skip_blanks(w + 1);
    size_t n = name_bytes(w);
    const char *behind = skip_blanks(w + n);
    if (!n || n >= sizeof name || (*behind && strcmp(behind, ")")))
        return false;
    memcpy(name, w, n); /* the next line overwrites the words */
    while (lines_next(s, l) && l->kind == LINE_BLANK)
        ;
    return l->kind == LINE_DEFINE && name_bytes(l->words) == n && !memcmp(l->words, name, n) &&
           !(l->words[n] && !strchr(" \t", l->words[n]));
}

int text_facts_of(const char *text, struct text_facts *out, struct err *err)
{
    struct lines s = lines_of(text);
    struct line l;
    int depth = 0;
    bool first = true, closed = false;
    *out = (struct text_facts){ 0 };
    while (lines_next(&s, &l)) {
        out->once = out->once || l.kind == LINE_ONCE;
        if (l.kind == LINE_BLANK || l.kind == LINE_ONCE)
            continue;
        if (first) {
            out->guard = opens_guard(&s, &l);
            out->once = out->once || l.kind == LINE_ONCE;
            depth = out->guard;
            first = false;
            if (out->guard || s.words.failed)
                continue;
        }
        if (closed || (l.kind == LINE_ELSE && depth == 1))
            out->guard = false;
        depth += (l.kind == LINE_IF) - (l.kind == LINE_ENDIF);
        closed = depth == 0;
    }
    bool failed = s.words.failed;
    lines_end(&s);
    out->guard = out->guard && closed;
    return failed ? err_nomem(err) : 0;
}

/* ---- where files lie */

/* Appends the parts of a path; false if they lead out of the folder, or one of them may not be. */
static bool append(char path[MAX_PATH_NAME + 1], const char *name, size_t bytes)
{
    size_t len = strlen(path);
    for (const char *end = name + bytes; name < end;) {
        const char *slash = memchr(name, '/', (size_t)(end - name));
        size_t n = (size_t)((slash ? slash : end) - name);
        if (n == 2 && !strncmp(name, "..", 2)) {
            if (!len)
                return false;
            while (len && path[len - 1] != '/')
                len--;
            len -= len > 0;
        } else if (n && !(n == 1 && *name == '.')) {
            if (*name == '.' || len + n + 1 > MAX_PATH_NAME)
                return false;
            if (len)
                path[len++] = '/';
            memcpy(path + len, name, n);
            len += n;
        }
        path[len] = 0;
        name += slash ? n + 1 : n;
    }
    return true;
}

static bool name_may_be(const char *name)
{
    bool good = *name && *name != '/' && name[strlen(name) - 1] != '/';
    for (const char *c = name; *c; c++)
        good = good && (unsigned char)*c >= ' ' && !strchr("\x7f\"\\", *c);
    return good;
}

int include_places(const struct include *from, const char *name, struct include_place out[3])
{
    int n = 0;
    if (!name_may_be(name))
        return 0;
    for (int way = from ? 0 : 1; way < 3; way++) {
        struct include_place p = { .shared = way ? way == 2 : from->shared };
        const char *slash = way ? NULL : strrchr(from->name, '/');
        if (slash && !append(p.path, from->name, (size_t)(slash - from->name)))
            continue;
        if (append(p.path, name, strlen(name)) && *p.path)
            out[n++] = p;
    }
    return n;
}

bool include_path_ok(const char *path)
{
    struct include_place p = { 0 };
    return name_may_be(path) && append(p.path, path, strlen(path)) && !strcmp(p.path, path);
}

int op_include(const struct op *op, const struct include *from, const char *name)
{
    struct include_place places[3];
    int n = include_places(from, name, places);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < op->nincludes; k++)
            if (op->includes[k].shared == places[i].shared && !strcmp(op->includes[k].name, places[i].path))
                return k;
    return -1;
}

/* Marks the files that the text may include. If the text computes parts of itself, that may be any of them. */
static bool mark_includes(const struct op *op, const struct include *from, const char *text, bool *marked)
{
    struct lines s = lines_of(text);
    struct line l;
    bool any = !from && strstr(text, "$(");
    for (int i = 0; any && i < op->nincludes; i++)
        marked[i] = true;
    while (!any && lines_next(&s, &l)) {
        int k = l.kind == LINE_INCLUDE ? op_include(op, from, l.name) : -1;
        if (k >= 0 && !marked[k]) {
            marked[k] = true;
            if (!mark_includes(op, &op->includes[k], op->includes[k].text, marked))
                s.words.failed = true;
        }
    }
    bool failed = s.words.failed;
    lines_end(&s);
    return !failed;
}

int put_with_includes(struct buf *out, const struct op *op, const char *text, struct err *err)
{
    bool marked[MAX_INCLUDES] = { false };
    buf_lstr(out, text);
    if (!text || !op->nincludes)
        return 0;
    if (!mark_includes(op, NULL, text, marked))
        return err_nomem(err);
    for (int i = 0; i < op->nincludes; i++)
        if (marked[i]) {
            buf_u8(out, op->includes[i].shared);
            buf_lstr(out, op->includes[i].name);
            buf_lstr(out, op->includes[i].text);
        }
    return 0;
}
