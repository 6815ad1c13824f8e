/* `cutune run`: what its files share. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/cli.h"
#include "tune/tune.h"

/* One problem of a run, and what came of it. */
struct finding {
    const struct op *op;
    struct problem problem;
    int row;
    const char *types, *sizes, *title; /* "f32", "m=4096,n=4096", "OP f32 m=4096,n=4096" */
    struct {
        const char *op, *types, *sizes;
    } asked; /* as an application did; nulls: none did */
    struct tune_report report;
    json_t *claims; /* of a run that verifies them, for its JSON; else null */
};

/* Prints what was found, as tables or as JSON. */
int run_report(const struct request *r, const struct finding *found, int n, struct err *err);

/* What a run shows while it goes: one line on stderr, redrawn in place on a terminal; elsewhere a line now and then. */
struct progress {
    bool terminal;
    double seconds;    /* between lines, */
    int64_t shown_ns;  /* of which the last came then, or the problem began */
    const char *title; /* of the finding */
};
void progress_show(void *progress, const struct tune_progress *p); /* tune_options' callback */
void progress_note(void *progress, const char *line);              /* the other */
/* The problem is over: clears the line; not on a terminal, says in a line what came of it. Report null: it failed. */
void progress_end(const struct progress *progress, const struct tune_report *report);

int budgets_read(const struct args *args, struct tune_options *tune, struct err *err); /* budgets.c */

/* ---- claims: verify.c */

/* tune_run of the finding, the claims of it first; if the fastest holds, nothing else. Prints what came of them, or keeps it for the JSON.
 * ERR_NOTFOUND, with a line, if there are none. */
int claims_run(const struct request *r, struct finding *f, struct tune_options *tune, struct err *err);
/* Appends the problems of the request's op that have claims; of those that cannot be here says so. */
int claims_problems(const struct request *r, struct finding **found, int *n, struct arena *texts, struct err *err);

/* ---- a trace: trace.c */

struct trace {
    const char *path;
    int fd;
    char started[32], device[32]; /* that all its rows begin with */
    int64_t begun_ns;
    bool warm, failed;
    const struct finding *finding; /* that is tuned */
};
/* Goes on with a trace that is there. If it fails, there is nothing to close. */
int trace_open(struct trace *t, const char *path, const struct devspec *dev, bool warm, struct err *err);
void trace_row(void *trace, const struct tune_trial *trial); /* tune_options' callback */
int trace_close(struct trace *t, int rc);                    /* rc; a 0 becomes FAILED if a row could not be written */

/* ---- words that other commands have, too: of budgets.c, and of run.c */

/* Reads a whole number in decimal digits, without a sign; false if it is none or too large. */
bool number_read(const char *text, uint64_t max, uint64_t *out);
/* "60s", "0.5s", "10m" or "10min", "2h"; false if it is none of that, or too long. */
bool seconds_read(const char *text, double *out);
/* Asked before anything is tried, so that a mistyped name is a wrong command line and not a failed run. Null: the default. */
int strategy_named(const char *home, const char *name, struct err *err);

#endif
