#include "worker/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/util.h"

/* FORM is raised when what is in a file changes, or what cutune makes of the same job: its compilers' own options and headers. TRIM: a folder is
 * trimmed once for about so many bytes that are written, whoever writes them. */
enum { FORM = 2, MAX_CODE = 64 << 20, TRIM = 8 << 20 };

int cache_key(const struct compiler *c, const struct devspec *dev, const struct compile_job *job, char out[HASH_HEX],
              struct err *err)
{
    const struct backend_compiling *be = backend_find(dev->backend)->compiling;
    struct buf what = { 0 };
    char compiler[COMPILER_NAME];
    be->name(c, compiler);
    buf_u32(&what, FORM);
    buf_lstr(&what, CUTUNE_VERSION);
    buf_lstr(&what, dev->backend);
    buf_lstr(&what, dev->arch);
    buf_lstr(&what, job->arch);
    buf_lstr(&what, compiler);
    buf_lstr(&what, dev->shared_driver ? dev->name : NULL);
    buf_lstr(&what, dev->shared_driver ? dev->driver : NULL);
    buf_lstr(&what, job->source);
    if (be->depends)
        be->depends(c, job, &what);
    return hash_buf(&what, 0, out, err);
}

static void path_of(const char *folder, const char *key, struct buf *out)
{
    buf_fmt(out, "%s/%s", folder, key);
}

bool cache_load(const char *folder, const char *key, struct cached *to)
{
    struct buf path = { 0 }, file = { 0 };
    struct buf *const parts[] = { to->binary, to->portable, to->entries };
    path_of(folder, key, &path);
    bool good = !path.failed && file_kept(path.data, MAX_CODE, &file);
    struct cursor in = cursor_on(buf_text(&file), good ? file.len : 0);
    to->ms = get_f64(&in);
    for (int i = 0; i < 3; i++) {
        size_t n = 0;
        const void *at = get_bytes(&in, &n);
        if (at && n)
            buf_put(parts[i], at, n);
        good = good && !parts[i]->failed;
    }
    good = good && !in.bad && in.at == in.end && to->binary->len && to->ms >= 0;
    if (good)
        utimensat(AT_FDCWD, path.data, NULL, 0); /* it was used now */
    buf_free(&path);
    buf_free(&file);
    return good;
}

void cache_save(const char *folder, const char *key, const struct cached *what)
{
    struct buf path = { 0 }, file = { 0 };
    const struct buf *const parts[] = { what->binary, what->portable, what->entries };
    path_of(folder, key, &path);
    buf_f64(&file, what->ms);
    for (int i = 0; i < 3; i++)
        buf_bytes(&file, buf_text(parts[i]), parts[i]->len);
    if (!path.failed && !file.failed && file.len <= MAX_CODE) {
        file_keep(path.data, file.data, file.len);
        /* Processes that are killed at any time need no count of their own for this. */
        if (rand_at((uint64_t)clock_ns(), (uint64_t)getpid()) % TRIM < file.len)
            cache_trim(folder, CACHE_MAX);
    }
    buf_free(&path);
    buf_free(&file);
}

/* ---- trimming */

struct aged {
    int64_t bytes;
    struct timespec used;
    char name[64];
};

static int by_age(const void *a, const void *b)
{
    const struct timespec *x = &((const struct aged *)a)->used, *y = &((const struct aged *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* A hash; one with something behind it was being written, and if its process was killed it stays so. */
static bool is_ours(const char *name)
{
    return strspn(name, "0123456789abcdef") == HASH_HEX - 1 && strlen(name) < sizeof ((struct aged *)0)->name;
}

void cache_trim(const char *folder, int64_t most)
{
    DIR *dir = opendir(folder);
    struct aged *all = NULL;
    struct stat st;
    int n = 0;
    int64_t left = 0;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (!is_ours(e->d_name) || fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
            continue;
        if (!mem_grow((void **)&all, n, sizeof *all))
            break;
        all[n] = (struct aged){ .bytes = st.st_size, .used = st.st_mtim };
        memcpy(all[n].name, e->d_name, strlen(e->d_name) + 1);
        left += all[n++].bytes;
    }
    if (n)
        qsort(all, (size_t)n, sizeof *all, by_age);
    for (int i = 0; i < n && left > most; i++)
        if (!unlinkat(dirfd(dir), all[i].name, 0))
            left -= all[i].bytes;
    mem_free(all);
    if (dir)
        closedir(dir);
}
