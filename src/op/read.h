/* From the table that an op script returns to struct op. What is wrong is raised as a Lua error that says where: "variant tile: params[2]:
 * ...". So what a reader returns is always good. All access is raw: no metamethod runs. */
#ifndef OP_READ_H
#define OP_READ_H

#include <stddef.h>

#include <lua.h>

#include "lua/sandbox.h"
#include "model/op.h"

struct reader {
    lua_State *L;
    struct op *op;                 /* what is read; texts go to its arena */
    const struct variant *variant; /* what is read belongs to it: the reference and init, too; null: to the op */
    struct launch *launch;         /* the same */
    bool symbols;                  /* what is read next is for a backend that has __constant__ arrays: see read_source */
    const char *folder;            /* of the script: its templates are looked for there, */
    const char *templates;         /* then in HOME/templates */
    size_t included;               /* bytes of included files so far */
    char where[256];               /* "variant tile: params[2]: ", or "" */
};

/* Reads the table at the top of the stack into op, an empty one, and checks the whole. `file` is the script, as messages name it. */
void op_read(lua_State *L, const char *file, const char *folder, const char *templates, struct op *op);

/* -- the engine (fields.c) -- */

_Noreturn void fail(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void fail_if(struct reader *r, int rc, const struct err *why); /* a function's error, with the place in front */

/* Adds to the place until it is left again with the mark that was returned. */
size_t enter(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void leave(struct reader *r, size_t mark);

void *made(struct reader *r, void *p);                   /* p; a Lua error if there was no memory for it */
void *make_array(struct reader *r, int n, size_t bytes); /* on the arena, zeroed */

/* Reads the value at the top of the stack. */
typedef void reads(struct reader *r, void *out);

/* A list: each entry is read into an element of an array. */
struct list {
    reads *read;
    int min, max;
    size_t bytes;      /* of an element */
    const char *entry; /* how messages call an entry: "params[%d]: " */
    bool inside;       /* the array is there already; else one is made, and a pointer is set to it */
};

/* Reads the table at the top of the stack. `keys` are all that it may have, unless `how` ends in a '+'. `how` has a letter for each of them,
 * upper case if it is needed; if another is absent, its place keeps what it has. A letter takes these arguments:
 *   n a name, t a text, e an element type, x an expression or a number: const char **      b  bool *      i  int64_t *
 *   w a word of an enum: the words in its order, int *                           f  another: reads *, and its out
 *   l a list: const struct list *, the array, int * for the length               -  none: it is read elsewhere */
void read_table(struct reader *r, const char *keys, const char *how, ...);
void known_fields(struct reader *r, const char *keys); /* a Lua error if the table has others */

/* The value at the top of the stack. */
reads read_text, read_name, read_expr;
void read_word(struct reader *r, const char *words, int *place); /* one of the words, in their order */
void want_table(struct reader *r);
int list_length(struct reader *r, int min, int max);
/* Its length; mark: the place that entries lie in. */
int read_list(struct reader *r, const struct list *l, size_t mark, void *array);
int read_one_or_list(struct reader *r, const struct list *l, void *array); /* `inside`; or one entry that is no table */
/* { NAME = ENTRY }: an array in the order of the names, as a table of Lua has none. Elements begin with their name, which is read before the
 * entry is; l->entry: what is right, for messages. */
int read_named(struct reader *r, const struct list *l, void *array);

const char *word_among(const char *words, const char *word); /* where; null: nowhere. `words` have single spaces between them */

/* -- what the parts share -- */

reads read_launches, read_variant, read_default, read_workspace, read_peer;
/* int *: the index of an argument or, behind them, of one of the variant's workspaces; then of the launch's values. */
reads read_arg_name;
/* Of the table at the top of the stack: the fields template, language and options. What the files include comes into op->includes.
 * requires: the variant's own may say the backend, too, or hear it from the language. Read launches after it: what they pass if they do
 * not say it depends on the backend. */
void read_source(struct reader *r, struct variant *v, bool requires);
/* The names of the real backends, with a space between them. */
struct backend_names {
    char text[128];
};
struct backend_names backend_names(void);
/* The text of a file without zero bytes, on the arena; null if there is no such file. */
const char *read_template_file(struct reader *r, const char *folder, const char *name);
/* Reads what a template includes, and what that includes, into op->includes. */
int read_includes(struct reader *r, const char *name, const char *text, struct err *err);

/* Makes these the op's folders of headers, whatever it said before, with a hash of their files. */
int header_dirs_set(struct op *op, const char *const *dirs, int n, struct err *err);

/* What is seen only of the whole: expressions that do not compile or evaluate, a last default that does not always hold (check.c);
 * names that clash as macros of a template, kernels that cannot be launched (names.c). */
int check_expressions(const struct op *op, struct err *err);
void check_names(struct reader *r);

#endif
