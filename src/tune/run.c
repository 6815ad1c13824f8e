/* The loop. Nothing here waits: every event -- a frame, a death, an answer of the strategy, a tick -- ends in run_pump, which gives
 * work to idle workers and moves the run from phase to phase. */
#include "tune/run.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum { TICK_MS = 100 };

void run_fail(struct run *r, int code, const char *fmt, ...)
{
    if (r->failed)
        return;
    char text[sizeof r->why.msg];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    r->failed = err_set(&r->why, code, "%s", text);
    r->stopping = true;
}

int run_check(struct run *r, int rc)
{
    if (rc)
        run_fail(r, rc, "%s", r->err.msg);
    return rc;
}

static int64_t bounded(int64_t ms, int64_t most)
{
    return most > 0 && ms > most ? most : ms;
}

int64_t run_patience(const struct run *r, int64_t ms)
{
    return bounded(ms, r->opt->deadline_ms);
}

int64_t run_start_patience(const struct run *r, int64_t ms)
{
    return bounded(ms, r->opt->start_ms);
}

int run_busy_compilers(const struct run *r)
{
    int n = 0;
    for (int i = 0; i < r->nslots; i++)
        n += r->slots[i].job != NULL;
    return n;
}

static void note(struct run *r, struct job *job)
{
    job->done = true;
    r->report->tried++;
    r->report->outcomes[job->outcome]++;
    if (job->outcome == OUT_OK && (r->best_ns <= 0 || job->stats.median < r->best_ns))
        r->best_ns = job->stats.median;
    if (job->outcome == OUT_OK && job->binary.len)
        top_offer(r, job);
    else
        job_drop_code(job);
    strategy_tell(r, job->index, job->outcome, job->stats.median);
}

void run_store(struct run *r, const struct job *job, const struct result *result)
{
    struct buf text = { 0 };
    config_print_json(&text, r->op, &job->config);
    struct measured m = { .variant = r->op->variants[job->config.variant].name,
                          .json = buf_text(&text),
                          .made = r->variants[job->config.variant].made,
                          .result = *result };
    m.result.compile_ms = job->compile_ms;
    memcpy(m.key, job->key, HASH_HEX);
    run_check(r, text.failed ? err_nomem(&r->err) : store_measured(r->store, &r->target, &m, &r->err));
    buf_free(&text);
}

void run_done(struct run *r, struct job *job, const struct result *result)
{
    job->outcome = result->outcome;
    job->stats = result->stats;
    memcpy(job->reason, result->reason, sizeof job->reason);
    err_line(job->reason);
    run_store(r, job, result);
    if (!r->failed)
        run_check(r, known_add(r, job->key, job->outcome, &job->stats, true));
    r->report->measured++;
    note(r, job);
}

void run_known(struct run *r, struct job *job, struct known *k)
{
    job->outcome = k->outcome;
    job->stats = k->stats;
    if (!k->of_now)
        run_check(r, store_found_again(r->store, &r->target, job->key, r->variants[job->config.variant].made, &r->err));
    k->of_now = true;
    note(r, job);
}

void run_unsettled(struct run *r, struct job *job, const char *why)
{
    job_drop_code(job);
    r->report->unsettled++;
    snprintf(r->report->unsettled_why, sizeof r->report->unsettled_why, "%.255s", why);
    err_line(r->report->unsettled_why);
    r->default_unsettled = r->default_unsettled || job->index == r->default_index;
    strategy_tell(r, job->index, OUT_RESOURCES, 0);
}

struct job *run_default(const struct run *r)
{
    for (int i = 0; r->default_index >= 0 && i < r->njobs; i++)
        if (r->jobs[i]->done && r->jobs[i]->index == r->default_index)
            return r->jobs[i];
    return NULL;
}

bool run_over_time(const struct run *r)
{
    return r->opt->budget_seconds > 0 && (double)(clock_ns() - r->start_ns) / 1e9 > r->opt->budget_seconds;
}

void run_enlist(struct run *r, int64_t index)
{
    struct config c;
    space_at(r->space, index, &c);
    struct job *job = job_new(r, &c, index);
    if (!job)
        return;
    r->accepted++;
    queue_put(&r->queued, job);
}

