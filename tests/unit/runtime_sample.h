/* For the tests of libcutune: records of the sample op for the pretend device, which attach_null launches on. */
#ifndef UNIT_RUNTIME_SAMPLE_H
#define UNIT_RUNTIME_SAMPLE_H

#include "base/hash.h"
#include "store_sample.h"

#include "cutune.h"
#include "device/null.h"
#include "runtime/runtime.h"

/* What is said of a record; the rest is as in the sample: f32, TILE=32, GRID=xy, 1000 ns on null:0. */
struct recipe {
    int64_t m, n;
    int row, tile, grid; /* at: places of the values */
    int rank;            /* of a default */
    double ns;
    const struct devspec *dev;
    const char *source, *arch;
    bool plain;   /* needs nothing of its buffers */
    bool no_room; /* and no workspace: other arguments, too */
    bool unverified, alone;
    const char *constant; /* the name of an array that `in` goes into; null: it is passed */
};

static inline struct devspec pretend(void)
{
    return null_backend.sample;
}

static inline cutune_device public_device(const struct devspec *d)
{
    cutune_device out = {
        .size = sizeof out,
        .multiprocessors = d->multiprocessors,
        .memory = d->memory,
        .cc = d->cc,
        .warp = d->warp,
        .l2 = d->l2,
        .max_threads = d->max_threads,
        .max_shared = d->max_shared,
        .max_static_shared = d->max_static_shared,
        .max_alloc = d->max_alloc,
        .fp64 = d->fp64,
        .cpu = d->shares_cores,
    };
    strcpy(out.backend, d->backend);
    strcpy(out.name, d->name);
    strcpy(out.arch, d->arch);
    for (int i = 0; i < 3; i++) {
        out.max_block[i] = d->max_block[i];
        out.max_grid[i] = d->max_grid[i];
    }
    return out;
}

static inline struct tuned *tuned_as(const struct recipe *r)
{
    static const char magic[] = "cutuneN\n", plain_source[] = "void transpose() {\n}\nvoid finish() {\n}\n";
    struct config c = sample_config(r->tile, r->grid);
    struct tuned *t = sample_tuned(&c, r->ns > 0 ? r->ns : 1000);
    struct devspec null = pretend(), dev = r->dev ? *r->dev : null;
    t->source = r->source ? r->source : plain_source;
    size_t bytes = sizeof magic - 1 + strlen(t->source);
    char *binary = arena_alloc(t->op->arena, bytes);
    assert_non_null(binary);
    memcpy(binary, magic, sizeof magic - 1);
    memcpy(binary + sizeof magic - 1, t->source, strlen(t->source));
    t->binary = binary;
    t->binary_bytes = bytes;
    t->format = "null";
    t->arch = r->arch ? r->arch : arena_strdup(t->op->arena, dev.arch);
    t->compiler = "1";
    t->unverified = r->unverified;
    t->alone = r->alone;
    if (r->constant) {
        struct launch *l = t->op->variants->launches;
        t->op->args[1].constant = r->constant;
        memmove(l->args + 1, l->args + 2, (size_t)(--l->nargs - 1) * sizeof *l->args);
    }
    if (r->plain)
        t->op->variants->nneeds = 0;
    if (r->no_room) {
        t->op->variants->nworkspaces = 0;
        t->op->variants->launches[0].nargs = 4;
    }
    return t;
}

static inline struct target target_of(struct store *s, const struct recipe *r)
{
    struct devspec null = pretend();
    struct problem p = { { r->m, r->n } };
    struct target t;
    struct err err = { 0 };
    if (store_target(s, r->dev ? r->dev : &null, sample_op(), &p, r->row, true, &t, &err))
        fail_msg("%s", err.msg);
    return t;
}

/* A measurement alone. */
static inline void put_time_of(struct store *s, struct recipe r)
{
    struct target to = target_of(s, &r);
    struct tuned *t = tuned_as(&r);
    struct err err = { 0 };
    double samples[] = { t->time_ns };
    struct measured m = { .variant = t->variant, .json = t->json };
    m.result = (struct result){ .outcome = OUT_OK, .nsamples = 1, .samples = samples, .resources = { -1, -1, -1, -1 } };
    memcpy(m.key, t->key, HASH_HEX);
    assert_int_equal(stats_of(samples, 1, &m.result.stats, &err), 0);
    if (store_measured(s, &to, &m, &err))
        fail_msg("%s", err.msg);
    tuned_free(t);
}

