#include "base/hash.h"

#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

void hash_hex(const void *p, size_t n, char out[HASH_HEX])
{
    XXH128_hash_t h = XXH3_128bits(p, n);
    static const char digit[] = "0123456789abcdef";
    for (int i = 0; i < 32; i++) {
        uint64_t half = i < 16 ? h.high64 : h.low64;
        out[i] = digit[half >> (60 - 4 * (i % 16)) & 15];
    }
    out[32] = 0;
}

int hash_buf(struct buf *b, int rc, char out[HASH_HEX], struct err *err)
{
    rc = rc ?: buf_check(b, err);
    if (!rc)
        hash_hex(b->data, b->len, out);
    buf_free(b);
    return rc;
}
