/* One run of the tuner, shared by the files of tune/: run.c has the loop, job.c the configurations on their way and those that are known,
 * hints.c what is tried first, strategy.c the strategy, compile.c and measure.c the two kinds of worker, crew.c what runs share, finish.c the play-off, the
 * winner and the report. */
#ifndef TUNE_RUN_H
#define TUNE_RUN_H

#include "model/objective.h"
#include "model/plan.h"
#include "search/search.h"
#include "space/space.h"
#include "tune/tune.h"
#include "worker/worker.h"

enum {
    MAX_JOBS = 256,          /* compile workers */
    PLAYOFF = 16,            /* so many of the best at most, and the default, are timed against each other at the end */
    OWN_PLAYERS = 2,         /* of these are the best by the op's own objective, if the run has another */
    PLAYOFFS = 3,            /* at most: another one begins if one of the last was at fault */
    OUTGROWN = 16,           /* others beyond these, after one that is at fault for a larger problem, which is seen before they play */
    UNEXPLAINED = 3,         /* that many play-offs may break off without a culprit; then the times from before have to do */
    DEATHS = 10,             /* compile workers that die in a row before they are ready end the run */
    SETUPS = 3,              /* and measuring workers */
    ENDLESS = 2,             /* configurations whose template did not end: the variant's others are left out, if none ever did */
    SETUP_DEADLINE = 120000, /* ms without a sign of life, here and below */
    RENDER_DEADLINE = 10000, /* a template is filled in microseconds, or its Lua has no end */
    COMPILE_DEADLINE = 60000,
    TRIAL_DEADLINE = 20000, /* a compile worker's trial launch, which on PoCL compiles once more */
    RUN_DEADLINE_MIN = 2000,
    RUN_DEADLINE_CPU = 10000,  /* if other processes can slow a candidate */
    RUN_DEADLINE_FACTOR = 50,  /* times the reference, */
    RUN_DEADLINE_BEHIND = 100, /* and of a first launch times the best, if that is shorter */
    ANSWER_DEADLINE = 60000,   /* of the strategy */
    TICK = 100,                /* ms */
};

/* What is measured already, by its key. */
struct known {
    char key[HASH_HEX]; /* first: see known_find */
    enum outcome outcome;
    struct stats stats;
    struct energy energy;
    bool unsettled;   /* what the run's objective asks was not measured: not known, as long as it can be measured */
    char reason[256];
    bool alone, grown; /* as in struct result */
    bool of_now; /* stored as what its variant makes now */
    bool of_run; /* measured by this run */
};

/* A configuration, from the strategy to the report. The run owns it to its end. */
struct job {
    struct job *next; /* in a queue */
    int serial;       /* the order in which they were thought of: the default is the first */
    int64_t index;    /* in the space; -1: a default outside of it, compiled for the tables only */
    int rank;         /* of a default compiled for the tables, */
    const struct op_default *deflt; /* and which it is */
    struct config config;
    char key[HASH_HEX];
    struct buf source, binary, portable; /* portable: PTX, if the backend has that. Freed when no longer needed */
    struct buf entries;                  /* likewise: how the code calls the kernels */
    char compiler[COMPILER_NAME];
    char code[HASH_HEX]; /* what compiling it gives, when it was rendered last; "": not known */
    bool cached;         /* its code is from the cache: what fails with it is tried again with code that is not, */
    bool past_cache;     /* and this is that try */
    double compile_ms;
    double spent_ms;              /* of it by this run: none on code from the cache, or that another had compiled */
    double verify_ms, measure_ms; /* measure_ms of all tries together */
    bool retried;        /* its worker died once: that may have been another's fault, so it gets a fresh one */
    bool untried;        /* its trial launch has failed, which proves nothing: it is compiled without */
    bool told;           /* the strategy knows what came of it */
    bool hinted;         /* tried before the strategy was asked, since look-ups would give it */
    bool played;         /* its stats are from the play-off */
    bool brought;        /* it is an earlier run's winner, and none of what this one has tried */
    struct known *known; /* what came of it; null: nothing yet. Jobs that compile to the same share it */
};

struct queue {
    struct job *first, **last;
    int n;
};

/* What was compiled, or taken from the cache, for configurations that come to the same. */
struct code {
    char key[HASH_HEX]; /* first */
    struct buf source, binary, portable, entries;
    char compiler[COMPILER_NAME];
    double ms;
    bool cached;
    struct code *next; /* which is younger */
};

struct codes {
    void *root; /* of a tree */
    struct code *first, **last;
    size_t bytes;
};

