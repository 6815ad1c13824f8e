/* What an application has of CUDA or OpenCL: a context, streams or queues, buffers. It builds without their headers and libraries.
 * Calls return 0, or print a line on stderr and return another number. */
#ifndef LIBRARY_APP_H
#define LIBRARY_APP_H

#include <stdio.h>
#include <string.h>

#include "cutune.h"
#include "device/cuda_api.h"
#include "device/device.h"
#include "device/opencl_part.h"

struct app {
    const struct cuda_api *cu; /* null: it is OpenCL */
    CUcontext primary;
    CUdevice cuda;
    const struct opencl_api *cl;
    cl_context context;
    cl_device_id id;
};

/* What failed, in a line. */
static inline int app_check(unsigned result, const char *what)
{
    if (result)
        fprintf(stderr, "%s: error %d\n", what, (int)result);
    return result ? -1 : 0;
}

static inline int app_open(struct app *a, const char *device)
{
    struct err err = { 0 };
    struct devspec spec;
    cl_int rc = CL_SUCCESS;
    *a = (struct app){ 0 };
    int failed = device_find(device, &spec, &err);
    bool cuda = !failed && !strcmp(spec.backend, "cuda");
    if (!failed && cuda)
        failed = !(a->cu = cuda_api(&err));
    else if (!failed)
        failed = opencl_device(&spec, &a->id, &err);
    if (failed)
        return fprintf(stderr, "%s\n", err.msg), -1;
    if (cuda)
        return app_check(a->cu->cuDeviceGet(&a->cuda, spec.index), "cuDeviceGet") ||
               app_check(a->cu->cuDevicePrimaryCtxRetain(&a->primary, a->cuda), "cuDevicePrimaryCtxRetain") ||
               app_check(a->cu->cuCtxSetCurrent(a->primary), "cuCtxSetCurrent");
    a->cl = &libopencl;
    a->context = a->cl->clCreateContext(NULL, 1, &a->id, NULL, NULL, &rc);
    return app_check((unsigned)rc, "clCreateContext");
}

static inline void app_close(struct app *a)
{
    if (a->context)
        a->cl->clReleaseContext(a->context);
    if (a->primary)
        a->cu->cuDevicePrimaryCtxRelease_v2(a->cuda);
}

/* Also makes the context the calling thread's. */
static inline int app_stream(const struct app *a, void **out)
{
    cl_int rc = CL_SUCCESS;
    if (a->cu)
        return app_check(a->cu->cuCtxSetCurrent(a->primary), "cuCtxSetCurrent") ||
               app_check(a->cu->cuStreamCreate((CUstream *)out, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    *out = a->cl->clCreateCommandQueue(a->context, a->id, 0, &rc);
    return app_check((unsigned)rc, "clCreateCommandQueue");
}

static inline void app_stream_drop(const struct app *a, void *stream)
{
    if (stream && a->cu)
        a->cu->cuStreamDestroy_v2(stream);
    else if (stream)
        a->cl->clReleaseCommandQueue(stream);
}

static inline int app_attach(const struct app *a, cutune *c, void *stream, cutune_handle **out)
{
    int rc = a->cu ? cutune_attach_cuda(c, a->primary, out) : cutune_attach_opencl(c, stream, out);
    if (rc)
        fprintf(stderr, "%s\n", cutune_error());
    return rc;
}

static inline int app_make(const struct app *a, size_t bytes, void **out)
{
    cl_int rc = CL_SUCCESS;
    CUdeviceptr at = 0;
    if (a->cu) {
        int failed = app_check(a->cu->cuMemAlloc_v2(&at, bytes), "cuMemAlloc");
        *out = (void *)(uintptr_t)at;
        return failed;
    }
    *out = a->cl->clCreateBuffer(a->context, CL_MEM_READ_WRITE, bytes, NULL, &rc);
    return app_check((unsigned)rc, "clCreateBuffer");
}

static inline void app_drop(const struct app *a, void *buffer)
{
    if (buffer && a->cu)
        a->cu->cuMemFree_v2((uintptr_t)buffer);
    else if (buffer)
        a->cl->clReleaseMemObject(buffer);
}

static inline int app_put(const struct app *a, void *stream, void *to, const void *from, size_t bytes)
{
    if (a->cu)
        return app_check(a->cu->cuMemcpyHtoDAsync_v2((uintptr_t)to, from, bytes, stream), "cuMemcpyHtoDAsync") ||
               app_check(a->cu->cuStreamSynchronize(stream), "cuStreamSynchronize");
    return app_check((unsigned)a->cl->clEnqueueWriteBuffer(stream, to, CL_TRUE, 0, bytes, from, 0, NULL, NULL),
                     "clEnqueueWriteBuffer");
}

static inline int app_get(const struct app *a, void *stream, void *to, void *from, size_t bytes)
{
    if (a->cu)
        return app_check(a->cu->cuMemcpyDtoHAsync_v2(to, (uintptr_t)from, bytes, stream), "cuMemcpyDtoHAsync") ||
               app_check(a->cu->cuStreamSynchronize(stream), "cuStreamSynchronize");
    return app_check((unsigned)a->cl->clEnqueueReadBuffer(stream, from, CL_TRUE, 0, bytes, to, 0, NULL, NULL),
                     "clEnqueueReadBuffer");
}

/* Queues it: every byte becomes `value`. */
static inline int app_fill(const struct app *a, void *stream, void *buffer, size_t offset, size_t bytes, unsigned char value)
{
    if (a->cu)
        return app_check(a->cu->cuMemsetD8Async((uintptr_t)buffer + offset, value, bytes, stream), "cuMemsetD8Async");
    return app_check((unsigned)a->cl->clEnqueueFillBuffer(stream, buffer, &value, 1, offset, bytes, 0, NULL, NULL),
                     "clEnqueueFillBuffer");
}

#endif
