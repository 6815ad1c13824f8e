/* A device: its identity, and the limits for a launch. Plain data: a backend fills it, the database keeps it, workers are sent it. */
#ifndef MODEL_DEVSPEC_H
#define MODEL_DEVSPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "expr/val.h"

enum { ARCH_NAME = 66 };

struct devspec {
    /* Identity: devices with the same identity share records. */
    char backend[16];    /* a backend's name: "cuda" */
    char name[128];      /* "NVIDIA H200" */
    char arch[64];       /* "sm_90"; of OpenCL the platform's name as one word: "nvidia-cuda", "pocl" */
    char mig[64];        /* the MIG slice, or "" */
    int multiprocessors; /* or OpenCL compute units */
    int64_t memory;      /* bytes */
    /* Limits and facts; expressions see some of them as device.NAME. */
    int cc;          /* CUDA compute capability * 10: 90; 0 elsewhere */
    int warp;        /* threads that run in step; 1 on a CPU */
    int64_t l2;      /* bytes of the last-level cache */
    int max_threads; /* a block */
    int max_block[3];
    int64_t max_grid[3];       /* blocks */
    int64_t max_shared;        /* bytes a block, if it asks for dynamic shared memory */
    int64_t max_static_shared; /* bytes a block, without asking */
    int64_t max_alloc;         /* bytes of one buffer */
    bool fp64;
    bool shares_cores;  /* it is a CPU, so nothing may be compiled while it is timed */
    bool shared_driver; /* to compile for it takes the device's own driver in the process (OpenCL) */
    bool unordered;     /* nothing is promised of blocks: neither that they start in order, nor that all of a grid run at once */
    /* For the record only. */
    int index; /* the N of backend:N */
    char uuid[64];
    char driver[64];
};

/* The names that expressions know: device.backend device.cc device.warp device.l2 device.multiprocessors device.memory
 * device.max_threads device.max_shared. The i-th name and value; null past the last. */
const char *devspec_name(int i);
struct val devspec_val(const struct devspec *d, int i);
bool devspec_kept(int i); /* whether the database keeps it, so that it is known of any record's device */

/* What code with an architecture's own features is compiled for, "sm_90a"; null where it has none: for what the device's code is. */
const char *devspec_arch(const struct devspec *d, bool specific, char out[ARCH_NAME]);

/* "cuda:0" */
void devspec_id(const struct devspec *d, char out[32]);
/* The memory that counts for identity: 0 for a CPU, whose drivers report what happens to be free. */
int64_t devspec_memory(const struct devspec *d);
bool devspec_same(const struct devspec *a, const struct devspec *b); /* equal identity */
bool devspec_called(const struct devspec *d, const char *word); /* its name, architecture or backend, or null */

#endif