/* How far a worker has come. */
enum life {
    LIFE_STARTS, /* or there is none */
    LIFE_LOADS,  /* it has said hello, and opens its compiler or device */
    LIFE_WORKS,
    LIFE_LEAVES, /* it has said its last result */
};

struct compiler_slot { /* a compile worker's place */
    struct tune_crew *crew;
    struct worker *worker;
    enum life life; /* between runs: LIFE_WORKS */
    bool stale;     /* it has the task of an earlier run; */
    bool reused;    /* it had, and has not said that it is ready for this one: if it fails now, another takes its place, and that is all */
    struct job *job;
    enum frame_kind asked; /* F_RENDER; F_COMPILE; or, once the job has failed, F_CONTROL, to see whether the job is at fault */
    bool trying;           /* past compiling: its trial launch */
    bool again;            /* it is the second worker that is asked for the control */
    struct result result;  /* what came of the job */
};

enum phase {
    PHASE_SEARCH,
    PHASE_PLAYOFF, /* compiling what the play-off lacks, then playing it */
    PHASE_TABLES,  /* compiling the defaults for the tables */
    PHASE_END,
};

/* See tune.h. */
struct tune_crew {
    uv_loop_t loop;
    struct run *run; /* whose turn it is; null: nobody's */
    int handles;     /* of a run that ends, still to be closed */
    struct compiler_slot slots[MAX_JOBS];
    struct worker *meter; /* an earlier run's measuring worker, idle; null: none */
    double setup_ms;      /* that the last new one took until it was ready */
    struct codes codes;
};

struct run {
    struct tune_crew *crew;
    struct task task;
    const struct op *op; /* the task's, as is its device */
    const struct devspec *dev;
    struct store *store;
    const struct tune_options *opt;
    struct tune_report *report;

    struct space *space;
    struct search *search;
    bool asked, exhausted;
    bool nothing_now;    /* its last answer was empty */
    int64_t told, heard; /* outcomes told so far; how many of them when it was last asked */
    int64_t waited_ms;   /* for its answer, in ticks: time in which this process did not run is not the child's */
    struct target target;
    void *known; /* the root of a tree: see tsearch(3) */
    struct {
        char made[HASH_HEX]; /* what variant_made says */
        bool rendered;       /* a configuration of it was */
        int endless;         /* configurations whose rendering did not end */
    } * variants;
    struct job *deflt; /* the op's default for this problem; null: none */
    int nunasked;      /* of the jobs, the first ones: those that the strategy did not propose */

    uv_timer_t tick;
    uv_poll_t answers;

    const char *program;
    char outside_folder[512]; /* of this run; "" without a reference outside, */
    int outside_lock;         /* and -1 if it cannot be locked */
    char own_path[4096];      /* without /proc */
    int nslots;
    struct compiler_slot *slots; /* the crew's */
    int compile_deaths; /* in a row, before they were ready */

    struct worker *meter; /* the measuring worker */
    enum life meter_life;
    bool meter_reused; /* it was an earlier run's, and is not ready for this one yet: see compiler_slot; */
    bool reused_died;  /* one did so */
    bool launching; /* a candidate for the first time, */
    bool hurried;   /* so it has less time than it would have otherwise: */
    double run_ms;  /* this much */
    int64_t meter_started_ns, measuring_since_ns;
    double setup_ms;     /* that the last one took until it was ready */
    int setup_deaths;    /* of measuring workers in a row */
    char setup_why[256]; /* what the last of them said; "" for nothing */
    struct job *measuring;
    /* What came of the job that the last measuring worker ended with: a verdict once the next one has passed the reference. */
    struct {
        struct job *job;
        struct result result;
    } doubt;
    bool playing, growing; /* the play-off; what precedes it: players are run for larger problems */
    int playing_at;       /* which of the play-off the worker is at; -1: none */
    int nplaying;         /* of the players, the first ones */
    char playing_on[112]; /* a larger problem; "": the run's */
    bool grow_not;        /* that broke off without a culprit */
    int outgrown;         /* how often one was at fault there */
    double reference_ns, copy_ns;
    double best_ns; /* of those right so far; 0: none */

    struct objective goal, own_goal; /* the run's; the op's, by which the winner is chosen */
    bool other_goal;                 /* they differ */
    double best_cost;                /* by the run's, if has_best */
    bool has_best;
    double clear_cost;   /* the best cost when it was last clearly better than before: */
    int64_t clear_ns;    /* when that was, */
    int64_t clear_tried; /* and how many had been tried */
    struct plans plans;  /* for metrics */
    struct err no_value; /* why the last metric that had no value had none */

