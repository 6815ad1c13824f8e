/* An OpenCL device to measure on, through the API of OpenCL 1.2: one context, one in-order queue that keeps profiling times. */
#include <string.h>

#include "device/opencl_part.h"

static struct opencl_context *context_of(struct device *d)
{
    return (struct opencl_context *)d->guest;
}

static struct opencl_session *session_of(struct device *d)
{
    return &context_of(d)->s;
}

static struct opencl_span *span_of(struct device *d, int slot)
{
    return &context_of(d)->spans[slot];
}

static int ocl_open(struct device *d, struct err *err)
{
    struct opencl_session s;
    struct devspec spec;
    int rc = opencl_session_open(&d->spec, CL_QUEUE_PROFILING_ENABLE, &s, err);
    if (rc)
        return rc;
    rc = guest_open(&opencl_backend, s.queue, &spec, &d->guest, err);
    opencl_session_close(&s); /* the guest has retained it */
    return rc;
}

static void forget_span(const struct opencl_session *s, struct opencl_span *span)
{
    if (span->last && span->last != span->first)
        s->cl->clReleaseEvent(span->last);
    if (span->first)
        s->cl->clReleaseEvent(span->first);
    *span = (struct opencl_span){ 0 };
}

static void ocl_close(struct device *d)
{
    for (int i = 0; i < MAX_SPANS; i++)
        forget_span(session_of(d), span_of(d, i));
}

static int ocl_alloc(struct device *d, struct memory *m, struct err *err)
{
    cl_mem made = NULL;
    int rc = opencl_buffer(session_of(d), m->bytes, &made, err);
    m->at = made;
    return rc;
}

/* OpenCL makes no view of a view: each is one of the buffer itself. */
static int ocl_view(struct device *d, struct memory *v, struct err *err)
{
    cl_buffer_region region = { .origin = (size_t)v->offset, .size = (size_t)v->bytes };
    cl_int result = CL_SUCCESS;
    v->at = session_of(d)->cl->clCreateSubBuffer(v->whole->at, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &result);
    return opencl_check(result, err, "clCreateSubBuffer");
}

static void ocl_free(struct device *d, struct memory *m)
{
    session_of(d)->cl->clReleaseMemObject(m->at);
}

static int ocl_fill(struct device *d, struct memory *m, int64_t offset, int64_t bytes, uint8_t value, struct err *err)
{
    return opencl_fill(session_of(d), &context_of(d)->filler, m->at, m->offset, offset, bytes, value, err);
}

static int ocl_copy(struct device *d, struct copy_end to, struct copy_end from, int64_t bytes, struct err *err)
{
    const struct opencl_session *s = session_of(d);
    const struct opencl_api *cl = s->cl;
    cl_event event, *kept = opencl_event(s, &event);
    const char *what;
    cl_int result;
    if (!from.memory) {
        what = "clEnqueueWriteBuffer";
        result =
            cl->clEnqueueWriteBuffer(s->queue, to.memory->at, CL_TRUE, (size_t)to.offset, (size_t)bytes, from.host, 0, NULL, kept);
    } else if (!to.memory) {
        what = "clEnqueueReadBuffer";
        result =
            cl->clEnqueueReadBuffer(s->queue, from.memory->at, CL_TRUE, (size_t)from.offset, (size_t)bytes, to.host, 0, NULL, kept);
    } else {
        what = "clEnqueueCopyBuffer";
        result = cl->clEnqueueCopyBuffer(s->queue, from.memory->at, to.memory->at, (size_t)from.offset, (size_t)to.offset,
                                         (size_t)bytes, 0, NULL, kept);
    }
    opencl_keep(s, event);
    return opencl_check(result, err, what);
}

static int ocl_mark(struct device *d, int slot, bool end, struct err *err)
{
    struct opencl_session *s = session_of(d);
    struct opencl_span *span = span_of(d, slot);
    if (end && s->span != span)
        return err_set(err, ERR_INVALID, "span %d ends without having begun", slot);
    if (!end)
        forget_span(s, span);
    span->ended = end;
    s->span = end ? NULL : span;
    return 0;
}

static int ocl_span_ns(struct device *d, int slot, double *ns, struct err *err)
{
    const struct opencl_api *cl = session_of(d)->cl;
    const struct opencl_span *span = span_of(d, slot);
    cl_ulong start = 0, end = 0;
    cl_int result = CL_SUCCESS;
    if (!span->ended)
        return err_set(err, ERR_INVALID, "span %d was never begun and ended", slot);
    if (span->first)
        result = cl->clGetEventProfilingInfo(span->first, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    if (span->first && result == CL_SUCCESS)
        result = cl->clGetEventProfilingInfo(span->last, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    int rc = opencl_check(result, err, "clGetEventProfilingInfo");
    if (!rc)
        *ns = end > start ? (double)(end - start) : 0;
    return rc;
}

static int ocl_sync(struct device *d, struct err *err)
{
    return opencl_check(session_of(d)->cl->clFinish(session_of(d)->queue), err, "clFinish");
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
};
