/* libcutune: tuned kernels in your application.
 *
 * Open the database that `cutune run` fills, say what you want to compute and where, and get the fastest known kernel for it.
 *
 *     cutune *c;
 *     cutune_device dev = { .size = sizeof dev };
 *     const cutune_kernel *k;
 *     const int64_t sizes[] = { 1111, 113 };                 // transpose: m, n
 *     if (cutune_open(NULL, &c) || cutune_device_find(c, "cuda:0", &dev) ||
 *         cutune_lookup(c, &dev, "transpose", "f32", sizes, 2, &k))
 *         fprintf(stderr, "%s\n", cutune_error(c));
 *     else
 *         printf("%s %s: %s\n", cutune_kernel_variant(k), cutune_kernel_config(k), cutune_kernel_why(k));
 *     cutune_close(c);
 *
 * Failures. A call that can fail returns CUTUNE_OK or one of the negative codes below, and leaves its outputs as they were, unless
 * it says otherwise; cutune_error then has one line that says what is wrong. The library never prints and never ends the process.
 * Arguments are checked: a null pointer or a size that cannot be is CUTUNE_ERR_INVALID.
 *
 * Threads. A cutune is used by one thread at a time. A kernel never changes once it is handed out, and may be read from any number
 * of threads, while others look up too.
 *
 * Ownership. Everything handed out belongs to the cutune it came from and lasts until cutune_close. The database is opened for
 * reading only; nothing is written beside it, but SQLite's own shared index where it is being written to.
 *
 * Structures that begin with `size` are the caller's: set it to sizeof the structure. Later versions add members at the end.
 *
 * This version looks up and describes kernels. It does not launch them yet. */
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
    CUTUNE_ERR_NOMEM = -1,       /* an allocation failed */
    CUTUNE_ERR_INVALID = -2,     /* an argument that can never be right, or a file that is no database of cutune's */
    CUTUNE_ERR_NOTFOUND = -3,    /* no such file, device or op; or no kernel for this problem */
    CUTUNE_ERR_IO = -4,          /* the operating system refused a file */
    CUTUNE_ERR_DEVICE = -5,      /* a driver call failed */
    CUTUNE_ERR_UNSUPPORTED = -6, /* this device or driver cannot do it */
    CUTUNE_ERR_BUSY = -7,        /* another process held the database for longer than 10 seconds */
    CUTUNE_ERR_TIMEOUT = -8,     /* a deadline passed */
    CUTUNE_ERR_CORRUPT = -9      /* the database holds what cutune would never have written */
};

typedef struct cutune cutune;               /* an open database, and what was looked up in it */
typedef struct cutune_kernel cutune_kernel; /* what one look-up gave; immutable */

/* Opens a database. path null: $CUTUNE_DB, else $XDG_DATA_HOME/cutune/tuned.db, else ~/.local/share/cutune/tuned.db.
 * On failure *out is set too (to null only where there is no memory for it): it is good for cutune_error and cutune_close. */
CUTUNE_API int cutune_open(const char *path, cutune **out);
/* Frees everything that came from c. Null is fine. */
CUTUNE_API void cutune_close(cutune *c);
/* What the last failure on c was, in one line; "" where nothing has failed yet. c null: what a failed cutune_open that gave no cutune
 * has to say. Valid until the next call on c. */
CUTUNE_API const char *cutune_error(const cutune *c);

/* A device. The first members are what it is known by: records are of devices with all of these equal. The others are what kernels'
 * constraints ask for; a kernel is not given where a limit of 0 forbids it, so fill in all of them, or let cutune_device_find do it. */
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
CUTUNE_API int cutune_device_find(cutune *c, const char *id, cutune_device *out);

/* How a kernel came to be the answer. This version gives EXACT and DEFAULT only. */
typedef enum cutune_match {
    CUTUNE_MATCH_EXACT = 0,  /* tuned for exactly this problem on such a device */
    CUTUNE_MATCH_NEAR = 1,   /* tuned for the nearest problem on such a device */
    CUTUNE_MATCH_DEVICE = 2, /* tuned on the nearest device */
    CUTUNE_MATCH_DEFAULT = 3 /* the op's default for the problem: right, but not tuned for it */
} cutune_match;

/* Looks up the kernel for a problem. op: its name, "transpose". types: its element types, "f32", or "T=f16,ACC=f32" for an op with
 * several. sizes: one for each axis of the op, in its order (elements; counts; flags 0 or 1). The same question gets the same kernel
 * until cutune_close, whatever is tuned meanwhile.
 * CUTUNE_ERR_NOTFOUND: the database does not know the op or the types, or has no kernel that may run here. */
CUTUNE_API int cutune_lookup(cutune *c, const cutune_device *device, const char *op, const char *types, const int64_t *sizes,
                             int nsizes, const cutune_kernel **out);

/* k must be a kernel from a cutune that is still open, here and below. Nothing of this fails. */
CUTUNE_API cutune_match cutune_kernel_match(const cutune_kernel *k);
CUTUNE_API const char *cutune_kernel_why(const cutune_kernel *k);     /* one line: the match and its reason */
CUTUNE_API const char *cutune_kernel_variant(const cutune_kernel *k); /* "tile" */
CUTUNE_API const char *cutune_kernel_config(const cutune_kernel *k);  /* "TILE=32,ROWS=8"; "" for one without parameters */
/* Nanoseconds that it takes, of all launches together with what has to be cleared for them; 0 where it was never measured. */
CUTUNE_API double cutune_kernel_time_ns(const cutune_kernel *k);

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

#ifdef __cplusplus
}
#endif

#endif
