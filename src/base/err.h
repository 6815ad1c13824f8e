/* Errors: a negative code and one line of text.
 *
 * Internal calls return 0 or a negative code and take a `struct err *` last, which may be null. The message says what is wrong, where,
 * and what would be right. Context is put in front of it with err_prefix, once.
 *
 * Steps that each need the one before are a chain of GNU C's `?:`, which gives its first operand unless that is 0:
 * int rc = open_it(&x, err) ?: read_it(x, err); */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>

enum {
    ERR_NOMEM = -1,       /* an allocation failed */
    ERR_INVALID = -2,     /* input that can never be right: script, expression, argument, file content */
    ERR_NOTFOUND = -3,    /* a name, file, record or device that is not there */
    ERR_IO = -4,          /* the operating system refused a file or a pipe */
    ERR_DEVICE = -5,      /* a driver call failed */
    ERR_UNSUPPORTED = -6, /* this device or driver cannot do it */
    ERR_BUSY = -7,        /* a lock is held elsewhere */
    ERR_TIMEOUT = -8,     /* a deadline passed */
    ERR_CORRUPT = -9,     /* a stored or received value that cutune would never have written */
    ERR_STRICT = -10,     /* strict mode refuses what it would otherwise do */
};

struct err {
    int code;
    char msg[1024]; /* one line, no newline at its end; cut if it is too long */
};

/* Sets code and message, returns code. */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Puts text in front of the message. Returns nothing, because a null err has no code: the caller returns its own. */
void err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* For work that goes on after a failure and reports the first one. `first` is the first code so far, 0 if all went well; `rc` and `why`
 * are the latest code and its message. Returns the first code, now with rc counted, whose message is then in err. */
int err_first(struct err *err, int first, int rc, const struct err *why);
/* Makes of any text one line that is safe to show, in place: control characters (also those that change the direction of writing)
 * become blanks, bytes that are not UTF-8 become '?', and blanks at the end go. */
void err_line(char *s);
/* Whether all of a text is UTF-8. */
bool utf8_ok(const char *s);
/* ERR_NOMEM with its standard message. */
int err_nomem(struct err *err);

#endif
