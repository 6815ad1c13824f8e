/* Digests of large data files, kept in the cache folder: every command wants them, and to read 10 GB takes seconds. */
#ifndef OP_KNOWN_DIGEST_H
#define OP_KNOWN_DIGEST_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/hash.h"

/* Of a file of this state. False if it is not known. */
bool known_digest(const struct stat *st, char out[HASH_HEX]);
/* st: before the file was read. */
void know_digest(int fd, const struct stat *st, const char *digest);
void forget_digest(const struct stat *st);

#endif
