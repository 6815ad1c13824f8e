#include "store/beside.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/mem.h"

int real_path(const char *path, char **out, struct err *err)
{
    struct stat st;
    bool link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode); /* links on the way to it change nothing beside it */
    char *real = link ? realpath(path, NULL) : NULL;
    *out = mem_strdup(real ? real : path);
    free(real); /* the C library's */
    return *out ? 0 : err_nomem(err);
}

int check_beside(const char *real, struct err *err)
{
    static const char *const ends[] = { "-wal", "-shm", "-journal" };
    struct buf name = { 0 };
    struct stat st;
    int rc = 0;
    for (size_t i = 0; !rc && i < sizeof ends / sizeof *ends; i++) {
        buf_clear(&name);
        buf_fmt(&name, "%s%s", real, ends[i]);
        if (name.failed)
            rc = err_nomem(err);
        else if (lstat(name.data, &st))
            continue;
        else if (!S_ISREG(st.st_mode) || st.st_nlink > 1)
            rc = err_set(err, ERR_INVALID, "%s: %s, where the database's own file has to be: remove it, or use another name",
                         name.data, S_ISREG(st.st_mode) ? "has a second name (a hard link)" : "not a regular file");
    }
    buf_free(&name);
    return rc;
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
