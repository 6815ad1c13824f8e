/* An OpenCL device, through the API of OpenCL 1.2: one context, one in-order queue that keeps profiling times. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "device/check.h"
#include "device/opencl_part.h"

/* A span lasts from the start of its first command to the end of its last; the events between are not kept. */
struct span {
    cl_event first, last;
    bool ended;
};

struct device {
    struct opencl_session s;
    struct span spans[MAX_SPANS];
    struct span *open; /* the one begun and not yet ended; null */
    struct opencl_filler filler;
};

struct memory {
    cl_mem handle, root; /* root: the buffer that a view is a part of */
    int64_t bytes, offset;
};

struct module {
    cl_program handle;
    struct kernel *kernels; /* of this module */
};

struct kernel {
    cl_kernel handle;
    int64_t dynamic_shared;
    struct kernel *next;
};

static int ocl_open(const struct devspec *spec, struct device **out, struct err *err)
{
    struct device *d = mem_zalloc(sizeof *d);
    if (!d)
        return err_nomem(err);
    int rc = opencl_session_open(spec, CL_QUEUE_PROFILING_ENABLE, &d->s, err);
    if (rc)
        mem_free(d);
    else
        *out = d;
    return rc;
}

static void forget_span(struct device *d, struct span *span)
{
    if (span->last && span->last != span->first)
        d->s.cl->clReleaseEvent(span->last);
    if (span->first)
        d->s.cl->clReleaseEvent(span->first);
    *span = (struct span){ 0 };
}

static void ocl_close(struct device *d)
{
    if (!d)
        return;
    for (int i = 0; i < MAX_SPANS; i++)
        forget_span(d, &d->spans[i]);
    opencl_filler_free(&d->s, &d->filler);
    opencl_session_close(&d->s);
    mem_free(d);
}

/* Where a command's event goes: null outside spans. Afterwards `keep` puts it into the open span. */
static cl_event *event_for(struct device *d, cl_event *event)
{
    *event = NULL;
    return d->open ? event : NULL;
}

static void keep(struct device *d, cl_event event)
{
    struct span *span = d->open;
    if (!event)
        return;
    if (!span->first)
        span->first = event;
    else if (span->last != span->first)
        d->s.cl->clReleaseEvent(span->last);
    span->last = event;
}

static int ocl_alloc(struct device *d, int64_t bytes, struct memory **out, struct err *err)
{
    struct memory *m = mem_zalloc(sizeof *m);
    if (!m)
        return err_nomem(err);
    m->bytes = bytes;
    int rc = opencl_buffer(&d->s, bytes, &m->handle, err);
    m->root = m->handle;
    if (rc)
        mem_free(m);
    else
        *out = m;
    return rc;
}

/* OpenCL makes no view of a view: each is one of the buffer itself. */
static int ocl_view(struct device *d, struct memory *m, int64_t offset, int64_t bytes, struct memory **out, struct err *err)
{
    int rc = check_view(offset, bytes, m->bytes, err);
    if (rc)
        return rc;
    struct memory *v = mem_zalloc(sizeof *v);
    if (!v)
        return err_nomem(err);
    *v = (struct memory){ .root = m->root, .bytes = bytes, .offset = m->offset + offset };
    cl_buffer_region region = { .origin = (size_t)v->offset, .size = (size_t)bytes };
    cl_int result = CL_SUCCESS;
    v->handle = d->s.cl->clCreateSubBuffer(m->root, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &result);
    rc = opencl_check(result, err, "clCreateSubBuffer");
    if (rc)
        mem_free(v);
    else
        *out = v;
    return rc;
}

static void ocl_free(struct device *d, struct memory *m)
{
    if (!m)
        return;
    d->s.cl->clReleaseMemObject(m->handle);
    mem_free(m);
}

static int ocl_fill(struct device *d, struct memory *m, int64_t offset, int64_t bytes, uint8_t value, struct err *err)
{
    int rc = check_part("a fill", offset, bytes, m->bytes, err);
    if (rc || !bytes)
        return rc;
    cl_event event;
    rc = opencl_fill(&d->s, &d->filler, m->handle, m->offset, offset, bytes, value, event_for(d, &event), err);
    keep(d, rc ? NULL : event);
    return rc;
}

static int ocl_copy(struct device *d, struct memory *to, const struct memory *from, int64_t bytes, struct err *err)
{
    int rc = check_part("a copy", 0, bytes, to->bytes < from->bytes ? to->bytes : from->bytes, err);
    if (rc || !bytes)
        return rc;
    cl_event event;
    rc = opencl_check(
        d->s.cl->clEnqueueCopyBuffer(d->s.queue, from->handle, to->handle, 0, 0, (size_t)bytes, 0, NULL, event_for(d, &event)), err,
        "clEnqueueCopyBuffer");
    keep(d, event);
    return rc;
}

static int ocl_write(struct device *d, struct memory *to, int64_t offset, const void *from, int64_t bytes, struct err *err)
{
    int rc = check_part("a write", offset, bytes, to->bytes, err);
    if (rc || !bytes)
        return rc;
    cl_event event;
    rc = opencl_check(d->s.cl->clEnqueueWriteBuffer(d->s.queue, to->handle, CL_TRUE, (size_t)offset, (size_t)bytes, from, 0, NULL,
                                                    event_for(d, &event)),
                      err, "clEnqueueWriteBuffer");
    keep(d, event);
    return rc;
}

