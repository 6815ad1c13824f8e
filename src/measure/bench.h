/* Measuring on one open device: inputs, the reference's output, then each candidate verified and timed.
 *
 * Lives in the measuring worker: a candidate may take the process down, and the coordinator bears that. A bench belongs to one
 * thread. Everything is one op, problem, types and device. */
#ifndef MEASURE_BENCH_H
#define MEASURE_BENCH_H

#include "device/device.h"
#include "measure/outside.h"
#include "model/op.h"
#include "model/record.h"

/* What is measured, and where. */
struct task {
    const char *home; /* for templates/service.cu */
    struct op *op;    /* not changed */
    struct problem problem;
    int row;
    struct devspec dev;
    const char *cache;      /* a folder of compiled code (worker/cache.h); null: there is none */
    bool energy;            /* the energy of runs is measured, too */
    bool larger;            /* than the one that is tuned (measure/grow.c): nothing is timed, and there is no other. Not told to workers */
    bool warm;              /* time with what the cache holds from a run before; cold: flushed by reading */
    bool other_scalars;     /* they have the other values that candidates are checked with */
    struct outside outside; /* in place of the op's reference */
    int64_t fresh; /* not 0: the reference is compiled past every cache, as a candidate would be. Another number each time */
    bool
        proven; /* another worker of this run has found the reference to set all of its output, the same each time, and timed the copy */
    struct bench_kept *kept; /* what the next bench in this process takes over from this one; null: nothing */
    /* Called before each piece of work that something could hang in or die of, so that a deadline can begin anew; may be null. player: in a
     * play-off, or for larger problems, the one whose piece it is, else one of enum doing. on: the problem, if it is not the tuned one; else "". */
    void (*alive)(void *arg, int player, const char *on);
    void *arg;
};

/* As all workers of a run are told it. What is read is owned by its op: op_free. */
void task_put(struct buf *out, const struct task *t);
int task_get(struct cursor *in, struct task *t, struct err *err);

enum doing {
    DOES_ANY = -1,
    DOES_FIRST_LAUNCH = -2, /* of the candidate; nothing else */
    DOES_NO_PLAYER = -3,    /* what follows is no player's doing */
};

struct bench_facts {
    double reference_ns; /* one launch of the reference */
    double copy_ns;      /* a device copy that moves work.bytes in all, cold; 0: the op does not say, or it is proven */
    char alone[256];     /* why results are compared for this problem only; "": they are for another one, too */
    char unproved[256];  /* scalars that a kernel may have built in, and why that would not show; "": none, or it is proven */
    char constant[256];  /* outputs that one number throughout would be right for; likewise */
};

/* The launches of a configuration for a problem, with the bytes of their buffers and what their values are. */
struct binding {
    struct arena *arena; /* of the launches */
    const struct plan *plan;
    struct val vals[MAX_SLOTS]; /* for its plan */
    int nwork, n;               /* workspaces, launches */
    const struct workspace *workspaces;
    int64_t work[MAX_ARGS]; /* bytes of them, 1 at least */
    int nconstants;         /* arguments that the kernels find in __constant__ arrays */
    struct {
        int arg;
        int64_t bytes;
    } constants[MAX_ARGS];
    struct guest_param args[2 * MAX_ARGS]; /* arguments and workspaces: a buffer's index is its place here */
    struct guest_launch *launches;
    struct guest_texture *textures;
};

enum { NO_OTHERS = 0 };
#define ALL_OTHERS UINT32_MAX
/* Of a configuration of the plans' op; config null: of its reference. problem may be another than the task's. others: bit i: scalar i has the
 * other value that it is checked with. *out: zeros, or one that was made before. binding_free it after a failure, too. */
int binding_make(struct plans *plans, const struct task *task, const struct problem *problem, uint32_t others,
                 const struct config *config, struct binding *out, struct err *err);
void binding_free(struct binding *of);

struct bench;

/* Whether the problem fits into the device's memory: if not, ERR_INVALID, and the message says what it lacks. Opens no device. */
int bench_fits(const struct op *op, const struct problem *problem, int row, const struct devspec *dev, struct err *err);

enum { KEPT_CODES = 2 };
/* The device, and service kernels that are loaded on it; what the reference's and init's last sources were compiled to. Zeros at first; all benches that have it are of one device. */
struct bench_kept {
    struct device *dev;
    struct service *services; /* of service.c */
    int n;
    struct kept_code {
        char of[HASH_HEX]; /* the source */
        struct buf binary, entries;
    } codes[KEPT_CODES];
    int next_code; /* which is given up for a new one */
};
void bench_kept_free(struct bench_kept *k);

/* Opens the device, makes the inputs, runs the reference. ERR_INVALID if the problem does not fit into the device's memory. */
int bench_open(const struct task *task, struct bench **out, struct bench_facts *facts, struct err *err);
void bench_close(struct bench *b);

/* What a candidate is: its configuration and what the compiler made of it; or, for bench_compare, one of the others. */
enum bench_kind {
    BENCH_KERNEL,
    BENCH_REFERENCE, /* the op's reference, as any other kernel */
    BENCH_COPY,      /* a copy within the device that moves work.bytes in all: it computes nothing, and is not checked */
    BENCH_PEER,
};
struct bench_candidate {
    enum bench_kind kind;
    int peer; /* which of the op's */
    struct config config;
    const void *binary;
    size_t binary_bytes;
    const void *entries; /* how the code calls the kernels, as kernel_call has it */
    size_t entries_bytes;
};

/* Of times, by how far the best is ahead; 0: none. */
struct limits {
    double cut_ns, few_ns;
};

/* Verifies and times one. 0: the result is a verdict. What was wrong, if anything, is the candidate's own fault, since the reference still
 * passes here; and nothing of it is left for the next one.
 * ERR_NOMEM: no verdict, since the device lacks memory that others hold; the bench can go on.
 * Another code: this bench is of no more use -- its context is lost, or the reference no longer passes. The result then says what came
 * of the candidate, and is worth a verdict only if it comes out so on a new bench, too.
 * Behind cut_ns a first sample ends the timing, outcome slower; and so does a first launch that is clearly slower still, which is then all
 * that was verified of it. Behind few_ns the fewest samples do, if their median is behind it, too. */
int bench_run(struct bench *b, const struct bench_candidate *c, struct limits behind, struct result *out, struct err *err);

/* Times n candidates that were right before, interleaved over `rounds` rounds, each run checked in full; out[i].outcome ok, or what
 * went wrong. A player that finds no memory sits out: ok, with no samples. Returns as bench_run; but with any code the times are worth
 * nothing, and out[i] is not ok for the one that it happened with. */
int bench_playoff(struct bench *b, const struct bench_candidate *c, int n, int rounds, struct result *out, struct err *err);

/* Runs n candidates that were right before for larger problems, for each axis one, without timing them: ok, or wrong, and the reason names the
 * problem. What is not taken or launched there, or finds no memory, is ok. Returns as bench_playoff. */
int bench_grow(struct bench *b, const struct bench_candidate *c, int n, struct result *out, struct err *err);

/* Builds (kernels have no code yet), verifies and times n players, interleaved over at most `rounds` rounds, fewer where they take long, but
 * the same for all. out[i].outcome ok, with a sample for each round, or why it has none: OUT_INVALID if the player is not to be had here, without
 * a reason if it is for other devices.
 * The reason of one that is ok says how it was called, if there is anything to say. Returns as bench_playoff. */
int bench_compare(struct bench *b, const struct bench_candidate *c, int n, int rounds, struct result *out, struct err *err);

#endif
