/* What files say of an op's configurations, in the words of the op as it is here: claims, for the database. */
#ifndef REPLAY_CLAIMS_H
#define REPLAY_CLAIMS_H

#include "replay/table.h"
#include "store/store.h"

/* What the user says of a file; null: nothing. */
struct claiming {
    const struct op *op;
    const char *file, *when;            /* its name; its date, where results have none: as in struct record */
    const char *types, *sizes, *device; /* where it does not say */
    const char *variant;                /* where it names none; null: the only one that has these parameters */
    const char *rename;                 /* "theirs=ours,..." */
};

/* Calls back for each result, with a claim that is valid inside the call; stops at a non-zero return and returns it. ERR_INVALID, with a
 * line, if the space is not of this op: the file is meant. ERR_NOTFOUND: the file does not say what the user has to. The tables must
 * have been read whole. */
int claims_of(const struct recorded_space *t, const struct claiming *how, int (*each)(void *arg, const struct record *claim),
              void *arg, struct err *err);
/* The same for what another database holds, a measurement or a claim of its own. */
int claim_of_record(const struct record *r, const struct claiming *how, int (*each)(void *arg, const struct record *claim),
                    void *arg, struct err *err);

#endif
