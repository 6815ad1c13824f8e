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

/* A result: into the tables, and to the play-off if it is right. Takes the job over. */
static void record(struct run *r, struct job *job, struct result *result)
{
    result->compile_ms = job->compile_ms;
    run_done(r, job, result);
    job->median_ns = result->stats.median;
    if (result->outcome == OUT_OK)
        top_offer(r, job);
    else
        job_free(job);
}

/* The reference has just passed, in surroundings that nobody has touched: what failed before it was at fault itself. */
static void settle(struct run *r)
{
    if (!r->doubt.job)
        return;
    if (r->doubt.playing)
        playoff_settled(r);
    else
        record(r, r->doubt.job, &r->doubt.result);
    result_free(&r->doubt.result);
    r->doubt.job = NULL;
}

/* Its worker ended with it: once more in another one, and then it is a verdict if the reference passes in a third. Takes over the job
 * and what the result owns. */
static void doubt(struct run *r, struct job *job, struct result *result)
{
    if (!job->retried) {
        job->retried = true;
        result_free(result);
        queue_put_back(&r->ready, job);
        return;
    }
    r->doubt = (struct doubt){ .job = job, .result = *result };
    *result = (struct result){ 0 };
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
    settle(r);
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
        record(r, job, &result);
    } else if (standing == DOUBTFUL) {
        r->meter_ready = false;
        r->meter_leaves = true;
        doubt(r, job, &result);
    } else {
        run_unsettled(r, job, result.reason);
        job_free(job);
    }
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

static void unlocked(struct run *r, size_t n, const char *why)
{
    char line[700], id[32];
    devspec_id(r->dev, id);
    snprintf(line, sizeof line, "measures without the lock of %s, so another run there would disturb the times: %.*s", id, (int)n,
             why ? why : "");
    if (r->opt->note && !r->told_unlocked)
        r->opt->note(r->opt->arg, line);
    r->told_unlocked = true;
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
        else if (!r->meter_leaves)
            snprintf(r->setup_why, sizeof r->setup_why, "%.*s", text ? (int)n : 0, text ? text : "");
    } else if (kind == F_ALIVE) {
        worker_deadline(w, patience(r));
    } else if (kind == F_WAITING || kind == F_UNLOCKED) {
        const char *text = get_lstr(body, &n);
        worker_deadline(w, patience(r));
        (kind == F_WAITING ? waiting : unlocked)(r, text ? n : 0, text);
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
    if (r->phase == PHASE_END) {
        job_free(job);
        return;
    }
    if (!was_ready)
        setup_failed(r, deadline, why);
    bool struck = worker_struck(w);
    if (job && struck && job->retried) {
        run_unsettled(r, job, why);
        job_free(job);
    } else if (job) {
        struct result result = { .outcome = deadline ? OUT_TIMEOUT : OUT_CRASH, .resources = { -1, -1, -1, -1 } };
        snprintf(result.reason, sizeof result.reason, "%.255s", why);
        doubt(r, job, &result);
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
    if (worker_start(&r->loop, r->program, "measure", &events, r, &r->meter, &r->why)) {
        run_fail(r, ERR_IO, "%s", r->why.msg);
        return ERR_IO;
    }
    /* After a death the reference stands for all that is right here, so no cache may help it. */
    bool after_death = r->first_ns || r->setup_deaths;
    run_put_task(r, worker_buf(r->meter), after_death ? rand_at((uint64_t)clock_ns(), (uint64_t)getpid()) | 1 : 0);
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
