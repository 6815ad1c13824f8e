/* The measuring worker: one candidate at a time, replaced when a candidate takes it down. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tune/run.h"

static int64_t deadline_ms(const struct run *r)
{
    double ms = r->reference_ns * RUN_DEADLINE_FACTOR / 1e6;
    int64_t least = r->dev->shares_cores ? RUN_DEADLINE_CPU : RUN_DEADLINE_MIN;
    return ms > (double)least ? (int64_t)ms : least;
}

static int64_t patience(const struct run *r)
{
    return r->meter_ready ? run_patience(r, deadline_ms(r)) : run_start_patience(r, SETUP_DEADLINE);
}

static void ready(struct run *r, struct cursor *body)
{
    double reference = get_f64(body), copy = get_f64(body);
    if (body->bad || !(reference >= 0) || !(copy >= 0)) {
        worker_garbage(r->meter);
        return;
    }
    r->meter_ready = true;
    r->reference_ns = reference;
    if (copy > 0 && (r->copy_ns <= 0 || copy < r->copy_ns))
        r->copy_ns = copy; /* the best of what this run's workers saw */
    if (!r->first_ns)
        r->first_ns = clock_ns();
}

static void measured(struct run *r, struct cursor *body)
{
    struct result result = { 0 };
    struct job *job = r->measuring;
    int rc = result_get(body, &result, NULL);
    bool ends = get_u8(body);
    if (rc || body->bad) {
        result_free(&result);
        worker_garbage(r->meter);
        return;
    }
    r->measuring = NULL;
    if (!ends)
        r->measure_deaths = 0;
    else
        r->meter_ready = false; /* nothing more for this one: it says why and goes */
    result.compile_ms = job->compile_ms;
    run_done(r, job, &result);
    job->median_ns = result.stats.median;
    if (result.outcome == OUT_OK)
        top_offer(r, job);
    else
        job_free(job);
    result_free(&result);
}

static void playing(struct run *r, struct cursor *body)
{
    uint32_t at = get_u32(body);
    if (body->bad || at >= (uint32_t)r->nplayed) {
        worker_garbage(r->meter);
        return;
    }
    r->playing_at = (int)at;
    worker_deadline(r->meter, run_patience(r, deadline_ms(r)));
}

/* Once is enough: from then on the two take turns. */
static void waiting(struct run *r, size_t n, const char *file)
{
    char line[300], id[32];
    devspec_id(r->dev, id);
    snprintf(line, sizeof line, "waiting for another run on %s: %.*s", id, (int)n, file ? file : "");
    if (r->opt->note && !r->told_wait)
        r->opt->note(r->opt->arg, line);
    r->told_wait = true;
}

static void on_frame(void *arg, struct worker *w, enum frame_kind kind, struct cursor *body)
{
    struct run *r = arg;
    size_t n;
    if (r->phase == PHASE_END) /* said before it was killed */
        return;
    if (kind == F_HELLO && !r->meter_greeted && get_u32(body) == WIRE_VERSION) {
        r->meter_greeted = true;
        worker_deadline(w, run_start_patience(r, SETUP_DEADLINE));
    } else if (kind == F_FAILED) {
        const char *text = get_lstr(body, &n);
        if (!r->first_ns) /* none ever was ready: the next would fail the same way */
            run_fail(r, ERR_DEVICE, "%.*s", text ? (int)n : 0, text ? text : "");
    } else if (kind == F_ALIVE) {
        worker_deadline(w, patience(r));
    } else if (kind == F_WAITING) {
        const char *text = get_lstr(body, &n);
        worker_deadline(w, patience(r));
        waiting(r, text ? n : 0, text);
    } else if (kind == F_READY && !r->meter_ready) {
        ready(r, body);
    } else if (kind == F_RESULT && r->measuring) {
        measured(r, body);
    } else if (kind == F_PLAYING && r->playing) {
        playing(r, body);
    } else if (kind == F_PLAYED && r->playing) {
        playoff_played(r, body);
    } else {
        worker_garbage(w);
    }
    run_pump(r);
}

