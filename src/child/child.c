#include "child/child.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child/process.h"

enum { CHILD_SOCKET = 3 }; /* the first descriptor behind the standard files */

/* Leaves the child nothing of its parent but memory, its socket and the standard files. */
static void become_child(int socket, int parents, int cpu_s)
{
    const struct rlimit cpu = { (rlim_t)cpu_s, (rlim_t)cpu_s + 1 }, core = { 0, 0 };
    process_reset_signals();
    close(parents);
    if (!process_serve(socket) || dup2(socket, CHILD_SOCKET) < 0)
        _exit(1);
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_CORE, &core);
    close_range(CHILD_SOCKET + 1, ~0U, 0);
}

int forked_start(int cpu_s, void (*live)(struct channel *c, void *arg), void *arg, struct forked *out, struct err *err)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
        return err_set(err, ERR_IO, "no socket pair: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        become_child(fds[1], fds[0], cpu_s);
        live(&(struct channel){ .fd = CHILD_SOCKET }, arg);
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
    f->ended = true;
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

/* Puts the child's name in front of the message of rc. */
static int named(const struct forked *f, int rc, struct err *err)
{
    if (f->who)
        err_prefix(err, "%s: ", f->who);
    return rc;
}

int forked_gone(struct forked *f, struct err *err)
{
    end(f);
    int number = WIFSIGNALED(f->status) ? WTERMSIG(f->status) : 0, rc;
    if (number == SIGXCPU)
        rc = err_set(err, ERR_TIMEOUT, "its process has used more than %d s of processor time", f->cpu_s);
    else if (number)
        rc = err_set(err, ERR_IO, "its process ended with signal %d (%s)", number, strsignal(number));
    else
        rc = err_set(err, ERR_IO, "its process has ended without a word (exit code %d)", WEXITSTATUS(f->status));
    return named(f, rc, err);
}

int forked_broken(struct forked *f, struct err *err)
{
    end(f);
    return named(f, err_set(err, ERR_CORRUPT, "its process sent what is no answer"), err);
}

static int told(struct forked *f, int rc, struct err *err)
{
    if (rc == ERR_IO)
        return forked_gone(f, err);
    if (rc == ERR_CORRUPT)
        return forked_broken(f, err);
    if (rc)
        end(f);
    return rc ? named(f, rc, err) : 0;
}

int forked_send(struct forked *f, const struct patience *p, struct err *err)
{
    return told(f, channel_send(&f->channel, p, err), err);
}

int forked_next(struct forked *f, const struct patience *p, struct frame *out, struct err *err)
{
    int rc = told(f, channel_next(&f->channel, p, out, err), err);
    if (rc || out->kind != FRAME_FAILED)
        return rc;
    size_t n;
    int64_t code = get_i64(&out->body);
    const char *text = get_lstr(&out->body, &n);
    if (!text || code >= 0 || code < ERR_CORRUPT)
        return forked_broken(f, err);
    end(f);
    return err_set(err, (int)code, "%.*s", (int)n, text);
}

void failed_put(struct buf *out, const struct err *why)
{
    buf_free(out); /* there may be little memory for the words */
    size_t f = frame_begin(out, FRAME_FAILED);
    buf_i64(out, why->code);
    buf_lstr(out, why->msg);
    frame_end(out, f);
}

/* -- one question, one answer -- */

enum { FRAME_ANSWER = FRAME_FAILED + 1 };

struct child_work {
    int (*work)(void *arg, struct buf *answer, struct err *err);
    void *arg;
};

static void do_job(struct channel *c, void *arg)
{
    const struct child_work *job = arg;
    struct err err = { 0 };
    size_t f = frame_begin(&c->out, FRAME_ANSWER);
    int rc = job->work(job->arg, &c->out, &err);
    frame_end(&c->out, f);
    if (rc || buf_check(&c->out, &err))
        failed_put(&c->out, &err);
    channel_send(c, NULL, NULL);
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
        rc = forked_broken(&f, err);
    if (!rc)
        buf_put(answer, frame.body.at, (size_t)(frame.body.end - frame.body.at));
    forked_close(&f);
    return rc ?: buf_check(answer, err);
}
