/* What is measured already, by key: a hash table that only grows. */
#ifndef TUNE_KNOWN_H
#define TUNE_KNOWN_H

#include "base/hash.h"
#include "model/record.h"

struct known_entry {
    char key[HASH_HEX];
    enum outcome outcome;
    struct stats stats;
    bool of_now; /* stored as what its variant makes now */
};

struct known_table {
    struct known_entry *slots; /* an empty key: free; always a power of two, at most half full */
    size_t cap, n;
};

const struct known_entry *known_find(const struct known_table *k, const char *key); /* null */
/* Or replaces. */
int known_add(struct known_table *k, const char *key, enum outcome outcome, const struct stats *stats, bool of_now,
              struct err *err);
void known_is_of_now(struct known_table *k, const char *key);
void known_free(struct known_table *k);

#endif
