/* A measurement: what came of one configuration. */
#ifndef MODEL_RECORD_H
#define MODEL_RECORD_H

#include "base/buf.h"
#include "base/util.h"

/* Values, not errors. The order is that of the way: the first that applies. */
enum outcome {
    OUT_OK,
    OUT_INVALID,       /* a constraint or limit that showed only late */
    OUT_COMPILE_ERROR, /* template or compiler refused; reason: the first line of its log */
    OUT_RESOURCES,     /* registers, shared memory, local memory */
    OUT_LAUNCH_ERROR,  /* the driver refused or reported an error */
    OUT_WRONG,         /* not what the reference gives; or wrote outside its output */
    OUT_TIMEOUT,       /* past its deadline */
    OUT_CRASH,         /* took its worker or its context down */
    OUT_SLOWER,        /* right, and clearly behind: cut short; its time is of fewer samples */
    OUT_COUNT,
};
const char *outcome_name(enum outcome o); /* "ok", "compile-error", ... */
int outcome_find(const char *name);       /* -1 */

struct resources {
    int registers;   /* a thread; -1 unknown, here and below */
    int64_t shared;  /* static, bytes a block */
    int64_t local;   /* bytes a thread: spills and arrays */
    int max_threads; /* a block of this kernel may have */
};

/* ns, 31 years: the longest time that the database holds. */
#define TIME_MAX 1e18

/* Times in nanoseconds, of all launches of a configuration together with what it has to clear. */
struct stats {
    int n; /* samples */
    double median, min, max, mean, stddev;
    double ci_low, ci_high; /* 95% interval of the median, from order statistics */
};

enum { PROTOCOL = 1 }; /* of measuring; raised when timing changes what a number means */

struct result {
    enum outcome outcome;
    char reason[256];   /* "" for ok */
    struct stats stats; /* of the record; after a play-off, of that */
    int nsamples;
    double *samples; /* ns, in order of time; owned, mem_free */
    double compile_ms;
    struct resources resources; /* the worst of its kernels */
    int sm_mhz, mem_mhz;        /* clocks right after timing; 0 unknown */
};

void result_put(struct buf *out, const struct result *r);
int result_get(struct cursor *in, struct result *r, struct err *err);
void result_free(struct result *r); /* and clears it */

/* Fills all of `out` from samples (any order; not changed). */
int stats_of(const double *samples, int n, struct stats *out, struct err *err);

#endif
