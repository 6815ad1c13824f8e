/* Small things of everyday use: a counter-based random number, clocks, files. */
#ifndef BASE_UTIL_H
#define BASE_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* The value at a place of the stream `seed`: splitmix64's finaliser over a counter. Any order, no state; the same on devices. */
uint64_t rand_at(uint64_t seed, uint64_t place);

int64_t clock_ns(void); /* monotonic */

/* The whole file, at most `max` bytes; fails with a line that names the path. */
int file_read(const char *path, size_t max, struct buf *out, struct err *err);
bool write_all(int fd, const void *p, size_t n); /* false: errno says why */
/* The running program's file, by its kernel's word; without /proc by the name that it was started with. False: neither is known. */
bool program_path(char *out, size_t room);
int path_absolute(const char *path, char **out, struct err *err); /* the caller's to free */
/* Makes every folder that leads to the path's last name; fails with a line that names the one. */
int make_folders(char *path, struct err *err);

#endif
