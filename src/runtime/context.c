/* Open, close, errors, versions, devices. */
#include <string.h>

#include "base/mem.h"
#include "device/device.h"
#include "runtime/runtime.h"

/* The public codes are the internal ones. */
_Static_assert(CUTUNE_ERR_NOMEM == (int)ERR_NOMEM && CUTUNE_ERR_INVALID == (int)ERR_INVALID &&
                   CUTUNE_ERR_NOTFOUND == (int)ERR_NOTFOUND && CUTUNE_ERR_IO == (int)ERR_IO &&
                   CUTUNE_ERR_DEVICE == (int)ERR_DEVICE && CUTUNE_ERR_UNSUPPORTED == (int)ERR_UNSUPPORTED &&
                   CUTUNE_ERR_BUSY == (int)ERR_BUSY && CUTUNE_ERR_TIMEOUT == (int)ERR_TIMEOUT &&
                   CUTUNE_ERR_CORRUPT == (int)ERR_CORRUPT,
               "cutune.h and base/err.h name the same codes");

int cutune_version(void)
{
    return CUTUNE_VERSION_NUMBER;
}

const char *cutune_version_text(void)
{
    return CUTUNE_VERSION;
}

int cutune_open(const char *path, cutune **out)
{
    if (!out)
        return CUTUNE_ERR_INVALID;
    struct cutune *c = *out = mem_zalloc(sizeof *c);
    if (!c)
        return CUTUNE_ERR_NOMEM;
    char *place = NULL;
    int rc = path ? 0 : store_default_path(false, &place, &c->err);
    if (!rc)
        rc = store_open(path ? path : place, STORE_READ, &c->store, &c->err);
    mem_free(place);
    return rc;
}

void cutune_close(cutune *c)
{
    if (!c)
        return;
    for (int i = 0; i < BUCKETS; i++)
        for (struct cutune_kernel *k = c->kernels[i], *next; k; k = next) {
            next = k->next;
            kernel_free(k);
        }
    for (struct known_op *k = c->ops, *next; k; k = next) {
        next = k->next;
        op_free(k->op);
        mem_free(k);
    }
    store_close(c->store);
    mem_free(c);
}

const char *cutune_error(const cutune *c)
{
    return c ? c->err.msg : "out of memory, or no cutune given";
}

int cutune_device_find(cutune *c, const char *id, cutune_device *out)
{
    if (!c)
        return CUTUNE_ERR_INVALID;
    if (!out || out->size < sizeof *out)
        return err_set(&c->err, ERR_INVALID, "no place for the device, or its size is not set to sizeof(cutune_device)");
    struct devspec d;
    int rc = device_find(id, &d, &c->err);
    if (rc)
        return rc;
    cutune_device found = {
        .size = out->size,
        .multiprocessors = d.multiprocessors,
        .memory = d.memory,
        .cc = d.cc,
        .warp = d.warp,
        .l2 = d.l2,
        .max_threads = d.max_threads,
        .max_block = { d.max_block[0], d.max_block[1], d.max_block[2] },
        .max_grid = { d.max_grid[0], d.max_grid[1], d.max_grid[2] },
        .max_shared = d.max_shared,
        .max_static_shared = d.max_static_shared,
        .max_alloc = d.max_alloc,
        .fp64 = d.fp64,
        .cpu = d.shares_cores,
    };
    memcpy(found.backend, d.backend, sizeof found.backend);
    memcpy(found.name, d.name, sizeof found.name);
    memcpy(found.arch, d.arch, sizeof found.arch);
    memcpy(found.mig, d.mig, sizeof found.mig);
    *out = found;
    return CUTUNE_OK;
}
