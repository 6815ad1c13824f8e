#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

uint64_t rand_at(uint64_t seed, uint64_t place)
{
    uint64_t z = seed + (place + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

int64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int core_count(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 1 ? (int)n : 1;
}

int file_open(const char *path, int *out, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* opening a FIFO must not block */
    if (fd < 0)
        return err_set(err, errno == ENOENT ? ERR_NOTFOUND : ERR_IO, "%s: %s", path, strerror(errno));
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        return err_set(err, ERR_IO, "%s: not a regular file", path);
    }
    *out = fd;
    return 0;
}

int file_read(const char *path, size_t max, struct buf *out, struct err *err)
{
    int fd, rc = file_open(path, &fd, err);
    if (rc)
        return rc;
    size_t left = max;
    char part[16 << 10];
    for (ssize_t n = -1; !rc && n;) {
        n = read(fd, part, sizeof part);
        if (n < 0 && errno != EINTR)
            rc = err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
        else if (n > 0 && (size_t)n > left)
            rc = err_set(err, ERR_INVALID, "%s: larger than the limit of %zu bytes", path, max);
        if (rc || n < 0)
            continue;
        buf_put(out, part, (size_t)n); /* at the end nothing, so that there is a text */
        left -= (size_t)n;
    }
    close(fd);
    return rc ?: buf_check(out, err);
}

bool file_state(const struct stat *st, char out[HASH_HEX])
{
    enum { QUIET = 2 }; /* seconds */
    struct buf b = { 0 };
    if (!S_ISREG(st->st_mode) || time(NULL) - st->st_mtim.tv_sec < QUIET)
        return false;
    buf_fmt(&b, "%s %jd %jd %jd %jd.%09ld %jd.%09ld", CUTUNE_VERSION, (intmax_t)st->st_dev, (intmax_t)st->st_ino,
            (intmax_t)st->st_size, (intmax_t)st->st_mtim.tv_sec, st->st_mtim.tv_nsec, (intmax_t)st->st_ctim.tv_sec,
            st->st_ctim.tv_nsec);
    return !hash_buf(&b, 0, out, NULL);
}

bool write_all(int fd, const void *p, size_t n)
{
    const char *at = p;
    while (n) {
        ssize_t done = write(fd, at, n);
        if (done < 0 && errno != EINTR)
            return false;
        if (done > 0) {
            at += done;
            n -= (size_t)done;
        }
    }
    return true;
}

int make_folders(char *path, struct err *err)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        int rc = 0;
        if (mkdir(path, 0700) && errno != EEXIST)
            rc = err_set(err, ERR_IO, "%s: cannot make this folder: %s", path, strerror(errno));
        *slash = '/';
        if (rc)
            return rc;
    }
    return 0;
}

bool program_path(char *out, size_t room)
{
    ssize_t n = readlink("/proc/self/exe", out, room - 1);
    out[n > 0 ? n : 0] = 0;
    const char *started = n > 0 ? NULL : (const char *)(uintptr_t)getauxval(AT_EXECFN);
    char *whole = started ? realpath(started, NULL) : NULL;
    if (whole && strlen(whole) < room)
        memcpy(out, whole, strlen(whole) + 1);
    free(whole);
    return *out;
}

int path_absolute(const char *path, char **out, struct err *err)
{
    struct buf absolute = { 0 };
    char *here = *path == '/' ? NULL : getcwd(NULL, 0);
    if (*path != '/' && !here)
        return errno == ENOMEM ? err_nomem(err) : err_set(err, ERR_IO, "%s: the current folder: %s", path, strerror(errno));
    buf_fmt(&absolute, "%s%s%s", here ? here : "", here ? "/" : "", path);
    free(here);           /* the C library's */
    *out = absolute.data; /* null if it failed */
    return buf_check(&absolute, err);
}

void file_keep(char *path, const void *p, size_t n)
{
    struct buf mine = { 0 };
    char hash[HASH_HEX];
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) || most.rlim_cur < n + HASH_HEX) /* writing past it ends the process */
        return;
    make_folders(path, NULL);
    buf_fmt(&mine, "%s.XXXXXX", path);
    int fd = mine.failed ? -1 : mkostemp(mine.data, O_CLOEXEC);
    hash_hex(p, n, hash);
    if (fd >= 0) {
        bool good = write_all(fd, hash, HASH_HEX - 1) && write_all(fd, p, n);
        good = !close(fd) && good;
        if (!good || rename(mine.data, path))
            unlink(mine.data);
    }
    buf_free(&mine);
}

bool file_kept(const char *path, size_t max, struct buf *out)
{
    char hash[HASH_HEX] = "";
    const size_t head = HASH_HEX - 1;
    if (!file_read(path, max + head, out, NULL) && out->len >= head)
        hash_hex(out->data + head, out->len - head, hash);
    bool good = *hash && !memcmp(hash, out->data, head);
    if (good)
        memmove(out->data, out->data + head, out->len + 1 - head);
    out->len -= good ? head : 0;
    return good;
}
