/* libcutune: tuned kernels in your application.
 *
 * Open the database that `cutune run` fills, attach to your CUDA context or OpenCL queue, and launch the fastest known kernel for
 * each problem on your own stream. This needs no Lua and tunes nothing. On a device that was tuned it needs no run-time compiler.
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
 * Errors. A call that can fail returns CUTUNE_OK or one of the negative codes below. If it fails, it leaves its outputs unchanged,
 * unless it says otherwise, and cutune_error says in one line what is wrong. The library never ends the process. It prints only if its
 * user asks for that with CUTUNE_STRICT=log and the application takes no log: then lines of the log go to stderr.
 * Arguments are checked: a null pointer or an impossible size is CUTUNE_ERR_INVALID.
 *
 * Threads. Every call may be made from any thread at any time, with one exception: nothing else may be using what is passed to
 * cutune_close or cutune_detach. Looking up a problem again takes no lock and makes no system call.
 *
 * Ownership. Handles and kernels belong to the cutune they came from and are valid until cutune_close; kernels also end with the
 * cutune_detach of their handle. A kernel never changes.
 *
 * Fork. A child process may only close what its parent opened, which writes no file and touches no device; every other call is
 * CUTUNE_ERR_INVALID there. Then it can open its own, for devices whose driver its parent has not used. A fork waits until no other
 * thread reads or writes a database.
 *
 * Structures that begin with `size` belong to the caller. Set `size` to sizeof the structure, and members that you do not use to zero.
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
    CUTUNE_ERR_INVALID = -2,     /* an argument that can never be right, or a file that is not a database of cutune's */
    CUTUNE_ERR_NOTFOUND = -3,    /* no such file, device or op; or no kernel for this problem */
    CUTUNE_ERR_IO = -4,          /* the operating system refused a file */
    CUTUNE_ERR_DEVICE = -5,      /* a driver call failed */
    CUTUNE_ERR_UNSUPPORTED = -6, /* this device or driver cannot do it */
    CUTUNE_ERR_BUSY = -7,        /* another process held the database for longer than 10 seconds */
    CUTUNE_ERR_TIMEOUT = -8,     /* a deadline passed */
    CUTUNE_ERR_CORRUPT = -9,     /* the database contains something that cutune would never write */
    CUTUNE_ERR_STRICT = -10      /* refused in strict mode: an answer that is not exact, or a compilation */
};

/* The error message of the calling thread's last failed call, in one line; "" if none failed yet. Valid until that thread's next
 * failure. */
CUTUNE_API const char *cutune_error(void);

typedef struct cutune cutune;               /* an open database */
typedef struct cutune_handle cutune_handle; /* a device to look up kernels for, and usually a context to launch them in */
typedef struct cutune_kernel cutune_kernel; /* the result of a look-up; immutable */

/* ------------------------------------------------------------------------------------------------------------ open and close */

/* Gets a line about an event that is not an error: a kernel had to be compiled, a record is stale, misses could not be written. It
 * may be called from any thread, but never twice at the same time for one cutune. It must not call the library. */
typedef void cutune_log(void *arg, const char *line);

/* What becomes of a look-up whose answer is not exact, and of code that would have to be compiled when it is loaded. The line names the part
 * of the key in which the nearest record differs: device, types, a size, the op's interface or contract. A problem that was looked up before
 * costs nothing more. A fall-back (cutune_kernel_fallback) may be of any match, but is compiled only if that is allowed. */
typedef enum cutune_strict {
    CUTUNE_STRICT_ENV = 0,  /* as $CUTUNE_STRICT says: "log" or "error"; unset or empty: off */
    CUTUNE_STRICT_OFF = 1,  /* they are served as ever */
    CUTUNE_STRICT_LOG = 2,  /* the same, and a line goes to the log: once for each problem and each code */
    CUTUNE_STRICT_ERROR = 3 /* they fail with CUTUNE_ERR_STRICT */
} cutune_strict;

