/* Launching in a CUDA context: an application's, or our own. Code is loaded as a library of the driver's if it has them (12.0), else as
 * a module.
 *
 * The driver may read freed memory when it is handed a context that was destroyed. So nothing here touches the context's handle unless
 * it is the calling thread's current one, which the driver vouches for; or the device's primary one, which is retained. */
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "device/cuda_part.h"

_Static_assert(sizeof(void *) == sizeof(CUdeviceptr), "a buffer's entry is passed as it stands");

struct cuda_context {
    const struct cuda_api *cu;
    struct devspec spec;
    CUcontext context;
    CUdevice device;
    bool primary;          /* the device's: retained */
    bool own;              /* of a device of ours: its kernels are modules, which tell why the driver refuses PTX */
    unsigned long long id; /* the context's: another may get its address later. 0 if the driver does not tell */
    bool pools;            /* memory can be allocated in stream order */
    pthread_mutex_t lock;  /* of the list, and of the functions' attributes */
    struct cuda_code *codes;
};

struct cuda_code {
    CUlibrary library; /* or null, */
    CUmodule module;   /* and this */
    struct cuda_code *next;
};

static unsigned long long id_of(const struct cuda_api *cu, CUcontext context)
{
    unsigned long long id = 0;
    if (cu->cuCtxGetId && cu->cuCtxGetId(context, &id) != CUDA_SUCCESS)
        id = 0;
    return id;
}

static void leave(const struct cuda_context *g, bool pushed)
{
    CUcontext popped;
    if (pushed)
        g->cu->cuCtxPopCurrent_v2(&popped);
}

/* What begins here ends with leave. */
static int enter(const struct cuda_context *g, bool *pushed, struct err *err)
{
    CUcontext current = NULL;
    int rc = cuda_check(g->cu, g->cu->cuCtxGetCurrent(&current), err, "cuCtxGetCurrent");
    *pushed = current != g->context;
    if (!rc && *pushed && !g->primary)
        rc = err_set(err, ERR_INVALID, "%s in this thread: make the handle's context current",
                     current ? "another CUDA context is current" : "no CUDA context is current");
    if (!rc && *pushed)
        rc = cuda_check(g->cu, g->cu->cuCtxPushCurrent_v2(g->context), err, "cuCtxPushCurrent");
    if (rc || g->own || id_of(g->cu, g->context) == g->id)
        return rc;
    leave(g, *pushed);
    return err_set(err, ERR_DEVICE, "the context was destroyed: attach to the new one");
}

static int current_context(const struct cuda_api *cu, CUcontext *out, struct err *err)
{
    int rc = cuda_check(cu, cu->cuCtxGetCurrent(out), err, "cuCtxGetCurrent");
    if (!rc && !*out)
        rc = err_set(err, ERR_INVALID,
                     "no CUDA context is current in this thread: make one current (cuCtxSetCurrent), or call cudaFree(0) first");
    return rc;
}

/* Takes a reference if the context is the device's primary one. To find that out makes no context. */
static void retain_primary(struct cuda_context *g)
{
    unsigned flags;
    int active = 0;
    CUcontext primary = NULL;
    if (g->cu->cuDevicePrimaryCtxGetState(g->device, &flags, &active) != CUDA_SUCCESS || !active ||
        g->cu->cuDevicePrimaryCtxRetain(&primary, g->device) != CUDA_SUCCESS)
        return;
    g->primary = primary == g->context;
    if (!g->primary)
        g->cu->cuDevicePrimaryCtxRelease_v2(g->device);
}

/* With the context current. */
static int describe(struct cuda_context *g, struct err *err)
{
    int pools = 0;
    int rc = cuda_check(g->cu, g->cu->cuCtxGetDevice(&g->device), err, "cuCtxGetDevice")
                 ?: cuda_describe(g->cu, g->device, &g->spec, err);
    if (rc)
        return rc;
    g->cu->cuDeviceGetAttribute(&pools, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, g->device);
    g->pools = pools;
    g->id = id_of(g->cu, g->context);
    retain_primary(g);
    return 0;
}

static int cuda_open(void *handle, struct devspec *spec, struct guest **out, struct err *err)
{
    const struct cuda_api *cu = cuda_api(err);
    if (!cu)
        return ERR_UNSUPPORTED;
    CUcontext context = handle;
    int rc = context ? 0 : current_context(cu, &context, err);
    if (rc)
        return rc;
    struct cuda_context *g = mem_zalloc(sizeof *g);
    if (!g)
        return err_nomem(err);
    *g = (struct cuda_context){ .cu = cu, .context = context };
    rc = cuda_check(cu, cu->cuCtxPushCurrent_v2(context), err, "cuCtxPushCurrent"); /* the caller vouches for it */
    if (!rc) {
        rc = describe(g, err);
        leave(g, true);
    }
    if (rc) {
        mem_free(g);
        return rc;
    }
    pthread_mutex_init(&g->lock, NULL);
    *spec = g->spec;
    *out = (struct guest *)g;
    return 0;
}

