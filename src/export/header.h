/* Typed calls: a C header with a function for each op, which looks up and launches (see include/cutune.h). */
#ifndef EXPORT_HEADER_H
#define EXPORT_HEADER_H

#include "base/buf.h"
#include "model/op.h"

/* ERR_INVALID, with a line, if two ops have the same name, or if an op has the name of a call of libcutune's. */
int header_write(struct buf *out, struct op *const *ops, int n, struct err *err);

#endif
