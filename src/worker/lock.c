#include "worker/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

enum { TELL_NS = 2000000000 };

static char lock_path[256];

int lock_open(const struct devspec *dev)
{
    char *path = lock_path, word[32];
    devspec_id(dev, word);
    snprintf(path, sizeof lock_path, "/tmp/cutune-%s-%s.lock", word, dev->uuid);
    for (char *p = path + 5; *p; p++)
        if (*p == '/' || *p == ' ')
            *p = '_';
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    return fd >= 0 ? fd : open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW); /* another user's will do: flock asks no more */
}

static void say_waiting(struct child *c)
{
    size_t f = frame_begin(&c->out, F_WAITING);
    buf_lstr(&c->out, lock_path);
    frame_end(&c->out, f);
    child_send(c, NULL); /* a failure shows in the next */
}

void lock_take(struct child *c, int fd)
{
    int64_t begun = clock_ns(), said = begun;
    bool told = false;
    while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && (errno == EWOULDBLOCK || errno == EINTR)) {
        usleep(500);
        if (clock_ns() - said > 500000000) {
            child_alive(c);
            said = clock_ns();
            if (!told && (told = said - begun > TELL_NS))
                say_waiting(c);
        }
    }
}

void lock_give(int fd)
{
    if (fd >= 0)
        flock(fd, LOCK_UN);
}

void lock_close(int fd)
{
    if (fd >= 0)
        close(fd);
}