typedef struct cutune_options {
    size_t size;      /* sizeof(cutune_options) */
    const char *path; /* the database; null: the first of $CUTUNE_DB, $XDG_DATA_HOME/cutune/tuned.db, ~/.local/share/cutune/tuned.db
                           that is set. The last two need not exist, and none with capture: then only the tables are used */
    const char *tables; /* the shipped tables, used if the database has no answer, or one that is less near; null: $CUTUNE_TABLES, else those
                           installed with the library; "": none */
    const char
        *cache;  /* a folder for kernels that had to be compiled here, and for exact answers that a process got, which the next one
                           then gets without opening the database if that is unchanged; null: $XDG_CACHE_HOME/cutune, else
                           ~/.cache/cutune; "": none. It is made if it is missing, and not used if it cannot be written */
    int capture; /* 1: count look-ups that were not exact and write them into the database, for `cutune run --wanted` */
    int refresh_ms;  /* how often to look for new records in the background; 0: only in cutune_refresh */
    cutune_log *log; /* may be null */
    void *log_arg;
    cutune_strict strict; /* not there if size ends here; then it is CUTUNE_STRICT_ENV */
} cutune_options;

/* Opens a database with default options; path as in the options. */
CUTUNE_API int cutune_open(const char *path, cutune **out);
/* Null options are all zero. With capture or refresh_ms this starts a thread, which blocks all signals and ends in cutune_close. */
CUTUNE_API int cutune_open_with(const cutune_options *options, cutune **out);
/* Ends everything that came from c: waits for its kernels that are running, unloads them and frees all memory. If a CUDA context is
 * already gone, or is neither its device's primary context nor the calling thread's current one, this does not wait for kernels in it,
 * and what was loaded there stays until the context ends. Null is fine. */
CUTUNE_API void cutune_close(cutune *c);

/* Reads what was tuned since the last time: from now on look-ups give the new winners. Kernels from earlier look-ups stay as they are.
 * *changed, unless null, is the number of problems looked up so far that got another kernel. */
CUTUNE_API int cutune_refresh(cutune *c, int *changed);
/* Writes the misses that were captured so far. This also happens every few seconds and in cutune_close. */
CUTUNE_API int cutune_flush(cutune *c);

/* Sets the functions that the library allocates its memory with. Call it before anything is open. resize works like realloc. Each
 * function must be callable from any thread. All null restores malloc. CUTUNE_ERR_INVALID if something is open, or only some are null. */
typedef struct cutune_allocator {
    size_t size; /* sizeof(cutune_allocator) */
    void *(*alloc)(void *arg, size_t bytes);
    void *(*resize)(void *arg, void *p, size_t bytes);
    void (*free)(void *arg, void *p);
    void *arg;
} cutune_allocator;
CUTUNE_API int cutune_set_allocator(const cutune_allocator *a);

/* ------------------------------------------------------------------------------------------------------------ devices, handles */

/* A device. The members from backend to memory identify it: a record belongs to a device if they are all equal. Constraints of kernels
 * use the other members; a limit of 0 excludes every kernel that needs more. */
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
    int64_t max_shared;        /* bytes of shared memory a block can have, including dynamic shared memory */
    int64_t max_static_shared; /* bytes of it without opting in */
    int64_t max_alloc;         /* bytes of one buffer */
    int fp64;                  /* 1 if it supports double precision */
    int cpu;                   /* 1 for a CPU; its memory is then not part of its identity */
} cutune_device;

/* Describes a device that is present: "cuda:0", "opencl:1", "cuda", or null for the best one. Sets all of *out except size, which the
 * caller has set. Loads the device's driver; leaves no context behind. */
CUTUNE_API int cutune_device_find(const char *id, cutune_device *out);

/* A handle to launch in a CUDA context. context: a CUcontext, or null for the calling thread's current one (that of the CUDA runtime,
 * after any of its calls). That context must be current in the launching thread. If it is not the device's primary
 * context, it must also be current for cutune_prefetch, cutune_kernel_function and cutune_kernel_constant. */
CUTUNE_API int cutune_attach_cuda(cutune *c, void *context, cutune_handle **out);
/* A handle to launch in the context and on the device of an OpenCL command queue: a cl_command_queue, in order. The queue is retained.
 * A launch may use any in-order queue of the same context and device that was not released. */
CUTUNE_API int cutune_attach_opencl(cutune *c, void *queue, cutune_handle **out);
/* A handle in a context of the library's own, on a device by its name as in cutune_device_find; of CUDA that is the device's primary
 * context, which becomes the thread's current one with each call. For callers whose arrays are in host memory: cutune_launch_host.
 * Exported C files have neither call. */
