#include "base/err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* How many bytes the character at s has; 0 if it is not UTF-8. */
static size_t character(const unsigned char *s, uint32_t *c)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t n = *s < 0x80 ? 1 : *s < 0xc0 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : *s < 0xf8 ? 4 : 0;
    *c = n == 1 ? *s : *s & (0x7f >> n);
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *c = *c << 6 | (s[i] & 0x3f);
    }
    bool half = *c >= 0xd800 && *c <= 0xdfff;
    return n && *c >= least[n] && *c <= 0x10ffff && !half ? n : 0;
}

/* Characters that move a terminal's cursor or change the order in which text is shown. */
static bool is_control(uint32_t c)
{
    return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

bool utf8_ok(const char *s)
{
    for (uint32_t c; *s;) {
        size_t n = character((const unsigned char *)s, &c);
        if (!n)
            return false;
        s += n;
    }
    return true;
}

void err_line(char *s)
{
    char *out = s, *end = s;
    for (uint32_t c; *s;) {
        size_t n = character((unsigned char *)s, &c);
        if (n == 0 || is_control(c)) {
            *out++ = n ? ' ' : '?';
            s += n ? n : 1;
        } else {
            memmove(out, s, n);
            out += n;
            s += n;
        }
        if (out[-1] != ' ')
            end = out;
    }
    *end = 0;
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
    if (!err)
        return code;
    va_list ap;
    va_start(ap, fmt);
    char text[sizeof err->msg]; /* fmt's arguments may be err's own text */
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    err_line(text);
    memcpy(err->msg, text, sizeof text);
    return err->code = code;
}

void err_prefix(struct err *err, const char *fmt, ...)
{
    if (!err)
        return;
    va_list ap;
    va_start(ap, fmt);
    char text[sizeof err->msg];
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof text)
        snprintf(text + n, sizeof text - (size_t)n, "%s", err->msg);
    err_line(text);
    memcpy(err->msg, text, sizeof text);
}

int err_first(struct err *err, int first, int rc, const struct err *why)
{
    return first || !rc ? first : err_set(err, rc, "%s", why->msg);
}

int err_nomem(struct err *err)
{
    return err_set(err, ERR_NOMEM, "out of memory");
}
