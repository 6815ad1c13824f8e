/* A CUDA device, through the driver's API: its primary context, one stream of its own. The context becomes the calling thread's
 * current one with each call. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "device/check.h"
#include "device/cuda_part.h"

struct device {
    const struct cuda_api *cu;
    struct devspec spec;
    CUdevice handle;
    CUcontext context;
    CUstream stream;
    struct {
        CUevent begin, end; /* made when first used */
    } spans[MAX_SPANS];
    void *nvml; /* the management library's handle; null until clocks are asked for */
};

struct memory {
    CUdeviceptr at;
    int64_t bytes;
    bool is_view;
};

struct module {
    CUmodule handle;
    struct kernel *kernels; /* of this module */
};

struct kernel {
    CUfunction handle;
    int64_t dynamic_shared;
    struct cuda_params params;
    struct kernel *next;
};

/* A call that was refused leaves the context as good as before; every other failure has to be taken for the loss of it. */
static int code_of(CUresult rc)
{
    switch (rc) {
    case CUDA_ERROR_OUT_OF_MEMORY:
        return ERR_NOMEM;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
        return ERR_UNSUPPORTED;
    default:
        return ERR_DEVICE;
    }
}

int cuda_check(const struct cuda_api *cu, CUresult rc, struct err *err, const char *what)
{
    if (rc == CUDA_SUCCESS)
        return 0;
    const char *name = NULL, *text = NULL;
    cu->cuGetErrorName(rc, &name);
    cu->cuGetErrorString(rc, &text);
    return err_set(err, code_of(rc), "%s: %s (%s)", what, name ? name : "an unknown error", text ? text : "no text");
}

/* Every entry begins here. */
static int enter(struct device *d, struct err *err)
{
    return cuda_check(d->cu, d->cu->cuCtxSetCurrent(d->context), err, "cuCtxSetCurrent");
}

static void cuda_close(struct device *d)
{
    if (!d)
        return;
    const struct cuda_api *cu = d->cu;
    if (d->context) {
        cu->cuCtxSetCurrent(d->context);
        for (int i = 0; i < MAX_SPANS; i++) {
            if (d->spans[i].begin)
                cu->cuEventDestroy_v2(d->spans[i].begin);
            if (d->spans[i].end)
                cu->cuEventDestroy_v2(d->spans[i].end);
        }
        if (d->stream)
            cu->cuStreamDestroy_v2(d->stream);
        cu->cuCtxSetCurrent(NULL);
        cu->cuDevicePrimaryCtxRelease_v2(d->handle);
    }
    mem_free(d);
}

static int cuda_open(const struct devspec *spec, struct device **out, struct err *err)
{
    const struct cuda_api *cu = cuda_api(err);
    if (!cu)
        return ERR_UNSUPPORTED;
    struct device *d = mem_zalloc(sizeof *d);
    if (!d)
        return err_nomem(err);
    d->cu = cu;
    d->spec = *spec;
    int rc = cuda_check(cu, cu->cuDeviceGet(&d->handle, spec->index), err, "cuDeviceGet");
    if (!rc)
        rc = cuda_check(cu, cu->cuDevicePrimaryCtxRetain(&d->context, d->handle), err, "cuDevicePrimaryCtxRetain");
    if (rc) {
        d->context = NULL;
        goto out;
    }
    rc = enter(d, err);
    if (!rc)
        rc = cuda_check(cu, cu->cuStreamCreate(&d->stream, CU_STREAM_NON_BLOCKING), err, "cuStreamCreate");
out:
    if (rc) {
        err_prefix(err, "cuda:%d: ", spec->index);
        cuda_close(d);
        return rc;
    }
    *out = d;
    return 0;
}

static int cuda_alloc(struct device *d, int64_t bytes, struct memory **out, struct err *err)
{
    int rc = check_alloc(&d->spec, bytes, err);
    if (!rc)
        rc = enter(d, err);
    if (rc)
        return rc;
    struct memory *m = mem_zalloc(sizeof *m);
    if (!m)
        return err_nomem(err);
    m->bytes = bytes;
    CUresult result = d->cu->cuMemAlloc_v2(&m->at, (size_t)bytes);
    if (result == CUDA_SUCCESS) {
        *out = m;
        return 0;
    }
    mem_free(m);
    size_t left = 0, total = 0;
    if (result == CUDA_ERROR_OUT_OF_MEMORY && d->cu->cuMemGetInfo_v2(&left, &total) == CUDA_SUCCESS)
        return err_set(err, ERR_NOMEM, "cuda:%d: a buffer of %" PRId64 " bytes: %zu of %zu bytes are free", d->spec.index, bytes,
                       left, total);
    return cuda_check(d->cu, result, err, "cuMemAlloc");
}

