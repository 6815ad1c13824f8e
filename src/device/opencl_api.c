#include "device/opencl_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static struct opencl_api loader;
static struct err loader_err; /* code 0: loaded */

/* A function pointer from dlsym's object pointer, which ISO C does not convert; false if there is none. */
static bool find(void *library, const char *name, void *function)
{
    void *p = dlsym(library, name);
    memcpy(function, &p, sizeof p);
    return p;
}

static void load(void)
{
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        err_set(&loader_err, ERR_UNSUPPORTED, "no OpenCL: %s; on Debian: apt install ocl-icd-libopencl1 pocl-opencl-icd",
                dlerror());
        return;
    }
#define X(type, name, parameters)                                                                                                  \
    if (!find(library, #name, &loader.name)) {                                                                                     \
        err_set(&loader_err, ERR_UNSUPPORTED, "libOpenCL.so.1 lacks %s: OpenCL 1.2 or newer is needed", #name);                    \
        dlclose(library);                                                                                                          \
        return;                                                                                                                    \
    }
    OPENCL_FUNCTIONS(X)
#undef X
}

/* The first question for platforms makes ocl-icd load its drivers, and cut its own variable apart with strtok, in the environment
 * itself: children would find the first name only. */
static void load_drivers(void)
{
    static const char name[] = "OCL_ICD_FILENAMES";
    const char *value = getenv(name);
    char *copy = value ? mem_strdup(value) : NULL;
    cl_uint n;
    loader.clGetPlatformIDs(0, NULL, &n);
    if (copy)
        setenv(name, copy, 1);
    mem_free(copy);
}

static void load_all(void)
{
    load();
    if (!loader_err.code)
        load_drivers();
}

const struct opencl_api *opencl_api(struct err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_all);
    if (!loader_err.code)
        return &loader;
    err_set(err, loader_err.code, "%s", loader_err.msg);
    return NULL;
}
