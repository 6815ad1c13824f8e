/* Handles: a device, and usually a context to launch in. */
#include <string.h>

#include "base/mem.h"
#include "device/device.h"
#include "runtime/runtime.h"

enum { FIRST_PLACES = 256 };

_Static_assert(sizeof((cutune_device){ 0 }.backend) == sizeof((struct devspec){ 0 }.backend) &&
                   sizeof((cutune_device){ 0 }.name) == sizeof((struct devspec){ 0 }.name) &&
                   sizeof((cutune_device){ 0 }.arch) == sizeof((struct devspec){ 0 }.arch) &&
                   sizeof((cutune_device){ 0 }.mig) == sizeof((struct devspec){ 0 }.mig),
               "cutune.h and model/devspec.h have the same room for names");

static void describe(const struct devspec *d, cutune_device *out)
{
    cutune_device found = {
        .size = out->size,
        .multiprocessors = d->multiprocessors,
        .memory = d->memory,
        .cc = d->cc,
        .warp = d->warp,
        .l2 = d->l2,
        .max_threads = d->max_threads,
        .max_block = { d->max_block[0], d->max_block[1], d->max_block[2] },
        .max_grid = { d->max_grid[0], d->max_grid[1], d->max_grid[2] },
        .max_shared = d->max_shared,
        .max_static_shared = d->max_static_shared,
        .max_alloc = d->max_alloc,
        .fp64 = d->fp64,
        .cpu = d->shares_cores,
    };
    memcpy(found.backend, d->backend, sizeof found.backend);
    memcpy(found.name, d->name, sizeof found.name);
    memcpy(found.arch, d->arch, sizeof found.arch);
    memcpy(found.mig, d->mig, sizeof found.mig);
    *out = found;
}

int cutune_device_find(const char *id, cutune_device *out)
{
    if (!out || out->size < sizeof *out)
        return refuse(CUTUNE_ERR_INVALID, "no place for the device, or its size is not set to sizeof(cutune_device)");
    struct devspec d;
    int rc = device_find(id, &d, thread_err());
    if (!rc)
        describe(&d, out);
    return rc;
}

int cutune_handle_device(const cutune_handle *h, cutune_device *out)
{
    if (!h || !out || out->size < sizeof *out)
        return refuse(CUTUNE_ERR_INVALID, "no handle, or no place for the device with its size set to sizeof(cutune_device)");
    if (check_forks(h->generation))
        return CUTUNE_ERR_INVALID;
    describe(&h->dev, out);
    return CUTUNE_OK;
}

static int take_text(char *to, size_t room, const char *from, const char *what)
{
    size_t n = strnlen(from, room);
    if (n == room)
        return refuse(CUTUNE_ERR_INVALID, "the device's %s has no end", what);
    memcpy(to, from, n + 1);
    return 0;
}

/* Sizes and counts; some are 0 if unknown. */
static bool has_negative(const cutune_device *d)
{
    int64_t least = 0;
    const int64_t all[] = { d->multiprocessors, d->memory,       d->cc,           d->warp,         d->l2,
                            d->max_threads,     d->max_shared,   d->max_alloc,    d->max_grid[0],  d->max_grid[1],
                            d->max_grid[2],     d->max_block[0], d->max_block[1], d->max_block[2], d->max_static_shared };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        least = all[i] < least ? all[i] : least;
    return least < 0;
}

