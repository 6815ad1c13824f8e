/* Launching in an OpenCL context: an application's, or our own. What is queued keeps alive what it uses: kernels, programs and memory may be let go
 * of at any time. */
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "device/opencl_part.h"

/* A kernel object keeps its arguments from one call to the next, so one thread at a time sets and enqueues it. */
struct opencl_function {
    cl_kernel kernel;
    pthread_mutex_t lock;
    struct opencl_function *next;
};

/* Context and device of a queue, which must run its work in order. */
static int read_queue(const struct opencl_api *cl, cl_command_queue queue, cl_context *context, cl_device_id *device,
                      struct err *err)
{
    cl_command_queue_properties properties = 0;
    cl_int result = cl->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof *context, context, NULL);
    if (result == CL_SUCCESS)
        result = cl->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof *device, device, NULL);
    if (result == CL_SUCCESS)
        result = cl->clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    int rc = opencl_check(result, err, "clGetCommandQueueInfo");
    if (!rc && (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
        rc = err_set(err, ERR_INVALID,
                     "the command queue runs its work out of order: make one without CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE");
    return rc;
}

static int ocl_open(void *handle, struct guest *guest, struct err *err)
{
    if (!handle)
        return err_set(err, ERR_INVALID, "the command queue is null");
    const struct opencl_api *cl = opencl_api(err);
    if (!cl)
        return ERR_UNSUPPORTED;
    struct opencl_session *s = &((struct opencl_context *)guest)->s;
    s->cl = cl;
    int rc = read_queue(cl, handle, &s->context, &s->device, err)
                 ?: opencl_check(cl->clRetainContext(s->context), err, "clRetainContext");
    if (rc)
        return rc;
    rc = opencl_check(cl->clRetainCommandQueue(handle), err, "clRetainCommandQueue");
    if (rc) {
        opencl_session_close(s);
        return rc;
    }
    s->queue = handle;
    opencl_describe(cl, s->device, &s->spec);
    guest->spec = s->spec;
    return 0;
}

static void ocl_close(struct guest *guest)
{
    struct opencl_context *g = (struct opencl_context *)guest;
    g->s.cl->clFinish(g->s.queue);
    opencl_filler_free(&g->s, &g->filler);
    guest_unload_all(guest);
    opencl_session_close(&g->s);
}

static int ocl_load(struct guest *guest, const void *image, size_t bytes, const char *format, struct guest_code *code,
                    struct err *err)
{
    struct opencl_context *g = (struct opencl_context *)guest;
    cl_program program;
    (void)format;
    pthread_mutex_lock(&guest->lock);
    int rc = opencl_program_load(&g->s, image, bytes, &program, err);
    pthread_mutex_unlock(&guest->lock);
    if (!rc)
        code->program = program;
    return rc;
}

static void ocl_unload(struct guest *guest, struct guest_code *code)
{
    const struct opencl_api *cl = ((struct opencl_context *)guest)->s.cl;
    for (struct opencl_function *f = code->functions; f; f = f->next) {
        cl->clReleaseKernel(f->kernel);
        pthread_mutex_destroy(&f->lock);
    }
    cl->clReleaseProgram(code->program);
}

/* A value in the place of a buffer would be taken for one. Drivers need not tell. */
static int check_place(const struct opencl_session *s, cl_kernel kernel, const struct guest_param *p, int i, struct err *err)
{
    cl_uint space;
    if (p->kind == GUEST_VALUE) {
        int rc = check_scalar(i, p->bytes, err);
        if (rc)
            return rc;
    }
    if (s->cl->clGetKernelArgInfo(kernel, (cl_uint)i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL) != CL_SUCCESS)
        return 0;
    bool buffer = space == CL_KERNEL_ARG_ADDRESS_GLOBAL || space == CL_KERNEL_ARG_ADDRESS_CONSTANT;
    if (p->kind == GUEST_VALUE ? space == CL_KERNEL_ARG_ADDRESS_PRIVATE : buffer)
        return 0;
    return err_set(err, ERR_INVALID, "kernel argument %d: the kernel takes %s, the launch gives %s", i + 1,
                   buffer                                 ? "a buffer"
                   : space == CL_KERNEL_ARG_ADDRESS_LOCAL ? "local memory"
                                                          : "a value",
                   p->kind == GUEST_VALUE ? "a value" : "a buffer");
}

/* Drivers abort if a block has less. */
static int check_local(const struct opencl_session *s, cl_kernel kernel, int64_t dynamic_shared, struct err *err)
{
    cl_ulong fixed = 0;
    s->cl->clGetKernelWorkGroupInfo(kernel, s->device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof fixed, &fixed, NULL);
    int64_t most = s->spec.max_shared;
    if (dynamic_shared >= 0 && dynamic_shared <= most && fixed <= (cl_ulong)(most - dynamic_shared))
        return 0;
    return err_set(err, ERR_UNSUPPORTED, "%lld bytes of dynamic and %llu of static local memory: a block has %lld",
                   (long long)dynamic_shared, (unsigned long long)fixed, (long long)most);
}

static int check_kernel(const struct opencl_session *s, cl_kernel kernel, int64_t dynamic_shared, const struct guest_param *params,
                        int nparams, struct err *err)
{
    bool dynamic;
    int rc = check_local(s, kernel, dynamic_shared, err);
    if (!rc && params)
        rc = opencl_check_args(s, kernel, nparams, dynamic_shared, &dynamic, err);
    for (int i = 0; params && i < nparams && !rc; i++)
        rc = check_place(s, kernel, &params[i], i, err);
    return rc;
}

/* What OpenCL tells of a kernel; registers it does not. */
static void read_resources(const struct opencl_session *s, cl_kernel kernel, struct resources *r)
{
    cl_ulong local = 0, private = 0;
    size_t threads = 0;
    s->cl->clGetKernelWorkGroupInfo(kernel, s->device, CL_KERNEL_WORK_GROUP_SIZE, sizeof threads, &threads, NULL);
    *r = (struct resources){ .registers = -1, .shared = -1, .local = -1, .max_threads = s->spec.max_threads };
    if (threads > 0 && threads < INT32_MAX)
        r->max_threads = (int)threads;
    if (s->cl->clGetKernelWorkGroupInfo(kernel, s->device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, NULL) == CL_SUCCESS)
        r->shared = (int64_t)local;
    if (s->cl->clGetKernelWorkGroupInfo(kernel, s->device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof private, &private, NULL) ==
        CL_SUCCESS)
        r->local = (int64_t) private;
}

static int ocl_function(struct guest *guest, struct guest_code *code, const char *name, int64_t dynamic_shared,
                        const struct guest_param *params, int nparams, void **out, struct resources *resources, struct err *err)
{
    struct opencl_context *g = (struct opencl_context *)guest;
    const struct opencl_api *cl = g->s.cl;
    cl_int result = CL_SUCCESS;
    cl_kernel kernel = cl->clCreateKernel(code->program, name, &result);
    if (result == CL_INVALID_KERNEL_NAME)
        return err_set(err, ERR_NOTFOUND, "there is no kernel '%s' in the compiled code", name);
    int rc = opencl_check(result, err, "clCreateKernel");
    if (rc)
        return rc;
    rc = check_kernel(&g->s, kernel, dynamic_shared, params, nparams, err);
    pthread_mutex_lock(&guest->lock);
    struct opencl_function *f = rc ? NULL : arena_alloc(code->arena, sizeof *f);
    if (f) {
        f->kernel = kernel;
        pthread_mutex_init(&f->lock, NULL);
        f->next = code->functions;
        code->functions = f;
    }
    pthread_mutex_unlock(&guest->lock);
    if (!f) {
        cl->clReleaseKernel(kernel);
        return rc ?: err_nomem(err);
    }
    if (resources)
        read_resources(&g->s, kernel, resources);
    *out = f;
    return 0;
}

static void *ocl_raw(void *function)
{
    return ((struct opencl_function *)function)->kernel;
}

/* The work's workspace in the session's context, and what it is made of while the work is queued. */
struct room {
    const struct opencl_session *s;
    cl_mem whole;
    bool own;
};

static int take_room(const struct opencl_session *s, int64_t bytes, void *workspace, struct room *out, struct err *err)
{
    *out = (struct room){ .s = s, .whole = workspace, .own = bytes > 0 && !workspace };
    int rc = out->own ? opencl_buffer(s, bytes, &out->whole, err) : 0;
    if (rc)
        err_prefix(err, "workspace: ");
    return rc;
}

static void give_back(const struct room *r)
{
    if (r->own)
        r->s->cl->clReleaseMemObject(r->whole);
}

/* Bytes of the buffer that m is a part of, in front of it. */
static int64_t before(const struct opencl_session *s, cl_mem m)
{
    size_t offset = 0;
    s->cl->clGetMemObjectInfo(m, CL_MEM_OFFSET, sizeof offset, &offset, NULL);
    return (int64_t)offset;
}

static int clear(struct opencl_context *g, const struct room *r, const struct guest_clear *c, void *const *buffers, struct err *err)
{
    if (c->bytes == 0)
        return 0;
    cl_mem to = c->workspace ? r->whole : buffers[c->index];
    pthread_mutex_lock(&g->g.lock);
    int rc = opencl_fill(r->s, &g->filler, to, before(r->s, to), c->offset, c->bytes, 0, err);
    pthread_mutex_unlock(&g->g.lock);
    return rc;
}

/* A launch's arguments; parts of the workspace are made, and to be released. */
struct bound {
    struct opencl_arg args[GUEST_PARAMS];
    cl_mem parts[GUEST_PARAMS];
    int nparts;
};

static int bind(const struct room *r, const struct guest_launch *l, void *const *buffers, struct bound *b, struct err *err)
{
    b->nparts = 0;
    for (int i = 0; i < l->nparams; i++) {
        const struct guest_param *p = &l->params[i];
        b->args[i].bytes = sizeof(cl_mem);
        if (p->kind == GUEST_BUFFER) {
            b->args[i].value = &buffers[p->index];
        } else if (p->kind == GUEST_VALUE) {
            b->args[i] = (struct opencl_arg){ p->value, (size_t)p->bytes };
        } else {
            cl_buffer_region region = { .origin = (size_t)p->offset, .size = (size_t)p->room };
            cl_int result = CL_SUCCESS;
            cl_mem part = r->s->cl->clCreateSubBuffer(r->whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &result);
            if (result != CL_SUCCESS)
                return opencl_check(result, err, "clCreateSubBuffer of the workspace");
            b->parts[b->nparts] = part;
            b->args[i].value = &b->parts[b->nparts++];
        }
    }
    return 0;
}

static int launch_one(const struct room *r, const struct guest_launch *l, void *const *buffers, struct err *err)
{
    const struct opencl_session *s = r->s;
    struct opencl_function *f = l->function;
    struct bound b;
    int rc = bind(r, l, buffers, &b, err);
    pthread_mutex_lock(&f->lock);
    rc = rc
        ?: opencl_set_args(s, f->kernel, b.args, l->nparams, l->shared, err)
        ?: opencl_enqueue(s, f->kernel, l->grid, l->block, err);
    pthread_mutex_unlock(&f->lock);
    for (int i = 0; i < b.nparts; i++)
        s->cl->clReleaseMemObject(b.parts[i]);
    return rc;
}

static int queue_all(struct opencl_context *g, const struct opencl_session *s, const struct guest_work *work, void *const *buffers,
                     void *workspace, struct err *err)
{
    for (int i = 0; i < work->nbuffers; i++)
        if (!buffers[i]) /* OpenCL would take it, as a null pointer */
            return err_set(err, ERR_INVALID, "buffer %d is null", i);
    struct room room;
    int rc = take_room(s, work->workspace, workspace, &room, err);
    if (rc)
        return rc;
    for (int i = 0; i < work->nclears && !rc; i++)
        rc = clear(g, &room, &work->clears[i], buffers, err);
    for (int i = 0; i < work->nlaunches && !rc; i++)
        rc = launch_one(&room, &work->launches[i], buffers, err);
    give_back(&room);
    return rc;
}

static int ocl_launch(struct guest *guest, void *stream, const struct guest_work *work, void *const *buffers, void *workspace,
                      struct err *err)
{
    struct opencl_context *g = (struct opencl_context *)guest;
    if (!stream || stream == g->s.queue)
        return queue_all(g, &g->s, work, buffers, workspace, err);
    struct opencl_session other = g->s;
    cl_context context;
    cl_device_id device;
    other.queue = stream;
    int rc = read_queue(other.cl, stream, &context, &device, err);
    if (!rc && (context != g->s.context || device != g->s.device))
        rc = err_set(err, ERR_INVALID, "the command queue is of another context or device than the handle");
    return rc ?: queue_all(g, &other, work, buffers, workspace, err);
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
    .doctor = opencl_doctor,
    .size = sizeof(struct opencl_context),
    .open = ocl_open,
    .close = ocl_close,
    .load = ocl_load,
    .unload = ocl_unload,
    .function = ocl_function,
    .raw = ocl_raw,
    .launch = ocl_launch,
    .compiling = &opencl_compiling,
    .measuring = &opencl_measuring,
};
