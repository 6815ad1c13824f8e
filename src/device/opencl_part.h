/* What the files of the OpenCL backend share. */
#ifndef DEVICE_OPENCL_PART_H
#define DEVICE_OPENCL_PART_H

#include <pthread.h>
#include <stdbool.h>

#include "device/measuring.h"
#include "device/opencl_api.h"

/* The outcome of a call as an error: "WHAT: OpenCL error -5 (out of resources)". 0 if it succeeded. */
int opencl_check(cl_int rc, struct err *err, const char *what);

/* opencl_list.c */
int opencl_list(struct devspec *out, int max, struct err *err);
void opencl_doctor(struct buf *out);
/* Of a device by its handle. */
void opencl_describe(const struct opencl_api *cl, cl_device_id device, struct devspec *d);
/* The driver's handle of a listed device. */
int opencl_device(const struct devspec *spec, const struct opencl_api **cl, cl_device_id *out, struct err *err);

/* A span of time lasts from the start of its first command to the end of its last; the events between are not kept. */
struct opencl_span {
    cl_event first, last;
    bool ended;
};

/* opencl_session.c: a context and a queue on one device. */
struct opencl_session {
    const struct opencl_api *cl;
    struct devspec spec;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    struct opencl_span *span; /* the one that is begun and not yet ended; null */
};
int opencl_session_open(const struct devspec *spec, cl_command_queue_properties properties, struct opencl_session *out,
                        struct err *err);
void opencl_session_close(struct opencl_session *s);

/* A buffer. On a CPU its memory is mapped when it is touched. */
int opencl_buffer(const struct opencl_session *s, int64_t bytes, cl_mem *out, struct err *err);
/* The place for a command's event: null outside spans. After the command, opencl_keep puts the event into the span. */
cl_event *opencl_event(const struct opencl_session *s, cl_event *event);
void opencl_keep(const struct opencl_session *s, cl_event event);
/* Whether a kernel can be launched with nargs arguments and so many bytes of dynamic shared memory; ERR_INVALID if it takes
 * others. *dynamic: it declares DYNAMIC_SHARED_PARAM. */
int opencl_check_args(const struct opencl_session *s, cl_kernel kernel, int nargs, int64_t shared, bool *dynamic, struct err *err);
/* A value of so many bytes; a buffer's is its cl_mem. */
struct opencl_arg {
    const void *value;
    size_t bytes;
};
/* Sets a kernel's arguments, then the dynamic shared memory that DYNAMIC_SHARED_PARAM declares. */
int opencl_set_args(const struct opencl_session *s, cl_kernel kernel, const struct opencl_arg *args, int nargs, int64_t shared,
                    struct err *err);
int opencl_enqueue(const struct opencl_session *s, cl_kernel kernel, const unsigned blocks[3], const unsigned block[3],
                   struct err *err);

/* opencl_fill.c: fills of any size; the large ones use a kernel, which is built when first needed. */
struct opencl_filler {
    cl_program program;
    cl_kernel kernel;
};
/* before: bytes of the buffer that `to` is a part of, in front of it; bytes: at least 1. */
int opencl_fill(const struct opencl_session *s, struct opencl_filler *f, cl_mem to, int64_t before, int64_t offset, int64_t bytes,
                uint8_t value, struct err *err);
void opencl_filler_free(const struct opencl_session *s, struct opencl_filler *f);

/* opencl.c: a guest. */
struct opencl_context {
    struct guest g;          /* its lock is also that of the filler and of loading */
    struct opencl_session s; /* the application's context and queue, retained; or our own */
    struct opencl_filler filler;
    struct opencl_span spans[MAX_SPANS];
};
extern const struct backend_measuring opencl_measuring;

/* opencl_compile.c */
extern const struct backend_compiling opencl_compiling;
/* Builds source; ERR_INVALID if it is refused. */
int opencl_build(const struct opencl_session *s, const char *source, cl_program *out, struct buf *log, struct err *err);
/* From the bytes that compiling gave to a built program. */
int opencl_program_load(const struct opencl_session *s, const void *binary, size_t bytes, cl_program *out, struct err *err);

#endif
