/* What check_ops knows of each op: small problems, and its outputs in plain C. To add an op, add a line to the table. */
#ifndef CASES_H
#define CASES_H

#include <stdbool.h>
#include <stdint.h>

#include "expr/val.h"

struct known_op {
    const char *name;
    const char *const *shapes; /* ends with null */
    /* Larger ones, ending with null: whose grid passes a limit of 65535 in y with small blocks, say. Only for devices that have such a
     * limit, GPUs: on PoCL they would take long. Null: none. */
    const char *const *gpu_shapes;
    /* Writes the outputs; buffers[i] is the op's i-th argument, a scalar's value; null for a value. False where there is nothing for the type. */
    bool (*expect)(const struct dtype *type, const int64_t *size, void *const *buffers);
    const char *folder; /* of its script, in cutune's folder; null: tuner/ops */
    const char *unread; /* an inout that is not read with the scalars' tuned values: it is NaN then; null: there is none */
};

const struct known_op *known_op_at(int i); /* null past the last */

/* Inputs: any bits; whole numbers -2..2, whose sums of products do not round; numbers with a fraction: uniform in [-1, 1), and
 * integers -100..100. False where the type has no such numbers here. */
enum source { SOURCE_BITS, SOURCE_WHOLE, SOURCE_UNIFORM };
bool source_fill(void *out, int64_t n, const struct dtype *type, enum source source, uint64_t seed);

#endif
