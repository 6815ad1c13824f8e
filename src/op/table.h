/* Fields of Lua tables, read with messages that say where: "variant tile: params[2]: ...". Raw access: no metamethod runs. Every
 * call leaves the stack as it was unless it says otherwise; `t` is the absolute index of a table. */
#ifndef OP_TABLE_H
#define OP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lua.h>

#include "base/err.h"
#include "base/mem.h"

struct reader {
    lua_State *L;
    struct arena *arena; /* of the texts read */
    struct err *err;
    char where[256]; /* "variant tile: params[2]: ", or "" */
};

/* ERR_INVALID with the place in front. */
int reader_fail(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds to the place until it is left again with the mark that was returned. */
size_t reader_enter(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void reader_leave(struct reader *r, size_t mark);

/* Whether `word` is one of `words`, which have single spaces between them. */
bool word_among(const char *words, const char *word);

/* Fails where the table has a text key that is not in `known`, words with a space between, or an integer key unless `list`. */
int table_keys(struct reader *r, int t, const char *known, bool list);

/* Pushes t[key], a table, and gives its index; 0 where the field is absent: an error where it is needed, else nothing is pushed. */
int table_sub(struct reader *r, int t, const char *key, bool needed, int *sub);
/* Pushes t[i], which must be a table. */
int table_item(struct reader *r, int t, int i, int *sub);
/* The length of a list: 1 to n without holes, between min and max entries. */
int table_length(struct reader *r, int t, int min, int max, int *n);

/* A text without zero bytes, of at most MAX_TEXT bytes, copied to the arena. Null where the field is absent and not needed. */
enum { MAX_TEXT = 4096 };
int table_text(struct reader *r, int t, const char *key, bool needed, const char **out);
int table_text_at(struct reader *r, int t, int i, const char **out);
int table_name(struct reader *r, int t, const char *key, const char **out); /* needed; a name that cutune accepts */
/* An expression: a text, or a number, which becomes one. */
int table_expr(struct reader *r, int t, const char *key, bool needed, const char **out);
int table_expr_at(struct reader *r, int t, int i, const char **out);
int table_bool(struct reader *r, int t, const char *key, bool *out);   /* false where absent */
int table_int(struct reader *r, int t, const char *key, int64_t *out); /* 0 where absent */

/* A zeroed array on the arena. */
int reader_array(struct reader *r, int n, size_t bytes, void *out);

#endif
