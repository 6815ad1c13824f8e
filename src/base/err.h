/* Errors: a negative code and one line of text.
 *
 * Internal calls return 0 or a negative code and take `struct err *` last. The message names what is wrong, where, and what would
 * be right; whoever adds context does it once, with err_prefix. A null `struct err *` is allowed everywhere. */
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
};

struct err {
    int code;
    char msg[1024]; /* one line, no newline at its end; cut where too long */
};

/* Sets code and message, returns code. */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Puts text in front of the message that is there. Returns nothing: with a null err there is no code to return, so the caller hands
 * its own on. */
void err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* For work that goes on past failures: where `first` is 0 so far, rc with its message becomes the first. Returns the first. */
int err_first(struct err *err, int first, int rc, const struct err *why);
/* Makes any text one line that can be shown, whatever a script or driver put into it: a blank for a control character (those that
 * turn the direction of writing among them), '?' for a byte that is no UTF-8, nothing for blanks at the end. In place. */
void err_line(char *s);
/* Whether all of a text is UTF-8. */
bool utf8_ok(const char *s);
/* ERR_NOMEM with its standard message. */
int err_nomem(struct err *err);

#endif
