#include "worker/worker.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "child/process.h"

enum { ERR_TAIL = 1024, LINGER_MS = 1000, SLICES = 16, AWAY_MS = 100 };

struct worker {
    const struct worker_events *events;
    void *arg;
    uv_process_t process;
    uv_pipe_t pipe, errors;
    uv_timer_t timer;
    struct buf in;
    struct buf said; /* the end of what it wrote to stderr */
    int64_t status;
    int signal;
    int64_t deadline_ms;
    int slices;         /* of the deadline that are over */
    uint64_t ticked_ms; /* the loop's time when the last one ended */
    bool exited, ended, late, garbled, told;
    bool killed;  /* by this process */
    bool stopped; /* by another, when its deadline passed */
    int open_handles;
    char room[64 << 10]; /* one read */
};

static void closed(uv_handle_t *h)
{
    struct worker *w = h->data;
    if (--w->open_handles)
        return;
    buf_free(&w->in);
    buf_free(&w->said);
    mem_free(w);
}

static void close_all(struct worker *w)
{
    uv_handle_t *const handles[] = { (uv_handle_t *)&w->process, (uv_handle_t *)&w->pipe, (uv_handle_t *)&w->errors,
                                     (uv_handle_t *)&w->timer };
    w->open_handles = 4;
    for (int i = 0; i < 4; i++)
        uv_close(handles[i], closed);
}

static void describe(struct worker *w, char *why, size_t room)
{
    struct buf *said = &w->said;
    while (said->len && strchr("\n ", said->data[said->len - 1]))
        said->data[--said->len] = 0;
    const char *line = strrchr(buf_text(said), '\n'), *last = line ? line + 1 : buf_text(said), *colon = *last ? ": " : "";
    if (w->late)
        snprintf(why, room, "past its deadline of %.1f s", (double)w->deadline_ms / 1e3);
    else if (w->garbled)
        snprintf(why, room, "its worker spoke garbage");
    else if (w->signal)
        snprintf(why, room, "its worker was killed by signal %d (%s)%s%.180s", w->signal, strsignal(w->signal), colon, last);
    else
        snprintf(why, room, "its worker exited with %lld%s%.180s", (long long)w->status, colon, last);
}

/* The end needs both: the process is waited for, and its stream is read to the end, since its last words are there. */
static void finish(struct worker *w)
{
    if (w->told)
        return;
    w->told = true;
    char why[512];
    describe(w, why, sizeof why);
    close_all(w);
    w->events->gone(w->arg, w, w->late, why);
}

/* Whether somebody has stopped the process. */
static bool is_stopped(int pid)
{
    siginfo_t info = { 0 };
    return !waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | WNOWAIT) && info.si_pid == pid;
}

bool worker_struck(const struct worker *w)
{
    return w->stopped || w->signal == SIGXCPU || (w->signal == SIGKILL && !w->killed);
}

void worker_kill(struct worker *w)
{
    if (w->exited)
        return;
    w->killed = true;
    uv_process_kill(&w->process, SIGKILL);
}

/* Only time in which the loop was awake counts. If a slice ends far too late, this process was stopped, maybe with all its group, or waited
 * for a disk, and the slice does not count. What has come meanwhile is read before the next slice ends. */
static void on_timer(uv_timer_t *t)
{
    struct worker *w = t->data;
    uint64_t now = uv_now(t->loop), passed = now - w->ticked_ms;
    w->ticked_ms = now;
    w->slices += passed < uv_timer_get_repeat(t) + AWAY_MS;
    if (w->slices < SLICES)
        return;
    uv_timer_stop(t);
    if (w->exited) {
        finish(w); /* something else holds its stream open */
        return;
    }
    w->late = true;
    w->stopped = is_stopped(w->process.pid);
    worker_kill(w);
}

static void start_timer(struct worker *w, int64_t ms)
{
    uint64_t slice = (uint64_t)ms / SLICES + 1;
    w->slices = 0;
    uv_update_time(w->timer.loop); /* its idea of now may be old */
    w->ticked_ms = uv_now(w->timer.loop);
    uv_timer_start(&w->timer, on_timer, slice, slice);
}

static void on_exit_of(uv_process_t *p, int64_t status, int signal)
{
    struct worker *w = p->data;
    w->exited = true;
    w->status = status;
    w->signal = signal;
    if (w->ended)
        finish(w);
    else
        start_timer(w, LINGER_MS);
}

