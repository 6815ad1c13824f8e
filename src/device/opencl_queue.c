/* Buffers, and what is queued on them. */
#include <inttypes.h>
#include <string.h>

#include "device/opencl_part.h"

static const char *text_of(cl_int result)
{
    switch (result) {
#define X(name, value, text)                                                                                                       \
    case name:                                                                                                                     \
        return text;
        OPENCL_ERRORS(X)
#undef X
    case -9999: /* NVIDIA's own */
        return "the kernel faulted";
    default:
        return "no text";
    }
}

/* A call that was refused leaves the device as good as before. After every other failure the device has to be taken for lost. */
static int code_of(cl_int rc)
{
    if (rc == CL_MEM_OBJECT_ALLOCATION_FAILURE || rc == CL_OUT_OF_HOST_MEMORY)
        return ERR_NOMEM;
    return rc == CL_INVALID_BINARY || (rc <= CL_INVALID_ARG_INDEX && rc >= CL_INVALID_GLOBAL_WORK_SIZE) ? ERR_UNSUPPORTED
                                                                                                        : ERR_DEVICE;
}

int opencl_check(cl_int result, struct err *err, const char *what)
{
    if (result == CL_SUCCESS)
        return 0;
    return err_set(err, code_of(result), "%s: OpenCL error %d (%s)", what, (int)result, text_of(result));
}

int opencl_buffer(const struct opencl_context *g, int64_t bytes, void **out, struct err *err)
{
    int rc = check_alloc(&g->g.spec, bytes, err);
    if (rc)
        return rc;
    cl_int result = CL_SUCCESS;
    cl_ulong flags = CL_MEM_READ_WRITE | (g->g.spec.shares_cores ? (cl_ulong)CL_MEM_ALLOC_HOST_PTR : 0);
    cl_mem made = libopencl.clCreateBuffer(g->context, flags, (size_t)bytes, NULL, &result);
    rc = opencl_check(result, err, "clCreateBuffer");
    if (rc)
        err_prefix(err, "opencl:%d: a buffer of %" PRId64 " bytes: ", g->g.spec.index, bytes);
    else
        *out = made;
    return rc;
}

cl_mem opencl_part(cl_mem whole, int64_t offset, int64_t bytes, cl_int *result)
{
    const cl_buffer_region region = { (size_t)offset, (size_t)bytes };
    return libopencl.clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, result);
}

cl_event *opencl_event(const struct opencl_context *g)
{
    struct opencl_span *span = g->span;
    if (!span)
        return NULL;
    if (!span->first)
        return &span->first;
    if (span->last)
        libopencl.clReleaseEvent(span->last);
    span->last = NULL;
    return &span->last;
}

int opencl_enqueue(const struct opencl_context *g, cl_command_queue queue, cl_kernel kernel, const struct geometry *geometry,
                   struct err *err)
{
    size_t local[3], global[3];
    for (int i = 0; i < 3; i++) {
        local[i] = (size_t)geometry->block[i];
        global[i] = (size_t)(geometry->grid[i] * geometry->block[i]);
    }
    cl_int result = libopencl.clEnqueueNDRangeKernel(queue, kernel, 3, NULL, global, local, 0, NULL, opencl_event(g));
    /* A lost device and a block that needs too many registers give the same code. The queue tells which it is. */
    if (result == CL_OUT_OF_RESOURCES && libopencl.clFinish(queue) == CL_SUCCESS)
        return err_set(err, ERR_UNSUPPORTED,
                       "clEnqueueNDRangeKernel: the block takes more registers or local memory than there is");
    return opencl_check(result, err, "clEnqueueNDRangeKernel");
}

/* ---- fills */

static const char fill_source[] =
    "__kernel void fill(__global uint4 *p, long from, long to, uint word)\n"
    "{\n"
    "    long step = (long)get_num_groups(0) * get_local_size(0);\n"
    "    for (long i = from / 16 + (long)get_group_id(0) * get_local_size(0) + get_local_id(0); i * 16 < to; i += step) {\n"
    "        if (i * 16 >= from && i * 16 + 16 <= to)\n"
    "            p[i] = (uint4)(word);\n"
    "        else\n"
    "            for (long b = max(i * 16, from); b < min(i * 16 + 16, to); b++)\n"
    "                ((__global uchar *)p)[b] = (uchar)word;\n"
    "    }\n"
    "}\n";

static int make_fill(struct opencl_context *g, struct err *err)
{
    cl_program program;
    cl_int result = CL_SUCCESS;
    int rc = opencl_build(g, fill_source, &program, NULL, err);
    if (rc)
        return rc;
    g->fill = libopencl.clCreateKernel(program, "fill", &result);
    libopencl.clReleaseProgram(program); /* which its kernel keeps alive */
    return opencl_check(result, err, "clCreateKernel");
}

/* With g's lock: a kernel object keeps its arguments. */
static int fill_by_kernel(struct opencl_context *g, cl_command_queue queue, cl_mem to, int64_t offset, int64_t bytes, uint8_t value,
                          struct err *err)
{
    const struct geometry geometry = { .grid = { 2048, 1, 1 }, .block = { 256, 1, 1 } };
    int64_t end = offset + bytes;
    uint32_t word = value * 0x01010101u;
    int rc = g->fill ? 0 : make_fill(g, err);
    if (rc)
        return rc;
    return OPENCL(err, clSetKernelArg, g->fill, 0, sizeof to, &to)
        ?: OPENCL(err, clSetKernelArg, g->fill, 1, sizeof offset, &offset)
        ?: OPENCL(err, clSetKernelArg, g->fill, 2, sizeof end, &end)
        ?: OPENCL(err, clSetKernelArg, g->fill, 3, sizeof word, &word)
        ?: opencl_enqueue(g, queue, g->fill, &geometry, err);
}

/* NVIDIA's clEnqueueFillBuffer (driver 580) writes astray or never returns past 2^31 bytes of a buffer; its kernels are right there. */
int opencl_fill(struct opencl_context *g, cl_command_queue queue, cl_mem to, int64_t offset, int64_t bytes, uint8_t value,
                struct err *err)
{
    size_t before = 0; /* bytes of the buffer that `to` is a part of, in front of it */
    if (!g->g.spec.shares_cores)
        libopencl.clGetMemObjectInfo(to, CL_MEM_OFFSET, sizeof before, &before, NULL);
    if (!g->g.spec.shares_cores && (int64_t)before + offset + bytes >= INT32_MAX) {
        pthread_mutex_lock(&g->g.lock);
        int rc = fill_by_kernel(g, queue, to, offset, bytes, value, err);
        pthread_mutex_unlock(&g->g.lock);
        return rc;
    }
    /* The longest pattern that divides the part: drivers fill pattern by pattern. */
    unsigned char pattern[128];
    memset(pattern, value, sizeof pattern);
    size_t length = sizeof pattern;
    while (offset % (int64_t)length || bytes % (int64_t)length)
        length /= 2;
    return OPENCL(err, clEnqueueFillBuffer, queue, to, pattern, length, (size_t)offset, (size_t)bytes, 0, NULL, opencl_event(g));
}
