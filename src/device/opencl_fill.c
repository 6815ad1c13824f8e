/* Fills. NVIDIA's clEnqueueFillBuffer (driver 580) writes astray or never returns past 2^31 bytes of a buffer; its kernels are right
 * there. */
#include <string.h>

#include "device/opencl_part.h"

static const char source[] =
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

static int make(const struct opencl_session *s, struct opencl_filler *f, struct err *err)
{
    struct buf log = { 0 };
    cl_int result = CL_SUCCESS;
    int rc = opencl_build(s, source, &f->program, &log, err);
    buf_free(&log);
    if (rc)
        return rc;
    f->kernel = s->cl->clCreateKernel(f->program, "fill", &result);
    return opencl_check(result, err, "clCreateKernel");
}

static int by_kernel(const struct opencl_session *s, struct opencl_filler *f, cl_mem to, int64_t offset, int64_t bytes,
                     uint8_t value, struct err *err)
{
    int64_t end = offset + bytes;
    uint32_t word = value * 0x01010101u;
    const struct opencl_arg args[] = {
        { &to, sizeof to }, { &offset, sizeof offset }, { &end, sizeof end }, { &word, sizeof word }
    };
    return (f->kernel ? 0 : make(s, f, err))
        ?: opencl_set_args(s, f->kernel, args, 4, 0, err)
        ?: opencl_enqueue(s, f->kernel, (const unsigned[]){ 2048, 1, 1 }, (const unsigned[]){ 256, 1, 1 }, err);
}

int opencl_fill(const struct opencl_session *s, struct opencl_filler *f, cl_mem to, int64_t before, int64_t offset, int64_t bytes,
                uint8_t value, struct err *err)
{
    if (before + offset + bytes >= INT32_MAX && !s->spec.shares_cores)
        return by_kernel(s, f, to, offset, bytes, value, err);
    /* The longest pattern that divides the part: drivers fill pattern by pattern. */
    unsigned char pattern[128];
    cl_event event;
    memset(pattern, value, sizeof pattern);
    size_t length = sizeof pattern;
    while (offset % (int64_t)length || bytes % (int64_t)length)
        length /= 2;
    cl_int result =
        s->cl->clEnqueueFillBuffer(s->queue, to, pattern, length, (size_t)offset, (size_t)bytes, 0, NULL, opencl_event(s, &event));
    opencl_keep(s, event);
    return opencl_check(result, err, "clEnqueueFillBuffer");
}

void opencl_filler_free(const struct opencl_session *s, struct opencl_filler *f)
{
    if (f->kernel)
        s->cl->clReleaseKernel(f->kernel);
    if (f->program)
        s->cl->clReleaseProgram(f->program);
}
