/* The measuring worker: one candidate at a time, replaced when a candidate takes it down. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "tune/run.h"

/* A first launch that is so far behind the best is stopped: but not sooner than a new worker would be ready. */
static double first_launch_ms(const struct run *r)
{
    bool by_best = r->launching && r->best_ns > 0 && r->goal.by == BY_TIME && !r->opt->no_cut;
    return by_best ? fmax(r->best_ns * RUN_DEADLINE_BEHIND / 1e6, r->setup_ms) : INFINITY;
}

static void set_deadline(struct run *r)
{
    double least = r->dev->shares_cores ? RUN_DEADLINE_CPU : RUN_DEADLINE_MIN, usual = r->reference_ns * RUN_DEADLINE_FACTOR / 1e6;
    double run_ms = fmax(fmin(usual, first_launch_ms(r)), least);
    r->hurried = run_ms < usual;
    r->run_ms = run_ms;
    if (r->meter_life < LIFE_WORKS)
        worker_deadline(r->meter, run_patience(r->opt->start_ms, SETUP_DEADLINE));
    else
        worker_deadline(r->meter, r->measuring || r->playing ? run_patience(r->opt->step_ms ?: r->opt->deadline_ms, (int64_t)run_ms) : 0);
}

bool meter_doubts(struct run *r, struct job *job, struct result *result)
{
    if (!job->retried) {
        job->retried = true;
        return false;
    }
    r->doubt.job = job;
    r->doubt.result = *result;
    *result = (struct result){ 0 };
    return true;
}

/* No accusation rests on a file of the cache. */
static bool rests_on_cache(const struct job *job, const struct result *result)
{
    return job->cached && result->outcome != OUT_OK && result->outcome != OUT_SLOWER;
}

static bool ready(struct run *r, const struct bench_facts *facts)
{
    if (r->meter_life != LIFE_LOADS)
        return false;
    r->meter_life = LIFE_WORKS;
    if (!r->meter_reused) /* it is what a new one would take */
        r->crew->setup_ms = run_seconds(r->meter_started_ns) * 1e3;
    r->setup_ms = r->crew->setup_ms;
    r->meter_reused = false;
    r->setup_deaths = 0;
    r->setup_why[0] = 0;
    r->reference_ns = facts->reference_ns;
    snprintf(r->report->alone, sizeof r->report->alone, "%.255s", facts->alone);
    err_line(r->report->alone);
    if (facts->unproved[0]) { /* later workers do not ask again */
        snprintf(r->report->unproved, sizeof r->report->unproved, "%.255s", facts->unproved);
        err_line(r->report->unproved);
    }
    if (facts->constant[0]) {
        snprintf(r->report->constant, sizeof r->report->constant, "%.255s", facts->constant);
        err_line(r->report->constant);
    }
    if (facts->copy_ns > 0 && (r->copy_ns <= 0 || facts->copy_ns < r->copy_ns))
        r->copy_ns = facts->copy_ns; /* the best of what this run's workers saw */
    if (!r->first_ns)
        r->first_ns = clock_ns();
    /* The reference has just passed in a new worker, so a job in doubt was at fault itself. */
    if (r->doubt.job && r->doubt.job->known)
        playoff_condemned(r);
    else if (r->doubt.job)
        run_done(r, r->doubt.job, &r->doubt.result);
    result_free(&r->doubt.result);
    r->doubt.job = NULL;
    return true;
}

static bool measured(struct run *r, struct message *m)
{
    struct job *job = r->measuring;
    if ((!job && !r->playing) || m->nresults != (job ? 1 : r->nplaying))
        return false;
    for (int i = 0; i < m->nresults; i++) {
        r->report->again += m->results[i].again;
        r->report->throttled += m->results[i].throttled;
    }
    if (m->standing == DOUBTFUL)
        r->meter_life = LIFE_LEAVES;
    r->measuring = NULL;
    if (job) {
        job->verify_ms = m->results->verify_ms;
        job->measure_ms += m->results->measure_ms;
    }
    if (r->playing && r->growing && m->standing == STANDS) {
        playoff_grown(r, m->results);
    } else if (r->playing && m->standing == STANDS) {
        playoff_played(r, m->results);
    } else if (r->playing) { /* a doubt is of the player that it ended with */
        int at = m->standing == DOUBTFUL ? r->playing_at : -1;
        playoff_broken(r, at, &m->results[at < 0 ? 0 : at]);
    } else if (m->standing == STANDS && rests_on_cache(job, m->results)) {
        job_again(r, job);
    } else if (m->standing == STANDS) {
        run_done(r, job, m->results);
    } else if (m->standing == NO_VERDICT) {
        run_unsettled(r, job, m->results->reason);
    } else if (rests_on_cache(job, m->results) || !meter_doubts(r, job, m->results)) {
        job_again(r, job);
    }
    return true;
}

