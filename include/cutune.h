/* libcutune: tuned kernels in your application.
 *
 * Open the database that `cutune run` fills, attach to your CUDA context or OpenCL queue, and launch the fastest known kernel for
 * each problem on your own stream. No Lua, no tuning; for a device that was tuned, no run-time compiler either.
 *
 *     cutune *c;
 *     cutune_handle *h;
 *     const cutune_kernel *k;
 *     const int64_t sizes[] = { 1111, 113 };                       // transpose: m, n
 *     void *buffers[] = { out, in };                               // its buffers, in the op's order: device pointers or cl_mem
 *     if (cutune_open(NULL, &c) || cutune_attach_cuda(c, NULL, &h) ||
 *         cutune_lookup(h, "transpose", "f32", sizes, 2, &k) || cutune_launch(k, stream, buffers, 2))
 *         fprintf(stderr, "%s\n", cutune_error());
 *     ...
 *     cutune_close(c);
 *
 * Failures. A call that can fail returns CUTUNE_OK or one of the negative codes below, and leaves its outputs as they were, unless
 * it says otherwise; cutune_error then has one line that says what is wrong. The library never prints and never ends the process.
 * Arguments are checked: a null pointer or a size that cannot be is CUTUNE_ERR_INVALID.
 *
 * Threads. Every call may be made from any thread at any time, but for the two that end things: nothing else may be under way on
 * what cutune_close or cutune_detach takes. Looking up a problem again takes no lock and makes no system call.
 *
 * Ownership. Everything handed out belongs to the cutune it came from and lasts until cutune_close (kernels: or the cutune_detach
 * of their handle). A kernel never changes once it is handed out.
 *
 * Fork. A child process may only close what its parent opened, which writes no file and touches no device; every other call is
 * CUTUNE_ERR_INVALID there. It closes what it inherited, and then opens its own. A fork waits for calls of other threads that are
 * reading or writing a database.
 *
 * Structures that begin with `size` are the caller's: set it to sizeof the structure, and the rest to zero where nothing is wanted.
 * Later versions add members at the end. */
#ifndef CUTUNE_H
#define CUTUNE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define CUTUNE_API __attribute__((visibility("default")))
#else
#define CUTUNE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. */
#define CUTUNE_VERSION_MAJOR  0
#define CUTUNE_VERSION_MINOR  1
#define CUTUNE_VERSION_PATCH  0
#define CUTUNE_VERSION_NUMBER (CUTUNE_VERSION_MAJOR * 10000 + CUTUNE_VERSION_MINOR * 100 + CUTUNE_VERSION_PATCH)

/* The version of the library in use: a number like CUTUNE_VERSION_NUMBER, and text such as "0.1.0". */
CUTUNE_API int cutune_version(void);
CUTUNE_API const char *cutune_version_text(void);

enum cutune_code {
    CUTUNE_OK = 0,
    CUTUNE_ERR_NOMEM = -1,       /* an allocation failed, of the host or the device */
    CUTUNE_ERR_INVALID = -2,     /* an argument that can never be right, or a file that is no database of cutune's */
    CUTUNE_ERR_NOTFOUND = -3,    /* no such file, device or op; or no kernel for this problem */
    CUTUNE_ERR_IO = -4,          /* the operating system refused a file */
    CUTUNE_ERR_DEVICE = -5,      /* a driver call failed */
    CUTUNE_ERR_UNSUPPORTED = -6, /* this device or driver cannot do it */
    CUTUNE_ERR_BUSY = -7,        /* another process held the database for longer than 10 seconds */
    CUTUNE_ERR_TIMEOUT = -8,     /* a deadline passed */
    CUTUNE_ERR_CORRUPT = -9      /* the database holds what cutune would never have written */
};

/* What the calling thread's last failed call had to say, in one line; "" where none failed yet. Valid until that thread's next
 * failure. */
CUTUNE_API const char *cutune_error(void);

typedef struct cutune cutune;               /* an open database */
typedef struct cutune_handle cutune_handle; /* a device to look up for, and mostly a context to launch in */
typedef struct cutune_kernel cutune_kernel; /* what a look-up gave; immutable */

/* ------------------------------------------------------------------------------------------------------------ open and close */

/* A line about what the library did that its caller may want to know: a kernel had to be compiled, a record is stale, misses could
 * not be written. From any thread, never two at a time for one cutune; it must not call the library. */
typedef void cutune_log(void *arg, const char *line);