static inline void put_winner_of(struct store *s, struct recipe r)
{
    struct target to = target_of(s, &r);
    struct tuned *t = tuned_as(&r);
    struct err err = { 0 };
    if (store_winner(s, &to, t, &err))
        fail_msg("%s", err.msg);
    tuned_free(t);
    put_time_of(s, r);
}

static inline void put_default_of(struct store *s, struct recipe r)
{
    struct devspec null = pretend();
    struct tuned *t = tuned_as(&r);
    struct err err = { 0 };
    t->role = TUNED_DEFAULT;
    t->rank = r.rank;
    t->time_ns = t->copy_ns = 0;
    if (store_default(s, r.dev ? r.dev : &null, sample_op(), r.row, t, &err))
        fail_msg("%s", err.msg);
    tuned_free(t);
}

/* One more winner, by a store of its own, as another process would. */
static inline void tune(const char *name, struct recipe r)
{
    struct store *s = open_at(name, STORE_WRITE);
    put_winner_of(s, r);
    store_close(s);
}

/* a.db: TILE=8 won at 1111 x 113 on the pretend device; a default that needs aligned buffers, and one that needs nothing. */
static inline int make_pretend(void **state)
{
    if (make_dir(state))
        return -1;
    setenv("XDG_CACHE_HOME", sample_dir, 1); /* nothing outside it */
    setenv("CUTUNE_TABLES", "", 1);
    struct store *s = open_at("a.db", STORE_WRITE);
    put_winner_of(s, (struct recipe){ .m = 1111, .n = 113, .tile = 1 });
    put_default_of(s, (struct recipe){ .rank = 0 });
    put_default_of(s, (struct recipe){ .rank = 1, .tile = 1, .grid = 1, .plain = true, .no_room = true });
    store_close(s);
    return 0;
}
#define with_pretend(test) cmocka_unit_test_setup_teardown(test, make_pretend, remove_dir)

/* What a cutune says, kept to be asked. */
struct said {
    int lines;
    char last[1024];
};

static inline void note(void *arg, const char *line)
{
    struct said *said = arg;
    said->lines++;
    snprintf(said->last, sizeof said->last, "%s", line);
}

/* For cutune_each. */
static inline int never(void *arg, const cutune_record *r)
{
    (void)arg;
    (void)r;
    return 0;
}

static inline cutune *open_pretend(cutune_options o)
{
    char path[PATH_ROOM];
    cutune *c = NULL;
    snprintf(path, sizeof path, "%s", in_dir("a.db"));
    o.size = sizeof o;
    o.path = o.path ? o.path : path;
    if (cutune_open_with(&o, &c))
        fail_msg("%s", cutune_error());
    return c;
}

/* A handle to the pretend device null:INDEX. */
static inline int attach_null(cutune *c, int index, cutune_handle **out)
{
    return attach_to(c, &null_backend, &index, out);
}

static inline cutune_handle *attached(cutune *c)
{
    cutune_handle *h = NULL;
    if (attach_null(c, 0, &h))
        fail_msg("%s", cutune_error());
    return h;
}

static inline cutune_handle *attached_to(cutune *c, const struct devspec *d)
{
    const cutune_device dev = public_device(d);
    cutune_handle *h = NULL;
    if (cutune_attach(c, &dev, &h))
        fail_msg("%s", cutune_error());
    return h;
}

static inline int try_find(cutune_handle *h, int64_t m, int64_t n, const cutune_kernel **k)
{
    const int64_t sizes[] = { m, n };
    return cutune_lookup(h, "transpose", "f32", sizes, 2, k);
}

static inline const cutune_kernel *find(cutune_handle *h, int64_t m, int64_t n)
{
    const cutune_kernel *k = NULL;
    if (try_find(h, m, n, &k))
        fail_msg("%s", cutune_error());
    return k;
}

static inline void assert_is(const cutune_kernel *k, cutune_match match, const char *config)
{
    if (cutune_kernel_match(k) != match || !strstr(cutune_kernel_config(k), config))
        fail_msg("%s, by %s: not %d %s", cutune_kernel_config(k), cutune_kernel_why(k), match, config);
}

static inline void assert_says(const char *words)
{
    if (!strstr(cutune_error(), words))
        fail_msg("'%s' does not say '%s'", cutune_error(), words);
}

#endif
