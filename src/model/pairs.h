/* "NAME=VALUE,NAME=VALUE": how people write problems, types and configurations. For src/model only. */
#ifndef MODEL_PAIRS_H
#define MODEL_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* One of them. Name and value point into the text, without the spaces around them; print them with "%.*s". */
struct pair {
    const char *name, *value;
    int name_len, value_len;
};

/* Reads the next pair and moves *text past it. Returns 1 if there was one, 0 at the end, a negative code if the text is malformed: the
 * message then begins with `what`. An empty text has no pairs. */
int pair_next(const char **text, struct pair *out, const char *what, struct err *err);
bool pair_named(const struct pair *p, const char *name);
bool pair_valued(const struct pair *p, const char *value);

/* A list for a message, "m, n, k". If it grows too long, it ends in "...". */
struct word_list {
    char text[400];
    size_t len;
};
void word_add(struct word_list *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
