/* Few kernels for many problems: of the configurations that won somewhere on a device, so many that lose least over its tuned problems. */
#ifndef EXPORT_COVER_H
#define EXPORT_COVER_H

#include "runtime/runtime.h"

enum { MOST_COVER = 256 }; /* kernels */

/* A configuration for types, with the code of the problem that it won. */
struct cover_kernel {
    int row, column; /* as in struct tuned_problem */
    const struct tuned_problem *donor;
    bool chosen;
};

struct cover {
    const struct knowledge *all;
    int nproblems, nkernels, nchosen, types; /* types: how many rows of them the problems are of */
    const struct tuned_problem **problems;
    struct cover_kernel *kernels;
    float *loss; /* [kernel * nproblems + problem]: log(time / best); infinite where it was not measured */
    int *given;  /* for each problem the one of the chosen that loses least; -1: none was measured there */
};

/* What a choice loses. Losses are logarithms. */
struct cover_loss {
    int covered; /* problems */
    double mean, worst;
    const struct tuned_problem *where; /* the worst */
};

/* Of the problems of a device of `all`; of one row of types, or of all if it is negative. */
int cover_open(const struct knowledge *all, const struct known_device *d, int row, struct cover *out, struct err *err);
void cover_close(struct cover *c);
/* One kernel more, and exchanges as long as one of them loses less. False if nothing is won by another one. */
bool cover_grow(struct cover *c);
double cover_lost(const struct cover *c, int problem); /* infinite: not covered */
struct cover_loss cover_loss(const struct cover *c);
/* The same if the look-up's rule had to choose for each problem, or of so many for one, without its own record. */
int cover_every(const struct cover *c);
int cover_left_out(const struct cover *c, const struct op *op, struct cover_loss *out, struct err *err);

#endif
