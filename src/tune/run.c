/* The loop. Nothing here waits: every event -- a frame, a death, an answer of the strategy, a tick -- ends in run_pump, which gives
 * work to idle workers and moves the run from phase to phase. */
#include "tune/run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

void run_fail(struct run *r, int code, const char *fmt, ...)
{
    if (r->failed)
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->why.msg, sizeof r->why.msg, fmt, ap);
    va_end(ap);
    r->failed = code;
    r->stopping = true;
}

int run_check(struct run *r, int rc)
{
    if (rc)
        run_fail(r, rc, "%s", r->err.msg);
    return rc;
}

int64_t run_patience(int64_t bound, int64_t ms)
{
    return bound > 0 && ms > bound ? bound : ms;
}

int run_busy_compilers(const struct run *r)
{
    int n = 0;
    for (int i = 0; i < r->nslots; i++)
        n += r->slots[i].job != NULL;
    return n;
}

void run_store(struct run *r, struct job *job, const struct result *result)
{
    struct buf text = { 0 };
    config_print_json(&text, r->op, &job->config);
    struct measured m = { .variant = r->op->variants[job->config.variant].name,
                          .json = buf_text(&text),
                          .made = r->variants[job->config.variant].made,
                          .result = *result };
    struct known *k = known_find(r, job->key);
    m.result.compile_ms = job->compile_ms;
    memcpy(m.key, job->key, HASH_HEX);
    if (result->outcome == OUT_SLOWER)
        goal_name_slower(r, m.result.reason);
    if (k && result->outcome == OUT_OK && !result->energy.joules) /* of a run that asked for it */
        m.result.energy = k->energy;
    k = known_add(r, job->key, &m.result, true);
    if (k)
        k->of_run = true;
    int rc = (k ? 0 : err_nomem(&r->err)) ?: buf_check(&text, &r->err) ?: store_begin(r->store, true, &r->err);
    if (!rc) {
        if (r->opt->retune && !r->forgotten) /* not sooner: a run may come to nothing */
            rc = store_forget(r->store, &r->target, &r->err);
        rc = store_end(r->store, rc ?: store_measured(r->store, &r->target, &m, &r->err), &r->err);
    }
    r->forgotten = r->forgotten || !rc;
    run_check(r, rc);
    buf_free(&text);
}

static void tell_trial(const struct run *r, const struct job *job, struct tune_trial *t)
{
    t->config = &job->config;
    if (t->origin == TRIAL_NEW) {
        t->compile_ms = job->spent_ms;
        t->verify_ms = job->verify_ms;
        t->measure_ms = job->measure_ms;
    }
    if (r->opt->trial)
        r->opt->trial(r->opt->trial_arg, t);
}

void run_trial(const struct run *r, const struct job *job, enum tune_origin origin)
{
    const struct known *k = job->known;
    tell_trial(r, job,
               &(struct tune_trial){ .origin = origin,
                                     .judged = true,
                                     .outcome = k->outcome,
                                     .reason = k->reason,
                                     .time_ns = k->stats.median });
}

static void settle(struct run *r, struct job *job, struct known *k, enum tune_origin origin)
{
    job->known = k;
    if (!k->of_now)
        run_check(r, store_found_again(r->store, &r->target, job->key, r->variants[job->config.variant].made, &r->err));
    k->of_now = true;
    r->report->tried++;
    goal_note_best(r, job);
    if (k->outcome == OUT_OK && job->binary.len)
        top_offer(r, job);
    else
        job_drop_code(job);
    run_trial(r, job, origin);
    if (!job->told)
        strategy_tell(r, job);
}

void run_done(struct run *r, struct job *job, const struct result *result)
{
    struct known *k = known_find(r, job->key);
    if (!k || k->outcome == OUT_OK || k->unsettled || result->outcome != OUT_OK) /* a failure of what compiles to the same stands */
        run_store(r, job, result);
    r->report->measured++;
    k = known_find(r, job->key); /* null: no memory */
    if (k)
        settle(r, job, k, TRIAL_NEW);
}

void run_known(struct run *r, struct job *job, struct known *k)
{
    settle(r, job, k, k->of_run ? TRIAL_SAME : TRIAL_STORED);
}

void run_unsettled(struct run *r, struct job *job, const char *why)
{
    job_drop_code(job);
    r->report->unsettled++;
    snprintf(r->report->unsettled_why, sizeof r->report->unsettled_why, "%.255s", why);
    err_line(r->report->unsettled_why);
    tell_trial(r, job, &(struct tune_trial){ .origin = TRIAL_NEW, .reason = r->report->unsettled_why });
    if (!job->told) /* else it was measured again */
        strategy_tell(r, job);
}

double run_seconds(int64_t since_ns)
{
    return (double)(clock_ns() - since_ns) / 1e9;
}

