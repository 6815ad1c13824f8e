/* Kernels as data. A tuned kernel is an op with one variant, whose parameters have one value each: the configuration. What only tuning
 * needs of an op (templates, reference, defaults) is not in it. These bytes are what the database and an exported file hold. */
#ifndef MODEL_KERNEL_H
#define MODEL_KERNEL_H

#include "model/op.h"

/* What a caller of the op's kernels has to know, as bytes: an op without variants. And a kernel: of the op's configuration c; its
 * constraints, launches and workspaces are what is left of the op's where the parameters have these values (expr_fold). */
void interface_put(struct buf *out, const struct op *op);
void kernel_put(struct buf *out, const struct op *op, const struct config *c);
/* The same read back, and as little trusted as any file: ERR_CORRUPT with a line for bytes that these two would not have written, or
 * for an op that op_check refuses. Free what comes with op_free. A kernel's configuration is `only_config`. */
int interface_get(const void *bytes, size_t n, struct op **out, struct err *err);
int kernel_get(const void *bytes, size_t n, struct op **out, struct err *err);

/* What else a kernel was tuned with: its scalars and files of data, "alpha=0.5,x=x.npy". Nothing if it has none. */
void tuned_with_print(struct buf *out, const struct op *op);
/* Calls the kernels as the compiler told: a list of names with an end behind each, in the order of the launches, then
 * those of the __constant__ arrays, in the order of the arguments. An empty list changes
 * nothing. */
int kernel_call(struct op *kernel, const char *entries, size_t n, struct err *err);

extern const struct config only_config; /* of a kernel: variant 0, and each parameter's one value */

/* Whether a caller of one can call the other, and the kernels of one take the arguments of the other. */
bool same_interface(const struct op *a, const struct op *b);
/* Makes a kernel that was read one of the op as it is now: of its rows of types, whose number may have grown, and its formulas of work.
 * The op must outlive it. ERR_CORRUPT if the kernel has other arguments. */
int kernel_join(struct op *kernel, const struct op *op, struct err *err);
bool same_text(const char *a, const char *b); /* or both null */

#endif
