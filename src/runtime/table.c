/* The look-up: a hash table of the problems asked for so far, read without a lock.
 *
 * Entries are never removed and never move; only their kernel changes. A full table is replaced by one twice its size, and the old one
 * is kept for threads that still read it. So a reader needs only two acquire loads. */
#include <string.h>

#include "base/mem.h"
#include "runtime/runtime.h"

enum { FIRST_PLACES = 256 };

struct table {
    uint64_t mask;
    uint64_t n;
    _Atomic(struct entry *) slots[];
};

/* A look-up as the caller wrote it. Names of up to 16 bytes, which means almost all, are compared as 64-bit words. */
struct key {
    uint64_t word[4];
    uint32_t lengths; /* of both names, up to 255, and the number of sizes; the meaning of the words depends on it */
    uint64_t hash;
    bool whole; /* the words contain both names completely */
    int nsizes;
    const char *op, *types;
    const int64_t *sizes;
};

static inline uint64_t load(const char *s, size_t bytes)
{
    uint64_t v = 0;
    memcpy(&v, s, bytes);
    return v;
}

/* The name's first and last bytes, up to eight each; they may overlap. Together with the length they identify a name of up to 16 bytes. */
static inline size_t pack(const char *s, uint64_t word[2])
{
    size_t n = strlen(s);
    if (n >= 8) {
        word[0] = load(s, 8);
        word[1] = load(s + n - 8, 8);
    } else if (n >= 4) {
        word[0] = load(s, 4);
        word[1] = load(s + n - 4, 4);
    } else {
        word[0] = n > 0 ? (unsigned char)s[0] : 0;
        word[1] = n > 1 ? (uint64_t)(unsigned char)s[n - 1] << 8 | (unsigned char)s[n / 2] : 0;
    }
    return n;
}

/* The products can be computed in parallel. The rest spreads their sum over all bits. */
static inline void key_set(struct key *k, const char *op, const char *types, const int64_t *sizes, int nsizes)
{
    static const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    size_t a = pack(op, k->word), b = pack(types, k->word + 2);
    k->lengths = (uint32_t)((a < 255 ? a : 255) << 16 | (b < 255 ? b : 255) << 8 | (size_t)nsizes);
    k->whole = (a <= 16) & (b <= 16);
    k->op = op;
    k->types = types;
    k->sizes = sizes;
    k->nsizes = nsizes;
    uint64_t h = k->lengths;
    for (uint64_t i = 0; i < 4; i++)
        h += k->word[i] * (golden * (2 * i + 1));
    for (int i = 0; i < nsizes; i++)
        h += (uint64_t)sizes[i] * (golden * (2 * (uint64_t)i + 9));
    h = (h ^ h >> 32) * golden;
    k->hash = h ^ h >> 29;
}

static inline bool is(const struct entry *e, const struct key *k)
{
    uint64_t differs = e->lengths ^ k->lengths;
    for (int i = 0; i < 4; i++)
        differs |= e->word[i] ^ k->word[i];
    if (differs)
        return false;
    for (int i = 0; i < k->nsizes; i++)
        if (e->sizes[i] != k->sizes[i])
            return false;
    return k->whole || (!strcmp(e->op, k->op) && !strcmp(e->types, k->types));
}

static inline struct entry *find(const struct table *t, const struct key *k)
{
    for (uint64_t i = k->hash & t->mask;; i = (i + 1) & t->mask) {
        struct entry *e = atomic_load_explicit(&t->slots[i], memory_order_acquire);
        if (!e || is(e, k))
            return e;
    }
}

static inline void count(const cutune_handle *h, struct entry *e)
{
    if (pthread_equal(h->thread, pthread_self()))
        atomic_store_explicit(&e->own, atomic_load_explicit(&e->own, memory_order_relaxed) + 1, memory_order_relaxed);
    else
        atomic_fetch_add_explicit(&e->others, 1, memory_order_relaxed);
}

