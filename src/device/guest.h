/* Launching in a context that belongs to the application: what libcutune needs of a device beyond device.h. A backend has a
 * `struct guest_backend` beside its `struct backend`.
 *
 * Every call may come from any thread. Calls leave the thread's current context as they found it. Failures are codes with a line;
 * ERR_UNSUPPORTED where the driver refuses (an image of another architecture, say), ERR_DEVICE for the rest. */
#ifndef DEVICE_GUEST_H
#define DEVICE_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/devspec.h"
#include "model/op.h"

struct guest;      /* somebody's context */
struct guest_code; /* code loaded into it */

enum { GUEST_PARAMS = 2 * MAX_ARGS, GUEST_ALIGN = 4096 };

/* Where a parameter's value comes from. The order is that of cutune_param_kind. */
enum guest_param_kind { GUEST_BUFFER, GUEST_WORKSPACE, GUEST_VALUE };

struct guest_param {
    enum guest_param_kind kind;
    int index;      /* of the buffer */
    int64_t offset; /* into the workspace: a multiple of GUEST_ALIGN */
    int64_t room;   /* bytes of this workspace (OpenCL makes a sub-buffer of them) */
    int bytes;      /* of a value */
    unsigned char value[16];
};

struct guest_launch {
    void *function; /* guest_backend.function's */
    unsigned grid[3], block[3], shared;
    int nparams;
    const struct guest_param *params;
};

struct guest_clear {
    bool workspace;
    int index; /* of the buffer, where it is none of the workspace */
    int64_t offset, bytes;
};

/* All of a kernel's work. */
struct guest_work {
    int nclears, nlaunches, nbuffers;
    const struct guest_clear *clears;
    const struct guest_launch *launches;
    int64_t workspace; /* bytes; 0: none */
};

struct guest_backend {
    const char *name; /* as backend.name */
    /* handle: CUcontext, null for the current one; cl_command_queue, which is retained; of the pretend device an int *, its index,
     * null for 0. Describes the device in *spec as list() does (uuid, index and driver too). */
    int (*open)(void *handle, struct devspec *spec, struct guest **out, struct err *err);
    /* Waits for what is in flight in the context, unloads all code and lets go of the context. Of CUDA this takes a context that is
     * primary or the calling thread's current one: what another holds stays there until it ends. Null is fine. */
    void (*close)(struct guest *g);
    /* In a child process after a fork, instead of close: frees memory, touches no driver and takes no lock. */
    void (*forget)(struct guest *g);
    /* format: "cubin", "ptx", "clbin", "null". An image of the wrong kind or damaged is refused, whatever its bytes. */
    int (*load)(struct guest *g, const void *image, size_t bytes, const char *format, struct guest_code **out, struct err *err);
    /* Before close, where code is not wanted longer; nothing of it may be in flight. Null is fine. */
    void (*unload)(struct guest *g, struct guest_code *code);
    /* What a launch names: lives as long as the code. nparams: as the launch will give, checked where the driver tells. Each call
     * gives one that is ready to launch, with nothing left to be loaded. */
    int (*function)(struct guest *g, struct guest_code *code, const char *name, int64_t dynamic_shared,
                    const struct guest_param *params, int nparams, void **out, struct err *err);
    /* The driver's own handle of a function: CUfunction, cl_kernel. */
    void *(*raw)(void *function);
    /* Queues all of it on the stream (null: the default, or the queue of open). workspace null: taken in stream order and given
     * back where the work needs one. ERR_INVALID where the context is not the calling thread's current one (CUDA).
     * The caller vouches for the work: indices below nbuffers, offsets within the workspace, parameters as `function` saw them. */
    int (*launch)(struct guest *g, void *stream, const struct guest_work *work, void *const *buffers, void *workspace,
                  struct err *err);
    /* Whether buffers are addresses whose alignment and overlap can be checked. */
    bool addresses;
};

const struct guest_backend *guest_backend_find(const char *name); /* null */
extern const struct guest_backend cuda_guest, opencl_guest, null_guest;

/* How many launches the pretend devices of this process took so far: for tests. */
uint64_t null_guest_launches(void);

#endif