/* A line for a person, once a run: what it says stays true. */
static void tell_lock(struct run *r, enum frame_kind kind, const char *text)
{
    bool *told = kind == F_WAITING ? &r->told_wait : &r->told_unlocked;
    char line[1200], id[32];
    devspec_id(r->dev, id);
    if (kind == F_WAITING)
        snprintf(line, sizeof line, "waiting for another run on %s: %s", id, text);
    else
        snprintf(line, sizeof line, "measures without the lock of %s, so another run there would disturb the times: %s", id, text);
    if (r->opt->note && !*told)
        r->opt->note(r->opt->arg, line);
    *told = true;
}

/* False if the worker may not say this now. */
static bool take(struct run *r, struct message *m)
{
    r->launching = m->kind == F_ALIVE && m->number;
    switch (m->kind) {
    case F_HELLO:
        if (r->meter_life != LIFE_STARTS || m->number != WIRE_VERSION)
            return false;
        r->meter_life = LIFE_LOADS;
        return true;
    case F_FAILED:
        if (r->meter_reused) /* what an earlier problem may have left in it: it ends, and a new one will tell */
            return true;
        if (!r->first_ns) /* none ever was ready: the next would fail the same way */
            run_fail(r, ERR_DEVICE, "%s", m->text);
        else if (r->meter_life != LIFE_LEAVES)
            snprintf(r->setup_why, sizeof r->setup_why, "%.255s", m->text);
        return true;
    case F_ALIVE:
        return true;
    case F_WAITING:
    case F_UNLOCKED:
        tell_lock(r, m->kind, m->text);
        return true;
    case F_READY:
        return ready(r, &m->facts);
    case F_PLAYING:
        if (!r->playing || m->number < -1 || m->number >= r->nplaying)
            return false;
        r->playing_at = m->number;
        snprintf(r->playing_on, sizeof r->playing_on, "%.100s", m->text);
        return true;
    case F_RESULT:
        return measured(r, m);
    default:
        return false;
    }
}

static void on_frame(void *arg, struct worker *w, enum frame_kind kind, struct cursor *body)
{
    struct tune_crew *c = arg;
    struct run *r = c->run;
    struct message m;
    if (!r || r->phase == PHASE_END) /* said before it was killed */
        return;
    if (w == c->meter) { /* which nobody has asked anything */
        worker_garbage(w);
        return;
    }
    if (message_get(kind, body, r->op, &m, NULL) || !take(r, &m))
        worker_garbage(w);
    else
        set_deadline(r);
    message_free(&m);
    run_pump(r);
}

/* "; shifts has integers from a file ...", which are a likely cause of a death; else what usually is. */
static void hint_at_cause(const struct run *r, const char *why, char *out, size_t room)
{
    snprintf(out, room, "%s",
             strstr(why, "killed by signal") ? "; does its grid fit the sizes, has each argument its extents, is what it takes as an index below them?"
                                             : "");
    for (int i = 0; i < r->op->nargs; i++) {
        const struct arg *a = &r->op->args[i];
        const char *file = a->data.file.name;
        if (file && a->kind != ARG_OUTPUT && !(op_arg_dtype(r->op, a->type, r->task.row)->eps > 0))
            snprintf(out, room, "; %s has the integers of %.200s: if they are indices, is each within what it indexes?", a->name,
                     file);
    }
}

/* A worker that was never ready has run nothing but the reference and what it needs: a hang there, or deaths in a row, are no
 * candidate's fault. If others were ready before, the machine has changed. */
static void setup_failed(struct run *r, bool deadline, const char *why)
{
    const char *reference = op_reference(r->op);
    int most = r->first_ns ? SETUPS : 2;
    char hint[512];
    why = r->setup_why[0] ? r->setup_why : why;
    hint_at_cause(r, why, hint, sizeof hint);
    if (deadline)
        run_fail(r, ERR_TIMEOUT, "the reference %s, or setting up for it, did not end within %.3g s", reference,
                 (double)run_patience(r->opt->start_ms, SETUP_DEADLINE) / 1e3);
    else if (++r->setup_deaths >= most && r->first_ns)
        run_fail(r, ERR_DEVICE, "the reference %s passed before and does so no longer: %s", reference, why);
    else if (r->setup_deaths >= most)
        run_fail(r, ERR_DEVICE, "the reference %s, or setting up for it, took down two workers; the last: %s%s", reference, why,
                 hint);
}

/* What came of a first launch that was stopped after so long. It gets no second try: that it is far behind is no accusation. */
static struct result hurried(double ns)
{
    char reason[64];
    snprintf(reason, sizeof reason, "first launch stopped after %.3g s", ns / 1e9);
    struct result result = run_failure(OUT_SLOWER, reason, "");
    result.samples = mem_array(1, sizeof ns);
    if (result.samples)
        result.samples[result.nsamples++] = ns;
    stats_of(&ns, 1, &result.stats, NULL);
    return result;
}

