/* Python's expressions, as other tuners' files have them, in cutune's language (expr/expr.h). The result is what Python gives: operands of
 * `and` and `or`, chained comparisons, `//` and `%` of negative numbers, numbers as conditions. Integers have 64 bits: past these
 * evaluating fails. */
#ifndef SPACE_PYTHON_H
#define SPACE_PYTHON_H

#include "base/buf.h"
#include "base/mem.h"
#include "model/op.h"

/* Appends the condition that a text is over these parameters, an expression that is true or false. A failure names the place: "column 7:
 * ...". */
int python_condition(const char *text, const struct param *params, int nparams, struct buf *out, struct err *err);

/* "[1, 2, 4]", "[1] + [2**i for i in range(1, 6)]": the values of a parameter, on the arena. All of one type: among floats integers become floats, among integers True is 1. */
int python_values(const char *text, struct arena *arena, struct param *out, struct err *err);

#endif
