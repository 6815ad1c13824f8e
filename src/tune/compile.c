/* The compile workers: each renders a configuration, is told whether that is known, and compiles it if not. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tune/run.h"

static void fail_job(struct run *r, struct slot_c *s, enum outcome outcome, const char *reason)
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
    struct result result = { .outcome = outcome, .compile_ms = job->compile_ms, .resources = { -1, -1, -1, -1 } };
    snprintf(result.reason, sizeof result.reason, "%.255s", reason);
    if (!job->key[0]) { /* it has no source: known by its name and what was wrong */
        struct buf name = { 0 };
        buf_fmt(&name, "no source: %s ", r->op->variants[job->config.variant].name);
        config_print(&name, r->op, &job->config);
        buf_fmt(&name, ": %s", reason);
        hash_hex(buf_text(&name), name.len, job->key);
        buf_free(&name);
    }
    const struct known_entry *e = known_find(&r->known, job->key);
    if (e)
        run_known(r, job, e);
    else
        run_done(r, job, &result);
    job_free(job);
}

static bool take_text(struct cursor *in, char *out, size_t room)
{
    size_t n;
    const char *s = get_lstr(in, &n);
    if (!s || n >= room)
        return false;
    memcpy(out, s, n);
    out[n] = 0;
    return true;
}

static void rendered(struct run *r, struct slot_c *s, struct cursor *body)
{
    char reason[1024];
    enum outcome outcome = get_u8(body);
    if (!take_text(body, reason, sizeof reason) || !take_text(body, s->job->key, HASH_HEX) || outcome >= OUT_COUNT) {
        worker_garbage(s->worker);
        return;
    }
    if (outcome != OUT_OK) {
        r->compile_deaths = 0;
        fail_job(r, s, outcome, reason);
        return;
    }
    const struct known_entry *e = known_find(&r->known, s->job->key);
    if (e && r->phase == PHASE_SEARCH) {
        r->compile_deaths = 0;
        run_known(r, s->job, e);
        job_free(s->job);
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
    frame_end(out, frame_begin(out, F_COMPILE));
    worker_send(s->worker);
    worker_deadline(s->worker, run_patience(r, COMPILE_DEADLINE));
}

static void compiled(struct run *r, struct slot_c *s, struct cursor *body)
{
    struct job *job = s->job;
    char reason[1024];
    size_t nsource, nbinary, nportable;
    enum outcome outcome = get_u8(body);
    bool good = take_text(body, reason, sizeof reason);
    job->compile_ms = get_f64(body);
    const void *source = get_bytes(body, &nsource), *binary = get_bytes(body, &nbinary), *portable = get_bytes(body, &nportable);
    good = good && take_text(body, job->compiler, sizeof job->compiler);
    if (!good || body->bad || outcome >= OUT_COUNT) {
        worker_garbage(s->worker);
        return;
    }
    s->compiling = false;
    r->compile_deaths = 0;
    buf_put(&job->source, source, nsource);
    if (outcome != OUT_OK) {
        fail_job(r, s, outcome, reason);
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
    else
        queue_put(&r->ready, job);
}

static void on_frame(void *arg, struct worker *w, enum frame_kind kind, struct cursor *body)
{
    struct slot_c *s = arg;
    struct run *r = s->run;
    char text[1024];
    if (r->phase == PHASE_END) /* said before it was killed: nothing follows from it any more */
        return;
    if (kind == F_HELLO && !s->greeted && get_u32(body) == WIRE_VERSION) {
        s->greeted = true;
        worker_deadline(w, run_patience(r, COMPILE_DEADLINE));
    } else if (kind == F_FAILED && take_text(body, text, sizeof text)) {
        run_fail(r, ERR_DEVICE, "compile worker: %s", text);
    } else if (kind == F_ALIVE && !s->open) {
        s->open = true;
        if (s->job)
            worker_deadline(w, run_patience(r, RENDER_DEADLINE));
    } else if (kind == F_ALIVE && s->compiling) {
        worker_deadline(w, run_patience(r, TRIAL_DEADLINE));
    } else if (kind == F_RENDERED && s->job && !s->compiling) {
        rendered(r, s, body);
    } else if (kind == F_COMPILED && s->job && s->compiling) {
        compiled(r, s, body);
    } else {
        worker_garbage(w);
    }
    run_pump(r);
}

static bool start(struct run *r, struct slot_c *s);
static void render(struct slot_c *s, struct job *job);

static void on_gone(void *arg, struct worker *w, bool deadline, const char *why)
{
    struct slot_c *s = arg;
    struct run *r = s->run;
    struct job *job = s->job;
    bool greeted = s->greeted, open = s->open; /* one that never did died of something else than its configuration */
    char endless[200];
    (void)w;
    if (job && deadline && s->open && !s->compiling) {
        snprintf(endless, sizeof endless, "rendering %.100s did not end within %.3g s",
                 r->op->variants[job->config.variant].template_name, (double)run_patience(r, RENDER_DEADLINE) / 1e3);
        why = endless;
    }
    s->worker = NULL;
    s->greeted = s->open = s->compiling = false;
    if (r->phase == PHASE_END)
        return;
    if (deadline && greeted && !open) { /* until then only the compiler and the reference can be at fault */
        run_fail(r, ERR_TIMEOUT, "loading the compiler, or filling the reference %s, did not end within %.3g s",
                 r->op->reference_name, (double)run_patience(r, COMPILE_DEADLINE) / 1e3);
        run_pump(r);
        return;
    }
    bool first = job && greeted && !deadline && !job->retried;
    if (!first && ++r->compile_deaths >= DEATHS)
        run_fail(r, ERR_DEVICE, "%d compile workers died in a row; the last: %s", DEATHS, why);
    if (job && (first || !greeted)) {
        job->retried = job->retried || greeted;
        if (!r->failed && start(r, s))
            render(s, job);
    } else if (job) {
        fail_job(r, s, deadline ? OUT_TIMEOUT : OUT_CRASH, why);
    }
    run_pump(r);
}

static const struct worker_events events = { .frame = on_frame, .gone = on_gone };

static bool start(struct run *r, struct slot_c *s)
{
    s->run = r;
    if (worker_start(&r->loop, r->program, "compile", &events, s, &s->worker, &r->why)) {
        run_fail(r, ERR_IO, "%s", r->why.msg);
        return false;
    }
    buf_put(worker_buf(s->worker), r->task.data, r->task.len);
    worker_send(s->worker);
    return true;
}

static void render(struct slot_c *s, struct job *job)
{
    s->job = job;
    s->compiling = false;
    struct buf *out = worker_buf(s->worker);
    size_t f = frame_begin(out, F_RENDER);
    config_put(out, s->run->op, &job->config);
    frame_end(out, f);
    worker_send(s->worker);
    worker_deadline(s->worker, run_patience(s->run, s->open ? RENDER_DEADLINE : COMPILE_DEADLINE));
}

/* Gives work to whoever is idle; workers start when there is first something for them. */
void compilers_feed(struct run *r)
{
    if (r->dev->shares_cores && (r->quiet_turn || (r->meter && !r->meter_ready)))
        return;
    int room = r->dev->shares_cores ? 4 * r->nslots : 2 * r->nslots + 8; /* compiled and waiting, at most */
    for (int i = 0; i < r->nslots && r->queued.n && !r->failed; i++) {
        struct slot_c *s = &r->slots[i];
        if (s->job)
            continue;
        if (r->phase == PHASE_SEARCH && r->ready.n + run_busy_compilers(r) >= room)
            return;
        if (!s->worker && !start(r, s))
            return;
        render(s, queue_take(&r->queued));
    }
}
