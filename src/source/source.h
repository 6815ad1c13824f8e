/* Makes kernel source from a configuration: the prelude of the dialect, types and parameters as #define lines, then the template, after its
 * Lua lines (//@) ran and each $(expr) was replaced. */
#ifndef SOURCE_SOURCE_H
#define SOURCE_SOURCE_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/util.h"
#include "model/op.h"
#include "model/plan.h"

/* Writes the text to out. A null config means the op's reference. ERR_INVALID for an error of the template, as "FILE:LINE: ...".
 * The template's Lua runs with memory and instruction limits. They do not stop every hostile script, so call this in a child with a
 * deadline, or only on templates that you trust. */
int source_render(const struct op *op, const struct config *config, int row, const struct devspec *dev, struct buf *out,
                  struct err *err);
/* The same in a child with a deadline: for a process that is no worker. */
int source_render_apart(const struct op *op, const struct config *config, int row, const struct devspec *dev, struct buf *out,
                        struct err *err);

/* The basis is what all keys of a problem share: a hash of the arguments and what they are filled with, the check, the reference's source
 * and launch, the compiler (its name and version), PROTOCOL and CHECKS. This renders the reference, so call it once. */
int source_basis(const struct op *op, const struct problem *prob, int row, const struct devspec *dev, const char *compiler,
                 char basis[HASH_HEX], struct err *err);
/* The key of a measurement: a hash of the basis, the source, and the launches evaluated for this problem. `plan` is the variant's. */
int source_key(const struct op *op, const struct plan *plan, const struct config *config, const struct problem *prob, int row,
               const struct devspec *dev, const char *source, const char *basis, char key[HASH_HEX], struct err *err);

/* Parts of the above, for kernels that do not belong to an op: the prelude of the device's dialect, and the lines that define a type name
 * (NAME, NAME_bytes, NAME_bits, NAME_is_float, and NAME_is_<dtype> as 1 for its own type). */
int source_prelude(const struct op *op, const struct devspec *dev, struct buf *out, struct err *err);
void source_define_type(struct buf *out, const char *name, const struct dtype *type);
/* For a text that includes templates/numbers.h, further: NAME_acc, NAME_from, NAME_to, NAME_get, NAME_put. */
void source_define_numbers(struct buf *out, const char *name, const struct dtype *type);

#endif
