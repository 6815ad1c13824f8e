#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

static int failed(const struct output *o, const char *what, struct err *err)
{
    return err_set(err, ERR_IO, "%s: %s%s", o->path, what, strerror(errno));
}

static bool is_stdout(const struct stat *st)
{
    struct stat out;
    return fstat(STDOUT_FILENO, &out) == 0 && out.st_dev == st->st_dev && out.st_ino == st->st_ino;
}

/* Makes the new file beside the place that it will take: where a link leads, or the path itself. */
static int begin_beside(struct output *o, bool there, struct err *err)
{
    struct stat link;
    if (!there && lstat(o->path, &link) == 0 && S_ISLNK(link.st_mode))
        return err_set(err, ERR_IO, "%s: a link to what is not there", o->path);
    o->target = there ? realpath(o->path, NULL) : strdup(o->path);
    if (!o->target)
        return failed(o, "", err);
    const char *slash = strrchr(o->target, '/');
    buf_fmt(&o->beside, "%.*s.cutune-XXXXXX", slash ? (int)(slash + 1 - o->target) : 0, o->target);
    if (o->beside.failed)
        return err_nomem(err);
    o->fd = mkostemp(o->beside.data, O_CLOEXEC);
    return o->fd < 0 ? failed(o, "cannot make a file in its folder: ", err) : 0;
}

static void forget(struct output *o)
{
    free(o->target); /* the C library's */
    buf_free(&o->beside);
}

int output_begin(struct output *o, const char *path, struct err *err)
{
    *o = (struct output){ .path = path };
    bool there = stat(path, &o->old) == 0;
    if (!there && errno != ENOENT)
        return failed(o, "", err);
    bool is_out = there && is_stdout(&o->old);
    if (there && (is_out || !S_ISREG(o->old.st_mode))) {
        /* Not created and not cut: what is there is no file of data, or another has begun it. */
        o->fd = is_out ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
        return o->fd < 0 ? failed(o, "", err) : 0;
    }
    if (there && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS))
        return failed(o, "cannot write it: ", err);
    if (!there)
        o->old = (struct stat){ 0 };
    int rc = begin_beside(o, there, err);
    if (rc)
        forget(o);
    return rc;
}

/* What a plain open would have given it, or what the old one had. Another's file stays another's only if the system lets it. */
static int settle(const struct output *o)
{
    if (o->old.st_mode) {
        (void)!fchown(o->fd, o->old.st_uid, o->old.st_gid);
        return fchmod(o->fd, o->old.st_mode & 0777);
    }
    mode_t mask = umask(0);
    umask(mask);
    return fchmod(o->fd, 0666 & ~mask);
}

int output_end(struct output *o, int rc, struct err *err)
{
    bool beside = o->target;
    if (!rc && beside && settle(o))
        rc = failed(o, "", err);
    if (close(o->fd) && !rc)
        rc = failed(o, "not written in full: ", err);
    if (!rc && beside && rename(o->beside.data, o->target))
        rc = failed(o, "", err);
    if (rc && beside)
        unlink(o->beside.data);
    forget(o);
    return rc;
}

static bool begins_with(const char *path, const char *magic, size_t n)
{
    char head[16];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool is = fd >= 0 && read(fd, head, sizeof head) >= (ssize_t)n && memcmp(head, magic, n) == 0;
    if (fd >= 0)
        close(fd);
    return is;
}

/* A database, or the log or journal of one, by how it begins. */
static bool is_database(const char *path)
{
    return begins_with(path, "SQLite format 3", 16) || begins_with(path, "\x37\x7f\x06\x82", 4) ||
           begins_with(path, "\x37\x7f\x06\x83", 4) || begins_with(path, "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
}

int output_name(const char *path, struct err *err)
{
    const char *end = strrchr(path, '-');
    if (!end || end == path || (strcmp(end, "-wal") && strcmp(end, "-shm") && strcmp(end, "-journal")))
        return 0;
    struct buf base = { 0 };
    buf_put(&base, path, (size_t)(end - path));
    int rc = buf_check(&base, err);
    if (!rc && is_database(base.data))
        rc = err_set(err, ERR_INVALID, "%s: belongs to the database %s: choose another name", path, base.data);
    buf_free(&base);
    return rc;
}

int output_spares(const char *path, const char *input, struct err *err)
{
    struct stat to, from;
    if (stat(path, &to) || stat(input, &from) || to.st_dev != from.st_dev || to.st_ino != from.st_ino)
        return 0;
    return err_set(err, ERR_INVALID, "%s: would be written over, and it is read from (%s): choose another name", path, input);
}

/* By its own name and by that which links lead to. */
static int check_spared(const char *path, bool there, struct err *err)
{
    if (there && is_database(path))
        return err_set(err, ERR_INVALID, "%s: a database, or its log: none is written over: choose another name", path);
    int rc = output_spares(path, "/proc/self/exe", err);
    char *real = !rc && there ? realpath(path, NULL) : NULL;
    rc = rc ?: output_name(path, err);
    if (!rc && real)
        rc = output_name(real, err);
    free(real); /* the C library's */
    return rc;
}

int output_write(const char *path, const struct buf *text, struct err *err)
{
    struct output o;
    struct stat st;
    if (!path) {
        fwrite(text->data, 1, text->len, stdout);
        return 0;
    }
    bool there = stat(path, &st) == 0;
    int rc = (there && !S_ISREG(st.st_mode) ? 0 : check_spared(path, there, err)) ?: output_begin(&o, path, err);
    if (rc)
        return rc;
    if (!write_all(o.fd, text->data, text->len))
        rc = failed(&o, "not written in full: ", err);
    return output_end(&o, rc, err);
}
