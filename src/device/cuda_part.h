/* What the files of the CUDA backend share. */
#ifndef DEVICE_CUDA_PART_H
#define DEVICE_CUDA_PART_H

#include "device/cuda_api.h"
#include "device/device.h"

/* The outcome of a driver call as an error: "WHAT: CUDA_ERROR_...: its text". 0 where it succeeded. */
int cuda_check(const struct cuda_api *cu, CUresult rc, struct err *err, const char *what);

/* cuda_list.c */
int cuda_list(struct devspec *out, int max, struct err *err);
void cuda_doctor(struct buf *out);

/* nvrtc.c: needs no driver and no device. */
int nvrtc_open(const struct devspec *spec, struct compiler **out, struct err *err);
void nvrtc_close(struct compiler *c);
int nvrtc_compile(struct compiler *c, const struct compile_job *job, struct buf *binary, struct buf *log, struct err *err);

/* cubin.c: the driver takes an image without its length and trusts it, so what would make it read past the end is refused here.
 * True for PTX in *ptx: text, which the driver needs a zero byte after. */
int cuda_image_check(const void *image, size_t bytes, bool *ptx, struct err *err);

#endif
