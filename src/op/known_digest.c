#include "op/known_digest.h"

#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/util.h"
#include "runtime/runtime.h"

enum { WORTH = 64 << 20 }; /* bytes of a file: a smaller one is read in no time */

/* The file of the cache that is for this one. Null: there is none. The caller's to free. */
static char *place_of(const struct stat *st)
{
    struct buf path = { 0 };
    char *cache = NULL;
    if (st->st_size >= WORTH && !take_cache(NULL, &cache, NULL) && cache)
        buf_fmt(&path, "%s/%jx-%jx.digest", cache, (uintmax_t)st->st_dev, (uintmax_t)st->st_ino);
    mem_free(cache);
    return path.failed ? NULL : path.data;
}

bool known_digest(const struct stat *st, char out[HASH_HEX])
{
    char state[HASH_HEX];
    struct buf kept = { 0 };
    char *path = place_of(st);
    bool known = path && file_state(st, state) && file_kept(path, 2 * HASH_HEX, &kept) && kept.len == 2 * HASH_HEX &&
                 !memcmp(kept.data, state, HASH_HEX);
    if (known)
        memcpy(out, kept.data + HASH_HEX, HASH_HEX);
    out[known ? HASH_HEX - 1 : 0] = 0;
    buf_free(&kept);
    mem_free(path);
    return known && strspn(out, "0123456789abcdef") == HASH_HEX - 1;
}

void know_digest(int fd, const struct stat *st, const char *digest)
{
    struct {
        char state[HASH_HEX], digest[HASH_HEX];
    } kept;
    char before[HASH_HEX];
    struct stat now;
    char *path = place_of(st);
    if (path && file_state(st, before) && !fstat(fd, &now) && file_state(&now, kept.state) && !strcmp(before, kept.state)) {
        memcpy(kept.digest, digest, HASH_HEX);
        file_keep(path, &kept, sizeof kept);
    }
    mem_free(path);
}

void forget_digest(const struct stat *st)
{
    char *path = place_of(st);
    if (path)
        unlink(path);
    mem_free(path);
}
