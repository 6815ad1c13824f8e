/* Launching in an OpenCL context: an application's, or our own. What is queued keeps alive what it uses, so kernels, programs and memory
 * may be released at any time. */
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "device/opencl_part.h"

/* A kernel object keeps its arguments from one call to the next, so one thread at a time sets and enqueues it. */
struct opencl_function {
    cl_kernel kernel;
    bool dynamic; /* it has one more parameter, a pointer to dynamic shared memory */
    pthread_mutex_t lock;
    struct opencl_function *next;
};

/* Reads the context and the device of a queue, which must run its work in order. */
static int read_queue(cl_command_queue queue, cl_context *context, cl_device_id *device, struct err *err)
{
    cl_ulong properties = 0;
    cl_int result = libopencl.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof *context, context, NULL)
        ?: libopencl.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof *device, device, NULL)
        ?: libopencl.clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    int rc = opencl_check(result, err, "clGetCommandQueueInfo");
    if (!rc && (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
        rc = err_set(err, ERR_INVALID,
                     "the command queue runs its work out of order: make one without CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE");
    return rc;
}

static int ocl_open(void *handle, struct guest *guest, struct err *err)
{
    struct opencl_context *g = (struct opencl_context *)guest;
    if (!handle)
        return err_set(err, ERR_INVALID, "the command queue is null");
    int rc = opencl_load(err) ?: read_queue(handle, &g->context, &g->device, err) ?: OPENCL(err, clRetainCommandQueue, handle);
    if (rc)
        return rc;
    g->queue = handle;
    opencl_describe(g->device, &guest->spec);
    return 0;
}

int opencl_open_own(const struct devspec *spec, struct guest **out, struct err *err)
{
    struct devspec found;
    cl_device_id device;
    cl_int result = CL_SUCCESS;
    int rc = opencl_device(spec, &device, err);
    if (rc)
        return rc;
    cl_context context = libopencl.clCreateContext(NULL, 1, &device, NULL, NULL, &result);
    rc = opencl_check(result, err, "clCreateContext");
    if (!rc) {
        cl_command_queue queue = libopencl.clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &result);
        rc = opencl_check(result, err, "clCreateCommandQueue") ?: guest_open(&opencl_backend, queue, &found, out, err);
        if (queue)
            libopencl.clReleaseCommandQueue(queue); /* the guest has retained it */
        libopencl.clReleaseContext(context);
    }
    if (rc)
        err_prefix(err, "opencl:%d: ", spec->index);
    return rc;
}

static void ocl_close(struct guest *guest)
{
    struct opencl_context *g = (struct opencl_context *)guest;
    libopencl.clFinish(g->queue);
    if (g->fill)
        libopencl.clReleaseKernel(g->fill);
    guest_unload_all(guest);
    libopencl.clReleaseCommandQueue(g->queue);
}

static int ocl_load(struct guest *guest, const void *image, size_t bytes, const char *format, struct guest_code *code,
                    struct err *err)
{
    (void)format; /* there is only one */
    pthread_mutex_lock(&guest->lock);
    int rc = opencl_program_load((struct opencl_context *)guest, image, bytes, code, err);
    pthread_mutex_unlock(&guest->lock);
    return rc;
}

static void ocl_unload(struct guest *guest, struct guest_code *code)
{
    (void)guest;
    for (struct opencl_function *f = code->functions; f; f = f->next) {
        libopencl.clReleaseKernel(f->kernel);
        pthread_mutex_destroy(&f->lock);
    }
    libopencl.clReleaseProgram(code->program);
}

/* What OpenCL tells about a kernel. It does not tell the registers. PoCL 6 says of every kernel on a processor that it has no local memory,
 * so 0 says nothing there. */
