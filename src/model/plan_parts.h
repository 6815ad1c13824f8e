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

/* Null: not given, which means 1, and 0 for shared. */
struct launch_fields {
    const struct field *grid[3], *block[3], *shared;
};

/* A buffer has as many elements as the product of its extents; without any it has one. */
struct buffer_fields {
    const char *place; /* its name */
    int rank;          /* -1: no buffer but a scalar */
    const struct field *extent[MAX_RANK];
    const struct field *value; /* the scalar's */
    int type_slot;             /* the slot with its dtype's name; -1: there is none, but */
    const struct dtype *type;
};

enum check_of {
    OF_WHERE,   /* constraint `at` of the script */
    OF_BACKEND, /* from here on: what the variant requires of the device */
    OF_CC,
    OF_ARCH,
    OF_ORDER,   /* an order or progress of blocks, which OpenCL does not promise */
    OF_THREADS, /* from here on: limits, of launch `at` */
    OF_BLOCK,   /* and its dimension `dim` */
    OF_GRID,
    OF_SHARED,
    OF_ARG, /* limits of argument or workspace `at` */
    OF_WORKSPACE,
};

struct condition {
    enum check_of of;
    int at, dim;
    const char *text;
    const int *slots;
    int nslots;
};

struct plan {
    struct arena *arena;
    const struct op *op;
    const struct variant *variant; /* null: the op's own part */
    struct scope scope;
    const char *names[MAX_SLOTS];
    int first_axis, first_type, first_device; /* slots; parameters come first */
    struct field *fields;
    const struct field **where;
    int nlaunches;
    struct launch_fields *launches;
    struct buffer_fields *args, *workspaces;
    const struct field **needs;
    const struct field *work_bytes, *work_flops, *length;
    struct condition *checks; /* constraints, then what is required, then limits */
    int nchecks, first_required, first_limit;
};

/* Sets p->checks; needs all else of p. */
int plan_list_checks(struct plan *p, struct err *err);

/* An integer expression; errors begin with its place. */
int field_int(const struct field *f, const struct val *slots, int64_t *out, struct err *err);
/* The same, and less than `least` is an error. */
int field_from(const struct field *f, int64_t least, const struct val *slots, int64_t *out, struct err *err);
/* Bytes of a buffer whose elements are of `type`. */
int buffer_bytes(const struct buffer_fields *b, const struct dtype *type, const struct val *slots, int64_t *out, struct err *err);
/* The type as the slots have it. */
const struct dtype *buffer_type(const struct buffer_fields *b, const struct val *slots);

#endif
