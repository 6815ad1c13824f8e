/* What the files of the CUDA backend share. */
#ifndef DEVICE_CUDA_PART_H
#define DEVICE_CUDA_PART_H

#include "device/cuda_api.h"
#include "device/measuring.h"

/* Once cuda_api() has loaded them. */
extern struct cuda_api libcuda;
extern struct nvrtc_api libnvrtc; /* nvrtc_api() */

/* The outcome of a driver call as an error: "WHAT: CUDA_ERROR_... (its text)". 0 if it succeeded. */
int cuda_failure(CUresult rc, struct err *err, const char *what);
static inline int cuda_check(CUresult rc, struct err *err, const char *what)
{
    return rc == CUDA_SUCCESS ? 0 : cuda_failure(rc, err, what);
}
#define CUDA(err, name, ...) cuda_check(libcuda.name(__VA_ARGS__), err, #name)

/* cuda.c: a guest. */
struct cuda_context {
    struct guest g; /* its lock is also that of the functions' attributes */
    CUcontext context;
    CUdevice device;
    bool primary;          /* the device's: retained */
    unsigned long long id; /* the context's: another may get its address later. 0 if the driver does not tell */
    bool pools;            /* memory can be allocated in stream order */
    /* Of a device of ours: */
    CUevent spans[MAX_SPANS][2]; /* begin and end: made when first used */
    nvmlDevice_t nvml;           /* the management library's handle; null until clocks are asked for */
};

extern const struct backend_measuring cuda_measuring;

/* What begins with cuda_enter ends with cuda_leave: the context is current in between. */
int cuda_enter(const struct cuda_context *g, bool *pushed, struct err *err);
void cuda_leave(bool pushed);

static inline int cuda_launch_plain(const struct guest_launch *l, CUstream stream, const void **params, struct err *err)
{
    const struct geometry *g = &l->geometry;
    return CUDA(err, cuLaunchKernel, l->function, (unsigned)g->grid[0], (unsigned)g->grid[1], (unsigned)g->grid[2],
                (unsigned)g->block[0], (unsigned)g->block[1], (unsigned)g->block[2], (unsigned)g->shared, stream, (void **)params,
                NULL);
}

/* cuda_special.c */
/* others: GUEST_PARAMS of them; tensor maps and textures are made here. */
int cuda_launch_special(struct guest *guest, const struct guest_launch *l, void *const *buffers, CUdeviceptr workspace,
                        CUstream stream, const void *const *others, struct err *err);
int cuda_tensor(const struct tensor *t, void *at, void *out, struct err *err);
int cuda_fits(struct guest *guest, const struct guest_launch *l, struct err *err);

/* cuda_texture.c */
int cuda_texture(struct guest *guest, const struct texture *t, void *at, struct guest_object *out, struct err *err);
void cuda_texture_free(struct guest *guest, const struct guest_object *o);
int cuda_texture_fill(struct guest *guest, const struct texture *t, void *array, void *from, void *stream, struct err *err);

/* cuda_list.c */
int cuda_describe(CUdevice device, struct devspec *d, struct err *err);
int cuda_list(struct devspec *out, int max, struct err *err);

/* cuda_blas_measure.c */
int cuda_call_open(struct device *d, const struct library_call *what, struct called **out, struct err *err);
int cuda_call_run(struct device *d, struct called *c, int way, struct err *err);
void cuda_call_close(struct device *d, struct called *c);

extern const struct backend_compiling nvrtc_compiling; /* needs no driver and no device */

/* cuda_toolkit.c */
/* The first of these names that is a library in the linker's path, or where a toolkit is; null: there is none. It stays. */
void *cuda_library(const char *const *names, int n);
/* Options that name the folders of the toolkit's headers; none if there are none here. NVRTC must be loaded. */
enum { MAX_HEADER_FOLDERS = 3 };
struct cuda_headers {
    int n;
    char folders[MAX_HEADER_FOLDERS][4096];
};
const struct cuda_headers *cuda_headers(void);
/* Appends by what a change of NVRTC's own file shows, and of those folders, without reading them. */
void cuda_toolkit_state(struct buf *out);

/* nvrtc_headers.c: options for the numbers of math.h that a source says, which nvcc knows without a header; how many; */
int nvrtc_numbers(const char *source, const char *options[2]);
/* and which headers of ours a job gets. */
enum { NVRTC_HEADERS = 19 };
int nvrtc_headers(const struct compile_job *job, const char *names[NVRTC_HEADERS], const char *texts[NVRTC_HEADERS]);

/* cubin.c: the driver takes an image without its length and trusts it, so what would make it read past the end is refused here.
 * format: as backend.load has it. True for PTX in *ptx: text, which the driver needs a zero byte after. */
int cuda_image_check(const void *image, size_t bytes, const char *format, bool *ptx, struct err *err);

#endif