CUTUNE_API int cutune_attach_device(cutune *c, const char *id, cutune_handle **out);
/* A handle that only looks up kernels for a device. It launches nothing and needs no driver. */
CUTUNE_API int cutune_attach(cutune *c, const cutune_device *device, cutune_handle **out);
/* Like cutune_close, for this handle and its kernels only. Null is fine. */
CUTUNE_API void cutune_detach(cutune_handle *h);
/* The handle's device. Sets all of *out except size. */
CUTUNE_API int cutune_handle_device(const cutune_handle *h, cutune_device *out);

/* ------------------------------------------------------------------------------------------------------------ look-up */

/* Why a kernel was chosen, in the order in which a look-up tries them. */
typedef enum cutune_match {
    CUTUNE_MATCH_EXACT = 0,  /* tuned for exactly this problem on such a device */
    CUTUNE_MATCH_NEAR = 1,   /* of the winners of other problems on such a device, the one expected to lose least on this problem */
    CUTUNE_MATCH_DEVICE = 2, /* the same from the most similar other device: of the same architecture, else of the same backend */
    CUTUNE_MATCH_DEFAULT = 3 /* the op's default for the problem: correct, but not tuned for it */
} cutune_match;

/* Looks up the kernel for a problem. op: its name, "transpose". types: its element types, "f32", or "T=f16,ACC=f32" for an op with
 * several. sizes: one for each axis of the op, in its order (elements; counts; flags 0 or 1). Axes that have a default come last and may be
 * left out; 0 is the default, too, but for flags. The first look-up of a problem reads the database. Each later one takes a few dozen
 * nanoseconds and gives the same kernel until a refresh finds a better one. Each problem takes a few KB until the handle ends.
 * CUTUNE_ERR_NOTFOUND: neither database nor tables know the op or the types, or have a kernel that may run here. */
CUTUNE_API int cutune_lookup(cutune_handle *h, const char *op, const char *types, const int64_t *sizes, int nsizes,
                             const cutune_kernel **out);

typedef struct cutune_problem {
    size_t size; /* sizeof(cutune_problem) */
    const char *op, *types;
    const int64_t *sizes;
    int nsizes;
} cutune_problem;

/* Looks up n problems. Compiles (if needed) and loads their kernels and fall-backs. After that their launches load nothing, and may be
 * captured into a graph. If a problem fails, it goes on with the next; it returns the first failure. */
CUTUNE_API int cutune_prefetch(cutune_handle *h, const cutune_problem *problems, int n);

/* Properties of a kernel. Here and below, the handle of k must still be attached. These calls do not fail. */
CUTUNE_API cutune_match cutune_kernel_match(const cutune_kernel *k);
CUTUNE_API const char *cutune_kernel_why(const cutune_kernel *k);     /* one line: the match and its reason */
CUTUNE_API const char *cutune_kernel_variant(const cutune_kernel *k); /* "tile" */
CUTUNE_API const char *cutune_kernel_config(const cutune_kernel *k);  /* "TILE=32,ROWS=8"; "" if it has no parameters */
/* Nanoseconds for all launches and what has to be cleared for them: measured for an exact match, else estimated, or 0 if
 * unknown. */
CUTUNE_API double cutune_kernel_time_ns(const cutune_kernel *k);

/* ------------------------------------------------------------------------------------------------------------ launch */

/* Launches a kernel: queues all its work on the stream and returns. stream: a CUstream (null: the default stream) or a
 * cl_command_queue (null: the handle's). buffers: the op's inputs and outputs in its order, device pointers or cl_mem, with the sizes
 * that were looked up. Buffers are packed (an op with strides has them among its sizes). A scalar of the op has its entry in the same
 * order: a pointer to its value in host memory, of the kernel's type, which is read before the call returns; so nbuffers is how many
 * buffers and scalars there are. The library checks in a few instructions:
 * - a buffer or scalar that is null or less aligned than its elements, or an output that overlaps another buffer: CUTUNE_ERR_INVALID;
 * - a buffer less aligned than the kernel needs: another kernel without that need is launched instead (cutune_kernel_fallback), or
 *   CUTUNE_ERR_UNSUPPORTED if there is none.
 * For a cl_mem it checks only that no output is passed twice: the driver guarantees alignment.
 * Workspace that the kernel needs is allocated and freed in stream order. A kernel may copy buffers into __constant__ arrays
 * (cutune_kernel_constants) or into arrays of textures first. All its launches share these, so they must not run at the same time on two
 * streams. The first launch of a kernel loads it (see cutune_prefetch). CUTUNE_ERR_INVALID if it is refused because the handle's context is
 * not current. After CUTUNE_ERR_DEVICE some of the work may have been queued. */
