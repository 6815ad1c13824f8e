/* Which few configurations cover the tuned problems: greedy, then exchanged one by one. */
#include "export/cover.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

enum { MOST_LOSSES = 1 << 26, MOST_EXCHANGES = 1000, MOST_LEFT_OUT = 500 };
static const double UNCOVERED = 1e6; /* more than all that kernels can lose */

static float loss_of(const struct knowledge *all, const struct tuned_problem *p, int column)
{
    int low = all->first[column], high = all->first[column + 1]; /* by problem */
    while (low < high) {
        int mid = low + (high - low) / 2;
        if (all->times[mid].problem < p->at)
            low = mid + 1;
        else
            high = mid;
    }
    return low < all->first[column + 1] && all->times[low].problem == p->at ? (float)all->times[low].loss : INFINITY;
}

static bool has_kernel(const struct cover *c, int row, int column) /* negative: any */
{
    for (int k = 0; k < c->nkernels; k++)
        if (c->kernels[k].row == row && (column < 0 || c->kernels[k].column == column))
            return true;
    return false;
}

int cover_open(const struct knowledge *all, const struct known_device *d, int row, struct cover *out, struct err *err)
{
    struct cover *c = out;
    *c = (struct cover){ .all = all };
    c->problems = mem_array((size_t)d->nproblems, sizeof *c->problems);
    c->kernels = mem_array((size_t)d->nproblems, sizeof *c->kernels);
    c->given = mem_array((size_t)d->nproblems, sizeof *c->given);
    if (!c->problems || !c->kernels || !c->given)
        return err_nomem(err);
    for (int i = 0; i < d->nproblems; i++) {
        const struct tuned_problem *p = all->problems[d->problems + i];
        if (row >= 0 && p->row != row)
            continue;
        c->given[c->nproblems] = -1;
        c->problems[c->nproblems++] = p;
        if (!has_kernel(c, p->row, p->column)) {
            c->types += !has_kernel(c, p->row, -1);
            c->kernels[c->nkernels++] = (struct cover_kernel){ p->row, p->column, p, false };
        }
    }
    if ((int64_t)c->nproblems * c->nkernels > MOST_LOSSES)
        return err_set(err, ERR_INVALID, "%d problems and %d kernels are too many for one table: take some with --dtype",
                       c->nproblems, c->nkernels);
    c->loss = mem_array((size_t)c->nproblems * (size_t)c->nkernels + 1, sizeof *c->loss);
    if (!c->loss)
        return err_nomem(err);
    for (int k = 0; k < c->nkernels; k++)
        for (int p = 0; p < c->nproblems; p++)
            c->loss[k * c->nproblems + p] =
                c->kernels[k].row == c->problems[p]->row ? loss_of(all, c->problems[p], c->kernels[k].column) : INFINITY;
    return 0;
}

void cover_close(struct cover *c)
{
    mem_free(c->problems);
    mem_free(c->kernels);
    mem_free(c->given);
    mem_free(c->loss);
}

/* ---- the choice */

static double cost_at(const struct cover *c, int k, int p)
{
    double l = k < 0 ? INFINITY : c->loss[k * c->nproblems + p];
    return isinf(l) ? UNCOVERED : l;
}

/* Each problem gets the best of the chosen but for `without`, -1: of all. Returns what that costs. */
static double give(struct cover *c, int without)
{
    double sum = 0;
    for (int p = 0; p < c->nproblems; p++) {
        c->given[p] = -1;
        for (int k = 0; k < c->nkernels; k++)
            if (c->kernels[k].chosen && k != without && cost_at(c, k, p) < cost_at(c, c->given[p], p))
                c->given[p] = k;
        sum += cost_at(c, c->given[p], p);
    }
    return sum;
}

/* Which one would be the best beside those that the problems were given; what they cost then. -1: nothing is won. */
static int best_beside(const struct cover *c, double now, double *least)
{
    int best = -1;
    *least = now - 1e-9;
    for (int k = 0; k < c->nkernels; k++) {
        double sum = 0;
        for (int p = 0; p < c->nproblems && !c->kernels[k].chosen && sum < *least; p++)
            sum += fmin(cost_at(c, k, p), cost_at(c, c->given[p], p));
        if (!c->kernels[k].chosen && sum < *least) {
            *least = sum;
            best = k;
        }
    }
    return best;
}