    enum phase phase;
    bool quiet_turn;            /* devices that share their cores: this is the turn to measure, not to compile */
    struct queue queued, ready; /* to be compiled; compiled */
    struct queue twins;         /* waiting for code that is being compiled for another */
    int64_t accepted;           /* configurations taken from the strategy, the default among them */
    int64_t limit;              /* that many at most */
    int64_t start_ns, first_ns;

    struct job **jobs; /* all of them */
    int njobs;
    struct job *top[PLAYOFF];         /* the best that this run has measured, ascending: their code is kept, and the default's */
    struct job *players[PLAYOFF + 1]; /* in the play-off */
    int nplayers, missing;            /* how many; those still to be compiled */
    int playoffs, unexplained;        /* begun; broken off without a culprit */
    int ndefaults, defaults_left; /* for the tables; those still to be compiled */
    bool forgotten;            /* what a retuning run makes anew */
    enum tune_end over;        /* what last ended the search, if only for a while */
    bool had_winner;           /* of an earlier run, */
    bool winner_by_now;        /* chosen by what the op's objective is now */
    struct kept_winner kept;   /* and which; in the end its key is this run's */
    int64_t winner_index;      /* the earlier one's in the space; -1: it is no longer there */

    struct err err; /* of the call just made, for run_check */
    int failed;     /* what ends the run, with its message in why */
    struct err why;
    bool told_wait;     /* that another run has the device */
    bool told_unlocked; /* that its lock cannot be had */
    bool stopping;      /* interrupted, failed or over budget: nothing new is begun */
};

