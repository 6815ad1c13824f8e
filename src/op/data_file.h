/* Files with the contents of arguments: NumPy's, or raw. They lie below the script's folder, and are read where they are, since they may be
 * large: the op carries what their header says, and a digest. */
#ifndef OP_DATA_FILE_H
#define OP_DATA_FILE_H

#include "model/op.h"

enum { DATA_FILE_GB = 64 }; /* of one */

/* What the file says of itself but its digest: f->name is set. Folder: that of the script. It never waits, whatever the name stands for. */
int data_file_look(const char *folder, struct arena *arena, struct data_file *f, struct err *err);
/* Reads the digests of all files of an op, from beside op->file. keep: in the cache, or takes them from there. */
int data_files_digest(struct op *op, bool keep, struct err *err);

/* Reads the contents in pieces: `each` gets their bytes in order and may fail. ERR_INVALID if the file is no longer the one that the op was read
 * with; pieces were given then, too. */
int data_file_read(const struct op *op, const struct data_file *f,
                   int (*each)(void *arg, int64_t at, const void *p, size_t n, struct err *err), void *arg, struct err *err);

/* What NumPy calls an element: "f4". It has no bf16 and no f8: those who add them store them as bytes without a meaning, V2 and V1. */
const char *data_element(const struct dtype *t, char out[8]);
/* Whether the file is what the argument is for this problem: its length, and if it says so its type and shape. */
struct plan;
int data_file_fits(const struct op *op, const struct plan *plan, int arg, const struct val *slots, struct err *err);

#endif
