/* The parts of libcutune. The contract is include/cutune.h. */
#ifndef RUNTIME_RUNTIME_H
#define RUNTIME_RUNTIME_H

#include "cutune.h"
#include "model/plan.h"
#include "store/store.h"

struct cutune_kernel {
    cutune_match match;
    const char *why;
    struct tuned *tuned;
    struct op *op; /* rebuilt from tuned: one variant, each parameter with its one value */
    struct plan *plan;
    struct geometry *geometry;  /* of each launch */
    const char *question;       /* a hash of device, op, types and sizes */
    struct cutune_kernel *next; /* in its bucket */
};

/* An op as the store knows it. */
struct known_op {
    struct op *op;
    struct known_op *next;
};

enum { BUCKETS = 1024 };

struct cutune {
    struct store *store; /* null where opening failed */
    struct err err;
    struct known_op *ops;
    struct cutune_kernel *kernels[BUCKETS];
};

/* What is asked, checked and in the store's words. */
struct question {
    struct devspec dev;
    const struct op *op;
    int row;
    struct problem problem;
    struct buf types, sizes, text;
};

/* The op with the record's variant only. It borrows from both, which must outlive it. ERR_CORRUPT where they do not fit together. */
int rebuild_op(const struct op *op, const struct tuned *t, struct op **out, struct err *err);

/* Makes a kernel of a record, and owns the record from then on, also where it fails. ERR_UNSUPPORTED where its constraints or the
 * device refuse it: the message is the constraint. */
int kernel_new(const struct question *q, struct tuned *t, struct cutune_kernel **out, struct err *err);
void kernel_free(struct cutune_kernel *k); /* null is fine */

/* The look-up itself: an exact record, else the first default that holds. */
int find_kernel(struct store *s, const struct question *q, struct cutune_kernel **out, struct err *err);

#endif
