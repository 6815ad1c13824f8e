/* The parent's side of a search: starts the child, asks, and believes nothing that comes back. */
#include "search/search.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/process.h"
#include "base/util.h"
#include "search/child.h"

enum { DEADLINE_S = 10, SLICE_MS = 100, MAX_SCRIPT = 1 << 20, CPU_SECONDS = 3600 };

struct search {
    pid_t pid; /* 0: ended, or never ours */
    bool ended, done;
    int status; /* how it ended */
    int fd;
    char *file;
    int64_t count;     /* configurations of the space */
    int asked;         /* the k of the question that is not answered yet, or 0 */
    struct buf told;   /* messages kept until the next question: a child that thinks does not read */
    struct buf answer; /* the last message that came in */
};

/* -- the child -- */

/* Leaves the child nothing of the parent but memory, its socket (as 3), and stderr. */
static void become_child(int socket, int parents)
{
    process_reset_signals();
    close(parents);
    if (!process_tie(socket))
        _exit(0);
    process_expendable();
    const struct rlimit cpu = { CPU_SECONDS, CPU_SECONDS }, core = { 0, 0 };
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_CORE, &core);
    if (dup2(socket, 3) < 0)
        _exit(1);
    close_range(4, ~0U, 0);
}

/* Forks a child that runs the strategy; *fd is the parent's end of its socket. */
static int start_child(const struct strategy *strategy, pid_t *child, int *fd, struct err *err)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
        return err_set(err, ERR_IO, "strategy %s: no socket pair: %s", strategy->file, strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        become_child(fds[1], fds[0]);
        child_main(3, strategy);
    }
    int why = errno;
    close(fds[1]);
    if (pid < 0) {
        close(fds[0]);
        return err_set(err, ERR_IO, "strategy %s: no process: %s", strategy->file, strerror(why));
    }
    *child = pid;
    *fd = fds[0];
    return 0;
}

/* How it ended; a kill changes nothing where it had ended by itself. */
static int kill_and_wait(pid_t pid)
{
    int status = 0;
    if (pid > 0) {
        kill(pid, SIGKILL);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            continue;
    }
    return status;
}

static void end_child(struct search *s)
{
    if (!s->ended)
        s->status = kill_and_wait(s->pid);
    s->ended = true;
    s->pid = 0;
}

static int gone(struct search *s, struct err *err)
{
    end_child(s);
    int number = WIFSIGNALED(s->status) ? WTERMSIG(s->status) : 0;
    if (number == SIGXCPU)
        return err_set(err, ERR_TIMEOUT, "strategy %s: its process has used more than %d s of processor time", s->file,
                       CPU_SECONDS);
    if (number)
        return err_set(err, ERR_IO, "strategy %s: its process ended with signal %d (%s)", s->file, number, strsignal(number));
    return err_set(err, ERR_IO, "strategy %s: its process has ended without a word (exit code %d)", s->file,
                   WEXITSTATUS(s->status));
}

static int broken(struct search *s, struct err *err)
{
    end_child(s);
    return err_set(err, ERR_CORRUPT, "strategy %s: its process sent what is no answer", s->file);
}

/* -- messages -- */

/* How long to wait for the child. */
struct patience {
    double seconds;
    int64_t deadline;
    const volatile sig_atomic_t *stop; /* may be null */
};

static struct patience patience(const struct space_bounds *bounds)
{
    struct patience p = { .seconds = DEADLINE_S };
    if (bounds && bounds->seconds < p.seconds)
        p.seconds = bounds->seconds;
    if (bounds)
        p.stop = bounds->stop;
    p.deadline = clock_ns() + (int64_t)(p.seconds * 1e9);
    return p;
}

