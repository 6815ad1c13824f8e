#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "expr/code.h"

/* Unlike those of <ctype.h>, these do not depend on the locale. */
static bool digit(char c)
{
    return c >= '0' && c <= '9';
}
static bool letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void bad(struct lexer *l, const char *what)
{
    l->token = TOK_BAD;
    l->what = what;
}

/* The first that fits is taken, so `<<` stands before `<`. */
static const struct word words[] = {
    { "or", TOK_INFIX, OP_OR, 1, 1 },   { "and", TOK_INFIX, OP_AND, 2, 2 }, { "<<", TOK_INFIX, OP_SHL, 7, 7 },
    { ">>", TOK_INFIX, OP_SHR, 7, 7 },  { "<=", TOK_INFIX, OP_LE, 3, 3 },   { ">=", TOK_INFIX, OP_GE, 3, 3 },
    { "==", TOK_INFIX, OP_EQ, 3, 3 },   { "~=", TOK_INFIX, OP_NE, 3, 3 },   { "//", TOK_INFIX, OP_IDIV, 11, 11 },
    { "<", TOK_INFIX, OP_LT, 3, 3 },    { ">", TOK_INFIX, OP_GT, 3, 3 },    { "|", TOK_INFIX, OP_BOR, 4, 4 },
    { "~", TOK_INFIX, OP_BXOR, 5, 5 },  { "&", TOK_INFIX, OP_BAND, 6, 6 },  { "+", TOK_INFIX, OP_ADD, 10, 10 },
    { "-", TOK_INFIX, OP_SUB, 10, 10 }, { "*", TOK_INFIX, OP_MUL, 11, 11 }, { "/", TOK_INFIX, OP_DIV, 11, 11 },
    { "%", TOK_INFIX, OP_MOD, 11, 11 }, { "^", TOK_INFIX, OP_POW, 14, 13 }, { "not", TOK_NOT, .op = OP_NOT },
    { "true", .token = TOK_TRUE },      { "false", .token = TOK_FALSE },    { "(", .token = TOK_OPEN },
    { ")", .token = TOK_CLOSE },        { ",", .token = TOK_COMMA },
};

/* What those who write C or Python write, and what it is here; null for other signs. */
static const char *foreign(const char *s)
{
    static const char *const signs[][2] = { { "&&", "unknown sign (Lua's is and)" },
                                            { "||", "unknown sign (Lua's is or)" },
                                            { "!=", "unknown sign (Lua's is ~=)" },
                                            { "!", "unknown sign (Lua's is not)" },
                                            { "**", "unknown sign (Lua's is ^)" },
                                            { "=", "unknown sign (Lua compares with ==)" },
                                            { "?", "unknown sign (Lua's for a ? b : c is a and b or c)" } };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (!strncmp(s, signs[i][0], strlen(signs[i][0])) && strncmp(s, "==", 2))
            return signs[i][1];
    return NULL;
}

/* A sign or a word of the language, a name, or a dotted name. */
static void lex_word(struct lexer *l)
{
    const char *start = l->text + l->at, *p = start;
    while (letter(*p) || (p > start && (digit(*p) || (*p == '.' && letter(p[1])))))
        p++;
    size_t n = (size_t)(p - start);
    const char *not_ours = n ? NULL : foreign(start);
    if (not_ours) {
        bad(l, not_ours);
        return;
    }
    for (const struct word *w = words; w < words + sizeof words / sizeof *words; w++) {
        l->len = *w->text == *start ? strlen(w->text) : 0;
        if (!l->len || strncmp(start, w->text, l->len) || (n && n != l->len))
            continue;
        l->word = w;
        l->token = w->token;
        return;
    }
    l->len = n;
    l->token = TOK_NAME;
    if (!n)
        bad(l, "unknown sign");
}

/* strtod as in the C locale: libcutune lives in programs that may have set one with a decimal comma. */
static double to_float(const char *s, char **end)
{
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    double f = c ? strtod_l(s, end, c) : strtod(s, end);
    if (c)
        freelocale(c);
    return f;
}

static void lex_number(struct lexer *l)
{
    const char *start = l->text + l->at;
    char *end;
    errno = 0;
    if (start[0] == '0' && (start[1] == 'x' || start[1] == 'X')) {
        l->number = val_int(strtoll(start, &end, 16)); /* without digits it ends before the x */
    } else {
        l->number = val_int(strtoll(start, &end, 10));
        if (*end == '.' || *end == 'e' || *end == 'E')
            l->number = val_float(to_float(start, &end));
    }
    l->len = (size_t)(end - start);
    l->token = TOK_NUMBER;
    if (letter(*end) || digit(*end) || *end == '.')
        bad(l, "malformed number");
    else if (l->number.type == VAL_INT ? errno : l->number.f > 1.7976931348623157e308)
        bad(l, l->number.type == VAL_INT ? "integer past 64 bits" : "number too large");
}

/* The character that an escape stands for, 0 if there is no such escape. */
static char escaped(char c)
{
    return c == 'n' ? '\n' : c == 't' ? '\t' : c == '\\' || c == '\'' || c == '"' ? c : 0;
}

static void lex_quoted(struct lexer *l)
{
    const char *start = l->text + l->at, *p = start + 1;
    for (; *p != *start; p++) {
        if (*p == '\\' && !escaped(*++p)) {
            bad(l, "unknown escape in this string: there are \\n \\t \\\\ \\' \\\"");
            return;
        }
        if (!*p || *p == '\n') {
            bad(l, "string without its end");
            return;
        }
    }
    l->token = TOK_STRING;
    l->len = (size_t)(p + 1 - start);
}

size_t lex_string(const struct lexer *l, char *out)
{
    const char *p = l->text + l->at + 1, *end = l->text + l->at + l->len - 1;
    size_t n = 0;
    for (; p < end; p++)
        out[n++] = *p == '\\' ? escaped(*++p) : *p;
    out[n] = 0;
    return n;
}

bool lex_is(const struct lexer *l, const char *word)
{
    return strlen(word) == l->len && !memcmp(word, l->text + l->at, l->len);
}

void lex_next(struct lexer *l)
{
    l->at += l->len;
    l->at += strspn(l->text + l->at, " \t\n\r");
    l->len = 0;
    const char *p = l->text + l->at;
    if (!*p)
        l->token = TOK_END;
    else if (digit(*p) || (*p == '.' && digit(p[1])))
        lex_number(l);
    else if (*p == '\'' || *p == '"')
        lex_quoted(l);
    else if (p[0] == '-' && p[1] == '-') /* Lua would take the rest for a comment */
        bad(l, "there are no comments here; a minus of a minus is written - -");
    else
        lex_word(l);
}
