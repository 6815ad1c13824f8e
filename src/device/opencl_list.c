/* Which OpenCL devices are there, over all platforms. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "device/opencl_part.h"

static const char advice[] =
    "install a driver of the GPU's vendor, or PoCL (apt install pocl-opencl-icd) for the CPU; a PoCL that is "
    "there shows no device where it cannot write its cache: POCL_CACHE_DIR, or .cache in HOME";

struct listed_device {
    cl_platform_id platform;
    cl_device_id device;
};

/* Fills up to MAX_DEVICES, in the order of platforms; a platform that fails has none. Returns how many. */
static int enumerate(const struct opencl_api *cl, struct listed_device *out)
{
    cl_platform_id platforms[MAX_DEVICES];
    cl_uint nplatforms = 0;
    if (cl->clGetPlatformIDs(MAX_DEVICES, platforms, &nplatforms) != CL_SUCCESS)
        return 0;
    const cl_device_type kinds = CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR;
    int n = 0;
    for (cl_uint p = 0; p < nplatforms && p < MAX_DEVICES; p++) {
        cl_device_id devices[MAX_DEVICES];
        cl_uint ndevices = 0;
        if (cl->clGetDeviceIDs(platforms[p], kinds, MAX_DEVICES, devices, &ndevices) != CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < ndevices && d < MAX_DEVICES && n < MAX_DEVICES; d++)
            out[n++] = (struct listed_device){ platforms[p], devices[d] };
    }
    return n;
}

/* A number; 0 if the device does not know it. */
static uint32_t number32(const struct opencl_api *cl, cl_device_id device, cl_device_info what)
{
    cl_uint value = 0;
    return cl->clGetDeviceInfo(device, what, sizeof value, &value, NULL) == CL_SUCCESS ? value : 0;
}

