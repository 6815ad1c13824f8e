/* What the files of `cutune tables` share. */
#ifndef CLI_TABLES_H
#define CLI_TABLES_H

#include "cli/cli.h"
#include "device/device.h"

enum { MAX_LIST = 4 << 20 }; /* bytes of a file */

/* A default, rendered and not yet stored: it may have to be compiled. */
struct shipped {
    const struct op *op;
    int *stored; /* how many are, of its types and backend */
    int row;
    const struct backend *backend;
    struct requires requires;
    struct tuned *t;
    char *source;
    bool compiled; /* it ships with PTX */
};

/* The database that is made. */
struct shipping {
    struct store *store;
    bool ptx, must;     /* whether there is to be PTX, and whether it is an error if there can be none */
    struct err why_not; /* why there can be none */
    struct op **ops;    /* all that were read; */
    int nops;
    struct op *op; /* that is being read */
    struct shipped *queue;
    int nqueue;
    int records;
    struct tuned_list *list; /* the file of a device that is being read */
    int winners, left_out;   /* problems that it has kernels for; lines that the ops have no use for any more, */
    struct err why_left;     /* the first of them */
};

/* The op of the lines that follow. */
int shipping_op(struct shipping *m, const char *name, struct err *err);

/* tables_ptx.c: PTX, compiled on all cores. compiling_next gives what came of one of the queue, asked for in its order: ERR_UNSUPPORTED if
 * there can be no PTX. */
struct compiling;
int compiling_begin(const struct shipped *queue, int n, struct compiling **out, struct err *err);
int compiling_next(struct compiling *c, int i, struct buf *ptx, struct buf *entries, struct err *err);
void compiling_end(struct compiling *c);

/* tables_tuned.c: a line of a device's file, in which it is at the first; and when a file ends. */
int tuned_line(struct shipping *m, const char *line, struct err *err);
void tuned_end(struct shipping *m);

#endif
