#include "store/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/sql.h"

int real_path(const char *path, char **out, struct err *err)
{
    struct stat st;
    bool link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode); /* links on the way to it change nothing beside it */
    char *real = link ? realpath(path, NULL) : NULL;
    *out = mem_strdup(real ? real : path);
    free(real); /* the C library's */
    return *out ? 0 : err_nomem(err);
}

/* The i-th of the files beside it, if it is there. */
static bool beside(const char *real, int i, char name[PATH_MAX], struct stat *st)
{
    static const char *const ends[] = { "-wal", "-journal", "-shm" };
    return snprintf(name, PATH_MAX, "%s%s", real, ends[i]) < PATH_MAX && !lstat(name, st);
}

int check_beside(const char *real, struct err *err)
{
    char name[PATH_MAX];
    struct stat st;
    for (int i = 0; i < 3; i++)
        if (beside(real, i, name, &st) && (!S_ISREG(st.st_mode) || st.st_nlink > 1))
            return err_set(err, ERR_INVALID, "%s: %s, where the database's own file has to be: remove it, or use another name",
                           name, S_ISREG(st.st_mode) ? "has a second name (a hard link)" : "not a regular file");
    return 0;
}

int check_log(const char *real, const char *advice, struct err *err)
{
    char name[PATH_MAX];
    struct stat st;
    for (int i = 0; i < 2; i++)
        if (beside(real, i, name, &st) && st.st_size > 0)
            return err_set(err, ERR_IO, "%s: its last writer did not end %s", real, advice);
    return 0;
}

bool watch_file(struct store *s)
{
    struct stat st;
    if (stat(s->absolute, &st))
        return false;
    s->dev = st.st_dev;
    s->ino = st.st_ino;
    return true;
}

bool store_replaced(const struct store *s)
{
    struct stat st;
    return stat(s->absolute, &st) || st.st_dev != s->dev || st.st_ino != s->ino;
}

bool has_names(const char *real)
{
    struct stat st;
    return stat(real, &st) == 0 && st.st_nlink > 1;
}

int refuse_names(const char *path, struct err *err)
{
    return err_set(
        err, ERR_INVALID,
        "%s: the file has another name (a hard link), and a program that uses that one would damage it: remove one of the "
        "names, and use ln -s for a second",
        path);
}

/* ---- locks */

/* Of the open file, not of the process: two descriptions here are what two processes are to each other. */
static int lock(int fd)
{
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    return fcntl(fd, F_OFD_SETLK, &whole) ? errno : 0;
}

/* `one` is open on the file `name`, which is opened once more here. */
static int probe(const char *path, const char *name, int one, struct err *err)
{
    static const char advice[] = "the file system it lies on cannot be shared safely; choose another place with --db";
    int two = open(name, O_RDWR | O_CLOEXEC);
    if (two < 0)
        return err_set(err, ERR_IO, "%s: cannot open a file beside it: %s", path, strerror(errno));
    int why = lock(one), again = why ? 0 : lock(two);
    close(two);
    if (why)
        return err_set(err, ERR_UNSUPPORTED, "%s: cannot be locked: %s: %s", path, strerror(why), advice);
    if (again == EAGAIN || again == EACCES)
        return 0;
    return err_set(err, ERR_UNSUPPORTED, "%s: locks have no effect on it: %s", path, advice);
}

int check_locks(const char *path, struct err *err)
{
    struct buf name = { 0 };
    buf_fmt(&name, "%s-XXXXXX", path);
    int rc = buf_check(&name, err), one = rc ? -1 : mkostemp(name.data, O_CLOEXEC);
    if (one >= 0) {
        rc = probe(path, name.data, one, err);
        unlink(name.data);
        close(one);
    } else if (!rc) {
        rc = err_set(err, ERR_IO, "%s: cannot make a file beside it: %s", path, strerror(errno));
    }
    buf_free(&name);
    return rc;
}
