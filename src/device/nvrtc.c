/* Compiling CUDA C++ through NVRTC. It needs neither a driver nor a device, so compile workers run anywhere. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/check.h"
#include "device/cuda_part.h"

struct nvrtc_compiler {
    const struct nvrtc_api *rtc;
    char arch[64]; /* for jobs that name none */
};

static int check(const struct nvrtc_api *rtc, nvrtcResult result, struct err *err, const char *what)
{
    if (result == NVRTC_SUCCESS)
        return 0;
    return err_set(err, result == NVRTC_ERROR_OUT_OF_MEMORY ? ERR_NOMEM : ERR_DEVICE, "%s: %s", what,
                   rtc->nvrtcGetErrorString(result));
}

/* The device's own architecture. If this NVRTC is older than it: PTX for the newest that it knows, which the driver compiles. */
static int choose_arch(const struct nvrtc_api *rtc, int cc, char arch[64], struct err *err)
{
    int n = 0, newest = 0;
    int rc = check(rtc, rtc->nvrtcGetNumSupportedArchs(&n), err, "nvrtcGetNumSupportedArchs");
    if (rc)
        return rc;
    int *known = mem_array(n > 0 ? (size_t)n : 1, sizeof *known);
    if (!known)
        return err_nomem(err);
    rc = check(rtc, rtc->nvrtcGetSupportedArchs(known), err, "nvrtcGetSupportedArchs");
    for (int i = 0; !rc && i < n; i++)
        if (known[i] <= cc && known[i] > newest)
            newest = known[i];
    mem_free(known);
    if (!rc && !newest)
        rc = err_set(err, ERR_UNSUPPORTED, "NVRTC %d.%d knows no architecture as old as sm_%d: an older one is needed", rtc->major,
                     rtc->minor, cc);
    snprintf(arch, 64, "%s_%d", newest == cc ? "sm" : "compute", newest);
    return rc;
}

static int nvrtc_open(const struct devspec *spec, struct compiler **out, struct err *err)
{
    const struct nvrtc_api *rtc = nvrtc_api(err);
    if (!rtc)
        return ERR_UNSUPPORTED;
    struct nvrtc_compiler *c = mem_zalloc(sizeof *c);
    if (!c)
        return err_nomem(err);
    c->rtc = rtc;
    int rc = choose_arch(rtc, spec->cc, c->arch, err);
    if (rc) {
        mem_free(c);
        return rc;
    }
    *out = (struct compiler *)c;
    return 0;
}

static void nvrtc_close(struct compiler *c)
{
    mem_free(c);
}

typedef nvrtcResult (*get_size)(nvrtcProgram, size_t *);
typedef nvrtcResult (*get_bytes_of)(nvrtcProgram, char *);

/* Puts what NVRTC keeps with a program into a buffer, at most `most` bytes of it. */
static int take(const struct nvrtc_api *rtc, nvrtcProgram program, get_size size_of, get_bytes_of bytes_of, size_t most,
                struct buf *out, struct err *err)
{
    size_t size = 0;
    int rc = check(rtc, size_of(program, &size), err, "NVRTC's result");
    if (rc || !size)
        return rc;
    char *bytes = mem_alloc(size);
    if (!bytes)
        return err_nomem(err);
    rc = check(rtc, bytes_of(program, bytes), err, "NVRTC's result");
    if (!rc)
        buf_put(out, bytes, size < most ? size : most);
    mem_free(bytes);
    return !rc && out->failed ? err_nomem(err) : rc;
}

/* The size of a text counts its closing zero. */
static void drop_zeros(struct buf *text)
{
    while (text->len && text->data[text->len - 1] == 0)
        text->len--;
}

static int take_log(const struct nvrtc_api *rtc, nvrtcProgram program, struct buf *log, struct err *err)
{
    int rc = take(rtc, program, rtc->nvrtcGetProgramLogSize, rtc->nvrtcGetProgramLog, MAX_LOG, log, err);
    drop_zeros(log);
    return rc;
}

/* "sm_90", "sm_90a", and for PTX "compute_90": an option for NVRTC, so nothing else may stand there. */
static bool arch_ok(const char *arch, bool *ptx)
{
    *ptx = strncmp(arch, "compute_", 8) == 0;
    if (!*ptx && strncmp(arch, "sm_", 3) != 0)
        return false;
    const char *number = arch + (*ptx ? 8 : 3);
    size_t digits = strspn(number, "0123456789");
    return digits >= 2 && digits <= 3 && (!number[digits] || (strchr("af", number[digits]) && !number[digits + 1]));
}

static bool nvrtc_arch(const char *word, struct devspec *out)
{
    bool ptx;
    if (!arch_ok(word, &ptx) || ptx)
        return false;
    *out = cuda_backend.sample;
    snprintf(out->name, sizeof out->name, "any");
    out->cc = atoi(word + strlen("sm_"));
    out->multiprocessors = 1;
    out->memory = out->max_alloc = INT64_C(1) << 33;
    out->l2 = 4 << 20;
    snprintf(out->arch, sizeof out->arch, "%s", word);
    return true;
}

