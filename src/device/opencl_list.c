/* What there is of OpenCL: the library, its drivers, and their devices over all platforms. */
#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "device/opencl_part.h"

/* ---- the library */

struct opencl_api libopencl;
static struct err load_err; /* code 0: loaded */
static pid_t loaded_by;

/* In the order of platforms. A platform that fails counts as empty. Returns how many there are. */
static int enumerate(cl_device_id out[MAX_DEVICES])
{
    cl_platform_id platforms[MAX_DEVICES];
    cl_uint nplatforms = 0, n = 0;
    if (libopencl.clGetPlatformIDs(MAX_DEVICES, platforms, &nplatforms) != CL_SUCCESS)
        return 0;
    const cl_ulong kinds = CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR;
    for (cl_uint p = 0; p < nplatforms && p < MAX_DEVICES && n < MAX_DEVICES; p++) {
        cl_uint there = 0, room = MAX_DEVICES - n;
        if (libopencl.clGetDeviceIDs(platforms[p], kinds, room, out + n, &there) == CL_SUCCESS)
            n += there < room ? there : room;
    }
    return (int)n;
}

/* The first question for platforms makes ocl-icd load its drivers. It cuts its own variable apart with strtok, in the environment
 * itself, so children would find the first name only. The first question for devices makes PoCL look for them; it tells another thread
 * meanwhile that there are none. */
static void load_drivers(void)
{
    static const char name[] = "OCL_ICD_FILENAMES";
    const char *value = getenv(name);
    char *copy = value ? mem_strdup(value) : NULL;
    cl_device_id found[MAX_DEVICES];
    enumerate(found);
    if (copy)
        setenv(name, copy, 1);
    mem_free(copy);
}

