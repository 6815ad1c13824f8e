/* What a plan is made of. For plan*.c only. */
#ifndef MODEL_PLAN_PARTS_H
#define MODEL_PLAN_PARTS_H

#include "model/plan.h"

/* An expression of the op, and where it stands for messages: "variant tile, grid[2]". */
struct field {
    struct expr *expr;
    const char *place;
    struct field *next; /* all of a plan, to free */
};

/* The extents of a launch: three of the grid, three of the block, shared memory, three of a cluster. */
enum { FIRST_BLOCK = 3, SHARED_BYTES = 6, FIRST_CLUSTER, EXTENTS = FIRST_CLUSTER + 3 };

enum {
    MOST_CLUSTER = 16,   /* blocks; most devices can do with 8 */
    MOST_RESIDENT = 32,  /* blocks that a multiprocessor of any device runs at once; of a kernel the driver knows more */
    CC_COOPERATIVE = 60, /* compute capabilities, */
    CC_CLUSTERS = 90,    /* where a device has one: */
    CC_TENSOR_MAPS = 90,
    CC_DEPENDENT_LAUNCH = 90, /* others, whose blocks are in order, can do it all */
};

struct check_fields {
    const struct field *length, *rtol, *atol;
};

/* A buffer has as many elements as the product of its extents; without any it has one. */
struct buffer_fields {
    const char *place; /* its name */
    int rank;          /* -1: no buffer but a scalar */
    const struct field *extent[MAX_RANK];
    const struct field *value, *other;               /* the scalar's */
    const struct field *range[2], *below, *peaks[3]; /* of an argument's data */
    struct check_fields check;                       /* an argument's own */
    bool computing;                                  /* not of that type, but of the one that kernels compute in for it */
    int type_slot;                                   /* the slot with its dtype's name; -1: there is none, but */
    const struct dtype *type;
};

struct view_fields {
    const struct field *extent[MAX_VIEW_RANK], *stride[MAX_VIEW_RANK], *box[MAX_VIEW_RANK], *step[MAX_VIEW_RANK];
    const struct field *swizzle, *interleave, *l2, *channels;
    const struct buffer_fields *buffer; /* that it is of */
    const char *kind;
};

/* Null: not given, which means 1, and 0 for shared memory. */
struct launch_fields {
    const struct field *extent[EXTENTS];
    const struct field *when;
    const struct field *repeat[2]; /* how often: rounds, which launches that are together share, and steps */
    const struct field **values;
    struct view_fields *views;
    bool changes; /* the grid does, with ROUND or STEP */
};

enum check_of {
    OF_WHERE,   /* a constraint of the script */
    OF_BACKEND, /* from here on: what the variant requires of the device */
    OF_CC,
    OF_ARCH,
    OF_ORDER,   /* an order or progress of blocks, which OpenCL does not promise */
    OF_THREADS, /* from here on: limits, first of a launch's blocks, */
    OF_EXTENT,  /* then of its extent `extent`; */
    OF_CLUSTER, /* that clusters are not too large, and divide the grid; */
    OF_VIEW,    /* that its view `extent` can be made; */
    OF_AT_ONCE, /* that all blocks can run at once; */
    OF_BYTES,   /* of an argument or workspace */
    OF_SPECIAL, /* that the device can launch so: `extent` is the compute capability that it takes */
    OF_STEPS,   /* how many launches there are in all, and that buffers which change places are of one size */
    OF_OP,      /* what must be true of the problem for any kernel of the op; */
    OF_MAX,     /* the most that its axis `extent` may be */
};

struct condition {
    enum check_of of;
    const char *text;
    const struct field *const *fields; /* what it evaluates */
    int nfields, extent;
    const struct launch_fields *launch; /* of these limits; they hold if it is not launched */
    const struct buffer_fields *buffer; /* OF_BYTES */
    const int *slots;
    int nslots;
};

