/* By what configurations are compared: the run's objective, and the op's own, by which the winner is chosen. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tune/run.h"

/* Grid of times on which goal_cut looks for the longest that could still compete: a quarter of a power of two apart, around the best. */
enum { STEPS = 40 };

static int needs_energy(struct run *r, const struct objective *o, bool *needs, struct err *err)
{
    const struct plan *plan;
    int rc = 0;
    *needs = o->by == BY_ENERGY || o->by == BY_EDP;
    for (int v = 0; !rc && o->by == BY_METRIC && v < r->op->nvariants; v++) {
        rc = plans_get(&r->plans, v, &plan, err);
        *needs = *needs || (!rc && plan_metric_reads_energy(plan, o->metric));
    }
    return rc;
}

int goals_open(struct run *r, struct err *err)
{
    bool energy;
    struct buf run = { 0 }, own = { 0 };
    r->plans.op = r->op;
    int rc = objective_find(r->op, r->opt->objective, &r->goal, err)
        ?: objective_find(r->op, NULL, &r->own_goal, err)
        ?: needs_energy(r, &r->goal, &energy, err);
    if (rc)
        return rc;
    r->task.energy = energy;
    objective_print(&run, r->op, &r->goal);
    objective_print(&own, r->op, &r->own_goal);
    rc = buf_check(&run, err) ?: buf_check(&own, err);
    r->other_goal = !rc && strcmp(run.data, own.data) != 0;
    buf_free(&run);
    buf_free(&own);
    return rc;
}

double goal_metric(struct run *r, const struct config *c, int metric, double ns, double joules)
{
    const struct plan *plan;
    struct val slots[MAX_SLOTS];
    double value;
    if (plans_get(&r->plans, c->variant, &plan, &r->err))
        return NAN;
    plan_slots(plan, &r->task.problem, r->task.row, r->dev, c, slots);
    struct err why = { 0 };
    int rc = plan_metric(plan, metric, slots, ns / 1e9, joules, &value, &why);
    if (rc && rc != ERR_UNSUPPORTED) /* that energy is not known is no news */
        r->no_value = why;
    return rc ? NAN : value;
}

static double cost_at(struct run *r, const struct objective *o, const struct config *c, double ns, double joules)
{
    if (o->by == BY_TIME)
        return ns;
    if (o->by != BY_METRIC)
        return joules > 0 ? joules * (o->by == BY_EDP ? ns / 1e9 : 1) : NAN;
    double value = goal_metric(r, c, o->metric, ns, joules);
    return r->op->metrics[o->metric].minimize ? value : -value;
}

double goal_cost(struct run *r, const struct objective *o, const struct job *job)
{
    const struct known *k = job->known;
    return k && k->outcome == OUT_OK ? cost_at(r, o, &job->config, k->stats.median, k->energy.joules) : NAN;
}

bool goal_tied(struct run *r, const struct objective *o, const struct job *a, const struct job *b)
{
    const struct job *jobs[] = { a, b };
    double at[2], low[2], high[2];
    for (int i = 0; i < 2; i++) {
        const struct known *k = jobs[i]->known;
        double quick = cost_at(r, o, &jobs[i]->config, k->stats.ci_low, k->energy.low);
        double slow = cost_at(r, o, &jobs[i]->config, k->stats.ci_high, k->energy.high);
        at[i] = goal_cost(r, o, jobs[i]);
        low[i] = fmin(fmin(quick, slow), at[i]);
        high[i] = fmax(fmax(quick, slow), at[i]);
    }
    return at[0] <= high[1] && at[1] <= high[0] && at[0] >= low[1] && at[1] >= low[0];
}

void goal_note_best(struct run *r, const struct job *job)
{
    double cost = goal_cost(r, &r->goal, job), ns = job->known->stats.median;
    if (job->known->outcome == OUT_OK && (r->best_ns <= 0 || ns < r->best_ns))
        r->best_ns = ns;
    if (!isnan(cost) && (!r->has_best || cost < r->best_cost)) {
        r->best_cost = cost;
        budget_note_best(r);
        r->has_best = true;
    }
}

void goal_find_best(struct run *r)
{
    r->best_ns = 0;
    r->has_best = false;
    for (int i = 0; i < r->njobs; i++)
        if (r->jobs[i]->known)
            goal_note_best(r, r->jobs[i]);
}

/* How far behind the best is clearly so: the sooner, the more a sample costs; and long ones vary less. */
static double behind_from(const struct run *r)
{
    return r->dev->shares_cores ? 1.5 : r->best_ns < 1e6 ? 4 : r->best_ns < 1e7 ? 1.5 : 1.2;
}

/* The least time is cut by time. So are energy and its product with time: what takes four times as long would have to draw a quarter of
 * the power. A metric is cut only past the longest time with which this very configuration could still be the best, and one of
 * energies never. */
double goal_cut(struct run *r, const struct config *c)
{
    const double behind = behind_from(r);
    if (r->opt->no_cut)
        return 0;
    if (r->goal.by != BY_METRIC)
        return behind * r->best_ns;
    if (r->task.energy || !r->has_best)
        return 0;
    for (int i = STEPS; i > -STEPS; i--) {
        double ns = r->best_ns * exp2(i / 4.0), cost = cost_at(r, &r->goal, c, ns, 0);
        if (isnan(cost) || cost <= r->best_cost)
            return i == STEPS ? 0 : behind * r->best_ns * exp2((i + 1) / 4.0);
    }
    return 0;
}

/* Which of the best win is for the play-off to say, so what is no winner need not be known so well. On a CPU times vary too much for that. */
double goal_few(const struct run *r)
{
    return r->opt->no_cut || r->goal.by != BY_TIME || r->dev->shares_cores ? 0 : 1.3 * r->best_ns;
}

/* Behind a reason for being slower, so that another objective does not take it for its own. */
static void print_slower(const struct run *r, char out[80])
{
    bool metric = r->goal.by == BY_METRIC;
    snprintf(out, 80, "%s%.63s", metric ? ", behind in " : "", metric ? objective_name(r->op, &r->goal) : "");
}

void goal_name_slower(const struct run *r, char reason[256])
{
    size_t n = strlen(reason);
    char behind[80];
    print_slower(r, behind);
    snprintf(reason + n, 256 - n, "%s", behind);
}

bool goal_settled(const struct run *r, enum outcome outcome, const char *reason, const struct energy *energy)
{
    char behind[80];
    const char *at = strstr(reason, ", behind in ");
    print_slower(r, behind);
    if (outcome == OUT_SLOWER)
        return !r->opt->no_cut && !strcmp(at ? at : "", behind);
    return outcome != OUT_OK || !r->task.energy || energy->joules > 0;
}
