#include "model/devspec.h"

#include <stdio.h>
#include <string.h>

#include "model/serial.h"

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

bool devspec_kept(int i)
{
    return i == 0 || i == 4; /* the memory is not: a processor's varies */
}

void devspec_id(const struct devspec *d, char out[32])
{
    snprintf(out, 32, "%.15s:%d", d->backend, d->index);
}

const char *devspec_arch(const struct devspec *d, bool specific, char out[ARCH_NAME])
{
    size_t n = strlen(d->arch);
    if (!specific)
        return NULL;
    snprintf(out, ARCH_NAME, "%s%s", d->arch, n && d->arch[n - 1] == 'a' ? "" : "a");
    return out;
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

bool devspec_called(const struct devspec *d, const char *word)
{
    return !word || !strcmp(word, d->name) || !strcmp(word, d->arch) || !strcmp(word, d->backend);
}

void io_devspec(struct serial *s, struct devspec *d)
{
    io_text(s, d->backend, sizeof d->backend);
    io_text(s, d->name, sizeof d->name);
    io_text(s, d->arch, sizeof d->arch);
    io_text(s, d->mig, sizeof d->mig);
    io_int(s, &d->multiprocessors, 0, INT32_MAX);
    io_number(s, &d->memory, 0, INT64_MAX);
    io_int(s, &d->index, 0, INT32_MAX);
    io_text(s, d->uuid, sizeof d->uuid);
    io_text(s, d->driver, sizeof d->driver);
    io_int(s, &d->cc, 0, INT32_MAX);
    io_int(s, &d->warp, 0, INT32_MAX);
    io_number(s, &d->l2, 0, INT64_MAX);
    io_int(s, &d->max_threads, 0, INT32_MAX);
    for (int i = 0; i < 3; i++)
        io_int(s, &d->max_block[i], 0, INT32_MAX);
    for (int i = 0; i < 3; i++)
        io_number(s, &d->max_grid[i], 0, INT64_MAX);
    io_number(s, &d->max_shared, 0, INT64_MAX);
    io_number(s, &d->max_static_shared, 0, INT64_MAX);
    io_number(s, &d->max_alloc, 0, INT64_MAX);
    io_bool(s, &d->fp64);
    io_bool(s, &d->shares_cores);
    io_bool(s, &d->shared_driver);
    io_bool(s, &d->unordered);
}
