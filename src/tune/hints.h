/* What a look-up would give for a problem that has no winner of its own: a tuning run tries that first. */
#ifndef TUNE_HINTS_H
#define TUNE_HINTS_H

#include "runtime/knowledge.h"

enum { MOST_HINTS = 9 }; /* with the op's default the first ten that are tried */

/* The winners of other problems in the order of preference: of the same types on this device, of other types, then of other devices, the
 * nearest device first. A configuration may come again. Stops at a non-zero return and returns it. */
int hints_each(const struct knowledge *k, const struct op *op, int row, const struct problem *problem, const struct devspec *here,
               int (*each)(void *arg, const struct tuned_problem *p), void *arg, struct err *err);

#endif
