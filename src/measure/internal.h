/* Shared by the files of measure/.
 *
 * Where a function is given the result of a candidate, it returns 0, or VERDICT if the candidate is at fault (the result says how), or a
 * negative code if the bench itself fails. */
#ifndef MEASURE_INTERNAL_H
#define MEASURE_INTERNAL_H

#include "measure/bench.h"

enum { VERDICT = 1 };
/* Sets outcome and reason; returns VERDICT. */
int condemn(struct result *r, enum outcome outcome, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

enum { GUARD = 64 << 10 };   /* bytes of guard zone before and after each buffer */
enum { PASSES = 2 };         /* sets of inputs that a candidate is verified with, each with a poison of its own */
enum { TIMED = PASSES - 1 }; /* whose inputs timed runs have; of a sum, these are the ones that round */

/* The service kernels (templates/service.cu) for one element type. */
struct service {
    const struct dtype *type; /* never complex */
    struct guest_code *module;
    struct kernel *fill_source, *check_source, *check_equal, *check_close, *check_guards, *check_unwritten, *digest, *flush;
};

/* A buffer with GUARD bytes before it and at least as many behind. */
struct guarded {
    struct memory *whole, *inside;
    int64_t bytes, total; /* of the buffer; of all that is painted and looked at */
    uint8_t paint;        /* what the guard zones hold */
};

/* One argument of the op: a buffer (for an output also what it should hold), or a value. */
struct bench_arg {
    const struct arg *arg;
    struct guarded buf;
    struct service *service;
    int64_t n;                       /* elements of service->type */
    struct memory *expected[PASSES]; /* of an exact check for TIMED only: for the other the digest will do */
    uint32_t digest[PASSES][2];      /* of what is expected */
    double tolerance;                /* of the second pass; 0: exact */
    unsigned char value[16];
    int value_bytes;
};

/* How the kernels of a candidate are launched for one problem. */
struct binding {
    struct {
        struct geometry geometry;
        struct karg args[2 * MAX_ARGS];
    } launches[MAX_LAUNCHES];
};

/* A candidate, loaded and ready to launch. */
struct loaded {
    const struct variant *variant; /* null: the reference */
    const struct launch *launches;
    int nlaunches;
    struct guest_code *module;
    struct kernel *kernels[MAX_LAUNCHES];
    struct binding own, other; /* for the bench's problem; for another one, on the same buffers */
    bool has_other;
    char other_problem[128]; /* which one, for messages */
    int nwork;
    struct guarded work[MAX_ARGS]; /* inside is its own; whole belongs to the bench's pool */
    bool sits_out;                 /* of a play-off: it found no memory */
};

struct bench {
    struct task set;
    const struct backend *be;
    struct device *dev;
    struct service services[MAX_ARGS];
    int nservices;
    int nargs;
    struct bench_arg args[MAX_ARGS];
    struct plans plans;
    const struct plan *plan; /* the op's own */
    struct val vals[MAX_SLOTS];
    struct loaded *reference; /* known to be right: see bench_control */
    struct memory *result;    /* RESULT_BYTES of the service kernels */
    uint64_t digest_key;
    uint32_t digest[PASSES][2];       /* of all outputs that must be equal to the bit, added up */
    uint32_t input_digest[PASSES][2]; /* of all inputs */
    struct memory *flush_buf;
    int64_t flush_bytes;
    struct {
        struct memory *memory;
        int64_t bytes;
    } pool[MAX_ARGS];   /* workspaces, by their place in the variant: each as large as any candidate needed */
    int inputs_pass;    /* what the inputs hold now; -1: unknown */
    bool outputs_fresh; /* the outputs are poisoned for that pass, and nothing has run since */
};

/* measure/service.c. Checks are queued between begin and end; end waits and tells what they found together. */
enum { RESULT_BYTES = 1024, DIGESTS_AT = 16, MAX_DIGESTS = 32 };
struct found {
    uint32_t count;
    int64_t place; /* a lower bound of the first wrong element, at most 63 before it */
    uint32_t digests[MAX_DIGESTS][2];
};
/* What a fill is made of; a check against it makes it again. */
struct contents {
    uint64_t seed;
    int32_t mode; /* 0: any bits; 1 + pass: numbers of that pass */
};
int service_load(struct bench *b, const struct dtype *t, struct service **out, struct err *err);
/* Compiles a text. What the compiler refuses comes as the line of its log that says most. */
int service_compile(struct bench *b, const struct buf *source, struct buf *binary, struct err *err);
int service_fill(struct bench *b, struct service *s, struct memory *m, int64_t n, struct contents what, struct err *err);
int service_begin(struct bench *b, struct err *err);
int service_check_source(struct bench *b, const struct bench_arg *a, struct contents what, struct err *err);
/* Its buffer against what is expected in this pass. */
int service_check_same(struct bench *b, const struct bench_arg *a, int pass, double tolerance, struct err *err);
int service_check_guards(struct bench *b, const struct guarded *g, struct err *err);
/* Elements of its buffer that hold zeros still, and held ones in what is expected of the timed pass. */
int service_check_unwritten(struct bench *b, const struct bench_arg *a, struct err *err);
/* Adds the digest of m, which holds what is the argument's, to the which-th. */
int service_digest(struct bench *b, const struct bench_arg *a, struct memory *m, int which, struct err *err);
int service_end(struct bench *b, int digests, struct found *out, struct err *err);
int service_flush(struct bench *b, struct err *err);

/* measure/guarded.c */
int guarded_alloc(struct bench *b, int64_t bytes, struct guarded *out, struct err *err);
void guarded_free(struct bench *b, struct guarded *g);
int guarded_paint(struct bench *b, struct guarded *g, int pass, struct err *err); /* the guard zones */
/* What outputs and workspaces hold before a run, so that it shows what a kernel does not write, or reads without having written it. */
enum poison {
    POISON_ONES,   /* every bit set: a NaN, -1 */
    POISON_RANDOM, /* bits that follow no rule */
    POISON_ZEROS,  /* what fresh memory often holds */
};
int guarded_poison(struct bench *b, struct guarded *g, enum poison with, struct err *err); /* the inside */
/* Makes room for workspaces of so many bytes in the pool. ERR_NOMEM if the device has none left. What was taken from the pool before
 * has to fit already, or must not be used any more. */
int pool_reserve(struct bench *b, const int64_t *bytes, int n, struct err *err);
int pool_take(struct bench *b, int i, int64_t bytes, struct guarded *out, struct err *err);
void pool_free(struct bench *b);

/* measure/candidate.c */
/* Bytes of a candidate's workspaces; returns how many there are, or an error. */
int candidate_workspaces(struct bench *b, const struct config *config, int64_t bytes[MAX_ARGS], struct err *err);
/* config null: the reference. ERR_NOMEM: the device lacks memory that it should have, which is not the candidate's fault. Whatever it
 * returns, *l holds what is to be unloaded. */
int candidate_load(struct bench *b, const struct config *config, const void *binary, size_t bytes, struct loaded *l,
                   struct result *r, struct err *err);
void candidate_unload(struct bench *b, struct loaded *l);
/* Clears what it must, then every launch; queued. */
int candidate_launch(struct bench *b, struct loaded *l, const struct binding *how, struct err *err);
/* Whether it has a workspace that holds what an earlier run left. */
bool candidate_keeps(const struct loaded *l);

/* measure/other.c: finds another, smaller problem that the configuration takes, and binds l->other to it; none is no error. */
void other_bind(struct bench *b, const struct plan *plan, const struct config *config, struct loaded *l);

/* measure/verify.c */
struct way { /* one verification of a candidate */
    int pass;
    bool after_other;  /* another problem is run first */
    bool poisoned;     /* workspaces are poisoned before; else they hold what was left there */
    bool inputs_later; /* the next look at the inputs finds what this run does to them: they stay until then */
};
int verify_pass(struct bench *b, struct loaded *l, struct way way, struct result *r, struct err *err);
bool is_output(const struct bench_arg *a); /* or inout */
bool is_exact(const struct bench_arg *a, int pass);
/* Fresh contents for everything that a kernel reads or writes, except workspaces. What is as it should be is left. */
int inputs_fill(struct bench *b, int pass, struct err *err);
/* Before a timed run: inouts as they were before the first, and no result of an earlier one to be found, in outputs or workspaces. */
int timed_set_back(struct bench *b, struct loaded *l, int pass, bool keep_work, struct err *err);
/* Queues a check of all outputs: what must be equal to the bit goes into the which-th digest. */
int outputs_look(struct bench *b, int pass, int which, struct err *err);
int guards_look(struct bench *b, struct loaded *l, struct err *err); /* queues a check of all guard zones */
int inputs_look(struct bench *b, int which, struct err *err);        /* queues the digest of all inputs, as the which-th */
/* Of m, which holds what is the argument's; waited for. */
int digest_of(struct bench *b, const struct bench_arg *a, struct memory *m, uint32_t digest[2], struct err *err);
bool same(const uint32_t a[2], const uint32_t b[2]);                          /* of two digests */
int find_input(struct bench *b, int pass, struct result *r, struct err *err); /* one that has changed */
/* What is wrong with what is there now: guard zones, inputs, outputs, in this order. */
int diagnose(struct bench *b, struct loaded *l, int pass, struct result *r, struct err *err);

/* measure/reference.c */
int reference_open(struct bench *b, double *ns, struct err *err);
/* Runs the reference and checks it as a candidate. Fails if it no longer gives what it gave: then a candidate has damaged more than its
 * own, or the machine is at fault, and this bench is of no more use. Leaves nothing of earlier candidates behind. */
int bench_control(struct bench *b, struct err *err);

/* measure/timing.c */
int time_samples(struct bench *b, struct loaded *l, double cut_ns, struct result *r, struct err *err);
int playoff_rounds(struct bench *b, struct loaded *l, int n, int rounds, struct result *out, struct err *err);
int time_copy(struct bench *b, double bytes, double *ns, struct err *err);

void bench_alive(const struct bench *b);
void bench_playing(const struct bench *b, int i);
/* A failure of the bench is that of the candidate it happened with, if that has none of its own. */
void bench_blame(struct result *r, const struct err *err);

#endif
