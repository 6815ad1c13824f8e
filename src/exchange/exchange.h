/* Tables for other programs. */
#ifndef EXCHANGE_EXCHANGE_H
#define EXCHANGE_EXCHANGE_H

#include <stdio.h>

#include "store/store.h"

/* Writes every winner, stale ones marked: format "json" or "csv". Columns and members are the same; both say `null` (CSV: nothing)
 * for what is unknown. */
int exchange_export(struct store *s, const char *format, FILE *out, struct err *err);

#endif
