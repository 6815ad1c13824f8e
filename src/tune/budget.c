/* When a run has had enough. */
#include <math.h>

#include "tune/run.h"

/* Without a budget, where a configuration costs little: after so many seconds, and as many
 * configurations as a CPU tries, it ends once nothing was clearly better for a third of the time. */
static const double PLAIN_SECONDS = 40, CLEARLY = 0.01;

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
           r->report->tried >= LIMIT_CPU && seconds > PLAIN_SECONDS && run_seconds(r->clear_ns) > seconds / 3;
}

static bool patience_over(const struct run *r)
{
    return r->opt->patience > 0 && r->has_best && r->report->tried - r->clear_tried >= r->opt->patience;
}

static double rate_of(const struct run *r)
{
    static const double second = 1e9;
    switch (r->opt->target_rate) {
    case RATE_BYTES:
        return r->target.bytes / r->best_ns * second;
    case RATE_FLOPS:
        return r->target.flops / r->best_ns * second;
    default:
        return r->copy_ns / r->best_ns;
    }
}

int budget_open(const struct run *r, struct err *err)
{
    const bool flops = r->opt->target_rate == RATE_FLOPS;
    if (r->opt->target <= 0 || (flops ? r->target.flops : r->target.bytes) > 0)
        return 0;
    return err_set(err, ERR_INVALID, "--target: %s does not say how many %s its work has", r->op->name, flops ? "flops" : "bytes");
}

bool budget_over(const struct run *r)
{
    bool reached = r->opt->target > 0 && r->best_ns > 0 && rate_of(r) >= r->opt->target;
    return reached || budget_spent(r) || patience_over(r) || plain_over(r);
}
