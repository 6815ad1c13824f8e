/* What the forms of `cutune run` share: of an op's problems, and of those that applications wanted. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <signal.h>

#include "cli/report.h"
#include "cli/targets.h"
#include "tune/tune.h"

struct run_args {
    const struct args *args;
    struct tune_options tune;
};

extern volatile sig_atomic_t run_stop; /* the user asked for an end */

/* Tunes one problem after another, and forgets that it was wanted once it has a winner. Prints what was found, and checks the database.
 * A problem that fails is told here, and leaves the others to go on. */
int run_problems(const struct devspec *dev, struct run_args *run, struct store *store, struct finding *found, int n,
                 struct err *err);

/* `cutune run --wanted`: t has the home, the device, and --op's op if that was given. */
int run_wanted(const struct targets *t, struct run_args *run, struct err *err);

#endif
