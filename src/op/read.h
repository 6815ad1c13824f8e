/* From the table that an op script returns to struct op: every field checked, one line of message that names the field. */
#ifndef OP_READ_H
#define OP_READ_H

#include "model/op.h"
#include "op/table.h"

/* Reads the table at index t into op, an empty one. Templates are read from the folder of the script, then HOME/templates. */
int op_read(struct reader *r, int t, const char *folder, const char *home, struct op *op);

/* What the parts share: read.c, read_launch.c, read_variant.c. */
struct op_reader {
    struct reader *r;
    struct op *op;
    const char *folder, *home;
    size_t included; /* bytes of included files so far */
};
/* Reads what a template includes, and what that includes, into op->includes. */
int read_includes(struct op_reader *o, const char *name, const char *text);
int read_template(struct op_reader *o, int t, const char **name, const char **text);
/* A list of argument names under `key`, as indices. With a variant, workspaces follow the op's arguments. Absent: *n is -1. */
int read_arg_names(struct op_reader *o, int t, const char *key, const struct variant *v, int *n, int **out);
int read_launch(struct op_reader *o, int t, const struct variant *v, struct launch *out);
int read_element(struct op_reader *o, int t, const char **type); /* the field "type": a type name of the op or a dtype */

int read_variant(struct op_reader *o, int t, struct variant *v);
int read_default(struct op_reader *o, int t, struct default_config *d);

/* What is seen only of the whole, after the model's op_check: expressions that do not compile or evaluate, a last default that does
 * not always hold (check.c); names that would clash as macros of a template (names.c). */
int script_check(const struct op *op, struct err *err);
int script_check_names(const struct op *op, struct err *err);

#endif
