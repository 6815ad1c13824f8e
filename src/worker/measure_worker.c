/* Measuring worker: one device, one problem; candidates verified and timed one after the other, under the device's lock. */
#include <stdio.h>

#include "worker/child.h"

enum { MAX_ROUNDS = 1000 };

static void alive(void *child, int player)
{
    struct message m = { .kind = player < 0 ? F_ALIVE : F_PLAYING, .number = player < 0 ? player == DOES_FIRST_LAUNCH : player };
    child_send(child, &m, NULL); /* a failure shows in the next */
}

/* The bench can go on without memory, not with what else went wrong. */
static int answer(struct child *c, struct bench *b, const struct message *m, struct err *err)
{
    struct message out = { .kind = F_RESULT, .nresults = m->ncandidates };
    bool compares = m->kind == F_COMPARE && m->number > 0;
    if ((m->kind != F_RUN && !compares) || !m->ncandidates || m->number < 0 || m->number > MAX_ROUNDS)
        return err_set(err, ERR_CORRUPT, "a measuring worker got frame %d", (int)m->kind);
    lock_take(c);
    int rc = compares    ? bench_compare(b, m->candidates, m->ncandidates, m->number, out.results, err)
             : m->number ? bench_playoff(b, m->candidates, m->ncandidates, m->number, out.results, err)
                         : bench_run(b, m->candidates, m->cut_ns, out.results, err);
    lock_give();
    bool ends = rc && rc != ERR_NOMEM;
    out.standing = ends ? DOUBTFUL : rc ? NO_VERDICT : STANDS;
    if (out.standing == NO_VERDICT)
        snprintf(out.results[0].reason, sizeof out.results[0].reason, "%.255s", err->msg);
    int sent = child_send(c, &out, ends ? NULL : err);
    message_free(&out);
    return ends ? rc : sent;
}

int measure_worker(struct child *c, struct err *err)
{
    struct message m = { .kind = F_READY };
    struct bench *bench = NULL;
    c->task.alive = alive;
    c->task.arg = c;
    lock_of(&c->task.dev);
    lock_take(c);
    int rc = bench_open(&c->task, &bench, &m.facts, err);
    lock_give();
    rc = rc ?: child_send(c, &m, err);
    while (!rc)
        rc = child_next(c, &m, err) ?: answer(c, bench, &m, err);
    if (rc == ERR_IO) /* otherwise the context may be lost: it is not worth closing, and may hang */
        bench_close(bench);
    return rc;
}