/* Waits for the socket; fails at the deadline, which ends the child. */
static int wait_for(struct search *s, short events, const struct patience *patience, struct err *err)
{
    for (;;) {
        int64_t left = (patience->deadline - clock_ns()) / 1000000 + 1;
        bool late = left <= 0 || (patience->stop && *patience->stop);
        struct pollfd p = { .fd = s->fd, .events = events };
        int n = late ? 0 : poll(&p, 1, left > SLICE_MS ? SLICE_MS : (int)left);
        if (n > 0)
            return 0;
        if (late) {
            end_child(s);
            return err_set(err, ERR_TIMEOUT, "strategy %s: no answer within %.3g s", s->file, patience->seconds);
        }
        if (n < 0 && errno != EINTR)
            return err_set(err, ERR_IO, "strategy %s: %s", s->file, strerror(errno));
    }
}

static int send_all(struct search *s, const struct buf *b, struct err *err)
{
    const struct patience p = patience(NULL);
    for (size_t sent = 0; sent < b->len;) {
        ssize_t n = send(s->fd, b->data + sent, b->len - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0) {
            sent += (size_t)n;
        } else if (errno == EAGAIN) {
            int rc = wait_for(s, POLLOUT, &p, err);
            if (rc)
                return rc;
        } else if (errno != EINTR) {
            return gone(s, err);
        }
    }
    return 0;
}

