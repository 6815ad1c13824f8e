/* What a tuning run tries first, judged by what was measured of other problems. */
#ifndef TUNE_PORTFOLIO_H
#define TUNE_PORTFOLIO_H

#include "runtime/knowledge.h"
#include "space/space.h"

/* What is to be tuned. */
struct newcomer {
    const struct op *op;
    int row; /* of types */
    const struct problem *problem;
    const struct devspec *dev;
    const struct space *space;
};

/* A file that knows of other problems, and what of it counts: what was measured before (store_first_measured). */
struct source_of_hints {
    struct store *store;
    const struct knowledge *known; /* null: of none */
    int64_t before;
};

/* Up to `most` configurations of the space, in the order in which they should be tried; *n is how many. */
int portfolio_choose(const struct newcomer *c, const struct source_of_hints *from, int nfrom, int64_t *out, int most, int *n,
                     struct err *err);

#endif
