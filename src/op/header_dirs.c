/* Folders of headers that the user gave: where they are, and a hash of all that is in them, for no compiler tells what it read. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/util.h"
#include "op/read.h"

enum { MAX_HEADERS = 100000, MAX_HEADER = 16 << 20, MAX_DEEP = 32 };

struct walk {
    int files;
    struct buf list; /* a line for each file: its path below the folder, and a hash of it */
};

static int add_header(struct walk *w, const char *path, const char *below, struct err *err)
{
    struct buf text = { 0 };
    char hash[HASH_HEX];
    if (++w->files > MAX_HEADERS)
        return err_set(err, ERR_INVALID, "there are more than %d files in it: name a folder with headers only", MAX_HEADERS);
    int rc = file_read(path, MAX_HEADER, &text, err);
    hash_hex(buf_text(&text), text.len, hash);
    buf_fmt(&w->list, "%s %s\n", below, hash);
    buf_free(&text);
    return rc;
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int walk_folder(struct walk *w, const char *folder, size_t root, int depth, struct err *err)
{
    struct dirent **found;
    int n = scandir(folder, &found, not_hidden, alphasort), rc = 0;
    if (n < 0)
        return err_set(err, ERR_INVALID, "%s: %s", folder, strerror(errno));
    if (depth == MAX_DEEP)
        rc = err_set(err, ERR_INVALID, "its folders lie more than %d deep", MAX_DEEP);
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX];
        struct stat st, link;
        bool fits = snprintf(path, sizeof path, "%s/%s", folder, found[i]->d_name) < (int)sizeof path;
        if (!rc && fits && !stat(path, &st) && !lstat(path, &link)) {
            if (S_ISDIR(st.st_mode) && !S_ISLNK(link.st_mode)) /* a link to a folder may lead around in a circle */
                rc = walk_folder(w, path, root, depth + 1, err);
            else if (S_ISREG(st.st_mode) && st.st_size <= MAX_HEADER)
                rc = add_header(w, path, path + root, err);
        }
        free(found[i]);
    }
    free(found);
    return rc;
}

static int add_folder(struct op *op, const char *dir, struct walk *w, struct err *err)
{
    char real[PATH_MAX];
    struct stat st;
    if (!realpath(dir, real) || stat(real, &st) || !S_ISDIR(st.st_mode))
        return err_set(err, ERR_NOTFOUND, "--include-dir '%.200s': there is no such folder", dir);
    const char *kept = op->header_dirs[op->nheader_dirs++] = arena_strdup(op->arena, real);
    int rc = kept ? walk_folder(w, real, strlen(real) + 1, 0, err) : err_nomem(err);
    if (rc && kept)
        err_prefix(err, "--include-dir '%.200s': ", dir);
    buf_str(&w->list, "\n");
    return rc;
}

int header_dirs_set(struct op *op, const char *const *dirs, int n, struct err *err)
{
    struct walk w = { 0 };
    char hash[HASH_HEX];
    int rc = 0;
    op->nheader_dirs = 0;
    op->header_dirs = NULL;
    op->headers = NULL;
    if (!n)
        return 0;
    if (n > MAX_INCLUDE_DIRS)
        return err_set(err, ERR_NOTFOUND, "--include-dir: at most %d folders", MAX_INCLUDE_DIRS);
    op->header_dirs = arena_array(op->arena, (size_t)n, sizeof *op->header_dirs);
    if (!op->header_dirs)
        return err_nomem(err);
    for (int i = 0; i < n && !rc; i++)
        rc = add_folder(op, dirs[i], &w, err);
    rc = hash_buf(&w.list, rc, hash, err);
    op->headers = rc ? NULL : arena_strdup(op->arena, hash);
    return rc ?: op->headers ? 0 : err_nomem(err);
}
