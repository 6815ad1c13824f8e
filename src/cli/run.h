/* `cutune run`: what its files share. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <signal.h>

#include "cli/cli.h"
#include "cli/text.h"
#include "tune/tune.h"

/* One problem of a run, and what came of it. */
struct finding {
    const struct op *op;
    struct problem problem;
    int row;
    const char *wanted, *types, *sizes; /* as an application asked for it, by the op's name; null: it was not asked for */
    struct tune_report report;
};

struct tuning {
    struct request *request;
    struct tune_options tune;
    struct finding *found;
    int n;
};

extern volatile sig_atomic_t run_stop; /* the user asked for an end */

/* Tunes one problem after another, and forgets that it was wanted once it has a winner. Prints what was found, and checks the database.
 * A problem that fails is told here, and leaves the others to go on. */
int run_problems(struct tuning *t, struct err *err);

/* `cutune run --wanted`: with the device, and --op's op if that was given. */
int run_wanted(struct tuning *t, struct err *err);

/* Prints what was found, as tables or as JSON. */
int report(const struct request *r, const struct finding *found, int n, struct err *err);

/* What a run shows while it goes: one line on stderr, redrawn in place on a terminal; elsewhere nothing until a problem is done. */
struct progress {
    bool terminal;
    const char *title; /* "OP f32 m=4096,n=4096" */
};
void progress_show(void *progress, const struct tune_progress *p); /* tune_options' callback, for a terminal */
void progress_note(void *progress, const char *line);              /* the other */
/* The problem is over: clears the line; not on a terminal, says in a line what came of it. Report null: it failed. */
void progress_end(const struct progress *progress, const struct tune_report *report);

#endif