static inline struct cutune_kernel *take(const cutune_handle *h, struct entry *e)
{
    uintptr_t kernel = atomic_load_explicit(&e->kernel, memory_order_acquire);
    if (kernel & COUNTED)
        count(h, e);
    return (struct cutune_kernel *)(kernel & ~(uintptr_t)COUNTED);
}

static void put(struct table *t, struct entry *e)
{
    uint64_t i = e->hash & t->mask;
    while (atomic_load_explicit(&t->slots[i], memory_order_relaxed))
        i = (i + 1) & t->mask;
    atomic_store_explicit(&t->slots[i], e, memory_order_release);
    t->n++;
}

int table_grow(cutune_handle *h, struct err *err)
{
    const struct table *old = atomic_load_explicit(&h->table, memory_order_relaxed);
    uint64_t places = old ? 2 * (old->mask + 1) : FIRST_PLACES;
    struct table *t = arena_alloc(h->arena, sizeof *t + places * sizeof t->slots[0]);
    if (!t)
        return err_nomem(err);
    t->mask = places - 1;
    for (struct entry *e = h->entries; e; e = e->next)
        put(t, e);
    atomic_store_explicit(&h->table, t, memory_order_release);
    return 0;
}

/* Null: no kernel. */
static void settle(struct entry *e, struct cutune_kernel *k)
{
    bool counted = k && k->handle->owner->capture && k->match != CUTUNE_MATCH_EXACT;
    struct cutune_kernel *before = entry_kernel(e);
    if (before && before != k)
        atomic_store_explicit(&before->holds, false, memory_order_relaxed);
    if (k)
        atomic_store_explicit(&k->holds, !counted, memory_order_relaxed);
    atomic_store_explicit(&e->kernel, (uintptr_t)k | (counted ? COUNTED : 0), memory_order_release);
}

static int add(cutune_handle *h, const struct key *key, struct entry **out, struct err *err)
{
    struct table *t = atomic_load_explicit(&h->table, memory_order_relaxed);
    int rc = 4 * (t->n + 1) > t->mask ? table_grow(h, err) : 0; /* most entries are in the first place that a reader tries */
    if (rc)
        return rc;
    size_t bytes = (size_t)key->nsizes * sizeof *key->sizes;
    char *at = arena_alloc(h->arena, sizeof(struct entry) + bytes + ENTRY_ALIGN);
    char *op = arena_strdup(h->arena, key->op), *types = arena_strdup(h->arena, key->types);
    if (!at || !op || !types)
        return err_nomem(err);
    struct entry *e = (struct entry *)(at + (-(uintptr_t)at & (ENTRY_ALIGN - 1)));
    e->op = op;
    e->types = types;
    e->hash = key->hash;
    memcpy(e->word, key->word, sizeof e->word);
    e->lengths = key->lengths;
    e->nsizes = key->nsizes;
    if (bytes)
        memcpy(e->sizes, key->sizes, bytes);
    e->next = h->entries;
    h->entries = e;
    put(atomic_load_explicit(&h->table, memory_order_relaxed), e);
    *out = e;
    return 0;
}

/* Call with the lock held. */
static int ask(cutune_handle *h, const struct key *key, struct cutune_kernel **out, struct err *err)
{
    struct entry *e = find(atomic_load_explicit(&h->table, memory_order_relaxed), key);
    struct cutune_kernel *k = NULL;
    struct question q;
    if (e && (*out = take(h, e))) /* another thread was faster */
        return 0;
    int rc = question_ask(h, key->op, key->types, key->sizes, key->nsizes, &q, err);
    bool proper = !rc; /* invalid arguments get no entry */
    if (rc == ERR_NOTFOUND)
        rc = strict_none(h, NULL, key->op, err);
    rc = rc ?: find_kernel(h, &q, NULL, &k, err);
    question_free(&q);
    bool wanted = proper && (rc == ERR_NOTFOUND || rc == ERR_STRICT) && h->owner->capture;
    if (rc && !wanted)
        return rc;
    int failed = e ? 0 : add(h, key, &e, err);
    if (failed)
        return failed;
    settle(e, k);
    if (wanted)
        count(h, e);
    else
        *out = take(h, e);
    return rc;
}

