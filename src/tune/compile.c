/* The compile workers: each renders a configuration, is told whether that is known, and compiles it if not. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <sys/resource.h>

#include "tune/run.h"

static const struct worker_events events;

/* Each may hold a context on the device: more than a few only crowd it. Raises the limit of open files to what they need. */
int compilers_open(struct run *r, struct err *err)
{
    enum {
        OWN = 29,     /* the database, the loop, the strategy, and what starting a worker takes for a moment */
        A_WORKER = 3, /* its two streams, and one to spare */
        USUAL = 1024, /* workers inherit the limit, and a device's driver opens dozens */
    };
    struct rlimit limit;
    /* On a processor (PoCL) a worker begins with what compiling several kernels takes. */
    int64_t worth = r->opt->pin ? 1 : 1 + r->limit / 8;
    int few = r->dev->shares_cores ? (int)MIN(worth, MAX_JOBS) : r->dev->shared_driver ? 4 : MAX_JOBS;
    int jobs = r->nslots = (int)(r->opt->jobs > 0 ? MIN(r->opt->jobs, MAX_JOBS) : MIN(core_count(), few));
    const rlim_t need = OWN + A_WORKER * (rlim_t)jobs, wish = need > USUAL ? need : USUAL;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return err_set(err, ERR_IO, "the limit of open files: %s", strerror(errno));
    if (limit.rlim_cur < wish) {
        limit.rlim_cur = limit.rlim_max < wish ? limit.rlim_max : wish;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur >= need)
        return 0;
    return err_set(err, ERR_IO, "`ulimit -n` allows %d open files, and %d are needed for %d compile worker%s: raise it%s",
                   (int)limit.rlim_cur, (int)need, jobs, jobs == 1 ? "" : "s", jobs == 1 ? "" : ", or ask for fewer with --jobs");
}

/* What has no source has no key of its own: it is known by what its variant is made of, and its configuration. */
static void sourceless_key(const struct run *r, const struct config *c, char key[HASH_HEX])
{
    struct buf text = { 0 };
    buf_lstr(&text, "no source " CUTUNE_VERSION); /* another one may render it */
    buf_lstr(&text, r->variants[c->variant].made);
    config_print(&text, r->op, c);
    hash_hex(buf_text(&text), text.len, key);
    buf_free(&text);
}

static void set_deadline(struct compiler_slot *s)
{
    struct run *r = s->crew->run;
    int64_t ms = s->asked == F_RENDER ? RENDER_DEADLINE : s->trying ? TRIAL_DEADLINE : COMPILE_DEADLINE;
    if (s->life != LIFE_WORKS)
        worker_deadline(s->worker, run_patience(r->opt->start_ms, COMPILE_DEADLINE));
    else
        worker_deadline(s->worker, s->job ? run_patience(r->opt->deadline_ms, ms) : 0);
}

/* Gives the slot's worker something to do for its job: a new worker, if there is none. */
static void ask(struct compiler_slot *s, enum frame_kind what)
{
    const bool past = s->job->past_cache || s->crew->run->phase == PHASE_PLAYOFF; /* as what is not right there is at fault at once */
    struct message m = { .kind = what, .number = (s->job->untried ? 0 : TRY_LAUNCH) | (past ? PAST_CACHE : 0), .ncandidates = 1, .candidates[0].config = s->job->config };
    s->asked = what;
    s->trying = false;
    if (!s->worker && run_start(s->crew->run, "compile", &events, s, 0, &s->worker))
        return;
    if (s->stale) {
        run_tell_task(s->crew->run, s->worker, 0);
        s->stale = false;
        s->reused = true;
        s->life = LIFE_LOADS;
    }
    run_send(s->crew->run, s->worker, &m);
    set_deadline(s);
}

