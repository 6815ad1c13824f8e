/* Devices: one interface, a table of backends. To add a backend, write one C file with a `struct backend` and add its line to the
 * table in device.c.
 *
 * A device belongs to one thread. Its work runs in order on one queue; calls return as soon as the work is queued unless they say
 * otherwise. A kernel's fault shows in the return of a later call, at the latest of sync: as ERR_DEVICE, after which the device has
 * to be taken for lost. What is only refused is another code (ERR_UNSUPPORTED, ERR_INVALID, ERR_NOMEM), and leaves it as it was. */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "model/devspec.h"
#include "model/plan.h"
#include "model/record.h"

enum { COMPILER_NAME = 64 };

struct device;   /* an open device */
struct module;   /* loaded code */
struct kernel;   /* an entry of a module; lives as long as it */
struct memory;   /* device memory, or a view into it */
struct compiler; /* a compiling session: in a process that need not have the device (CUDA), or must (OpenCL) */

struct karg {
    const struct memory *memory; /* a buffer; null: a scalar, */
    unsigned char bytes[16];     /* whose value stands here */
    int size;
};

/* One launch of a kernel for the compiler to try, where that pays (see `compile`). */
struct warm_launch {
    const char *kernel;
    struct geometry geometry;
    int nargs;
    const struct karg *args;     /* memory is null for buffers here: */
    const int64_t *buffer_bytes; /* > 0: a buffer of that size is made, zeroed; 0: a scalar */
    const int *buffer;           /* its number, 0..MAX_KARGS-1: launches share buffers by it, as one may read what another wrote */
};

struct compile_job {
    const char *source;
    const char *arch; /* CUDA: "sm_90", "sm_90a"; a PTX target "compute_75" gives PTX; null: the device's own */
    int nlaunches;    /* may be 0 */
    const struct warm_launch *launches;
    void (*warming)(void *); /* called when compiling is over and the trial launch begins; may be null */
    void *warming_arg;
};

struct backend {
    const char *name;
    const char *format; /* of what `compile` gives, as the store names it */
    /* Lists what is present: fills up to max, returns how many there are (more than max: cut). No driver or no device is 0 with the
     * reason in err->msg (err->code 0). Must not leave a CUDA context behind. */
    int (*list)(struct devspec *out, int max, struct err *err);

    int (*compiler_open)(const struct devspec *spec, struct compiler **out, struct err *err);
    void (*compiler_close)(struct compiler *c);
    /* Compiles to what `load` takes. `portable` may be null; where the backend has such a thing (CUDA) it gets the same code as PTX,
     * which drivers compile for this architecture and later ones; elsewhere it stays empty. Returns 0, ERR_INVALID where the source
     * is refused (the log says why), or another code. The log is cut at 1 MB. A backend that compiles per launch shape (PoCL) runs
     * one block of each launch on scratch buffers before it ships the binary. */
    int (*compile)(struct compiler *c, const struct compile_job *job, struct buf *binary, struct buf *portable, struct buf *log,
                   struct err *err);
    /* What compiles, as the store names it: "NVRTC 13.0"; where that is the device's driver, the driver's version. */
    void (*compiler_name)(const struct compiler *c, char out[COMPILER_NAME]);

    int (*open)(const struct devspec *spec, struct device **out, struct err *err);
    void (*close)(struct device *d);

    int (*alloc)(struct device *d, int64_t bytes, struct memory **out, struct err *err);
    /* A part of m; offset must be a multiple of 4096. Free it before m. */
    int (*view)(struct device *d, struct memory *m, int64_t offset, int64_t bytes, struct memory **out, struct err *err);
    void (*free)(struct device *d, struct memory *m);
    int (*fill)(struct device *d, struct memory *m, int64_t offset, int64_t bytes, uint8_t value, struct err *err);
    int (*copy)(struct device *d, struct memory *to, const struct memory *from, int64_t bytes, struct err *err);
    int (*write)(struct device *d, struct memory *to, int64_t offset, const void *from, int64_t bytes,
                 struct err *err);                                                                                      /* blocks */
    int (*read)(struct device *d, void *to, const struct memory *from, int64_t offset, int64_t bytes, struct err *err); /* blocks */

    int (*load)(struct device *d, const void *binary, size_t bytes, struct module **out, struct err *err);
    void (*unload)(struct device *d, struct module *m);
    /* dynamic_shared: the most that it will be launched with. resources may be null. */
    int (*kernel)(struct device *d, struct module *m, const char *name, int64_t dynamic_shared, struct kernel **out,
                  struct resources *resources, struct err *err);
    int (*launch)(struct device *d, struct kernel *k, const struct geometry *g, const struct karg *args, int nargs,
                  struct err *err);

    /* Time of the work queued between begin and end, for slots 0..MAX_SPANS-1, read after sync. Spans do not nest. */
    int (*span_begin)(struct device *d, int slot, struct err *err);
    int (*span_end)(struct device *d, int slot, struct err *err);
    int (*span_ns)(struct device *d, int slot, double *ns, struct err *err);
    int (*sync)(struct device *d, struct err *err); /* waits for everything queued */

    /* Optional. */
    void (*clocks)(struct device *d, int *sm_mhz, int *mem_mhz);
    /* One line on what is present or missing and what would mend it, for `cutune doctor`. */
    void (*doctor)(struct buf *out);
};

enum { MAX_SPANS = 64, MAX_DEVICES = 64, VIEW_ALIGN = 4096 };

const struct backend *backend_find(const char *name); /* null */
const struct backend *backend_at(int i);              /* null past the last */

/* Of a compiler's log the line that says most: the first with "error" in it, else the first. */
void compile_log_line(const struct buf *log, char out[256]);

/* A device by the user's word: "cuda:0", "opencl:1", "cuda"; null: the best present one -- CUDA, then an OpenCL GPU, then any OpenCL.
 * "null" is never chosen by itself. The message says what was looked for and what is there. */
int device_find(const char *word, struct devspec *out, struct err *err);

extern const struct backend cuda_backend, opencl_backend, null_backend;

#endif
