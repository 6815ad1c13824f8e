/* The measuring worker: one candidate at a time, replaced when a candidate takes it down. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/util.h"
#include "tune/run.h"

static int64_t deadline_ms(const struct run *r)
{
    double ms = r->reference_ns * RUN_DEADLINE_FACTOR / 1e6;
    int64_t least = r->dev->shares_cores ? RUN_DEADLINE_CPU : RUN_DEADLINE_MIN;
    return ms > (double)least ? (int64_t)ms : least;
}

/* The reference has just passed in a new worker, so what failed before was at fault itself. */
static void judge_doubt(struct run *r)
{
    struct job *job = r->doubt.job;
    if (!job)
        return;
    if (job->done)
        playoff_condemned(r);
    else
        run_done(r, job, &r->doubt.result);
    result_free(&r->doubt.result);
    r->doubt.job = NULL;
}

/* Its worker ended with it: once more in another one, and then it is a verdict if the reference passes in a third. Takes over what the
 * result owns. */
static void try_again(struct run *r, struct job *job, struct result *result)
{
    if (job->retried) {
        r->doubt = (struct doubt){ .job = job, .result = *result };
        *result = (struct result){ 0 };
    } else {
        job->retried = true;
        queue_put_back(&r->ready, job);
    }
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
    r->setup_deaths = 0;
    r->setup_why[0] = 0;
    r->reference_ns = reference;
    if (copy > 0 && (r->copy_ns <= 0 || copy < r->copy_ns))
        r->copy_ns = copy; /* the best of what this run's workers saw */
    if (!r->first_ns)
        r->first_ns = clock_ns();
    judge_doubt(r);
}

static void measured(struct run *r, struct cursor *body)
{
    struct result result = { 0 };
    struct job *job = r->measuring;
    int rc = result_get(body, &result, NULL);
    enum standing standing = get_u8(body);
    if (rc || body->bad || standing > NO_VERDICT) {
        result_free(&result);
        worker_garbage(r->meter);
        return;
    }
    r->measuring = NULL;
    if (standing == STANDS) {
        run_done(r, job, &result);
    } else if (standing == DOUBTFUL) {
        r->meter_ready = false;
        r->meter_leaves = true;
        try_again(r, job, &result);
    } else {
        run_unsettled(r, job, result.reason);
    }
    result_free(&result);
}

static void playing(struct run *r, struct cursor *body)
{
    uint32_t at = get_u32(body);
    if (body->bad || at >= (uint32_t)r->nplayers) {
        worker_garbage(r->meter);
        return;
    }
    r->playing_at = (int)at;
    worker_deadline(r->meter, run_patience(r, deadline_ms(r)));
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

static void on_frame(void *arg, struct worker *w, enum frame_kind kind, struct cursor *body)
{
    struct run *r = arg;
    char text[1024];
    if (r->phase == PHASE_END) /* said before it was killed */
        return;
    if (kind == F_HELLO && !r->meter_greeted && get_u32(body) == WIRE_VERSION) {
        r->meter_greeted = true;
        worker_deadline(w, run_start_patience(r, SETUP_DEADLINE));
    } else if (kind == F_FAILED && frame_text(body, text, sizeof text)) {
        if (!r->first_ns) /* none ever was ready: the next would fail the same way */
            run_fail(r, ERR_DEVICE, "%s", text);
        else if (!r->meter_leaves)
            snprintf(r->setup_why, sizeof r->setup_why, "%.255s", text);
    } else if (kind == F_ALIVE) {
        worker_deadline(w, patience(r));
    } else if ((kind == F_WAITING || kind == F_UNLOCKED) && frame_text(body, text, sizeof text)) {
        worker_deadline(w, patience(r));
        tell_lock(r, kind, text);
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

/* A worker that was never ready has run nothing but the reference and what it needs: a hang there, or deaths in a row, are no
 * candidate's fault. If others were ready before, the machine has changed. */
static void setup_failed(struct run *r, bool deadline, const char *why)
{
    const char *reference = r->op->reference_name;
    int most = r->first_ns ? SETUPS : 2;
    why = r->setup_why[0] ? r->setup_why : why;
    if (deadline)
        run_fail(r, ERR_TIMEOUT, "the reference %s, or setting up for it, did not end within %.3g s", reference,
                 (double)run_start_patience(r, SETUP_DEADLINE) / 1e3);
    else if (++r->setup_deaths >= most && r->first_ns)
        run_fail(r, ERR_DEVICE, "the reference %s passed before and does so no longer: %s", reference, why);
    else if (r->setup_deaths >= most)
        run_fail(r, ERR_DEVICE, "the reference %s, or setting up for it, took down two workers; the last: %s", reference, why);
}

static void on_gone(void *arg, struct worker *w, bool deadline, const char *why)
{
    struct run *r = arg;
    struct job *job = r->measuring;
    bool was_ready = r->meter_ready || r->meter_leaves;
    r->meter = NULL;
    r->meter_ready = r->meter_greeted = r->meter_leaves = false;
    r->measuring = NULL;
    if (r->phase == PHASE_END)
        return;
    if (!was_ready)
        setup_failed(r, deadline, why);
    bool struck = worker_struck(w);
    if (job && struck && job->retried) {
        run_unsettled(r, job, why);
    } else if (job) {
        struct result result = { .outcome = deadline ? OUT_TIMEOUT : OUT_CRASH, .resources = { -1, -1, -1, -1 } };
        snprintf(result.reason, sizeof result.reason, "%.255s", why);
        try_again(r, job, &result);
    }
    if (r->playing)
        playoff_died(r, struck, deadline ? OUT_TIMEOUT : OUT_CRASH, why);
    if (!r->failed && !r->meter)
        meter_start(r);
    run_pump(r);
}

static const struct worker_events events = { .frame = on_frame, .gone = on_gone };

int meter_start(struct run *r)
{
    int rc = run_check(r, worker_start(&r->loop, r->program, "measure", &events, r, &r->meter, &r->err));
    if (rc)
        return rc;
    /* After a death the reference stands for all that is right here, so no cache may help it. */
    bool after_death = r->first_ns || r->setup_deaths;
    run_put_task(r, worker_buf(r->meter), after_death ? rand_at((uint64_t)clock_ns(), (uint64_t)getpid()) | 1 : 0);
    worker_send(r->meter);
    worker_deadline(r->meter, run_start_patience(r, SETUP_DEADLINE));
    return 0;
}

static void put_candidate(const struct run *r, struct buf *out, const struct job *job)
{
    config_put(out, r->op, &job->config);
    buf_bytes(out, job->binary.data, job->binary.len);
}

void meter_feed(struct run *r)
{
    if (r->measuring || !r->meter || !r->meter_ready || !r->ready.n)
        return;
    r->measuring = queue_take(&r->ready);
    /* A first sample that is so many times slower than the best so far ends the timing: sooner if each sample costs much. */
    double behind = r->dev->shares_cores ? 1.5 : 4;
    struct buf *out = worker_buf(r->meter);
    size_t f = frame_begin(out, F_RUN);
    buf_f64(out, behind * r->best_ns);
    put_candidate(r, out, r->measuring);
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
    buf_u32(out, (uint32_t)r->nplayers);
    for (int i = 0; i < r->nplayers; i++)
        put_candidate(r, out, r->players[i]);
    frame_end(out, f);
    worker_send(r->meter);
    worker_deadline(r->meter, run_patience(r, deadline_ms(r)));
}
