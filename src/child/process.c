#include "child/process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MORE = 500, MOST = 1000 }; /* thousandths of the machine's memory, on top of what a process holds */

static void end_at_once(int number)
{
    _exit(128 + number);
}

void process_begin(void)
{
    static const int ends[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
    signal(SIGCHLD, SIG_DFL);
    signal(SIGALRM, SIG_DFL);
    for (size_t i = 0; getpid() == 1 && i < sizeof ends / sizeof *ends; i++)
        if (signal(ends[i], end_at_once) == SIG_IGN)
            signal(ends[i], SIG_IGN); /* somebody's wish, as nohup's */
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* If the file cannot be written, the kernel goes by size alone, which mostly finds the hungry child too. */
static void be_expendable(void)
{
    int score = 0;
    FILE *f = fopen("/proc/self/oom_score_adj", "r+e");
    if (!f)
        return;
    if (fscanf(f, "%d", &score) == 1) {
        rewind(f);
        fprintf(f, "%d", score + MORE < MOST ? score + MORE : MOST);
    }
    fclose(f);
}

bool process_serve(int fd)
{
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    be_expendable();
    struct pollfd p = { .fd = fd };
    return poll(&p, 1, 0) <= 0 || !(p.revents & (POLLHUP | POLLERR));
}

bool process_ends_with(pid_t parent, int number)
{
    prctl(PR_SET_PDEATHSIG, number);
    return getppid() == parent;
}

int process_null(void)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    return fd >= 0 ? fd : open("/", O_PATH | O_CLOEXEC);
}

/* Counted from what it has: a sanitizer's shadow, for one, is terabytes by itself. */
void process_bound_growth(int64_t bytes)
{
    int64_t pages; /* what RLIMIT_DATA counts */
    struct rlimit limit;
    FILE *f = fopen("/proc/self/statm", "re");
    bool known = f && fscanf(f, "%*s %*s %*s %*s %*s %" SCNd64, &pages) == 1;
    if (f)
        fclose(f);
    if (!known || getrlimit(RLIMIT_DATA, &limit))
        return;
    rlim_t most = (rlim_t)(pages * sysconf(_SC_PAGESIZE) + bytes);
    if (limit.rlim_cur > most) /* RLIM_INFINITY is the largest number */
        limit.rlim_cur = most;
    setrlimit(RLIMIT_DATA, &limit);
}