static void read_resources(const struct opencl_context *g, cl_kernel kernel, struct resources *r)
{
    cl_ulong local = 0, private = 0;
    size_t threads = 0;
    *r = (struct resources){ .registers = -1, .shared = -1, .local = -1, .max_threads = g->g.spec.max_threads };
    libopencl.clGetKernelWorkGroupInfo(kernel, g->device, CL_KERNEL_WORK_GROUP_SIZE, sizeof threads, &threads, NULL);
    if (threads > 0 && threads < INT32_MAX)
        r->max_threads = (int)threads;
    if (!libopencl.clGetKernelWorkGroupInfo(kernel, g->device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, NULL) &&
        (local || !g->g.spec.shares_cores))
        r->shared = (int64_t)local;
    if (!libopencl.clGetKernelWorkGroupInfo(kernel, g->device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof private, &private, NULL))
        r->local = (int64_t) private;
}

/* Some drivers abort if a kernel needs more local memory than a block has. */
static int check_local(const struct guest *g, int64_t fixed, int64_t dynamic, struct err *err)
{
    int64_t most = g->spec.max_shared;
    if (dynamic >= 0 && dynamic <= most && fixed <= most - dynamic)
        return 0;
    return err_set(err, ERR_UNSUPPORTED, "%lld bytes of dynamic and %lld of static local memory: a block has %lld",
                   (long long)dynamic, (long long)fixed, (long long)most);
}

static int ocl_function(struct guest *guest, struct guest_code *code, struct guest_launch *l, struct resources *resources,
                        struct err *err)
{
    const struct opencl_context *g = (const struct opencl_context *)guest;
    struct opencl_function made = { 0 }, *f = NULL;
    struct resources told;
    cl_int result = CL_SUCCESS;
    made.kernel = libopencl.clCreateKernel(code->program, l->kernel, &result);
    if (result == CL_INVALID_KERNEL_NAME)
        return err_set(err, ERR_NOTFOUND, "there is no kernel '%s' in the compiled code", l->kernel);
    int rc = opencl_check(result, err, "clCreateKernel");
    if (rc)
        return rc;
    read_resources(g, made.kernel, &told);
    rc = check_local(guest, told.shared, l->geometry.shared, err);
    if (l->params)
        rc = rc ?: opencl_params(made.kernel, l, &made.dynamic, err);
    pthread_mutex_lock(&guest->lock);
    if (!rc && (f = arena_alloc(code->arena, sizeof *f))) {
        made.next = code->functions;
        *f = made;
        pthread_mutex_init(&f->lock, NULL);
        code->functions = f;
    }
    pthread_mutex_unlock(&guest->lock);
    if (!f) {
        libopencl.clReleaseKernel(made.kernel);
        return rc ?: err_nomem(err);
    }
    if (resources)
        *resources = told;
    l->function = f;
    l->handle = f->kernel;
    return 0;
}

/* *part: the part of the workspace that is made, to be released once the launch is queued. */
static int set_param(cl_kernel kernel, int i, const struct guest_param *p, void *const *buffers, cl_mem workspace, cl_mem *part,
                     struct err *err)
{
    cl_int result = CL_SUCCESS;
    if (p->kind == GUEST_TENSOR || p->kind == GUEST_TEXTURE)
        return err_set(err, ERR_UNSUPPORTED, "OpenCL has no tensor maps and no texture objects");
    if (p->kind == GUEST_WORKSPACE)
        *part = opencl_part(workspace, p->offset, p->room, &result);
    if (result)
        return opencl_check(result, err, "clCreateSubBuffer of the workspace");
    if (param_is_given(p))
        result =
            libopencl.clSetKernelArg(kernel, (cl_uint)i, (size_t)p->bytes, p->kind == GUEST_VALUE ? p->value : buffers[p->index]);
    else
        result = libopencl.clSetKernelArg(kernel, (cl_uint)i, sizeof(cl_mem), *part ? part : (const void *)&buffers[p->index]);
    int rc = opencl_check(result, err, "clSetKernelArg");
    if (rc)
        err_prefix(err, "kernel argument %d: ", i + 1);
    return rc;
}

