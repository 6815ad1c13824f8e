/* Measuring worker: one device, one problem; candidates verified and timed one after the other, under the device's lock. */
#include <stdio.h>

#include "measure/bench.h"
#include "worker/child.h"
#include "worker/lock.h"

enum { MAX_PLAYOFF = 32, MAX_ROUNDS = 1000 };

struct measuring {
    struct child *c;
    struct bench *bench;
};

static int candidate_get(struct cursor *in, const struct op *op, struct bench_candidate *c, struct err *err)
{
    int rc = config_get(in, op, &c->config, err);
    c->binary = get_bytes(in, &c->binary_bytes);
    return rc ?: (in->bad ? err_set(err, ERR_CORRUPT, "a candidate is cut short") : 0);
}

/* Sends the frame begun at f, behind what the results are worth. The bench can go on without memory, not with what else went wrong. */
static int send_results(struct child *c, size_t f, int rc, struct err *err)
{
    bool ends = rc && rc != ERR_NOMEM;
    buf_u8(&c->channel.out, rc == ERR_NOMEM ? NO_VERDICT : rc ? DOUBTFUL : STANDS);
    frame_end(&c->channel.out, f);
    int sent = channel_send(&c->channel, NULL, ends ? NULL : err);
    return ends ? rc : sent;
}

static int run(struct child *c, struct bench *b, struct cursor *body, struct err *err)
{
    struct bench_candidate candidate;
    struct result result = { 0 };
    double cut = get_f64(body);
    int rc = candidate_get(body, c->task.op, &candidate, err);
    if (rc)
        return rc;
    lock_take(c);
    rc = bench_run(b, &candidate, cut, &result, err);
    lock_give();
    if (rc == ERR_NOMEM)
        snprintf(result.reason, sizeof result.reason, "%.255s", err->msg);
    size_t f = frame_begin(&c->channel.out, F_RESULT);
    result_put(&c->channel.out, &result);
    result_free(&result);
    return send_results(c, f, rc, err);
}

static void say_playing(void *child, int i)
{
    struct child *c = child;
    size_t f = frame_begin(&c->channel.out, F_PLAYING);
    buf_u32(&c->channel.out, (uint32_t)i);
    frame_end(&c->channel.out, f);
    channel_send(&c->channel, NULL, NULL); /* a failure shows in the next */
}

static int playoff(struct child *c, struct bench *b, struct cursor *body, struct err *err)
{
    struct bench_candidate candidates[MAX_PLAYOFF];
    struct result results[MAX_PLAYOFF] = { 0 };
    uint32_t rounds = get_u32(body), n = get_u32(body);
    if (body->bad || n > MAX_PLAYOFF || rounds > MAX_ROUNDS)
        return err_set(err, ERR_CORRUPT, "a play-off of %u over %u rounds", n, rounds);
    for (uint32_t i = 0; i < n; i++) {
        int rc = candidate_get(body, c->task.op, &candidates[i], err);
        if (rc)
            return rc;
    }
    lock_take(c);
    int rc = bench_playoff(b, candidates, (int)n, (int)rounds, results, err);
    lock_give();
    size_t f = frame_begin(&c->channel.out, F_PLAYED);
    buf_u32(&c->channel.out, n);
    for (uint32_t i = 0; i < n; i++) {
        result_put(&c->channel.out, &results[i]);
        result_free(&results[i]);
    }
    return send_results(c, f, rc, err);
}

static int say_ready(struct child *c, const struct bench_facts *facts, struct err *err)
{
    size_t f = frame_begin(&c->channel.out, F_READY);
    buf_f64(&c->channel.out, facts->reference_ns);
    buf_f64(&c->channel.out, facts->copy_ns);
    frame_end(&c->channel.out, f);
    return channel_send(&c->channel, NULL, err);
}

static int answer(void *arg, struct frame *f, struct err *err)
{
    struct measuring *m = arg;
    if (f->kind == F_RUN)
        return run(m->c, m->bench, &f->body, err);
    if (f->kind == F_PLAYOFF)
        return playoff(m->c, m->bench, &f->body, err);
    return err_set(err, ERR_CORRUPT, "a measuring worker got frame %d", f->kind);
}

int measure_worker(struct child *c, struct err *err)
{
    struct measuring m = { .c = c };
    struct bench_facts facts;
    const struct task *t = &c->task;
    struct bench_setup setup = { .home = t->home,
                                 .op = t->op,
                                 .problem = t->problem,
                                 .row = t->row,
                                 .dev = t->dev,
                                 .warm = t->warm,
                                 .fresh = t->fresh,
                                 .alive = child_alive,
                                 .playing = say_playing,
                                 .arg = c };
    lock_of(&t->dev);
    lock_take(c);
    int rc = bench_open(&setup, &m.bench, &facts, err);
    lock_give();
    rc = rc ?: say_ready(c, &facts, err) ?: child_serve(c, answer, &m, err);
    if (rc == ERR_IO) /* otherwise the context may be lost: it is not worth closing, and may hang */
        bench_close(m.bench);
    return rc;
}