int cuda_open_own(CUcontext context, struct guest **out, struct err *err)
{
    struct devspec spec;
    int rc = cuda_open(context, &spec, out, err);
    if (!rc)
        ((struct cuda_context *)*out)->own = true;
    return rc;
}

static void release(const struct cuda_context *g, const struct cuda_code *code)
{
    if (code->library)
        g->cu->cuLibraryUnload(code->library);
    else
        g->cu->cuModuleUnload(code->module);
}

static void cuda_forget(struct guest *guest)
{
    struct cuda_context *g = (struct cuda_context *)guest;
    if (!g)
        return;
    for (struct cuda_code *code = g->codes, *next; code; code = next) {
        next = code->next;
        mem_free(code);
    }
    pthread_mutex_destroy(&g->lock);
    mem_free(g);
}

static void cuda_close(struct guest *guest)
{
    struct cuda_context *g = (struct cuda_context *)guest;
    if (!g)
        return;
    bool pushed;
    if (!enter(g, &pushed, NULL)) { /* else the code stays until its context ends, for kernels of it may be in flight */
        g->cu->cuCtxSynchronize();
        for (const struct cuda_code *code = g->codes; code; code = code->next)
            release(g, code);
        leave(g, pushed);
    }
    if (g->primary)
        g->cu->cuDevicePrimaryCtxRelease_v2(g->device);
    cuda_forget(guest);
}

/* The context is current. */
static int load_module(const struct cuda_api *cu, const void *image, CUmodule *out, struct err *err)
{
    char log[512] = "";
    CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *values[] = { log, (void *)(uintptr_t)(sizeof log - 1) };
    int rc = cuda_check(cu, cu->cuModuleLoadDataEx(out, image, 2, options, values), err, "cuModuleLoadDataEx");
    if (rc && *log && err)
        rc = err_set(err, rc, "%s: %s", err->msg, log);
    return rc;
}

static int cuda_load(struct guest *guest, const void *image, size_t bytes, const char *format, struct guest_code **out,
                     struct err *err)
{
    struct cuda_context *g = (struct cuda_context *)guest;
    bool ptx, pushed;
    int rc = cuda_image_check(image, bytes, format, &ptx, err);
    if (rc)
        return rc;
    const struct cuda_api *cu = g->cu;
    struct cuda_code *code = mem_zalloc(sizeof *code);
    char *text = ptx ? mem_strndup(image, bytes) : NULL;
    if (!code || (ptx && !text)) {
        rc = err_nomem(err);
        goto out;
    }
    rc = enter(g, &pushed, err);
    if (rc)
        goto out;
    if (ptx)
        image = text;
    if (!g->own && cu->cuLibraryLoadData && cu->cuLibraryUnload && cu->cuLibraryGetKernel && cu->cuKernelGetFunction &&
        cu->cuKernelSetAttribute)
        rc = cuda_check(cu, cu->cuLibraryLoadData(&code->library, image, NULL, NULL, 0, NULL, NULL, 0), err, "cuLibraryLoadData");
    else
        rc = load_module(cu, image, &code->module, err);
    leave(g, pushed);
out:
    mem_free(text);
    if (rc) {
        mem_free(code);
        return rc;
    }
    pthread_mutex_lock(&g->lock);
    code->next = g->codes;
    g->codes = code;
    pthread_mutex_unlock(&g->lock);
    *out = (struct guest_code *)code;
    return 0;
}

static void cuda_unload(struct guest *guest, struct guest_code *loaded)
{
    struct cuda_context *g = (struct cuda_context *)guest;
    struct cuda_code *code = (struct cuda_code *)loaded;
    if (!code)
        return;
    pthread_mutex_lock(&g->lock);
    struct cuda_code **at = &g->codes;
    while (*at != code)
        at = &(*at)->next;
    *at = code->next;
    pthread_mutex_unlock(&g->lock);
    bool pushed;
    if (!enter(g, &pushed, NULL)) {
        release(g, code);
        leave(g, pushed);
    }
    mem_free(code);
}

/* *kernel is null if the code is a module. */
static int find_function(const struct cuda_context *g, const struct cuda_code *code, const char *name, CUkernel *kernel,
                         CUfunction *out, struct err *err)
{
    const struct cuda_api *cu = g->cu;
    *kernel = NULL;
    CUresult result =
        code->library ? cu->cuLibraryGetKernel(kernel, code->library, name) : cu->cuModuleGetFunction(out, code->module, name);
    if (result == CUDA_ERROR_NOT_FOUND)
        return err_set(err, ERR_NOTFOUND, "there is no kernel '%s' in the compiled code", name);
    int rc = cuda_check(cu, result, err, code->library ? "cuLibraryGetKernel" : "cuModuleGetFunction");
    if (!rc && code->library)
        rc = cuda_check(cu, cu->cuKernelGetFunction(out, *kernel), err, "cuKernelGetFunction");
    if (!rc && cu->cuFuncLoad)
        rc = cuda_check(cu, cu->cuFuncLoad(*out), err, "cuFuncLoad");
    return rc;
}

