/* Problems as text. */
#ifndef MODEL_PROBLEM_H
#define MODEL_PROBLEM_H

#include "model/op.h"

/* Reads "m=1111,n=113": each axis once, in any order. */
int problem_parse(const struct op *op, const char *text, struct problem *out, struct err *err);
void problem_print(struct buf *out, const struct op *op, const struct problem *p); /* in the op's order */

#endif