/* The exchange of one chosen for another that saves most. */
static bool exchange(struct cover *c)
{
    double now = give(c, -1), least = now - 1e-9;
    int out = -1, in = -1;
    for (int k = 0; k < c->nkernels; k++) {
        double cost;
        if (!c->kernels[k].chosen)
            continue;
        give(c, k);
        int other = best_beside(c, least, &cost);
        if (other < 0)
            continue;
        least = cost;
        out = k;
        in = other;
    }
    if (in >= 0) {
        c->kernels[out].chosen = false;
        c->kernels[in].chosen = true;
    }
    give(c, -1);
    return in >= 0;
}

bool cover_grow(struct cover *c)
{
    double cost;
    int more = best_beside(c, give(c, -1), &cost);
    if (more < 0)
        return false;
    c->kernels[more].chosen = true;
    c->nchosen++;
    give(c, -1);
    for (int i = 0; i < MOST_EXCHANGES && exchange(c); i++)
        ;
    return true;
}

/* ---- what it loses */

double cover_lost(const struct cover *c, int p)
{
    return c->given[p] < 0 ? INFINITY : c->loss[c->given[p] * c->nproblems + p];
}

static void add_loss(struct cover_loss *all, const struct tuned_problem *p, double loss)
{
    all->mean += loss;
    all->covered++;
    if (!all->where || loss > all->worst) {
        all->worst = loss;
        all->where = p;
    }
}

struct cover_loss cover_loss(const struct cover *c)
{
    struct cover_loss all = { 0 };
    for (int p = 0; p < c->nproblems; p++)
        if (c->given[p] >= 0)
            add_loss(&all, c->problems[p], cover_lost(c, p));
    all.mean /= all.covered ? all.covered : 1;
    return all;
}

/* What the table will hold of a kernel's times: losses over what its problems are given there. Those of other types count, too. */
static int times_of(const struct cover *c, int k, struct near_time *out)
{
    int n = 0;
    for (int p = 0; p < c->nproblems; p++) {
        float loss = loss_of(c->all, c->problems[p], c->kernels[k].column);
        double over = loss - cover_lost(c, p);
        if (c->given[p] >= 0 && !isinf(loss))
            out[n++] = (struct near_time){ .problem = p, .loss = over > 0 ? over : 0 };
    }
    return n;
}

/* Whether the look-up may give it for a problem although that one's record is not there. */
static bool is_candidate(const struct cover *c, int k, int without)
{
    for (int p = 0; p < c->nproblems; p++)
        if (p != without && c->given[p] == k && c->problems[p]->flags == c->problems[without]->flags)
            return true;
    return false;
}

static void distances(const struct cover *c, const struct op *op, int from, double *out)
{
    const struct tuned_problem *here = c->problems[from];
    for (int p = 0; p < c->nproblems; p++)
        out[p] = p == from || c->problems[p]->flags != here->flags ? -1 : near_distance(&here->point, &c->problems[p]->point, op);
}

int cover_every(const struct cover *c)
{
    return (c->nproblems + MOST_LEFT_OUT - 1) / MOST_LEFT_OUT;
}

int cover_left_out(const struct cover *c, const struct op *op, struct cover_loss *out, struct err *err)
{
    const int every = cover_every(c);
    size_t n = (size_t)c->nproblems + 1;
    double *distance = mem_array(n, sizeof *distance), *least = mem_array(n, sizeof *least);
    int *best = mem_array(n, sizeof *best);
    struct near_time *times = mem_array(n, sizeof *times);
    bool good = distance && least && best && times;
    *out = (struct cover_loss){ 0 };
    for (int k = 0; good && k < c->nkernels; k++) {
        if (!c->kernels[k].chosen)
            continue;
        int ntimes = times_of(c, k, times);
        for (int q = 0; q < c->nproblems; q += every) {
            if (isinf(c->loss[k * c->nproblems + q]) || !is_candidate(c, k, q))
                continue;
            distances(c, op, q, distance);
            double loss = near_loss(distance, times, ntimes, NEAR_UNKNOWN);
            if (!best[q] || loss < least[q]) {
                least[q] = loss;
                best[q] = k + 1;
            }
        }
    }
    for (int q = 0; good && q < c->nproblems; q++)
        if (best[q])
            add_loss(out, c->problems[q], c->loss[(best[q] - 1) * c->nproblems + q]);
    out->mean /= out->covered ? out->covered : 1;
    mem_free(distance);
    mem_free(least);
    mem_free(best);
    mem_free(times);
    return good ? 0 : err_nomem(err);
}
