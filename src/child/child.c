#include "child/child.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "child/process.h"

enum { SLICE_MS = 100 };   /* how late a stop may be noticed */
enum { CHILD_SOCKET = 3 }; /* the first descriptor behind the standard files */

/* -- frames -- */

size_t frame_begin(struct buf *out, int kind)
{
    size_t begin = out->len;
    buf_u32(out, 0);
    buf_u8(out, (uint8_t)kind);
    return begin;
}

void frame_end(struct buf *out, size_t begin)
{
    size_t body = out->len - begin - 4;
    if (out->failed || body > FRAME_MAX) {
        out->failed = true;
        return;
    }
    for (int i = 0; i < 4; i++)
        out->data[begin + (size_t)i] = (char)(body >> 8 * i);
}

int frame_take(const char *data, size_t len, struct frame *out, struct err *err)
{
    *out = (struct frame){ 0 };
    if (len < 4)
        return 0;
    struct cursor head = cursor_on(data, 4);
    uint32_t size = get_u32(&head);
    if (size < 1 || size > FRAME_MAX)
        return err_set(err, ERR_CORRUPT, "a frame of %u bytes", size);
    if (len - 4 < size)
        return 0;
    *out = (struct frame){ (unsigned char)data[4], cursor_on(data + 5, size - 1), 4 + (size_t)size };
    return 0;
}

struct patience patience_of(double seconds, const volatile sig_atomic_t *stop)
{
    return (struct patience){ seconds, seconds < 1e9 ? clock_ns() + (int64_t)(seconds * 1e9) : INT64_MAX, stop };
}

static int wait_for(const struct channel *c, short events, const struct patience *p, struct err *err)
{
    for (;;) {
        int64_t left = (p->until - clock_ns()) / 1000000 + 1;
        if (left <= 0 || (p->stop && *p->stop))
            return err_set(err, ERR_TIMEOUT, "no answer within %.3g s", p->seconds);
        struct pollfd ready = { .fd = c->fd, .events = events };
        int n = poll(&ready, 1, left > SLICE_MS ? SLICE_MS : (int)left);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return err_set(err, ERR_IO, "poll: %s", strerror(errno));
    }
}

int channel_send(struct channel *c, const struct patience *p, struct err *err)
{
    int rc = buf_check(&c->out, err);
    for (size_t sent = 0; !rc && sent < c->out.len;) {
        ssize_t n = send(c->fd, c->out.data + sent, c->out.len - sent, MSG_NOSIGNAL | (p ? MSG_DONTWAIT : 0));
        if (n >= 0)
            sent += (size_t)n;
        else if (errno == EAGAIN && p)
            rc = wait_for(c, POLLOUT, p, err);
        else if (errno != EINTR)
            rc = err_set(err, ERR_IO, "the other side is gone: %s", strerror(errno));
    }
    buf_clear(&c->out);
    return rc;
}

/* Some bytes more. */
static int receive(struct channel *c, const struct patience *p, struct err *err)
{
    char part[64 << 10];
    int rc = p ? wait_for(c, POLLIN, p, err) : 0;
    if (rc)
        return rc;
    ssize_t n = recv(c->fd, part, sizeof part, p ? MSG_DONTWAIT : 0);
    if (n < 0 && (errno == EINTR || (errno == EAGAIN && p)))
        return 0;
    if (n <= 0)
        return err_set(err, ERR_IO, "the other side is gone");
    buf_put(&c->in, part, (size_t)n);
    return buf_check(&c->in, err);
}

int channel_next(struct channel *c, const struct patience *p, struct frame *out, struct err *err)
{
    if (c->used) {
        memmove(c->in.data, c->in.data + c->used, c->in.len - c->used);
        c->in.len -= c->used;
        c->used = 0;
    }
    int rc = frame_take(c->in.data, c->in.len, out, err);
    while (!rc && !out->bytes)
        rc = receive(c, p, err) ?: frame_take(c->in.data, c->in.len, out, err);
    c->used = out->bytes;
    return rc;
}

void channel_close(struct channel *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    buf_free(&c->in);
    buf_free(&c->out);
}

/* -- a child -- */

/* Leaves the child nothing of its parent but memory, its socket and the standard files. */
static void become_child(int socket, int parents, int cpu_s)
{
    const struct rlimit cpu = { (rlim_t)cpu_s, (rlim_t)cpu_s + 1 }, core = { 0, 0 };
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);
    process_begin();
    close(parents);
    if (!process_serve(socket) || dup2(socket, CHILD_SOCKET) < 0)
        _exit(1);
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_CORE, &core);
    close_range(CHILD_SOCKET + 1, ~0U, 0);
}

