/* Tuned kernels as one C file: the look-up of libcutune, with tables in place of a database. */
#ifndef EXPORT_C_H
#define EXPORT_C_H

#include "base/buf.h"
#include "store/store.h"

struct c_choice {
    const char *const *ops; /* null: all that the file knows */
    int nops;
    const char *device; /* a device's name, architecture or backend, as `cutune list` has them; null: all */
};

/* ERR_NOTFOUND, with a line, if the file has nothing of a chosen op or of the chosen device. */
int c_export(struct store *s, const struct c_choice *choice, struct buf *out, struct err *err);

#endif
