/* A reference of your own for `cutune run --reference ./ref.so`: a shared library with the function below, in C or C++.
 *
 *     #include "cutune_reference.h"
 *     int cutune_reference(const struct cutune_reference_call *call)   // axpy: out, a, x, y, n
 *     {
 *         float *out = call->arguments[0].out;
 *         const float *a = call->arguments[1].in, *x = call->arguments[2].in, *y = call->arguments[3].in;
 *         for (int64_t i = 0; i < call->arguments[0].elements; i++)
 *             out[i] = *a * x[i] + y[i];
 *         return 0;
 *     }
 *
 *     cc -O2 -shared -fPIC -o ref.so ref.c
 *
 * (C++ wants casts from void *.) It is called in a process of its own, once for each set of inputs, and for smaller problems, too: go by the
 * sizes of the call. It may crash, and is ended if it takes too long. It writes all of each output. Anything but 0 says that it has failed; what it prints to stderr is shown then. */
#ifndef CUTUNE_REFERENCE_H
#define CUTUNE_REFERENCE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUTUNE_REFERENCE_ABI 1

/* An argument of the op. Buffers are in the host's memory, packed, the last extent the innermost, 16 bytes aligned. */
struct cutune_reference_argument {
    const char *name;
    const char *kind;       /* "input", "output", "inout", "value", "scalar" */
    const char *type;       /* of an element: "f32", "i64", "bf16" (16 bits), ... */
    int rank;               /* of a buffer; 0 for values and scalars */
    const int64_t *extents; /* so many, in elements */
    int64_t elements;       /* in all; 1 for values and scalars */
    const void *in;         /* what it holds: of inputs and inouts, and the number itself of values and scalars; else null */
    void *out;              /* what is to be written: of outputs and inouts (these hold what `in` does); else null */
};

struct cutune_reference_call {
    int abi; /* CUTUNE_REFERENCE_ABI */
    const char *op;
    int nsizes; /* the problem, in the op's order: "m", 1111 */
    const char *const *size_names;
    const int64_t *sizes;
    int ntypes; /* the op's type names and what they stand for: "T", "f32" */
    const char *const *type_names;
    const char *const *types;
    int narguments; /* in the order of the op's args */
    const struct cutune_reference_argument *arguments;
};

int cutune_reference(const struct cutune_reference_call *call);

#ifdef __cplusplus
}
#endif

#endif
