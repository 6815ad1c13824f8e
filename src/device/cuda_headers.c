/* Where the headers of the CUDA toolkit are: cuda_fp16.h, mma.h, cooperative_groups.h, CUB. Kernels need them only if they include them. */
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/cuda_part.h"

static struct cuda_headers found;

static bool has(const char *folder, const char *file)
{
    char path[PATH_MAX + 64];
    return snprintf(path, sizeof path, "%s/%s", folder, file) < (int)sizeof path && !access(path, R_OK);
}

static void add(const char *folder, const char *rest)
{
    char *to = found.folders[found.n], path[PATH_MAX];
    if (found.n < MAX_HEADER_FOLDERS && snprintf(path, sizeof path, "%s%s", folder, rest) < (int)sizeof path && !access(path, R_OK))
        found.n += snprintf(to, sizeof found.folders[0], "-I%s", path) < (int)sizeof found.folders[0];
}

/* Takes a folder if the headers are in it. From CUDA 13 on CUB and the like are in a folder of their own; PyPI's older packages are, too. */
static bool take(const char *folder)
{
    if (!has(folder, "cuda_fp16.h"))
        return false;
    add(folder, "");
    add(folder, "/cccl");
    add(folder, "/../../cuda_cccl/include");
    return true;
}

static bool take_matching(const char *variable, const char *rest)
{
    const char *root = variable ? getenv(variable) : "";
    char pattern[PATH_MAX];
    glob_t all = { 0 };
    bool took = false;
    if (!root || (variable && !*root) || snprintf(pattern, sizeof pattern, "%s%s", root, rest) >= (int)sizeof pattern)
        return false;
    if (!glob(pattern, 0, NULL, &all))
        for (size_t i = all.gl_pathc; i-- > 0 && !took;) /* the last, so the newest, first */
            took = take(all.gl_pathv[i]);
    globfree(&all);
    return took;
}

/* Those that came with this NVRTC: beside its library's folder. */
static bool take_own(void)
{
    static const char *const ways[] = { "/../include", "/../../include", "/../../cuda_runtime/include",
                                        "/../targets/x86_64-linux/include" };
    char real[PATH_MAX], path[PATH_MAX + 64];
    Dl_info info;
    void *function;
    bool took = false;
    memcpy(&function, &libnvrtc.nvrtcVersion, sizeof function); /* ISO C converts no such pointers */
    if (!function || !dladdr(function, &info) || !info.dli_fname || !realpath(info.dli_fname, real) || !strrchr(real, '/'))
        return false;
    *strrchr(real, '/') = 0;
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !took; i++) {
        char folder[PATH_MAX];
        snprintf(path, sizeof path, "%s%s", real, ways[i]);
        took = realpath(path, folder) && take(folder);
    }
    return took;
}

static void look(void)
{
    static const struct {
        const char *variable, *rest;
    } places[] = {
        { "CUDA_PATH", "/include" },
        { "CUDA_HOME", "/include" },
        { NULL, "/usr/local/cuda/include" },
        { NULL, "/usr/local/cuda-*/include" },
        /* PyPI's nvidia-cuda-runtime, up to 12 and from 13 on */
        { "VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/cu*/include" },
        { "HOME", "/.local/lib/python3*/site-packages/nvidia/cu*/include" },
        { NULL, "/usr/local/lib/python3*/*-packages/nvidia/cu*/include" },
    };
    bool took = take_own();
    for (size_t i = 0; i < sizeof places / sizeof *places && !took; i++)
        took = take_matching(places[i].variable, places[i].rest);
}

const struct cuda_headers *cuda_headers(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look);
    return &found;
}
