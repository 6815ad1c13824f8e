/* Finds a CUDA toolkit's libraries, and its headers: cuda_fp16.h, mma.h, cooperative_groups.h, CUB. Kernels need headers only if they
 * include them. */
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/cuda_part.h"

static const struct {
    const char *variable, *rest; /* a folder in that of the variable; without one, anywhere; "": in that of this code */
    const char *libraries;       /* where they are in it */
} places[] = {
    { "CUDA_PATH", "/", "lib64" },
    { "CUDA_HOME", "/", "lib64" },
    { NULL, "/usr/local/cuda/", "lib64" },
    { NULL, "/usr/local/cuda-*/", "lib64" },
    /* PyPI's nvidia-cuda-nvrtc, nvidia-cuda-runtime and nvidia-cublas, up to 12 and from 13 on */
    { "", "/../../nvidia/cu*/", "lib" }, /* as a part of a Python package */
    { "VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/cu*/", "lib" },
    { "HOME", "/.local/lib/python3*/site-packages/nvidia/cu*/", "lib" },
    { NULL, "/usr/local/lib/python3*/*-packages/nvidia/cu*/", "lib" },
};
enum { PLACES = sizeof places / sizeof *places };

/* Null: there is none. */
static const char *root_of(int place, char own[PATH_MAX])
{
    const char *variable = places[place].variable, *root = variable ? getenv(variable) : "";
    Dl_info here;
    if (!variable || *variable)
        return root && (!variable || *root) ? root : NULL;
    bool found = dladdr((void *)(uintptr_t)cuda_library, &here) && here.dli_fname && strlen(here.dli_fname) < PATH_MAX;
    char *slash = found ? strrchr(strcpy(own, here.dli_fname), '/') : NULL;
    if (slash)
        *slash = 0;
    return slash ? own : NULL;
}

/* Gives `take` what is there under this name, the last in the alphabet, so the newest, first, until it takes one. */
static bool look_in(int place, const char *name, bool (*take)(const char *path, void *to), void *to)
{
    char own[PATH_MAX], pattern[PATH_MAX];
    const char *root = root_of(place, own);
    glob_t found = { 0 };
    bool took = false;
    if (!root ||
        snprintf(pattern, sizeof pattern, "%s%s%s", root, places[place].rest, name) >= (int)sizeof pattern)
        return false;
    if (!glob(pattern, 0, NULL, &found))
        for (size_t i = found.gl_pathc; i-- > 0 && !took;)
            took = take(found.gl_pathv[i], to);
    globfree(&found);
    return took;
}

/* ---- libraries */

static bool open_library(const char *path, void *to)
{
    void **library = to;
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return *library;
}

void *cuda_library(const char *const *names, int n)
{
    void *library = NULL;
    for (int i = 0; i < n && !library; i++) /* in the linker's own search path */
        open_library(names[i], &library);
    for (int i = 0; i < PLACES * n && !library; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s/%s", places[i / n].libraries, names[i % n]);
        look_in(i / n, name, open_library, &library);
    }
    return library;
}

struct nvrtc_api libnvrtc;
static struct err nvrtc_err; /* code 0: loaded */

static void load_nvrtc(void)
{
    static const char *const names[] = { "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so" };
    void *library = cuda_library(names, sizeof names / sizeof *names);
    if (!library) {
        err_set(&nvrtc_err, ERR_UNSUPPORTED,
                "no NVRTC: tried libnvrtc.so.13, .12 and .11.2 in the linker's path, $CUDA_PATH/lib64, $CUDA_HOME/lib64, "
                "/usr/local/cuda*/lib64 and Python's nvidia-cuda-nvrtc; install a CUDA toolkit, or pip install nvidia-cuda-nvrtc");
        return;
    }
    const char *missing = NULL;
#define X(type, name, parameters)                                                                                                  \
    if (!library_find(library, #name, &libnvrtc.name) && !missing)                                                                 \
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

/* ---- headers */

static void add(struct cuda_headers *to, const char *folder, const char *rest)
{
    char *option = to->folders[to->n], path[PATH_MAX];
    if (to->n < MAX_HEADER_FOLDERS && snprintf(path, sizeof path, "%s%s", folder, rest) < (int)sizeof path && !access(path, R_OK))
        to->n += snprintf(option, sizeof to->folders[0], "-I%s", path) < (int)sizeof to->folders[0];
}

/* Takes a folder if the headers are in it. From CUDA 13 on CUB and the like are in a folder of their own; PyPI's older packages are, too. */
static bool take_headers(const char *folder, void *to)
{
    char file[PATH_MAX + 16];
    snprintf(file, sizeof file, "%s/cuda_fp16.h", folder);
    if (access(file, R_OK))
        return false;
    add(to, folder, "");
    add(to, folder, "/cccl");
    add(to, folder, "/../../cuda_cccl/include");
    return true;
}

/* The library that was loaded. */
static bool nvrtc_file(char real[PATH_MAX])
{
    Dl_info info;
    void *function;
    memcpy(&function, &libnvrtc.nvrtcVersion, sizeof function); /* ISO C converts no such pointers */
    return function && dladdr(function, &info) && info.dli_fname && realpath(info.dli_fname, real);
}

/* Those that came with this NVRTC: beside its library's folder. */
static bool take_own_headers(struct cuda_headers *to)
{
    static const char *const ways[] = { "/../include", "/../../include", "/../../cuda_runtime/include",
                                        "/../targets/x86_64-linux/include" };
    char real[PATH_MAX], path[PATH_MAX + 64], folder[PATH_MAX];
    bool took = false;
    if (!nvrtc_file(real) || !strrchr(real, '/'))
        return false;
    *strrchr(real, '/') = 0;
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !took; i++) {
        snprintf(path, sizeof path, "%s%s", real, ways[i]);
        took = realpath(path, folder) && take_headers(folder, to);
    }
    return took;
}

static struct cuda_headers headers;

static void find_headers(void)
{
    bool took = take_own_headers(&headers);
    for (int i = 0; i < PLACES && !took; i++)
        took = look_in(i, "include", take_headers, &headers);
}

const struct cuda_headers *cuda_headers(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_headers);
    return &headers;
}

static void put_state(const char *path, struct buf *out)
{
    struct stat st;
    buf_fmt(out, "%s", path);
    if (!stat(path, &st))
        buf_fmt(out, " %jd %jd %jd.%09ld", (intmax_t)st.st_ino, (intmax_t)st.st_size, (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    buf_str(out, "\n");
}

void cuda_toolkit_state(struct buf *out)
{
    char library[PATH_MAX];
    if (nvrtc_file(library))
        put_state(library, out);
    for (int i = 0; i < cuda_headers()->n; i++)
        put_state(cuda_headers()->folders[i] + strlen("-I"), out);
}
