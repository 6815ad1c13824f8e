/* The loop that joins everything: space -> search -> compile workers -> measuring worker -> store, and the winner at its end. */
#ifndef TUNE_TUNE_H
#define TUNE_TUNE_H

#include <signal.h>

#include "model/devspec.h"
#include "model/op.h"
#include "model/record.h"
#include "store/store.h"

enum { REFERENCE_SECONDS = 600 };

/* How long a run that says no budget searches, and how well its best are told apart: the numbers are in budget.c. */
enum tune_effort { EFFORT_NORMAL, EFFORT_QUICK, EFFORT_THOROUGH };

/* What a run looks like from outside, a few times a second. */
struct tune_progress {
    const char *phase;   /* "start", "tune", "play-off" */
    int64_t done, total; /* configurations; total: what the budget and the space allow; 0: unknown */
    double rate;         /* configurations a second so far */
    double left;         /* seconds until the end, < 0 unknown */
    double best_ns;      /* 0: none yet */
    const char *best;    /* "tile TILE=32,..." or "" */
    double best_gbs;     /* 0: unknown work */
};

/* A configuration as it ends. */
struct tune_trial {
    const struct config *config;
    enum tune_origin {
        TRIAL_NEW,     /* tried just now */
        TRIAL_STORED,  /* in the database already */
        TRIAL_SAME,    /* compiles to what this run has tried */
        TRIAL_PLAYOFF, /* timed again beside the other best */
    } origin;
    bool judged; /* else there is no outcome, for a reason */
    enum outcome outcome;
    const char *reason;                       /* may be a stranger's text */
    double time_ns;                           /* the median, here and below 0: none */
    double compile_ms, verify_ms, measure_ms; /* of one that is new: verifying is a part of measuring */
};

/* What runs one after another share: workers, contexts on the device, compiled code. They must be on one device, with the same home, program and
 * number of jobs. */
struct tune_crew;
int tune_crew_open(struct tune_crew **out, struct err *err);
void tune_crew_close(struct tune_crew *c); /* null is fine */

struct tune_options {
    struct tune_crew *crew; /* null: this run shares nothing */
    const char *home;      /* home_find's */
    const char *program;   /* the executable to start as workers; null: /proc/self/exe */
    const char *cache;     /* a folder for compiled code, for later runs to take; null: none */
    const char *strategy;  /* "exhaustive", "random", a file; null: forest, or random where all is tried */
    enum tune_effort effort;
    int64_t budget_count;  /* configurations; 0: what the effort says, unless there is a budget of seconds */
    double budget_seconds; /* 0: no limit */
    int64_t patience;      /* so many in a row of which none is clearly better end the search; 0: no limit */
    double target;         /* a best that is so fast ends it; 0: no limit */
    enum tune_rate {
        RATE_BYTES,
        RATE_FLOPS,
        RATE_COPY
    } target_rate;            /* bytes or operations a second; the copy's time by the best's */
    const char *objective;    /* "time", "energy", "edp", a metric of the op's; null: the op's own */
    const struct config *pin; /* try only this one, and pin it to the problem, in the place of the winner; null: search */
    uint64_t seed;
    int jobs;                    /* compile workers; 0: as many as cores */
    double reference_seconds;    /* that a reference outside may take for one set of inputs; 0: REFERENCE_SECONDS */
    bool retune;                 /* forget what is stored for this target first */
    bool warm;                   /* time with a warm cache; cold otherwise */
    bool no_cut;                 /* time in full what is clearly behind, too */
    bool no_neighbours;          /* begin with the op's default alone, not with what look-ups would give, too */
    volatile sig_atomic_t *stop; /* non-zero: end soon, keep what is measured; may be null */
    int64_t deadline_ms;         /* a bound on deadlines of work, for tests; 0: none */
    int64_t start_ms;            /* likewise on those of a worker's start and set-up */
    int64_t step_ms;             /* likewise on a candidate's steps, in place of deadline_ms */
    void (*progress)(void *arg, const struct tune_progress *p); /* may be null */
    void (*note)(void *arg, const char *line);                  /* what a person should know at once; may be null */
    void *arg;
    void (*trial)(void *arg, const struct tune_trial *t); /* each configuration as it ends; may be null */
    void *trial_arg;
    const struct config *only; /* these and the default are tried, and no others; null: what the strategy says */
    int nonly;
};

/* One configuration in the report. config.variant < 0: there is none. */
struct tune_entry {
    struct config config;
    double time_ns;
    double gb_per_s, gflop_per_s; /* 0: the op does not say its work */
    double joules;                /* of a run; 0: not measured */
    double metrics[MAX_METRICS];  /* the op's; NaN: no value */
    enum outcome outcome;
    bool alone; /* as in struct result */
    char reason[256];
};

/* Why a search ended. */
enum tune_end {
    END_NONE, /* interrupted, or there was nothing to search */
    END_ALL,  /* everything is tried */
    END_TARGET,
    END_BUDGET,
    END_PATIENCE,
    END_EFFORT,
    END_STRATEGY, /* it had nothing more to propose */
};

struct tune_report {
    int64_t valid;                        /* configurations of the space */
    int64_t tried;                        /* measured, now or in earlier runs */
    int64_t measured;                     /* measured by this run */
    int64_t compiled, cached, shared;     /* code for configurations: compiled; from the cache; as another's of this run, that was the same */
    int64_t outcomes[OUT_COUNT];          /* over all tried */
    int64_t unsettled;                    /* configurations that this run could not judge; nothing is stored of them */
    char unsettled_why[256];              /* the last one's reason */
    struct tune_entry best, deflt, worst; /* worst: the slowest that is right */
    char objective[MAX_NAME + 1];         /* that the best and the worst are by */
    char served_by[MAX_NAME + 1];         /* the op's own, if that is another, by which the winner is chosen; else "" */
    struct tune_entry served;             /* that winner */
    char no_value[256];                   /* why a metric had no value where it had none */
    const char *earlier;                  /* an earlier run's winner, if nothing was right: "kept", "forgotten"; null: there was none */
    int64_t hinted;                       /* of those tried, that began the run because look-ups would give them; */
    bool best_hinted;                     /* the best is one of these */
    bool best_brought;                    /* the best is an earlier run's winner, which this one has not tried but in the play-off */
    int ties;                             /* other configurations whose interval overlaps the best's, in the play-off */
    double copy_ns, copy_gb_per_s;        /* a device copy of the bytes of the op's work, in the same run; 0: unknown */
    char unproved[256];                   /* scalars that a kernel may have built in, and why that would not show */
    char constant[256];                   /* outputs that one number throughout would be right for */
    char alone[256];                      /* why the default's was compared for this problem only; "": it was for another one, too, or was not now */
    bool own_only;                        /* the fastest were at fault for larger problems, and so would be the winner, maybe */
    int64_t nalone;                       /* of those ok: so many were */
    int64_t again, throttled;             /* batches of samples, as in struct result */
    enum tune_end ended;
    double target_share;                  /* of the target's speed, that the best has; 0: no target, or no best */
    double seconds, rate;                 /* of this run; configurations compiled, verified, timed and recorded a second */
    bool interrupted;
};

/* Tunes one problem on one device into the store. Not for use from two threads of a process at once. Failure of a candidate is an
 * outcome in the report; failure of the run is an error, with what was measured kept. */
int tune_run(const struct op *op, const struct problem *prob, int row, const struct devspec *dev, struct store *store,
             const struct tune_options *opt, struct tune_report *out, struct err *err);

#endif