/* A launch with too few parameters would make the driver read past the end of our list, so they are held against the kernel's, if the
 * driver tells. */
static int check_params(const struct cuda_api *cu, CUfunction function, const struct guest_param *params, int nparams,
                        struct err *err)
{
    size_t offset, sizes[GUEST_PARAMS], size;
    int n = 0;
    if (!cu->cuFuncGetParamInfo)
        return 0;
    for (; cu->cuFuncGetParamInfo(function, (size_t)n, &offset, &size) == CUDA_SUCCESS; n++) {
        if (n == GUEST_PARAMS)
            return err_set(err, ERR_UNSUPPORTED, "more than %d parameters", GUEST_PARAMS);
        sizes[n] = size;
    }
    if (n != nparams)
        return err_set(err, ERR_INVALID, "the kernel takes %d arguments, the launch gives %d", n, nparams);
    for (int i = 0; i < n; i++) {
        size = params[i].kind == GUEST_VALUE ? (size_t)params[i].bytes : sizeof(CUdeviceptr);
        if (sizes[i] != size)
            return err_set(err, ERR_INVALID, "kernel argument %d: the kernel takes %zu bytes, the launch gives %zu", i + 1,
                           sizes[i], size);
    }
    return 0;
}

static int read_resources(const struct cuda_api *cu, CUfunction function, struct resources *r, struct err *err)
{
    static const CUfunction_attribute which[] = { CU_FUNC_ATTRIBUTE_NUM_REGS, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                                                  CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK };
    int value[4];
    for (int i = 0; i < 4; i++) {
        int rc = cuda_check(cu, cu->cuFuncGetAttribute(&value[i], which[i], function), err, "cuFuncGetAttribute");
        if (rc)
            return rc;
    }
    *r = (struct resources){ .registers = value[0], .shared = value[1], .local = value[2], .max_threads = value[3] };
    return 0;
}

/* More than a block has without asking must be asked for; what others asked for is not taken back. */
static int make_room(const struct cuda_api *cu, const struct devspec *spec, CUfunction function, int64_t dynamic_shared,
                     struct err *err)
{
    int fixed = 0, now = 0;
    int rc =
        cuda_check(cu, cu->cuFuncGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function), err, "cuFuncGetAttribute");
    rc = rc
             ?: cuda_check(cu, cu->cuFuncGetAttribute(&now, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function), err,
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

/* What is launched is the library's kernel, which is right in any context: what was set for this one is set for it too. */
static int make_room_everywhere(const struct cuda_context *g, CUkernel kernel, CUfunction function, struct err *err)
{
    int room = 0;
    int rc = cuda_check(g->cu, g->cu->cuFuncGetAttribute(&room, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function), err,
                        "cuFuncGetAttribute");
    return rc ? rc
              : cuda_check(g->cu,
                           g->cu->cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, room, kernel, g->device),
                           err, "cuKernelSetAttribute");
}

static int cuda_function(struct guest *guest, struct guest_code *loaded, const char *name, int64_t dynamic_shared,
                         const struct guest_param *params, int nparams, void **out, struct resources *resources, struct err *err)
{
    struct cuda_context *g = (struct cuda_context *)guest;
    struct cuda_code *code = (struct cuda_code *)loaded;
    if (nparams < 0 || nparams > GUEST_PARAMS)
        return err_set(err, ERR_INVALID, "%d kernel arguments: at most %d are possible", nparams, GUEST_PARAMS);
    bool pushed;
    int rc = enter(g, &pushed, err);
    if (rc)
        return rc;
    CUfunction function;
    CUkernel kernel;
    pthread_mutex_lock(&g->lock);
    rc = find_function(g, code, name, &kernel, &function, err);
    if (!rc && params)
        rc = check_params(g->cu, function, params, nparams, err);
    if (!rc && resources)
        rc = read_resources(g->cu, function, resources, err);
    rc = rc ?: make_room(g->cu, &g->spec, function, dynamic_shared, err);
    if (!rc && kernel)
        rc = make_room_everywhere(g, kernel, function, err);
    pthread_mutex_unlock(&g->lock);
    leave(g, pushed);
    if (!rc)
        *out = kernel ? (void *)kernel : (void *)function;
    else if (rc != ERR_NOTFOUND)
        err_prefix(err, "kernel '%s': ", name);
    return rc;
}