/* Before any was ready, all that ran was the reference and what it needs: a hang there, or a second death, is no candidate's. */
static void setup_failed(struct run *r, bool deadline, const char *why)
{
    const char *reference = r->op->reference_name;
    if (deadline)
        run_fail(r, ERR_TIMEOUT, "the reference %s, or setting up for it, did not end within %.3g s", reference,
                 (double)run_start_patience(r, SETUP_DEADLINE) / 1e3);
    else if (r->setup_died)
        run_fail(r, ERR_DEVICE, "the reference %s, or setting up for it, took down two workers; the last: %s", reference, why);
    r->setup_died = true;
}

static void on_gone(void *arg, struct worker *w, bool deadline, const char *why)
{
    struct run *r = arg;
    struct job *job = r->measuring;
    (void)w;
    r->meter = NULL;
    r->meter_ready = r->meter_greeted = false;
    r->measuring = NULL;
    if (r->phase == PHASE_END) {
        job_free(job);
        return;
    }
    if (job && !deadline && !job->retried) {
        job->retried = true;
        queue_put_back(&r->ready, job);
        meter_start(r);
        return;
    }
    if (!r->first_ns)
        setup_failed(r, deadline, why);
    if (++r->measure_deaths >= DEATHS)
        run_fail(r, ERR_DEVICE, "%d measuring workers died in a row; the last: %s", DEATHS, why);
    if (job) {
        struct result result = { .outcome = deadline ? OUT_TIMEOUT : OUT_CRASH, .resources = { -1, -1, -1, -1 } };
        snprintf(result.reason, sizeof result.reason, "%.255s", why);
        result.compile_ms = job->compile_ms;
        run_done(r, job, &result);
        job_free(job);
    }
    if (r->playing)
        playoff_died(r, deadline ? OUT_TIMEOUT : OUT_CRASH, why);
    if (!r->failed && !r->meter)
        meter_start(r);
    run_pump(r);
}

static const struct worker_events events = { .frame = on_frame, .gone = on_gone };

int meter_start(struct run *r)
{
    if (worker_start(&r->loop, r->program, "measure", &events, r, &r->meter, &r->why)) {
        run_fail(r, ERR_IO, "%s", r->why.msg);
        return ERR_IO;
    }
    buf_put(worker_buf(r->meter), r->task.data, r->task.len);
    worker_send(r->meter);
    worker_deadline(r->meter, run_start_patience(r, SETUP_DEADLINE));
    return 0;
}

void meter_feed(struct run *r)
{
    if (r->measuring || !r->meter || !r->meter_ready || !r->ready.n)
        return;
    r->measuring = queue_take(&r->ready);
    /* A first sample so far behind the best so far ends the timing: sooner where each sample costs much. */
    double behind = r->dev->shares_cores ? 1.5 : 4;
    struct buf *out = worker_buf(r->meter);
    size_t f = frame_begin(out, F_RUN);
    buf_f64(out, behind * r->best_ns);
    config_put(out, r->op, &r->measuring->config);
    buf_bytes(out, r->measuring->binary.data, r->measuring->binary.len);
    frame_end(out, f);
    worker_send(r->meter);
    worker_deadline(r->meter, run_patience(r, deadline_ms(r)));
}

void meter_play(struct run *r, int rounds)
{
    r->playing = true;
    r->playing_at = -1;
    struct buf *out = worker_buf(r->meter);
    size_t f = frame_begin(out, F_PLAYOFF);
    buf_u32(out, (uint32_t)rounds);
    buf_u32(out, (uint32_t)r->nplayed);
    for (int i = 0; i < r->nplayed; i++) {
        config_put(out, r->op, &r->played[i]->config);
        buf_bytes(out, r->played[i]->binary.data, r->played[i]->binary.len);
    }
    frame_end(out, f);
    worker_send(r->meter);
    worker_deadline(r->meter, run_patience(r, deadline_ms(r)));
}
