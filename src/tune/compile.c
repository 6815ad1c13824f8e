/* The compile workers: each renders a configuration, is told whether that is known, and compiles it if not. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "tune/run.h"

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

static void fail_job(struct run *r, struct compiler_slot *s, enum outcome outcome, const char *reason)
{
    struct job *job = s->job;
    s->job = NULL;
    if (job->rank >= 0) {
        tables_compiled(r, job); /* a default without a binary: its source, if there is one, will do */
        return;
    }
    if (r->phase == PHASE_PLAYOFF) {
        playoff_compiled(r, job);
        return;
    }
    struct result result = { .outcome = outcome, .resources = { -1, -1, -1, -1 } };
    snprintf(result.reason, sizeof result.reason, "%.255s", reason);
    if (!job->key[0]) {
        sourceless_key(r, &job->config, job->key);
        r->variants[job->config.variant].endless += outcome == OUT_TIMEOUT;
    }
    const struct known_entry *e = known_find(&r->known, job->key);
    if (e)
        run_known(r, job, e);
    else
        run_done(r, job, &result);
}

static bool start(struct run *r, struct compiler_slot *s);

static void ask_control(struct compiler_slot *s)
{
    struct buf *out = worker_buf(s->worker);
    frame_end(out, frame_begin(out, F_CONTROL));
    worker_send(s->worker);
    worker_deadline(s->worker, run_patience(s->run, COMPILE_DEADLINE));
}

/* A failure that would be stored is the job's own only if the reference compiles in the same surroundings: a full disk or a broken
 * driver is nobody's fault. */
static void fail_unless_machine(struct run *r, struct compiler_slot *s, enum outcome outcome, const char *reason)
{
    s->compiling = false;
    if (s->job->rank >= 0 || r->phase != PHASE_SEARCH) {
        fail_job(r, s, outcome, reason);
        return;
    }
    s->control.on = true;
    s->control.again = false;
    s->control.outcome = outcome;
    snprintf(s->control.reason, sizeof s->control.reason, "%.255s", reason);
    if (s->worker || start(r, s))
        ask_control(s);
}

static void reference_failed(struct run *r, const char *why)
{
    run_fail(r, ERR_DEVICE,
             "the reference %s does not compile here any more, so nothing is believed of the configurations that fail: %s",
             r->op->reference_name, why);
}

static void rendered(struct run *r, struct compiler_slot *s, struct cursor *body)
{
    char reason[1024], key[HASH_HEX];
    enum outcome outcome = get_u8(body);
    if (!frame_text(body, reason, sizeof reason) || !frame_text(body, key, sizeof key) || outcome >= OUT_COUNT) {
        worker_garbage(s->worker);
        return;
    }
    if (!s->job->done) /* a player has its key already */
        memcpy(s->job->key, key, HASH_HEX);
    if (outcome != OUT_OK) {
        fail_unless_machine(r, s, outcome, reason);
        return;
    }
    r->variants[s->job->config.variant].rendered = true;
    const struct known_entry *e = known_find(&r->known, s->job->key);
    if (e && r->phase == PHASE_SEARCH) {
        run_known(r, s->job, e);
        s->job = NULL;
        return;
    }
    if (!r->meter && meter_start(r))
        return;
    if (r->dev->shares_cores && !r->meter_ready) { /* it is timing the reference: wait */
        queue_put_back(&r->queued, s->job);
        s->job = NULL;
        return;
    }
    s->compiling = true;
    struct buf *out = worker_buf(s->worker);
    size_t f = frame_begin(out, F_COMPILE);
    buf_u8(out, !s->job->untried);
    frame_end(out, f);
    worker_send(s->worker);
    worker_deadline(s->worker, run_patience(r, COMPILE_DEADLINE));
}

static void compiled(struct run *r, struct compiler_slot *s, struct cursor *body)
{
    struct job *job = s->job;
    char reason[1024];
    size_t nsource, nbinary, nportable;
    enum outcome outcome = get_u8(body);
    bool good = frame_text(body, reason, sizeof reason);
    job->compile_ms = get_f64(body);
    const void *source = get_bytes(body, &nsource), *binary = get_bytes(body, &nbinary), *portable = get_bytes(body, &nportable);
    good = good && frame_text(body, job->compiler, sizeof job->compiler);
    if (!good || body->bad || outcome >= OUT_COUNT) {
        worker_garbage(s->worker);
        return;
    }
    s->compiling = false;
    buf_put(&job->source, source, nsource);
    if (outcome != OUT_OK) {
        fail_unless_machine(r, s, outcome, reason);
        return;
    }
    buf_put(&job->binary, binary, nbinary);
    buf_put(&job->portable, portable, nportable);
    if (job->source.failed || job->binary.failed || job->portable.failed) {
        run_fail(r, ERR_NOMEM, "out of memory");
        return;
    }
    s->job = NULL;
    if (job->rank >= 0)
        tables_compiled(r, job);
    else if (r->phase == PHASE_PLAYOFF)
        playoff_compiled(r, job);
    else {
        job->retried = false; /* the measuring worker is another's */
        queue_put(&r->ready, job);
    }
}

static void controlled(struct run *r, struct compiler_slot *s, struct cursor *body)
{
    char why[1024];
    if (!frame_text(body, why, sizeof why)) {
        worker_garbage(s->worker);
        return;
    }
    s->control.on = false;
    if (why[0])
        reference_failed(r, why);
    else
        fail_job(r, s, s->control.outcome, s->control.reason);
}

