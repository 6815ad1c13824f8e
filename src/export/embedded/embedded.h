/* What an exported C file holds in place of a database. These files are compiled as a part of exported files only: they stand in for
 * src/store, the compiler of expressions, and what needs a file or a compiler at run time. */
#ifndef EMBEDDED_H
#define EMBEDDED_H

#include "expr/code.h"
#include "runtime/runtime.h"

/* An expression of the database, as C. */
struct formula {
    const char *text;
    int nslots;
    const int *slots;         /* that it reads, */
    const char *const *names; /* and what they have to be called */
    bool (*run)(const struct val *slots, struct val *out, struct failure *f);
};

struct embedded_winner {
    int device; /* of embedded_devices */
    int64_t id;
    const char *types, *sizes;
    double time_ns, bytes, flops;
    struct tuned *kernel;
};

/* What the configuration of one winner took on the problem of another. */
struct embedded_time {
    int problem, kernel; /* places among the op's winners */
    double median;
};

struct embedded_default {
    const char *backend, *types;
    struct tuned *kernel;
};

struct embedded_op {
    struct op op;
    const char *const *rows; /* its bindings, by name */
    int nwinners, ntimes, ndefaults;
    const struct embedded_winner *winners;
    const struct embedded_time *times;
    const struct embedded_default *defaults;
};

/* `cutune export` writes the tables in front of these files, so none is declared here: embedded_formulas (in the order of strcmp of
 * their texts), embedded_devices, embedded_ops, embedded_records (of cutune_each), and their numbers, embedded_nformulas and so on. */

/* What formulas are made of. Each leaves behind why it fails. */
static inline bool formula_fails(enum fault fault, const struct val *x, const struct val *y, size_t at, struct failure *f)
{
    *f = (struct failure){ .fault = fault, .at = at, .x = *x, .y = *y };
    return fault != FAULT_NONE;
}

static inline bool formula_does(enum opcode op, const struct val *x, const struct val *y, struct val *out, size_t at,
                                struct failure *f)
{
    enum fault fault = operate(op, x, y, out);
    return fault == FAULT_NONE || !formula_fails(fault, x, y, at, f);
}

static inline bool formula_bool(const struct val *x, size_t at, struct failure *f)
{
    return x->type == VAL_BOOL || !formula_fails(FAULT_BOOLEAN, x, x, at, f);
}

#endif