static int ocl_read(struct device *d, void *to, const struct memory *from, int64_t offset, int64_t bytes, struct err *err)
{
    int rc = check_part("a read", offset, bytes, from->bytes, err);
    if (rc || !bytes)
        return rc;
    cl_event event;
    rc = opencl_check(d->s.cl->clEnqueueReadBuffer(d->s.queue, from->handle, CL_TRUE, (size_t)offset, (size_t)bytes, to, 0, NULL,
                                                   event_for(d, &event)),
                      err, "clEnqueueReadBuffer");
    keep(d, event);
    return rc;
}

static int ocl_load(struct device *d, const void *binary, size_t bytes, struct module **out, struct err *err)
{
    struct module *m = mem_zalloc(sizeof *m);
    if (!m)
        return err_nomem(err);
    int rc = opencl_program_load(&d->s, binary, bytes, &m->handle, err);
    if (rc)
        mem_free(m);
    else
        *out = m;
    return rc;
}

static void ocl_unload(struct device *d, struct module *m)
{
    if (!m)
        return;
    for (struct kernel *k = m->kernels, *next; k; k = next) {
        next = k->next;
        d->s.cl->clReleaseKernel(k->handle);
        mem_free(k);
    }
    d->s.cl->clReleaseProgram(m->handle);
    mem_free(m);
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

static int ocl_kernel(struct device *d, struct module *m, const char *name, int64_t dynamic_shared, struct kernel **out,
                      struct resources *resources, struct err *err)
{
    if (dynamic_shared < 0 || dynamic_shared > d->s.spec.max_shared)
        return err_set(err, ERR_UNSUPPORTED, "kernel '%s': %lld bytes of dynamic shared memory: a block has %lld", name,
                       (long long)dynamic_shared, (long long)d->s.spec.max_shared);
    struct kernel *k = mem_zalloc(sizeof *k);
    if (!k)
        return err_nomem(err);
    k->dynamic_shared = dynamic_shared;
    cl_int result = CL_SUCCESS;
    k->handle = d->s.cl->clCreateKernel(m->handle, name, &result);
    if (result != CL_SUCCESS) {
        mem_free(k);
        if (result == CL_INVALID_KERNEL_NAME)
            return err_set(err, ERR_NOTFOUND, "there is no kernel '%s' in the compiled code", name);
        return opencl_check(result, err, "clCreateKernel");
    }
    if (resources)
        read_resources(&d->s, k->handle, resources);
    k->next = m->kernels;
    m->kernels = k;
    *out = k;
    return 0;
}

static int ocl_launch(struct device *d, struct kernel *k, const struct geometry *g, const struct karg *args, int nargs,
                      struct err *err)
{
    int rc = check_launch(&d->s.spec, g, k->dynamic_shared, args, nargs, err);
    if (rc)
        return rc;
    cl_mem buffers[MAX_KARGS];
    for (int i = 0; i < nargs; i++)
        buffers[i] = args[i].memory ? args[i].memory->handle : NULL;
    rc = opencl_set_args(&d->s, k->handle, buffers, args, nargs, g->shared, err);
    if (rc)
        return rc;
    cl_event event;
    rc = opencl_enqueue(&d->s, k->handle, g->grid, g->block, event_for(d, &event), err);
    keep(d, rc ? NULL : event);
    return rc;
}

static int ocl_span_begin(struct device *d, int slot, struct err *err)
{
    int rc = check_slot(slot, err);
    if (rc)
        return rc;
    d->open = &d->spans[slot];
    forget_span(d, d->open);
    return 0;
}

static int ocl_span_end(struct device *d, int slot, struct err *err)
{
    int rc = check_slot(slot, err);
    if (rc)
        return rc;
    if (d->open != &d->spans[slot])
        return err_set(err, ERR_INVALID, "span %d ends without having begun", slot);
    d->open->ended = true;
    d->open = NULL;
    return 0;
}

static int ocl_span_ns(struct device *d, int slot, double *ns, struct err *err)
{
    int rc = check_slot(slot, err);
    if (rc)
        return rc;
    const struct opencl_api *cl = d->s.cl;
    const struct span *span = &d->spans[slot];
    if (!span->ended)
        return err_set(err, ERR_INVALID, "span %d was never begun and ended", slot);
    cl_ulong start = 0, end = 0;
    if (span->first)
        rc = opencl_check(cl->clGetEventProfilingInfo(span->first, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL), err,
                          "clGetEventProfilingInfo");
    if (span->first && !rc)
        rc = opencl_check(cl->clGetEventProfilingInfo(span->last, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), err,
                          "clGetEventProfilingInfo");
    if (!rc)
        *ns = end > start ? (double)(end - start) : 0;
    return rc;
}

static int ocl_sync(struct device *d, struct err *err)
{
    return opencl_check(d->s.cl->clFinish(d->s.queue), err, "clFinish");
}

const struct backend opencl_backend = {
    .name = "opencl",
    .format = "clbin",
    .list = opencl_list,
    .compiler_open = opencl_compiler_open,
    .compiler_close = opencl_compiler_close,
    .compile = opencl_compile,
    .compiler_name = opencl_compiler_name,
    .open = ocl_open,
    .close = ocl_close,
    .alloc = ocl_alloc,
    .view = ocl_view,
    .free = ocl_free,
    .fill = ocl_fill,
    .copy = ocl_copy,
    .write = ocl_write,
    .read = ocl_read,
    .load = ocl_load,
    .unload = ocl_unload,
    .kernel = ocl_kernel,
    .launch = ocl_launch,
    .span_begin = ocl_span_begin,
    .span_end = ocl_span_end,
    .span_ns = ocl_span_ns,
    .sync = ocl_sync,
    .doctor = opencl_doctor,
};