struct job *run_enlist(struct run *r, int64_t index)
{
    struct config c;
    space_at(r->space, index, &c);
    struct job *job = job_new(r, &c, index);
    if (job) {
        r->accepted++;
        queue_put(&r->queued, job);
    }
    return job;
}

bool run_in_flight(const struct run *r)
{
    return r->queued.n || r->twins.n || r->ready.n || r->measuring || r->doubt.job || run_busy_compilers(r);
}

/* On a device that shares its cores with the compilers, compiling and measuring take turns. */
static void take_turns(struct run *r)
{
    if (!r->dev->shares_cores)
        return;
    bool busy = run_busy_compilers(r) > 0;
    if (r->quiet_turn)
        r->quiet_turn = r->ready.n || r->measuring;
    else if (!busy && r->ready.n && (r->ready.n >= 4 * r->nslots || (!r->queued.n && !r->asked)))
        r->quiet_turn = true;
}

/* The default is always measured, unless another run keeps the device. */
static void drop_all_but_default(struct run *r, struct queue *q)
{
    const bool kept_out = r->told_wait && !r->first_ns;
    struct job *job;
    struct queue left = { 0 };
    while ((job = queue_take(q)))
        if (job == r->deflt && !kept_out)
            queue_put(&left, job);
    *q = left;
}

static void search_phase(struct run *r)
{
    if (budget_over(r)) {
        budget_note_end(r);
        drop_all_but_default(r, &r->queued);
        drop_all_but_default(r, &r->twins);
        drop_all_but_default(r, &r->ready);
        strategy_drop(r);
    }
    if (!r->dev->shares_cores)
        meter_feed(r); /* before all else: it is what the others wait for */
    strategy_ask(r);
    take_turns(r);
    compilers_feed(r);
    take_turns(r);
    if (!r->dev->shares_cores || r->quiet_turn)
        meter_feed(r);
    if (!r->failed && !r->asked && strategy_over(r) && !run_in_flight(r) && !cuts_taken_back(r)) {
        r->report->ended = r->opt->pin || r->opt->only ? END_NONE : budget_end(r);
        playoff_begin(r);
    }
}

static void end_loop(struct run *r)
{
    r->phase = PHASE_END;
    crew_end(r->crew, r);
}

void run_pump(struct run *r)
{
    if (r->phase == PHASE_END)
        return;
    if (r->opt->stop && *r->opt->stop)
        r->stopping = r->report->interrupted = true;
    if (r->stopping) {
        end_loop(r);
        return;
    }
    if (r->phase == PHASE_SEARCH)
        search_phase(r);
    if (r->phase == PHASE_PLAYOFF || r->phase == PHASE_TABLES)
        compilers_feed(r);
    if (r->phase == PHASE_PLAYOFF && !r->missing && !r->playing && r->nplayers && r->meter_life == LIFE_WORKS &&
        !run_busy_compilers(r))
        meter_play(r, playoff_rounds(r));
    if (r->stopping || (r->phase == PHASE_TABLES && !r->defaults_left))
        end_loop(r);
}

static void tell_progress(struct run *r)
{
    if (!r->opt->progress)
        return;
    struct buf best = { 0 };
    bool begun = r->first_ns || r->report->tried;
    struct tune_progress p = { .phase = r->phase != PHASE_SEARCH ? "play-off"
                                        : begun                  ? "tune"
                                                                 : "start",
                               .done = r->report->tried,
                               .total = r->limit,
                               .rate = r->first_ns ? (double)r->report->measured / run_seconds(r->first_ns) : 0,
                               .best_ns = r->best_ns };
    double left = p.rate > 0 ? (double)(p.total - p.done) / p.rate : INFINITY;
    p.left = fmin(left, budget_left(r, run_seconds(r->start_ns), INFINITY).seconds);
    if (isinf(p.left))
        p.left = -1;
    const struct job *top = r->top[0];
    if (top && top->known->outcome == OUT_OK && (r->goal.by != BY_TIME || top->known->stats.median <= r->best_ns)) {
        p.best_ns = top->known->stats.median;
        buf_fmt(&best, "%s ", r->op->variants[top->config.variant].name);
        config_print(&best, r->op, &top->config);
    }
    p.best = buf_text(&best);
    if (p.best_ns > 0)
        p.best_gbs = r->target.bytes / p.best_ns;
    r->opt->progress(r->opt->arg, &p);
    buf_free(&best);
}

static void on_tick(uv_timer_t *t)
{
    struct run *r = t->data;
    strategy_check(r);
    tell_progress(r);
    run_pump(r);
}

static int load_known(void *arg, const struct measured *m)
{
    struct run *r = arg;
    int v = op_variant(r->op, m->variant);
    bool of_now = v >= 0 && m->made && !strcmp(m->made, r->variants[v].made);
    return known_add(r, m->key, &m->result, of_now) ? 0 : ERR_NOMEM;
}