static int cuda_view(struct device *d, struct memory *m, int64_t offset, int64_t bytes, struct memory **out, struct err *err)
{
    (void)d;
    int rc = check_view(offset, bytes, m->bytes, err);
    if (rc)
        return rc;
    struct memory *v = mem_zalloc(sizeof *v);
    if (!v)
        return err_nomem(err);
    *v = (struct memory){ .at = m->at + (uint64_t)offset, .bytes = bytes, .is_view = true };
    *out = v;
    return 0;
}

static void cuda_free(struct device *d, struct memory *m)
{
    if (!m)
        return;
    if (!m->is_view && enter(d, NULL) == 0)
        d->cu->cuMemFree_v2(m->at);
    mem_free(m);
}

static int cuda_fill(struct device *d, struct memory *m, int64_t offset, int64_t bytes, uint8_t value, struct err *err)
{
    int rc = check_part("a fill", offset, bytes, m->bytes, err);
    if (!rc)
        rc = enter(d, err);
    if (rc || !bytes)
        return rc;
    return cuda_check(d->cu, d->cu->cuMemsetD8Async(m->at + (uint64_t)offset, value, (size_t)bytes, d->stream), err,
                      "cuMemsetD8Async");
}

static int cuda_copy(struct device *d, struct memory *to, const struct memory *from, int64_t bytes, struct err *err)
{
    int rc = check_part("a copy", 0, bytes, to->bytes < from->bytes ? to->bytes : from->bytes, err);
    if (!rc)
        rc = enter(d, err);
    if (rc || !bytes)
        return rc;
    return cuda_check(d->cu, d->cu->cuMemcpyDtoDAsync_v2(to->at, from->at, (size_t)bytes, d->stream), err, "cuMemcpyDtoDAsync");
}

static int cuda_sync(struct device *d, struct err *err)
{
    int rc = enter(d, err);
    return rc ? rc : cuda_check(d->cu, d->cu->cuStreamSynchronize(d->stream), err, "cuStreamSynchronize");
}

static int cuda_write(struct device *d, struct memory *to, int64_t offset, const void *from, int64_t bytes, struct err *err)
{
    int rc = check_part("a write", offset, bytes, to->bytes, err);
    if (!rc)
        rc = enter(d, err);
    if (rc || !bytes)
        return rc;
    rc = cuda_check(d->cu, d->cu->cuMemcpyHtoDAsync_v2(to->at + (uint64_t)offset, from, (size_t)bytes, d->stream), err,
                    "cuMemcpyHtoDAsync");
    return rc ? rc : cuda_sync(d, err);
}

static int cuda_read(struct device *d, void *to, const struct memory *from, int64_t offset, int64_t bytes, struct err *err)
{
    int rc = check_part("a read", offset, bytes, from->bytes, err);
    if (!rc)
        rc = enter(d, err);
    if (rc || !bytes)
        return rc;
    rc = cuda_check(d->cu, d->cu->cuMemcpyDtoHAsync_v2(to, from->at + (uint64_t)offset, (size_t)bytes, d->stream), err,
                    "cuMemcpyDtoHAsync");
    return rc ? rc : cuda_sync(d, err);
}

static int cuda_load(struct device *d, const void *binary, size_t bytes, struct module **out, struct err *err)
{
    bool ptx;
    int rc = cuda_image_check(binary, bytes, &ptx, err);
    if (!rc)
        rc = enter(d, err);
    if (rc)
        return rc;
    struct module *m = mem_zalloc(sizeof *m);
    char *text = ptx ? mem_strndup(binary, bytes) : NULL;
    if (!m || (ptx && !text)) {
        rc = err_nomem(err);
        goto out;
    }
    char log[512] = "";
    CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *values[] = { log, (void *)(uintptr_t)(sizeof log - 1) };
    CUresult result = d->cu->cuModuleLoadDataEx(&m->handle, ptx ? text : binary, 2, options, values);
    rc = cuda_check(d->cu, result, err, "cuModuleLoadDataEx");
    if (rc && *log && err)
        rc = err_set(err, rc, "%s: %s", err->msg, log);
out:
    mem_free(text);
    if (rc)
        mem_free(m);
    else
        *out = m;
    return rc;
}

