/* DLPack's structs, version 1, and its table of C calls (1.3), as https://dmlc.github.io/dlpack tells them: what arrays of other
 * libraries are. */
#ifndef DLPACK_H
#define DLPACK_H

#include <stdint.h>

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_COMPLEX = 5, DL_F8E4M3 = 10, DL_F8E5M2 = 12 };
enum { DL_READ_ONLY = 1 };

struct dl_device {
    int32_t type, id;
};

struct dl_type {
    uint8_t code, bits;
    uint16_t lanes;
};

struct dl_tensor {
    void *data;
    struct dl_device device;
    int32_t ndim;
    struct dl_type dtype;
    int64_t *shape, *strides; /* elements; no strides: packed */
    uint64_t byte_offset;
};

struct dl_managed {
    struct dl_tensor tensor;
    void *manager;
    void (*deleter)(struct dl_managed *self);
};

struct dl_version {
    uint32_t major, minor;
};

struct dl_managed_versioned {
    struct dl_version version;
    void *manager;
    void (*deleter)(struct dl_managed_versioned *self);
    uint64_t flags;
    struct dl_tensor tensor;
};

struct dl_exchange {
    struct dl_version version;
    struct dl_exchange *previous;
    int (*allocate)(struct dl_tensor *like, struct dl_managed_versioned **out, void *error_ctx,
                    void (*set_error)(void *error_ctx, const char *kind, const char *message));
    int (*managed_from)(void *object, struct dl_managed_versioned **out);
    int (*managed_to)(struct dl_managed_versioned *tensor, void **out);
    int (*view)(void *object, struct dl_tensor *out); /* which does not own it; may be null */
    int (*stream)(int32_t device_type, int32_t device_id, void **out);
};

#endif
