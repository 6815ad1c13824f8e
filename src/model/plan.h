/* A plan: the compiled expressions of a variant. It turns (problem, types, configuration, device) into geometry and sizes.
 * It does not change once it is built, so any thread may evaluate it, each with slots of its own. */
#ifndef MODEL_PLAN_H
#define MODEL_PLAN_H

#include "expr/expr.h"
#include "model/devspec.h"
#include "model/op.h"

/* The slots, in this order: the variant's parameters, the op's axes, the op's types (as the name of a dtype), device.*; for metrics the
 * time and energy of a run. */
enum { MAX_SLOTS = MAX_PARAMS + MAX_AXES + MAX_TYPES + 16 };

struct geometry {
    int64_t grid[3], block[3];
    int64_t shared;     /* dynamic, bytes */
    int64_t cluster[3]; /* blocks; 0: there are no clusters */
    bool cooperative, dependent;
};

/* Whether a launch says more than how many blocks, threads and bytes. */
static inline bool geometry_special(const struct geometry *g)
{
    return g->cluster[0] || g->cooperative || g->dependent;
}

#define WORK_MAX 1e30

struct plan;

/* variant -1: the op's own expressions and its reference only (there are then no parameter slots). The op must outlive the plan. */
int plan_new(const struct op *op, int variant, struct plan **out, struct err *err);
/* The same of a variant's constraints and of what it requires of the device alone: these are its checks, and it answers nothing else. */
int plan_constraints(const struct op *op, int variant, struct plan **out, struct err *err);
void plan_free(struct plan *p);

/* All plans of an op, each made when it is first asked for. Of one thread. */
struct plans {
    const struct op *op;
    struct plan **made; /* behind those of the variants, that of variant -1 */
};
int plans_get(struct plans *all, int variant, const struct plan **out, struct err *err); /* lives as long as `all` */
void plans_free(struct plans *all);
const struct scope *plan_scope(const struct plan *p);

/* Fills the slots; config may be null with variant -1. */
void plan_slots(const struct plan *p, const struct problem *prob, int row, const struct devspec *dev, const struct config *config,
                struct val slots[MAX_SLOTS]);

/* What the op itself says of problems: its `where`, and the `max` of its axes. *fails: the text of the first that does not hold, or null. */
int plan_takes(const struct plan *p, const struct val *slots, const char **fails, struct err *err);
int plan_axis_max(const struct plan *p, int axis, const struct val *slots, int64_t *max, struct err *err); /* INT64_MAX: no limit */
bool op_limited(const struct op *op);                                                    /* it says anything of them */
int op_takes(const struct op *op, const struct problem *prob, int row, struct err *err); /* ERR_INVALID if it does not */

/* Launch i (variant -1: the reference, i = 0). Every extent must be at least 1; 0 blocks are an error. */
int plan_geometry(const struct plan *p, int i, const struct val *slots, struct geometry *out, struct err *err);
/* One of the launches that a variant's come to with their repetitions. */
struct step {
    int launch;
    int64_t round, step;
    /* As the launch's, with buffers that have changed places; behind them those of its views. The same array for the same ones. */
    const int *args;
};
/* Lists them on the arena, in order. ERR_UNSUPPORTED if they are more than MAX_STEPS. */
int plan_steps(const struct plan *p, const struct val *slots, struct arena *arena, struct step **out, int *n, struct err *err);
/* Sets the slots of ROUND and STEP, which are 0 at first, for plan_geometry and plan_step_value. */
void plan_set_round(const struct plan *p, int64_t round, int64_t step, struct val *slots);
/* The i-th of a launch's own values, as plan_arg_value. */
int plan_step_value(const struct plan *p, int launch, int i, const struct val *slots, unsigned char out[16], int *bytes,
                    struct err *err);
int plan_buffers(const struct plan *p); /* how many arguments and workspaces there are: behind them come a launch's own values */
/* A tensor map of a launch, innermost extent first. */
struct tensor {
    const struct dtype *type;
    int rank;
    int64_t extent[MAX_VIEW_RANK], box[MAX_VIEW_RANK], step[MAX_VIEW_RANK]; /* elements */
    int64_t stride[MAX_VIEW_RANK];                                          /* bytes */
    int swizzle, interleave, l2;                                            /* bytes; 0: none */
    bool nan;
};
/* A texture of a launch, innermost extent first. */
struct texture {
    const struct dtype *type;
    struct texture_mode mode;
    enum texture_address address[TEXTURE_RANK];
    int rank, channels;           /* elements of a texel */
    int64_t extent[TEXTURE_RANK]; /* texels; 1 past the rank */
    int64_t pitch, rows;          /* bytes from one row to the next, rows from one slice to the next */
    int64_t bytes;                /* of all texels */
};
/* ERR_UNSUPPORTED for one that no device takes. */
int plan_texture(const struct plan *p, int launch, int view, const struct val *slots, struct texture *out, struct err *err);
int plan_tensor(const struct plan *p, int launch, int view, const struct val *slots, struct tensor *out, struct err *err);
const char *plan_arg_name(const struct plan *p, int launch, int arg); /* of one of a launch's args, by its index */
const struct launch *plan_launch(const struct plan *p, int i);        /* as the op has it; null past the last */