static void cuda_unload(struct device *d, struct module *m)
{
    if (!m)
        return;
    for (struct kernel *k = m->kernels, *next; k; k = next) {
        next = k->next;
        mem_free(k);
    }
    if (enter(d, NULL) == 0)
        d->cu->cuModuleUnload(m->handle);
    mem_free(m);
}

int cuda_params_get(const struct cuda_api *cu, CUfunction function, struct cuda_params *out, struct err *err)
{
    out->n = -1;
    if (!cu->cuFuncGetParamInfo)
        return 0;
    size_t offset, size;
    int n = 0;
    while (cu->cuFuncGetParamInfo(function, (size_t)n, &offset, &size) == CUDA_SUCCESS) {
        if (n == MAX_KARGS)
            return err_set(err, ERR_UNSUPPORTED, "more than %d parameters", MAX_KARGS);
        out->sizes[n++] = size;
    }
    out->n = n;
    return 0;
}

int cuda_params_check(const struct cuda_params *p, const size_t *sizes, int n, struct err *err)
{
    if (p->n < 0)
        return 0;
    if (p->n != n)
        return err_set(err, ERR_INVALID, "the kernel takes %d arguments, the launch gives %d", p->n, n);
    for (int i = 0; i < n; i++)
        if (p->sizes[i] != sizes[i])
            return err_set(err, ERR_INVALID, "kernel argument %d: the kernel takes %zu bytes, the launch gives %zu", i + 1,
                           p->sizes[i], sizes[i]);
    return 0;
}

static int read_resources(struct device *d, struct kernel *k, struct resources *r, struct err *err)
{
    static const CUfunction_attribute which[] = { CU_FUNC_ATTRIBUTE_NUM_REGS, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                                                  CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK };
    int value[4];
    for (int i = 0; i < 4; i++) {
        int rc = cuda_check(d->cu, d->cu->cuFuncGetAttribute(&value[i], which[i], k->handle), err, "cuFuncGetAttribute");
        if (rc)
            return rc;
    }
    *r = (struct resources){ .registers = value[0], .shared = value[1], .local = value[2], .max_threads = value[3] };
    return 0;
}

/* More than a block has without asking must be asked for; what others asked for is not taken back. */
int cuda_make_room(const struct cuda_api *cu, const struct devspec *spec, CUfunction function, int64_t dynamic_shared,
                   struct err *err)
{
    int fixed = 0, now = 0;
    int rc =
        cuda_check(cu, cu->cuFuncGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function), err, "cuFuncGetAttribute");
    if (!rc)
        rc = cuda_check(cu, cu->cuFuncGetAttribute(&now, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function), err,
                        "cuFuncGetAttribute");
    if (rc)
        return rc;
    if (dynamic_shared < 0 || dynamic_shared > spec->max_shared - fixed)
        return err_set(err, ERR_UNSUPPORTED, "%" PRId64 " bytes of dynamic and %d of static shared memory: a block has %" PRId64,
                       dynamic_shared, fixed, spec->max_shared);
    if (dynamic_shared + fixed <= spec->max_static_shared || dynamic_shared <= now)
        return 0;
    return cuda_check(cu, cu->cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)dynamic_shared),
                      err, "cuFuncSetAttribute");
}

static int cuda_kernel(struct device *d, struct module *m, const char *name, int64_t dynamic_shared, struct kernel **out,
                       struct resources *resources, struct err *err)
{
    int rc = enter(d, err);
    if (rc)
        return rc;
    struct kernel *k = mem_zalloc(sizeof *k);
    if (!k)
        return err_nomem(err);
    k->dynamic_shared = dynamic_shared;
    CUresult result = d->cu->cuModuleGetFunction(&k->handle, m->handle, name);
    struct resources r;
    if (result == CUDA_ERROR_NOT_FOUND)
        rc = err_set(err, ERR_NOTFOUND, "there is no kernel '%s' in the compiled code", name);
    else
        rc = cuda_check(d->cu, result, err, "cuModuleGetFunction");
    if (!rc)
        rc = read_resources(d, k, &r, err);
    if (!rc)
        rc = cuda_make_room(d->cu, &d->spec, k->handle, dynamic_shared, err);
    if (!rc)
        rc = cuda_params_get(d->cu, k->handle, &k->params, err);
    if (rc) {
        if (rc != ERR_NOTFOUND)
            err_prefix(err, "kernel '%s': ", name);
        mem_free(k);
        return rc;
    }
    k->next = m->kernels;
    m->kernels = k;
    if (resources)
        *resources = r;
    *out = k;
    return 0;
}

