/* What the files of the OpenCL backend share. */
#ifndef DEVICE_OPENCL_PART_H
#define DEVICE_OPENCL_PART_H

#include <stdbool.h>

#include "device/device.h"
#include "device/opencl_api.h"

/* The outcome of a call as an error: "WHAT: OpenCL error -5 (out of resources)". 0 where it succeeded. */
int opencl_check(cl_int rc, struct err *err, const char *what);

/* opencl_list.c */
int opencl_list(struct devspec *out, int max, struct err *err);
void opencl_doctor(struct buf *out);
/* Of a device whose handle somebody else got. */
void opencl_describe(const struct opencl_api *cl, cl_device_id device, struct devspec *d);
/* The driver's handle of a listed device. */
int opencl_device(const struct devspec *spec, const struct opencl_api **cl, cl_device_id *out, struct err *err);

/* opencl_session.c: a context and a queue on one device. */
struct opencl_session {
    const struct opencl_api *cl;
    struct devspec spec;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
};
int opencl_session_open(const struct devspec *spec, cl_command_queue_properties properties, struct opencl_session *out,
                        struct err *err);
void opencl_session_close(struct opencl_session *s);

/* A buffer; memory is mapped when it is touched where the device is a CPU. */
int opencl_buffer(const struct opencl_session *s, int64_t bytes, cl_mem *out, struct err *err);
/* Whether a kernel can be launched with nargs arguments and so many bytes of dynamic shared memory; ERR_INVALID where it takes
 * others. *dynamic: it declares DYNAMIC_SHARED_PARAM. */
int opencl_check_args(const struct opencl_session *s, cl_kernel kernel, int nargs, int64_t shared, bool *dynamic, struct err *err);
/* Sets a kernel's arguments: buffers[i], or where that is null the scalar args[i]; then the dynamic shared memory that
 * DYNAMIC_SHARED_PARAM declares. */
int opencl_set_args(const struct opencl_session *s, cl_kernel kernel, const cl_mem *buffers, const struct karg *args, int nargs,
                    int64_t shared, struct err *err);
/* Enqueues `blocks` blocks of the geometry's shape; event may be null. */
int opencl_enqueue(const struct opencl_session *s, cl_kernel kernel, const int64_t blocks[3], const int64_t block[3],
                   cl_event *event, struct err *err);

/* opencl_fill.c: fills of any size, where that is needed by a kernel, which is built then. */
struct opencl_filler {
    cl_program program;
    cl_kernel kernel;
};
/* before: bytes of the buffer that `to` is a part of, in front of it; bytes: at least 1. */
int opencl_fill(const struct opencl_session *s, struct opencl_filler *f, cl_mem to, int64_t before, int64_t offset, int64_t bytes,
                uint8_t value, cl_event *event, struct err *err);
void opencl_filler_free(const struct opencl_session *s, struct opencl_filler *f);

/* opencl_compile.c */
/* Builds source; ERR_INVALID where it is refused. */
int opencl_build(const struct opencl_session *s, const char *source, cl_program *out, struct buf *log, struct err *err);
int opencl_compiler_open(const struct devspec *spec, struct compiler **out, struct err *err);
void opencl_compiler_close(struct compiler *c);
int opencl_compile(struct compiler *c, const struct compile_job *job, struct buf *binary, struct buf *portable, struct buf *log,
                   struct err *err);
void opencl_compiler_name(const struct compiler *c, char out[COMPILER_NAME]);
/* From the bytes that opencl_compile wrote to a built program. */
int opencl_program_load(const struct opencl_session *s, const void *binary, size_t bytes, cl_program *out, struct err *err);

#endif
