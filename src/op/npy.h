/* NumPy's file format: the header, which says what follows it. The bytes come from anywhere. */
#ifndef OP_NPY_H
#define OP_NPY_H

#include "model/op.h"

enum { NPY_HEADER = 64 << 10 }; /* bytes of a file's start that hold the longest header that is read */

/* Whether the bytes begin as such a file does. */
bool npy_is(const void *start, size_t n);
/* From the first bytes of a file, NPY_HEADER of them if it has so many: what its elements are, its shape, and where they begin. `element` is
 * NumPy's letter and bytes without their order, "f4". ERR_INVALID says what is not as it should be, and what would be right. */
int npy_read(const void *start, size_t n, char element[DATA_ELEMENT], struct data_file *out, struct err *err);

#endif
