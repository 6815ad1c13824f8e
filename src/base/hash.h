/* Hashes of content, used as keys. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>

#define HASH_HEX 33 /* 128 bits in hexadecimal and a zero byte */
/* XXH3, 128 bits. Somebody who wants a collision can make one. */
void hash_hex(const void *p, size_t n, char out[HASH_HEX]);

#endif