/* The job leaves the compile workers, with a binary or with a failure. */
static void deliver(struct run *r, struct job *job, const struct result *result)
{
    job->retried = false; /* the measuring worker is another's */
    if (r->phase == PHASE_TABLES) {
        tables_compiled(r, job); /* without a binary: its source, if there is one, will do */
    } else if (r->phase == PHASE_PLAYOFF) {
        playoff_compiled(r, job);
    } else if (result->outcome == OUT_OK) {
        queue_put_in_order(&r->ready, job);
    } else {
        if (!job->key[0]) {
            sourceless_key(r, &job->config, job->key);
            r->variants[job->config.variant].endless += result->outcome == OUT_TIMEOUT;
        }
        struct known *k = known_find(r, job->key);
        if (k)
            run_known(r, job, k);
        else
            run_done(r, job, result);
    }
}

static void pass_on(struct run *r, struct compiler_slot *s)
{
    struct job *job = s->job;
    s->job = NULL;
    deliver(r, job, &s->result);
}

/* ---- what compiles to the same */

/* Code for the job that is there already; null: none that will do. */
static const struct code *code_for(const struct run *r, const struct job *job)
{
    const struct code *c = job->past_cache ? NULL : codes_find(&r->crew->codes, job->code);
    return c && (r->phase != PHASE_PLAYOFF || !c->cached) ? c : NULL;
}

static bool being_compiled(const struct run *r, const struct job *job)
{
    for (int i = 0; i < r->nslots; i++) {
        const struct compiler_slot *s = &r->slots[i];
        if (s->job && s->job != job && s->asked == F_COMPILE && *job->code && !strcmp(s->job->code, job->code))
            return true;
    }
    return false;
}

static void share(struct run *r, struct job *job, const struct code *c)
{
    r->report->shared++;
    if (!run_check(r, code_give(c, job, &r->err)))
        deliver(r, job, &(struct result){ .outcome = OUT_OK });
}

/* Those that waited for what was compiled for another; if that came to nothing, they are compiled themselves. */
static void feed_twins(struct run *r)
{
    struct queue left = { 0 };
    struct job *job;
    while ((job = queue_take(&r->twins)) && !r->failed) {
        const struct code *c = code_for(r, job);
        if (c)
            share(r, job, c);
        else
            queue_put_in_order(being_compiled(r, job) ? &left : &r->queued, job);
    }
    r->twins = left;
}

/* A failure that would be stored is the job's own only if the reference compiles in the same surroundings: a full disk or a broken
 * driver is nobody's fault. */
static void fail_unless_machine(struct run *r, struct compiler_slot *s, enum outcome outcome, const char *reason)
{
    s->result = run_failure(outcome, reason, "");
    s->again = false;
    if (r->phase == PHASE_SEARCH)
        ask(s, F_CONTROL);
    else
        pass_on(r, s);
}

static void reference_failed(struct run *r, const char *why)
{
    run_fail(r, ERR_DEVICE,
             "the reference %s does not compile here any more, so nothing is believed of the configurations that fail: %s",
             op_reference(r->op), why);
}

static void rendered(struct run *r, struct compiler_slot *s, const struct message *m)
{
    struct job *job = s->job;
    if (!job->known) /* a player has its key already */
        memcpy(job->key, m->key, HASH_HEX);
    memcpy(job->code, m->code, HASH_HEX);
    struct known *k = r->phase == PHASE_SEARCH ? known_settled(r, job->key) : NULL;
    if (m->outcome != OUT_OK) {
        fail_unless_machine(r, s, m->outcome, m->text);
        return;
    }
    r->variants[job->config.variant].rendered = true;
    if (k) {
        s->job = NULL;
        run_known(r, job, k);
    } else if (r->meter || !meter_start(r)) {
        const struct code *c = code_for(r, job);
        if (c || (!job->past_cache && being_compiled(r, job))) {
            s->job = NULL;
            if (c)
                share(r, job, c);
            else
                queue_put(&r->twins, job);
            return;
        }
        if (!r->dev->shares_cores || r->meter_life == LIFE_WORKS) {
            ask(s, F_COMPILE);
            return;
        }
        s->job = NULL; /* the meter is timing the reference: wait */
        queue_put_in_order(&r->queued, job);
    }
}

