/* Hashes of content, used as keys. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>

#include "base/buf.h"

#define HASH_HEX 33 /* 128 bits in hexadecimal and a zero byte */
/* XXH3, 128 bits. Somebody who wants a collision can make one. */
void hash_hex(const void *p, size_t n, char out[HASH_HEX]);
/* Of what was put into a buffer, which is freed. rc: of what put it there. Returns rc, or if that is 0 ERR_NOMEM if the buffer failed. */
int hash_buf(struct buf *b, int rc, char out[HASH_HEX], struct err *err);

#endif
