/* From the table that an op script returns to struct op: every field checked, a Lua error that names the field if it is wrong. */
#ifndef OP_READ_H
#define OP_READ_H

#include "op/fields.h"

/* Reads the table at index t into op, an empty one, and checks the whole. Templates are read from the folder of the script, then from
 * HOME/templates. `file` is the script, as messages name it. */
void op_read(lua_State *L, int t, const char *file, const char *folder, const char *home, struct op *op);

/* What the parts share. */
void read_template(struct reader *r, int t, const char **name, const char **text);
const char *read_element(struct reader *r, int t); /* the field "type": a type name of the op or a dtype */
void read_launch(struct reader *r, int t, void *launch);
void read_variant(struct reader *r, int t, void *variant);
void read_default(struct reader *r, int t, void *default_config);

/* Reads what a template includes, and what that includes, into op->includes. */
int read_includes(struct reader *r, const char *name, const char *text, struct err *err);
/* The text of a file without zero bytes on the arena; null if there is no such file. */
const char *read_file(struct reader *r, const char *folder, const char *name);

/* What is seen only of the whole: expressions that do not compile or evaluate, a last default that does not always hold (check.c);
 * names that clash as macros of a template, kernels that cannot be launched (names.c). */
int check_expressions(const struct op *op, struct err *err);
void check_names(struct reader *r);

#endif