typedef struct cutune_options {
    size_t size;      /* sizeof(cutune_options) */
    const char *path; /* the database; null: the first of $CUTUNE_DB, $XDG_DATA_HOME/cutune/tuned.db, ~/.local/share/cutune/tuned.db
                           that is set. The last two need not exist, nor one with capture: then the tables alone answer */
    const char *tables; /* the shipped tables of defaults, asked where the database has no answer; null: $CUTUNE_TABLES, else those
                           installed with the library; "": none */
    const char *cache;  /* a folder for what had to be compiled here; null: $XDG_CACHE_HOME/cutune, else ~/.cache/cutune; "": none.
                           Made where it is missing; one that cannot be written is done without */
    int capture;        /* 1: count look-ups that were not exact and write them into the database, for `cutune run --wanted` */
    int refresh_ms;     /* so often new records are looked for, in the background; 0: only in cutune_refresh */
    cutune_log *log;    /* may be null */
    void *log_arg;
} cutune_options;

/* Opens a database with no options set; path as in the options. */
CUTUNE_API int cutune_open(const char *path, cutune **out);
/* options null: all zero. With capture or refresh_ms a thread is started, which blocks all signals and ends in cutune_close. */
CUTUNE_API int cutune_open_with(const cutune_options *options, cutune **out);
/* Ends everything that came from c: waits for the kernels that are in flight in its contexts, unloads them, frees all. In a CUDA
 * context that is gone already, or is neither its device's primary one nor the calling thread's current one, nothing is waited for,
 * and what was loaded stays until it ends. Null is fine. */
CUTUNE_API void cutune_close(cutune *c);

/* Takes up what was tuned since: from now on look-ups give the new winners. Kernels handed out before stay what they are.
 * *changed, where it is not null: how many of the problems asked for so far got another kernel. */
CUTUNE_API int cutune_refresh(cutune *c, int *changed);
/* Writes the misses that were captured so far; also done every few seconds and by cutune_close. */
CUTUNE_API int cutune_flush(cutune *c);

/* Memory of the library's own from now on; call it before anything is open. resize as realloc; each must be callable from any
 * thread. Null functions put back malloc's. CUTUNE_ERR_INVALID where something is open, or only some are null. */
typedef struct cutune_allocator {
    size_t size; /* sizeof(cutune_allocator) */
    void *(*alloc)(void *arg, size_t bytes);
    void *(*resize)(void *arg, void *p, size_t bytes);
    void (*free)(void *arg, void *p);
    void *arg;
} cutune_allocator;
CUTUNE_API int cutune_set_allocator(const cutune_allocator *a);

/* ------------------------------------------------------------------------------------------------------------ devices, handles */

/* A device. The first members are what it is known by: records are of devices with all of these equal. The others are what kernels'
 * constraints ask for; a kernel is not given where a limit of 0 forbids it. */
typedef struct cutune_device {
    size_t size;               /* sizeof(cutune_device) */
    char backend[16];          /* "cuda", "opencl" */
    char name[128];            /* as the driver gives it: "NVIDIA H200" */
    char arch[64];             /* CUDA: "sm_90"; OpenCL: its platform, "pocl" */
    char mig[64];              /* MIG slice, "" where there is none */
    int multiprocessors;       /* or OpenCL compute units */
    int64_t memory;            /* bytes */
    int cc;                    /* CUDA compute capability * 10, such as 90; 0 elsewhere */
    int warp;                  /* threads that run together; 1 on a CPU */
    int64_t l2;                /* bytes of the last-level cache */
    int max_threads;           /* threads of a block */
    int max_block[3];          /* threads of a block along x, y, z */
    int64_t max_grid[3];       /* blocks of a grid along x, y, z */
    int64_t max_shared;        /* bytes of shared memory a block can have, dynamic ones included */
    int64_t max_static_shared; /* bytes of it without opting in */
    int64_t max_alloc;         /* bytes of one buffer */
    int fp64;                  /* 1 where it computes in double precision */
    int cpu;                   /* 1 for a CPU, whose memory then is no part of what it is known by */
} cutune_device;

/* Describes a present device: "cuda:0", "opencl:1", "cuda", or null for the best there is. Sets all of *out but its size, which
 * the caller has set. Loads the device's driver; leaves no context behind. */
CUTUNE_API int cutune_device_find(const char *id, cutune_device *out);

/* A handle to launch in a CUDA context: a CUcontext, or null for the calling thread's current one (the CUDA runtime's, after any
 * of its calls). Kernels launch only while that context is current in the launching thread; one that is not the device's primary
 * context must also be current for cutune_prefetch and cutune_kernel_function. */