/* run.c */
void run_fail(struct run *r, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Ends the run with what r->err says, unless rc is 0; returns rc. */
int run_check(struct run *r, int rc);
void run_pump(struct run *r);
bool run_in_flight(const struct run *r);              /* a configuration that was accepted and has no outcome yet */
struct job *run_enlist(struct run *r, int64_t index); /* null: no memory, which ends the run */
double run_seconds(int64_t since_ns);
int64_t run_patience(int64_t bound, int64_t ms); /* a deadline, unless the options bound it to a shorter one. bound 0: none */
/* The job is done: into store, report and strategy. */
void run_done(struct run *r, struct job *job, const struct result *result);
void run_known(struct run *r, struct job *job, struct known *k); /* the same, from an earlier result */
void run_trial(const struct run *r, const struct job *job, enum tune_origin origin); /* what is known of it, to the options' callback */
/* Nothing is known of it, and nothing stored. */
void run_unsettled(struct run *r, struct job *job, const char *why);
/* The result into the database and into what is known, over an earlier one of the same key; a failure ends the run. */
void run_store(struct run *r, struct job *job, const struct result *result);
/* Starts a worker and tells it its task. */
int run_start(struct run *r, const char *kind, const struct worker_events *events, void *arg, int64_t fresh, struct worker **out);
void run_tell_task(struct run *r, struct worker *w, int64_t fresh);
void run_send(struct run *r, struct worker *w, const struct message *m);
struct result run_failure(enum outcome outcome, const char *reason, const char *when);
int run_busy_compilers(const struct run *r);

/* budget.c */
struct effort {
    int64_t cpu, gpu;       /* configurations at most, and */
    double seconds;         /* where they cost little, after so long and `cpu` of them the end once nothing was better for a third of the time */
    int players, rounds;    /* of the play-off: so many play in any case, beside the default; rounds at most, thrice as many for short kernels */
    double playoff_seconds; /* about so long */
};
const struct effort *effort_of(const struct run *r);
int64_t budget_limit(const struct run *r); /* configurations */
int playoff_rounds(const struct run *r);
int budget_open(const struct run *r, struct err *err); /* whether the target can be told here */
bool budget_over(const struct run *r);                 /* nothing more is to be tried */
enum tune_end budget_end(const struct run *r);         /* of a search that is over: why it is */
void budget_note_end(struct run *r);                   /* while it is over by budget_over: it may be so for a while only */
double target_share(const struct run *r, double ns);   /* of the target's speed, that so many have; 0: there is no target */
bool budget_spent(const struct run *r);                /* of seconds */
/* At most so many seconds, and what is left of the budget after those that were spent. */
struct patience budget_left(const struct run *r, double spent, double most);
void budget_note_best(struct run *r); /* r->best_cost has changed */

/* job.c */
struct job *job_new(struct run *r, const struct config *c, int64_t index); /* null: no memory, which ends the run */
void job_drop_code(struct job *j);
void jobs_free(struct run *r);
/* Once more, when it was compiled and that may not have been its own fault: with code that is compiled now, if it is not yet. */
void job_again(struct run *r, struct job *job);
void queue_put(struct queue *q, struct job *j);
void queue_put_in_order(struct queue *q, struct job *j);           /* of their serials */
struct job *queue_take(struct queue *q);                           /* null */
struct known *known_find(const struct run *r, const char *key);    /* null */
struct known *known_settled(const struct run *r, const char *key); /* null, too, if it is unsettled */
/* Or replaces. Null: no memory. */
struct known *known_add(struct run *r, const char *key, const struct result *result, bool of_now);

/* codes.c */
const struct code *codes_find(const struct codes *all, const char *key);    /* null */
void codes_add(struct codes *all, const struct job *job);                   /* or replaces. Without memory it is not kept */
int code_give(const struct code *c, struct job *job, struct err *err);      /* in place of compiling it */
void codes_free(struct codes *all);

/* goal.c. A cost: the less, the better; NaN: there is none, as of what is not right. */
int goals_open(struct run *r, struct err *err);
double goal_cost(struct run *r, const struct objective *o, const struct job *job);
bool goal_tied(struct run *r, const struct objective *o, const struct job *a, const struct job *b); /* both have costs */
void goal_note_best(struct run *r, const struct job *job);
void goal_find_best(struct run *r);                     /* anew: the one that was may be at fault */
double goal_cut(struct run *r, const struct config *c); /* bench_run's cut_ns */
double goal_few(const struct run *r);                   /* bench_run's few_ns */
/* A metric of the op's; NaN if it has no value. joules 0: not known. */
double goal_metric(struct run *r, const struct config *c, int metric, double ns, double joules);
void goal_name_slower(const struct run *r, char reason[256]);
/* Whether what is stored says all that this run asks. */
bool goal_settled(const struct run *r, enum outcome outcome, const char *reason, const struct energy *energy);

/* hints.c */
void hints_enlist(struct run *r);
void hints_only(struct run *r); /* what the options name in place of a strategy */

/* strategy.c */
const char *strategy_name(const struct run *r); /* the option's, or what is usual for such a run */
bool strategy_over(const struct run *r); /* it has no more to give to this run */
void strategy_ask(struct run *r);        /* if there is room for more */
void strategy_tell(struct run *r, struct job *job);
void strategy_answered(uv_poll_t *p, int status, int events);
void strategy_drop(struct run *r); /* the question, if there is one: the budget's end waits for no strategy */
/* Each tick: a child that thinks for ever is not seen otherwise, its socket stays silent. */
void strategy_check(struct run *r);
/* crew.c */
void crew_begin(struct tune_crew *c, struct run *r);
void crew_end(struct tune_crew *c, struct run *r); /* the run's phase is PHASE_END: its loop ends soon */
void crew_gone(struct tune_crew *c);               /* a worker, when that is noted */
/* compile.c */
int compilers_open(struct run *r, struct err *err); /* how many there may be */
void compilers_feed(struct run *r);
/* measure.c */
void meter_feed(struct run *r);
int meter_start(struct run *r);
void meter_play(struct run *r, int rounds);
/* The worker ended with this job. The first time that proves nothing: false, the job is to be tried again. The second time the result is a
 * verdict as soon as the next worker has passed the reference. Until then the job is in doubt, and the run owns the result. */
bool meter_doubts(struct run *r, struct job *job, struct result *result);
/* outside.c: the folder of a reference outside */
int outside_begin(struct run *r, struct err *err);
void outside_end(struct run *r);
/* finish.c */
void top_offer(struct run *r, struct job *job); /* one that is right, with its code */
/* Whether there is something that was cut because it was clearly behind, which it no longer is: then it is measured again. */
bool cuts_taken_back(struct run *r);
void playoff_begin(struct run *r);
void playoff_compiled(struct run *r, struct job *job);
/* All results, each right or not. */
void playoff_played(struct run *r, struct result *results);
void playoff_grown(struct run *r, struct result *results);
/* Its end came before, with the player at that place; -1: with none. */
void playoff_broken(struct run *r, int at, struct result *result);
void playoff_condemned(struct run *r); /* the player in doubt is at fault */
void tables_begin(struct run *r);
void tables_compiled(struct run *r, struct job *job);
int report_finish(struct run *r, struct err *err);

#endif
