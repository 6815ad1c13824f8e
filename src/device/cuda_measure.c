/* A CUDA device to measure on, through the driver's API: its primary context, one stream of its own. The context becomes the calling
 * thread's current one with each call. */
#include <inttypes.h>
#include <string.h>

#include "device/cuda_part.h"

struct cuda_device {
    struct device d;
    const struct cuda_api *cu;
    CUdevice handle;
    CUcontext context;
    struct {
        CUevent begin, end; /* made when first used */
    } spans[MAX_SPANS];
    void *nvml; /* the management library's handle; null until clocks are asked for */
};

static struct cuda_device *of(struct device *d)
{
    return (struct cuda_device *)d;
}

static CUdeviceptr at(const struct memory *m, int64_t offset)
{
    return (CUdeviceptr)(uintptr_t)m->at + (uint64_t)offset;
}

static int cuda_use(struct device *d, struct err *err)
{
    const struct cuda_api *cu = of(d)->cu;
    return cuda_check(cu, cu->cuCtxSetCurrent(of(d)->context), err, "cuCtxSetCurrent");
}

static void cuda_close(struct device *device)
{
    struct cuda_device *d = of(device);
    const struct cuda_api *cu = d->cu;
    if (!d->context)
        return;
    cu->cuCtxSetCurrent(d->context);
    for (int i = 0; i < MAX_SPANS; i++) {
        if (d->spans[i].begin)
            cu->cuEventDestroy_v2(d->spans[i].begin);
        if (d->spans[i].end)
            cu->cuEventDestroy_v2(d->spans[i].end);
    }
    if (device->stream)
        cu->cuStreamDestroy_v2(device->stream);
    cuda_backend.close(device->guest);
    cu->cuCtxSetCurrent(NULL);
    cu->cuDevicePrimaryCtxRelease_v2(d->handle);
}

/* The context is noted only once it is retained, for close gives back what is noted. */
static int retain(struct cuda_device *d, struct err *err)
{
    CUcontext context = NULL;
    int rc = cuda_check(d->cu, d->cu->cuDeviceGet(&d->handle, d->d.spec.index), err, "cuDeviceGet")
                 ?: cuda_check(d->cu, d->cu->cuDevicePrimaryCtxRetain(&context, d->handle), err, "cuDevicePrimaryCtxRetain");
    if (!rc)
        d->context = context;
    return rc;
}

static int cuda_open(struct device *device, struct err *err)
{
    struct cuda_device *d = of(device);
    CUstream stream = NULL;
    d->cu = cuda_api(err);
    if (!d->cu)
        return ERR_UNSUPPORTED;
    int rc = retain(d, err)
        ?: cuda_use(device, err)
        ?: cuda_check(d->cu, d->cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), err, "cuStreamCreate");
    if (!rc) {
        device->stream = stream;
        rc = cuda_open_own(d->context, &device->guest, err);
    }
    if (rc)
        err_prefix(err, "cuda:%d: ", device->spec.index);
    return rc;
}

static int cuda_alloc(struct device *d, struct memory *m, struct err *err)
{
    const struct cuda_api *cu = of(d)->cu;
    CUdeviceptr place;
    CUresult result = cu->cuMemAlloc_v2(&place, (size_t)m->bytes);
    size_t left = 0, total = 0;
    if (result == CUDA_SUCCESS)
        m->at = (void *)(uintptr_t)place;
    if (result == CUDA_ERROR_OUT_OF_MEMORY && cu->cuMemGetInfo_v2(&left, &total) == CUDA_SUCCESS)
        return err_set(err, ERR_NOMEM, "cuda:%d: a buffer of %" PRId64 " bytes: %zu of %zu bytes are free", d->spec.index, m->bytes,
                       left, total);
    return cuda_check(cu, result, err, "cuMemAlloc");
}

static void cuda_free(struct device *d, struct memory *m)
{
    if (!m->is_view && !cuda_use(d, NULL))
        of(d)->cu->cuMemFree_v2(at(m, 0));
}

static int cuda_fill(struct device *d, struct memory *m, int64_t offset, int64_t bytes, uint8_t value, struct err *err)
{
    const struct cuda_api *cu = of(d)->cu;
    return cuda_check(cu, cu->cuMemsetD8Async(at(m, offset), value, (size_t)bytes, d->stream), err, "cuMemsetD8Async");
}

