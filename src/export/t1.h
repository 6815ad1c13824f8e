/* Tuning problems of other tuners: the T1 format, JSON with parameters as lists of values and conditions in Python. */
#ifndef EXPORT_T1_H
#define EXPORT_T1_H

#include "model/op.h"

/* The op has one variant, with the parameters and conditions and nothing else: no axes, types, arguments or launches. So every device and
 * the one problem that there is will do for space_new. */
struct t1 {
    struct op *op;
    const char **conditions; /* as the file has them: op->variants[0].where in Python; on the op's arena */
};

/* A failure names the file, and the parameter or condition. */
int t1_read(const char *path, struct t1 *out, struct err *err);
/* The same of a text in memory; path: for messages. */
int t1_parse(const char *path, const char *text, size_t n, struct t1 *out, struct err *err);
void t1_free(struct t1 *t);

#endif
