/* What running and compiling share: a context and a queue, buffers, arguments, launches. */
#include <inttypes.h>
#include <string.h>

#include "device/opencl_part.h"

static const char *text_of(cl_int rc)
{
    static const struct {
        cl_int code;
        const char *text;
    } known[] = {
        { -3, "compiler not available" },
        { -4, "memory allocation failed" },
        { -5, "out of resources" },
        { -6, "out of host memory" },
        { -11, "build failed" },
        { -36, "invalid command queue" },
        { -38, "invalid memory object" },
        { -42, "invalid binary" },
        { -46, "invalid kernel name" },
        { -48, "invalid kernel" },
        { -49, "invalid argument index" },
        { -50, "invalid argument value" },
        { -51, "invalid argument size" },
        { -52, "invalid kernel arguments" },
        { -54, "invalid work-group size" },
        { -55, "invalid work-item size" },
        { -61, "invalid buffer size" },
        { -63, "invalid global work size" },
        { -9999, "the kernel faulted" },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].code == rc)
            return known[i].text;
    return "no text";
}

/* A call that was refused leaves the device as good as before; every other failure has to be taken for the loss of it. */
static int code_of(cl_int rc)
{
    if (rc == CL_MEM_OBJECT_ALLOCATION_FAILURE || rc == CL_OUT_OF_HOST_MEMORY)
        return ERR_NOMEM;
    return rc == CL_INVALID_BINARY || (rc <= CL_INVALID_ARG_INDEX && rc >= CL_INVALID_GLOBAL_WORK_SIZE) ? ERR_UNSUPPORTED
                                                                                                        : ERR_DEVICE;
}

int opencl_check(cl_int rc, struct err *err, const char *what)
{
    if (rc == CL_SUCCESS)
        return 0;
    return err_set(err, code_of(rc), "%s: OpenCL error %d (%s)", what, (int)rc, text_of(rc));
}

int opencl_session_open(const struct devspec *spec, cl_command_queue_properties properties, struct opencl_session *out,
                        struct err *err)
{
    *out = (struct opencl_session){ .spec = *spec };
    int rc = opencl_device(spec, &out->cl, &out->device, err);
    if (rc)
        return rc;
    cl_int result = CL_SUCCESS;
    out->context = out->cl->clCreateContext(NULL, 1, &out->device, NULL, NULL, &result);
    rc = opencl_check(result, err, "clCreateContext");
    if (!rc) {
        out->queue = out->cl->clCreateCommandQueue(out->context, out->device, properties, &result);
        rc = opencl_check(result, err, "clCreateCommandQueue");
    }
    if (rc) {
        err_prefix(err, "opencl:%d: ", spec->index);
        opencl_session_close(out);
    }
    return rc;
}

void opencl_session_close(struct opencl_session *s)
{
    if (s->queue)
        s->cl->clReleaseCommandQueue(s->queue);
    if (s->context)
        s->cl->clReleaseContext(s->context);
    s->queue = NULL;
    s->context = NULL;
}

int opencl_buffer(const struct opencl_session *s, int64_t bytes, cl_mem *out, struct err *err)
{
    int rc = check_alloc(&s->spec, bytes, err);
    if (rc)
        return rc;
    cl_int result = CL_SUCCESS;
    cl_mem_flags flags = CL_MEM_READ_WRITE | (s->spec.shares_cores ? (cl_mem_flags)CL_MEM_ALLOC_HOST_PTR : 0);
    cl_mem mem = s->cl->clCreateBuffer(s->context, flags, (size_t)bytes, NULL, &result);
    rc = opencl_check(result, err, "clCreateBuffer");
    if (rc)
        err_prefix(err, "opencl:%d: a buffer of %" PRId64 " bytes: ", s->spec.index, bytes);
    else
        *out = mem;
    return rc;
}

int opencl_check_args(const struct opencl_session *s, cl_kernel kernel, int nargs, int64_t shared, bool *dynamic, struct err *err)
{
    cl_uint takes = 0;
    int rc = opencl_check(s->cl->clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof takes, &takes, NULL), err, "clGetKernelInfo");
    if (rc)
        return rc;
    *dynamic = takes == (cl_uint)nargs + 1;
    if (takes == (cl_uint)nargs + *dynamic && (shared == 0 || *dynamic))
        return 0;
    return err_set(err, ERR_INVALID, "the kernel takes %u arguments, the launch gives %d%s", (unsigned)takes, nargs,
                   shared > 0 ? " and dynamic shared memory (DYNAMIC_SHARED_PARAM)" : "");
}

int opencl_set_args(const struct opencl_session *s, cl_kernel kernel, const struct opencl_arg *args, int nargs, int64_t shared,
                    struct err *err)
{
    bool dynamic;
    int rc = opencl_check_args(s, kernel, nargs, shared, &dynamic, err);
    for (int i = 0; i < nargs && !rc; i++) {
        rc = opencl_check(s->cl->clSetKernelArg(kernel, (cl_uint)i, args[i].bytes, args[i].value), err, "clSetKernelArg");
        if (rc)
            err_prefix(err, "kernel argument %d: ", i + 1);
    }
    if (rc || !dynamic)
        return rc;
    /* OpenCL refuses 0 bytes, which CUDA takes. */
    size_t room = shared > 0 ? (size_t)shared : 16;
    return opencl_check(s->cl->clSetKernelArg(kernel, (cl_uint)nargs, room, NULL), err, "dynamic shared memory");
}

cl_event *opencl_event(const struct opencl_session *s, cl_event *event)
{
    *event = NULL;
    return s->span ? event : NULL;
}

void opencl_keep(const struct opencl_session *s, cl_event event)
{
    struct opencl_span *span = s->span;
    if (!event)
        return;
    if (!span->first)
        span->first = event;
    else if (span->last != span->first)
        s->cl->clReleaseEvent(span->last);
    span->last = event;
}

int opencl_enqueue(const struct opencl_session *s, cl_kernel kernel, const unsigned blocks[3], const unsigned block[3],
                   struct err *err)
{
    size_t local[3], global[3];
    cl_event event;
    for (int i = 0; i < 3; i++) {
        local[i] = block[i];
        global[i] = (size_t)blocks[i] * block[i];
    }
    cl_int result = s->cl->clEnqueueNDRangeKernel(s->queue, kernel, 3, NULL, global, local, 0, NULL, opencl_event(s, &event));
    opencl_keep(s, event);
    int rc = opencl_check(result, err, "clEnqueueNDRangeKernel");
    /* A lost device and a block too large for its registers have one code: here the queue tells which it is. */
    if (result == CL_OUT_OF_RESOURCES && s->cl->clFinish(s->queue) == CL_SUCCESS)
        rc = err_set(err, ERR_UNSUPPORTED, "clEnqueueNDRangeKernel: the block takes more registers or local memory than there is");
    return rc;
}
