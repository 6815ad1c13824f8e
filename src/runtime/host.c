/* Arrays in host memory: a device of the library's own, and launches that copy to it and back. Exported C files have none of this. */
#include <string.h>

#include "base/mem.h"
#include "device/device.h"
#include "device/measuring.h"
#include "runtime/runtime.h"

struct own {
    struct device *device;
    pthread_mutex_t lock; /* a device is one thread's at a time */
};

static void own_close(struct own *own, bool here)
{
    if (here)
        device_close(own->device);
    else
        guest_forget(own->device->guest);
    pthread_mutex_destroy(&own->lock);
    mem_free(own);
}

int cutune_attach_device(cutune *c, const char *id, cutune_handle **out)
{
    struct err *err = thread_err();
    struct devspec spec;
    struct device *device;
    if (!c || !out)
        return refuse(CUTUNE_ERR_INVALID, c ? "no place for the handle" : "no cutune given");
    int rc = check_forks(c->generation) ?: device_find(id, &spec, err) ?: device_open(&spec, &device, err);
    if (rc)
        return rc;
    struct own *own = mem_zalloc(sizeof *own);
    if (!own) {
        device_close(device);
        return err_nomem(err);
    }
    own->device = device;
    pthread_mutex_init(&own->lock, NULL);
    return attach_own(c, device->guest, own, own_close, out);
}

/* Outputs go there, too: a kernel may leave gaps of them alone. */
static int run(const struct cutune_kernel *k, struct device *d, void *const *host, struct memory **memory, struct err *err)
{
    void *at[MAX_ARGS];
    int rc = 0, n = k->work.nbuffers;
    for (int i = 0; !rc && i < n; i++) {
        at[i] = host[i];
        if (k->buffers[i].scalar)
            continue;
        rc = device_alloc(d, k->buffers[i].bytes, &memory[i], err)
                 ?: device_write(d, memory[i], 0, host[i], k->buffers[i].bytes, err);
        if (!rc)
            at[i] = memory[i]->at;
    }
    rc = rc ?: cutune_launch(k, d->stream, at, n) ?: device_sync(d, err);
    for (int i = 0; !rc && i < n; i++)
        if (k->buffers[i].written)
            rc = device_read(d, host[i], memory[i], 0, k->buffers[i].bytes, err);
    return rc;
}

int cutune_launch_host(const cutune_kernel *k, void *const *buffers, int nbuffers)
{
    struct memory *memory[MAX_ARGS] = { NULL };
    if (!k)
        return refuse(CUTUNE_ERR_INVALID, "no kernel given");
    if (check_forks(k->handle->generation))
        return CUTUNE_ERR_INVALID;
    struct own *own = k->handle->own;
    if (!own)
        return refuse(CUTUNE_ERR_INVALID, "this handle's buffers are the device's: cutune_attach_device makes one for host memory");
    if (nbuffers != k->work.nbuffers || !buffers)
        return refuse(CUTUNE_ERR_INVALID, "%s takes %d buffers and scalars, not %d", k->known->op->name, k->work.nbuffers,
                      buffers ? nbuffers : 0);
    for (int i = 0; i < nbuffers; i++)
        if (!buffers[i])
            return refuse(CUTUNE_ERR_INVALID, "%s: %s is null", k->known->op->name, k->buffers[i].name);
    pthread_mutex_lock(&own->lock);
    int rc = run(k, own->device, buffers, memory, thread_err());
    for (int i = 0; i < nbuffers; i++)
        device_free(own->device, memory[i]);
    pthread_mutex_unlock(&own->lock);
    return rc;
}
