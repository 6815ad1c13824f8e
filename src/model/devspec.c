#include "model/devspec.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    "device.backend",         "device.cc",     "device.warp",        "device.l2",
    "device.multiprocessors", "device.memory", "device.max_threads", "device.max_shared",
};

enum { NNAMES = sizeof names / sizeof *names };

const char *devspec_name(int i)
{
    return i >= 0 && i < NNAMES ? names[i] : NULL;
}

struct val devspec_val(const struct devspec *d, int i)
{
    const struct val vals[NNAMES] = {
        val_str(d->backend),         val_int(d->cc),     val_int(d->warp),        val_int(d->l2),
        val_int(d->multiprocessors), val_int(d->memory), val_int(d->max_threads), val_int(d->max_shared),
    };
    return i >= 0 && i < NNAMES ? vals[i] : (struct val){ .type = VAL_NIL };
}

void devspec_id(const struct devspec *d, char out[32])
{
    snprintf(out, 32, "%.15s:%d", d->backend, d->index);
}

int64_t devspec_memory(const struct devspec *d)
{
    return d->shares_cores ? 0 : d->memory;
}

bool devspec_same(const struct devspec *a, const struct devspec *b)
{
    return !strcmp(a->backend, b->backend) && !strcmp(a->name, b->name) && !strcmp(a->arch, b->arch) && !strcmp(a->mig, b->mig) &&
           a->multiprocessors == b->multiprocessors && devspec_memory(a) == devspec_memory(b);
}

void devspec_put(struct buf *out, const struct devspec *d)
{
    buf_lstr(out, d->backend);
    buf_lstr(out, d->name);
    buf_lstr(out, d->arch);
    buf_lstr(out, d->mig);
    buf_i64(out, d->multiprocessors);
    buf_i64(out, d->memory);
    buf_i64(out, d->index);
    buf_lstr(out, d->uuid);
    buf_lstr(out, d->driver);
    buf_i64(out, d->cc);
    buf_i64(out, d->warp);
    buf_i64(out, d->l2);
    buf_i64(out, d->max_threads);
    for (int i = 0; i < 3; i++)
        buf_i64(out, d->max_block[i]);
    for (int i = 0; i < 3; i++)
        buf_i64(out, d->max_grid[i]);
    buf_i64(out, d->max_shared);
    buf_i64(out, d->max_static_shared);
    buf_i64(out, d->max_alloc);
    buf_u8(out, d->fp64);
    buf_u8(out, d->shares_cores);
    buf_u8(out, d->shared_driver);
    buf_u8(out, d->unordered);
}

static void get_text(struct cursor *in, char *to, size_t room)
{
    size_t n;
    const char *s = get_lstr(in, &n);
    if (!s || n >= room) {
        in->bad = true;
        return;
    }
    memcpy(to, s, n);
    to[n] = 0;
}

static int64_t get_count(struct cursor *in, int64_t max)
{
    int64_t v = get_i64(in);
    if (v < 0 || v > max)
        in->bad = true;
    return in->bad ? 0 : v;
}

static int get_int(struct cursor *in)
{
    return (int)get_count(in, INT32_MAX);
}

static bool get_bool(struct cursor *in)
{
    uint8_t v = get_u8(in);
    if (v > 1)
        in->bad = true;
    return v == 1;
}

void devspec_get(struct cursor *in, struct devspec *d)
{
    *d = (struct devspec){ 0 };
    get_text(in, d->backend, sizeof d->backend);
    get_text(in, d->name, sizeof d->name);
    get_text(in, d->arch, sizeof d->arch);
    get_text(in, d->mig, sizeof d->mig);
    d->multiprocessors = get_int(in);
    d->memory = get_count(in, INT64_MAX);
    d->index = get_int(in);
    get_text(in, d->uuid, sizeof d->uuid);
    get_text(in, d->driver, sizeof d->driver);
    d->cc = get_int(in);
    d->warp = get_int(in);
    d->l2 = get_count(in, INT64_MAX);
    d->max_threads = get_int(in);
    for (int i = 0; i < 3; i++)
        d->max_block[i] = get_int(in);
    for (int i = 0; i < 3; i++)
        d->max_grid[i] = get_count(in, INT64_MAX);
    d->max_shared = get_count(in, INT64_MAX);
    d->max_static_shared = get_count(in, INT64_MAX);
    d->max_alloc = get_count(in, INT64_MAX);
    d->fp64 = get_bool(in);
    d->shares_cores = get_bool(in);
    d->shared_driver = get_bool(in);
    d->unordered = get_bool(in);
    if (in->bad)
        *d = (struct devspec){ 0 };
}
