/* CUDA launches that take more than cuLaunchKernel: clusters, cooperative and dependent ones. */
#include <inttypes.h>

#include "device/cuda_part.h"

enum { PORTABLE_CLUSTER = 8 };

static int check_driver(struct err *err)
{
    if (libcuda.cuLaunchKernelEx && libcuda.cuOccupancyMaxActiveClusters)
        return 0;
    return err_set(err, ERR_UNSUPPORTED, "a cooperative launch, or one with clusters: a driver for CUDA 11.8 or newer is needed");
}

/* `attributes` has room for three. */
static struct cuda_launch_config config_of(const struct geometry *g, CUstream stream, struct cuda_launch_attribute *attributes)
{
    struct cuda_launch_config c = { .shared = (unsigned)g->shared, .stream = stream, .attributes = attributes };
    for (int d = 0; d < 3; d++) {
        c.grid[d] = (unsigned)g->grid[d];
        c.block[d] = (unsigned)g->block[d];
    }
    if (g->cluster[0]) {
        struct cuda_launch_attribute *a = &attributes[c.nattributes++];
        *a = (struct cuda_launch_attribute){ .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION };
        for (int d = 0; d < 3; d++)
            a->value.cluster[d] = (unsigned)g->cluster[d];
    }
    if (g->cooperative) {
        attributes[c.nattributes] = (struct cuda_launch_attribute){ .id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE };
        attributes[c.nattributes++].value.flag = 1;
    }
    if (g->dependent) {
        attributes[c.nattributes] = (struct cuda_launch_attribute){ .id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION };
        attributes[c.nattributes++].value.flag = 1;
    }
    return c;
}

int cuda_launch_special(const struct guest_launch *l, CUstream stream, void **params, struct err *err)
{
    struct cuda_launch_attribute attributes[3];
    const struct cuda_launch_config c = config_of(&l->geometry, stream, attributes);
    return check_driver(err) ?: CUDA(err, cuLaunchKernelEx, &c, l->function, params, NULL);
}

/* How many blocks run at once. A cluster is placed as a whole. */
static int resident(const struct guest *guest, const struct guest_launch *l, int64_t *blocks, struct err *err)
{
    const struct geometry *g = &l->geometry;
    struct cuda_launch_attribute attributes[3];
    const struct cuda_launch_config c = config_of(g, NULL, attributes);
    int64_t size = g->cluster[0] * g->cluster[1] * g->cluster[2];
    int n = 0, rc;
    if (!size) {
        rc = CUDA(err, cuOccupancyMaxActiveBlocksPerMultiprocessor, &n, l->function, (int)(g->block[0] * g->block[1] * g->block[2]),
                  (size_t)g->shared);
        *blocks = (int64_t)n * guest->spec.multiprocessors;
        return rc;
    }
    if (size > PORTABLE_CLUSTER) {
        rc = CUDA(err, cuFuncSetAttribute, l->function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
        if (rc)
            return rc;
    }
    /* It is refused, or told to be none, if it is too large. */
    CUresult result = libcuda.cuOccupancyMaxActiveClusters(&n, l->function, &c);
    *blocks = n * size;
    if (result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_INVALID_CLUSTER_SIZE) {
        *blocks = 0;
        return 0;
    }
    return cuda_check(result, err, "cuOccupancyMaxActiveClusters");
}

int cuda_fits(struct guest *guest, const struct guest_launch *l, struct err *err)
{
    struct cuda_context *g = (struct cuda_context *)guest;
    const struct geometry *how = &l->geometry;
    int64_t blocks = 0, grid = how->grid[0] * how->grid[1] * how->grid[2];
    bool pushed;
    int rc = check_driver(err) ?: cuda_enter(g, &pushed, err);
    if (rc)
        return rc;
    pthread_mutex_lock(&guest->lock);
    rc = resident(guest, l, &blocks, err);
    pthread_mutex_unlock(&guest->lock);
    cuda_leave(pushed);
    if (!rc && how->cluster[0] && !blocks)
        rc = err_set(err, ERR_UNSUPPORTED,
                     "clusters of %" PRId64 " x %" PRId64 " x %" PRId64 " blocks: the device has room for none", how->cluster[0],
                     how->cluster[1], how->cluster[2]);
    if (!rc && how->cooperative && grid > blocks)
        rc = err_set(err, ERR_UNSUPPORTED, "a cooperative launch of %" PRId64 " blocks: %" PRId64 " of them run at once", grid,
                     blocks);
    return rc;
}
