/* A CUDA device to measure on, through the driver's API: its primary context, one stream of its own. The context becomes the calling
 * thread's current one with each call. */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "base/util.h"
#include "device/cuda_part.h"

static struct cuda_context *of(struct device *d)
{
    return (struct cuda_context *)d->guest;
}

static CUdeviceptr at(const struct memory *m, int64_t offset)
{
    return (CUdeviceptr)(uintptr_t)m->at + (uint64_t)offset;
}

static int cuda_use(struct device *d, struct err *err)
{
    return CUDA(err, cuCtxSetCurrent, of(d)->context);
}

static void cuda_close(struct device *d)
{
    cuda_use(d, NULL);
    for (int i = 0; i < MAX_SPANS; i++)
        for (int end = 0; end < 2; end++)
            if (of(d)->spans[i][end])
                libcuda.cuEventDestroy_v2(of(d)->spans[i][end]);
    if (d->stream)
        libcuda.cuStreamDestroy_v2(d->stream);
    libcuda.cuCtxSetCurrent(NULL); /* the guest is about to let go of it */
}

static int open_guest(struct device *d, struct err *err)
{
    struct devspec spec;
    CUdevice handle;
    CUcontext context;
    int rc = cuda_api(err) ? 0 : ERR_UNSUPPORTED;
    rc = rc ?: CUDA(err, cuDeviceGet, &handle, d->spec.index) ?: CUDA(err, cuDevicePrimaryCtxRetain, &context, handle);
    if (rc)
        return rc;
    rc = guest_open(&cuda_backend, context, &spec, &d->guest, err);
    libcuda.cuDevicePrimaryCtxRelease_v2(handle); /* the guest has retained it */
    return rc;
}

static int cuda_open(struct device *d, struct err *err)
{
    CUstream stream;
    int rc = open_guest(d, err) ?: cuda_use(d, err) ?: CUDA(err, cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
    if (rc)
        err_prefix(err, "cuda:%d: ", d->spec.index);
    else
        d->stream = stream;
    return rc;
}

static int cuda_alloc(struct device *d, struct memory *m, struct err *err)
{
    CUdeviceptr place;
    CUresult result = libcuda.cuMemAlloc_v2(&place, (size_t)m->bytes);
    size_t left = 0, total = 0;
    if (result == CUDA_SUCCESS)
        m->at = (void *)(uintptr_t)place;
    if (result == CUDA_ERROR_OUT_OF_MEMORY && libcuda.cuMemGetInfo_v2(&left, &total) == CUDA_SUCCESS)
        return err_set(err, ERR_NOMEM, "cuda:%d: a buffer of %" PRId64 " bytes: %zu of %zu bytes are free", d->spec.index, m->bytes,
                       left, total);
    return cuda_check(result, err, "cuMemAlloc");
}

static void cuda_free(struct device *d, struct memory *m)
{
    if (!m->whole && !cuda_use(d, NULL))
        libcuda.cuMemFree_v2(at(m, 0));
}

static int cuda_fill(struct device *d, struct memory *m, int64_t offset, int64_t bytes, uint8_t value, struct err *err)
{
    return CUDA(err, cuMemsetD8Async, at(m, offset), value, (size_t)bytes, d->stream);
}

static int cuda_sync(struct device *d, struct err *err)
{
    return CUDA(err, cuStreamSynchronize, d->stream);
}

static int cuda_copy(struct device *d, struct copy_end to, struct copy_end from, int64_t bytes, struct err *err)
{
    size_t n = (size_t)bytes;
    if (!from.memory)
        return CUDA(err, cuMemcpyHtoDAsync_v2, at(to.memory, to.offset), from.host, n, d->stream) ?: cuda_sync(d, err);
    if (!to.memory)
        return CUDA(err, cuMemcpyDtoHAsync_v2, to.host, at(from.memory, from.offset), n, d->stream) ?: cuda_sync(d, err);
    return CUDA(err, cuMemcpyDtoDAsync_v2, at(to.memory, to.offset), at(from.memory, from.offset), n, d->stream);
}

static int cuda_mark(struct device *d, int slot, bool end, struct err *err)
{
    CUevent *event = &of(d)->spans[slot][end];
    int rc = *event ? 0 : CUDA(err, cuEventCreate, event, CU_EVENT_DEFAULT);
    return rc ?: CUDA(err, cuEventRecord, *event, d->stream);
}

static int cuda_span_ns(struct device *d, int slot, double *ns, struct err *err)
{
    CUevent *span = of(d)->spans[slot];
    float ms = 0;
    if (!span[0] || !span[1])
        return err_set(err, ERR_INVALID, "span %d was never begun and ended", slot);
    int rc = CUDA(err, cuEventElapsedTime, &ms, span[0], span[1]);
    if (!rc)
        *ns = (double)ms * 1e6;
    return rc;
}

static struct nvml_api libnvml;
static bool have_nvml;

static void load_nvml(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    have_nvml = library && library_find(library, "nvmlInit_v2", &libnvml.nvmlInit_v2) &&
                library_find(library, "nvmlDeviceGetHandleByPciBusId_v2", &libnvml.nvmlDeviceGetHandleByPciBusId_v2) &&
                library_find(library, "nvmlDeviceGetClockInfo", &libnvml.nvmlDeviceGetClockInfo) &&
                libnvml.nvmlInit_v2() == NVML_SUCCESS;
    if (!have_nvml)
        return;
    library_find(library, "nvmlDeviceGetHandleByUUID", &libnvml.nvmlDeviceGetHandleByUUID);
    library_find(library, "nvmlDeviceGetTotalEnergyConsumption", &libnvml.nvmlDeviceGetTotalEnergyConsumption);
    (void)(library_find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", &libnvml.nvmlDeviceGetCurrentClocksThrottleReasons) ||
           library_find(library, "nvmlDeviceGetCurrentClocksEventReasons", &libnvml.nvmlDeviceGetCurrentClocksThrottleReasons));
    library_find(library, "nvmlErrorString", &libnvml.nvmlErrorString);
}

static const struct nvml_api *nvml_api(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_nvml);
    return have_nvml ? &libnvml : NULL;
}