static void on_gone(void *arg, struct worker *w, bool deadline, const char *why)
{
    struct tune_crew *c = arg;
    struct run *r = c->run;
    if (w == c->meter || !r) { /* idle, so it was at nothing */
        c->meter = NULL;
        return;
    }
    struct job *job = r->measuring;
    const bool reused = r->meter_reused;
    bool was_ready = r->meter_life >= LIFE_WORKS, struck = worker_struck(w);
    char when[sizeof r->playing_on + 8] = "";
    if (r->playing)
        snprintf(when, sizeof when, *r->playing_on ? ", for %s" : ", in the play-off", r->playing_on);
    struct result result = run_failure(deadline ? OUT_TIMEOUT : OUT_CRASH, why, when);
    if (job) { /* which it can no longer say itself */
        job->verify_ms = 0;
        job->measure_ms += run_seconds(r->measuring_since_ns) * 1e3;
    }
    if (job && deadline && r->hurried && !struck) {
        result = hurried(r->run_ms * 1e6);
        job->retried = true;
    }
    r->meter = NULL;
    r->meter_life = LIFE_STARTS;
    r->meter_reused = false;
    r->measuring = NULL;
    crew_gone(c);
    if (r->phase == PHASE_END)
        return;
    r->reused_died |= reused;
    if (!was_ready && !reused)
        setup_failed(r, deadline, why);
    if (job && struck && job->retried)
        run_unsettled(r, job, why);
    else if (job && (rests_on_cache(job, &result) || !meter_doubts(r, job, &result)))
        job_again(r, job);
    if (r->playing)
        playoff_broken(r, struck ? -1 : r->playing_at, &result);
    if (!r->failed && !r->meter)
        meter_start(r);
    run_pump(r);
}

static const struct worker_events events = { .frame = on_frame, .gone = on_gone };

int meter_start(struct run *r)
{
    /* After a death the reference stands for all that is right here, so no cache may help it. */
    bool after_death = r->first_ns || r->setup_deaths || r->reused_died;
    int64_t fresh = after_death ? (int64_t)rand_at((uint64_t)clock_ns(), (uint64_t)getpid()) | 1 : 0;
    r->meter_started_ns = clock_ns();
    if (r->crew->meter && !after_death) {
        r->meter = r->crew->meter;
        r->crew->meter = NULL;
        r->meter_life = LIFE_LOADS;
        r->meter_reused = true;
        run_tell_task(r, r->meter, 0);
        set_deadline(r);
        return 0;
    }
    int rc = run_start(r, "measure", &events, r->crew, fresh, &r->meter);
    if (!rc)
        set_deadline(r);
    return rc;
}

static void send_run(struct run *r, struct message *m, struct job *const *jobs, int n)
{
    m->kind = F_RUN;
    m->ncandidates = n;
    for (int i = 0; i < n; i++)
        m->candidates[i] = (struct bench_candidate){ .config = jobs[i]->config,
                                                     .binary = jobs[i]->binary.data,
                                                     .binary_bytes = jobs[i]->binary.len,
                                                     .entries = jobs[i]->entries.data,
                                                     .entries_bytes = jobs[i]->entries.len };
    r->measuring_since_ns = clock_ns();
    run_send(r, r->meter, m);
    set_deadline(r);
}

/* The next of which nothing is known: what compiles and launches to the same may have been measured since it was rendered. */
static struct job *take_ready(struct run *r)
{
    struct job *job;
    struct known *k;
    while ((job = queue_take(&r->ready)) && (k = known_settled(r, job->key)))
        run_known(r, job, k);
    return job;
}

void meter_feed(struct run *r)
{
    if (r->measuring || !r->meter || r->meter_life != LIFE_WORKS || !r->ready.n)
        return;
    r->measuring = take_ready(r);
    if (!r->measuring)
        return;
    send_run(r, &(struct message){ .behind = { goal_cut(r, &r->measuring->config), goal_few(r) } }, &r->measuring, 1);
}

_Static_assert(PLAYOFF + 1 <= (int)MAX_PLAYERS, "all players of a play-off are in one message");

void meter_play(struct run *r, int rounds)
{
    int n = 0;
    for (int i = 0; i < r->nplayers && !r->grow_not && !r->op->outside; i++)
        if (!r->players[i]->known->grown) { /* these come first */
            struct job *job = r->players[i];
            r->players[i] = r->players[n];
            r->players[n++] = job;
        }
    r->playing = true;
    r->growing = n;
    r->nplaying = n ?: r->nplayers;
    r->playing_at = -1;
    r->playing_on[0] = 0;
    send_run(r, &(struct message){ .number = n ? RUN_GROWN : rounds }, r->players, r->nplaying);
}