static int list_variants(struct run *r, struct err *err)
{
    r->variants = mem_array((size_t)r->op->nvariants, sizeof *r->variants);
    int rc = r->variants ? 0 : err_nomem(err);
    for (int i = 0; !rc && i < r->op->nvariants; i++)
        rc = variant_made(r->op, &r->op->variants[i], r->variants[i].made, err);
    return rc;
}

static int load_winner(struct run *r, struct err *err)
{
    struct buf text = { 0 };
    struct config config;
    int rc = store_kept_winner(r->store, &r->target, &r->kept, &text, NULL);
    r->had_winner = !rc;
    r->winner_index = rc || text.failed || config_parse(r->op, NULL, text.data, &config, NULL) ? -1 : space_find(r->space, &config);
    rc = buf_check(&text, err);
    buf_free(&text);
    return rc;
}

/* Whether the earlier run's winner was chosen by what the op's objective is now. */
static int chosen_by_now(struct run *r, struct err *err)
{
    struct buf then = { 0 }, now = { 0 };
    objective_print(&now, r->op, &r->own_goal);
    int rc = store_winner_objective(r->store, &r->target, &then, err) ?: buf_check(&then, err) ?: buf_check(&now, err);
    r->winner_by_now = !rc && !strcmp(buf_text(&then), buf_text(&now));
    buf_free(&then);
    buf_free(&now);
    return rc;
}

/* Another script of the same name, or this one as it was, has results in this database. */
static int open_target(struct run *r, struct err *err)
{
    char line[256];
    int rc = store_target(r->store, r->dev, r->op, &r->task.problem, r->task.row, !r->opt->warm, &r->target, err);
    const struct outdated *old = &r->target.outdated;
    if (rc || !(old->results + old->winners) || !r->opt->note)
        return rc;
    if (old->other)
        snprintf(line, sizeof line,
                 "this database had another %.63s (its arguments, check, reference or data); results stale now: %" PRId64
                 ", winners given no more: %" PRId64,
                 r->op->name, old->results, old->winners);
    else
        snprintf(line, sizeof line,
                 "this database had %.63s with other variants or templates; results stale now: %" PRId64
                 "; winners stay in use until their problem is tuned again",
                 r->op->name, old->results);
    r->opt->note(r->opt->arg, line);
    return 0;
}

static int set_up(struct run *r, struct err *err)
{
    const struct tune_options *opt = r->opt;
    struct patience bounds = budget_left(r, 0, SPACE_SECONDS);
    if (!op_proves(r->op) && !r->op->outside)
        return err_set(err, ERR_INVALID, "%s has no reference, so nothing can be proved right: give one with --reference",
                       r->op->name);
    int rc = outside_begin(r, err) ?: space_new(r->op, &r->task.problem, r->task.row, r->dev, &bounds, &r->space, err);
    if (rc)
        return rc;
    r->report->valid = r->space->count;
    if (!r->report->valid) {
        int n = r->space->nremovals;
        const struct removal *all = r->space->removals, *most = all;
        for (int i = 1; i < n; i++)
            if (all[i].count > most->count)
                most = &all[i];
        const char *text = n ? most->text : "nothing, there are none";
        const char *cure = strncmp(text, "requires: backend", 17)
                               ? ""
                               : ": it needs another --device; `cutune devices` lists those here. Kernels "
                                 "with KERNEL and GLOBAL run on every device: docs/op-authors.md, section 3";
        return err_set(err, ERR_INVALID, "no configuration of %s is valid for this problem on %s; what removes most: %s%s",
                       r->op->name, r->dev->name, text, cure);
    }
    if (opt->pin && space_find(r->space, opt->pin) < 0)
        return err_set(err, ERR_INVALID, "not a valid configuration of %s for this problem on %s", r->op->name, r->dev->name);
    /* Where a sample takes long, or the space is large, a run without a budget still ends. */
    r->limit = budget_limit(r);
    if (r->limit > r->report->valid)
        r->limit = r->report->valid;
    /* The strategy is forked before anything that a fork should not share: threads, the database. */
    bounds = budget_left(r, run_seconds(r->start_ns), INFINITY); /* loading a strategy counts towards the budget */
    rc = compilers_open(r, err)
        ?: goals_open(r, err)
        ?: list_variants(r, err)
        ?: search_open(opt->home, strategy_name(r), r->space, opt->seed, &bounds, &r->search, err)
        ?: open_target(r, err)
        ?: budget_open(r, err)
        ?: (opt->retune ? 0 : store_each_measured(r->store, &r->target, load_known, r, err));
    if (rc == ERR_NOMEM && !err->msg[0]) /* of load_known, which has no err to say it in */
        err_nomem(err);
    if (!rc && !opt->pin && !opt->retune) /* the winner is of no concern to a pin */
        rc = load_winner(r, err);
    return rc ?: r->had_winner ? chosen_by_now(r, err) : 0;
}

