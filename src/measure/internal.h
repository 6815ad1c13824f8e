/* Shared by the files of measure/. */
#ifndef MEASURE_INTERNAL_H
#define MEASURE_INTERNAL_H

#include "measure/bench.h"

enum { GUARD = 64 << 10 }; /* bytes of guard zone before and after each buffer */
enum { PASSES = 2 };       /* verifications of a candidate, each with inputs and a poison of its own */

/* The service kernels (templates/service.cu) for one element type. */
struct service {
    const struct dtype *type; /* never complex */
    struct module *module;
    struct kernel *fill_source, *check_source, *check_equal, *check_close, *check_fill, *checksum, *flush;
};

/* A buffer with GUARD bytes before it and at least as many behind. */
struct guarded {
    struct memory *whole, *inside;
    int64_t bytes, total; /* of the buffer; of all */
};

/* One argument of the op: a buffer (for an output also what it should hold), or a value. */
struct slot {
    const struct arg *arg;
    struct guarded buf;
    struct service *service;
    int64_t n; /* elements of service->type */
    struct memory *expected[PASSES];
    uint32_t sum[PASSES][2]; /* of expected */
    bool shared_expected;    /* expected[1] is expected[0] */
    unsigned char value[16];
    int value_bytes;
};

struct bench {
    struct bench_setup set;
    const struct backend *be;
    struct device *dev;
    struct service services[MAX_ARGS];
    int nservices;
    int nslots;
    struct slot slots[MAX_ARGS];
    struct plan *plan; /* the op's own */
    struct val vals[MAX_SLOTS];
    struct plan **variant_plans; /* made when first asked for */
    struct memory *result;       /* two uint32 of the service kernels */
    struct memory *flush_buf;
    int64_t flush_bytes;
    int inputs_pass;            /* what the inputs hold now; -1: unknown */
    double tolerance[MAX_ARGS]; /* of the second pass, by slot; 0: exact */
};

/* A candidate, loaded and ready to launch. */
struct loaded {
    struct module *module;
    int nlaunches;
    struct {
        struct kernel *kernel;
        struct geometry geometry;
        int nargs;
        struct karg args[2 * MAX_ARGS];
    } launches[MAX_LAUNCHES];
    int nwork;
    struct guarded work[MAX_ARGS];
    bool work_clear[MAX_ARGS];
    int nclear;
    int clear[MAX_ARGS]; /* slots */
    struct resources resources;
};

/* measure/service.c. Checks are queued between begin and end; end waits and tells what they found together. */
struct check {
    uint32_t count;
    int64_t place; /* a lower bound of the first wrong element, at most 63 before it */
};
int service_load(struct bench *b, const struct dtype *t, struct service **out, struct err *err);
int service_fill(struct bench *b, struct service *s, struct memory *m, int64_t n, int pass, uint64_t seed, bool bits,
                 struct err *err);
int service_begin(struct bench *b, struct err *err);
int service_check_source(struct bench *b, struct service *s, struct memory *m, int64_t n, int pass, uint64_t seed, bool bits,
                         struct err *err);
int service_check_same(struct bench *b, struct service *s, struct memory *got, struct memory *want, int64_t n, double tolerance,
                       struct err *err);
int service_check_fill(struct bench *b, struct memory *m, int64_t from, int64_t to, uint8_t value, struct err *err);
int service_end(struct bench *b, struct check *out, struct err *err);
int service_checksum(struct bench *b, struct service *s, struct memory *m, int64_t n, uint32_t sum[2], struct err *err);
int service_flush(struct bench *b, struct err *err);

/* measure/candidate.c */
int guarded_alloc(struct bench *b, int64_t bytes, struct guarded *out, struct err *err);
void guarded_free(struct bench *b, struct guarded *g);
int guarded_poison(struct bench *b, struct guarded *g, uint8_t value, struct err *err);
/* config null: the reference. A refusal of the candidate is 0 with *outcome and reason; what it could hold is in *l, for unload. */
int candidate_load(struct bench *b, const struct config *config, const void *binary, size_t bytes, struct loaded *l,
                   enum outcome *outcome, char reason[256], struct err *err);
void candidate_unload(struct bench *b, struct loaded *l);
int candidate_launch(struct bench *b, struct loaded *l, struct err *err); /* clears what it must, then every launch; queued */

/* measure/verify.c */
uint8_t poison(int pass);
bool is_bits(const struct bench *b, const struct slot *s); /* the slot's input is any bits, the same in each pass */
/* What a run has changed of its inouts: put back. */
int inouts_fill(struct bench *b, int pass, struct err *err);
int inputs_fill(struct bench *b, int pass, struct err *err);
int verify_pass(struct bench *b, struct loaded *l, int pass, enum outcome *outcome, char reason[256], struct err *err);
/* No result of an earlier run is left for a candidate to find in its outputs. */
int outputs_poison(struct bench *b, int pass, struct err *err);

/* measure/timing.c */
int time_samples(struct bench *b, struct loaded *l, double cut_ns, struct result *r, struct err *err);
int playoff_rounds(struct bench *b, struct loaded *l, int n, int rounds, struct result *out, struct err *err);
int time_copy(struct bench *b, double bytes, double *ns, struct err *err);

void bench_alive(const struct bench *b);
void bench_playing(const struct bench *b, int i);
/* A failure of the bench is that of the candidate it happened with, where that has none of its own. */
void bench_blame(struct result *out, const struct err *err);

#endif