static void compiled(struct run *r, struct compiler_slot *s, const struct message *m)
{
    struct job *job = s->job;
    job_drop_code(job); /* of an earlier play-off */
    job->compile_ms = m->ms;
    job->spent_ms = m->number ? 0 : m->ms;
    job->cached = false;
    r->report->compiled += !m->number;
    memcpy(job->compiler, m->compiler, sizeof job->compiler);
    buf_put(&job->source, m->source.at, m->source.n);
    if (m->outcome != OUT_OK) {
        fail_unless_machine(r, s, m->outcome, m->text);
        return;
    }
    buf_put(&job->binary, m->binary.at, m->binary.n);
    buf_put(&job->portable, m->portable.at, m->portable.n);
    buf_put(&job->entries, m->entries.at, m->entries.n);
    s->result.outcome = OUT_OK;
    job->cached = m->number;
    r->report->cached += job->cached;
    if (run_check(r, buf_check(&job->source, &r->err) ?: buf_check(&job->binary, &r->err) ?: buf_check(&job->portable, &r->err) ?: buf_check(&job->entries, &r->err)))
        return;
    codes_add(&r->crew->codes, job);
    pass_on(r, s);
}

/* False if the worker may not say this now. */
static bool take(struct run *r, struct compiler_slot *s, const struct message *m)
{
    if (m->kind == F_HELLO && s->life == LIFE_STARTS && m->number == WIRE_VERSION) {
        s->life = LIFE_LOADS;
    } else if (m->kind == F_FAILED && s->reused) {
        s->life = LIFE_LOADS; /* it ends now */
    } else if (m->kind == F_FAILED) {
        run_fail(r, ERR_DEVICE, "compile worker: %s", m->text);
    } else if (m->kind == F_ALIVE && s->life == LIFE_LOADS) {
        s->life = LIFE_WORKS;
        s->reused = false;
        r->compile_deaths = 0;
    } else if (m->kind == F_ALIVE && s->job && s->asked != F_RENDER) {
        s->trying = true;
    } else if (m->kind == F_RENDERED && s->job && s->asked == F_RENDER) {
        rendered(r, s, m);
    } else if (m->kind == F_COMPILED && s->job && s->asked == F_COMPILE) {
        compiled(r, s, m);
    } else if (m->kind == F_CONTROLLED && s->job && s->asked == F_CONTROL) {
        if (m->text[0])
            reference_failed(r, m->text);
        else
            pass_on(r, s);
    } else {
        return false;
    }
    return true;
}

static void on_frame(void *arg, struct worker *w, enum frame_kind kind, struct cursor *body)
{
    struct compiler_slot *s = arg;
    struct run *r = s->crew->run;
    struct message m;
    if (!r || r->phase == PHASE_END) /* said before it was killed: nothing follows from it any more */
        return;
    if (message_get(kind, body, r->op, &m, NULL) || !take(r, s, &m))
        worker_garbage(w);
    else
        set_deadline(s);
    message_free(&m);
    run_pump(r);
}

/* With what it had: once more in a fresh worker, for it may have been another's fault; then, if the reference does well in one, it is
 * the job's own. */
static void job_died(struct run *r, struct compiler_slot *s, bool struck, enum outcome outcome, const char *why)
{
    struct job *job = s->job;
    bool control = s->asked == F_CONTROL;
    if (s->trying && !control && !job->untried && !struck) { /* a block alone, on zeros: right ones may hang on it */
        job->untried = true;
    } else if (control && s->again) {
        reference_failed(r, why);
        return;
    } else if (control) {
        s->again = true;
    } else if (!job->retried) {
        job->retried = true;
    } else if (struck && r->phase == PHASE_SEARCH) {
        s->job = NULL;
        run_unsettled(r, job, why);
        return;
    } else {
        fail_unless_machine(r, s, outcome, why);
        return;
    }
    ask(s, control ? F_CONTROL : F_RENDER);
}

