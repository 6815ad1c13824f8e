/* "NAME=VALUE,NAME=VALUE": how people write problems, types, configurations and what is called how. */
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

/* Things that have names: an array of structs, each beginning with its name. */
struct named {
    const void *first;
    int n;
    size_t bytes;
};
#define NAMED(array, count) ((struct named){ (array), (count), sizeof *(array) })
bool text_is(const char *s, int n, const char *word); /* whether these n bytes are the word */
const char *name_at(struct named all, int i);
int name_index(struct named all, const char *name, int len); /* -1 if nothing is called so */
int name_find(struct named all, const char *name);           /* the same for a whole text */

/* What pairs name, and how messages speak of it: "WHAT: WHOSE has no KIND q: LIST m, n". */
struct pairs {
    const char *what;     /* "shape" */
    const char *whose[2]; /* "variant ", "tile" */
    const char *kind;     /* "axis" */
    const char *list;     /* "its axes are" */
    const char *twice;    /* for a name that is given twice: what would be right, or "" */
    const char *skip;     /* a name that somebody else reads, or null */
    struct named known;
};
/* Reads all pairs into `given`, an array by the index of their names. The `name` of those that are not given stays null. */
int pairs_read(const char *text, const struct pairs *p, struct pair given[], struct err *err);

/* A list for a message, "m, n, k". If it grows too long, it ends in "...". */
struct word_list {
    char text[400];
    size_t len;
};
void word_add(struct word_list *l, const char *word, const char *end); /* end: what follows the word at once */
struct word_list name_list(struct named all);                          /* "none" if there are none */

#endif