int run_start(struct run *r, const char *kind, const struct worker_events *events, void *arg, int64_t fresh, struct worker **out)
{
    int rc = run_check(r, worker_start(&r->crew->loop, r->program, kind, events, arg, out, &r->err));
    if (rc)
        return rc;
    run_tell_task(r, *out, fresh);
    return 0;
}

void run_tell_task(struct run *r, struct worker *w, int64_t fresh)
{
    struct buf frame = { 0 };
    size_t begin = frame_begin(&frame, F_SETUP);
    r->task.fresh = fresh;
    r->task.proven = r->first_ns != 0;
    task_put(&frame, &r->task);
    frame_end(&frame, begin);
    worker_send(w, &frame);
}

void run_send(struct run *r, struct worker *w, const struct message *m)
{
    struct buf frame = { 0 };
    message_put(&frame, r->op, m);
    worker_send(w, &frame);
}

struct result run_failure(enum outcome outcome, const char *reason, const char *when)
{
    struct result result = { .outcome = outcome, .resources = { -1, -1, -1, -1 } };
    snprintf(result.reason, sizeof result.reason, "%.*s%s", (int)(sizeof result.reason - 1 - strlen(when)), reason, when);
    return result;
}

/* All that follows once it is set up. */
static int work(struct run *r, struct err *err)
{
    struct config deflt;
    bool none = op_default(r->op, &r->task.problem, r->task.row, r->dev, &deflt, NULL);
    int64_t index = r->opt->pin ? space_find(r->space, r->opt->pin) : none ? -1 : space_find(r->space, &deflt);
    if (index >= 0) /* the first to be tried; a pin is the only one */
        r->deflt = run_enlist(r, index);
    if (!r->opt->no_neighbours && !r->opt->pin)
        hints_enlist(r);
    r->nunasked = r->njobs;
    uv_loop_t *loop = &r->crew->loop;
    int rc = uv_poll_init(loop, &r->answers, r->search->child.channel.fd);
    if (!rc) {
        uv_timer_init(loop, &r->tick);
        r->answers.data = r->tick.data = r;
        uv_timer_start(&r->tick, on_tick, 0, TICK);
        uv_poll_start(&r->answers, UV_READABLE, strategy_answered);
        crew_begin(r->crew, r);
        hints_only(r);
        uv_update_time(loop);
        uv_run(loop, UV_RUN_DEFAULT); /* until end_loop, and all handles are closed */
        r->crew->run = NULL;
    }
    return rc ? err_set(err, ERR_IO, "cannot watch the strategy: %s", uv_strerror(rc)) : report_finish(r, err);
}

int tune_run(const struct op *op, const struct problem *prob, int row, const struct devspec *dev, struct store *store,
             const struct tune_options *opt, struct tune_report *out, struct err *err)
{
    struct run *r = mem_zalloc(sizeof *r);
    *out = (struct tune_report){
        .best.config.variant = -1, .deflt.config.variant = -1, .worst.config.variant = -1, .served.config.variant = -1
    };
    if (!r)
        return err_nomem(err);
    r->task = (struct task){ .home = opt->home,
                             .op = (struct op *)op,
                             .problem = *prob,
                             .row = row,
                             .dev = *dev,
                             .warm = opt->warm,
                             .cache = opt->cache };
    r->op = op, r->dev = dev, r->store = store, r->opt = opt, r->report = out;
    static const char self[] = "/proc/self/exe"; /* this very file, even if another has taken its name since */
    bool without_proc = access(self, X_OK) && program_path(r->own_path, sizeof r->own_path);
    r->program = opt->program ?: without_proc ? r->own_path : self;
    r->start_ns = clock_ns();
    struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
    sigaction(SIGPIPE, &ignore, &before); /* what is sent to a worker may meet its end */
    int rc = set_up(r, err);
    if (rc == ERR_TIMEOUT && opt->stop && *opt->stop) {
        out->interrupted = true;
        rc = 0;
    } else if (rc == ERR_TIMEOUT && budget_spent(r)) {
        err_prefix(err, "the budget ended before anything was tried: ");
    } else if (!rc) {
        r->crew = opt->crew;
        rc = (r->crew ? 0 : tune_crew_open(&r->crew, err)) ?: work(r, err);
        if (!opt->crew)
            tune_crew_close(r->crew);
    }
    outside_end(r);
    search_close(r->search);
    space_free(r->space);
    result_free(&r->doubt.result);
    jobs_free(r);
    mem_free(r->variants);
    mem_free(r);
    sigaction(SIGPIPE, &before, NULL);
    return rc;
}
