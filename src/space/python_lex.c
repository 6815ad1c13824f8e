/* The words of Python's expressions. */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "space/python_parts.h"

int py_fail(struct err *err, size_t at, const char *what)
{
    return err_set(err, ERR_INVALID, "column %zu: %s", at + 1, what);
}

struct py *py_wrong(struct py_reader *r, const char *what)
{
    r->failed = r->failed ?: py_fail(r->err, r->at, what);
    r->token = PT_END;
    return NULL;
}

static bool letter_at(const char *p, bool first)
{
    return (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_' || (!first && *p >= '0' && *p <= '9');
}

/* An integer in the bases that Python has, or a float; with underscores between digits. */
static void read_number(struct py_reader *r)
{
    const char *start = r->text + r->at;
    char digits[400], *end;
    size_t n = 0, i = 0;
    bool hex = start[0] == '0' && (start[1] | 32) == 'x';
    for (char before = 0;; before = start[i++]) {
        char c = start[i];
        bool sign = (c == '+' || c == '-') && !hex && (before | 32) == 'e';
        if (!letter_at(start + i, false) && c != '.' && !sign)
            break;
        if (c == '_' && letter_at(start + i + 1, false) && start[i + 1] != '_' && i)
            continue;
        if (n == sizeof digits - 1) {
            py_wrong(r, "a number of more than 400 digits");
            return;
        }
        digits[n++] = c;
    }
    digits[n] = 0;
    r->len = i;
    int base = digits[0] != '0'          ? 10
               : (digits[1] | 32) == 'x' ? 16
               : (digits[1] | 32) == 'o' ? 8
               : (digits[1] | 32) == 'b' ? 2
                                         : 10;
    errno = 0;
    r->token = PT_INT;
    r->number = strtoll(base == 10 ? digits : digits + 2, &end, base);
    bool digit = base == 10 || letter_at(digits + 2, false); /* strtoll would take a sign or 0x0x */
    if (!*end && errno)
        py_wrong(r, "an integer past 64 bits");
    else if (!*end && digit && base == 10 && digits[0] == '0' && strspn(digits, "0") < n)
        py_wrong(r, "an integer that begins with 0");
    if (!*end && digit)
        return;
    r->token = PT_FLOAT;
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    r->real = c ? strtod_l(digits, &end, c) : strtod(digits, &end);
    if (c)
        freelocale(c);
    if (*end || base != 10 || strspn(digits, "0123456789.eE+-") < n)
        py_wrong(r, "a malformed number");
    else if (r->real > 1.7976931348623157e308)
        py_wrong(r, "a number that is too large");
}

static void read_string(struct py_reader *r)
{
    const char *start = r->text + r->at, *p = start + 1;
    char *out = r->string = arena_alloc(r->arena, strlen(start) + 1);
    static const char escapes[] = "n\nt\t\\\\''\"\"";
    for (; out && *p && *p != *start && *p != '\n'; p++) {
        const char *e = *p == '\\' && p[1] ? strchr(escapes, p[1]) : NULL;
        while (e && (e - escapes) % 2) /* not what an escape stands for */
            e = strchr(e + 1, p[1]);
        if (*p == '\\' && !e) {
            py_wrong(r, "an unknown escape in this string: there are \\n \\t \\\\ \\' \\\"");
            return;
        }
        p += *p == '\\';
        *out++ = e ? e[1] : *p;
    }
    r->token = PT_TEXT;
    r->len = (size_t)(p + 1 - start);
    if (!out)
        r->failed = r->failed ?: err_nomem(r->err);
    else if (*p != *start)
        py_wrong(r, "a string without its end");
}

/* Goes on to the next token. After a failure there is none. */
void py_next(struct py_reader *r)
{
    static const char *const signs[] = { "**", "//", "<<", ">>", "<=", ">=", "==", "!=" };
    if (r->failed)
        return;
    r->at += r->len;
    r->at += strspn(r->text + r->at, " \t\r\n");
    const char *p = r->text + r->at;
    r->len = 1;
    r->token = PT_SIGN;
    if (!*p) {
        r->len = 0;
        r->token = PT_END;
    } else if ((*p >= '0' && *p <= '9') || (*p == '.' && p[1] >= '0' && p[1] <= '9')) {
        read_number(r);
    } else if (*p == '\'' || *p == '"') {
        read_string(r);
    } else if (letter_at(p, true)) {
        while (letter_at(p + r->len, false))
            r->len++;
        r->token = PT_NAME;
    } else {
        for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
            r->len = !strncmp(p, signs[i], 2) ? 2 : r->len;
    }
}
