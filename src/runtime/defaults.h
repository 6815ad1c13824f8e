/* An op's defaults in one file, for one row of its types on one backend, and which of them may run for a problem. They are read without their
 * code, as far as somebody had to ask, and kept: an op may have a hundred, and most problems get one of a few. */
#ifndef RUNTIME_DEFAULTS_H
#define RUNTIME_DEFAULTS_H

#include "model/plan.h"
#include "store/store.h"

enum { MOST_DEFAULT_BYTES = 4 << 20 }; /* of their records: no more are read, as what is made of them may take fifty times as much */

struct read_default {
    struct tuned *t;           /* without its code, */
    bool bad;                  /* which was found to be damaged */
    struct plan *where, *plan; /* its constraints; all of it; null: not asked for yet */
};

struct defaults {
    struct defaults *next;
    struct store *from;
    uint64_t generation; /* of the file, when they were read */
    const struct op *op; /* outlives this */
    char backend[sizeof((struct devspec *)0)->backend];
    int row, n;
    struct read_default *all; /* by rank, */
    size_t bytes;
    bool whole; /* there are no more */
};

/* The list of these, in the file as it is now; it becomes one of *all if it is not yet. Good until the next call. */
int defaults_get(struct defaults **all, struct store *s, const struct op *op, const char *backend, int row, struct defaults **out,
                 struct err *err);
/* The default for a problem: the first from place *at on that may run, by its constraints and by what is known of the device; *at becomes
 * its place. Else what refused the last one, or ERR_NOTFOUND if there was none. */
int defaults_next(struct defaults *d, const struct problem *problem, const struct devspec *dev, int *at, const struct tuned **out,
                  struct err *err);
void defaults_clear(struct defaults *d); /* as if nothing was read yet */
void defaults_free(struct defaults *d);  /* and those after it; null is fine */

#endif
