/* A reference outside works in a folder of the run. The run holds a lock on it: what `kill -9` leaves is removed by a later run, which
 * knows by that lock that nobody is there any more. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tune/run.h"

#define FOLDER "cutune-reference-"

static const char *parent_folder(void)
{
    const char *parent = getenv("TMPDIR");
    return parent && *parent ? parent : "/tmp";
}

/* By steps from folder to folder, since what a reference made there may lie deeper than a path can say. */
static void remove_all(const char *folder)
{
    FTS *tree = fts_open((char *[]){ (char *)folder, NULL }, FTS_PHYSICAL | FTS_XDEV, NULL);
    for (FTSENT *e; tree && (e = fts_read(tree));)
        if (e->fts_info != FTS_D)
            remove(e->fts_accpath);
    if (tree)
        fts_close(tree);
}

/* The folder, if it is this user's, locked; -1 if it is not to be had. A file system without locks has none to be had. */
static int lock_folder(const char *path, bool wait)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (!fstat(fd, &st) && st.st_uid == geteuid() && !flock(fd, LOCK_EX | (wait ? 0 : LOCK_NB)))
        return fd;
    close(fd);
    return -1;
}

static void remove_left(void)
{
    const char *parent = parent_folder();
    DIR *dir = opendir(parent);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char path[512];
        int n = snprintf(path, sizeof path, "%s/%s", parent, e->d_name);
        int fd = strncmp(e->d_name, FOLDER, strlen(FOLDER)) || n >= (int)sizeof path ? -1 : lock_folder(path, false);
        if (fd < 0)
            continue;
        remove_all(path);
        close(fd);
    }
    if (dir)
        closedir(dir);
}

/* Another run may take a new folder for one that is left, until it is locked. */
static bool make_folder(struct run *r)
{
    struct stat st;
    bool made = false;
    for (int i = 0; i < 3 && !made; i++) {
        if (snprintf(r->outside_folder, sizeof r->outside_folder, "%s/" FOLDER "XXXXXX", parent_folder()) >=
            (int)sizeof r->outside_folder) {
            errno = ENAMETOOLONG;
            return false;
        }
        if (!mkdtemp(r->outside_folder))
            return false;
        r->outside_lock = lock_folder(r->outside_folder, true);
        made = !stat(r->outside_folder, &st);
        if (!made && r->outside_lock >= 0)
            close(r->outside_lock);
    }
    return made;
}

int outside_begin(struct run *r, struct err *err)
{
    if (!r->op->outside)
        return 0;
    remove_left();
    if (!make_folder(r)) {
        int rc = err_set(err, ERR_IO, "a folder for the reference, %s: %s", r->outside_folder, strerror(errno));
        r->outside_folder[0] = 0;
        return rc;
    }
    r->task.outside = (struct outside){ .command = r->op->outside,
                                        .folder = r->outside_folder,
                                        .program = r->program,
                                        .seconds = r->opt->reference_seconds > 0 ? r->opt->reference_seconds : REFERENCE_SECONDS };
    return 0;
}

void outside_end(struct run *r)
{
    if (!r->outside_folder[0])
        return;
    remove_all(r->outside_folder);
    if (r->outside_lock >= 0)
        close(r->outside_lock);
}
