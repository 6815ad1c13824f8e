#include "store/locks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

/* Of the open file, not of the process: two descriptions here are what two processes are to each other. */
static int lock(int fd)
{
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    return fcntl(fd, F_OFD_SETLK, &whole) ? errno : 0;
}

static int probe(const char *path, int one, int two, struct err *err)
{
    static const char advice[] = "the file system it lies on cannot be shared safely; choose another place with --db";
    int why = lock(one);
    if (why)
        return err_set(err, ERR_UNSUPPORTED, "%s: cannot be locked: %s: %s", path, strerror(why), advice);
    why = lock(two);
    if (why == EAGAIN || why == EACCES)
        return 0;
    return err_set(err, ERR_UNSUPPORTED, "%s: locks have no effect on it: %s", path, advice);
}

int check_locks(const char *path, struct err *err)
{
    struct buf name = { 0 };
    int one = -1, two = -1, rc;
    buf_fmt(&name, "%s-XXXXXX", path);
    if (name.failed)
        return err_nomem(err);
    one = mkostemp(name.data, O_CLOEXEC);
    if (one < 0) {
        rc = err_set(err, ERR_IO, "%s: cannot make a file beside it: %s", path, strerror(errno));
        goto out;
    }
    two = open(name.data, O_RDWR | O_CLOEXEC);
    rc = two < 0 ? err_set(err, ERR_IO, "%s: cannot open a file beside it: %s", path, strerror(errno)) : probe(path, one, two, err);
    unlink(name.data);
    close(one);
    if (two >= 0)
        close(two);
out:
    buf_free(&name);
    return rc;
}