static void load(void)
{
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    loaded_by = getpid();
    const char *missing = NULL;
    if (!library) {
        err_set(&load_err, ERR_UNSUPPORTED, "no OpenCL: %s; on Debian: apt install ocl-icd-libopencl1 pocl-opencl-icd", dlerror());
        return;
    }
#define X(type, name, parameters)                                                                                                  \
    if (!library_find(library, #name, &libopencl.name))                                                                            \
        missing = #name;
    OPENCL_FUNCTIONS(X)
#undef X
    if (!missing) {
        load_drivers();
        return;
    }
    err_set(&load_err, ERR_UNSUPPORTED, "libOpenCL.so.1 lacks %s: OpenCL 1.2 or newer is needed", missing);
    dlclose(library);
}

/* A fork leaves the drivers' threads behind: who waited for them would wait for ever. */
int opencl_load(struct err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (load_err.code)
        return err_set(err, load_err.code, "%s", load_err.msg);
    if (loaded_by != getpid())
        return err_set(err, ERR_UNSUPPORTED,
                       "OpenCL was used before this process was forked, and its threads did not come along: start a new program "
                       "instead of a fork");
    return 0;
}

/* ---- a device */

/* A number of 4 or 8 bytes, cut to what our limits hold; 0 if the device does not know it. */
static int64_t number(cl_device_id device, cl_uint what)
{
    union {
        cl_uint small;
        cl_ulong large;
    } value = { 0 };
    size_t bytes = 0;
    if (libopencl.clGetDeviceInfo(device, what, sizeof value, &value, &bytes) != CL_SUCCESS)
        return 0;
    cl_ulong n = bytes == sizeof value.small ? value.small : value.large;
    return n < INT64_MAX ? (int64_t)n : INT64_MAX;
}

static int small_number(cl_device_id device, cl_uint what)
{
    int64_t n = number(device, what);
    return n < INT32_MAX ? (int)n : INT32_MAX;
}

/* Text, cut to fit and without blanks around it. */
static void text(cl_device_id device, cl_uint what, char *out, size_t size)
{
    char all[4096] = "";
    if (libopencl.clGetDeviceInfo(device, what, sizeof all - 1, all, NULL) != CL_SUCCESS)
        *all = 0;
    snprintf(out, size, "%s", all + strspn(all, " "));
    err_line(out);
}

/* The platform's name as a word: "NVIDIA CUDA" is nvidia-cuda. */
static void platform_word(cl_device_id device, char *out, size_t size)
{
    cl_platform_id platform = NULL;
    char name[128] = "";
    size_t n = 0;
    libopencl.clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    libopencl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
    if (!strcmp(name, "Portable Computing Language"))
        strcpy(name, "pocl");
    for (const char *c = name; *c && n < size - 1; c++) {
        if (isalnum((unsigned char)*c))
            out[n++] = (char)tolower((unsigned char)*c);
        else if (n && out[n - 1] != '-')
            out[n++] = '-';
    }
    out[n && out[n - 1] == '-' ? n - 1 : n] = 0;
}

static void uuid(cl_device_id device, char *out, size_t size)
{
    unsigned char id[16];
    *out = 0;
    if (libopencl.clGetDeviceInfo(device, CL_EXT_DEVICE_UUID_KHR, sizeof id, id, NULL) != CL_SUCCESS)
        return;
    size_t n = 0;
    for (int i = 0; i < 16; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
}

static void describe(cl_device_id device, int index, struct devspec *d)
{
    *d = (struct devspec){ .backend = "opencl", .index = index, .shared_driver = true, .unordered = true };
    text(device, CL_DEVICE_NAME, d->name, sizeof d->name);
    text(device, CL_DRIVER_VERSION, d->driver, sizeof d->driver);
    platform_word(device, d->arch, sizeof d->arch);
    uuid(device, d->uuid, sizeof d->uuid);
    d->multiprocessors = small_number(device, CL_DEVICE_MAX_COMPUTE_UNITS);
    d->memory = number(device, CL_DEVICE_GLOBAL_MEM_SIZE);
    d->max_alloc = number(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    d->l2 = number(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
    d->max_shared = d->max_static_shared = number(device, CL_DEVICE_LOCAL_MEM_SIZE);
    d->fp64 = number(device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    d->shares_cores = number(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU;
    d->max_threads = small_number(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    int nv_warp = small_number(device, CL_EXT_DEVICE_WARP_SIZE_NV);
    d->warp = d->shares_cores ? 1 : nv_warp ?: small_number(device, CL_EXT_DEVICE_WAVEFRONT_WIDTH_AMD) ?: 32;
    size_t extent[16] = { 0 }; /* as many as the device has dimensions */
    libopencl.clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof extent, extent, NULL);
    for (int i = 0; i < 3; i++) {
        d->max_block[i] = extent[i] < INT32_MAX ? (int)extent[i] : INT32_MAX;
        /* In blocks. OpenCL has no limit of its own, but NVIDIA's driver makes each launch a CUDA launch: y and z end at 65535. */
        d->max_grid[i] = nv_warp && i > 0 ? 65535 : INT32_MAX;
    }
}

/* ---- all devices */

void opencl_describe(cl_device_id device, struct devspec *d)
{
    cl_device_id all[MAX_DEVICES];
    int n = enumerate(all), index = 0;
    while (index < n && all[index] != device)
        index++;
    describe(device, index, d);
}

int opencl_list(struct devspec *out, int max, struct err *err)
{
    cl_device_id found[MAX_DEVICES];
    if (opencl_load(err))
        return 0;
    int n = enumerate(found);
    if (!n)
        err_set(
            err, 0,
            "OpenCL has no device: install a driver of the GPU's vendor, or PoCL (apt install pocl-opencl-icd) for the CPU; a PoCL "
            "that is there shows no device where it cannot write its cache: POCL_CACHE_DIR, or .cache in HOME");
    for (int i = 0; i < n && i < max; i++)
        describe(found[i], i, &out[i]);
    return n;
}

/* The device at the same place. If another is there now, since loaders promise no order: the first that is like it. */
int opencl_device(const struct devspec *spec, cl_device_id *out, struct err *err)
{
    int rc = opencl_load(err);
    if (rc)
        return rc;
    cl_device_id found[MAX_DEVICES];
    struct buf here = { 0 };
    *out = NULL;
    for (int i = 0, n = enumerate(found); i < n; i++) {
        struct devspec now;
        describe(found[i], i, &now);
        bool same = !strcmp(now.name, spec->name) && !strcmp(now.arch, spec->arch);
        if (same && (i == spec->index || !*out))
            *out = found[i];
        buf_fmt(&here, "%s%s (%s)", i ? ", " : "", now.name, now.arch);
    }
    if (!*out)
        rc = err_set(err, ERR_NOTFOUND, "opencl:%d was %s (%s); now there is only: %s", spec->index, spec->name, spec->arch,
                     buf_text(&here));
    buf_free(&here);
    return rc;
}
