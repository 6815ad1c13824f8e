/* Launching in a CUDA context: an application's, or our own.
 *
 * The driver may read freed memory when it is handed a context that was destroyed. So nothing here touches the context's handle unless
 * it is the calling thread's current one, which the driver vouches for; or the device's primary one, which is retained. */
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "device/cuda_part.h"

_Static_assert(sizeof(void *) == sizeof(CUdeviceptr), "a buffer's entry is passed as it stands");

static unsigned long long id_of(CUcontext context)
{
    unsigned long long id = 0;
    if (libcuda.cuCtxGetId && libcuda.cuCtxGetId(context, &id) != CUDA_SUCCESS)
        id = 0;
    return id;
}

static int not_current(CUcontext current, const char *when, struct err *err)
{
    return err_set(err, ERR_INVALID, "%s in this thread: make the handle's context current%s",
                   current ? "another CUDA context is current" : "no CUDA context is current", when);
}

void cuda_leave(bool pushed)
{
    CUcontext popped;
    if (pushed)
        libcuda.cuCtxPopCurrent_v2(&popped);
}

int cuda_enter(const struct cuda_context *g, bool *pushed, struct err *err)
{
    CUcontext current = NULL;
    int rc = CUDA(err, cuCtxGetCurrent, &current);
    *pushed = current != g->context;
    if (!rc && *pushed)
        rc = g->primary ? CUDA(err, cuCtxPushCurrent_v2, g->context) : not_current(current, "", err);
    if (rc || id_of(g->context) == g->id)
        return rc;
    cuda_leave(*pushed);
    return err_set(err, ERR_DEVICE, "the context was destroyed: attach to the new one");
}

/* Takes a reference if the context is the device's primary one. To find that out makes no context. */
static void retain_primary(struct cuda_context *g)
{
    unsigned flags;
    int active = 0;
    CUcontext primary = NULL;
    if (libcuda.cuDevicePrimaryCtxGetState(g->device, &flags, &active) != CUDA_SUCCESS || !active ||
        libcuda.cuDevicePrimaryCtxRetain(&primary, g->device) != CUDA_SUCCESS)
        return;
    g->primary = primary == g->context;
    if (!g->primary)
        libcuda.cuDevicePrimaryCtxRelease_v2(g->device);
}

static int cuda_open(void *handle, struct guest *guest, struct err *err)
{
    struct cuda_context *g = (struct cuda_context *)guest;
    if (!cuda_api(err))
        return ERR_UNSUPPORTED;
    g->context = handle;
    int rc = handle ? 0 : CUDA(err, cuCtxGetCurrent, &g->context);
    if (!rc && !g->context)
        rc = err_set(err, ERR_INVALID,
                     "no CUDA context is current in this thread: make one current (cuCtxSetCurrent), or call cudaFree(0) first");
    rc = rc ?: CUDA(err, cuCtxPushCurrent_v2, g->context); /* the caller vouches for it */
    if (rc)
        return rc;
    int pools = 0;
    rc = CUDA(err, cuCtxGetDevice, &g->device) ?: cuda_describe(g->device, &guest->spec, err);
    if (!rc) {
        libcuda.cuDeviceGetAttribute(&pools, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, g->device);
        g->pools = pools;
        g->id = id_of(g->context);
        retain_primary(g);
    }
    cuda_leave(true);
    return rc;
}

static void cuda_close(struct guest *guest)
{
    struct cuda_context *g = (struct cuda_context *)guest;
    bool pushed;
    if (!cuda_enter(g, &pushed, NULL)) { /* else the code stays until its context ends, for kernels of it may be in flight */
        libcuda.cuCtxSynchronize();
        guest_unload_all(guest);
        cuda_leave(pushed);
    }
    if (g->primary)
        libcuda.cuDevicePrimaryCtxRelease_v2(g->device);
}

static int cuda_load(struct guest *guest, const void *image, size_t bytes, const char *format, struct guest_code *code,
                     struct err *err)
{
    CUmodule module = NULL;
    char log[512] = ""; /* why the driver refuses PTX */
    CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *values[] = { log, (void *)(uintptr_t)(sizeof log - 1) };
    bool ptx, pushed;
    int rc = cuda_image_check(image, bytes, format, &ptx, err);
    char *text = !rc && ptx ? mem_strndup(image, bytes) : NULL;
    if (!rc && ptx && !text)
        rc = err_nomem(err);
    rc = rc ?: cuda_enter((struct cuda_context *)guest, &pushed, err);
    if (!rc) {
        rc = CUDA(err, cuModuleLoadDataEx, &module, ptx ? text : image, 2, options, values);
        if (rc && *log && err)
            err_set(err, rc, "%s: %s", err->msg, log);
        cuda_leave(pushed);
    }
    code->program = module;
    mem_free(text);
    return rc;
}

