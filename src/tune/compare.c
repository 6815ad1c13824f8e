#include "tune/compare.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "tune/run.h"

/* One worker's life. Libraries take their time when they are loaded, so all its steps have the patience of compilers. */
struct comparing {
    const struct task *task;
    const struct bench_candidate *players;
    struct result *out;
    int which[MAX_PLAYERS], n; /* the players that are in this round of it */
    int rounds;
    enum life life;
    int at;        /* the player that the worker is at, an index of `which`; -1: none */
    bool done;     /* it has answered */
    bool doubtful; /* and ends with it */
    bool late;     /* past its deadline */
    char why[512]; /* of its end without an answer; "" none */
    void (*note)(void *arg, const char *line);
    void *arg;
};

static void say(struct worker *w, const struct op *op, const struct message *m)
{
    struct buf frame = { 0 };
    message_put(&frame, op, m);
    worker_send(w, &frame);
}

static void ask(struct comparing *c, struct worker *w)
{
    struct message m = { .kind = F_COMPARE, .number = c->rounds, .ncandidates = c->n };
    for (int i = 0; i < c->n; i++)
        m.candidates[i] = c->players[c->which[i]];
    say(w, c->task->op, &m);
}

static void keep(struct comparing *c, struct message *m)
{
    for (int i = 0; i < c->n; i++) {
        result_free(&c->out[c->which[i]]);
        c->out[c->which[i]] = m->results[i];
        m->results[i] = (struct result){ 0 };
    }
}

static void tell(const struct comparing *c, const char *what, const char *text)
{
    char line[1200];
    snprintf(line, sizeof line, "%s: %s", what, text);
    if (c->note)
        c->note(c->arg, line);
}

/* False if the worker may not say this now. */
static bool take(struct comparing *c, struct worker *w, struct message *m)
{
    switch (m->kind) {
    case F_HELLO:
        if (c->life != LIFE_STARTS || m->number != WIRE_VERSION)
            return false;
        c->life = LIFE_LOADS;
        return true;
    case F_FAILED:
        if (!c->doubtful)
            snprintf(c->why, sizeof c->why, "%.500s", m->text);
        return true;
    case F_ALIVE:
        return true;
    case F_WAITING:
    case F_UNLOCKED:
        tell(c, m->kind == F_WAITING ? "waiting for another run" : "measures without the device's lock", m->text);
        return true;
    case F_READY:
        if (c->life != LIFE_LOADS)
            return false;
        c->life = LIFE_WORKS;
        ask(c, w);
        return true;
    case F_PLAYING:
        c->at = m->number;
        return c->life == LIFE_WORKS && m->number >= 0 && m->number < c->n;
    case F_RESULT:
        if (c->life != LIFE_WORKS || m->nresults != c->n || c->done)
            return false;
        keep(c, m);
        c->done = true;
        c->doubtful = m->standing != STANDS;
        worker_kill(w);
        return true;
    default:
        return false;
    }
}

static void on_frame(void *arg, struct worker *w, enum frame_kind kind, struct cursor *body)
{
    struct comparing *c = arg;
    struct message m;
    if (message_get(kind, body, c->task->op, &m, NULL) || !take(c, w, &m))
        worker_garbage(w);
    else if (!c->done)
        worker_deadline(w, c->life == LIFE_WORKS ? COMPILE_DEADLINE : SETUP_DEADLINE);
    message_free(&m);
}

static void on_gone(void *arg, struct worker *w, bool deadline, const char *why)
{
    struct comparing *c = arg;
    (void)w;
    c->late = deadline;
    if (!c->done && !c->why[0])
        snprintf(c->why, sizeof c->why, "%.500s", why);
}

static int start(struct comparing *c, uv_loop_t *loop, const char *program, struct err *err)
{
    static const struct worker_events events = { .frame = on_frame, .gone = on_gone };
    struct buf frame = { 0 };
    struct worker *w;
    int rc = worker_start(loop, program, "measure", &events, c, &w, err);
    if (rc)
        return rc;
    size_t begin = frame_begin(&frame, F_SETUP);
    task_put(&frame, c->task);
    frame_end(&frame, begin);
    worker_send(w, &frame);
    worker_deadline(w, SETUP_DEADLINE);
    return 0;
}

/* One worker, to its end. */
static int live(struct comparing *c, const char *program, struct err *err)
{
    uv_loop_t loop;
    int rc = uv_loop_init(&loop);
    if (rc)
        return err_set(err, ERR_IO, "cannot make an event loop: %s", uv_strerror(rc));
    c->life = LIFE_STARTS;
    c->at = -1;
    c->done = c->doubtful = false;
    c->why[0] = 0;
    rc = start(c, &loop, program, err);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return rc;
}

/* Of a worker that did not do what it was to do: the player that was at fault is left out of the next one. */
static int blame(struct comparing *c, struct err *err)
{
    int culprit = c->done ? 0 : c->at;
    while (c->done && culprit < c->n &&
           (c->out[c->which[culprit]].outcome == OUT_OK || c->out[c->which[culprit]].outcome == OUT_INVALID))
        culprit++;
    if (culprit < 0 || culprit >= c->n)
        return err_set(err, ERR_DEVICE, "%s", c->why[0] ? c->why : "the device failed, and no kernel is to blame");
    struct result *r = &c->out[c->which[culprit]];
    if (!c->done) {
        r->outcome = c->late ? OUT_TIMEOUT : OUT_CRASH;
        snprintf(r->reason, sizeof r->reason, "%.255s", c->why);
    }
    memmove(&c->which[culprit], &c->which[culprit + 1], (size_t)(--c->n - culprit) * sizeof *c->which);
    return 0;
}

int tune_compare(const struct task *task, const char *program, const struct bench_candidate *players, int n, int rounds,
                 struct result *out, void (*note)(void *arg, const char *line), void *arg, struct err *err)
{
    struct comparing c = { .task = task, .players = players, .out = out, .n = n, .rounds = rounds, .note = note, .arg = arg };
    char own[4096];
    static const char self[] = "/proc/self/exe";
    program = program ?: access(self, X_OK) && program_path(own, sizeof own) ? own : self;
    for (int i = 0; i < n; i++)
        c.which[i] = i;
    struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
    sigaction(SIGPIPE, &ignore, &before);
    int rc = 0;
    do {
        rc = live(&c, program, err);
        if (!rc && (!c.done || c.doubtful))
            rc = blame(&c, err);
        else
            break;
    } while (!rc && c.n);
    sigaction(SIGPIPE, &before, NULL);
    return rc;
}
