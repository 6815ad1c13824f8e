#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A message is one line, whatever a script or driver put into it. */
static void one_line(char *s)
{
    size_t n = strlen(s);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] < ' ' || s[i] == 0x7f)
            s[i] = ' ';
    while (n && s[n - 1] == ' ')
        s[--n] = 0;
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
    one_line(text);
    memcpy(err->msg, text, sizeof text);
    return err->code = code;
}

int err_prefix(struct err *err, const char *fmt, ...)
{
    if (!err)
        return 0;
    va_list ap;
    va_start(ap, fmt);
    char text[sizeof err->msg];
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof text)
        snprintf(text + n, sizeof text - (size_t)n, "%s", err->msg);
    one_line(text);
    memcpy(err->msg, text, sizeof text);
    return err->code;
}

int err_nomem(struct err *err)
{
    return err_set(err, ERR_NOMEM, "out of memory");
}