/* Bytes of the op's i-th argument (0 for values and scalars), of the variant's i-th workspace; overflow is an error. */
int plan_arg_bytes(const struct plan *p, int i, const struct val *slots, int64_t *out, struct err *err);
/* Its extents, of which it has op->args[i].rank, and its type. */
int plan_arg_shape(const struct plan *p, int i, const struct val *slots, int64_t shape[MAX_RANK], const struct dtype **type,
                   struct err *err);
int plan_workspace_bytes(const struct plan *p, int i, const struct val *slots, int64_t *out, struct err *err);
/* An ARG_VALUE, or what an ARG_SCALAR is tuned with, as the bytes of its dtype (at most 16), ready for a launch. */
int plan_arg_value(const struct plan *p, int i, const struct val *slots, unsigned char out[16], int *bytes, struct err *err);
/* The same; but of an ARG_SCALAR the value that it is checked with besides. If the script names none, that is a half of the tuned one or more
 * (plan_eval.c says how much); an integer stays as it is. */
int plan_arg_other(const struct plan *p, int i, const struct val *slots, unsigned char out[16], int *bytes, struct err *err);
/* What the elements of an argument lie within: integers from least to most, other numbers from lo to below hi. */
struct extremes {
    const struct dtype *type;
    bool whole; /* it is integers */
    int64_t least, most;
    double lo, hi;
};
/* Of an argument with data; without range and below the script's sorted numbers have bounds, too. */
int plan_arg_extremes(const struct plan *p, int i, const struct val *slots, struct extremes *out, struct err *err);
/* What an argument's peaks lie within, and its lines, of so many elements, `inner` apart; length 0: it has no peaks. */
struct peaks {
    struct extremes within;
    int64_t length, inner;
};
int plan_arg_peaks(const struct plan *p, int i, const struct val *slots, struct peaks *out, struct err *err);
/* NEED_ALIGN's bytes. */
int plan_need(const struct plan *p, int i, const struct val *slots, int64_t *bytes, struct err *err);
/* work.bytes and work.flops: 0 to WORK_MAX, 0 if the script has none. */
int plan_work(const struct plan *p, const struct val *slots, double *bytes, double *flops, struct err *err);
/* The check of the op's i-th argument; i -1: the op's own. */
struct bounds {
    enum check_kind kind;
    int64_t length;    /* 1 if the script has none */
    double rtol, atol; /* -1 if the script has none */
};
int plan_bounds(const struct plan *p, int i, const struct val *slots, struct bounds *out, struct err *err);
/* The op's i-th metric, of a run that took so long and so much; joules 0: not known, and then a metric that needs it fails. Not of variant
 * -1. */
int plan_metric(const struct plan *p, int i, const struct val *slots, double seconds, double joules, double *out, struct err *err);
bool plan_metric_reads_energy(const struct plan *p, int i);

/* The checks that decide whether a configuration may run: the script's constraints, in its order; then what the variant requires of the
 * device; then the limits for its launches, workspaces and arguments. A space asks each as soon as the slots that it reads have values. */
int plan_checks(const struct plan *p);
/* "TILE % ROWS == 0", "requires: cc 90", "limit: threads a block". Several launches may share a text. Lives as long as p. */
const char *plan_check_text(const struct plan *p, int i);
/* The slots that check i reads, ascending, each once. Those of the device are among them only if an expression names them. */
const int *plan_check_slots(const struct plan *p, int i, int *n);
/* The k-th of the expressions on whose values, apart from what is fixed, check i depends. Null past the last; and for k = 0 if it depends on
 * more, as where a launch repeats. `plain`: it is this one expression, which has to be true. */
const struct expr *plan_check_expr(const struct plan *p, int i, int k, bool *plain);
/* Allocates nothing. It fails if an expression cannot be evaluated, or a grid has no blocks. A limit may fail so because a constraint
 * does not hold: ask the constraints first. */
int plan_check(const struct plan *p, int i, const struct val *slots, const struct devspec *dev, bool *holds, struct err *err);

/* Null if the configuration may run; else the text of the first check that it does not pass: `requires` first, then constraints, then
 * limits. A check that fails with an error is not passed. */
const char *plan_refuses(const struct plan *p, const struct val *slots, const struct devspec *dev);
/* With what is wrong with a tensor map or a texture, or why the check could not be evaluated, in why->msg. */
const char *plan_refuses_why(const struct plan *p, const struct val *slots, const struct devspec *dev, struct err *why);

/* The default for a problem: the first of the op's defaults whose constraints hold on this device. */
int op_default(const struct op *op, const struct problem *prob, int row, const struct devspec *dev, struct config *out,
               struct err *err);
/* Whether a default can serve any problem of these types on the device's backend: false if a constraint that reads neither sizes nor more of
 * the device does not hold. Where it is false the kernel need not even compile. */
int default_serves(const struct served *as, int row, const struct devspec *dev, bool *out, struct err *err);

#endif
