/* The winners, for other programs: JSON is one object, {"cutune": version, "winners": [...]}, with a winner a line. */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "export/columns.h"
#include "store/store.h"

extern const struct row_column winner_columns[]; /* of struct listed; for `cutune list`, too */

/* Writes every winner, stale ones marked: format "json" or "csv". Columns and members are the same; both say `null` (CSV: nothing)
 * for what is unknown. */
int export_rows(struct store *s, const char *format, struct buf *out, struct err *err);

#endif