/* The management library's handle of the very device: by its UUID, or by its place on the bus. Null if it knows none. */
static nvmlDevice_t nvml_handle(struct device *d, const struct nvml_api *nvml)
{
    nvmlDevice_t *handle = &of(d)->nvml;
    char bus[32] = "";
    if (!nvml || *handle)
        return *handle;
    if (nvml->nvmlDeviceGetHandleByUUID && nvml->nvmlDeviceGetHandleByUUID(d->spec.uuid, handle) == NVML_SUCCESS && *handle)
        return *handle;
    if (libcuda.cuDeviceGetPCIBusId(bus, sizeof bus, of(d)->device) != CUDA_SUCCESS ||
        nvml->nvmlDeviceGetHandleByPciBusId_v2(bus, handle) != NVML_SUCCESS)
        *handle = NULL;
    return *handle;
}

static void cuda_clocks(struct device *d, int *sm_mhz, int *mem_mhz)
{
    const struct nvml_api *nvml = nvml_api();
    nvmlDevice_t handle = nvml_handle(d, nvml);
    unsigned int mhz;
    if (!handle)
        return;
    if (nvml->nvmlDeviceGetClockInfo(handle, NVML_CLOCK_SM, &mhz) == NVML_SUCCESS)
        *sm_mhz = (int)mhz;
    if (nvml->nvmlDeviceGetClockInfo(handle, NVML_CLOCK_MEM, &mhz) == NVML_SUCCESS)
        *mem_mhz = (int)mhz;
}

/* Asking takes a while, and what throttles does so for longer: asked no more often than costs a hundredth of the time. */
static bool cuda_throttles(struct device *d)
{
    /* A slowdown by hardware or for heat, a power brake. Not the power cap, which holds for each run of what draws so much. */
    enum { REASONS = 0x08 | 0x20 | 0x40 | 0x80, SELDOM = 100 };
    static int64_t next_ns;
    const struct nvml_api *nvml = nvml_api();
    nvmlDevice_t handle = nvml_handle(d, nvml);
    unsigned long long reasons = 0;
    int64_t now = clock_ns();
    if (!handle || !nvml->nvmlDeviceGetCurrentClocksThrottleReasons || now < next_ns)
        return false;
    bool does = nvml->nvmlDeviceGetCurrentClocksThrottleReasons(handle, &reasons) == NVML_SUCCESS && (reasons & REASONS);
    int64_t after = clock_ns();
    next_ns = does ? after : after + SELDOM * (after - now);
    return does;
}

static int cuda_energy(struct device *d, double *joules, struct err *err)
{
    const struct nvml_api *nvml = nvml_api();
    unsigned long long counted = 0;
    if (!nvml || !nvml->nvmlDeviceGetTotalEnergyConsumption)
        return err_set(err, ERR_UNSUPPORTED, "no energy counter: %s",
                       nvml ? "libnvidia-ml.so.1 is too old for it" : "there is no libnvidia-ml.so.1 that starts");
    if (*d->spec.mig) /* the counter is the whole part's */
        return err_set(err, ERR_UNSUPPORTED, "no energy counter: NVML counts that of a whole GPU, not of the MIG slice %s",
                       d->spec.mig);
    nvmlDevice_t handle = nvml_handle(d, nvml);
    nvmlReturn_t rc = handle ? nvml->nvmlDeviceGetTotalEnergyConsumption(handle, &counted) : NVML_SUCCESS;
    *joules = (double)counted / 1e3;
    if (!handle || rc)
        return err_set(err, ERR_UNSUPPORTED, "no energy counter: NVML %s %s%s%s", handle ? "refuses it for" : "does not know",
                       d->spec.uuid, rc ? ": " : "", rc && nvml->nvmlErrorString ? nvml->nvmlErrorString(rc) : "");
    return 0;
}

const struct backend_measuring cuda_measuring = {
    .open = cuda_open,
    .close = cuda_close,
    .use = cuda_use,
    .alloc = cuda_alloc,
    .view = view_address,
    .free = cuda_free,
    .fill = cuda_fill,
    .copy = cuda_copy,
    .mark = cuda_mark,
    .span_ns = cuda_span_ns,
    .sync = cuda_sync,
    .clocks = cuda_clocks,
    .throttles = cuda_throttles,
    .energy = cuda_energy,
    .call_open = cuda_call_open,
    .call_run = cuda_call_run,
    .call_close = cuda_call_close,
};