CUTUNE_API int cutune_launch(const cutune_kernel *k, void *stream, void *const *buffers, int nbuffers);
/* The same with the caller's workspace: a device pointer aligned to 4096 bytes, or a cl_mem, of at least cutune_kernel_workspace
 * bytes. Two launches that may run at the same time must not share one. */
CUTUNE_API int cutune_launch_in(const cutune_kernel *k, void *stream, void *const *buffers, int nbuffers, void *workspace,
                                size_t bytes);
/* The same with buffers in host memory, of a kernel from a handle of cutune_attach_device: copies them to the device and what is written
 * back, and returns when that is done. Alignment does not matter, nor whether an output overlaps an input, which is copied first; of
 * outputs that overlap the later one's numbers stay. */
CUTUNE_API int cutune_launch_host(const cutune_kernel *k, void *const *buffers, int nbuffers);
CUTUNE_API size_t cutune_kernel_workspace(const cutune_kernel *k); /* bytes, 0 for most; enough for the fall-back too */
/* The kernel that is launched if a buffer is less aligned than k needs; null if k needs nothing, or if there is none. */
CUTUNE_API const cutune_kernel *cutune_kernel_fallback(const cutune_kernel *k);

/* The rest of this part is for your own launch code. First zero everything in cutune_kernel_clears and fill
 * cutune_kernel_constants, then launch in order. */

/* One launch: kernel name, blocks, threads per block, and bytes of dynamic shared memory. */
typedef struct cutune_geometry {
    size_t size;       /* sizeof(cutune_geometry) */
    const char *entry; /* the kernel's name in its module */
    int64_t grid[3];   /* x, y, z */
    int64_t block[3];
    int64_t shared;
    /* Not there if size ends here; a launch that has any of it is then refused. */
    int64_t cluster[3]; /* blocks of a cluster; 0, 0, 0: none (CUDA: cuLaunchKernelEx) */
    int cooperative;    /* 1: all blocks run at once (CUDA: the same, or cuLaunchCooperativeKernel) */
    int dependent;      /* 1: it may begin before the launch before it has ended (CUDA: programmatic stream serialization) */
} cutune_geometry;

CUTUNE_API int cutune_kernel_launches(const cutune_kernel *k); /* how many; they run in order */
/* Launch i, counted from 0. CUTUNE_ERR_INVALID if there is no such launch, or out is null or its size is not set. */
CUTUNE_API int cutune_kernel_geometry(const cutune_kernel *k, int i, cutune_geometry *out);
/* Loads and gives launch i's function, which lives as long as the kernel. CUDA: a CUfunction of the handle's context, for cuLaunchKernel or
 * cuLaunchKernelEx, with its attributes set (dynamic shared memory, large clusters). OpenCL: a cl_kernel; the library's own launches set its
 * arguments too. */
CUTUNE_API int cutune_kernel_function(const cutune_kernel *k, int i, void **out);

typedef enum cutune_param_kind {
    CUTUNE_PARAM_BUFFER = 0,     /* buffers[index] */
    CUTUNE_PARAM_WORKSPACE = 1,  /* the workspace, `offset` bytes in */
    CUTUNE_PARAM_VALUE = 2,      /* `bytes` bytes of `value` */
    CUTUNE_PARAM_SCALAR = 3,     /* the `bytes` bytes that buffers[index] points to, in host memory */
    CUTUNE_PARAM_TENSOR_MAP = 4, /* a CUtensorMap of buffers[index], or if index is -1 of the workspace, `offset` bytes in:
                                    cutune_kernel_tensor_map makes it */
    CUTUNE_PARAM_TEXTURE = 5     /* a CUtexObject of the same: cutune_kernel_texture */
} cutune_param_kind;