static void *cuda_raw(void *function)
{
    return function;
}

static int check_current(const struct cuda_context *g, struct err *err)
{
    CUcontext current = NULL;
    CUresult result = g->cu->cuCtxGetCurrent(&current);
    if (result != CUDA_SUCCESS)
        return cuda_check(g->cu, result, err, "cuCtxGetCurrent");
    if (current != g->context)
        return err_set(err, ERR_INVALID, "%s in this thread: make the handle's context current before a launch",
                       current ? "another CUDA context is current" : "no CUDA context is current");
    return 0;
}

static int take_workspace(const struct cuda_context *g, int64_t bytes, CUstream stream, CUdeviceptr *out, struct err *err)
{
    if (!g->pools)
        return err_set(err, ERR_UNSUPPORTED,
                       "this device gives no memory in stream order: pass the kernel's workspace, with cutune_launch_in");
    return cuda_check(g->cu, g->cu->cuMemAllocAsync(out, (size_t)bytes, stream), err, "cuMemAllocAsync of the workspace");
}

static int launch_one(const struct cuda_api *cu, const struct guest_launch *l, void *const *buffers, CUdeviceptr workspace,
                      CUstream stream, struct err *err)
{
    static const unsigned char zeros[4096];
    const void *params[GUEST_PARAMS];
    CUdeviceptr parts[GUEST_PARAMS];
    for (int i = 0; i < l->nparams; i++) {
        const struct guest_param *p = &l->params[i];
        if (p->kind == GUEST_BUFFER) {
            params[i] = &buffers[p->index];
        } else if (p->kind == GUEST_VALUE) {
            params[i] = p->value;
        } else {
            parts[i] = workspace + (uint64_t)p->offset;
            params[i] = &parts[i];
        }
    }
    if (!cu->cuFuncGetParamInfo) /* the kernel may have more */
        for (int i = l->nparams; i < GUEST_PARAMS; i++)
            params[i] = zeros;
    CUresult result = cu->cuLaunchKernel(l->function, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
                                         l->shared, stream, (void **)params, NULL);
    return result == CUDA_SUCCESS ? 0 : cuda_check(cu, result, err, "cuLaunchKernel");
}

static int clear(const struct cuda_api *cu, const struct guest_clear *c, void *const *buffers, CUdeviceptr workspace,
                 CUstream stream, struct err *err)
{
    CUdeviceptr at = (c->workspace ? workspace : (CUdeviceptr)(uintptr_t)buffers[c->index]) + (uint64_t)c->offset;
    if (c->bytes == 0)
        return 0;
    return cuda_check(cu, cu->cuMemsetD8Async(at, 0, (size_t)c->bytes, stream), err, "cuMemsetD8Async");
}

static int cuda_launch(struct guest *guest, void *stream, const struct guest_work *work, void *const *buffers, void *workspace,
                       struct err *err)
{
    struct cuda_context *g = (struct cuda_context *)guest;
    int rc = check_current(g, err);
    if (rc)
        return rc;
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)workspace;
    bool own = work->workspace > 0 && !workspace;
    if (own)
        rc = take_workspace(g, work->workspace, stream, &at, err);
    if (rc)
        return rc;
    for (int i = 0; i < work->nclears && !rc; i++)
        rc = clear(g->cu, &work->clears[i], buffers, at, stream, err);
    for (int i = 0; i < work->nlaunches && !rc; i++)
        rc = launch_one(g->cu, &work->launches[i], buffers, at, stream, err);
    if (own) {
        CUresult result = g->cu->cuMemFreeAsync(at, stream);
        rc = rc ?: cuda_check(g->cu, result, err, "cuMemFreeAsync of the workspace");
    }
    return rc;
}

const struct backend cuda_backend = {
    .name = "cuda",
    .format = "cubin",
    .portable = "ptx",
    .addresses = true,
    .sample = { .backend = "cuda",
                .name = "sample",
                .arch = "sm_50",
                .multiprocessors = 4,
                .memory = INT64_MAX,
                .cc = 50,
                .warp = 32,
                .l2 = 1 << 20,
                .max_threads = 1024,
                .max_block = { 1024, 1024, 64 },
                .max_grid = { 2147483647, 65535, 65535 },
                .max_shared = 48 << 10,
                .max_static_shared = 48 << 10,
                .max_alloc = INT64_MAX,
                .fp64 = true },
    .list = cuda_list,
    .doctor = cuda_doctor,
    .open = cuda_open,
    .close = cuda_close,
    .forget = cuda_forget,
    .load = cuda_load,
    .unload = cuda_unload,
    .function = cuda_function,
    .raw = cuda_raw,
    .launch = cuda_launch,
    .compiling = &nvrtc_compiling,
    .measuring = &cuda_measuring,
};