/* Points at each argument. What a kernel has beyond them, where the driver does not tell, reads zeros. */
static int fill_params(const struct kernel *k, const struct karg *args, int nargs, const void *params[MAX_KARGS], struct err *err)
{
    static const unsigned char zeros[4096];
    size_t sizes[MAX_KARGS];
    for (int i = 0; i < nargs; i++) {
        params[i] = args[i].memory ? (const void *)&args[i].memory->at : args[i].bytes;
        sizes[i] = args[i].memory ? sizeof args[i].memory->at : (size_t)args[i].size;
    }
    for (int i = nargs; i < MAX_KARGS; i++)
        params[i] = zeros;
    return cuda_params_check(&k->params, sizes, nargs, err);
}

static int cuda_launch(struct device *d, struct kernel *k, const struct geometry *g, const struct karg *args, int nargs,
                       struct err *err)
{
    const void *params[MAX_KARGS];
    int rc = check_launch(&d->spec, g, k->dynamic_shared, args, nargs, err);
    if (!rc)
        rc = fill_params(k, args, nargs, params, err);
    if (!rc)
        rc = enter(d, err);
    if (rc)
        return rc;
    CUresult result =
        d->cu->cuLaunchKernel(k->handle, (unsigned)g->grid[0], (unsigned)g->grid[1], (unsigned)g->grid[2], (unsigned)g->block[0],
                              (unsigned)g->block[1], (unsigned)g->block[2], (unsigned)g->shared, d->stream, (void **)params, NULL);
    return cuda_check(d->cu, result, err, "cuLaunchKernel");
}

static int record(struct device *d, CUevent *event, struct err *err)
{
    int rc = enter(d, err);
    if (!rc && !*event) {
        rc = cuda_check(d->cu, d->cu->cuEventCreate(event, CU_EVENT_DEFAULT), err, "cuEventCreate");
        if (rc)
            *event = NULL;
    }
    return rc ? rc : cuda_check(d->cu, d->cu->cuEventRecord(*event, d->stream), err, "cuEventRecord");
}

static int cuda_span_begin(struct device *d, int slot, struct err *err)
{
    int rc = check_slot(slot, err);
    return rc ? rc : record(d, &d->spans[slot].begin, err);
}

static int cuda_span_end(struct device *d, int slot, struct err *err)
{
    int rc = check_slot(slot, err);
    return rc ? rc : record(d, &d->spans[slot].end, err);
}

static int cuda_span_ns(struct device *d, int slot, double *ns, struct err *err)
{
    int rc = check_slot(slot, err);
    if (rc)
        return rc;
    if (!d->spans[slot].begin || !d->spans[slot].end)
        return err_set(err, ERR_INVALID, "span %d was never begun and ended", slot);
    rc = enter(d, err);
    float ms = 0;
    if (!rc)
        rc = cuda_check(d->cu, d->cu->cuEventElapsedTime(&ms, d->spans[slot].begin, d->spans[slot].end), err, "cuEventElapsedTime");
    if (!rc)
        *ns = (double)ms * 1e6;
    return rc;
}

static void cuda_clocks(struct device *d, int *sm_mhz, int *mem_mhz)
{
    *sm_mhz = *mem_mhz = 0;
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

const struct backend cuda_backend = {
    .name = "cuda",
    .format = "cubin",
    .list = cuda_list,
    .compiler_open = nvrtc_open,
    .compiler_close = nvrtc_close,
    .compile = nvrtc_compile,
    .compiler_name = nvrtc_name,
    .open = cuda_open,
    .close = cuda_close,
    .alloc = cuda_alloc,
    .view = cuda_view,
    .free = cuda_free,
    .fill = cuda_fill,
    .copy = cuda_copy,
    .write = cuda_write,
    .read = cuda_read,
    .load = cuda_load,
    .unload = cuda_unload,
    .kernel = cuda_kernel,
    .launch = cuda_launch,
    .span_begin = cuda_span_begin,
    .span_end = cuda_span_end,
    .span_ns = cuda_span_ns,
    .sync = cuda_sync,
    .clocks = cuda_clocks,
    .doctor = cuda_doctor,
};
