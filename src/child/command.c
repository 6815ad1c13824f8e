/* A process stands between this one and the command. It does nothing but wait, for the end of the command or of this process, and then kills
 * what is left of the command's group, and what left that: so nothing outlives a worker that is killed itself. */
#include "child/command.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/util.h"
#include "child/process.h"

enum { LIFE = 3, REPORT = 4, FIRST_OTHER = 5 }; /* the descriptors of the process between */
enum { STEP_MS = 20, ALIVE_MS = 500, TAIL = 4096, DRAIN = 256, ROUNDS = 1000 };

static _Noreturn void become_command(const char *const *argv)
{
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(LIFE);
    close(REPORT);
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

/* Where `from` are life, report and out, which become the descriptors of those numbers. */
static void take_places(const int from[3])
{
    int high[3], null = process_null();
    for (int i = 0; i < 3; i++)
        high[i] = fcntl(from[i], F_DUPFD, FIRST_OTHER + 3);
    dup2(null, STDIN_FILENO);
    dup2(high[0], LIFE);
    dup2(high[1], REPORT);
    dup2(high[2], STDOUT_FILENO);
    dup2(high[2], STDERR_FILENO);
    close_range(FIRST_OTHER, ~0U, 0);
}

/* Whether the command has ended; that is left to be waited for. What else has ended by now is not. */
static bool has_ended(pid_t pid)
{
    siginfo_t info = { 0 };
    while (!waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid && info.si_pid != pid) {
        waitpid(info.si_pid, NULL, WNOHANG);
        info.si_pid = 0;
    }
    return info.si_pid == pid;
}

/* Nobody else waits for them, so their numbers stay theirs. */
static void kill_children(void)
{
    DIR *all = opendir("/proc");
    for (struct dirent *d; all && (d = readdir(all));) {
        char path[sizeof d->d_name + 16], line[512] = "";
        const int pid = atoi(d->d_name);
        int parent = 0;
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
        FILE *f = pid > 0 ? fopen(path, "re") : NULL;
        if (f && fgets(line, sizeof line, f) && strrchr(line, ')') && sscanf(strrchr(line, ')'), ") %*c %d", &parent) == 1 &&
            parent == getpid())
            kill(pid, SIGKILL);
        if (f)
            fclose(f);
    }
    if (all)
        closedir(all);
}

/* What left the command's group became a child of this process when its parent ended. To be found it takes a /proc of ours. */
static void end_rest(void)
{
    char self[16] = "";
    pid_t ended = 0;
    bool ours = readlink("/proc/self", self, sizeof self - 1) > 0 && atoi(self) == getpid();
    for (int round = 0; ours && round < ROUNDS; round++) { /* more than one: their children come after them */
        while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
            continue;
        if (ended < 0)
            return;
        kill_children();
        poll(NULL, 0, 1);
    }
}

static _Noreturn void stand_between(const char *const *argv, const int from[3])
{
    int status = 0;
    take_places(from);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t pid = fork();
    if (pid == 0)
        become_command(argv);
    if (pid < 0)
        _exit(1);
    setpgid(pid, pid);
    for (;;) {
        struct pollfd life = { .fd = LIFE, .events = POLLIN };
        bool over = poll(&life, 1, STEP_MS) > 0; /* nothing is ever said on it: its other end is closed */
        bool ended = has_ended(pid);
        if (!over && !ended)
            continue;
        kill(-pid, SIGKILL); /* before it is waited for: until then the group is there */
        waitpid(pid, &status, 0);
        if (ended)
            write_all(REPORT, &status, sizeof status);
        end_rest();
        _exit(0);
    }
}

/* The end of what it prints is kept. False: nothing more will come. */
static bool listen_to(int fd, struct buf *said)
{
    char part[4096];
    ssize_t n = read(fd, part, sizeof part);
    if (n > 0)
        buf_put(said, part, (size_t)n);
    if (said->len > 2 * TAIL) {
        memmove(said->data, said->data + said->len - TAIL, TAIL);
        said->len = TAIL;
    }
    return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

static int tell(int status, struct buf *said, struct err *err)
{
    if (WIFEXITED(status) && !WEXITSTATUS(status))
        return 0;
    while (said->len && strchr("\n ", said->data[said->len - 1]))
        said->data[--said->len] = 0;
    char line[200], how[80];
    const char *last = strrchr(buf_text(said), '\n');
    snprintf(line, sizeof line, "%s", last ? last + 1 : buf_text(said));
    err_line(line);
    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "it was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(how, sizeof how, "it ended with exit code %d", WEXITSTATUS(status));
    return err_set(err, ERR_INVALID, "%s%s%s", how, *line ? ": " : "", line);
}

static int wait_for_end(const struct command_line *c, int report, int out, int *status, struct buf *said, struct err *err)
{
    int64_t end = clock_ns() + (int64_t)(c->seconds * 1e9), told = clock_ns();
    bool speaks = true;
    for (;;) {
        struct pollfd fds[] = { { .fd = report, .events = POLLIN }, { .fd = speaks ? out : -1, .events = POLLIN } };
        poll(fds, 2, 5 * STEP_MS);
        if (fds[1].revents)
            speaks = listen_to(out, said);
        if (fds[0].revents) {
            bool known = read(report, status, sizeof *status) == sizeof *status;
            for (int left = DRAIN; left > 0 && speaks && poll(&fds[1], 1, 0) > 0; left--) /* what is left of it may write on */
                speaks = listen_to(out, said);
            return known ? 0 : err_set(err, ERR_IO, "no process for it");
        }
        int64_t now = clock_ns();
        if (now > end)
            return err_set(err, ERR_TIMEOUT, "it did not end within %.3g s", c->seconds);
        if (c->alive && now - told > (int64_t)ALIVE_MS * 1000000) {
            c->alive(c->arg);
            told = now;
        }
    }
}

int command_run(const struct command_line *c, struct err *err)
{
    int life[2] = { -1, -1 }, report[2] = { -1, -1 }, out[2] = { -1, -1 }, status = 0;
    struct buf said = { 0 };
    pid_t pid = -1;
    if (!pipe2(life, O_CLOEXEC) && !pipe2(report, O_CLOEXEC) && !pipe2(out, O_CLOEXEC))
        pid = fork();
    if (pid == 0)
        stand_between(c->argv, (const int[]){ life[0], report[1], out[1] });
    int rc = pid < 0 ? err_set(err, ERR_IO, "no process: %s", strerror(errno)) : 0;
    const int theirs[] = { life[0], report[1], out[1] }, ours[] = { life[1], report[0], out[0] };
    for (int i = 0; i < 3; i++)
        if (theirs[i] >= 0)
            close(theirs[i]);
    if (!rc && !(rc = wait_for_end(c, report[0], out[0], &status, &said, err)))
        rc = tell(status, &said, err);
    for (int i = 0; i < 3; i++)
        if (ours[i] >= 0)
            close(ours[i]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    buf_free(&said);
    return rc;
}
