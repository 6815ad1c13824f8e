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

/* targets_free is right after any of these, failed or not. */
int targets_op(const struct args *args, struct targets *t, struct err *err); /* the home, too */
int targets_device(const struct args *args, struct targets *t, struct err *err);
/* Needs the op. Without --dtype: f32, or the op's first types. Without --shape: no problem. */
int targets_words(const struct args *args, struct targets *t, struct err *err);
/* Needs both. The same, but without --shape: the op's own shapes for this device. */
int targets_problems(const struct args *args, struct targets *t, struct err *err);
/* Op, device and problems. */
int targets_all(const struct args *args, struct targets *t, struct err *err);
void targets_free(struct targets *t);

/* An op by the word that a user gave for it. */
int named_op(const char *word, struct op **op, struct err *err);

/* "OP f32 m=1111,n=113" */
void target_print(struct buf *out, const struct op *op, const struct problem *p, int row);

/* Opens --db, or the default database. */
int database_open(const struct args *args, enum store_mode mode, struct store **out, struct err *err);
/* For commands that only read: *out is null, with 0, if the default database is not there yet. */
int database_read(const struct args *args, struct store **out, struct err *err);
/* If any rows were damaged and left out, says how many in a line: then what was done is not all, and a `rc` of 0 becomes FAILED. */
int database_done(struct store *s, int rc);

#endif
