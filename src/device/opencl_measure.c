/* An OpenCL device to measure on, through the API of OpenCL 1.2: one context, one in-order queue that keeps profiling times. */
#include <string.h>

#include "device/opencl_part.h"

static struct opencl_context *of(struct device *d)
{
    return (struct opencl_context *)d->guest;
}

static struct opencl_span *span_of(struct device *d, int slot)
{
    return &of(d)->spans[slot];
}

static int ocl_open(struct device *d, struct err *err)
{
    return opencl_open_own(&d->spec, &d->guest, err);
}

static void forget_span(struct opencl_span *span)
{
    if (span->last)
        libopencl.clReleaseEvent(span->last);
    if (span->first)
        libopencl.clReleaseEvent(span->first);
    *span = (struct opencl_span){ 0 };
}

static void ocl_close(struct device *d)
{
    for (int i = 0; i < MAX_SPANS; i++)
        forget_span(span_of(d, i));
}

static int ocl_alloc(struct device *d, struct memory *m, struct err *err)
{
    return opencl_buffer(of(d), m->bytes, &m->at, err);
}

/* OpenCL makes no view of a view: each is one of the buffer itself. */
static int ocl_view(struct device *d, struct memory *v, struct err *err)
{
    (void)d;
    cl_int result = CL_SUCCESS;
    v->at = opencl_part(v->whole->at, v->offset, v->bytes, &result);
    return opencl_check(result, err, "clCreateSubBuffer");
}

static void ocl_free(struct device *d, struct memory *m)
{
    (void)d;
    libopencl.clReleaseMemObject(m->at);
}

static int ocl_fill(struct device *d, struct memory *m, int64_t offset, int64_t bytes, uint8_t value, struct err *err)
{
    return opencl_fill(of(d), of(d)->queue, m->at, offset, bytes, value, err);
}

static int ocl_copy(struct device *d, struct copy_end to, struct copy_end from, int64_t bytes, struct err *err)
{
    struct opencl_context *g = of(d);
    if (!from.memory)
        return OPENCL(err, clEnqueueWriteBuffer, g->queue, to.memory->at, CL_TRUE, (size_t)to.offset, (size_t)bytes, from.host, 0,
                      NULL, opencl_event(g));
    if (!to.memory)
        return OPENCL(err, clEnqueueReadBuffer, g->queue, from.memory->at, CL_TRUE, (size_t)from.offset, (size_t)bytes, to.host, 0,
                      NULL, opencl_event(g));
    return OPENCL(err, clEnqueueCopyBuffer, g->queue, from.memory->at, to.memory->at, (size_t)from.offset, (size_t)to.offset,
                  (size_t)bytes, 0, NULL, opencl_event(g));
}

static int ocl_mark(struct device *d, int slot, bool end, struct err *err)
{
    struct opencl_context *g = of(d);
    struct opencl_span *span = span_of(d, slot);
    if (end && g->span != span)
        return err_set(err, ERR_INVALID, "span %d ends without having begun", slot);
    if (!end)
        forget_span(span);
    span->ended = end;
    g->span = end ? NULL : span;
    return 0;
}

static int ocl_span_ns(struct device *d, int slot, double *ns, struct err *err)
{
    const struct opencl_span *span = span_of(d, slot);
    cl_ulong start = 0, end = 0;
    cl_int result = CL_SUCCESS;
    if (!span->ended)
        return err_set(err, ERR_INVALID, "span %d was never begun and ended", slot);
    if (span->first)
        result =
            libopencl.clGetEventProfilingInfo(span->first, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL)
                ?: libopencl.clGetEventProfilingInfo(span->last ?: span->first, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    int rc = opencl_check(result, err, "clGetEventProfilingInfo");
    if (!rc)
        *ns = end > start ? (double)(end - start) : 0;
    return rc;
}

static int ocl_sync(struct device *d, struct err *err)
{
    return OPENCL(err, clFinish, of(d)->queue);
}

const struct backend_measuring opencl_measuring = {
    .open = ocl_open,
    .close = ocl_close,
    .alloc = ocl_alloc,
    .view = ocl_view,
    .free = ocl_free,
    .fill = ocl_fill,
    .copy = ocl_copy,
    .mark = ocl_mark,
    .span_ns = ocl_span_ns,
    .sync = ocl_sync,
    .call_open = opencl_call_open,
    .call_run = opencl_call_run,
    .call_close = opencl_call_close,
};