CUTUNE_API int cutune_attach_cuda(cutune *c, void *context, cutune_handle **out);
/* A handle to launch in the context and on the device of an OpenCL command queue (cl_command_queue, in order), which is retained.
 * A launch may name any in-order queue of the same context and device that was not released. */
CUTUNE_API int cutune_attach_opencl(cutune *c, void *queue, cutune_handle **out);
/* A handle that looks up for a device and launches nothing: it needs no driver. */
CUTUNE_API int cutune_attach(cutune *c, const cutune_device *device, cutune_handle **out);
/* As cutune_close, for this handle and its kernels only. Null is fine. */
CUTUNE_API void cutune_detach(cutune_handle *h);
/* The handle's device. Sets all of *out but its size. */
CUTUNE_API int cutune_handle_device(const cutune_handle *h, cutune_device *out);

/* ------------------------------------------------------------------------------------------------------------ look-up */

/* How a kernel came to be the answer, in the order that is tried. */
typedef enum cutune_match {
    CUTUNE_MATCH_EXACT = 0,  /* tuned for exactly this problem on such a device */
    CUTUNE_MATCH_NEAR = 1,   /* of the winners of other problems on such a device, the one that should lose least here */
    CUTUNE_MATCH_DEVICE = 2, /* likewise from the nearest other device: of the same architecture, else of the same backend */
    CUTUNE_MATCH_DEFAULT = 3 /* the op's default for the problem: right, but not tuned for it */
} cutune_match;

/* Looks up the kernel for a problem. op: its name, "transpose". types: its element types, "f32", or "T=f16,ACC=f32" for an op with
 * several. sizes: one for each axis of the op, in its order (elements; counts; flags 0 or 1). The first look-up of a problem reads
 * the database; each later one is a few dozen nanoseconds and gives the same kernel until a refresh finds a better one. A problem
 * is remembered, in a few KB, until the handle ends.
 * CUTUNE_ERR_NOTFOUND: neither database nor tables know the op or the types, or have a kernel that may run here. */
CUTUNE_API int cutune_lookup(cutune_handle *h, const char *op, const char *types, const int64_t *sizes, int nsizes,
                             const cutune_kernel **out);

typedef struct cutune_problem {
    size_t size; /* sizeof(cutune_problem) */
    const char *op, *types;
    const int64_t *sizes;
    int nsizes;
} cutune_problem;

/* Looks up n problems and makes their kernels, and those that stand in for them, ready to launch: compiled where that is needed,
 * loaded. After that their launches load nothing, and may be captured into a graph. Goes on past a problem that fails; returns the
 * first failure. */
CUTUNE_API int cutune_prefetch(cutune_handle *h, const cutune_problem *problems, int n);

/* What a look-up gave. k must be a kernel whose handle is still attached, here and below. Nothing of this fails. */
CUTUNE_API cutune_match cutune_kernel_match(const cutune_kernel *k);
CUTUNE_API const char *cutune_kernel_why(const cutune_kernel *k);     /* one line: the match and its reason */
CUTUNE_API const char *cutune_kernel_variant(const cutune_kernel *k); /* "tile" */
CUTUNE_API const char *cutune_kernel_config(const cutune_kernel *k);  /* "TILE=32,ROWS=8"; "" for one without parameters */
/* Nanoseconds that it takes, of all launches together with what has to be cleared for them: measured for an exact match, expected
 * for one tuned elsewhere, 0 where nothing is known. */
CUTUNE_API double cutune_kernel_time_ns(const cutune_kernel *k);

/* ------------------------------------------------------------------------------------------------------------ launch */

/* Launches a kernel: queues all its work on the stream and returns. stream: a CUstream (null: the default stream) or a
 * cl_command_queue (null: the handle's). buffers: the op's inputs and outputs in its order, device pointers or cl_mem; sizes are
 * those that were looked up. Buffers are packed (an op with strides has them among its sizes) and hold what the op says; the
 * library checks what it can in a few instructions:
 * - one that is null, less aligned than its elements, or an output that overlaps another buffer: CUTUNE_ERR_INVALID;
 * - one less aligned than the kernel needs: another kernel without that need is launched instead (cutune_kernel_fallback);
 *   CUTUNE_ERR_UNSUPPORTED where there is none.
 * Of a cl_mem only identity is checked: alignment is the driver's promise.
 * Workspace that the kernel needs is taken in stream order and given back. The first launch of a kernel loads it (see
 * cutune_prefetch). CUTUNE_ERR_INVALID where the handle's context is not the current one. After CUTUNE_ERR_DEVICE some of the work
 * may have been queued. */