static void cuda_unload(struct guest *guest, struct guest_code *code)
{
    bool pushed;
    if (cuda_enter((struct cuda_context *)guest, &pushed, NULL))
        return;
    libcuda.cuModuleUnload(code->program);
    cuda_leave(pushed);
}

/* A launch with too few parameters would make the driver read past the end of our list, so they are held against the kernel's, if the
 * driver tells. */
static int check_params(CUfunction function, const struct guest_launch *l, struct err *err)
{
    const struct guest_param *params = l->params;
    const int nparams = l->nparams;
    size_t offset, takes, gives;
    int n = 0;
    if (!libcuda.cuFuncGetParamInfo)
        return 0;
    while (libcuda.cuFuncGetParamInfo(function, (size_t)n, &offset, &takes) == CUDA_SUCCESS)
        n++;
    if (n != nparams)
        return wrong_count(l, n, "", err);
    for (int i = 0; i < n; i++) {
        gives = param_is_given(&params[i]) ? (size_t)params[i].bytes : sizeof(CUdeviceptr);
        libcuda.cuFuncGetParamInfo(function, (size_t)i, &offset, &takes);
        if (takes != gives)
            return wrong_size(l, i, takes, gives, err);
    }
    return 0;
}

static int read_resources(CUfunction function, struct resources *r, struct err *err)
{
    static const CUfunction_attribute which[] = { CU_FUNC_ATTRIBUTE_NUM_REGS, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                                                  CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK };
    int value[4], rc = 0;
    for (int i = 0; i < 4; i++)
        rc = rc ?: CUDA(err, cuFuncGetAttribute, &value[i], which[i], function);
    if (!rc)
        *r = (struct resources){ .registers = value[0], .shared = value[1], .local = value[2], .max_threads = value[3] };
    return rc;
}

/* More than a block has without asking must be asked for; what others asked for is not taken back. */
static int make_room(const struct cuda_context *g, CUfunction function, int64_t dynamic_shared, struct err *err)
{
    const struct devspec *spec = &g->g.spec;
    const CUfunction_attribute room = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    int fixed = 0, now = 0;
    if (!dynamic_shared)
        return 0;
    int rc = CUDA(err, cuFuncGetAttribute, &fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function)
                 ?: CUDA(err, cuFuncGetAttribute, &now, room, function);
    if (rc)
        return rc;
    if (dynamic_shared < 0 || dynamic_shared > spec->max_shared - fixed)
        return err_set(err, ERR_UNSUPPORTED, "%" PRId64 " bytes of dynamic and %d of static shared memory: a block has %" PRId64,
                       dynamic_shared, fixed, spec->max_shared);
    bool enough = dynamic_shared + fixed <= spec->max_static_shared || dynamic_shared <= now;
    return enough ? 0 : CUDA(err, cuFuncSetAttribute, function, room, (int)dynamic_shared);
}

static int cuda_function(struct guest *guest, struct guest_code *code, struct guest_launch *l, struct resources *resources,
                         struct err *err)
{
    struct cuda_context *g = (struct cuda_context *)guest;
    CUfunction function;
    bool pushed;
    int rc = cuda_enter(g, &pushed, err);
    if (rc)
        return rc;
    pthread_mutex_lock(&guest->lock);
    CUresult result = libcuda.cuModuleGetFunction(&function, code->program, l->kernel);
    rc = result == CUDA_ERROR_NOT_FOUND ? err_set(err, ERR_NOTFOUND, "there is no kernel '%s' in the compiled code", l->kernel)
                                        : cuda_check(result, err, "cuModuleGetFunction");
    if (libcuda.cuFuncLoad)
        rc = rc ?: CUDA(err, cuFuncLoad, function);
    if (l->params)
        rc = rc ?: check_params(function, l, err);
    if (resources)
        rc = rc ?: read_resources(function, resources, err);
    rc = rc ?: make_room(g, function, l->geometry.shared, err);
    pthread_mutex_unlock(&guest->lock);
    cuda_leave(pushed);
    if (!rc)
        l->function = l->handle = function;
    return rc;
}

static int take_workspace(const struct cuda_context *g, int64_t bytes, CUstream stream, CUdeviceptr *out, struct err *err)
{
    if (!g->pools)
        return err_set(err, ERR_UNSUPPORTED,
                       "this device gives no memory in stream order: pass the kernel's workspace, with cutune_launch_in");
    return cuda_check(libcuda.cuMemAllocAsync(out, (size_t)bytes, stream), err, "cuMemAllocAsync of the workspace");
}

