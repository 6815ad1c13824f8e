/* Fields of Lua tables, read with messages that say which: "variant tile: params[2]: ...". Raw access: no metamethod runs. What is
 * wrong is raised as a Lua error, so what a reader returns is always good. `t` is the index of a table. Tables stay on the stack until
 * the list that they are read for drops them. */
#ifndef OP_FIELDS_H
#define OP_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lua.h>

#include "base/err.h"
#include "model/op.h"

struct reader {
    lua_State *L;
    struct op *op;                 /* what is read; texts go to its arena */
    const struct variant *variant; /* whose launch or workspaces are read now; null: the op's */
    const char *folder, *home;     /* of the script; cutune's */
    size_t included;               /* bytes of included files so far */
    char where[256];               /* "variant tile: params[2]: ", or "" */
};

_Noreturn void fail(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void fail_if(struct reader *r, int rc, const struct err *why); /* a function's error, with the place in front */

/* Adds to the place until it is left again with the mark that was returned. */
size_t enter(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void leave(struct reader *r, size_t mark);

/* On the arena; raises if there is no memory. The array is zeroed. */
void *make_array(struct reader *r, int n, size_t bytes);
const char *keep_text(struct reader *r, const char *s, size_t n);

/* Whether `word` is one of `words`, which have single spaces between them. */
bool word_among(const char *words, const char *word);
/* Nothing but `known`, words with a space between, may be a key of the table. */
void known_fields(struct reader *r, int t, const char *known);

/* The length of a list: 1 to n without holes, between min and max entries. */
int list_length(struct reader *r, int t, int min, int max);
/* The entry i, pushed; it must be a table. */
int entry_table(struct reader *r, int t, int i);
/* A text without zero bytes, of at most MAX_TEXT bytes; `number`, or an expr: a number, too, as its text. */
enum { MAX_TEXT = 4096 };
const char *entry_text(struct reader *r, int t, int i, bool number);

/* The field `key`. If it is absent: an error if it is needed, else 0, false or null. */
int field_table(struct reader *r, int t, const char *key, bool needed); /* pushed */
const char *field_text(struct reader *r, int t, const char *key, bool needed);
const char *field_expr(struct reader *r, int t, const char *key, bool needed);
const char *field_name(struct reader *r, int t, const char *key); /* needed; a name that cutune accepts */
bool field_bool(struct reader *r, int t, const char *key);
int64_t field_integer(struct reader *r, int t, const char *key);
int field_word(struct reader *r, int t, const char *key, bool needed, const char *words); /* its place among them; absent: -1 */

/* A list of tables, each read into an entry of the array that is returned; needed if min is not 0. In messages an entry is `each` and
 * its number: "problem: axis 1"; without `each`: "params[1]". */
struct list {
    const char *key, *each;
    int min, max;
    size_t bytes;
    void (*read)(struct reader *r, int t, void *out);
};
void *field_list(struct reader *r, int t, const struct list *l, int *n);

#endif
