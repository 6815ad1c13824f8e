/* The strategy, asked as the run needs more: what it may take for an answer, and when it has no more to give. */
#include <stdio.h>

#include "tune/run.h"

enum { ASK_MAX = 64, SLOW_ANSWER = 500 /* ms: the user is told */ };

/* Where everything is tried the order does not matter, so it should cost nothing. */
const char *strategy_name(const struct run *r)
{
    const struct tune_options *opt = r->opt;
    bool all = r->limit == r->report->valid && opt->budget_seconds <= 0 && !opt->patience && opt->target <= 0;
    return opt->strategy ? opt->strategy : all ? "random" : "forest";
}

bool strategy_over(const struct run *r)
{
    return r->exhausted || r->accepted >= r->limit || budget_over(r);
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
    r->waited_ms = 0;
    r->heard = r->told;
}

void strategy_tell(struct run *r, struct job *job)
{
    const struct known *k = job->known; /* null: it will not be known in this run */
    r->told++;
    job->told = true;
    run_check(r, search_tell(r->search, job->index, k ? k->outcome : OUT_RESOURCES, k ? k->stats.median : 0,
                             goal_cost(r, &r->goal, job), &r->err));
}

/* The job that has this configuration already; null if none has. */
static struct job *unasked(const struct run *r, int64_t index)
{
    for (int i = 0; i < r->nunasked; i++)
        if (r->jobs[i]->index == index)
            return r->jobs[i];
    return NULL;
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
    for (int i = 0; i < n; i++) {
        struct job *job = unasked(r, index[i]);
        if (!job)
            run_enlist(r, index[i]);
        else if (job->told) /* it was measured before. The strategy may wait for its outcome */
            strategy_tell(r, job);
    }
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
    if (r->waited_ms > SLOW_ANSWER && r->opt->note)
        r->opt->note(r->opt->arg, line);
}

void strategy_check(struct run *r)
{
    int64_t ms = run_patience(r->opt->deadline_ms, ANSWER_DEADLINE);
    if (r->asked && r->waited_ms > ms) /* not at once: an answer that came while this process was stopped is read first */
        run_fail(r, ERR_TIMEOUT, "%s: no answer within %.3g s", r->search->name, (double)ms / 1e3);
    r->waited_ms += TICK;
}
