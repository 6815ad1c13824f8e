/* Measuring worker: one device, one problem at a time; candidates verified and timed one after the other, under the device's lock. */
#include <stdio.h>
#include <sys/param.h>

#include "worker/child.h"

enum { MAX_ROUNDS = 1000 };

static void alive(void *child, int player, const char *on)
{
    const bool plays = player >= 0 || player == DOES_NO_PLAYER;
    struct message m = { .kind = plays ? F_PLAYING : F_ALIVE, .number = plays ? MAX(player, -1) : player == DOES_FIRST_LAUNCH };
    if (player >= 0)
        snprintf(m.text, sizeof m.text, "%s", on);
    child_send(child, &m, NULL); /* a failure shows in the next */
}

/* The bench can go on without memory, not with what else went wrong. */
static int answer(struct child *c, struct bench *b, const struct message *m, struct err *err)
{
    struct message out = { .kind = F_RESULT, .nresults = m->ncandidates };
    bool compares = m->kind == F_COMPARE && m->number > 0;
    if ((m->kind != F_RUN && !compares) || !m->ncandidates || m->number < RUN_GROWN || m->number > MAX_ROUNDS)
        return err_set(err, ERR_CORRUPT, "a measuring worker got frame %d", (int)m->kind);
    lock_take(c);
    int rc = compares    ? bench_compare(b, m->candidates, m->ncandidates, m->number, out.results, err)
             : m->number < 0 ? bench_grow(b, m->candidates, m->ncandidates, out.results, err)
             : m->number ? bench_playoff(b, m->candidates, m->ncandidates, m->number, out.results, err)
                         : bench_run(b, m->candidates, m->behind, out.results, err);
    lock_give();
    bool ends = rc && rc != ERR_NOMEM;
    out.standing = ends ? DOUBTFUL : rc ? NO_VERDICT : STANDS;
    if (out.standing == NO_VERDICT)
        snprintf(out.results[0].reason, sizeof out.results[0].reason, "%.255s", err->msg);
    int sent = child_send(c, &out, ends ? NULL : err);
    message_free(&out);
    return ends ? rc : sent;
}

/* A task, with the bench of the one before it, if there was one. Ends with the next task, or with an error. */
static int serve(struct child *c, struct bench_kept *kept, struct bench **bench, struct err *err)
{
    struct message m = { .kind = F_READY };
    lock_take(c);
    bench_close(*bench);
    *bench = NULL;
    int rc = c->next_task.at ? child_take_task(c, err) : 0;
    c->task.alive = alive;
    c->task.arg = c;
    c->task.kept = kept;
    rc = rc ?: bench_open(&c->task, bench, &m.facts, err);
    lock_give();
    rc = rc ?: child_send(c, &m, err);
    do
        rc = rc ?: child_next(c, &m, err);
    while (!rc && m.kind != F_SETUP && !(rc = answer(c, *bench, &m, err)));
    return rc;
}

int measure_worker(struct child *c, struct err *err)
{
    struct bench_kept kept = { 0 };
    struct bench *bench = NULL;
    int rc = 0;
    lock_of(&c->task.dev);
    while (!rc)
        rc = serve(c, &kept, &bench, err);
    if (rc == ERR_IO) { /* otherwise the context may be lost: it is not worth closing, and may hang */
        bench_close(bench);
        bench_kept_free(&kept);
    }
    return rc;
}
