/* Which CUDA devices are there, from attributes alone: no context is made. */
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "device/cuda_part.h"

/* The driver's own version, "580.65.06": the API only knows that of its CUDA. */
static void driver_version(char *out, size_t size)
{
    struct buf text = { 0 };
    file_read("/sys/module/nvidia/version", 4096, &text, NULL);
    int n = (int)strcspn(buf_text(&text), " \n");
    snprintf(out, size, "%.*s%sCUDA %d.%d", n, buf_text(&text), n ? ", " : "", libcuda.version / 1000, libcuda.version % 1000 / 10);
    buf_free(&text);
}

static void identity(CUdevice device, struct devspec *d)
{
    libcuda.cuDeviceGetName(d->name, sizeof d->name, device);
    d->name[sizeof d->name - 1] = 0;
    /* "NVIDIA H100 80GB HBM3 MIG 1g.10gb" is a slice of the part. */
    char *mig = strstr(d->name, " MIG ");
    if (mig) {
        snprintf(d->mig, sizeof d->mig, "%s", mig + 5);
        *mig = 0;
    }
    CUuuid id = { { 0 } };
    if (libcuda.cuDeviceGetUuid_v2)
        libcuda.cuDeviceGetUuid_v2(&id, device);
    else
        libcuda.cuDeviceGetUuid(&id, device);
    size_t n = (size_t)snprintf(d->uuid, sizeof d->uuid, "%s", mig ? "MIG" : "GPU");
    for (int i = 0; i < 16; i++)
        n += (size_t)snprintf(d->uuid + n, sizeof d->uuid - n, "%s%02x", i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                              (unsigned char)id.bytes[i]);
}

static int attribute(CUdevice device, CUdevice_attribute which)
{
    int value = 0;
    libcuda.cuDeviceGetAttribute(&value, which, device);
    return value;
}

/* Its place in the driver's list. */
static int index_of(CUdevice device)
{
    int n = 0, i = 0;
    CUdevice at;
    libcuda.cuDeviceGetCount(&n);
    while (i < n && (libcuda.cuDeviceGet(&at, i) != CUDA_SUCCESS || at != device))
        i++;
    return i;
}

int cuda_describe(CUdevice device, struct devspec *d, struct err *err)
{
    size_t memory = 0;
    int rc = CUDA(err, cuDeviceTotalMem_v2, &memory, device);
    if (rc)
        return rc;
    *d = (struct devspec){ .backend = "cuda", .index = index_of(device), .fp64 = true };
    identity(device, d);
    driver_version(d->driver, sizeof d->driver);
    int major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    int minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    d->cc = major * 10 + minor;
    snprintf(d->arch, sizeof d->arch, "sm_%d", d->cc);
    d->multiprocessors = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    d->memory = d->max_alloc = (int64_t)memory;
    d->warp = attribute(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    d->l2 = attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    d->max_threads = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    for (unsigned i = 0; i < 3; i++) {
        d->max_block[i] = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i);
        d->max_grid[i] = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i);
    }
    d->max_static_shared = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    d->max_shared = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    if (d->max_shared < d->max_static_shared)
        d->max_shared = d->max_static_shared;
    return 0;
}

int cuda_list(struct devspec *out, int max, struct err *err)
{
    int n = 0;
    if (!cuda_api(err))
        return 0;
    int rc = CUDA(err, cuDeviceGetCount, &n);
    if (!rc && n == 0)
        err_set(err, 0, "the NVIDIA driver sees no GPU");
    for (int i = 0; i < n && i < max && !rc; i++) {
        CUdevice device;
        rc = CUDA(err, cuDeviceGet, &device, i) ?: cuda_describe(device, &out[i], err);
    }
    return rc ?: n;
}
