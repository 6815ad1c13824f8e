/* CUDA's texture objects, over buffers as they lie and over arrays. */
#include "device/cuda_part.h"

static unsigned format_of(const struct dtype *t)
{
    static const unsigned of_uint[] = { CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32 },
                          of_int[] = { CU_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_SIGNED_INT16, CU_AD_FORMAT_SIGNED_INT32 };
    const int size = t->bytes / 2; /* 1, 2, 4 */
    if (t->kind == DT_FLOAT)
        return t->bytes == 2 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
    return t->kind == DT_INT ? of_int[size] : of_uint[size];
}

static int make_array(const struct texture *t, CUarray *out, struct err *err)
{
    struct cuda_array_descriptor what = { .format = format_of(t->type), .channels = (unsigned)t->channels };
    for (int i = 0; i < t->rank; i++) /* what is not there is 0 here */
        what.extent[i] = (size_t)t->extent[i];
    what.flags = t->mode.layered ? CUDA_ARRAY3D_LAYERED : 0;
    return CUDA(err, cuArray3DCreate_v2, out, &what);
}

static struct cuda_resource resource_of(const struct texture *t, void *at, CUarray array)
{
    struct cuda_resource r = { .type = CU_RESOURCE_TYPE_ARRAY };
    if (array) {
        r.of.array = array;
        return r;
    }
    r.type = t->rank == 1 ? CU_RESOURCE_TYPE_LINEAR : CU_RESOURCE_TYPE_PITCH2D;
    r.of.buffer.at = (CUdeviceptr)(uintptr_t)at;
    r.of.buffer.format = format_of(t->type);
    r.of.buffer.channels = (unsigned)t->channels;
    r.of.buffer.bytes_or_width = (size_t)(t->rank == 1 ? t->bytes : t->extent[0]);
    if (t->rank == 2) {
        r.of.buffer.height = (size_t)t->extent[1];
        r.of.buffer.pitch = (size_t)t->pitch;
    }
    return r;
}

static struct cuda_texture_descriptor descriptor_of(const struct texture *t)
{
    static const unsigned addresses[] = { CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_BORDER, CU_TR_ADDRESS_MODE_WRAP,
                                          CU_TR_ADDRESS_MODE_MIRROR }; /* enum texture_address */
    const bool whole = t->type->kind != DT_FLOAT;
    struct cuda_texture_descriptor d = { .filter = t->mode.linear ? CU_TR_FILTER_MODE_LINEAR : 0 };
    for (int i = 0; i < TEXTURE_RANK; i++)
        d.address[i] = addresses[t->address[i]];
    d.flags = whole && !t->mode.as_float ? CU_TRSF_READ_AS_INTEGER : 0;
    d.flags |= t->mode.normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0;
    return d;
}

/* In a stream capture, too: then the driver refuses to allocate unless this thread says that it may. */
int cuda_texture(struct guest *guest, const struct texture *t, void *at, struct guest_object *out, struct err *err)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUtexObject object = 0;
    CUarray array = NULL;
    bool pushed;
    int rc = cuda_enter((struct cuda_context *)guest, &pushed, err);
    if (rc)
        return rc;
    libcuda.cuThreadExchangeStreamCaptureMode(&mode);
    rc = t->mode.array ? make_array(t, &array, err) : 0;
    const struct cuda_resource resource = resource_of(t, at, array);
    const struct cuda_texture_descriptor how = descriptor_of(t);
    rc = rc ?: CUDA(err, cuTexObjectCreate, &object, &resource, &how, NULL);
    if (rc && array)
        libcuda.cuArrayDestroy(array);
    libcuda.cuThreadExchangeStreamCaptureMode(&mode); /* as it was */
    cuda_leave(pushed);
    out->object = object;
    out->array = rc ? NULL : array;
    return rc;
}

void cuda_texture_free(struct guest *guest, const struct guest_object *o)
{
    bool pushed;
    if (cuda_enter((struct cuda_context *)guest, &pushed, NULL))
        return;
    libcuda.cuTexObjectDestroy(o->object);
    if (o->array)
        libcuda.cuArrayDestroy(o->array);
    cuda_leave(pushed);
}

int cuda_texture_fill(struct guest *guest, const struct texture *t, void *array, void *from, void *stream, struct err *err)
{
    (void)guest;
    const struct cuda_copy copy = {
        .from = { .type = CU_MEMORYTYPE_DEVICE,
                  .at = (CUdeviceptr)(uintptr_t)from,
                  .pitch = (size_t)t->pitch,
                  .height = (size_t)t->rows },
        .to = { .type = CU_MEMORYTYPE_ARRAY, .array = array },
        .extent = { (size_t)(t->extent[0] * t->channels * t->type->bytes), (size_t)t->extent[1], (size_t)t->extent[2] },
    };
    return CUDA(err, cuMemcpy3DAsync_v2, &copy, stream);
}
