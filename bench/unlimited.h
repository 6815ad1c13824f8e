/* A device of which only the identity is known, as a database has it, with limits that refuse nothing: the kernels that are asked for it were
 * launched there. */
#include <stdio.h>

#include "model/devspec.h"

static inline struct devspec unlimited(const struct devspec *identity)
{
    struct devspec dev = *identity;
    sscanf(dev.arch, "sm_%d", &dev.cc);
    dev.warp = 32;
    dev.fp64 = true;
    dev.max_threads = dev.max_block[0] = dev.max_block[1] = dev.max_block[2] = INT32_MAX;
    dev.max_shared = dev.max_static_shared = dev.max_alloc = INT64_MAX;
    for (int i = 0; i < 3; i++)
        dev.max_grid[i] = i ? 65535 : INT32_MAX;
    return dev;
}
