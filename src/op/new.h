/* The files of a new op, made by tuner/lib/new_op.lua in a child. */
#ifndef OP_NEW_H
#define OP_NEW_H

#include "base/buf.h"

enum { NEW_FILES = 8 };

/* One without a name is a note to the user. */
struct new_file {
    const char *name, *text; /* in the buf that op_new_files was given */
    size_t name_bytes, text_bytes;
};

/* name: the op's. from: the file of a kernel that it is made from, or null. The script names that file if it has no folder in its path;
 * else it is copied. `all` holds what the files point into. */
int op_new_files(const char *name, const char *from, struct buf *all, struct new_file out[NEW_FILES], int *n, struct err *err);

#endif
