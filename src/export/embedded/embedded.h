/* What an exported C file holds in place of a database: rows of it, as `cutune export --format c` writes them (export/c.c). The files
 * of this folder are compiled only as a part of exported files. They replace src/store, and what needs a file. */
#ifndef EMBEDDED_H
#define EMBEDDED_H

#include "runtime/runtime.h"

struct embedded_kernel {
    struct winner row;  /* of a default: its backend, types, configuration and time */
    struct tuned tuned; /* without what the op tells */
    const char *op;     /* as kernel_put writes it, model/kernel.h */
    size_t op_bytes;
};

struct embedded_op {
    const char *name, *op; /* as interface_put writes it */
    size_t op_bytes;
    int nkernels, ntimes;
    const struct embedded_kernel *kernels;
    const struct timed *times; /* without types and sizes, which their problem tells */
};

/* The rows stand before the files of this folder, so they are not declared here: embedded_ops, and embedded_listed, which are struct
 * listed; and their numbers, nembedded_ops and nembedded_listed. */

#endif
