/* What the files of the CUDA backend share. */
#ifndef DEVICE_CUDA_PART_H
#define DEVICE_CUDA_PART_H

#include "device/cuda_api.h"
#include "device/measuring.h"

/* cuda.c: a guest in a context of ours, which the caller has retained and which is the thread's current one with every call. */
int cuda_open_own(CUcontext context, struct guest **out, struct err *err);
extern const struct backend_measuring cuda_measuring;

/* cuda_list.c */
int cuda_describe(const struct cuda_api *cu, CUdevice device, struct devspec *d, struct err *err);
int cuda_list(struct devspec *out, int max, struct err *err);
void cuda_doctor(struct buf *out);

extern const struct backend_compiling nvrtc_compiling; /* needs no driver and no device */

/* cubin.c: the driver takes an image without its length and trusts it, so what would make it read past the end is refused here.
 * format: as backend.load has it. True for PTX in *ptx: text, which the driver needs a zero byte after. */
int cuda_image_check(const void *image, size_t bytes, const char *format, bool *ptx, struct err *err);

#endif
