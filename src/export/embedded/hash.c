/* hash_hex for what only this process compares: two sums of 64 bits, of eight bytes at a time. */
#include "base/hash.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint64_t sum_of(const char *p, size_t n, uint64_t factor)
{
    uint64_t sum = n;
    for (size_t i = 0; i < n; i += sizeof sum) {
        uint64_t word = 0;
        memcpy(&word, p + i, n - i < sizeof word ? n - i : sizeof word);
        sum = (sum ^ word) * factor;
        sum ^= sum >> 29;
    }
    return sum;
}

void hash_hex(const void *p, size_t n, char out[HASH_HEX])
{
    snprintf(out, HASH_HEX, "%016" PRIx64 "%016" PRIx64, sum_of(p, n, 0x9e3779b97f4a7c15u), sum_of(p, n, 0xc2b2ae3d27d4eb4fu));
}
