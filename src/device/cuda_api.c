#include "device/cuda_part.h"

#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A function pointer from dlsym's object pointer, which ISO C does not convert; false if there is none. */
static bool find(void *library, const char *name, void *function)
{
    void *p = dlsym(library, name);
    memcpy(function, &p, sizeof p);
    return p;
}

struct cuda_api libcuda;
static struct err driver_err; /* code 0: loaded */

static int start_driver(void *library, struct err *err)
{
    const char *text = NULL;
#define X(name, parameters)                                                                                                        \
    if (!find(library, #name, &libcuda.name) && !text)                                                                             \
        text = #name;
    CUDA_FUNCTIONS(X)
#undef X
    if (text)
        return err_set(err, ERR_UNSUPPORTED, "the NVIDIA driver lacks %s: one for CUDA 11.2 or newer is needed", text);
#define X(name, parameters) find(library, #name, &libcuda.name);
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

/* A library of this name in the folders that match $variable/rest (variable null: rest alone); the last folder, so the newest,
 * first. */
static void *open_matching(const char *variable, const char *rest, const char *name)
{
    const char *root = variable ? getenv(variable) : "";
    char pattern[4096];
    if (!root || (variable && !*root) || snprintf(pattern, sizeof pattern, "%s%s%s", root, rest, name) >= (int)sizeof pattern)
        return NULL;
    glob_t found = { 0 };
    void *library = NULL;
    if (!glob(pattern, 0, NULL, &found))
        for (size_t i = found.gl_pathc; i-- > 0 && !library;)
            library = dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
    globfree(&found);
    return library;
}

static void *open_nvrtc(void)
{
    static const char *const names[] = { "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so" };
    static const struct {
        const char *variable, *rest;
    } places[] = {
        { "CUDA_PATH", "/lib64/" },
        { "CUDA_HOME", "/lib64/" },
        { NULL, "/usr/local/cuda/lib64/" },
        { NULL, "/usr/local/cuda-*/lib64/" },
        /* PyPI's nvidia-cuda-nvrtc, up to 12 and from 13 on */
        { "VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/cu*/lib/" },
        { "HOME", "/.local/lib/python3*/site-packages/nvidia/cu*/lib/" },
        { NULL, "/usr/local/lib/python3*/*-packages/nvidia/cu*/lib/" },
    };
    const size_t nnames = sizeof names / sizeof *names, nplaces = sizeof places / sizeof *places;
    void *library = NULL;
    for (size_t i = 0; i < nnames && !library; i++) /* in the linker's own search path */
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < nplaces * nnames && !library; i++)
        library = open_matching(places[i / nnames].variable, places[i / nnames].rest, names[i % nnames]);
    return library;
}

struct nvrtc_api libnvrtc;
static struct err nvrtc_err; /* code 0: loaded */

static void load_nvrtc(void)
{
    void *library = open_nvrtc();
    if (!library) {
        err_set(&nvrtc_err, ERR_UNSUPPORTED,
                "no NVRTC: tried libnvrtc.so.13, .12 and .11.2 in the linker's path, $CUDA_PATH/lib64, $CUDA_HOME/lib64, "
                "/usr/local/cuda*/lib64 and Python's nvidia-cuda-nvrtc; install a CUDA toolkit, or pip install nvidia-cuda-nvrtc");
        return;
    }
    const char *missing = NULL;
#define X(type, name, parameters)                                                                                                  \
    if (!find(library, #name, &libnvrtc.name) && !missing)                                                                         \
        missing = #name;
    NVRTC_FUNCTIONS(X)
#undef X
    if (missing) {
        err_set(&nvrtc_err, ERR_UNSUPPORTED, "NVRTC lacks %s: 11.2 or newer is needed", missing);
        dlclose(library);
    } else {
        libnvrtc.nvrtcVersion(&libnvrtc.major, &libnvrtc.minor);
    }
}

const struct nvrtc_api *nvrtc_api(struct err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_nvrtc);
    if (nvrtc_err.code && err)
        *err = nvrtc_err;
    return nvrtc_err.code ? NULL : &libnvrtc;
}

static struct nvml_api libnvml;
static bool have_nvml;

static void load_nvml(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    have_nvml = library && find(library, "nvmlInit_v2", &libnvml.nvmlInit_v2) &&
                find(library, "nvmlDeviceGetHandleByPciBusId_v2", &libnvml.nvmlDeviceGetHandleByPciBusId_v2) &&
                find(library, "nvmlDeviceGetClockInfo", &libnvml.nvmlDeviceGetClockInfo) && libnvml.nvmlInit_v2() == 0;
    if (!have_nvml)
        return;
    find(library, "nvmlDeviceGetHandleByUUID", &libnvml.nvmlDeviceGetHandleByUUID);
    find(library, "nvmlDeviceGetTotalEnergyConsumption", &libnvml.nvmlDeviceGetTotalEnergyConsumption);
    find(library, "nvmlErrorString", &libnvml.nvmlErrorString);
}

const struct nvml_api *nvml_api(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_nvml);
    return have_nvml ? &libnvml : NULL;
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