static void on_gone(void *arg, struct worker *w, bool deadline, const char *why)
{
    struct compiler_slot *s = arg;
    struct run *r = s->crew->run;
    enum life life = s->life; /* one that never worked died of something else than its configuration */
    const bool reused = s->reused;
    char endless[200];
    s->worker = NULL;
    s->life = LIFE_STARTS;
    s->stale = s->reused = false;
    crew_gone(s->crew);
    if (!r || r->phase == PHASE_END)
        return;
    if (deadline && life == LIFE_LOADS && !reused) /* until then only the compiler and the reference can be at fault */
        run_fail(r, ERR_TIMEOUT, "loading the compiler, or filling the reference %s, did not end within %.3g s",
                 op_reference(r->op), (double)run_patience(r->opt->start_ms, COMPILE_DEADLINE) / 1e3);
    if (s->job && deadline && life == LIFE_WORKS && s->asked == F_RENDER) {
        snprintf(endless, sizeof endless, "rendering %.100s did not end within %.3g s",
                 r->op->variants[s->job->config.variant].template_name,
                 (double)run_patience(r->opt->deadline_ms, RENDER_DEADLINE) / 1e3);
        why = endless;
    }
    if (life != LIFE_WORKS && !reused && ++r->compile_deaths >= DEATHS)
        run_fail(r, ERR_DEVICE, "%d compile workers died in a row; the last: %s", DEATHS, why);
    if (s->job && !r->failed && life == LIFE_WORKS)
        job_died(r, s, worker_struck(w), deadline ? OUT_TIMEOUT : OUT_CRASH, why);
    else if (s->job && !r->failed)
        ask(s, s->asked == F_CONTROL ? F_CONTROL : F_RENDER);
    run_pump(r);
}

static const struct worker_events events = { .frame = on_frame, .gone = on_gone };

/* Whether its outcome is known without rendering: it is known to have no source, or its template to have no end. */
static bool need_not_render(struct run *r, struct job *job)
{
    char key[HASH_HEX], why[200];
    int variant = job->config.variant, endless = r->variants[variant].endless;
    if (r->phase != PHASE_SEARCH)
        return false;
    sourceless_key(r, &job->config, key);
    struct known *k = known_find(r, key);
    if (k) {
        r->variants[variant].endless += k->outcome == OUT_TIMEOUT;
        memcpy(job->key, key, HASH_HEX);
        run_known(r, job, k);
        return true;
    }
    if (r->variants[variant].rendered || endless < ENDLESS)
        return false;
    snprintf(why, sizeof why, "rendering %.100s did not end for the %d configurations tried; its others were left out",
             r->op->variants[variant].template_name, endless);
    run_unsettled(r, job, why);
    return true;
}

/* Gives work to idle workers; a worker starts when there is first something for it. */
void compilers_feed(struct run *r)
{
    feed_twins(r);
    if (r->dev->shares_cores && (r->quiet_turn || (r->meter && r->meter_life != LIFE_WORKS)))
        return;
    int room = r->dev->shares_cores ? 4 * r->nslots : 2 * r->nslots + 8; /* compiled and waiting, at most */
    for (int i = 0; i < r->nslots && r->queued.n && !r->failed; i++) {
        struct compiler_slot *s = &r->slots[i];
        if (s->job)
            continue;
        if (r->phase == PHASE_SEARCH && r->ready.n + run_busy_compilers(r) >= room)
            return;
        struct job *job = queue_take(&r->queued);
        if (need_not_render(r, job)) {
            i--;
            continue;
        }
        s->job = job;
        ask(s, F_RENDER);
    }
}