/* A parameter of a launch's function, in its order. If a launch has dynamic shared memory, OpenCL's function has one more parameter:
 * that many bytes of local memory. */
typedef struct cutune_param {
    size_t size; /* sizeof(cutune_param) */
    cutune_param_kind kind;
    int index;
    int64_t offset;
    int bytes;
    unsigned char value[16];
} cutune_param;
CUTUNE_API int cutune_kernel_params(const cutune_kernel *k, int i); /* how many launch i has; 0 if there is no such launch */
CUTUNE_API int cutune_kernel_param(const cutune_kernel *k, int i, int param, cutune_param *out);
/* Makes the tensor map that a parameter is. at: the device address of the buffer, or that in the workspace: with `offset`. out: host memory
 * of 128 bytes, aligned to 128. Needs no current context. CUTUNE_ERR_UNSUPPORTED if the driver has no tensor maps (CUDA before 12.0), or
 * refuses the address: it must be aligned to 16 bytes. */
CUTUNE_API int cutune_kernel_tensor_map(const cutune_kernel *k, int i, int param, void *at, void *out);

/* Gives the texture object that a parameter is, of the buffer at this device address: 8 bytes. It is the handle's, which keeps it, so the
 * same address gives the same object. If it is of an array, the array is filled from the buffer, on the stream; all launches of the kernel
 * share it. The first call loads the code. */
CUTUNE_API int cutune_kernel_texture(const cutune_kernel *k, int i, int param, void *stream, void *at, uint64_t *out);

/* A range of a buffer or of the workspace that must be zero before the first launch (kind, index, offset as above). */
typedef struct cutune_clear {
    size_t size; /* sizeof(cutune_clear) */
    cutune_param_kind kind;
    int index;
    int64_t offset, bytes;
} cutune_clear;
CUTUNE_API int cutune_kernel_clears(const cutune_kernel *k);
CUTUNE_API int cutune_kernel_clear(const cutune_kernel *k, int i, cutune_clear *out);

/* A __constant__ array of the kernel's module that gets the contents of a buffer before the first launch: copy `bytes` from buffers[index]
 * to `address` on the stream. Kernels of a handle that have the same code share the array, so their launches must follow each other. */
typedef struct cutune_constant {
    size_t size;        /* sizeof(cutune_constant) */
    const char *symbol; /* its name in the module */
    int index;
    int64_t bytes;
    void *address; /* a device pointer, good as long as the kernel */
} cutune_constant;
CUTUNE_API int cutune_kernel_constants(const cutune_kernel *k);
/* Loads the code if it is not loaded yet. */
CUTUNE_API int cutune_kernel_constant(const cutune_kernel *k, int i, cutune_constant *out);

/* ------------------------------------------------------------------------------------------------------------ what ops take */

/* For callers whose arrays know their own types and sizes, such as a binding of another language. */

typedef struct cutune_op cutune_op; /* an op as the database or else the tables know it; valid until cutune_close */

/* CUTUNE_ERR_NOTFOUND if neither knows it. After a refresh that brought another form of the op this gives the new one. */
CUTUNE_API int cutune_op_find(cutune *c, const char *name, const cutune_op **out);
/* Calls `each` for the name of every op that the database or the tables know, until it returns something other than 0. Returns that, else
 * CUTUNE_OK. The callback must not call the library. */
CUTUNE_API int cutune_each_op(cutune *c, int (*each)(void *arg, const char *name), void *arg);

typedef enum cutune_arg_kind {
    CUTUNE_ARG_INPUT = 0,
    CUTUNE_ARG_OUTPUT = 1,
    CUTUNE_ARG_INOUT = 2,
    CUTUNE_ARG_SCALAR = 3
} cutune_arg_kind;

enum { CUTUNE_RANK = 8, CUTUNE_AXES = 16, CUTUNE_ARGS = 32, CUTUNE_TYPES = 640 }; /* the most that an op has */

/* A buffer or scalar of an op, in the order in which a launch takes them. Texts live as long as the op. */
typedef struct cutune_arg {
    size_t size; /* sizeof(cutune_arg) */
    const char *name;
    cutune_arg_kind kind;
    const char *type; /* an element type, or the name of one: "f32", "T"; of what kernels compute T in: "T_acc" */
    int rank;
    const char *extent[CUTUNE_RANK]; /* elements, outermost first: expressions over axes */
} cutune_arg;
CUTUNE_API int cutune_op_args(const cutune_op *o);
CUTUNE_API int cutune_op_arg(const cutune_op *o, int i, cutune_arg *out);

