/* Handles: a device, and usually a context to launch in. */
#include <string.h>

#include "base/mem.h"
#include "device/device.h"
#include "runtime/runtime.h"

/* From backend to max_alloc both structs have the same members. */
#define AT(type, member) (offsetof(type, member) - offsetof(type, backend))
#define SAME(member)     (AT(cutune_device, member) == AT(struct devspec, member))
_Static_assert(SAME(name) && SAME(arch) && SAME(mig) && SAME(multiprocessors) && SAME(memory) && SAME(cc) && SAME(warp) &&
                   SAME(l2) && SAME(max_threads) && SAME(max_block) && SAME(max_grid) && SAME(max_shared) &&
                   SAME(max_static_shared) && SAME(max_alloc) && SAME(fp64),
               "cutune.h and model/devspec.h have the same members in the same order");

static void describe(const struct devspec *d, cutune_device *out)
{
    memcpy(out->backend, d, AT(struct devspec, fp64));
    out->fp64 = d->fp64;
    out->cpu = d->shares_cores;
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
    const struct {
        const char *text, *what;
        size_t room;
    } texts[] = { { d->backend, "backend", sizeof d->backend },
                  { d->name, "name", sizeof d->name },
                  { d->arch, "arch", sizeof d->arch },
                  { d->mig, "mig", sizeof d->mig } };
    for (int i = 0; i < 4; i++)
        if (!memchr(texts[i].text, 0, texts[i].room))
            return refuse(CUTUNE_ERR_INVALID, "the device's %s has no end", texts[i].what);
    const struct backend *b = backend_find(d->backend);
    *out = (struct devspec){ .unordered = b && b->sample.unordered, .fp64 = d->fp64, .shares_cores = d->cpu };
    memcpy(out, d->backend, AT(struct devspec, fp64));
    return 0;
}

static void handle_free(cutune_handle *h, bool here)
{
    if (h->own)
        h->own_close(h->own, here);
    else if (h->guest && here)
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
    arena_free(h->arena);
    pthread_mutex_destroy(&h->loading);
    mem_free(h);
}

/* Links a handle that `of` gives, with what is the same for all. */
static int attach(cutune *c, const struct devspec *dev, const struct backend *backend, void *native, const cutune_handle *of,
                  cutune_handle **out)
{
    struct err *err = thread_err();
    cutune_handle *h = mem_zalloc(sizeof *h);
    if (!h) {
        if (of)
            of->own_close(of->own, true);
        return err_nomem(err);
    }
    if (of)
        *h = *of;
    pthread_mutex_init(&h->loading, NULL);
    h->owner = c;
    h->generation = c->generation;
    h->thread = pthread_self();
    h->backend = backend;
    h->arena = arena_new();
    int rc = h->arena ? table_grow(h, err) : err_nomem(err);
    if (!rc && of)
        h->dev = of->guest->spec;
    else if (!rc && backend)
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
    return good(c, out) ?: take_device(device, &dev) ?: attach(c, &dev, NULL, NULL, NULL, out);
}

int attach_own(cutune *c, struct guest *guest, struct own *own, void (*own_close)(struct own *own, bool here), cutune_handle **out)
{
    const cutune_handle of = { .guest = guest, .own = own, .own_close = own_close };
    return attach(c, NULL, guest->backend, NULL, &of, out);
}

int attach_to(cutune *c, const struct backend *backend, void *native, cutune_handle **out)
{
    return good(c, out) ?: attach(c, NULL, backend, native, NULL, out);
}

int cutune_attach_cuda(cutune *c, void *context, cutune_handle **out)
{
    return attach_to(c, &cuda_backend, context, out);
}

int cutune_attach_opencl(cutune *c, void *queue, cutune_handle **out)
{
    return queue ? attach_to(c, &opencl_backend, queue, out) : refuse(CUTUNE_ERR_INVALID, "no command queue given");
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
