/* When a run has had enough. */
#include <math.h>

#include "tune/run.h"

static const double CLEARLY = 0.01, SHORT_NS = 20e3;

/* Where the compiler and the device share their cores a configuration costs about half a second. */
const struct effort *effort_of(const struct run *r)
{
    static const struct effort efforts[] = {
        [EFFORT_QUICK] = { .cpu = 8, .gpu = 500, .seconds = 5, .players = 3, .rounds = 11, .playoff_seconds = 0.5 },
        [EFFORT_NORMAL] = { .cpu = 32, .gpu = 5000, .seconds = 40, .players = 5, .rounds = 31, .playoff_seconds = 2 },
        [EFFORT_THOROUGH] = { .cpu = 200, .gpu = 50000, .seconds = 300, .players = 5, .rounds = 101, .playoff_seconds = 6 },
    };
    return &efforts[r->opt->effort];
}

int64_t budget_limit(const struct run *r)
{
    const struct effort *e = effort_of(r);
    if (r->opt->budget_count > 0)
        return r->opt->budget_count;
    if (r->opt->pin)
        return 1;
    return r->opt->budget_seconds > 0 ? INT64_MAX : r->dev->shares_cores ? e->cpu : e->gpu;
}

/* Devices measure time in steps, which are large beside what short kernels differ by. */
int playoff_rounds(const struct run *r)
{
    const struct effort *e = effort_of(r);
    const int most = !r->dev->shares_cores && r->best_ns < SHORT_NS ? 3 * e->rounds : e->rounds;
    double round_s = 1e-9, few;
    for (int i = 0; i < r->nplayers; i++)
        round_s += r->players[i]->known->stats.median / 1e9;
    few = fmax(3, fmin(7, 1.5 * e->playoff_seconds / round_s)); /* where each takes long */
    return (int)fmin(most, fmax(e->playoff_seconds / round_s, few));
}

bool budget_spent(const struct run *r)
{
    return r->opt->budget_seconds > 0 && run_seconds(r->start_ns) > r->opt->budget_seconds;
}

struct patience budget_left(const struct run *r, double spent, double most)
{
    double left = r->opt->budget_seconds - spent;
    bool bound = r->opt->budget_seconds > 0 && left < most;
    return patience_of(!bound ? most : left > 0 ? left : 0, r->opt->stop);
}

void budget_note_best(struct run *r)
{
    if (r->has_best && r->clear_cost - r->best_cost <= CLEARLY * fabs(r->clear_cost))
        return;
    r->clear_cost = r->best_cost;
    r->clear_ns = clock_ns();
    r->clear_tried = r->report->tried;
}

static bool plain_over(const struct run *r)
{
    const struct tune_options *opt = r->opt;
    double seconds = run_seconds(r->start_ns);
    return !opt->budget_count && !opt->budget_seconds && !opt->patience && !r->dev->shares_cores && r->has_best &&
           r->report->tried >= effort_of(r)->cpu && seconds > effort_of(r)->seconds && run_seconds(r->clear_ns) > seconds / 3;
}

static bool patience_over(const struct run *r)
{
    return r->opt->patience > 0 && r->has_best && r->report->tried - r->clear_tried >= r->opt->patience;
}

double target_share(const struct run *r, double ns)
{
    const double second = 1e9, work = r->opt->target_rate == RATE_BYTES   ? r->target.bytes * second
                                      : r->opt->target_rate == RATE_FLOPS ? r->target.flops * second
                                      : r->copy_ns > 0                    ? r->copy_ns
                                                                          : r->kept.copy_ns;
    return r->opt->target > 0 && ns > 0 ? work / ns / r->opt->target : 0;
}

int budget_open(const struct run *r, struct err *err)
{
    const bool flops = r->opt->target_rate == RATE_FLOPS;
    if (r->opt->target <= 0 || (flops ? r->target.flops : r->target.bytes) > 0)
        return 0;
    return err_set(err, ERR_INVALID, "--target: %s does not say how many %s its work has", r->op->name, flops ? "flops" : "bytes");
}

static enum tune_end over_by(const struct run *r)
{
    return target_share(r, r->best_ns) >= 1 ? END_TARGET
           : budget_spent(r)                ? END_BUDGET
           : patience_over(r)               ? END_PATIENCE
           : plain_over(r)                  ? END_EFFORT
                                            : END_NONE;
}

bool budget_over(const struct run *r)
{
    return over_by(r) != END_NONE;
}

void budget_note_end(struct run *r)
{
    r->over = over_by(r) ?: r->over;
}

enum tune_end budget_end(const struct run *r)
{
    const bool all = r->report->tried >= r->report->valid;
    const enum tune_end over = over_by(r)
                                   ?: r->accepted < r->limit ? r->over
                                                             : END_NONE; /* what was dropped then is not tried any more */
    return all                            ? END_ALL
           : over                         ? over
           : r->accepted < r->limit       ? END_STRATEGY
           : r->limit >= r->report->valid ? END_ALL /* some without a verdict */
           : r->opt->budget_count         ? END_BUDGET
                                          : END_EFFORT;
}
