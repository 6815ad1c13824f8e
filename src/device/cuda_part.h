/* What the files of the CUDA backend share. */
#ifndef DEVICE_CUDA_PART_H
#define DEVICE_CUDA_PART_H

#include "device/check.h"
#include "device/cuda_api.h"
#include "device/device.h"

/* The outcome of a driver call as an error: "WHAT: CUDA_ERROR_...: its text". 0 where it succeeded. */
int cuda_check(const struct cuda_api *cu, CUresult rc, struct err *err, const char *what);

/* A kernel's parameters, so that a launch with too few does not make the driver read past the end of our list. */
struct cuda_params {
    int n; /* -1: the driver does not tell */
    size_t sizes[MAX_KARGS];
};
int cuda_params_get(const struct cuda_api *cu, CUfunction function, struct cuda_params *out, struct err *err);
/* ERR_INVALID unless n arguments of these sizes are what the kernel takes, as far as the driver tells. */
int cuda_params_check(const struct cuda_params *p, const size_t *sizes, int n, struct err *err);
/* Dynamic shared memory for the function's launches: at least so many bytes. ERR_UNSUPPORTED where a block has less. */
int cuda_make_room(const struct cuda_api *cu, const struct devspec *spec, CUfunction function, int64_t dynamic_shared,
                   struct err *err);

/* cuda_list.c */
int cuda_describe(const struct cuda_api *cu, CUdevice device, struct devspec *d, struct err *err);
int cuda_list(struct devspec *out, int max, struct err *err);
void cuda_doctor(struct buf *out);

/* nvrtc.c: needs no driver and no device. */
int nvrtc_open(const struct devspec *spec, struct compiler **out, struct err *err);
void nvrtc_close(struct compiler *c);
int nvrtc_compile(struct compiler *c, const struct compile_job *job, struct buf *binary, struct buf *portable, struct buf *log,
                  struct err *err);
void nvrtc_name(const struct compiler *c, char out[COMPILER_NAME]);

/* cubin.c: the driver takes an image without its length and trusts it, so what would make it read past the end is refused here.
 * True for PTX in *ptx: text, which the driver needs a zero byte after. */
int cuda_image_check(const void *image, size_t bytes, bool *ptx, struct err *err);

#endif
