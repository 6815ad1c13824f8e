/* Compiled code, kept for later runs: a folder with a file for each, named by a hash of all that went into it. Nothing but code comes from there:
 * it is verified as any other. */
#ifndef WORKER_CACHE_H
#define WORKER_CACHE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/hash.h"
#include "device/device.h"

struct cached {
    struct buf *binary, *portable, *entries; /* as backend_compiling's compile gives them */
    double ms;                               /* that compiling it took */
};

/* The hash of what a job comes to: its source with its options; compiler, device or architecture, and their versions; what of its launches
 * the compiler looks at. */
int cache_key(const struct compiler *c, const struct devspec *dev, const struct compile_job *job, char out[HASH_HEX],
              struct err *err);
/* False: it is not there, or damaged. The buffers are empty before, and then hold anything. */
bool cache_load(const char *folder, const char *key, struct cached *to);
/* What cannot be kept costs a later run time only. Now and then this removes what has not been used for longest. */
void cache_save(const char *folder, const char *key, const struct cached *what);
enum { CACHE_MAX = 512 << 20 }; /* bytes of the folder, about */
/* Removes files of the cache until those left have at most so many bytes, those that were not used for longest first. */
void cache_trim(const char *folder, int64_t most);

#endif
