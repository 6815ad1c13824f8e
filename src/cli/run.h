/* What the forms of `cutune run` share: of an op's problems, and of those that applications wanted. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <signal.h>

#include "cli/report.h"
#include "cli/targets.h"
#include "tune/tune.h"

struct run_args {
    struct args args;
    struct tune_options tune;
    bool wanted, quiet;
};

extern volatile sig_atomic_t run_stop; /* the user asked for an end */

/* Tunes f's problem, and forgets that it was wanted once it has a winner. Returns what tune_run does; a failure, and that nothing was
 * right, are told here. */
int run_problem(struct store *store, struct run_args *run, const struct devspec *dev, struct finding *f);
bool found_nothing(const struct tune_report *report);
/* Prints what was found, for the code so far; returns an exit code. */
int run_report(const struct devspec *dev, const struct run_args *run, const struct store *store, const struct finding *found, int n,
               int code);

/* Done is not DONE if the database turns out to be damaged, by whomever: told here. */
int run_verify(struct store *store, int code);

/* `cutune run --wanted`: t has the home, the device, and --op's op where that was given. Returns an exit code. */
int run_wanted(const struct targets *t, struct run_args *run);

#endif