bool run_in_flight(const struct run *r)
{
    return r->queued.n || r->ready.n || r->measuring || r->doubt.job || run_busy_compilers(r);
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

static void search_phase(struct run *r)
{
    if (run_over_time(r)) {
        r->queued = r->ready = (struct queue){ 0 };
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
    if (!r->failed && !r->asked && strategy_over(r) && !run_in_flight(r))
        playoff_begin(r);
}

static void end_loop(struct run *r)
{
    r->phase = PHASE_END;
    for (int i = 0; i < r->nslots; i++)
        if (r->slots[i].worker)
            worker_kill(r->slots[i].worker);
    if (r->meter)
        worker_kill(r->meter);
    uv_close((uv_handle_t *)&r->tick, NULL);
    if (r->polling)
        uv_close((uv_handle_t *)&r->answers, NULL);
    r->polling = false;
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
        !run_busy_compilers(r)) {
        double each = 0;
        for (int i = 0; i < r->nplayers; i++)
            each += r->players[i]->stats.median;
        double rounds = 2e9 / (each + 1); /* about two seconds, */
        meter_play(r, rounds < 7 ? 7 : rounds > 31 ? 31 : (int)rounds);
    }
    if (r->phase == PHASE_TABLES && !r->defaults_left)
        end_loop(r);
    else if (r->stopping)
        end_loop(r);
}

static void tell_progress(struct run *r)
{
    if (!r->opt->progress)
        return;
    struct buf best = { 0 };
    double seconds = (double)(clock_ns() - r->start_ns) / 1e9, working = r->first_ns ? (double)(clock_ns() - r->first_ns) / 1e9 : 0;
    struct tune_progress p = { .phase =
                                   r->phase == PHASE_SEARCH ? (r->first_ns || r->report->tried ? "tune" : "start") : "play-off",
                               .done = r->report->tried,
                               .total = r->limit,
                               .seconds = seconds,
                               .left = -1,
                               .best_ns = r->best_ns };
    if (working > 0)
        p.rate = (double)r->report->measured / working;
    if (p.rate > 0)
        p.left = (double)(p.total - p.done) / p.rate;
    if (r->opt->budget_seconds > 0 && (p.left < 0 || p.left > r->opt->budget_seconds - seconds))
        p.left = r->opt->budget_seconds > seconds ? r->opt->budget_seconds - seconds : 0;
    if (r->top[0] && r->top[0]->outcome == OUT_OK && r->top[0]->stats.median <= r->best_ns) {
        buf_fmt(&best, "%s ", r->op->variants[r->top[0]->config.variant].name);
        config_print(&best, r->op, &r->top[0]->config);
    }
    p.best = buf_text(&best);
    if (r->best_ns > 0)
        p.best_gbs = r->work_bytes / r->best_ns;
    r->opt->progress(r->opt->arg, &p);
    buf_free(&best);
}

static void on_tick(uv_timer_t *t)
{
    struct run *r = t->data;
    strategy_check(r, TICK_MS);
    tell_progress(r);
    run_pump(r);
}

static int load_known(void *arg, const struct measured *m)
{
    struct run *r = arg;
    int v = op_variant(r->op, m->variant);
    bool of_now = v >= 0 && m->made && !strcmp(m->made, r->variants[v].made);
    return known_add(r, m->key, m->result.outcome, &m->result.stats, of_now);
}

static int list_variants(struct run *r, struct err *err)
{
    r->variants = mem_array((size_t)r->op->nvariants, sizeof *r->variants);
    int rc = r->variants ? 0 : err_nomem(err);
    for (int i = 0; !rc && i < r->op->nvariants; i++)
        rc = variant_made(r->op, &r->op->variants[i], r->variants[i].made, err);
    return rc;
}

static int work_of(struct run *r, struct err *err)
{
    struct plan *plan = NULL;
    struct val vals[MAX_SLOTS];
    int rc = plan_new(r->op, -1, &plan, err);
    if (!rc) {
        plan_slots(plan, r->prob, r->row, r->dev, NULL, vals);
        rc = plan_work(plan, vals, &r->work_bytes, &r->work_flops, err);
    }
    plan_free(plan);
    return rc;
}

static int list_space(struct run *r, struct err *err)
{
    const double budget = r->opt->budget_seconds;
    bool bound = budget > 0 && budget < SPACE_SECONDS;
    const struct space_bounds bounds = { .seconds = bound ? budget : SPACE_SECONDS, .stop = r->opt->stop };
    int rc = space_new(r->op, r->prob, r->row, r->dev, &bounds, &r->space, err);
    if (rc == ERR_TIMEOUT && bound)
        err_prefix(err, "the budget ended before anything was tried: ");
    return rc;
}

static int set_up(struct run *r, struct err *err)
{
    const struct tune_options *opt = r->opt;
    int rc = compilers_open(r, err) ?: list_space(r, err);
    if (rc)
        return rc;
    r->report->valid = r->space->count;
    if (!r->report->valid) {
        int n = r->space->nremovals;
        const struct removal *all = r->space->removals, *most = all;
        for (int i = 1; i < n; i++)
            if (all[i].count > most->count)
                most = &all[i];
        return err_set(err, ERR_INVALID, "no configuration of %s is valid for this problem on %s; what removes most: %s",
                       r->op->name, r->dev->name, n ? most->text : "nothing, there are none");
    }
    /* Where a sample takes long, or the space is large, a run without a budget still ends. */
    int64_t usual = opt->budget_seconds > 0 ? INT64_MAX : r->dev->shares_cores ? LIMIT_CPU : LIMIT_GPU;
    r->limit = opt->budget_count > 0 ? opt->budget_count : usual;
    if (r->limit > r->report->valid)
        r->limit = r->report->valid;
    rc = work_of(r, err) ?: list_variants(r, err);
    /* Forked before anything that a fork should not share: threads, the database. */
    rc = rc ?: strategy_open(r, err) ?: store_target(r->store, r->dev, r->op, r->prob, r->row, !opt->warm, &r->target, err);
    if (!rc && opt->retune)
        rc = store_forget(r->store, &r->target, err);
    rc = rc ?: store_each_measured(r->store, &r->target, load_known, r, err);
    if (!rc)
        r->had_winner = !store_winner_key(r->store, &r->target, r->winner_key, &r->winner_copy_ns, NULL);
    return rc;
}

int run_start(struct run *r, const char *kind, const struct worker_events *events, void *arg, int64_t fresh, struct worker **out)
{
    const struct task t = { .home = r->opt->home,
                            .op = (struct op *)r->op,
                            .problem = *r->prob,
                            .row = r->row,
                            .dev = *r->dev,
                            .warm = r->opt->warm,
                            .fresh = fresh };
    int rc = run_check(r, worker_start(&r->loop, r->program, kind, events, arg, out, &r->err));
    if (rc)
        return rc;
    size_t f = frame_begin(worker_buf(*out), F_SETUP);
    task_put(worker_buf(*out), &t);
    frame_end(worker_buf(*out), f);
    worker_send(*out);
    return 0;
}

void run_send(struct run *r, struct worker *w, const struct message *m)
{
    message_put(worker_buf(w), r->op, m);
    worker_send(w);
}

struct result run_failure(enum outcome outcome, const char *reason, const char *when)
{
    struct result result = { .outcome = outcome, .resources = { -1, -1, -1, -1 } };
    snprintf(result.reason, sizeof result.reason, "%.*s%s", (int)(sizeof result.reason - 1 - strlen(when)), reason, when);
    return result;
}

static int loop_open(struct run *r, struct err *err)
{
    int rc = uv_loop_init(&r->loop);
    if (rc)
        return err_set(err, ERR_IO, "cannot make an event loop: %s", uv_strerror(rc));
    r->loop_open = true;
    uv_timer_init(&r->loop, &r->tick);
    r->tick.data = r;
    uv_timer_start(&r->tick, on_tick, 0, TICK_MS);
    rc = uv_poll_init(&r->loop, &r->answers, r->search->child.channel.fd);
    if (rc)
        return err_set(err, ERR_IO, "cannot watch the strategy: %s", uv_strerror(rc));
    r->answers.data = r;
    r->polling = true;
    uv_poll_start(&r->answers, UV_READABLE, strategy_answered);
    return 0;
}

/* All that follows once it is set up. */
static int work(struct run *r, struct err *err)
{
    struct config deflt;
    if (!op_default(r->op, r->prob, r->row, r->dev, &deflt, NULL)) {
        r->default_index = space_find(r->space, &deflt);
        if (r->default_index >= 0)
            run_enlist(r, r->default_index);
    }
    int rc = loop_open(r, err);
    if (rc)
        return rc;
    uv_run(&r->loop, UV_RUN_DEFAULT);
    return report_finish(r, err);
}

/* /proc/self/exe is this very file, even if another has taken its name since. */
static const char *own_program(struct run *r)
{
    static const char self[] = "/proc/self/exe";
    return access(self, X_OK) && program_path(r->own_path, sizeof r->own_path) ? r->own_path : self;
}

int tune_run(const struct op *op, const struct problem *prob, int row, const struct devspec *dev, struct store *store,
             const struct tune_options *opt, struct tune_report *out, struct err *err)
{
    struct run *r = mem_zalloc(sizeof *r);
    *out = (struct tune_report){ .best.config.variant = -1, .deflt.config.variant = -1, .worst.config.variant = -1 };
    if (!r)
        return err_nomem(err);
    r->op = op, r->prob = prob, r->row = row, r->dev = dev, r->store = store, r->opt = opt, r->report = out;
    r->program = opt->program ? opt->program : own_program(r);
    r->start_ns = r->ticked_ns = clock_ns();
    r->default_index = -1;
    struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
    sigaction(SIGPIPE, &ignore, &before); /* what is sent to a worker may meet its end */
    int rc = set_up(r, err);
    if (rc == ERR_TIMEOUT && opt->stop && *opt->stop) {
        out->interrupted = true;
        rc = 0;
    } else if (!rc) {
        rc = work(r, err);
    }
    if (r->loop_open) {
        if (r->phase != PHASE_END)
            end_loop(r);
        uv_run(&r->loop, UV_RUN_DEFAULT); /* lets the handles close */
        uv_loop_close(&r->loop);
    }
    search_close(r->search);
    space_free(r->space);
    result_free(&r->doubt.result);
    jobs_free(r);
    mem_free(r->variants);
    mem_free(r);
    sigaction(SIGPIPE, &before, NULL);
    return rc;
}