static void on_frame(void *arg, struct worker *w, enum frame_kind kind, struct cursor *body)
{
    struct compiler_slot *s = arg;
    struct run *r = s->run;
    char text[1024];
    if (r->phase == PHASE_END) /* said before it was killed: nothing follows from it any more */
        return;
    if (kind == F_HELLO && !s->greeted && get_u32(body) == WIRE_VERSION) {
        s->greeted = true;
        worker_deadline(w, run_start_patience(r, COMPILE_DEADLINE));
    } else if (kind == F_FAILED && frame_text(body, text, sizeof text)) {
        run_fail(r, ERR_DEVICE, "compile worker: %s", text);
    } else if (kind == F_ALIVE && !s->open) {
        s->open = true;
        r->compile_deaths = 0;
        if (s->job)
            worker_deadline(w, run_patience(r, s->control.on ? COMPILE_DEADLINE : RENDER_DEADLINE));
    } else if (kind == F_ALIVE && (s->compiling || s->control.on)) {
        s->trying = s->compiling;
        worker_deadline(w, run_patience(r, TRIAL_DEADLINE));
    } else if (kind == F_CONTROLLED && s->control.on) {
        controlled(r, s, body);
    } else if (kind == F_RENDERED && s->job && !s->compiling && !s->control.on) {
        rendered(r, s, body);
    } else if (kind == F_COMPILED && s->job && s->compiling) {
        compiled(r, s, body);
    } else {
        worker_garbage(w);
    }
    run_pump(r);
}

static void render(struct compiler_slot *s, struct job *job);

/* With what it was at, in a fresh worker. */
static void resume(struct run *r, struct compiler_slot *s)
{
    if (!start(r, s))
        return;
    if (s->control.on)
        ask_control(s);
    else
        render(s, s->job);
}

/* With what it had: once more in a fresh worker, for it may have been another's fault; then, if the reference does well in one, it is
 * the job's own. */
static void job_died(struct run *r, struct compiler_slot *s, bool struck, bool deadline, const char *why)
{
    struct job *job = s->job;
    if (s->trying && !job->untried && !struck) { /* a block alone, on zeros: right ones may hang on it */
        job->untried = true;
    } else if (struck && !s->control.on && job->retried && job->rank < 0 && r->phase == PHASE_SEARCH) {
        s->job = NULL;
        run_unsettled(r, job, why);
        return;
    } else if (s->control.on && s->control.again) {
        reference_failed(r, why);
        return;
    } else if (s->control.on) {
        s->control.again = true;
    } else if (!job->retried) {
        job->retried = true;
    } else {
        fail_unless_machine(r, s, deadline ? OUT_TIMEOUT : OUT_CRASH, why);
        return;
    }
    resume(r, s);
}

static void on_gone(void *arg, struct worker *w, bool deadline, const char *why)
{
    struct compiler_slot *s = arg;
    struct run *r = s->run;
    struct job *job = s->job;
    bool open = s->open, compiling = s->compiling; /* one that was never open died of something else than its configuration */
    bool loading = s->greeted && !open;
    char endless[200];
    s->worker = NULL;
    s->greeted = s->open = s->compiling = false;
    if (r->phase == PHASE_END)
        return;
    if (deadline && loading) { /* until then only the compiler and the reference can be at fault */
        run_fail(r, ERR_TIMEOUT, "loading the compiler, or filling the reference %s, did not end within %.3g s",
                 r->op->reference_name, (double)run_start_patience(r, COMPILE_DEADLINE) / 1e3);
        run_pump(r);
        return;
    }
    if (job && deadline && open && !compiling && !s->control.on) {
        snprintf(endless, sizeof endless, "rendering %.100s did not end within %.3g s",
                 r->op->variants[job->config.variant].template_name, (double)run_patience(r, RENDER_DEADLINE) / 1e3);
        why = endless;
    }
    if (!open && ++r->compile_deaths >= DEATHS)
        run_fail(r, ERR_DEVICE, "%d compile workers died in a row; the last: %s", DEATHS, why);
    if (job && !r->failed && open)
        job_died(r, s, worker_struck(w), deadline, why);
    else if (job && !r->failed)
        resume(r, s);
    run_pump(r);
}

static const struct worker_events events = { .frame = on_frame, .gone = on_gone };

static bool start(struct run *r, struct compiler_slot *s)
{
    s->run = r;
    if (run_check(r, worker_start(&r->loop, r->program, "compile", &events, s, &s->worker, &r->err)))
        return false;
    run_put_task(r, worker_buf(s->worker), 0);
    worker_send(s->worker);
    return true;
}

static void render(struct compiler_slot *s, struct job *job)
{
    s->job = job;
    s->compiling = s->trying = false;
    struct buf *out = worker_buf(s->worker);
    size_t f = frame_begin(out, F_RENDER);
    config_put(out, s->run->op, &job->config);
    frame_end(out, f);
    worker_send(s->worker);
    worker_deadline(s->worker, s->open ? run_patience(s->run, RENDER_DEADLINE) : run_start_patience(s->run, COMPILE_DEADLINE));
}

/* Whether its outcome is known without rendering: it is known to have no source, or its template to have no end. */
static bool need_not_render(struct run *r, struct job *job)
{
    char key[HASH_HEX], why[200];
    int variant = job->config.variant, endless = r->variants[variant].endless;
    if (r->phase != PHASE_SEARCH || job->rank >= 0)
        return false;
    sourceless_key(r, &job->config, key);
    const struct known_entry *e = known_find(&r->known, key);
    if (e) {
        r->variants[variant].endless += e->outcome == OUT_TIMEOUT;
        memcpy(job->key, key, HASH_HEX);
        run_known(r, job, e);
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
    if (r->dev->shares_cores && (r->quiet_turn || (r->meter && !r->meter_ready)))
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
        if (!s->worker && !start(r, s))
            return;
        render(s, job);
    }
}
