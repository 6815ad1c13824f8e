/* The lock of a device: a run holds it while it measures, candidate by candidate, so that two runs take turns.
 *
 * It is a file in /tmp that all users share, whatever their umask and TMPDIR. If it cannot be locked, the coordinator is told why, once,
 * and measuring goes on without. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "worker/child.h"

enum { TELL_NS = 2000000000, ALIVE_NS = 500000000, TRIES = 20, SHARED = 0666 };
enum { NO_TRAPS = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY }; /* whatever may lie there instead of the file */

static struct {
    char path[256];
    int fd; /* -1: not open */
    bool told;
} own = { .fd = -1 };

/* The same name for everybody who measures there. Another process may number the devices otherwise, so the index is left out if the
 * device has a better name. */
void lock_of(const struct devspec *dev)
{
    char word[32];
    devspec_id(dev, word);
    if (*dev->uuid)
        word[strcspn(word, ":")] = 0;
    snprintf(own.path, sizeof own.path, "/tmp/cutune-%s-%s.lock", word, dev->uuid);
    for (char *p = own.path + strlen("/tmp/"); *p; p++)
        if (*p == '/' || *p == ' ')
            *p = '_';
}

static const char *kind_of(mode_t mode)
{
    return S_ISLNK(mode)    ? "a link"
           : S_ISDIR(mode)  ? "a folder"
           : S_ISFIFO(mode) ? "a pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

static int refuse(int why, struct err *err)
{
    struct stat st;
    if (lstat(own.path, &st))
        return err_set(err, ERR_IO, "cannot make %s: %s", own.path, strerror(why));
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_IO, "%s is %s of user %u's: remove it", own.path, kind_of(st.st_mode), (unsigned)st.st_uid);
    return err_set(err, ERR_IO, "%s: %s: have user %u, whose it is, `chmod 666` or remove it", own.path, strerror(why),
                   (unsigned)st.st_uid);
}

/* Open to all from the start, whatever this user's umask. The folder's ACL may take that back, so it is set once more. */
static int make_file(void)
{
    mode_t before = umask(0);
    int fd = open(own.path, O_RDWR | O_CREAT | O_EXCL | NO_TRAPS, SHARED);
    int why = errno;
    umask(before);
    if (fd >= 0)
        fchmod(fd, SHARED);
    errno = why;
    return fd;
}

/* One that is there is opened without O_CREAT: in a sticky folder the kernel refuses that for another user's file. */
static int open_file(struct err *err)
{
    struct stat st;
    int fd = -1;
    errno = EEXIST;
    for (int i = 0; fd < 0 && errno == EEXIST && i < TRIES; i++) { /* made by another, just now */
        fd = open(own.path, O_RDWR | NO_TRAPS);
        if (fd < 0 && errno == EACCES)
            fd = open(own.path, O_RDONLY | NO_TRAPS); /* flock asks no more */
        if (fd < 0 && errno == ENOENT)
            fd = make_file();
    }
    if (fd < 0)
        return refuse(errno, err);
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        return refuse(EINVAL, err);
    }
    /* Made by an older cutune, under a umask. Nothing else of this user's: it may be a link to it. */
    if (st.st_uid == geteuid() && st.st_nlink == 1 && st.st_size == 0 && (st.st_mode & SHARED) != SHARED)
        fchmod(fd, SHARED);
    own.fd = fd;
    return 0;
}

static int wait_for_turn(struct child *c, struct err *err)
{
    int64_t begun = clock_ns(), said = begun;
    bool told = false;
    while (flock(own.fd, LOCK_EX | LOCK_NB)) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return err_set(err, ERR_IO, "%s: %s", own.path, strerror(errno));
        usleep(500);
        if (clock_ns() - said <= ALIVE_NS)
            continue;
        child_alive(c);
        said = clock_ns();
        if (!told && said - begun > TELL_NS) {
            child_say(c, F_WAITING, own.path);
            told = true;
        }
    }
    return 0;
}

/* The file may have been removed by a clean-up of /tmp: then others lock a new one. */
static bool still_there(void)
{
    struct stat held, named;
    return !fstat(own.fd, &held) && !lstat(own.path, &named) && held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

void lock_take(struct child *c)
{
    struct err why = { 0 };
    int rc = 0;
    bool held = false;
    for (int i = 0; !rc && !held && i < TRIES; i++) {
        rc = (own.fd < 0 ? open_file(&why) : 0) ?: wait_for_turn(c, &why);
        held = !rc && still_there();
        if (!held && own.fd >= 0)
            close(own.fd);
        own.fd = held ? own.fd : -1;
    }
    if (!rc && !held)
        rc = err_set(&why, ERR_IO, "%s is removed whenever it is made", own.path);
    if (rc && !own.told)
        child_say(c, F_UNLOCKED, why.msg);
    own.told |= rc != 0;
}

void lock_give(void)
{
    if (own.fd >= 0)
        flock(own.fd, LOCK_UN);
}