/* The same for 64 bits, cut to what our limits hold. */
static int64_t number64(const struct opencl_api *cl, cl_device_id device, cl_device_info what)
{
    cl_ulong value = 0;
    if (cl->clGetDeviceInfo(device, what, sizeof value, &value, NULL) != CL_SUCCESS)
        return 0;
    return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

static int clamp_int(size_t n)
{
    return n < INT32_MAX ? (int)n : INT32_MAX;
}

/* Text, cut to fit and without blanks around it. */
static void text(const struct opencl_api *cl, cl_device_id device, cl_device_info what, char *out, size_t size)
{
    char all[4096] = "";
    if (cl->clGetDeviceInfo(device, what, sizeof all - 1, all, NULL) != CL_SUCCESS)
        *all = 0;
    const char *start = all + strspn(all, " ");
    size_t n = strlen(start);
    while (n && start[n - 1] == ' ')
        n--;
    snprintf(out, size, "%.*s", (int)n, start);
}

/* The platform's name as a word: "NVIDIA CUDA" is nvidia-cuda. */
static void platform_word(const struct opencl_api *cl, cl_platform_id platform, char out[64])
{
    char name[128] = "";
    cl->clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
    if (strcmp(name, "Portable Computing Language") == 0) {
        strcpy(out, "pocl");
        return;
    }
    size_t n = 0;
    for (const char *c = name; *c && n < 63; c++) {
        if (isalnum((unsigned char)*c))
            out[n++] = (char)tolower((unsigned char)*c);
        else if (n && out[n - 1] != '-')
            out[n++] = '-';
    }
    while (n && out[n - 1] == '-')
        n--;
    out[n] = 0;
}

static void uuid(const struct opencl_api *cl, cl_device_id device, char *out, size_t size)
{
    unsigned char id[16];
    *out = 0;
    if (cl->clGetDeviceInfo(device, CL_EXT_DEVICE_UUID_KHR, sizeof id, id, NULL) != CL_SUCCESS)
        return;
    size_t n = 0;
    for (int i = 0; i < 16; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
}

/* In blocks. OpenCL has no limit of its own. NVIDIA's driver makes a CUDA launch of each, in which y and z end at 65535. */
static void grid_limits(struct devspec *d, bool nvidia)
{
    d->max_grid[0] = INT32_MAX;
    d->max_grid[1] = d->max_grid[2] = nvidia ? 65535 : INT32_MAX;
}

static void describe(const struct opencl_api *cl, const struct listed_device *f, int index, struct devspec *d)
{
    cl_device_id device = f->device;
    *d = (struct devspec){ .backend = "opencl", .index = index, .shared_driver = true, .unordered = true };
    text(cl, device, CL_DEVICE_NAME, d->name, sizeof d->name);
    text(cl, device, CL_DRIVER_VERSION, d->driver, sizeof d->driver);
    platform_word(cl, f->platform, d->arch);
    uuid(cl, device, d->uuid, sizeof d->uuid);
    d->multiprocessors = clamp_int(number32(cl, device, CL_DEVICE_MAX_COMPUTE_UNITS));
    d->memory = number64(cl, device, CL_DEVICE_GLOBAL_MEM_SIZE);
    d->max_alloc = number64(cl, device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    d->l2 = number64(cl, device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
    d->max_shared = d->max_static_shared = number64(cl, device, CL_DEVICE_LOCAL_MEM_SIZE);
    d->fp64 = number64(cl, device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    d->shares_cores = number64(cl, device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU;
    uint32_t nv_warp = number32(cl, device, CL_EXT_DEVICE_WARP_SIZE_NV);
    uint32_t amd_warp = number32(cl, device, CL_EXT_DEVICE_WAVEFRONT_WIDTH_AMD);
    d->warp = d->shares_cores ? 1 : nv_warp ? clamp_int(nv_warp) : amd_warp ? clamp_int(amd_warp) : 32;
    grid_limits(d, nv_warp != 0);
    size_t threads = 0, extent[16] = { 0 }; /* as many as the device has dimensions */
    cl->clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof threads, &threads, NULL);
    cl->clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof extent, extent, NULL);
    d->max_threads = clamp_int(threads);
    for (int i = 0; i < 3; i++)
        d->max_block[i] = clamp_int(extent[i]);
}

void opencl_describe(const struct opencl_api *cl, cl_device_id device, struct devspec *d)
{
    struct listed_device all[MAX_DEVICES], this = { .device = device };
    int n = enumerate(cl, all), index = 0;
    cl->clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof this.platform, &this.platform, NULL);
    while (index < n && all[index].device != device)
        index++;
    describe(cl, &this, index, d);
}

int opencl_list(struct devspec *out, int max, struct err *err)
{
    const struct opencl_api *cl = opencl_api(err);
    if (!cl)
        return 0;
    struct listed_device found[MAX_DEVICES];
    int n = enumerate(cl, found);
    if (n == 0)
        err_set(err, 0, "OpenCL has no device: %s", advice);
    for (int i = 0; i < n && i < max; i++)
        describe(cl, &found[i], i, &out[i]);
    return n;
}

/* By place; or, since loaders promise no order, wherever it is now: of like ones the first. */
int opencl_device(const struct devspec *spec, const struct opencl_api **cl, cl_device_id *out, struct err *err)
{
    *cl = opencl_api(err);
    if (!*cl)
        return ERR_UNSUPPORTED;
    struct listed_device found[MAX_DEVICES];
    int n = enumerate(*cl, found);
    struct buf here = { 0 };
    cl_device_id other = NULL;
    for (int i = 0; i < n; i++) {
        struct devspec now;
        describe(*cl, &found[i], i, &now);
        bool same = strcmp(now.name, spec->name) == 0 && strcmp(now.arch, spec->arch) == 0;
        if (same && (i == spec->index || !other))
            other = found[i].device;
        buf_fmt(&here, "%s%s (%s)", i ? ", " : "", now.name, now.arch);
    }
    int rc = 0;
    if (other)
        *out = other;
    else
        rc = err_set(err, ERR_NOTFOUND, "opencl:%d was %s (%s); now there is only: %s", spec->index, spec->name, spec->arch,
                     buf_text(&here));
    buf_free(&here);
    return rc;
}

void opencl_doctor(struct buf *out)
{
    struct err err = { 0 };
    const struct opencl_api *cl = opencl_api(&err);
    if (!cl) {
        buf_fmt(out, "opencl: %s\n", err.msg);
        return;
    }
    struct listed_device found[MAX_DEVICES];
    int n = enumerate(cl, found);
    for (int i = 0; i < n; i++) {
        struct devspec d;
        describe(cl, &found[i], i, &d);
        buf_fmt(out, "opencl: opencl:%d is %s (%s %s)\n", i, d.name, d.arch, d.driver);
    }
    if (n == 0)
        buf_fmt(out, "opencl: no device; %s\n", advice);
}
