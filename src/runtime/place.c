/* Where the cache, the shipped tables and the database lie. An exported C file has none of them (export/embedded/store.c). */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "runtime/runtime.h"

#ifndef CUTUNE_TABLES_PATH
#define CUTUNE_TABLES_PATH "" /* not installed */
#endif

/* $XDG_CACHE_HOME/cutune, else ~/.cache/cutune. If neither variable is set, there is no cache. */
int take_cache(const char *given, char **out, struct err *err)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    struct buf path = { 0 };
    if (given)
        buf_str(&path, given);
    else if (cache && *cache == '/')
        buf_fmt(&path, "%s/cutune", cache);
    else if (home && *home == '/')
        buf_fmt(&path, "%s/.cache/cutune", home);
    int rc = buf_check(&path, err) ?: (path.len ? path_absolute(path.data, out, err) : 0);
    buf_free(&path);
    return rc;
}

static bool is_there(const struct buf *path)
{
    struct stat st;
    return !path->failed && !stat(buf_text(path), &st);
}

/* The folder of what is mapped: PREFIX/lib, PREFIX/lib/TRIPLET or PREFIX/bin, and the tables are in PREFIX/share. */
static bool find_beside(const char *mapped, struct buf *out)
{
    static const char *const ways[] = { "/../share/cutune/tables.db", "/../../share/cutune/tables.db" };
    const char *slash = strrchr(mapped, '/');
    for (int i = 0; slash && i < 2; i++) {
        buf_clear(out);
        buf_put(out, mapped, (size_t)(slash - mapped));
        buf_str(out, ways[i]);
        if (is_there(out))
            return true;
    }
    return false;
}

/* Beside the library, wherever the prefix was moved to; beside the program that it is linked into, whose name may be a relative one of
 * another folder; else in the place that it was built for. */
static bool find_installed(struct buf *out)
{
    char program[4096];
    Dl_info here;
    if ((dladdr((void *)(uintptr_t)cutune_version, &here) && find_beside(here.dli_fname, out)) ||
        (program_path(program, sizeof program) && find_beside(program, out)))
        return true;
    buf_clear(out);
    buf_str(out, CUTUNE_TABLES_PATH);
    return *CUTUNE_TABLES_PATH && is_there(out);
}

int tables_find(const char *given, char **out, struct err *err)
{
    const char *named = getenv("CUTUNE_TABLES");
    const char *asked = given ? given : named && *named ? named : NULL;
    struct buf path = { 0 };
    buf_str(&path, asked ? asked : "");
    bool there = asked ? *asked && is_there(&path) : find_installed(&path);
    int rc = buf_check(&path, err);
    if (!rc && asked && *asked && !there)
        rc = err_set(err, ERR_NOTFOUND, "%s: no such tables", asked);
    if (!rc && there)
        rc = path_absolute(path.data, out, err);
    buf_free(&path);
    return rc;
}

/* They are opened when they are first needed: an application whose problems are tuned never waits for them. */
int open_tables(struct cutune *c, const char *given, struct err *err)
{
    int rc = tables_find(given, &c->tables_path, err);
    if (!rc && given && c->tables_path) { /* whoever names them wants to know */
        c->tables_tried = true;
        rc = store_open(given, STORE_TABLES, &c->tables, err);
    }
    return rc;
}

struct store *tables_of(struct cutune *c)
{
    struct err why = { 0 };
    if (c->tables_path && !c->tables_tried && store_open(c->tables_path, STORE_TABLES, &c->tables, &why))
        say(c, "the shipped tables are done without: %s", why.msg);
    c->tables_tried = true;
    return c->tables;
}

/* Absolute: the application may change its folder. */
static int place_of(struct cutune *c, const char *given, struct err *err)
{
    char *path = NULL;
    int rc = given ? 0 : store_default_path(c->capture, &path, err);
    if (rc == ERR_IO) /* the folder cannot be made: misses will not be written */
        rc = store_default_path(false, &path, err);
    rc = rc ?: path_absolute(given ? given : path, &c->path, err);
    mem_free(path);
    return rc;
}

/* A home that is another user's, or none: as if nothing were there. */
static bool out_of_reach(const char *path)
{
    struct stat st;
    return stat(path, &st) && (errno == EACCES || errno == ENOTDIR);
}

int open_database(struct cutune *c, const char *given, struct err *err)
{
    const char *named = getenv("CUTUNE_DB");
    struct err why = { 0 };
    bool default_place = !given && (!named || !*named);
    int rc = place_of(c, given, &why);
    if (rc == ERR_NOTFOUND && !given && c->tables_path)
        return 0; /* no place for one */
    if (!rc)
        rc = store_open_kept(given ? given : c->path, STORE_READ, c->cache, &c->store,
                             &why); /* whose failures name it as the caller does */
    if (rc == ERR_IO && default_place && out_of_reach(c->path)) {
        say(c, "the database is done without: %s", why.msg);
        rc = ERR_NOTFOUND;
    }
    if (rc == ERR_NOTFOUND && (c->capture || (default_place && c->tables_path)))
        return 0; /* the tables answer until it is there */
    return rc ? err_set(err, rc, "%s", why.msg) : 0;
}
