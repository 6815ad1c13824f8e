/* Measuring on one open device: inputs, the reference's output, then each candidate verified and timed.
 *
 * Lives in the measuring worker: a candidate may take the process down, and the coordinator bears that. A bench belongs to one
 * thread. Everything is one op, problem, types and device. */
#ifndef MEASURE_BENCH_H
#define MEASURE_BENCH_H

#include "device/device.h"
#include "model/config.h"
#include "model/record.h"

/* What is measured, and where. */
struct task {
    const char *home; /* for templates/service.cu */
    struct op *op;    /* not changed */
    struct problem problem;
    int row;
    struct devspec dev;
    bool warm;     /* time with what the cache holds from a run before; cold: flushed by reading */
    int64_t fresh; /* not 0: the reference is compiled past every cache, as a candidate would be. Another number each time */
    /* Called before each piece of work that a candidate or the set-up could hang in, so that a deadline can begin anew; may be null. */
    void (*alive)(void *arg);
    /* In a play-off, before each thing that the i-th player could hang in or die of; may be null. */
    void (*playing)(void *arg, int i);
    void *arg;
};

struct bench_facts {
    double reference_ns; /* one launch of the reference */
    double copy_ns;      /* a device copy that moves work.bytes in all, cold; 0: the op does not say */
};

struct bench;

/* Whether the problem fits into the device's memory: if not, ERR_INVALID, and the message says what it lacks. Opens no device. */
int bench_fits(const struct op *op, const struct problem *problem, int row, const struct devspec *dev, struct err *err);

/* Opens the device, makes the inputs, runs the reference. ERR_INVALID if the problem does not fit into the device's memory. */
int bench_open(const struct task *task, struct bench **out, struct bench_facts *facts, struct err *err);
void bench_close(struct bench *b);

/* What a candidate is: its configuration and what the compiler made of it. */
struct bench_candidate {
    struct config config;
    const void *binary;
    size_t binary_bytes;
};

/* Verifies and times one. 0: the result is a verdict. What was wrong, if anything, is the candidate's own fault, since the reference still
 * passes here; and nothing of it is left for the next one.
 * ERR_NOMEM: no verdict, since the device lacks memory that others hold; the bench can go on.
 * Another code: this bench is of no more use -- its context is lost, or the reference no longer passes. The result then says what came
 * of the candidate, and is worth a verdict only if it comes out so on a new bench, too.
 * cut_ns > 0: a first sample slower than that ends the timing, outcome slower. */
int bench_run(struct bench *b, const struct bench_candidate *c, double cut_ns, struct result *out, struct err *err);

/* Times n candidates that were right before, interleaved over `rounds` rounds, each run checked in full; out[i].outcome ok, or what
 * went wrong. A player that finds no memory sits out: ok, with no samples. Returns as bench_run; but with any code the times are worth
 * nothing, and out[i] is not ok for the one that it happened with. */
int bench_playoff(struct bench *b, const struct bench_candidate *c, int n, int rounds, struct result *out, struct err *err);

#endif
