/* The strategy, asked as the run needs more: what it may take for an answer, and when it has no more to give. */
#include <math.h>
#include <stdio.h>

#include "tune/run.h"

enum { ASK_MAX = 64, SLOW_ANSWER = 500 /* ms: the user is told */ };

bool strategy_over(const struct run *r)
{
    return r->exhausted || r->accepted >= r->limit || run_over_time(r);
}

void strategy_ask(struct run *r)
{
    int64_t want = 2 * r->nslots - r->queued.n;
    if (want > r->limit - r->accepted)
        want = r->limit - r->accepted;
    if (want < 1 || r->asked || strategy_over(r))
        return;
    if (r->nothing_now && r->heard == r->told) { /* what is in flight may tell it more */
        r->exhausted = !run_in_flight(r);
        return;
    }
    r->asked = !run_check(r, search_ask(r->search, want > ASK_MAX ? ASK_MAX : (int)want, &r->err));
    r->asked_ns = clock_ns();
    r->heard = r->told;
}

void strategy_tell(struct run *r, int64_t index, enum outcome outcome, double time_ns)
{
    r->told++;
    run_check(r, search_tell(r->search, index, outcome, time_ns, &r->err));
}

/* The default was measured first of all. A strategy that names it again is told its outcome again: it may wait for that. */
static void tell_default(struct run *r)
{
    const struct job *job = run_default(r);
    if (job)
        strategy_tell(r, job->index, job->outcome, job->stats.median);
    if (r->default_unsettled)
        strategy_tell(r, r->default_index, OUT_RESOURCES, 0);
}

void strategy_answered(uv_poll_t *p, int status, int events)
{
    struct run *r = p->data;
    int64_t index[ASK_MAX];
    int n = 0;
    (void)events;
    if (!r->asked && strategy_over(r)) { /* its process may end: nothing more is asked of it */
        uv_poll_stop(p);
        return;
    }
    if (r->opt->stop && *r->opt->stop) { /* the signal may have met the strategy too */
        run_pump(r);
        return;
    }
    int rc = status < 0 ? err_set(&r->err, ERR_IO, "%s: %s", r->search->name, uv_strerror(status))
                        : search_answer(r->search, index, &n, &r->err);
    if (run_check(r, rc))
        uv_poll_stop(p);
    r->asked = false;
    r->nothing_now = n == 0;
    r->exhausted = r->exhausted || r->search->done;
    for (int i = 0; i < n; i++)
        if (index[i] != r->default_index)
            run_enlist(r, index[i]);
        else
            tell_default(r);
    run_pump(r);
}

void strategy_drop(struct run *r)
{
    if (!r->asked)
        return;
    char line[300];
    uv_poll_stop(&r->answers);
    r->asked = false;
    r->exhausted = true;
    snprintf(line, sizeof line, "the budget ended before %.200s had answered", r->search->name);
    if (clock_ns() - r->asked_ns > SLOW_ANSWER * INT64_C(1000000) && r->opt->note)
        r->opt->note(r->opt->arg, line);
}

/* Time in which this process was stopped, or waited for a disk, is not the child's. */
void strategy_check(struct run *r, int64_t tick_ms)
{
    int64_t ms = run_patience(r, ANSWER_DEADLINE), now = clock_ns(), away = now - r->ticked_ns;
    if (away > 3 * tick_ms * 1000000)
        r->asked_ns += away;
    r->ticked_ns = now;
    if (r->asked && now - r->asked_ns > ms * 1000000)
        run_fail(r, ERR_TIMEOUT, "%s: no answer within %.3g s", r->search->name, (double)ms / 1e3);
}

int strategy_open(struct run *r, struct err *err)
{
    const struct tune_options *opt = r->opt;
    double left = opt->budget_seconds - (double)(clock_ns() - r->start_ns) / 1e9;
    const struct space_bounds bounds = { .seconds = opt->budget_seconds > 0 ? fmax(left, 0) : INFINITY, .stop = opt->stop };
    int rc = search_open(opt->home, opt->strategy ? opt->strategy : "random", r->space, opt->seed, &bounds, &r->search, err);
    if (rc == ERR_TIMEOUT && run_over_time(r))
        err_prefix(err, "the budget ended before anything was tried: ");
    return rc;
}