static int launch_one(struct guest *guest, const struct guest_launch *l, void *const *buffers, CUdeviceptr workspace,
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
        } else if (p->kind == GUEST_SCALAR) {
            params[i] = buffers[p->index];
        } else {
            parts[i] = workspace + (uint64_t)p->offset;
            params[i] = &parts[i];
        }
    }
    if (!libcuda.cuFuncGetParamInfo) /* the kernel may have more */
        for (int i = l->nparams; i < GUEST_PARAMS; i++)
            params[i] = zeros;
    if (l->views || geometry_special(&l->geometry))
        return cuda_launch_special(guest, l, buffers, workspace, stream, params, err);
    return cuda_launch_plain(l, stream, params, err);
}

static int clear(const struct guest_clear *c, void *const *buffers, CUdeviceptr workspace, CUstream stream, struct err *err)
{
    CUdeviceptr at = (c->workspace ? workspace : (CUdeviceptr)(uintptr_t)buffers[c->index]) + (uint64_t)c->offset;
    return c->bytes ? CUDA(err, cuMemsetD8Async, at, 0, (size_t)c->bytes, stream) : 0;
}

static int cuda_symbol(struct guest *guest, struct guest_code *code, const char *name, void **at, int64_t *has, struct err *err)
{
    CUdeviceptr found = 0;
    size_t bytes = 0;
    bool pushed;
    int rc = cuda_enter((struct cuda_context *)guest, &pushed, err);
    if (rc)
        return rc;
    CUresult result = libcuda.cuModuleGetGlobal_v2(&found, &bytes, code->program, name);
    cuda_leave(pushed);
    *at = (void *)(uintptr_t)found;
    *has = (int64_t)bytes;
    return result == CUDA_ERROR_NOT_FOUND ? ERR_NOTFOUND : cuda_check(result, err, "cuModuleGetGlobal");
}

static int fill_constant(const struct guest_constant *c, void *const *buffers, CUstream stream, struct err *err)
{
    CUdeviceptr to = (CUdeviceptr)(uintptr_t)c->at, from = (CUdeviceptr)(uintptr_t)buffers[c->index];
    return c->bytes ? CUDA(err, cuMemcpyDtoDAsync_v2, to, from, (size_t)c->bytes, stream) : 0;
}

static int check_current(const struct cuda_context *g, struct err *err)
{
    CUcontext current = NULL;
    return CUDA(err, cuCtxGetCurrent, &current) ?: current == g->context ? 0 : not_current(current, " before a launch", err);
}

static int cuda_launch(struct guest *guest, void *stream, const struct guest_work *work, void *const *buffers, void *workspace,
                       struct err *err)
{
    const struct cuda_context *g = (struct cuda_context *)guest;
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)workspace;
    bool own = work->workspace > 0 && !workspace;
    /* To ask first costs about as much as all else here. The driver itself refuses a function that lives elsewhere; but that of a context
     * that may be gone must not come to it. */
    int rc = own || work->nclears || work->nconstants || work->textures || !g->primary ? check_current(g, err) : 0;
    if (own)
        rc = rc ?: take_workspace(g, work->workspace, stream, &at, err);
    if (rc)
        return rc;
    for (int i = 0; i < work->nclears && !rc; i++)
        rc = clear(&work->clears[i], buffers, at, stream, err);
    for (int i = 0; i < work->nconstants && !rc; i++)
        rc = fill_constant(&work->constants[i], buffers, stream, err);
    for (const struct guest_texture *t = work->textures; t && !rc; t = t->next)
        rc = t->is.mode.array ? guest_texture_fill(guest, t, buffers[t->index], stream, err) : 0;
    for (int i = 0; i < work->nlaunches && !rc; i++)
        rc = launch_one(guest, &work->launches[i], buffers, at, stream, err);
    if (rc == ERR_DEVICE)
        rc = check_current(g, err) ?: rc;
    if (own) {
        CUresult result = libcuda.cuMemFreeAsync(at, stream);
        rc = rc ?: cuda_check(result, err, "cuMemFreeAsync of the workspace");
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
    .size = sizeof(struct cuda_context),
    .open = cuda_open,
    .close = cuda_close,
    .load = cuda_load,
    .unload = cuda_unload,
    .function = cuda_function,
    .symbol = cuda_symbol,
    .fits = cuda_fits,
    .tensor = cuda_tensor,
    .texture = cuda_texture,
    .texture_free = cuda_texture_free,
    .texture_fill = cuda_texture_fill,
    .launch = cuda_launch,
    .compiling = &nvrtc_compiling,
    .measuring = &cuda_measuring,
};