static int take_device(const cutune_device *d, struct devspec *out)
{
    if (!d)
        return refuse(CUTUNE_ERR_INVALID, "no device given: cutune_device_find describes one");
    if (d->size < sizeof *d)
        return refuse(CUTUNE_ERR_INVALID, "the device's size is %zu: set it to sizeof(cutune_device), %zu", d->size, sizeof *d);
    if (!*d->backend || has_negative(d))
        return refuse(CUTUNE_ERR_INVALID,
                      !*d->backend ? "the device has no backend, such as \"cuda\"" : "the device has a negative size");
    const struct backend *b = memchr(d->backend, 0, sizeof d->backend) ? backend_find(d->backend) : NULL;
    *out = (struct devspec){
        .unordered = b && b->sample.unordered,
        .multiprocessors = d->multiprocessors,
        .memory = d->memory,
        .cc = d->cc,
        .warp = d->warp,
        .l2 = d->l2,
        .max_threads = d->max_threads,
        .max_block = { d->max_block[0], d->max_block[1], d->max_block[2] },
        .max_grid = { d->max_grid[0], d->max_grid[1], d->max_grid[2] },
        .max_shared = d->max_shared,
        .max_static_shared = d->max_static_shared,
        .max_alloc = d->max_alloc,
        .fp64 = d->fp64,
        .shares_cores = d->cpu,
    };
    int rc = take_text(out->backend, sizeof out->backend, d->backend, "backend")
                 ?: take_text(out->name, sizeof out->name, d->name, "name");
    return rc ?: take_text(out->arch, sizeof out->arch, d->arch, "arch") ?: take_text(out->mig, sizeof out->mig, d->mig, "mig");
}

static void handle_free(cutune_handle *h, bool here)
{
    if (h->guest && here)
        guest_close(h->guest); /* waits for running kernels, and unloads all code */
    else if (h->guest)
        guest_forget(h->guest);
    for (struct cutune_kernel *k = h->kernels, *next; k; k = next) {
        next = k->next;
        kernel_free(k);
    }
    for (struct code *c = h->codes, *next; c; c = next) {
        next = c->next;
        code_free(c);
    }
    for (struct table *t = atomic_load(&h->table), *next; t; t = next) {
        next = t->older;
        mem_free(t);
    }
    arena_free(h->arena);
    pthread_mutex_destroy(&h->loading);
    mem_free(h);
}

static int attach(cutune *c, const struct devspec *dev, const struct backend *backend, void *native, cutune_handle **out)
{
    struct err *err = thread_err();
    struct table *table = NULL;
    cutune_handle *h = mem_zalloc(sizeof *h);
    if (!h)
        return err_nomem(err);
    pthread_mutex_init(&h->loading, NULL);
    h->owner = c;
    h->generation = c->generation;
    h->backend = backend;
    h->arena = arena_new();
    int rc = h->arena ? table_new(FIRST_PLACES, &table, err) : err_nomem(err);
    atomic_init(&h->table, table);
    if (!rc && backend)
        rc = guest_open(backend, native, &h->dev, &h->guest, err);
    else if (!rc)
        h->dev = *dev;
    if (rc) {
        handle_free(h, true);
        return rc;
    }
    pthread_mutex_lock(&c->lock);
    h->next = c->handles;
    c->handles = h;
    pthread_mutex_unlock(&c->lock);
    *out = h;
    return CUTUNE_OK;
}

static int good(const cutune *c, cutune_handle **out)
{
    if (!c || !out)
        return refuse(CUTUNE_ERR_INVALID, c ? "no place for the handle" : "no cutune given");
    return check_forks(c->generation);
}

int cutune_attach(cutune *c, const cutune_device *device, cutune_handle **out)
{
    struct devspec dev;
    return good(c, out) ?: take_device(device, &dev) ?: attach(c, &dev, NULL, NULL, out);
}

int attach_to(cutune *c, const struct backend *backend, void *native, cutune_handle **out)
{
    return good(c, out) ?: attach(c, NULL, backend, native, out);
}

int cutune_attach_cuda(cutune *c, void *context, cutune_handle **out)
{
    return attach_to(c, &cuda_backend, context, out);
}

int cutune_attach_opencl(cutune *c, void *queue, cutune_handle **out)
{
    int rc = good(c, out);
    if (!rc && !queue)
        rc = refuse(CUTUNE_ERR_INVALID, "no command queue given");
    return rc ?: attach_to(c, &opencl_backend, queue, out);
}

void cutune_detach(cutune_handle *h)
{
    if (!h)
        return;
    cutune *c = h->owner;
    bool here = h->generation == atomic_load(&fork_generation);
    if (here) {
        watch_flush(c, NULL);
        pthread_mutex_lock(&c->lock);
    }
    for (cutune_handle **at = &c->handles; *at; at = &(*at)->next)
        if (*at == h) {
            *at = h->next;
            break;
        }
    if (here)
        pthread_mutex_unlock(&c->lock);
    handle_free(h, here);
}
