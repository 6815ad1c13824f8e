/* Several C sources as one, of which only what is needed is written: as SQLite's amalgamation, but smaller. For export/ only. */
#ifndef EXPORT_C_SOURCE_H
#define EXPORT_C_SOURCE_H

#include "base/buf.h"
#include "export/c_items.h"

/* Writes what the functions that begin with `prefix` need, all of it static but those; headers first, then embedded files, then the
 * others, each in their order. */
int c_source_write(struct buf *out, const struct c_file *files, int n, const char *prefix, struct err *err);

#endif
