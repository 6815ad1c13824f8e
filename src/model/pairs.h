/* "NAME=VALUE,NAME=VALUE": how people write problems, types and configurations. Used inside model/ only. */
#ifndef MODEL_PAIRS_H
#define MODEL_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* One of them, borrowed from the text; spaces around name and value are left out. For messages both fit "%.*s". */
struct pair {
    const char *name, *value;
    int name_len, value_len;
};

/* Reads the next pair and moves *text past it. 1: there was one, 0: the end, negative: malformed, and a message that begins with
 * `what`. An empty text holds no pairs. */
int pair_next(const char **text, struct pair *out, const char *what, struct err *err);
bool pair_named(const struct pair *p, const char *name);
bool pair_valued(const struct pair *p, const char *value);

/* A list for a message, "m, n, k", cut with "..." where it grows too long. */
struct listing {
    char text[400];
    size_t len;
};
void listing_add(struct listing *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
