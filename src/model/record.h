/* A measurement: the result of trying one configuration. */
#ifndef MODEL_RECORD_H
#define MODEL_RECORD_H

#include "base/buf.h"
#include "base/util.h"

/* How a configuration ended. These are results, not errors. A configuration is built, loaded, run, checked and timed: its outcome is
 * what happens first on that way. */
enum outcome {
    OUT_OK,
    OUT_INVALID,       /* a constraint or limit refused it, and that showed only when it was prepared */
    OUT_COMPILE_ERROR, /* the template or the compiler refused it; reason: the line of the log that says most */
    OUT_RESOURCES,     /* it needs more registers, shared or local memory than there is */
    OUT_LAUNCH_ERROR,  /* the driver refused or reported an error */
    OUT_WRONG,         /* its result is not the reference's, or it wrote outside its output */
    OUT_TIMEOUT,       /* past its deadline */
    OUT_CRASH,         /* took its worker or its context down */
    OUT_SLOWER, /* clearly behind, and right as far as it went: its time is that of one launch, maybe on a part of the problem */
    OUT_COUNT,
};
const char *outcome_name(enum outcome o); /* "ok", "compile-error", ... */
int outcome_find(const char *name);       /* -1 */

struct resources {
    int registers;   /* a thread; -1 unknown, here and below */
    int64_t shared;  /* static, bytes a block */
    int64_t local;   /* bytes a thread: spilled registers, and arrays */
    int max_threads; /* that a block of this kernel may have */
};

/* ns, 31 years: no time in the database is longer. */
#define TIME_MAX 1e18

/* Times in nanoseconds, of all launches of a configuration together with what it has to clear. */
struct stats {
    int n; /* samples */
    double median, min, max, mean, stddev;
    double ci_low, ci_high; /* 95% interval of the median, from order statistics */
};

/* Joules of one run; 0: not measured. */
struct energy {
    double joules, low, high; /* the median of several batches of runs, and what they lay between */
};

enum {
    PROTOCOL = 2, /* the version of the way of timing: raised if a number comes to mean something else */
    CHECKS = 6,   /* and of the way of proving, before it is timed: raised if it comes to find more, or something else */
};

struct result {
    enum outcome outcome;
    char reason[256];   /* "" for ok */
    struct stats stats; /* of the samples; after a play-off, of the play-off's */
    int nsamples;
    double *samples; /* ns, in order of time; owned, mem_free */
    struct energy energy;
    bool alone; /* right for its problem, but compared with the reference for no other one */
    bool grown; /* it was run for larger problems, too, if there are any */
    double compile_ms;
    double verify_ms, measure_ms; /* not stored: from the first launch to the first sample; all that measuring it took */
    struct resources resources; /* the worst of its kernels */
    int sm_mhz, mem_mhz;        /* clocks right after timing; 0: unknown */
    int again, throttled;       /* not stored: batches of samples taken again as the device throttled; those kept all the same */
};

void result_free(struct result *r); /* and clears it */

/* What else is known of a result that is ok, as its reason, which it does not need, has it in the database: its energy, that it is alone or grown. */
#define REASON_GROWN "right for larger problems"
#define REASON_ALONE "compared with the reference for no other problem"
void ok_print(const struct result *r, char out[256]);
bool ok_read(const char *reason, struct result *r); /* false, and neither, if it is not such a text */

/* Fills all of `out` from samples (any order; not changed). */
int stats_of(const double *samples, int n, struct stats *out, struct err *err);

#endif