static void on_alloc(uv_handle_t *h, size_t size, uv_buf_t *out)
{
    struct worker *w = h->data;
    (void)size;
    *out = uv_buf_init(w->room, sizeof w->room);
}

static void end_of_stream(struct worker *w)
{
    w->ended = true;
    uv_read_stop((uv_stream_t *)&w->pipe);
    if (w->exited)
        finish(w);
}

void worker_garbage(struct worker *w)
{
    w->garbled = true;
    worker_kill(w);
    end_of_stream(w);
}

static void drop_front(struct buf *b, size_t n)
{
    b->len -= n;
    if (n)
        memmove(b->data, b->data + n, b->len + 1); /* and the zero byte */
}

static void on_frame_bytes(uv_stream_t *s, ssize_t n, const uv_buf_t *bytes)
{
    struct worker *w = s->data;
    if (n < 0) {
        end_of_stream(w);
        return;
    }
    buf_put(&w->in, bytes->base, (size_t)n);
    size_t used = 0;
    for (struct frame f; !w->ended; used += f.bytes) {
        if (w->in.failed || frame_take(w->in.data + used, w->in.len - used, &f, NULL)) {
            worker_garbage(w);
            return;
        }
        if (!f.bytes)
            break;
        if (!w->exited)
            uv_timer_stop(&w->timer);
        w->events->frame(w->arg, w, (enum frame_kind)f.kind, &f.body);
    }
    drop_front(&w->in, used);
}

static void on_error_bytes(uv_stream_t *s, ssize_t n, const uv_buf_t *bytes)
{
    struct worker *w = s->data;
    if (n < 0) {
        uv_read_stop(s);
        return;
    }
    buf_put(&w->said, bytes->base, (size_t)n);
    if (w->said.len > ERR_TAIL)
        drop_front(&w->said, w->said.len - ERR_TAIL);
}

int worker_start(uv_loop_t *loop, const char *program, const char *kind, const struct worker_events *events, void *arg,
                 struct worker **out, struct err *err)
{
    struct worker *w = mem_zalloc(sizeof *w);
    if (!w)
        return err_nomem(err);
    w->events = events;
    w->arg = arg;
    uv_pipe_init(loop, &w->pipe, 0);
    uv_pipe_init(loop, &w->errors, 0);
    uv_timer_init(loop, &w->timer);
    w->process.data = w->pipe.data = w->errors.data = w->timer.data = w;
    char *args[] = { (char *)program, "worker", (char *)kind, NULL };
    int null = process_null(); /* not UV_IGNORE, which needs a /dev */
    uv_stdio_container_t stdio[4] = {
        { .flags = UV_INHERIT_FD, .data.fd = null },
        { .flags = UV_INHERIT_FD, .data.fd = null },
        { .flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&w->errors },
        { .flags = UV_CREATE_PIPE | UV_READABLE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&w->pipe },
    };
    uv_process_options_t options = { .file = program, .args = args, .stdio = stdio, .stdio_count = 4, .exit_cb = on_exit_of };
    int rc = null < 0 ? UV_EMFILE : uv_spawn(loop, &w->process, &options);
    if (null >= 0)
        close(null);
    if (rc) {
        err_set(err, ERR_IO, "cannot start %s worker %s: %s", program, kind, uv_strerror(rc));
        close_all(w);
        return ERR_IO;
    }
    uv_read_start((uv_stream_t *)&w->pipe, on_alloc, on_frame_bytes);
    uv_read_start((uv_stream_t *)&w->errors, on_alloc, on_error_bytes);
    *out = w;
    return 0;
}

static void sent(uv_write_t *request, int status)
{
    (void)status; /* the end of the stream tells */
    buf_free(&(struct buf){ .data = request->data });
    mem_free(request);
}

void worker_send(struct worker *w, struct buf *frames)
{
    uv_write_t *request = frames->failed ? NULL : mem_zalloc(sizeof *request);
    if (!request) {
        buf_free(frames);
        worker_kill(w); /* no memory: as good as gone */
        return;
    }
    request->data = frames->data;
    uv_buf_t bytes = uv_buf_init(frames->data, (unsigned)frames->len);
    if (uv_write(request, (uv_stream_t *)&w->pipe, &bytes, 1, sent))
        sent(request, 0);
}

void worker_deadline(struct worker *w, int64_t ms)
{
    if (w->exited)
        return;
    w->deadline_ms = ms;
    if (ms)
        start_timer(w, ms);
    else
        uv_timer_stop(&w->timer);
}
