#include "base/hash.h"

#include <stdio.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

void hash_hex(const void *p, size_t n, char out[HASH_HEX])
{
    XXH128_hash_t h = XXH3_128bits(p, n);
    snprintf(out, HASH_HEX, "%016llx%016llx", (unsigned long long)h.high64, (unsigned long long)h.low64);
}
