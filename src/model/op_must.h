/* What op_check.c and data_check.c share. */
#ifndef MODEL_OP_MUST_H
#define MODEL_OP_MUST_H

#include "model/op.h"

/* 0 if `ok`, else ERR_INVALID with this message. */
int must(bool ok, struct err *err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Of the data of a buffer, if the script says anything about it. */
int op_check_data(const struct op *op, const struct arg *a, struct err *err);

#endif