static int lookup(cutune_handle *h, const struct key *key, const cutune_kernel **out)
{
    struct cutune_kernel *k = NULL;
    struct err why = { 0 };
    int rc = reading_begin(h->owner, &why) ?: reading_end(h->owner, ask(h, key, &k, &why), &why);
    if (!rc)
        *out = k;
    return outcome(rc, &why);
}

int cutune_lookup(cutune_handle *h, const char *op, const char *types, const int64_t *sizes, int nsizes, const cutune_kernel **out)
{
    if (!h)
        return refuse(CUTUNE_ERR_INVALID, "no handle given");
    if (h->generation != atomic_load_explicit(&fork_generation, memory_order_relaxed))
        return check_forks(h->generation);
    if (!op || !types || !out)
        return refuse(CUTUNE_ERR_INVALID, "no %s given", !op ? "op" : !types ? "types" : "place for the kernel");
    if (nsizes > 0 && !sizes)
        return refuse(CUTUNE_ERR_INVALID, "no sizes given: %d were to come", nsizes);
    if (nsizes < 0 || nsizes > MAX_AXES)
        return refuse(CUTUNE_ERR_INVALID, "%d sizes given: an op has up to %d", nsizes, MAX_AXES);
    struct key key;
    key_set(&key, op, types, sizes, nsizes);
    struct entry *e = find(atomic_load_explicit(&h->table, memory_order_acquire), &key);
    struct cutune_kernel *k = e ? take(h, e) : NULL;
    if (!k)
        return lookup(h, &key, out);
    *out = k;
    return CUTUNE_OK;
}

int cutune_kernel_holds(const cutune_kernel *k)
{
    return k && atomic_load_explicit(&k->holds, memory_order_relaxed);
}

int cutune_prefetch(cutune_handle *h, const cutune_problem *problems, int n)
{
    if (!h || n < 0 || (n && !problems))
        return refuse(CUTUNE_ERR_INVALID, "no handle, or no problems given");
    if (check_forks(h->generation))
        return CUTUNE_ERR_INVALID;
    int first = CUTUNE_OK;
    struct err why = { 0 }, *err = thread_err();
    for (int i = 0; i < n; i++) {
        const cutune_problem *p = &problems[i];
        const cutune_kernel *k = NULL;
        struct cutune_kernel *other = NULL;
        int rc = p->size < sizeof *p ? refuse(CUTUNE_ERR_INVALID, "problem %d: its size is not set to sizeof(cutune_problem)", i)
                                     : cutune_lookup(h, p->op, p->types, p->sizes, p->nsizes, &k);
        rc = rc ?: kernel_load(k, err) ?: kernel_fallback(k, &other, err) ?: (other ? kernel_load(other, err) : 0);
        first = err_first(&why, first, rc, err);
    }
    return outcome(first, &why);
}

/* Finds the entry's kernel again; if that fails, the earlier answer stays. */
static int renew(cutune_handle *h, struct entry *e, int *changed, struct err *err)
{
    struct question q;
    struct cutune_kernel *now = entry_kernel(e), *k = NULL;
    int rc = question_ask(h, e->op, e->types, e->sizes, e->nsizes, &q, err);
    bool other_form = rc || !now || now->known != q.known;
    rc = rc ?: find_kernel(h, &q, now, &k, err);
    question_free(&q);
    bool none = rc == ERR_INVALID || rc == ERR_NOTFOUND || rc == ERR_STRICT;
    if (!rc || (none && other_form)) { /* a kernel of an earlier form of the op is no longer given */
        *changed += k != now;
        settle(e, k);
    }
    return none ? 0 : rc;
}

int table_refresh(cutune *c, int first, int *changed, struct err *err)
{
    for (cutune_handle *h = c->handles; h; h = h->next)
        for (struct entry *e = h->entries; e; e = e->next) {
            struct err why = { 0 };
            int rc = renew(h, e, changed, &why);
            first = err_first(err, first, rc, &why);
        }
    return first;
}
