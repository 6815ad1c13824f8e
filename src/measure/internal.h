/* Shared by the files of measure/.
 *
 * Where a function is given the result of a candidate, it returns 0, or VERDICT if the candidate is at fault (the result says how), or a
 * negative code if the bench itself fails. `err` is then not null, and means nothing after a VERDICT. */
#ifndef MEASURE_INTERNAL_H
#define MEASURE_INTERNAL_H

#include "device/library.h"
#include "measure/bench.h"
#include "measure/tolerance.h"

enum { VERDICT = 1 };
/* Sets outcome and reason; returns VERDICT. */
int condemn(struct result *r, enum outcome outcome, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Puts in front of a reason when it happened: "in a timed run: ...". */
void tell_when(struct result *r, const char *when);

enum { GUARD = 64 << 10 };   /* bytes of guard zone before and after each buffer */
enum { PASSES = 2 };         /* sets of inputs that a candidate is verified with, each with a poison of its own */
enum { TIMED = PASSES - 1 }; /* whose inputs timed runs have; of a sum, these are the ones that round */

enum service_kernel {
    FILL_SOURCE,
    FILL_PEAKS,
    CHECK_SOURCE,
    CHECK_PEAKS,
    CHECK_EQUAL,
    CHECK_WITHIN,
    CHECK_GUARDS,
    CHECK_UNWRITTEN,
    DIGEST,
    FLUSH,
    NSERVICE
};

/* The service kernels (templates/service.cu) for one element type. */
struct service {
    const struct dtype *type; /* never complex */
    struct guest_code *module;
    struct kernel *kernels[NSERVICE];
    char of[HASH_HEX]; /* its source */
    bool kept;         /* for the next bench */
};

/* A buffer with GUARD bytes before and behind it. */
enum { TINT_WRITTEN = 0x24, TINT_WORKSPACE = 0x42 }; /* of inputs 0 */
struct guarded {
    struct memory *whole, *inside;
    int64_t bytes; /* of the buffer */
    int64_t rest;  /* of the memory behind its zone: it is of a smaller problem than the memory */
    uint8_t tint;  /* others for inputs, outputs and workspaces: what is copied from zone to zone shows */
    bool small;    /* an input of integers that may be indices, so other bytes would harm: 0 or -1 in the guard zones */
    uint8_t paint; /* what the guard zones hold, and the rest */
};

/* Bounds as templates/service.cu takes them: see AMOUNT there. */
struct amounts {
    unsigned char first[8], step[8], last[8];
};

/* What a fill is made of; a check against it makes it again. */
struct contents {
    uint64_t seed;
    int32_t mode; /* those of service.cu: 0 any bits, 1 whole numbers, 2 uniform in [-1, 1), 3 in [0, 1), 4 and 5 of `within` */
    struct amounts within;
    struct {
        int64_t length, inner; /* of lines, as service.cu takes them; length 0: there are none */
        struct amounts within;
    } peaks;
};

/* One argument of the op: a buffer (for an output also what it should hold), or a value. */
struct bench_arg {
    const struct arg *arg;
    bool written; /* an output or an inout */
    struct guarded buf;
    struct service *service;
    int64_t n;                       /* elements of service->type */
    struct contents contents;        /* of its data, if it has any, */
    struct contents positive;        /* and without negative numbers */
    struct memory *file;             /* what its file holds */
    struct memory *expected[PASSES]; /* of an exact check for TIMED only: for the other the digest will do. Without a kernel of the
                                        reference it is given, for both, and what the reference does is to copy it */
    bool given;                      /* expected is what its file holds */
    uint64_t digest[PASSES];         /* of what is expected; of an input whose contents no rule makes, of these */
    struct bounds check;
    double typical[PASSES]; /* size of what is expected; 0 if nothing rests on it */
    bool moot[PASSES];      /* what is close to it proves nothing: extent_moot */
    struct tolerance tolerance[PASSES];
    struct {
        bool fails;
        unsigned char value[8];
    } constants[2]; /* numbers that all of an output could be and pass: 0, and its first one */
    double zeros;   /* the share of elements that could be 0 and pass, at least, in the pass where it is least; NaN: not looked at */
};

/* A candidate, loaded and ready to launch. */
struct loaded {
    const struct variant *variant; /* null: the reference */
    struct guest_code *module;
    struct kernel *kernels[MAX_LAUNCHES];
    struct memory *constants[MAX_ARGS]; /* of the binding */
    struct binding own, other;          /* for the bench's problem; for that of `on` */
    struct bench *on;                   /* the bench of another problem that it is checked on; null: it takes none */
    int nwork;
    struct guarded work[MAX_ARGS]; /* inside is its own; whole belongs to the bench's pool, but the reference's */
    double launch_ns;              /* of the last launch that was verified; 0: none was */
    bool keeps;                    /* it has a workspace that holds what an earlier run left */
    bool sits_out;                 /* of a play-off: it found no memory */
    struct called *call;           /* a library's, in place of kernels; */
    int way;                       /* which of its algorithms */
    double slack;                  /* how much more than the check's bound its result may be off; 0: no more */
    struct memory *from, *to;      /* a copy, */
    int64_t copy_bytes;            /* of so many bytes, */
    double copy_scale;             /* for one of so many times as many */
};

/* The kernels that make inputs. `op` is the bench's with them as its only variant. */
struct init {
    struct op op;
    struct plans plans;
    struct loaded code; /* without a module: there are none */
};

enum { MAX_OTHERS = 16 };

struct bench {
    struct task set;
    uint64_t variation;               /* of a bench of another problem (measure/other.c), so that it has other data; else 0 */
    char name[112];                   /* its problem and scalars, for messages: "m=3,n=5,alpha=0.25" */
    struct bench *others[MAX_OTHERS]; /* null from the first that is not there on */
    int next_other;                   /* which is given up for a new one, if all are there */
    struct bench *tried;              /* that the candidate has not passed, if it came to it */
    const char *alone;                /* why none is compared; null: they are */
    struct err outside_failed;        /* the reference from outside could not tell what is right for another problem */
    struct device *dev;
    struct service services[MAX_ARGS];
    int nservices;
    int nargs;
    struct bench_arg args[MAX_ARGS];
    struct plans plans;
    const struct plan *plan; /* the op's own */
    struct val vals[MAX_SLOTS];
    struct init init;
    struct loaded reference; /* known to be right: see bench_control */
    struct loaded candidate; /* the one that is measured alone */
    struct memory *result;   /* RESULT_BYTES of the service kernels */
    uint64_t digest_key;
    uint64_t digest[PASSES];       /* of all outputs that must be equal to the bit, added up */
    uint64_t input_digest[PASSES]; /* of all inputs */
    struct memory *flush_buf;
    int64_t flush_bytes;
    struct {
        struct memory *memory;
        int64_t bytes;
    } pool[MAX_ARGS];   /* workspaces, by their place in the variant: each as large as any candidate needed */
    double slowest_ns;  /* the longest first launch of a candidate */
    int inputs_pass;    /* what the inputs hold now; -1: unknown */
    bool stays_slow;    /* the device throttles, and waiting did not help */
    bool outputs_fresh; /* the outputs are poisoned for that pass, and nothing has run since */
};

/* measure/places.c */
enum { PLACES = 8 };
struct places {
    int n, now; /* n is 1: the buffers stay where they are, at the first */
    struct memory *room[MAX_ARGS];
    struct place {
        struct memory *whole, *inside;
    } at[PLACES][MAX_ARGS];
};
void places_make(struct bench *b, struct places *out); /* 1 where the device has no room for more */
int places_go(struct bench *b, struct places *p, int to, struct err *err);
void places_free(struct bench *b, struct places *p); /* back at the first */

/* measure/service.c. Checks are queued between begin and end; end waits and tells what they found together. */
enum { RESULT_BYTES = 1024, DIGESTS_AT = 16, MAX_DIGESTS = 32 };
struct found {
    uint32_t count;
    int64_t place;  /* a lower bound of the first wrong element, at most 63 before it */
    uint32_t worst; /* of wrong elements that have a tolerance: the largest error by its bound, as a float's bits */
    uint64_t digests[MAX_DIGESTS];
};
int service_load(struct bench *b, const struct dtype *t, struct service **out, struct err *err);
void services_close(struct bench *b); /* but for those that are kept */
int service_fill(struct bench *b, const struct service *s, struct memory *m, int64_t n, struct contents what, struct err *err);
int service_begin(struct bench *b, struct err *err);
int service_check_source(struct bench *b, const struct bench_arg *a, struct contents what, struct err *err);
/* Its buffer against what is expected in this pass. least: reports only elements that are so far off, as found.worst tells it. */
int service_check_same(struct bench *b, const struct bench_arg *a, int pass, uint32_t least, struct err *err);
int service_check_guards(struct bench *b, const struct guarded *g, struct err *err);
/* Elements of its buffer that hold zeros still, and held ones in what is expected of the timed pass. */
int service_check_unwritten(struct bench *b, const struct bench_arg *a, struct err *err);
/* Adds the digest of m, which holds what is the argument's, to the which-th. */
int service_digest(struct bench *b, const struct bench_arg *a, const struct memory *m, int which, struct err *err);
int service_end(struct bench *b, int digests, struct found *out, struct err *err);
int service_flush(struct bench *b, struct err *err);

/* measure/data.c */
/* Makes ready what an argument's data needs. */
int data_open(struct bench *b, struct bench_arg *a, struct err *err);
void data_close(struct bench *b, struct bench_arg *a);
/* Fills it with what it has in this pass. Other data in each: a result that was kept from an earlier one shows. */
int data_fill(struct bench *b, const struct bench_arg *a, int pass, struct err *err);
/* Whether it still holds that. */
int data_kept(struct bench *b, const struct bench_arg *a, int pass, bool *kept, struct err *err);
int within_bytes(const struct dtype *t); /* of each amount of struct contents; t is no complex type */
/* Copies a file's contents to the device. */
int data_copy(struct bench *b, const struct op *op, const struct data_file *f, struct memory *to, struct err *err);
int data_other(const struct bench *b, const struct problem *other);         /* whether there is data for it: an error if not */
const struct bench_arg *data_of_one_size(const struct bench *b);            /* an argument whose data no other can have; or null */
int data_open_other(struct bench *b, struct bench_arg *a, struct err *err); /* data_open, in the bench of another problem */

/* measure/init.c */
int init_open(struct bench *b, struct err *err); /* when all arguments are there */
void init_close(struct bench *b);
int init_run(struct bench *b, struct err *err); /* queued; all others are filled */
/* Binds them for another problem: an error if they cannot make its inputs. */
int init_other(struct bench *b, const struct problem *problem, struct binding *out, struct err *err);

/* measure/candidate.c */
/* The guard zones. pass + PASSES: with other bytes than any candidate finds there, so that it shows who reads them. */
int guarded_paint(struct bench *b, struct guarded *g, int pass, struct err *err);
/* What outputs and workspaces hold before a run, so that it shows what a kernel does not write, or reads without having written it. */
enum poison {
    POISON_ONES,   /* every bit set: a NaN, -1 */
    POISON_RANDOM, /* bits that follow no rule */
    POISON_ZEROS,  /* what fresh memory often holds */
};
int guarded_poison(struct bench *b, const struct guarded *g, enum poison with, struct err *err); /* the inside */
/* Makes room for workspaces of so many bytes in the pool. ERR_NOMEM if the device has none left. What was taken from the pool before
 * has to fit already, or must not be used any more. */
int pool_reserve(struct bench *b, const int64_t *bytes, int n, struct err *err);
void pool_free(struct bench *b);
/* The buffer of the op's argument `which`; behind the arguments come the workspaces. Empty for a value. */
const struct guarded *buffer_of(const struct bench *b, const struct loaded *l, int which);
/* ERR_NOMEM: the device lacks memory that it should have, which is not the candidate's fault. Whatever it returns, *l holds what is to be
 * unloaded. */
int candidate_load(struct bench *b, const struct bench_candidate *c, struct loaded *l, struct result *r, struct err *err);
/* What belongs to the bench: renders, compiles and loads a configuration of the plans' op, or (config null) its reference. */
int candidate_build(struct bench *b, struct plans *plans, const struct config *config, struct loaded *l, struct err *err);
void candidate_unload(struct bench *b, struct loaded *l);
/* Clears what it must, then every launch; queued. */
int candidate_launch(struct bench *b, const struct loaded *l, const struct binding *how, struct err *err);

/* measure/other.c */
/* Whether it is another one in other problems. Flags stay: no look-up takes what was tuned with another one, and what is checked there is the
 * path that the tuned one takes. */
static inline bool axis_is_size(const struct axis *a)
{
    return a->kind == AXIS_SIZE || a->kind == AXIS_BATCH;
}
/* A stride that has its default in the tuned problem has it in another one, too. */
void strides_settle(const struct bench *b, struct problem *p);
/* Whether a binding for another problem may be launched here: the problem is taken, and all that is touched lies in what l->own has. */
bool candidate_fits(const struct bench *b, const struct loaded *l, const struct binding *of);
/* Sets l->on, and binds l->other to it, of a candidate whose own binding is there. That no other problem can be run is no error: l->on is null. */
int other_choose(struct bench *b, const struct config *config, struct loaded *l, struct err *err);
bool other_compares(const struct bench *b, const struct loaded *l); /* its results, with the reference's, for a problem of other sizes */
/* Does so for the op's default: what is wrong with the reference there shows before any candidate is tried. Tells why if nothing is compared, and
 * which scalars and outputs that leaves unproved. */
int others_open(struct bench *b, struct bench_facts *facts, struct err *err);
/* Which value scalar `arg` is checked with besides the tuned one; varies: it is another one. */
int scalar_other(const struct bench *b, int arg, unsigned char other[16], bool *varies, struct err *err);
void others_drop(struct bench *b); /* gives their memory back; they are made again when they are needed */

/* measure/unproved.c: lists the scalars that checks on the bench of another problem (or without one, on the problem's own) do not prove; */
int scalars_unproved(struct bench *o, char *out, size_t room, struct err *err);
/* and the outputs that one number throughout would be right for, there and in each pass that constants_look has seen, or 0 for many elements. */
int constants_look(struct bench *b, struct bench_arg *a, int pass, struct err *err); /* just after what is expected was kept */
int constants_unproved(const struct bench *o, char *out, size_t room, struct err *err);

/* measure/probe.c: cuts one that is over the limit on a part of the problem already. */
int probe(struct bench *b, const struct config *config, struct loaded *l, double limit_ns, struct result *r, struct err *err);

/* measure/expected.c */
/* What one pass is to give: a copy of the reference's output, out of the way of candidates, and digests, of inputs too. */
int expected_keep(struct bench *b, int pass, struct err *err);
/* An output of which so little is finite that whatever a candidate gives would pass; null: none. Of the problem itself that has to be so in
 * both passes. */
const struct bench_arg *expected_moot(const struct bench *b);
/* Refuses such a problem, naming the input that it comes from. */
int expected_proves(struct bench *b, struct err *err);
/* Refuses an output of a sum that has in this pass what is no finite number: candidates could not give the same. */
int expected_finite(struct bench *b, const struct bench_arg *a, int pass, struct err *err);

/* measure/verify.c */
enum way {
    WAY_FIRST, /* on the inputs of timed runs */
    WAY_OTHER, /* for another problem; then on other inputs; the next check of these finds what this run does to them */
    WAY_LEFT,  /* the same, in the workspace that the run of the other problem left */
};
/* Waited for; l->launch_ns is then its time. */
int verify_launch(struct bench *b, struct loaded *l, const struct binding *how, struct result *r, struct err *err);
int verify_pass(struct bench *b, struct loaded *l, enum way way, struct result *r, struct err *err);
/* The reference on the bench of another problem, as a candidate. */
int verify_reference(struct bench *b, struct bench *other, struct result *r, struct err *err);
/* Fresh contents for everything that a kernel reads or writes, except workspaces: all of it, but for what init makes; the same with that, and
 * what is as it should be is left. */
int fill_all(struct bench *b, int pass, struct err *err);
int inputs_fill(struct bench *b, int pass, struct err *err);
/* Before a timed run: inouts as they were before the first, and no result of an earlier one to be found, in outputs or workspaces. */
int timed_set_back(struct bench *b, struct loaded *l, int pass, bool keep_work, struct err *err);
/* Queues a check of all outputs: what must be equal to the bit goes into the which-th digest. */
int outputs_look(struct bench *b, int pass, int which, struct err *err);
/* Queues a check of all guard zones and, unless `which` is -1, the digest of all inputs as the which-th. */
int rest_look(struct bench *b, const struct loaded *l, int which, struct err *err);
/* Of m, which holds what is the argument's; waited for. */
int digest_of(struct bench *b, const struct bench_arg *a, const struct memory *m, uint64_t *digest, struct err *err);
/* Of the op's buffers and workspaces the first whose guard zones have changed; null: none. */
int find_overrun(struct bench *b, const struct loaded *l, const char **name, struct err *err);
int find_input(struct bench *b, int pass, struct result *r, struct err *err); /* one that has changed */
/* What is wrong with what is there now: guard zones, inputs, outputs, in this order. */
int diagnose(struct bench *b, struct loaded *l, int pass, struct result *r, struct err *err);

/* measure/bench.c */
/* Runs the reference and checks it as a candidate. Fails if it no longer gives what it gave: then a candidate has damaged more than its
 * own, or the machine is at fault, and this bench is of no more use. Leaves nothing of earlier candidates behind. */
int bench_control(struct bench *b, struct err *err);
/* Runs the reference on the bench of another problem: what it gives is what candidates must give there. */
int reference_on(struct bench *other, struct err *err);
/* A sign of life. In a play-off, or for larger problems: the i-th player goes on; else one of enum doing. */
void bench_alive(const struct bench *b, int i);

/* measure/outside.c. Sets what is expected. */
int outside_open(struct bench *b, struct err *err);

/* measure/energy.c */
/* Whether it can be measured here, tried with the reference: an error with a line if not. */
int energy_ready(struct bench *b, double reference_ns, struct err *err);
/* Of a candidate that was right and has a time; the outputs of the last run are checked. */
int energy_take(struct bench *b, struct loaded *l, struct result *r, struct err *err);
/* Of n players that have times. */
int energy_play(struct bench *b, struct loaded *l, int n, struct result *out, struct err *err);

/* measure/timing.c */
/* Nothing of a candidate that was not right is left for the next; and it was the candidate's fault only if the reference still passes
 * here. A context that is lost needs no proof. */
int surroundings_prove(struct bench *b, const struct result *r, struct err *err);
/* A failure of the bench is that of the candidate it happened with, if that has none of its own. */
void bench_blame(struct result *r, const struct err *err);
/* Looks at what n samples have written, of which the i-th outputs were digested as the i-th; a VERDICT if anything is wrong. */
int look_back(struct bench *b, struct loaded *l, int pass, int n, bool first_left, struct result *r, struct err *err);
/* Samples of it, in spans; times come only with the outcome ok. on_left: the first finds the workspace as its last run has left it. */
int take_samples(struct bench *b, struct loaded *l, int pass, int n, bool on_left, double *ns, struct result *r, struct err *err);
/* Round by round, n players that are loaded. p: null, or the places to be made and gone through. until: after this (on clock_ns) only
 * LEAST_ROUNDS are played. */
enum { LEAST_ROUNDS = 9 };
int play_rounds(struct bench *b, struct loaded *l, int n, int rounds, struct places *p, int64_t until, struct result *out,
                struct err *err);
/* Makes room in the pool for the workspaces of the players that are kernels, the first ones first. A player for which there is none sits
 * out. */
int play_reserve(struct bench *b, const struct bench_candidate *c, int n, struct loaded *l, struct err *err);
/* The players as they begin, and what their results are gathered in; and what is left of them at the end. On an error, too: drop them. */
int players_make(struct bench *b, int n, int rounds, struct loaded **l, struct result *out, struct err *err);
void players_drop(struct bench *b, struct loaded *l, int n);
/* One that is so far behind is worth no more: a VERDICT, with this time alone. limit_ns 0: there is none. */
int cut(struct result *r, double ns, double limit_ns, const char *what, struct err *err);
int time_copy(struct bench *b, double bytes, double *ns, struct err *err);

/* measure/peers.c */
int copy_load(struct bench *b, struct loaded *l, double bytes, struct err *err); /* ERR_INVALID: there is nothing to be moved */
int peer_load(struct bench *b, int peer, struct loaded *l, struct result *r, struct err *err);
void peer_unload(struct bench *b, struct loaded *l);
int peer_launch(struct bench *b, const struct loaded *l, struct err *err);
/* Before and after whatever compares its result: bounds are as wide as its slack says. */
void slack_begin(struct bench *b, const struct loaded *l);
void slack_end(struct bench *b, const struct loaded *l);

#endif