struct plan {
    struct arena *arena;
    const struct op *op;
    const struct variant *variant; /* for the op's own expressions the reference */
    struct scope scope;
    const char *names[MAX_SLOTS];
    const char *late[MAX_ARGS];               /* scalars: for messages */
    int first_axis, first_type, first_device; /* slots; parameters come first */
    int first_round;                          /* the slots of ROUND and STEP; scope.n: there are none */
    struct field *fields;
    const struct field **where;
    const struct field **op_where, **op_max; /* by axis; null: it has none */
    struct launch_fields *launches;
    struct buffer_fields *buffers; /* and scalars: of the arguments; behind them, of the workspaces */
    const struct field **needs;
    const struct field *work_bytes, *work_flops;
    const struct field **metrics; /* of a variant */
    struct check_fields check;    /* the op's */
    struct condition *checks;     /* constraints, then what is required, then limits */
    int nchecks, nrequired;
};

/* plan.c: a text that lives as long as the plan; null without memory. */
const char *plan_print(const struct plan *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* plan_check.c: fills in p->checks; the latter without limits. */
int plan_list_checks(struct plan *p, struct err *err);
int plan_list_constraints(struct plan *p, struct err *err);
/* plan_eval.c */
int plan_bytes(const struct buffer_fields *b, const struct val *slots, int64_t *out, struct err *err);
/* plan_steps.c */
/* Whether launch i takes place at all. */
int plan_launched(const struct launch_fields *l, const struct val *slots, bool *launched, struct err *err);
/* OF_STEPS, and what is asked of a grid: of each where it changes with ROUND or STEP. */
int plan_check_steps(const struct plan *p, const struct val *slots, bool *holds, struct err *err);
int plan_check_grids(const struct plan *p, const struct condition *c, const struct val *slots, const struct devspec *dev,
                     bool *holds, struct err *err);
/* plan_tensor.c: OF_VIEW. */
int plan_check_view(const struct plan *p, const struct condition *c, const struct val *slots, bool *holds, struct err *err);
/* What tensor maps and textures have in common: extents, strides, that all of it lies in the buffer; and of tensor maps the rest, unchecked.
 * out->rank and ->type are set. */
int plan_view(const struct view_fields *f, const struct val *slots, struct tensor *out, struct err *err);
/* Its numbers that depend on nothing. */
int view_literals(const struct view_fields *f, struct err *err);
/* Prefixes what no device takes with the buffer's name; returns rc. */
int view_refused(const struct view_fields *f, int rc, struct err *err);
/* An expression that may be missing. */
int field_or(const struct field *f, int64_t otherwise, int64_t least, const struct val *slots, int64_t *out, struct err *err);
/* The blocks of a cluster; 1 if there are none. */
int plan_cluster(const struct launch_fields *l, const struct val *slots, int64_t cluster[3], int64_t *blocks, struct err *err);
/* An integer expression. Less than `least` is an error. Errors begin with the expression's place. */
static inline int field_int(const struct field *f, int64_t least, const struct val *slots, int64_t *out, struct err *err)
{
    int rc = expr_int(f->expr, slots, out, err);
    if (rc)
        err_prefix(err, "%s: ", f->place);
    else if (*out < least)
        rc = err_set(err, ERR_INVALID, "%s: `%s` is %lld: it must be at least %lld", f->place, expr_text(f->expr), (long long)*out,
                     (long long)least);
    return rc;
}

/* The type as the slots have it. */
static inline const struct dtype *buffer_type(const struct buffer_fields *b, const struct val *slots)
{
    const struct dtype *t = b->type_slot < 0 ? b->type : dtype_find(slots[b->type_slot].s);
    return b->computing ? dtype_computing(t) : t;
}

/* Whether it reads this slot or one behind it. */
static inline bool field_reads(const struct field *f, int slot)
{
    int n = 0;
    const int *slots = f ? expr_slots(f->expr, &n) : NULL;
    return n && slots[n - 1] >= slot; /* they are ascending */
}

#endif
