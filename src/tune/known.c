#include "tune/known.h"

#include <string.h>

#include "base/mem.h"

/* Keys are hashes already: their first digits will do. */
static size_t place_of(const struct known_table *k, const char *key)
{
    uint64_t h = 0;
    for (int i = 0; i < 16 && key[i]; i++)
        h = h << 4 | (uint64_t)(key[i] <= '9' ? key[i] & 15 : (key[i] & 15) + 9);
    size_t i = (size_t)h & (k->cap - 1);
    while (k->slots[i].key[0] && strcmp(k->slots[i].key, key))
        i = (i + 1) & (k->cap - 1);
    return i;
}

const struct known_entry *known_find(const struct known_table *k, const char *key)
{
    if (!k->n)
        return NULL;
    const struct known_entry *e = &k->slots[place_of(k, key)];
    return e->key[0] ? e : NULL;
}

static int grow(struct known_table *k)
{
    struct known_table bigger = { .cap = k->cap ? k->cap * 2 : 256, .n = k->n };
    bigger.slots = mem_array(bigger.cap, sizeof *bigger.slots);
    if (!bigger.slots)
        return ERR_NOMEM;
    for (size_t i = 0; i < k->cap; i++)
        if (k->slots[i].key[0])
            bigger.slots[place_of(&bigger, k->slots[i].key)] = k->slots[i];
    mem_free(k->slots);
    *k = bigger;
    return 0;
}

int known_add(struct known_table *k, const char *key, enum outcome outcome, const struct stats *stats, bool of_now, struct err *err)
{
    if (k->n * 2 >= k->cap && grow(k))
        return err_nomem(err);
    struct known_entry *e = &k->slots[place_of(k, key)];
    k->n += !e->key[0];
    memcpy(e->key, key, HASH_HEX);
    e->outcome = outcome;
    e->stats = *stats;
    e->of_now = of_now;
    return 0;
}

void known_is_of_now(struct known_table *k, const char *key)
{
    if (known_find(k, key))
        k->slots[place_of(k, key)].of_now = true;
}

void known_free(struct known_table *k)
{
    mem_free(k->slots);
    *k = (struct known_table){ 0 };
}