/* The source is right, but too large for any device of this architecture: ptxas says so in these words. */
static bool exceeds_resources(const struct buf *log, char line[256])
{
    compile_log_line(log, line);
    return strncmp(line, "ptxas error", strlen("ptxas error")) == 0 && strstr(line, " uses too much ");
}

static void nvrtc_name(const struct compiler *c, char out[COMPILER_NAME])
{
    const struct nvrtc_api *rtc = ((const struct nvrtc_compiler *)c)->rtc;
    snprintf(out, COMPILER_NAME, "NVRTC %d.%d", rtc->major, rtc->minor);
}

static int take_ptx(const struct nvrtc_api *rtc, nvrtcProgram program, struct buf *out, struct err *err)
{
    return take(rtc, program, rtc->nvrtcGetPTXSize, rtc->nvrtcGetPTX, SIZE_MAX, out, err);
}

static int nvrtc_compile(struct compiler *compiler, const struct compile_job *job, struct buf *binary, struct buf *portable,
                         struct buf *log, struct err *err)
{
    const struct nvrtc_compiler *c = (const struct nvrtc_compiler *)compiler;
    const struct nvrtc_api *rtc = c->rtc;
    const char *arch = job->arch ? job->arch : c->arch;
    char of_ptx[64];
    bool ptx;
    if (!arch_ok(arch, &ptx))
        return err_set(err, ERR_INVALID, "architecture '%s': write sm_90, sm_90a or, for PTX, compute_75", arch);
    if (job->portable && !ptx) {
        snprintf(of_ptx, sizeof of_ptx, "compute_%s", arch + strlen("sm_"));
        arch = of_ptx;
        ptx = true;
    }
    nvrtcProgram program = NULL;
    int rc = check(rtc, rtc->nvrtcCreateProgram(&program, job->source, "kernel.cu", 0, NULL, NULL), err, "nvrtcCreateProgram");
    if (rc)
        return rc;
    char target[96];
    snprintf(target, sizeof target, "--gpu-architecture=%s", arch);
    const char *options[] = { target, "--std=c++17" };
    nvrtcResult result = rtc->nvrtcCompileProgram(program, sizeof options / sizeof *options, options);
    rc = take_log(rtc, program, log, err);
    if (rc)
        goto out;
    if (result == NVRTC_ERROR_COMPILATION) {
        char line[256];
        rc = exceeds_resources(log, line) ? err_set(err, ERR_UNSUPPORTED, "%s", line)
                                          : err_set(err, ERR_INVALID, "NVRTC refuses the source");
        goto out;
    }
    if (result == NVRTC_ERROR_INVALID_OPTION)
        rc = err_set(err, ERR_UNSUPPORTED, "NVRTC %d.%d does not know the architecture %s: name another, or install a newer one",
                     rtc->major, rtc->minor, arch);
    else
        rc = check(rtc, result, err, "nvrtcCompileProgram");
    rc = rc
             ?: (ptx ? take_ptx(rtc, program, binary, err)
                     : take(rtc, program, rtc->nvrtcGetCUBINSize, rtc->nvrtcGetCUBIN, SIZE_MAX, binary, err));
    if (!rc && portable)
        rc = take_ptx(rtc, program, portable, err);
    if (!rc && portable)
        drop_zeros(portable);
out:
    rtc->nvrtcDestroyProgram(&program);
    return rc;
}

/* NVRTC writes its own version of the language into PTX, and a driver older than that refuses it, though nothing newer than the
 * architecture is used. A test holds the result against the assembler, wherever there is one. */
static int lower_version(const struct buf *ptx, struct buf *out, struct err *err)
{
    static const char word[] = "\n.version ", oldest[] = "6.3"; /* that knows the architecture below */
    const char *at = strstr(buf_text(ptx), word);
    if (!at)
        return err_set(err, ERR_UNSUPPORTED, "NVRTC's PTX has no .version");
    at += strlen(word);
    buf_put(out, ptx->data, (size_t)(at - ptx->data));
    buf_str(out, oldest);
    buf_str(out, at + strcspn(at, "\n"));
    return buf_check(out, err);
}

static int nvrtc_ship(const char *source, struct buf *out, struct err *err)
{
    /* The oldest that NVRTC 13 knows: drivers compile it for all later ones. */
    const struct compile_job job = { .source = source, .arch = "sm_75", .portable = true };
    struct compiler *c = NULL;
    struct buf own = { 0 }, log = { 0 };
    int rc = nvrtc_open(&(struct devspec){ .cc = 75 }, &c, err) ?: nvrtc_compile(c, &job, &own, NULL, &log, err);
    if (rc == ERR_INVALID && log.len) {
        char line[256];
        compile_log_line(&log, line);
        err_set(err, rc, "%s", line);
    }
    rc = rc ?: lower_version(&own, out, err);
    nvrtc_close(c);
    buf_free(&own);
    buf_free(&log);
    return rc;
}

const struct backend_compiling nvrtc_compiling = {
    .language = "CUDA C++",
    .prelude = "prelude_cuda.h",
    .wanted = "an NVIDIA driver with NVRTC",
    .arch = nvrtc_arch,
    .ship = nvrtc_ship,
    .open = nvrtc_open,
    .close = nvrtc_close,
    .compile = nvrtc_compile,
    .name = nvrtc_name,
};
