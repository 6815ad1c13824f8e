#include "measure/tolerance.h"

#include <math.h>
#include <string.h>
#include <sys/param.h>

#include "expr/val.h"

void extent_add(struct extent *e, const struct dtype *t, const void *p, int64_t n)
{
    const unsigned char *at = p;
    double v;
    e->all += n;
    for (int64_t i = 0; i < n; i++, at += t->bytes) {
        const bool number = number_get(t, at, &v);
        e->nan += number && isnan(v);
        e->finite += number && isfinite(v);
        if (number && isfinite(v) && v != 0) {
            int power;
            frexp(v, &power);
            e->roots[power - EXTENT_LEAST] += sqrt(fabs(v));
            e->n[power - EXTENT_LEAST]++;
        }
    }
}

bool extent_moot(const struct extent *e)
{
    return e->all && (2 * e->nan > e->all || !e->finite);
}

double extent_below(const struct extent *e, double bound)
{
    int64_t below = 0;
    for (int i = 0; i <= EXTENT_MOST - EXTENT_LEAST && ldexp(1, i + EXTENT_LEAST) <= bound; i++)
        below += e->n[i];
    return e->all ? (double)below / (double)e->all : 0;
}

/* What is more than 2^16 times as large as nine tenths of the elements counts as that much. */
double extent_typical(const struct extent *e)
{
    enum { POWERS = sizeof e->n / sizeof *e->n, FAR = 16 };
    int64_t all = 0, below = 0;
    int most = 0;
    double roots = 0;
    for (int i = 0; i < POWERS; i++)
        all += e->n[i];
    while (most < POWERS - 1 && (below += e->n[most]) < all - all / 10)
        most++;
    for (int i = 0; i < POWERS; i++)
        roots += i <= most + FAR ? e->roots[i] : (double)e->n[i] * sqrt(ldexp(1, most + FAR + EXTENT_LEAST));
    double root = all ? roots / (double)all : 0;
    return root * root;
}

/* Numbers below may be flushed to zero, or are rounded to so few digits that rtol means nothing. */
static double least(const struct dtype *t)
{
    double digits = dtype_narrow(t) ? ldexp(2, t->least - t->fraction) : 0;
    return MAX(digits, t->bytes <= 4 ? 0x1p-126 : 0x1p-1022);
}

/* A few results that all happen to be small say nothing of the terms that cancelled in them. What the same function gives where nothing
 * cancels does, since no order of summation errs by more than some eps of that; but the bound stays far below the results. */
static double of_few(const struct dtype *t, double typical, double positive, int64_t n)
{
    enum { FEW = 64 };
    double eps = t->bytes <= 4 ? 0x1p-24 : 0x1p-53; /* of what sums are made in */
    return n < FEW ? MIN(8 * eps * positive, typical / 16) : 0;
}

struct tolerance tolerance_of(const struct bounds *check, const struct dtype *t, double typical, double positive, int64_t n)
{
    if (check->kind == CHECK_EXACT || !(t->eps > 0))
        return (struct tolerance){ .close = false };
    if (check->kind == CHECK_SUM)
        return (struct tolerance){ .close = true, .sum = true, .atol = 4 * t->eps * (double)check->length };
    struct tolerance tol = { .close = true, .rtol = check->rtol, .atol = check->atol };
    const double sums = t->bytes <= 4 ? 2e-4 : 1e-10;
    if (tol.rtol < 0)
        tol.rtol = MAX(4 * t->eps, sums);
    double share = check->rtol < 0 && t->bytes == 1 ? sums : tol.rtol; /* f8 is only stored: nothing cancels in it */
    if (tol.atol < 0)
        tol.atol = MAX(share * typical, check->rtol < 0 ? of_few(t, typical, positive, n) : 0) + least(t);
    return tol;
}

double tolerance_share(const struct tolerance *tol, double got, double want)
{
    double error = fabs(got - want), bound = tol->atol + tol->rtol * fabs(want);
    if (got == want || (!tol->sum && isnan(got) && isnan(want)))
        return 0;
    return !isfinite(error) || bound <= 0 ? INFINITY : error / bound;
}
