#include "device/cuda_part.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

struct cuda_api libcuda;
static struct err driver_err; /* code 0: loaded */

static int start_driver(void *library, struct err *err)
{
    const char *text = NULL;
#define X(name, parameters)                                                                                                        \
    if (!library_find(library, #name, &libcuda.name) && !text)                                                                     \
        text = #name;
    CUDA_FUNCTIONS(X)
#undef X
    if (text)
        return err_set(err, ERR_UNSUPPORTED, "the NVIDIA driver lacks %s: one for CUDA 11.2 or newer is needed", text);
#define X(name, parameters) library_find(library, #name, &libcuda.name);
    CUDA_OPTIONAL_FUNCTIONS(X)
#undef X
    CUresult rc = libcuda.cuInit(0);
    if (rc == CUDA_ERROR_NO_DEVICE)
        return err_set(err, ERR_UNSUPPORTED, "the NVIDIA driver sees no GPU");
    if (rc == CUDA_ERROR_STUB_LIBRARY)
        return err_set(err, ERR_UNSUPPORTED,
                       "no NVIDIA driver: libcuda.so.1 is the toolkit's stub; take its folder out of LD_LIBRARY_PATH");
    if (rc != CUDA_SUCCESS) {
        libcuda.cuGetErrorName(rc, &text);
        return err_set(err, ERR_UNSUPPORTED, "the NVIDIA driver does not start: %s", text ? text : "cuInit gives an unknown error");
    }
    libcuda.cuDriverGetVersion(&libcuda.version);
    if (libcuda.version >= 11020)
        return 0;
    return err_set(err, ERR_UNSUPPORTED, "the NVIDIA driver is for CUDA %d.%d: 11.2 or newer is needed", libcuda.version / 1000,
                   libcuda.version % 1000 / 10);
}

static void load_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        err_set(&driver_err, ERR_UNSUPPORTED, "no NVIDIA driver: %s", dlerror());
    else if (start_driver(library, &driver_err))
        dlclose(library);
}

const struct cuda_api *cuda_api(struct err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_driver);
    if (driver_err.code && err)
        *err = driver_err;
    return driver_err.code ? NULL : &libcuda;
}

/* A call that was refused leaves the context as good as before; every other failure has to be taken for the loss of it. */
static int code_of(CUresult rc)
{
    switch (rc) {
    case CUDA_ERROR_OUT_OF_MEMORY:
        return ERR_NOMEM;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
        return ERR_UNSUPPORTED;
    default:
        return ERR_DEVICE;
    }
}

int cuda_failure(CUresult rc, struct err *err, const char *what)
{
    const char *name = NULL, *text = NULL;
    libcuda.cuGetErrorName(rc, &name);
    libcuda.cuGetErrorString(rc, &text);
    return err_set(err, code_of(rc), "%.*s: %s (%s)", (int)strcspn(what, "_"), what, /* less its version */
                   name ? name : "an unknown error", text ? text : "no text");
}