static int launch_one(const struct opencl_context *g, cl_command_queue queue, const struct guest_launch *l, void *const *buffers,
                      cl_mem workspace, struct err *err)
{
    struct opencl_function *f = l->function;
    cl_mem parts[GUEST_PARAMS] = { 0 };
    size_t shared = (size_t)l->geometry.shared;
    int rc = 0;
    pthread_mutex_lock(&f->lock);
    for (int i = 0; i < l->nparams && !rc; i++)
        rc = set_param(f->kernel, i, &l->params[i], buffers, workspace, &parts[i], err);
    if (!rc && f->dynamic) /* OpenCL refuses 0 bytes, which CUDA takes */
        rc = opencl_check(libopencl.clSetKernelArg(f->kernel, (cl_uint)l->nparams, shared > 0 ? shared : 16, NULL), err,
                          "dynamic shared memory");
    rc = rc ?: opencl_enqueue(g, queue, f->kernel, &l->geometry, err);
    pthread_mutex_unlock(&f->lock);
    for (int i = 0; i < l->nparams; i++)
        if (parts[i])
            libopencl.clReleaseMemObject(parts[i]);
    return rc;
}

/* Of a queue other than the guest's own. */
static int check_queue(const struct opencl_context *g, cl_command_queue queue, struct err *err)
{
    cl_context context;
    cl_device_id device;
    int rc = read_queue(queue, &context, &device, err);
    if (!rc && (context != g->context || device != g->device))
        rc = err_set(err, ERR_INVALID, "the command queue is of another context or device than the handle");
    return rc;
}

static int ocl_launch(struct guest *guest, void *stream, const struct guest_work *work, void *const *buffers, void *workspace,
                      struct err *err)
{
    struct opencl_context *g = (struct opencl_context *)guest;
    cl_command_queue queue = stream ? stream : g->queue;
    void *own = NULL;
    int rc = queue == g->queue ? 0 : check_queue(g, queue, err);
    for (int i = 0; i < work->nbuffers && !rc; i++)
        if (!buffers[i]) /* OpenCL would take it, as a null pointer */
            rc = err_set(err, ERR_INVALID, "buffer %d is null", i);
    if (!rc && work->workspace && !workspace) {
        rc = opencl_buffer(g, work->workspace, &own, err);
        if (rc)
            err_prefix(err, "workspace: ");
        workspace = own;
    }
    for (int i = 0; i < work->nclears && !rc; i++) {
        const struct guest_clear *c = &work->clears[i];
        if (c->bytes)
            rc = opencl_fill(g, queue, c->workspace ? workspace : buffers[c->index], c->offset, c->bytes, 0, err);
    }
    for (int i = 0; i < work->nlaunches && !rc; i++)
        rc = launch_one(g, queue, &work->launches[i], buffers, workspace, err);
    if (own)
        libopencl.clReleaseMemObject(own);
    return rc;
}

const struct backend opencl_backend = {
    .name = "opencl",
    .format = "clbin",
    .sample = { .backend = "opencl",
                .name = "sample",
                .arch = "sample",
                .multiprocessors = 1,
                .memory = INT64_MAX,
                .warp = 1,
                .l2 = 1 << 20,
                .max_threads = 1024,
                .max_block = { 1024, 1024, 1024 },
                .max_grid = { 2147483647, 65535, 65535 },
                .max_shared = 32 << 10,
                .max_static_shared = 32 << 10,
                .max_alloc = INT64_MAX,
                .fp64 = true,
                .shared_driver = true,
                .unordered = true },
    .list = opencl_list,
    .size = sizeof(struct opencl_context),
    .open = ocl_open,
    .close = ocl_close,
    .load = ocl_load,
    .unload = ocl_unload,
    .function = ocl_function,
    .launch = ocl_launch,
    .compiling = &opencl_compiling,
    .measuring = &opencl_measuring,
};
