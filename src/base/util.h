/* Small things of everyday use: a counter-based random number, clocks, processors, files. */
#ifndef BASE_UTIL_H
#define BASE_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"

/* The value at a place of the stream `seed`: splitmix64's finaliser over a counter. It has no state, so places may be asked for in any
 * order, and devices make the same numbers. */
uint64_t rand_at(uint64_t seed, uint64_t place);

int64_t clock_ns(void); /* monotonic */
int core_count(void);   /* processors that are online, 1 at least */

/* Opens a regular file for reading, without waiting for the writer of a FIFO; appends the whole file, at most `max` bytes. The message of a
 * failure names the path. */
int file_open(const char *path, int *fd, struct err *err);
int file_read(const char *path, size_t max, struct buf *out, struct err *err);
bool write_all(int fd, const void *p, size_t n); /* false: errno says why */
/* The running program's file as /proc says; without /proc, the name that it was started with. False if neither is known. */
bool program_path(char *out, size_t room);
int path_absolute(const char *path, char **out, struct err *err); /* the caller's to free */
/* Makes all folders above the path's last name; a failure names the folder. */
int make_folders(char *path, struct err *err);

/* A hash of all by which a change of the file shows, without reading it: false if it may change and none would (it was just written, and
 * may be again in the same tick of its time). */
struct stat;
bool file_state(const struct stat *st, char out[HASH_HEX]);

/* A file in a cache: it begins with a hash of the rest. It is written under another name first, so that nobody ever reads half of it; what
 * cannot be written costs the next process time only. Folders are made. */
void file_keep(char *path, const void *p, size_t n);
/* Reads what was kept into `out`, which is empty. False if it is not there, cut, damaged or larger: then `out` holds anything. */
bool file_kept(const char *path, size_t max, struct buf *out);

#endif
