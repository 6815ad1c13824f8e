/* Typed calls: a C header with a function for each op, which looks up and launches (see include/cutune.h). */
#ifndef EXPORT_HEADER_H
#define EXPORT_HEADER_H

#include "base/buf.h"
#include "model/op.h"

/* ERR_INVALID, with a line, where two ops have one name, or an op a name that libcutune's own calls have. */
int header_write(struct buf *out, struct op *const *ops, int n, struct err *err);

#endif
