/* Ops for callers: ops.c describes them, fit.c finds a problem from arrays. */
#ifndef RUNTIME_OPS_H
#define RUNTIME_OPS_H

#include "expr/expr.h"
#include "runtime/runtime.h"

/* Made once for each form of an op, and never changed. */
struct cutune_op {
    struct cutune_op *next;
    struct arena *arena;
    const struct op *op;
    int generation; /* of forks */
    struct plan *plan;
    int nargs, arg[MAX_ARGS];                /* buffers and scalars: indices into op->args */
    struct expr *whole[MAX_ARGS][MAX_RANK];  /* their extents, */
    struct expr *extent[MAX_ARGS][MAX_RANK]; /* and with a row stride's default in its place: how long a row is without a gap */
    int stride[MAX_ARGS][MAX_RANK];          /* the axis that is a row stride; -1: none */
    struct expr *preset[MAX_AXES];           /* null: none */
    const char **types;                      /* of each row */
};

#endif