/* n bytes more at the end of s->answer. */
static int receive(struct search *s, size_t n, const struct patience *p, struct err *err)
{
    char part[4096];
    while (n) {
        int rc = wait_for(s, POLLIN, p, err);
        if (rc)
            return rc;
        ssize_t got = recv(s->fd, part, n < sizeof part ? n : sizeof part, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return gone(s, err);
        if (got < 0)
            continue;
        buf_put(&s->answer, part, (size_t)got);
        n -= (size_t)got;
    }
    return s->answer.failed ? err_nomem(err) : 0;
}

/* The next message; *body is behind its kind. An ERROR fails with its text. */
static int receive_message(struct search *s, const struct patience *p, enum message *kind, struct cursor *body, struct err *err)
{
    buf_clear(&s->answer);
    int rc = receive(s, 4, p, err);
    if (rc)
        return rc;
    struct cursor head = cursor_on(s->answer.data, 4);
    uint32_t len = get_u32(&head);
    if (len == 0 || len > MAX_MESSAGE)
        return broken(s, err);
    rc = receive(s, len, p, err);
    if (rc)
        return rc;
    *body = cursor_on(s->answer.data + 4, len);
    *kind = get_u8(body);
    if (*kind == WIRE_ERROR) {
        size_t n;
        bool memory = get_u8(body);
        const char *text = get_lstr(body, &n);
        if (!text || body->bad)
            return broken(s, err);
        end_child(s);
        return err_set(err, memory ? ERR_NOMEM : ERR_INVALID, "%.*s", (int)n, text);
    }
    return 0;
}

/* -- the interface -- */

static int find_strategy(const char *home, const char *strategy, struct buf *file, struct err *err)
{
    size_t n = strlen(strategy);
    if (strchr(strategy, '/') || (n > 4 && strcmp(strategy + n - 4, ".lua") == 0))
        buf_str(file, strategy);
    else if (name_ok(strategy))
        buf_fmt(file, "%s/tuner/search/%s.lua", home, strategy);
    else
        return err_set(err, ERR_INVALID, "'%.64s' is no strategy: a name such as random, or a file that ends in .lua", strategy);
    return file->failed ? err_nomem(err) : 0;
}

int search_adopt(const char *file, pid_t pid, int fd, int64_t count, const struct space_bounds *bounds, struct search **out,
                 struct err *err)
{
    const struct patience p = patience(bounds);
    enum message kind;
    struct cursor body;
    struct search *s = mem_zalloc(sizeof *s);
    char *name = mem_strdup(file);
    if (!s || !name) {
        mem_free(s);
        mem_free(name);
        kill_and_wait(pid);
        close(fd);
        return err_nomem(err);
    }
    *s = (struct search){ .pid = pid, .fd = fd, .file = name, .count = count };
    int rc = receive_message(s, &p, &kind, &body, err);
    if (rc == ERR_TIMEOUT)
        err_prefix(err, "loading it: ");
    if (!rc && kind != WIRE_READY)
        rc = broken(s, err);
    if (rc) {
        search_close(s);
        return rc;
    }
    *out = s;
    return 0;
}

int search_open_within(const char *home, const char *strategy, const struct space *space, uint64_t seed,
                       const struct space_bounds *bounds, struct search **out, struct err *err)
{
    struct buf file = { 0 }, script = { 0 };
    pid_t pid = 0;
    int fd = -1;
    int rc = find_strategy(home, strategy, &file, err);
    if (rc)
        goto out;
    rc = file_read(buf_text(&file), MAX_SCRIPT, &script, err);
    if (rc) {
        err_prefix(err, "strategy %s: ", strategy);
        goto out;
    }
    const struct strategy what = {
        .file = buf_text(&file),
        .script = buf_text(&script),
        .script_len = script.len,
        .space = space,
        .seed = seed,
    };
    rc = start_child(&what, &pid, &fd, err);
    if (rc == 0)
        rc = search_adopt(what.file, pid, fd, space_count(space), bounds, out, err);
out:
    buf_free(&script);
    buf_free(&file);
    return rc;
}

int search_open(const char *home, const char *strategy, const struct space *space, uint64_t seed, struct search **out,
                struct err *err)
{
    return search_open_within(home, strategy, space, seed, NULL, out, err);
}

void search_close(struct search *s)
{
    if (!s)
        return;
    end_child(s);
    if (s->fd >= 0)
        close(s->fd);
    buf_free(&s->told);
    buf_free(&s->answer);
    mem_free(s->file);
    mem_free(s);
}

int search_fd(const struct search *s)
{
    return s->fd;
}

int search_ask(struct search *s, int k, struct err *err)
{
    if (k < 1 || k > MAX_ASK || s->asked)
        return err_set(err, ERR_INVALID, "strategy %s: a question for %d configurations: 1 to %d, one question at a time", s->file,
                       k, MAX_ASK);
    if (s->ended)
        return gone(s, err);
    if (s->done)
        return err_set(err, ERR_INVALID, "strategy %s: asked again, though it was done", s->file);
    buf_u32(&s->told, 5);
    buf_u8(&s->told, WIRE_ASK);
    buf_u32(&s->told, (uint32_t)k);
    if (s->told.failed)
        return err_nomem(err);
    int rc = send_all(s, &s->told, err);
    buf_clear(&s->told);
    if (rc == 0)
        s->asked = k;
    return rc;
}

/* Whether the child is gone, though nothing is waited for from it. */
static bool at_end(const struct search *s)
{
    char byte;
    ssize_t n = s->ended ? 0 : recv(s->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

int search_answer(struct search *s, int64_t *index, int *n, struct err *err)
{
    struct cursor body;
    int k = s->asked;
    *n = 0;
    if (!k)
        return at_end(s) ? gone(s, err) : err_set(err, ERR_INVALID, "strategy %s: an answer without a question", s->file);
    s->asked = 0;
    const struct patience p = patience(NULL);
    enum message kind;
    int rc = receive_message(s, &p, &kind, &body, err);
    if (rc)
        return rc;
    if (kind == WIRE_DONE && body.at == body.end) {
        s->done = true;
        return 0;
    }
    uint32_t count = get_u32(&body);
    if (kind != WIRE_INDICES || body.bad || count > (uint32_t)k || (size_t)(body.end - body.at) != 8 * (size_t)count)
        return broken(s, err);
    for (uint32_t i = 0; i < count; i++) {
        index[i] = get_i64(&body);
        if (index[i] < 0 || index[i] >= s->count)
            return broken(s, err); /* its own side has checked that already */
    }
    *n = (int)count;
    return 0;
}

bool search_done(const struct search *s)
{
    return s->done;
}

const char *search_file(const struct search *s)
{
    return s->file;
}

int search_tell(struct search *s, int64_t index, enum outcome outcome, double time_ns, struct err *err)
{
    buf_u32(&s->told, 18);
    buf_u8(&s->told, WIRE_TELL);
    buf_i64(&s->told, index);
    buf_u8(&s->told, (uint8_t)outcome);
    buf_f64(&s->told, time_ns);
    return s->told.failed ? err_nomem(err) : 0;
}