static int cuda_copy(struct device *d, struct memory *to, const struct memory *from, int64_t bytes, struct err *err)
{
    const struct cuda_api *cu = of(d)->cu;
    return cuda_check(cu, cu->cuMemcpyDtoDAsync_v2(at(to, 0), at(from, 0), (size_t)bytes, d->stream), err, "cuMemcpyDtoDAsync");
}

static int cuda_sync(struct device *d, struct err *err)
{
    const struct cuda_api *cu = of(d)->cu;
    return cuda_check(cu, cu->cuStreamSynchronize(d->stream), err, "cuStreamSynchronize");
}

static int cuda_write(struct device *d, struct memory *to, int64_t offset, const void *from, int64_t bytes, struct err *err)
{
    const struct cuda_api *cu = of(d)->cu;
    return cuda_check(cu, cu->cuMemcpyHtoDAsync_v2(at(to, offset), from, (size_t)bytes, d->stream), err, "cuMemcpyHtoDAsync")
               ?: cuda_sync(d, err);
}

static int cuda_read(struct device *d, void *to, const struct memory *from, int64_t offset, int64_t bytes, struct err *err)
{
    const struct cuda_api *cu = of(d)->cu;
    return cuda_check(cu, cu->cuMemcpyDtoHAsync_v2(to, at(from, offset), (size_t)bytes, d->stream), err, "cuMemcpyDtoHAsync")
               ?: cuda_sync(d, err);
}

static int record(struct device *d, CUevent *event, struct err *err)
{
    const struct cuda_api *cu = of(d)->cu;
    CUevent made = NULL;
    int rc = *event ? 0 : cuda_check(cu, cu->cuEventCreate(&made, CU_EVENT_DEFAULT), err, "cuEventCreate");
    if (rc)
        return rc;
    if (made)
        *event = made;
    return cuda_check(cu, cu->cuEventRecord(*event, d->stream), err, "cuEventRecord");
}

static int cuda_span_begin(struct device *d, int slot, struct err *err)
{
    return record(d, &of(d)->spans[slot].begin, err);
}

static int cuda_span_end(struct device *d, int slot, struct err *err)
{
    return record(d, &of(d)->spans[slot].end, err);
}

static int cuda_span_ns(struct device *device, int slot, double *ns, struct err *err)
{
    struct cuda_device *d = of(device);
    float ms = 0;
    if (!d->spans[slot].begin || !d->spans[slot].end)
        return err_set(err, ERR_INVALID, "span %d was never begun and ended", slot);
    int rc = cuda_check(d->cu, d->cu->cuEventElapsedTime(&ms, d->spans[slot].begin, d->spans[slot].end), err, "cuEventElapsedTime");
    if (!rc)
        *ns = (double)ms * 1e6;
    return rc;
}

static void cuda_clocks(struct device *device, int *sm_mhz, int *mem_mhz)
{
    struct cuda_device *d = of(device);
    const struct nvml_api *nvml = nvml_api();
    char bus[32] = "";
    if (!nvml)
        return;
    if (!d->nvml && (d->cu->cuDeviceGetPCIBusId(bus, sizeof bus, d->handle) != CUDA_SUCCESS ||
                     nvml->nvmlDeviceGetHandleByPciBusId_v2(bus, &d->nvml) != 0)) {
        d->nvml = NULL;
        return;
    }
    unsigned int mhz;
    if (nvml->nvmlDeviceGetClockInfo(d->nvml, NVML_CLOCK_SM, &mhz) == 0)
        *sm_mhz = (int)mhz;
    if (nvml->nvmlDeviceGetClockInfo(d->nvml, NVML_CLOCK_MEM, &mhz) == 0)
        *mem_mhz = (int)mhz;
}

const struct backend_measuring cuda_measuring = {
    .size = sizeof(struct cuda_device),
    .open = cuda_open,
    .close = cuda_close,
    .use = cuda_use,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .fill = cuda_fill,
    .copy = cuda_copy,
    .write = cuda_write,
    .read = cuda_read,
    .span_begin = cuda_span_begin,
    .span_end = cuda_span_end,
    .span_ns = cuda_span_ns,
    .sync = cuda_sync,
    .clocks = cuda_clocks,
};
