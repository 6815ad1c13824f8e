#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failed(const struct output *o, const char *what, struct err *err)
{
    return err_set(err, ERR_IO, "%s: %s%s", o->path, what, strerror(errno));
}

static bool is_stdout(const struct stat *st)
{
    struct stat out;
    return fstat(STDOUT_FILENO, &out) == 0 && out.st_dev == st->st_dev && out.st_ino == st->st_ino;
}

/* Not created and not cut: what is there is no file of data, or another has begun it. */
static int begin_straight(struct output *o, bool as_stdout, struct err *err)
{
    int fd = as_stdout ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) : open(o->path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    o->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (o->file)
        return 0;
    int rc = failed(o, "", err);
    if (fd >= 0)
        close(fd);
    return rc;
}

/* Where a link leads, or the path itself. */
static int find_target(struct output *o, bool there, struct err *err)
{
    struct stat link;
    if (!there && lstat(o->path, &link) == 0 && S_ISLNK(link.st_mode))
        return err_set(err, ERR_IO, "%s: a link to what is not there", o->path);
    char *real = there ? realpath(o->path, NULL) : NULL;
    if (there && !real)
        return failed(o, "", err);
    buf_str(&o->target, there ? real : o->path);
    free(real); /* the C library's */
    return buf_check(&o->target, err);
}

static int begin_beside(struct output *o, struct err *err)
{
    const char *slash = strrchr(o->target.data, '/');
    buf_put(&o->beside, o->target.data, slash ? (size_t)(slash + 1 - o->target.data) : 0);
    buf_str(&o->beside, ".cutune-XXXXXX");
    if (o->beside.failed)
        return err_nomem(err);
    int fd = mkostemp(o->beside.data, O_CLOEXEC);
    if (fd < 0)
        return failed(o, "cannot make a file in its folder: ", err);
    o->file = fdopen(fd, "w");
    if (o->file)
        return 0;
    int rc = failed(o, "", err);
    close(fd);
    unlink(o->beside.data);
    return rc;
}

static void forget(struct output *o)
{
    buf_free(&o->target);
    buf_free(&o->beside);
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

/* Whether SQLite would take the name for a part of the database beside it. */
int output_name(const char *path, struct err *err)
{
    static const char *const ends[] = { "-wal", "-shm", "-journal" };
    size_t n = strlen(path);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end = strlen(ends[i]);
        if (n <= end || strcmp(path + n - end, ends[i]) != 0)
            continue;
        struct buf base = { 0 };
        buf_put(&base, path, n - end);
        bool part = !base.failed && is_database(base.data);
        int rc = buf_check(&base, err);
        if (part)
            rc = err_set(err, ERR_INVALID, "%s: belongs to the database %s: choose another name", path, base.data);
        buf_free(&base);
        return rc;
    }
    return 0;
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

int output_begin(struct output *o, const char *path, struct err *err)
{
    struct stat st;
    bool there = stat(path, &st) == 0;
    int rc = there && !S_ISREG(st.st_mode) ? 0 : check_spared(path, there, err);
    if (!rc)
        return output_begin_over(o, path, err);
    *o = (struct output){ .path = path };
    return rc;
}

int output_begin_over(struct output *o, const char *path, struct err *err)
{
    *o = (struct output){ .path = path };
    bool there = stat(path, &o->old) == 0;
    if (!there && errno != ENOENT)
        return failed(o, "", err);
    if (there && (!S_ISREG(o->old.st_mode) || is_stdout(&o->old)))
        return begin_straight(o, is_stdout(&o->old), err);
    if (there && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS))
        return failed(o, "cannot write it: ", err);
    if (!there)
        o->old = (struct stat){ 0 };
    int rc = find_target(o, there, err) ?: begin_beside(o, err);
    if (rc)
        forget(o);
    return rc;
}

/* What a plain open would have given it, or what the old one had. Another's file stays another's only if the system lets it. */
static int settle(const struct output *o, int fd)
{
    if (o->old.st_mode) {
        (void)!fchown(fd, o->old.st_uid, o->old.st_gid);
        return fchmod(fd, o->old.st_mode & 0777);
    }
    mode_t mask = umask(0);
    umask(mask);
    return fchmod(fd, 0666 & ~mask);
}

int output_end(struct output *o, int rc, struct err *err)
{
    bool beside = o->beside.len;
    if (!rc && fflush(o->file))
        rc = failed(o, "not written in full: ", err);
    if (!rc && beside && settle(o, fileno(o->file)))
        rc = failed(o, "", err);
    if (fclose(o->file) && !rc)
        rc = failed(o, "not written in full: ", err);
    if (!rc && beside && rename(o->beside.data, o->target.data))
        rc = failed(o, "", err);
    if (rc && beside)
        unlink(o->beside.data);
    forget(o);
    return rc;
}

int output_write(const char *path, const struct buf *text, struct err *err)
{
    struct output o;
    if (!path) {
        fwrite(text->data, 1, text->len, stdout);
        return 0;
    }
    int rc = output_begin(&o, path, err);
    if (rc)
        return rc;
    if (fwrite(text->data, 1, text->len, o.file) != text->len)
        rc = failed(&o, "not written in full: ", err);
    return output_end(&o, rc, err);
}
