/* A key for content. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>

#define HASH_HEX 33 /* 128 bits in hexadecimal and a zero byte */
/* XXH3, 128 bits; no protection against somebody who wants a collision. */
void hash_hex(const void *p, size_t n, char out[HASH_HEX]);

#endif
