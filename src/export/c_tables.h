/* What of a database goes into an exported C file. For export/ only. */
#ifndef EXPORT_C_TABLES_H
#define EXPORT_C_TABLES_H

#include "export/c.h"
#include "export/c_expr.h"

struct c_winner {
    int device; /* of c_tables.devices */
    int64_t device_id, id;
    char *types, *sizes;
    double time_ns, bytes, flops;
    struct tuned *kernel;
};

struct c_time {
    int problem, kernel; /* of the op's winners */
    double median;
};

struct c_default {
    const char *backend; /* of one of cutune's backends */
    char *types;
    struct tuned *kernel;
};

struct c_op {
    struct op *op;
    int nwinners, ntimes, ndefaults;
    struct c_winner *winners;
    struct c_time *times;
    struct c_default *defaults;
};

struct c_tables {
    struct store *store;
    const struct c_choice *choice;
    int nops, ndevices, nrecords;
    struct c_op *ops;
    struct devspec *devices; /* identities */
    struct buf records;      /* initializers of embedded_records */
    struct c_formulas formulas;
};

/* Reads all of it, as of one moment. */
int c_tables_read(struct c_tables *t, struct err *err);
void c_tables_free(struct c_tables *t);
/* As C: what embedded/embedded.h describes. */
int c_tables_write(struct buf *out, struct c_tables *t, struct err *err);

#endif
