/* How far an element may be from the reference's: at most atol + rtol * |the reference's|.
 *
 * Where a script does not say, rtol goes by the type: 4 eps of it, but at least 2e-4 where sums are made in f32 (1e-10 in f64), so that the
 * sum of 10^6 terms may be taken in any order. atol is rtol times a typical element of what the reference gives, since a result that
 * is small because large terms cancel has the errors of the large terms; in 8 bits it is 2e-4 times that, since no sums are made in them. */
#ifndef MEASURE_TOLERANCE_H
#define MEASURE_TOLERANCE_H

#include "model/plan.h"

struct tolerance {
    bool close; /* else equal bits */
    bool sum;   /* of a sum: no NaN, not even where the reference has one */
    double rtol, atol;
};

/* The size of what the reference gives: gathered from samples, those that are finite and not zero, by their powers of two; and how many
 * there are in all, are NaN, are finite. */
enum { EXTENT_LEAST = -1073, EXTENT_MOST = 1024 }; /* of a double, as frexp gives them */
struct extent {
    double roots[EXTENT_MOST - EXTENT_LEAST + 1]; /* sums of square roots */
    int64_t n[EXTENT_MOST - EXTENT_LEAST + 1];
    int64_t all, nan, finite;
};
void extent_add(struct extent *e, const struct dtype *t, const void *p, int64_t n);
/* That of a typical element: a mean which zeros and a few huge elements hardly change, be they ever so huge. */
double extent_typical(const struct extent *e);
/* The share of all that is below this, but not 0. */
double extent_below(const struct extent *e, double bound);
/* Whether a comparison with it proves next to nothing: what is NaN is right where the reference has NaN. Infinity has to be met. */
bool extent_moot(const struct extent *e);

/* t: the type, or that of a complex one's parts; typical: of these results; positive: of what the reference gives on inputs that are all
 * positive, where nothing cancels; n: elements. */
struct tolerance tolerance_of(const struct bounds *check, const struct dtype *t, double typical, double positive, int64_t n);
/* How many times its bound an element is off: up to 1 is right. */
double tolerance_share(const struct tolerance *tol, double got, double want);

#endif
