#include "worker/worker.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "child/process.h"

enum { ERR_TAIL = 1024, LINGER_MS = 1000, SLICES = 16, AWAY_NS = 100000000 };

struct worker {
    const struct worker_events *events;
    void *arg;
    uv_process_t process;
    uv_pipe_t pipe, errors;
    uv_timer_t timer;
    struct buf in, out;
    char tail[ERR_TAIL]; /* the end of what it wrote to stderr */
    size_t ntail;
    int64_t status;
    int signal;
    int64_t deadline_ms;
    int64_t left_ns, slice_ns; /* until the timer's end, which comes slice by slice */
    uint64_t counted_ns;       /* the clock when a slice was last taken off */
    bool exited, ended, late, garbled, told;
    bool killed, stopped; /* by this process; by another, when its deadline passed */
    int open_handles;
    char room[64 << 10]; /* one read */
};

static void closed(uv_handle_t *h)
{
    struct worker *w = h->data;
    if (--w->open_handles)
        return;
    buf_free(&w->in);
    buf_free(&w->out);
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

static void describe(const struct worker *w, char *why, size_t room)
{
    const char *last = w->tail;
    size_t n = w->ntail;
    while (n && (last[n - 1] == '\n' || last[n - 1] == ' '))
        n--;
    size_t begin = n;
    while (begin && last[begin - 1] != '\n')
        begin--;
    char said[200] = "";
    if (n > begin)
        snprintf(said, sizeof said, ": %.*s", (int)(n - begin) < 180 ? (int)(n - begin) : 180, last + begin);
    if (w->late)
        snprintf(why, room, "past its deadline of %.1f s", (double)w->deadline_ms / 1e3);
    else if (w->garbled)
        snprintf(why, room, "its worker spoke garbage");
    else if (w->signal)
        snprintf(why, room, "its worker was killed by signal %d (%s)%s", w->signal, strsignal(w->signal), said);
    else
        snprintf(why, room, "its worker exited with %lld%s", (long long)w->status, said);
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

/* Whether somebody has stopped the process: its state in /proc, behind the name in parentheses. Not known without /proc. */
static bool is_stopped(int pid)
{
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    const char *state = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    fclose(f);
    return state && state[1] == ' ' && (state[2] == 'T' || state[2] == 't');
}

bool worker_struck(const struct worker *w)
{
    bool ours = w->late || w->garbled || w->killed;
    return w->stopped || w->signal == SIGXCPU || (w->signal == SIGKILL && !ours);
}

/* Only time in which the loop was awake counts. A slice that ends far too late says that it was not: this process was stopped, maybe
 * with all its group, or waited for a disk. What has come meanwhile is read before the next slice ends. */
static void on_timer(uv_timer_t *t)
{
    struct worker *w = t->data;
    uint64_t now = uv_hrtime();
    int64_t passed = (int64_t)(now - w->counted_ns);
    w->counted_ns = now;
    if (passed < w->slice_ns + AWAY_NS)
        w->left_ns -= passed;
    if (w->left_ns > 0)
        return;
    uv_timer_stop(t);
    if (w->exited) {
        finish(w); /* something else holds its stream open */
        return;
    }
    w->late = true;
    w->stopped = is_stopped(w->process.pid);
    uv_process_kill(&w->process, SIGKILL);
}

static void start_timer(struct worker *w, int64_t ms)
{
    uint64_t slice = (uint64_t)ms / SLICES + 1;
    w->left_ns = ms * 1000000;
    w->slice_ns = (int64_t)slice * 1000000;
    w->counted_ns = uv_hrtime();
    uv_update_time(w->timer.loop); /* its idea of now may be old */
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
    uv_process_kill(&w->process, SIGKILL);
    end_of_stream(w);
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
    struct frame f = { 0 };
    do {
        used += f.bytes;
        if (w->in.failed || frame_take(w->in.data + used, w->in.len - used, &f, NULL)) {
            worker_garbage(w);
            return;
        }
        if (f.bytes) {
            if (!w->exited)
                uv_timer_stop(&w->timer);
            w->events->frame(w->arg, w, (enum frame_kind)f.kind, &f.body);
        }
    } while (f.bytes && !w->ended && !w->told);
    if (used) {
        memmove(w->in.data, w->in.data + used, w->in.len - used);
        w->in.len -= used;
    }
}

static void on_error_bytes(uv_stream_t *s, ssize_t n, const uv_buf_t *bytes)
{
    struct worker *w = s->data;
    if (n < 0) {
        uv_read_stop(s);
        return;
    }
    const char *from = bytes->base;
    size_t len = (size_t)n;
    if (len > ERR_TAIL) {
        from += len - ERR_TAIL;
        len = ERR_TAIL;
    }
    size_t keep = w->ntail + len > ERR_TAIL ? ERR_TAIL - len : w->ntail;
    memmove(w->tail, w->tail + w->ntail - keep, keep);
    memcpy(w->tail + keep, from, len);
    w->ntail = keep + len;
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

struct buf *worker_buf(struct worker *w)
{
    return &w->out;
}

struct sending {
    uv_write_t request;
    struct buf bytes;
};

static void sent(uv_write_t *r, int status)
{
    struct sending *s = r->data;
    (void)status; /* the end of the stream tells */
    buf_free(&s->bytes);
    mem_free(s);
}

void worker_send(struct worker *w)
{
    struct sending *s = mem_zalloc(sizeof *s);
    if (!s || w->out.failed) {
        mem_free(s);
        worker_kill(w); /* no memory: as good as gone */
        return;
    }
    s->bytes = w->out;
    w->out = (struct buf){ 0 };
    s->request.data = s;
    uv_buf_t bytes = uv_buf_init(s->bytes.data, (unsigned)s->bytes.len);
    if (uv_write(&s->request, (uv_stream_t *)&w->pipe, &bytes, 1, sent)) {
        buf_free(&s->bytes);
        mem_free(s);
    }
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

void worker_kill(struct worker *w)
{
    if (w->exited)
        return;
    w->killed = true;
    uv_process_kill(&w->process, SIGKILL);
}
