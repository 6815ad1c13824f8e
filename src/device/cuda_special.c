/* CUDA launches that take more than cuLaunchKernel: clusters, cooperative and dependent ones, tensor maps, textures. */
#include <inttypes.h>
#include <string.h>

#include "device/cuda_part.h"

enum {
    PORTABLE_CLUSTER = 8,
    MAX_PASSED = 4 * MAX_VIEWS, /* one view may be passed in several places */
};

_Static_assert(TENSOR_BYTES == sizeof(struct cuda_tensor_map) && TENSOR_ALIGN == _Alignof(struct cuda_tensor_map), "maps");

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
    if (g->cluster[0])
        attributes[c.nattributes++] = (struct cuda_launch_attribute){
            .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
            .value.cluster = { (unsigned)g->cluster[0], (unsigned)g->cluster[1], (unsigned)g->cluster[2] },
        };
    if (g->cooperative)
        attributes[c.nattributes++] = (struct cuda_launch_attribute){ .id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.flag = 1 };
    if (g->dependent)
        attributes[c.nattributes++] =
            (struct cuda_launch_attribute){ .id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, .value.flag = 1 };
    return c;
}

/* A word of the driver's for so many bytes: its enumerations count 0, 32, 64, 128, or from another first. */
static unsigned step_of(int bytes, int first)
{
    unsigned n = 0;
    for (int b = first; bytes && b <= bytes; b *= 2)
        n++;
    return n;
}

static unsigned type_of(const struct dtype *t)
{
    const bool is_signed = t->kind == DT_INT, real = t->kind == DT_FLOAT;
    if (t->bytes == 8)
        return real ? CU_TENSOR_MAP_DATA_TYPE_FLOAT64 : is_signed ? CU_TENSOR_MAP_DATA_TYPE_INT64 : CU_TENSOR_MAP_DATA_TYPE_UINT64;
    if (t->bytes == 4)
        return real ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : is_signed ? CU_TENSOR_MAP_DATA_TYPE_INT32 : CU_TENSOR_MAP_DATA_TYPE_UINT32;
    if (t->bytes == 2)
        return !real               ? CU_TENSOR_MAP_DATA_TYPE_UINT16
               : t->eps == 0x1p-11 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                   : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    return CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

int cuda_tensor(const struct tensor *t, void *at, void *out, struct err *err)
{
    uint64_t extents[MAX_VIEW_RANK], strides[MAX_VIEW_RANK];
    uint32_t box[MAX_VIEW_RANK], steps[MAX_VIEW_RANK];
    if (!libcuda.cuTensorMapEncodeTiled)
        return err_set(err, ERR_UNSUPPORTED, "a tensor map: a driver for CUDA 12.0 or newer is needed");
    for (int i = 0; i < t->rank; i++) {
        extents[i] = (uint64_t)t->extent[i];
        box[i] = (uint32_t)t->box[i];
        steps[i] = (uint32_t)t->step[i];
        strides[i] = i + 1 < t->rank ? (uint64_t)t->stride[i + 1] : 0; /* that of the innermost is not told */
    }
    unsigned fill = t->nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA : 0;
    return CUDA(err, cuTensorMapEncodeTiled, out, type_of(t->type), (uint32_t)t->rank, at, extents, strides, box, steps,
                step_of(t->interleave, 16), step_of(t->swizzle, 32), step_of(t->l2, 64), fill);
}

/* What is passed of a view. */
union passed {
    struct cuda_tensor_map map;
    uint64_t texture;
};

/* The address of a buffer is known only now; to make a map costs a fraction of a launch. */
static int pass_views(struct guest *guest, const struct guest_launch *l, void *const *buffers, CUdeviceptr workspace,
                      union passed *passed, const void **params, struct err *err)
{
    int n = 0, rc = 0;
    for (int i = 0; !rc && i < l->nparams; i++) {
        const struct guest_param *p = &l->params[i];
        if (p->kind != GUEST_TENSOR && p->kind != GUEST_TEXTURE)
            continue;
        CUdeviceptr part = workspace + (uint64_t)p->offset;
        void *at = p->in_workspace ? (void *)(uintptr_t)part : buffers[p->index];
        if (n == MAX_PASSED)
            return err_set(err, ERR_UNSUPPORTED, "more than %d tensor maps and textures", MAX_PASSED);
        rc = p->kind == GUEST_TENSOR ? cuda_tensor(p->tensor, at, &passed[n].map, err)
                                     : guest_texture_of(guest, p->texture, at, &passed[n].texture, err);
        params[i] = &passed[n++];
    }
    return rc;
}

int cuda_launch_special(struct guest *guest, const struct guest_launch *l, void *const *buffers, CUdeviceptr workspace,
                        CUstream stream, const void *const *others, struct err *err)
{
    union passed passed[MAX_PASSED];
    const void *params[GUEST_PARAMS]; /* a copy: the caller's would keep addresses of what ends here */
    struct cuda_launch_attribute attributes[3];
    const struct geometry *g = &l->geometry;
    memcpy(params, others, sizeof params);
    int rc = l->views ? pass_views(guest, l, buffers, workspace, passed, params, err) : 0;
    if (!rc && !geometry_special(g))
        return cuda_launch_plain(l, stream, params, err);
    const struct cuda_launch_config c = config_of(g, stream, attributes);
    return rc ?: check_driver(err) ?: CUDA(err, cuLaunchKernelEx, &c, l->function, (void **)params, NULL);
}

/* How many blocks run at once. A cluster is placed as a whole. */
static int resident(const struct guest *guest, const struct guest_launch *l, int64_t *blocks, struct err *err)
{
    const struct geometry *g = &l->geometry;
    struct cuda_launch_attribute attributes[3];
    const struct cuda_launch_config c = config_of(g, NULL, attributes);
    const int64_t size = g->cluster[0] * g->cluster[1] * g->cluster[2];
    int n = 0, rc = 0;
    if (!size) {
        rc = CUDA(err, cuOccupancyMaxActiveBlocksPerMultiprocessor, &n, l->function, (int)(g->block[0] * g->block[1] * g->block[2]),
                  (size_t)g->shared);
        *blocks = (int64_t)n * guest->spec.multiprocessors;
        return rc;
    }
    if (size > PORTABLE_CLUSTER)
        rc = CUDA(err, cuFuncSetAttribute, l->function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    if (rc)
        return rc;
    CUresult result = libcuda.cuOccupancyMaxActiveClusters(&n, l->function, &c);
    const bool large =
        result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_INVALID_CLUSTER_SIZE; /* or it is told to be none */
    *blocks = large ? 0 : n * size;
    return large ? 0 : cuda_check(result, err, "cuOccupancyMaxActiveClusters");
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