typedef enum cutune_axis_kind {
    CUTUNE_AXIS_SIZE = 0,
    CUTUNE_AXIS_STRIDE = 1, /* elements from the beginning of a row to that of the next */
    CUTUNE_AXIS_BATCH = 2,
    CUTUNE_AXIS_FLAG = 3
} cutune_axis_kind;

typedef struct cutune_axis {
    size_t size; /* sizeof(cutune_axis) */
    const char *name;
    cutune_axis_kind kind;
    const char *preset; /* what it is where nobody says, an expression over the axes before it; null: it has to be said */
} cutune_axis;
CUTUNE_API int cutune_op_axes(const cutune_op *o);
CUTUNE_API int cutune_op_axis(const cutune_op *o, int i, cutune_axis *out);
/* The i-th of the types that a look-up takes: "f32", "T=f16,ACC=f32". Null past the last. */
CUTUNE_API const char *cutune_op_types(const cutune_op *o, int i);

/* An array of the caller's, or one that it is to make. */
typedef struct cutune_array {
    size_t size;                                      /* sizeof(cutune_array) */
    const char *type;                                 /* "f32" */
    int rank;                                         /* -1: there is none, or it is a scalar */
    int64_t shape[CUTUNE_RANK], strides[CUTUNE_RANK]; /* elements */
} cutune_array;

/* What to look up. */
typedef struct cutune_fit {
    size_t size;                /* sizeof(cutune_fit) */
    char types[CUTUNE_TYPES];   /* "": whatever fits */
    int64_t sizes[CUTUNE_AXES]; /* -1: whatever fits */
    int nsizes;
} cutune_fit;

/* Finds types and sizes from arrays, one for each buffer and scalar of the op, in its order. What `fit` says already holds; the rest it gets.
 * An output that the caller does not have (rank -1) gets type, shape and strides; a scalar its type. An array may lack the leading axis of a
 * batch, which then is 1. Arrays must be packed. Where an op has strides of rows, an array may have longer rows than its sizes say, which
 * `fit` or another array then have to tell. CUTUNE_ERR_INVALID, with the argument's name, if something does not fit or is left open. */
CUTUNE_API int cutune_op_fit(const cutune_op *o, cutune_array *arrays, int n, cutune_fit *fit);

/* 1 if the kernel is of this form of the op, so that a launch takes what the form and cutune_op_fit say. 0 if it is of another one, since a
 * refresh, also one in the background, or the first look-up of a problem may have brought that after cutune_op_find; or if either is null.
 * Then a refresh brings all look-ups and cutune_op_find to one form. Takes no lock and does not fail. */
CUTUNE_API int cutune_kernel_is_of(const cutune_kernel *k, const cutune_op *o);

/* 1 if a look-up of the kernel's problem would give it again, and nothing is to be counted then: who has kept it need not ask. 0 after a
 * refresh that brought another one, and for one that is not exact while misses are counted; or if it is null. Takes no lock, does not fail. */
CUTUNE_API int cutune_kernel_holds(const cutune_kernel *k);

/* ------------------------------------------------------------------------------------------------------------ what is there */

/* A winner in the database. Pointers are valid inside the call that gives it. */
typedef struct cutune_record {
    size_t size;                         /* sizeof(cutune_record) in the library; members beyond it do not exist */
    const char *op, *types, *sizes;      /* "transpose", "f32", "m=1111,n=113" */
    const char *backend, *device, *arch; /* as in cutune_device */
    const char *variant, *config;
    double time_ns;
    int stale; /* 1: the op's interface, check or reference has changed since, so it is not used */
} cutune_record;

/* Calls `each` for every winner, ordered by op, types, problem and device, until it returns something other than 0. Returns that, else
 * CUTUNE_OK. The callback must not call the library. */
CUTUNE_API int cutune_each(cutune *c, int (*each)(void *arg, const cutune_record *r), void *arg);

#ifdef __cplusplus
}
#endif

#endif
