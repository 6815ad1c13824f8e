/* A preloaded library that makes the machine fail. CUTUNE_SHIM says how:
 *   no-locks     no file can be locked, as on NFS without its lock daemon
 *   lying-locks  every lock succeeds, but none has an effect
 *   lost-locks   a file named .lock is removed whenever it is locked
 *   late-file    a database is made right after the process has found that it is not there
 *   clock        the time of day goes back by an hour at each call */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int fcntl(int fd, int command, ...);
int fcntl64(int fd, int command, ...);

static bool asked_for(const char *fault)
{
    const char *word = getenv("CUTUNE_SHIM");
    return word && !strcmp(word, fault);
}

static int shimmed(int fd, int command, void *arg)
{
    bool locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
    if (locks && asked_for("no-locks")) {
        errno = ENOLCK;
        return -1;
    }
    if (locks && asked_for("lying-locks"))
        return 0;
    int (*real)(int, int, ...) = (int (*)(int, int, ...))dlsym(RTLD_NEXT, "fcntl64");
    return real(fd, command, arg);
}

int fcntl(int fd, int command, ...)
{
    va_list ap;
    va_start(ap, command);
    void *arg = va_arg(ap, void *);
    va_end(ap);
    return shimmed(fd, command, arg);
}

int fcntl64(int fd, int command, ...)
{
    va_list ap;
    va_start(ap, command);
    void *arg = va_arg(ap, void *);
    va_end(ap);
    return shimmed(fd, command, arg);
}

int stat(const char *restrict path, struct stat *restrict out)
{
    static int asked;
    const char *end = strrchr(path, '.');
    if (asked_for("late-file") && end && !strcmp(end, ".db") && !asked++) {
        errno = ENOENT;
        return -1;
    }
    return fstatat(AT_FDCWD, path, out, 0);
}

int flock(int fd, int operation)
{
    int (*real)(int, int) = (int (*)(int, int))dlsym(RTLD_NEXT, "flock");
    int rc = real(fd, operation);
    char link[64], path[256];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = rc == 0 && operation & LOCK_EX && asked_for("lost-locks") ? readlink(link, path, sizeof path - 1) : -1;
    if (n > 0) {
        path[n] = 0;
        if (strstr(path, ".lock"))
            unlink(path);
    }
    return rc;
}

/* Seconds; each call gives less than the one before. */
static time_t backwards(time_t now)
{
    static time_t jump;
    return asked_for("clock") ? now - __atomic_add_fetch(&jump, 3600, __ATOMIC_RELAXED) : now;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    int (*real)(clockid_t, struct timespec *) = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int rc = real(clock, out);
    if (!rc && clock == CLOCK_REALTIME)
        out->tv_sec = backwards(out->tv_sec);
    return rc;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    out->tv_sec = now.tv_sec;
    out->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
