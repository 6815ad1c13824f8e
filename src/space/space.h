/* The space of an op on a device for a problem: all configurations that pass the plan's checks, as an indexable set.
 *
 * Nothing is listed. A check is asked as soon as the last parameter that it reads has a value; parameters that no check reads together are
 * in separate groups (group.h), whose counts are multiplied, and whose indices an index is made of. */
#ifndef SPACE_SPACE_H
#define SPACE_SPACE_H

#include "child/child.h"
#include "model/plan.h"

/* What removed points: a constraint of the script, or "limit: threads a block", "requires: cuda", ... A point counts once, for the first
 * check that it did not pass: so the counts and the valid points sum to the cartesian product. */
struct removal {
    const char *variant; /* its name */
    const char *text;
    double count; /* exact below 2^53 */
};

struct space {
    const struct op *op;
    int64_t count;    /* valid configurations; a space of more than 2^62 is an error when it is made */
    double cartesian; /* exact below 2^53 */
    int nremovals, nremoving;
    struct removal *removals; /* nremoving with a count > 0, then the others */
    struct part *parts;       /* one a variant; for space.c */
    struct arena *arena;
};

enum { SPACE_SECONDS = 120 }; /* most take milliseconds */

/* The op must outlive the space. A constraint that cannot be evaluated is an error, not an invalid point. Without patience it may take
 * SPACE_SECONDS; ERR_TIMEOUT past its end. */
int space_new(const struct op *op, const struct problem *prob, int row, const struct devspec *dev, const struct patience *patience,
              struct space **out, struct err *err);
/* The space of just these configurations of an op, in the same order as space_new's; one that is given twice is in it once. */
int space_listed(const struct op *op, const struct config *list, int64_t n, struct space **out, struct err *err);
void space_free(struct space *s);
int64_t space_variant_count(const struct space *s, int variant);

/* The i-th valid configuration, 0 <= i < count: variants are in the op's order; within a group of parameters the last one changes
 * fastest. Takes time in proportion to the parameters, and no memory. */
void space_at(const struct space *s, int64_t i, struct config *out);
int64_t space_find(const struct space *s, const struct config *c); /* its index, -1 if it is not valid */
/* The index of a valid configuration of the same variant near this one, which may be invalid; -1 if the variant has none. */
int64_t space_near(const struct space *s, const struct config *c);
/* nearest.c: how much two of a variant differ: a parameter that has another value counts 1, and numbers how often one is twice the other, 2 at
 * most. And the valid one that differs least from this one; -1 if the variant has none. */
double space_difference(const struct space *s, const struct config *a, const struct config *b);
int64_t space_nearest(const struct space *s, const struct config *c, double *far);

/* Goes through the configurations of a variant whose indices of values are from `least` to `most`, in order; null: all of them. It ends when
 * `visit` returns false. walk.c */
struct space_visitor {
    bool (*visit)(void *arg, int64_t i, const struct config *c);
    void *arg;
};
void space_walk(const struct space *s, int variant, const int least[MAX_PARAMS], const int most[MAX_PARAMS],
                const struct space_visitor *visitor);

/* ---- neighbours: near.c. Of the same variant, and valid */

enum nearness {
    NEAR_ANY,  /* one parameter has any other value (Hamming distance 1) */
    NEAR_STEP, /* one parameter has the next value up or down with which the configuration is valid */
    NEAR_ALL,  /* each parameter has its own value, or the one before or after it in the script; the first MAX_NEAR */
};
enum { MAX_NEAR = 10000 };

/* Appends the indices of i's neighbours to `out`, as wire integers (buf_i64): parameter by parameter, values in the script's order. A
 * buffer that fails has `failed` set. */
void space_neighbours(const struct space *s, int64_t i, enum nearness how, struct buf *out);

#endif