/* In place of all that is in `out`. */
static void failed_put(struct buf *out, const struct err *why)
{
    buf_free(out); /* there may be little memory for the words */
    size_t f = frame_begin(out, FRAME_FAILED);
    buf_i64(out, why->code);
    buf_lstr(out, why->msg);
    frame_end(out, f);
}

int forked_start(int cpu_s, int (*live)(struct channel *c, void *arg, struct err *err), void *arg, struct forked *out,
                 struct err *err)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
        return err_set(err, ERR_IO, "no socket pair: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        struct channel c = { .fd = CHILD_SOCKET };
        struct err why = { 0 };
        become_child(fds[1], fds[0], cpu_s);
        if (live(&c, arg, &why)) {
            failed_put(&c.out, &why);
            channel_send(&c, NULL, NULL);
        }
        _exit(0);
    }
    int why = errno;
    close(fds[1]);
    if (pid < 0) {
        close(fds[0]);
        return err_set(err, ERR_IO, "no process: %s", strerror(why));
    }
    *out = (struct forked){ .channel.fd = fds[0], .pid = pid, .cpu_s = cpu_s };
    return 0;
}

/* A kill changes nothing if it had ended by itself. */
static void end(struct forked *f)
{
    if (!f->pid)
        return;
    kill(f->pid, SIGKILL);
    while (waitpid(f->pid, &f->status, 0) < 0 && errno == EINTR)
        continue;
    f->pid = 0;
}

void forked_close(struct forked *f)
{
    end(f);
    channel_close(&f->channel);
}

int forked_failed(struct forked *f, int rc, struct err *err)
{
    end(f);
    int number = WIFSIGNALED(f->status) ? WTERMSIG(f->status) : 0;
    if (rc == ERR_CORRUPT)
        err_set(err, rc, "its process sent what is no answer");
    else if (rc == ERR_IO && number == SIGXCPU)
        rc = err_set(err, ERR_TIMEOUT, "its process has used more than %d s of processor time", f->cpu_s);
    else if (rc == ERR_IO && number)
        err_set(err, rc, "its process ended with signal %d (%s)", number, strsignal(number));
    else if (rc == ERR_IO)
        err_set(err, rc, "its process has ended without a word (exit code %d)", WEXITSTATUS(f->status));
    if (f->who)
        err_prefix(err, "%s: ", f->who);
    return rc;
}

int forked_next(struct forked *f, const struct patience *p, struct frame *out, struct err *err)
{
    size_t n;
    int rc = channel_next(&f->channel, p, out, err);
    if (rc)
        return forked_failed(f, rc, err);
    if (out->kind != FRAME_FAILED)
        return 0;
    int64_t code = get_i64(&out->body);
    const char *text = get_lstr(&out->body, &n);
    if (!text || code >= 0 || code < ERR_CORRUPT)
        return forked_failed(f, ERR_CORRUPT, err);
    end(f);
    return err_set(err, (int)code, "%.*s", (int)n, text);
}

/* -- one question, one answer -- */

enum { FRAME_ANSWER = FRAME_FAILED + 1 };

struct child_work {
    int (*work)(void *arg, struct buf *answer, struct err *err);
    void *arg;
};

static int do_job(struct channel *c, void *arg, struct err *err)
{
    const struct child_work *job = arg;
    size_t f = frame_begin(&c->out, FRAME_ANSWER);
    int rc = job->work(job->arg, &c->out, err);
    frame_end(&c->out, f);
    return rc ?: channel_send(c, NULL, err);
}

int child_run(int cpu_s, double seconds, int (*work)(void *arg, struct buf *answer, struct err *err), void *arg, struct buf *answer,
              struct err *err)
{
    struct forked f;
    struct frame frame;
    struct child_work job = { work, arg };
    const struct patience p = patience_of(seconds, NULL);
    int rc = forked_start(cpu_s, do_job, &job, &f, err);
    if (rc)
        return rc;
    rc = forked_next(&f, &p, &frame, err);
    if (!rc && frame.kind != FRAME_ANSWER)
        rc = forked_failed(&f, ERR_CORRUPT, err);
    if (!rc)
        buf_put(answer, frame.body.at, (size_t)(frame.body.end - frame.body.at));
    forked_close(&f);
    return rc ?: buf_check(answer, err);
}
