/* Tables for other programs. */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include <stdio.h>

#include "store/store.h"

/* Writes every winner, stale ones marked: format "json" or "csv". Columns and members are the same; both say `null` (CSV: nothing)
 * for what is unknown. */
int export_rows(struct store *s, const char *format, FILE *out, struct err *err);

#endif
