/* From the words of the command line to what they name: the op, the device, the problems, the types, the database. */
#ifndef CLI_TARGETS_H
#define CLI_TARGETS_H

#include "cli/args.h"
#include "model/devspec.h"
#include "model/op.h"
#include "model/problem.h"
#include "store/store.h"

struct targets {
    const char *home;
    struct op *op;
    struct devspec dev;
    struct problem *problems; /* at least one */
    int nproblems;
    int *rows; /* at least one */
    int nrows;
};

/* Each returns an exit code, having complained where it is not DONE. targets_free is right after any of them. */
int targets_op(const struct args *args, struct targets *t);
int targets_device(const struct args *args, struct targets *t);
/* Needs the op. Without --dtype: f32, or the op's first types. Without --shape no problem. */
int targets_words(const struct args *args, struct targets *t);
/* Needs both. The same, but without --shape: the op's own shapes for this device. */
int targets_problems(const struct args *args, struct targets *t);
/* The three in order. */
int targets_all(const struct args *args, struct targets *t);
void targets_free(struct targets *t);

/* "OP f32 m=1111,n=113" */
void target_print(struct buf *out, const struct op *op, const struct problem *p, int row);

/* Opens --db, or the default database. */
int database_open(const struct args *args, enum store_mode mode, struct store **out, struct err *err);
/* For commands that only read: *out is null, with DONE, where the default database is not there yet. */
int database_read(const struct args *args, struct store **out);
/* Says in a line how many rows were damaged and left out, if any were: then done is no longer DONE, though the others were told. */
int database_done(struct store *s, int code);

#endif
