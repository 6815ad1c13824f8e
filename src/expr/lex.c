#include "expr/lex.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* Unlike those of <ctype.h>, these do not depend on the locale. */
static bool digit(char c)
{
    return c >= '0' && c <= '9';
}
static bool hex_digit(char c)
{
    return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
static bool letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool word_char(char c)
{
    return letter(c) || digit(c);
}

static void bad(struct lexer *l, const char *what)
{
    l->token = TOK_BAD;
    l->what = what;
}

static const struct infix infixes[] = {
    { "or", OP_OR, 1, 1 },   { "and", OP_AND, 2, 2 }, { "<<", OP_SHL, 7, 7 },  { ">>", OP_SHR, 7, 7 },    { "<=", OP_LE, 3, 3 },
    { ">=", OP_GE, 3, 3 },   { "==", OP_EQ, 3, 3 },   { "~=", OP_NE, 3, 3 },   { "//", OP_IDIV, 11, 11 }, { "<", OP_LT, 3, 3 },
    { ">", OP_GT, 3, 3 },    { "|", OP_BOR, 4, 4 },   { "~", OP_BXOR, 5, 5 },  { "&", OP_BAND, 6, 6 },    { "+", OP_ADD, 10, 10 },
    { "-", OP_SUB, 10, 10 }, { "*", OP_MUL, 11, 11 }, { "/", OP_DIV, 11, 11 }, { "%", OP_MOD, 11, 11 },   { "^", OP_POW, 14, 13 },
};
enum { NINFIXES = sizeof infixes / sizeof *infixes };

/* A name, a dotted name, or a word of the language. */
static void lex_word(struct lexer *l)
{
    static const struct {
        const char *word;
        enum token token;
    } words[] = { { "not", TOK_NOT }, { "true", TOK_TRUE }, { "false", TOK_FALSE } };

    const char *start = l->text + l->at, *p = start;
    while (word_char(*p) || (*p == '.' && letter(p[1])))
        p++;
    l->len = (size_t)(p - start);
    l->token = TOK_NAME;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i].word) == l->len && memcmp(words[i].word, start, l->len) == 0)
            l->token = words[i].token;
    for (int i = 0; i < NINFIXES; i++)
        if (strlen(infixes[i].text) == l->len && memcmp(infixes[i].text, start, l->len) == 0) {
            l->token = TOK_INFIX;
            l->infix = &infixes[i];
        }
}

static double to_double(const char *s)
{
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    double f = c ? strtod_l(s, NULL, c) : strtod(s, NULL);
    if (c)
        freelocale(c);
    return f;
}

/* Reads the digits up to `end`; false if the number does not fit int64_t. */
static bool to_int(const char *p, const char *end, int base, int64_t *out)
{
    int64_t v = 0;
    for (; p < end; p++) {
        int d = digit(*p) ? *p - '0' : (*p | 32) - 'a' + 10;
        if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, d, &v))
            return false;
    }
    *out = v;
    return true;
}

static const char *skip_digits(const char *p)
{
    while (digit(*p))
        p++;
    return p;
}

/* Finds the end of a decimal number; *whole: it has neither point nor exponent. Null if it is malformed. */
static const char *decimal_end(const char *p, bool *whole)
{
    *whole = true;
    p = skip_digits(p);
    if (*p == '.') {
        *whole = false;
        p = skip_digits(p + 1);
    }
    if (*p == 'e' || *p == 'E') {
        *whole = false;
        p += p[1] == '+' || p[1] == '-' ? 2 : 1;
        if (!digit(*p))
            return NULL;
        p = skip_digits(p);
    }
    return p;
}

static void lex_number(struct lexer *l)
{
    const char *start = l->text + l->at, *digits = start, *end;
    bool whole = true;
    int base = 10;
    if (start[0] == '0' && (start[1] == 'x' || start[1] == 'X')) {
        base = 16;
        digits = end = start + 2;
        while (hex_digit(*end))
            end++;
    } else {
        end = decimal_end(start, &whole);
    }
    int64_t i = 0;
    if (!end || end == digits || word_char(*end) || *end == '.') {
        bad(l, "malformed number");
        return;
    }
    l->len = (size_t)(end - start);
    if (whole && !to_int(digits, end, base, &i)) {
        bad(l, "integer past 64 bits");
        return;
    }
    l->token = TOK_NUMBER;
    l->number = whole ? val_int(i) : val_float(to_double(start));
    if (!whole && l->number.f > 1.7976931348623157e308)
        bad(l, "number too large");
}

/* The character that an escape stands for, 0 if there is no such escape. */
static char escaped(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case '\\':
    case '\'':
    case '"':
        return c;
    }
    return 0;
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

static void lex_sign(struct lexer *l)
{
    const char *p = l->text + l->at;
    if (p[0] == '-' && p[1] == '-') { /* Lua would take the rest for a comment */
        bad(l, "there are no comments here; a minus of a minus is written - -");
        return;
    }
    for (int i = 0; i < NINFIXES; i++) {
        l->len = strlen(infixes[i].text);
        if (strncmp(p, infixes[i].text, l->len) == 0) {
            l->token = TOK_INFIX;
            l->infix = &infixes[i];
            return;
        }
    }
    l->len = 1;
    l->token = *p == '(' ? TOK_OPEN : *p == ')' ? TOK_CLOSE : *p == ',' ? TOK_COMMA : TOK_BAD;
    if (l->token == TOK_BAD)
        l->what = p[0] == '!' ? "unknown sign (Lua's are ~= and not)" : "unknown sign";
}

void lex_next(struct lexer *l)
{
    l->at += l->len;
    l->len = 0;
    const char *p = l->text + l->at;
    while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')
        p++;
    l->at = (size_t)(p - l->text);
    if (!*p)
        l->token = TOK_END;
    else if (letter(*p))
        lex_word(l);
    else if (digit(*p) || (*p == '.' && digit(p[1])))
        lex_number(l);
    else if (*p == '\'' || *p == '"')
        lex_quoted(l);
    else
        lex_sign(l);
}
