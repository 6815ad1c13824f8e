/* What the files of the OpenCL backend share. */
#ifndef DEVICE_OPENCL_PART_H
#define DEVICE_OPENCL_PART_H

#include <stdbool.h>

#include "device/measuring.h"
#include "device/opencl_api.h"

/* opencl_list.c */
int opencl_list(struct devspec *out, int max, struct err *err);
/* Describes the device that has this handle. */
void opencl_describe(cl_device_id device, struct devspec *d);
/* The driver's handle of a listed device. */
int opencl_device(const struct devspec *spec, cl_device_id *out, struct err *err);

/* A span of time lasts from the start of its first command to the end of its last; the events between are not kept. */
struct opencl_span {
    cl_event first, last; /* last is null if there was one command */
    bool ended;
};

/* A guest. */
struct opencl_context {
    struct guest g; /* its lock is also that of loading, and of the kernel that fills */
    cl_device_id device;
    cl_context context;     /* which its queue keeps alive */
    cl_command_queue queue; /* the application's or our own, retained */
    cl_kernel fill;         /* made when it is first needed */
    /* Of a queue of our own: */
    struct opencl_span spans[MAX_SPANS];
    struct opencl_span *span; /* the one that is begun and not yet ended; null */
};

/* opencl_queue.c: buffers, and what is queued on them. */

/* The outcome of a call as an error: "WHAT: OpenCL error -5 (out of resources)". 0 if it succeeded. */
int opencl_check(cl_int result, struct err *err, const char *what);
#define OPENCL(err, function, ...) opencl_check(libopencl.function(__VA_ARGS__), err, #function)

/* A buffer, a cl_mem. On a CPU its memory is mapped when it is touched. */
int opencl_buffer(const struct opencl_context *g, int64_t bytes, void **out, struct err *err);
cl_mem opencl_part(cl_mem whole, int64_t offset, int64_t bytes, cl_int *result);
/* At least 1 byte. `to` may be a part. */
int opencl_fill(struct opencl_context *g, cl_command_queue queue, cl_mem to, int64_t offset, int64_t bytes, uint8_t value,
                struct err *err);
int opencl_enqueue(const struct opencl_context *g, cl_command_queue queue, cl_kernel kernel, const struct geometry *geometry,
                   struct err *err);
/* The place for the event of the next command: null outside spans. */
cl_event *opencl_event(const struct opencl_context *g);

/* opencl.c */

/* A guest in a context of our own, on a queue that keeps profiling times. */
int opencl_open_own(const struct devspec *spec, struct guest **out, struct err *err);
extern const struct backend_measuring opencl_measuring;

/* opencl_params.c: whether a kernel can be launched with these parameters and so many bytes of dynamic shared memory. */
int opencl_params(cl_kernel kernel, const struct guest_launch *l, bool *dynamic, struct err *err);

/* opencl_blas_measure.c */
int opencl_call_open(struct device *d, const struct library_call *what, struct called **out, struct err *err);
int opencl_call_run(struct device *d, struct called *c, int way, struct err *err);
void opencl_call_close(struct device *d, struct called *c);

/* opencl_compile.c */
extern const struct backend_compiling opencl_compiling;
/* Builds source; ERR_INVALID if it is refused. log: null for one that never is. */
int opencl_build(const struct opencl_context *g, const char *source, cl_program *out, struct buf *log, struct err *err);
/* Fills in the code's program, from the bytes that compiling gave. */
int opencl_program_load(const struct opencl_context *g, const void *binary, size_t bytes, struct guest_code *code, struct err *err);

#endif
