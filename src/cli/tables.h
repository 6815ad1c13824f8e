/* What the files of `cutune tables` share. */
#ifndef CLI_TABLES_H
#define CLI_TABLES_H

#include "cli/cli.h"
#include "device/device.h"

enum { MAX_LIST = 4 << 20 }; /* bytes of a file */

/* What an op has for its types and a backend. */
struct shipping_defaults {
    int n;    /* kernels */
    int next; /* the script's default behind the last that was listed: lines are taken to be in the script's order */
};

/* The database that is made. */
struct shipping {
    struct store *store;    /* null while the lists are read for what is to be compiled */
    bool ptx, must;         /* whether there is to be PTX, and whether it is an error if there can be none */
    struct err why_not;     /* why there can be none */
    struct compiled *ahead; /* with ptx: what is compiled */
    struct op *op;      /* of the last line */
    struct shipping_defaults *defaults; /* so far, for these types and this backend: [row][backend_real] */
    int records;
    struct tuned_list *list; /* the file of a device that is being read */
    int winners, left_out;   /* problems that it has kernels for; lines that the ops have no use for any more, */
    struct err why_left;     /* the first of them */
};

/* The op of the lines that follow. */
int shipping_op(struct shipping *m, const char *name, struct err *err);

/* tables_ptx.c: PTX, compiled on all cores. The lists are read twice: the first time compiled_add takes each source that ships with a
 * backend's portable form, the second compiled_next gives what came of each, in the same order: ERR_UNSUPPORTED if there can be no PTX. */
struct compiled *compiled_new(void); /* null: out of memory */
int compiled_add(struct compiled *c, const struct backend *b, const struct requires *requires, const char *source, struct err *err);
int compiled_begin(struct compiled *c, struct err *err);
int compiled_next(struct compiled *c, const char *source, struct buf *ptx, struct buf *entries, struct err *err);
void compiled_free(struct compiled *c);

/* tables_tuned.c: a line of a device's file, in which it is at the first; and when a file ends. */
int tuned_line(struct shipping *m, const char *line, struct err *err);
void tuned_end(struct shipping *m);

#endif