CUTUNE_API int cutune_launch(const cutune_kernel *k, void *stream, void *const *buffers, int nbuffers);
/* The same with a workspace of the caller's: a device pointer aligned to 4096 bytes, or a cl_mem, of at least
 * cutune_kernel_workspace bytes; two launches that may run at the same time must not share one. */
CUTUNE_API int cutune_launch_in(const cutune_kernel *k, void *stream, void *const *buffers, int nbuffers, void *workspace,
                                size_t bytes);
CUTUNE_API size_t cutune_kernel_workspace(const cutune_kernel *k); /* bytes; 0 for most. The fall-back's, where that needs more */
/* What is launched where a buffer is less aligned than k needs; null where k needs nothing, or nothing stands in for it. */
CUTUNE_API const cutune_kernel *cutune_kernel_fallback(const cutune_kernel *k);

/* For those who launch themselves. First everything of cutune_kernel_clears is zeroed, then the launches run in order. */

/* One launch: entry point, blocks, threads of a block, and bytes of dynamic shared memory. */
typedef struct cutune_geometry {
    size_t size;       /* sizeof(cutune_geometry) */
    const char *entry; /* the kernel's name in its module */
    int64_t grid[3];   /* x, y, z */
    int64_t block[3];
    int64_t shared;
} cutune_geometry;

CUTUNE_API int cutune_kernel_launches(const cutune_kernel *k); /* how many, at least 1; they run in order */
/* Launch i from 0. CUTUNE_ERR_INVALID, with *out left alone, for a launch that is not there or a null or unsized out. */
CUTUNE_API int cutune_kernel_geometry(const cutune_kernel *k, int i, cutune_geometry *out);
/* Launch i's function, for cuLaunchKernel: a CUkernel where the driver has them (12.0), else a CUfunction for the handle's context.
 * Or a cl_kernel, whose arguments the library sets too. Loads it. */
CUTUNE_API int cutune_kernel_function(const cutune_kernel *k, int i, void **out);

typedef enum cutune_param_kind {
    CUTUNE_PARAM_BUFFER = 0,    /* buffers[index] */
    CUTUNE_PARAM_WORKSPACE = 1, /* the workspace, `offset` bytes in */
    CUTUNE_PARAM_VALUE = 2      /* `bytes` bytes of `value` */
} cutune_param_kind;

/* A parameter of a launch's function, in its order. Of a launch with dynamic shared memory OpenCL's function has one more: that
 * many bytes of local memory. */
typedef struct cutune_param {
    size_t size; /* sizeof(cutune_param) */
    cutune_param_kind kind;
    int index;
    int64_t offset;
    int bytes;
    unsigned char value[16];
} cutune_param;
CUTUNE_API int cutune_kernel_params(const cutune_kernel *k, int i); /* how many launch i has; 0 where there is no such launch */
CUTUNE_API int cutune_kernel_param(const cutune_kernel *k, int i, int param, cutune_param *out);

/* A stretch that must be zero before the first launch: of a buffer or of the workspace (kind, index, offset as above). */
typedef struct cutune_clear {
    size_t size; /* sizeof(cutune_clear) */
    cutune_param_kind kind;
    int index;
    int64_t offset, bytes;
} cutune_clear;
CUTUNE_API int cutune_kernel_clears(const cutune_kernel *k);
CUTUNE_API int cutune_kernel_clear(const cutune_kernel *k, int i, cutune_clear *out);

/* ------------------------------------------------------------------------------------------------------------ what is there */

/* A winner in the database. Pointers are valid inside the call that gives it. */
typedef struct cutune_record {
    size_t size;                         /* sizeof(cutune_record) of the library: members beyond it are not there */
    const char *op, *types, *sizes;      /* "transpose", "f32", "m=1111,n=113" */
    const char *backend, *device, *arch; /* as in cutune_device */
    const char *variant, *config;
    double time_ns;
    int stale; /* 1: the op's interface, check or reference has changed since, so it is not served */
} cutune_record;

/* Calls back for each winner, by op, types, problem and device; the callback must not call the library. Stops at a return that is
 * not 0 and returns it, else CUTUNE_OK. */
CUTUNE_API int cutune_each(cutune *c, int (*each)(void *arg, const cutune_record *r), void *arg);

#ifdef __cplusplus
}
#endif

#endif
