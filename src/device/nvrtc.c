/* Compiling CUDA C++ through NVRTC. It needs neither a driver nor a device, so compile workers run anywhere. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/cuda_part.h"
#include "model/head.h"

struct nvrtc_compiler {
    char arch[64]; /* for jobs that name none */
};

static int check(nvrtcResult result, struct err *err, const char *what)
{
    if (result == NVRTC_SUCCESS)
        return 0;
    return err_set(err, result == NVRTC_ERROR_OUT_OF_MEMORY ? ERR_NOMEM : ERR_DEVICE, "%s: %s", what,
                   libnvrtc.nvrtcGetErrorString(result));
}

/* The device's own architecture. If this NVRTC is older than it: PTX for the newest that it knows, which the driver compiles. */
static int choose_arch(int cc, char arch[64], struct err *err)
{
    int n = 0, newest = 0;
    int rc = check(libnvrtc.nvrtcGetNumSupportedArchs(&n), err, "nvrtcGetNumSupportedArchs");
    int *known = rc ? NULL : mem_array(n > 0 ? (size_t)n : 1, sizeof *known);
    if (!known)
        return rc ?: err_nomem(err);
    rc = check(libnvrtc.nvrtcGetSupportedArchs(known), err, "nvrtcGetSupportedArchs");
    for (int i = 0; !rc && i < n; i++)
        if (known[i] <= cc && known[i] > newest)
            newest = known[i];
    mem_free(known);
    if (!rc && !newest)
        rc = err_set(err, ERR_UNSUPPORTED, "NVRTC %d.%d knows no architecture as old as sm_%d: an older one is needed",
                     libnvrtc.major, libnvrtc.minor, cc);
    snprintf(arch, 64, "%s_%d", newest == cc ? "sm" : "compute", newest);
    return rc;
}

static int nvrtc_open(const struct devspec *spec, struct compiler **out, struct err *err)
{
    if (!nvrtc_api(err))
        return ERR_UNSUPPORTED;
    struct nvrtc_compiler *c = mem_zalloc(sizeof *c);
    int rc = c ? choose_arch(spec->cc, c->arch, err) : err_nomem(err);
    if (rc)
        mem_free(c);
    else
        *out = (struct compiler *)c;
    return rc;
}

static void nvrtc_doctor(struct buf *out)
{
    struct err err = { 0 };
    if (nvrtc_api(&err))
        buf_fmt(out, "nvrtc: version %d.%d\n", libnvrtc.major, libnvrtc.minor);
    else
        buf_fmt(out, "nvrtc: %s\n", err.msg);
}

static void nvrtc_close(struct compiler *c)
{
    mem_free(c);
}

static void nvrtc_name(const struct compiler *c, char out[COMPILER_NAME])
{
    (void)c;
    snprintf(out, COMPILER_NAME, "NVRTC %d.%d", libnvrtc.major, libnvrtc.minor);
}

typedef nvrtcResult (*get_size)(nvrtcProgram, size_t *);
typedef nvrtcResult (*get_bytes_of)(nvrtcProgram, char *);

/* Puts what NVRTC keeps with a program into a buffer. */
static int take(nvrtcProgram program, get_size size_of, get_bytes_of bytes_of, struct buf *out, struct err *err)
{
    size_t size = 0;
    int rc = check(size_of(program, &size), err, "NVRTC's result");
    if (rc || !size)
        return rc;
    char *bytes = mem_alloc(size);
    rc = bytes ? check(bytes_of(program, bytes), err, "NVRTC's result") : err_nomem(err);
    if (!rc)
        buf_put(out, bytes, size);
    mem_free(bytes);
    return rc ?: buf_check(out, err);
}

/* The same of a text, at most `most` bytes of it. Its size counts its closing zero, which goes. */
static int take_text(nvrtcProgram program, get_size size_of, get_bytes_of bytes_of, size_t most, struct buf *out, struct err *err)
{
    int rc = take(program, size_of, bytes_of, out, err);
    if (out->len > most)
        out->len = most;
    while (out->len && out->data[out->len - 1] == 0)
        out->len--;
    return rc;
}

static int take_ptx(nvrtcProgram program, struct buf *out, struct err *err)
{
    return take_text(program, libnvrtc.nvrtcGetPTXSize, libnvrtc.nvrtcGetPTX, SIZE_MAX, out, err);
}

/* The number of "sm_90", "sm_90a", and for PTX "compute_90"; null if it is none of these: it becomes an option for NVRTC. */
static const char *arch_number(const char *arch, bool *ptx)
{
    *ptx = strncmp(arch, "compute_", 8) == 0;
    if (!*ptx && strncmp(arch, "sm_", 3) != 0)
        return NULL;
    const char *number = arch + (*ptx ? 8 : 3);
    size_t digits = strspn(number, "0123456789");
    bool good = digits >= 2 && digits <= 3 && (!number[digits] || (strchr("af", number[digits]) && !number[digits + 1]));
    return good ? number : NULL;
}

/* Shared memory that a block may have, KB, by compute capability, as CUDA's programming guide lists it; an older one has 48. */
static int most_shared_kb(int cc)
{
    static const int known[][2] = { { 120, 99 }, { 100, 227 }, { 90, 227 }, { 89, 99 }, { 87, 163 },
                                    { 86, 99 },  { 80, 163 },  { 75, 64 },  { 72, 96 }, { 70, 96 } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (cc >= known[i][0])
            return known[i][1];
    return 48;
}

static bool nvrtc_arch(const char *word, struct devspec *out)
{
    bool ptx;
    const char *number = arch_number(word, &ptx);
    if (!number || ptx)
        return false;
    *out = cuda_backend.sample;
    snprintf(out->name, sizeof out->name, "any");
    out->cc = atoi(number);
    out->max_shared = (int64_t)most_shared_kb(out->cc) << 10;
    out->multiprocessors = 1;
    out->memory = out->max_alloc = INT64_C(1) << 33;
    out->l2 = 4 << 20;
    snprintf(out->arch, sizeof out->arch, "%s", word);
    return true;
}

static int refusal(const struct buf *log, struct err *err)
{
    char line[256];
    compile_log_line(log, line);
    /* The source is right, but too large for any device of this architecture: ptxas says so in these words. */
    if (strncmp(line, "ptxas error", strlen("ptxas error")) == 0 && strstr(line, " uses too much "))
        return err_set(err, ERR_UNSUPPORTED, "%s", line);
    return err_set(err, ERR_INVALID, "NVRTC refuses the source");
}

enum { MAX_GIVEN = MAX_OPTIONS + 2 * MAX_INCLUDE_DIRS + 10 };

/* What NVRTC is told beside the text. */
struct asking {
    struct head head;
    int n;
    const char *options[MAX_GIVEN];
    bool includes; /* the source may include headers */
    char target[96];
};

static int ask_for(struct asking *a, const struct compile_job *job, const char *number, bool ptx, struct err *err)
{
    bool std = false;
    int rc = head_read(job->source, &a->head, err);
    snprintf(a->target, sizeof a->target, "--gpu-architecture=%s_%s", ptx ? "compute" : "sm", number);
    a->options[a->n++] = a->target;
    a->n += nvrtc_numbers(job->source, a->options + a->n); /* the script's own options come later, and win */
    for (int i = 0; !rc && i < a->head.noptions; i++) {
        const char *option = a->options[a->n++] = a->head.options[i];
        rc = compile_option(&nvrtc_compiling, option, err);
        std = std || strstr(option, "-std=");
    }
    if (!std)
        a->options[a->n++] = "--std=c++17";
    a->includes = strstr(job->source, "include");
    if (!rc && a->head.headers && !job->nheader_dirs)
        rc = err_set(err, ERR_UNSUPPORTED,
                     "the source includes headers that --include-dir gave when it was tuned, and here there are none");
    for (int i = 0; i < job->nheader_dirs && i < MAX_INCLUDE_DIRS; i++) {
        a->options[a->n++] = "-I"; /* and the folder, as the next */
        a->options[a->n++] = job->header_dirs[i];
    }
    for (int i = 0; a->includes && i < cuda_headers()->n; i++)
        a->options[a->n++] = cuda_headers()->folders[i];
    return rc;
}

/* What NVRTC is asked for an entry: a variable that is no array has no other address. */
struct expression {
    char text[MAX_ENTRY + 2];
};

static struct expression expression_of(const char *entry)
{
    struct expression e;
    snprintf(e.text, sizeof e.text, "&%s", entry);
    return e;
}

/* How the code calls what the head names. */
static int tell_entries(nvrtcProgram program, const struct head *head, struct buf *out, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && out && i < head->nentries; i++) {
        const char *name = NULL;
        rc = check(libnvrtc.nvrtcGetLoweredName(program, expression_of(head->entries[i]).text, &name), err, "nvrtcGetLoweredName");
        if (!rc)
            buf_fmt(out, "%s\n", name);
    }
    return rc ?: out ? buf_check(out, err) : 0;
}

/* A header that is not there. Without any of the toolkit's it is the machine's fault, not the source's. */
static int headers_lack(const struct buf *log, struct err *err)
{
    static const char says[] = "could not open source file \"";
    const char *at = strstr(buf_text(log), says);
    if (!at || cuda_headers()->n)
        return 0;
    at += strlen(says);
    return err_set(
        err, ERR_NOTFOUND,
        "a kernel includes %.*s, and there are no headers of the CUDA toolkit here: tried the folder beside NVRTC's, "
        "$CUDA_PATH/include, $CUDA_HOME/include, /usr/local/cuda*/include and Python's packages; install a toolkit, or pip "
        "install nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl",
        (int)strcspn(at, "\""), at);
}

/* An entry that the source has not: the compiler tells it of a file that nobody wrote. A line of ours goes before that. */
static int name_lacks(struct buf *log, struct err *err)
{
    static const char says[] = "#pragma nv_mangled_name &";
    char line[256];
    compile_log_line(log, line);
    const char *at = strncmp(line, "__nv_name_map(", strlen("__nv_name_map(")) ? NULL : strstr(buf_text(log), says);
    if (!at)
        return 0;
    at += strlen(says);
    struct buf whole = { 0 };
    const char *why = strstr(line, "error: ");
    buf_fmt(&whole, "error: `%.*s`, which the script names (`kernel`, `constant`): %s\n%s", (int)strcspn(at, "\n"), at,
            why ? why + strlen("error: ") : "the source has no such name", buf_text(log));
    buf_free(log);
    *log = whole;
    return buf_check(log, err);
}

static int compile_program(nvrtcProgram program, const struct asking *a, struct buf *log, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < a->head.nentries; i++)
        rc = check(libnvrtc.nvrtcAddNameExpression(program, expression_of(a->head.entries[i]).text), err, "nvrtcAddNameExpression");
    if (rc)
        return rc;
    nvrtcResult result = libnvrtc.nvrtcCompileProgram(program, a->n, a->options);
    rc = take_text(program, libnvrtc.nvrtcGetProgramLogSize, libnvrtc.nvrtcGetProgramLog, MAX_LOG, log, err);
    if (!rc && (result == NVRTC_ERROR_COMPILATION || result == NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID))
        rc = headers_lack(log, err) ?: name_lacks(log, err) ?: refusal(log, err);
    else if (!rc && result == NVRTC_ERROR_INVALID_OPTION && a->head.noptions)
        rc = err_set(err, ERR_INVALID, "NVRTC %d.%d refuses an option", libnvrtc.major, libnvrtc.minor);
    else if (!rc && result == NVRTC_ERROR_INVALID_OPTION)
        rc = err_set(err, ERR_UNSUPPORTED, "NVRTC %d.%d does not know the architecture %s: name another, or install a newer one",
                     libnvrtc.major, libnvrtc.minor, strchr(a->target, '=') + 1);
    return rc ?: check(result, err, "nvrtcCompileProgram");
}

static int nvrtc_compile(struct compiler *compiler, const struct compile_job *job, struct buf *binary, struct buf *portable,
                         struct buf *log, struct err *err)
{
    const char *arch = job->arch ? job->arch : ((const struct nvrtc_compiler *)compiler)->arch;
    bool ptx;
    const char *number = arch_number(arch, &ptx);
    if (!number)
        return err_set(err, ERR_INVALID, "architecture '%s': write sm_90, sm_90a or, for PTX, compute_75", arch);
    ptx |= job->portable;
    struct asking a = { .n = 0 };
    nvrtcProgram program = NULL;
    const char *names[NVRTC_HEADERS], *texts[NVRTC_HEADERS];
    int rc = ask_for(&a, job, number, ptx, err);
    int nheaders = !rc && a.includes ? nvrtc_headers(job, names, texts) : 0;
    rc = rc
             ?: check(libnvrtc.nvrtcCreateProgram(&program, job->source, "kernel.cu", nheaders, texts, names), err,
                      "nvrtcCreateProgram");
    rc = rc ?: compile_program(program, &a, log, err) ?: tell_entries(program, &a.head, job->entries, err);
    if (ptx)
        rc = rc ?: take_ptx(program, binary, err);
    else
        rc = rc ?: take(program, libnvrtc.nvrtcGetCUBINSize, libnvrtc.nvrtcGetCUBIN, binary, err);
    if (portable)
        rc = rc ?: take_ptx(program, portable, err);
    if (program)
        libnvrtc.nvrtcDestroyProgram(&program);
    head_free(&a.head);
    return rc;
}

/* A job's architecture is known; without one it is the compiler's. The version that NVRTC tells is not all of it. */
static void nvrtc_depends(const struct compiler *compiler, const struct compile_job *job, struct buf *out)
{
    (void)job;
    buf_lstr(out, ((const struct nvrtc_compiler *)compiler)->arch);
    cuda_toolkit_state(out);
}

/* NVRTC writes its own version of the language into PTX, and a driver older than that refuses it, though nothing newer than the
 * architecture is used. So it becomes the first version that has the architecture. A test holds the result against the assembler,
 * wherever there is one. */
static int lower_version(const struct buf *ptx, int cc, struct buf *out, struct err *err)
{
    static const struct {
        int cc;
        const char *version;
    } known[] = { { 75, "6.3" }, { 80, "7.0" }, { 90, "8.1" } }; /* for 9.0 7.8 has it, but not all of its instructions */
    static const char word[] = "\n.version ";
    const char *at = strstr(buf_text(ptx), word), *version = "";
    if (!at)
        return err_set(err, ERR_UNSUPPORTED, "NVRTC's PTX has no .version");
    at += strlen(word);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (cc == known[i].cc)
            version = known[i].version;
    size_t own = strcspn(at, "\n");
    buf_put(out, ptx->data, (size_t)(at - ptx->data));
    buf_put(out, *version ? version : at, *version ? strlen(version) : own);
    buf_str(out, at + own);
    return buf_check(out, err);
}

/* Without comments and indentation, which are a sixth of it. */
static int bare(const struct buf *ptx, struct buf *out, struct err *err)
{
    for (const char *at = buf_text(ptx); *at;) {
        at += strspn(at, " \t\n");
        size_t n = strcspn(at, "\n");
        if (n && strncmp(at, "//", 2)) {
            buf_put(out, at, n);
            buf_str(out, "\n");
        }
        at += n;
    }
    return buf_check(out, err);
}

static int nvrtc_ship(const char *source, const struct requires *requires, struct buf *out, struct buf *entries, struct err *err)
{
    enum { OLDEST = 75 }; /* that NVRTC 13 knows: drivers compile it for all later ones */
    struct requires r = *requires;
    r.cc = r.cc < OLDEST ? OLDEST : r.cc;
    char arch[ARCH_NAME];
    snprintf(arch, sizeof arch, "sm_%d%s", r.cc, r.arch_specific ? "a" : "");
    const struct compile_job job = { .source = source, .arch = arch, .portable = true, .entries = entries };
    struct buf own = { 0 }, lower = { 0 };
    int rc = compile_once(&(struct devspec){ .backend = "cuda", .cc = r.cc }, &job, &own, err)
             ?: lower_version(&own, r.cc, &lower, err) ?: bare(&lower, out, err);
    buf_free(&own);
    buf_free(&lower);
    return rc;
}

static const struct native_type cuda_types[] = {
    { "i8", "signed char" },
    { "i16", "short" },
    { "i32", "int" },
    { "i64", "long long" },
    { "u8", "unsigned char" },
    { "u16", "unsigned short" },
    { "u32", "unsigned int" },
    { "u64", "unsigned long long" },
    { "f16", "__half" },
    { "bf16", "__nv_bfloat16" },
    { "f32", "float" },
    { "f64", "double" },
    { "f8e4m3", "__nv_fp8_e4m3" },
    { "f8e5m2", "__nv_fp8_e5m2" },
    { "c64", "float2" },
    { "c128", "double2" },
    { 0 },
};

/* ptxas takes the name of a file for a whole option, and for the value of some, and reads it. */
#define PTXAS(option) "--ptxas-options=" option " -Xptxas=" option " "

/* What nvcc takes, and NVRTC does not. */
static const struct option_hint nvcc_options[] = {
    { "-O", "it optimizes as it is; -Xptxas=-O3 is what the assembler is told" },
    { "--optimize", "it optimizes as it is; -Xptxas=-O3 is what the assembler is told" },
    { "-Xptxas", "write one of ptxas' options as one word, -Xptxas=-O3; those that name files are refused" },
    { "-Xcompiler", "there is no host compiler" },
    { "-arch", "the device, or --arch, says the architecture" },
    { "-gencode", "the device, or --arch, says the architecture" },
    { NULL, NULL },
};

const struct backend_compiling nvrtc_compiling = {
    .language = "CUDA C++",
    .types = cuda_types,
    .expressions = true,
    .options =
        "--use_fast_math -use_fast_math --maxrregcount= -maxrregcount= --std= -std= --ftz= -ftz= --fmad= -fmad= --prec-div= "
        "-prec-div= --prec-sqrt= -prec-sqrt= --extra-device-vectorization -extra-device-vectorization --restrict -restrict "
        "--dopt= -dopt= --Ofast-compile= -Ofc= --generate-line-info -lineinfo --device-debug -G "
        "--default-device -default-device --device-as-default-execution-space --device-int128 -device-int128 "
        "--device-float128 -device-float128 --jump-table-density= -jtd= --no-cache -no-cache "
        "--minimal -minimal --disable-warnings -w --diag-suppress= -diag-suppress= --define-macro= -D* --undefine-macro= "
        "-U* " PTXAS("-O*") PTXAS("--opt-level=") PTXAS("-v") PTXAS("--verbose") PTXAS("-dlcm=") PTXAS("--def-load-cache=")
            PTXAS("-dscm=") PTXAS("--def-store-cache=") PTXAS("--allow-expensive-optimizations=") PTXAS("--register-usage-level=")
                PTXAS("--disable-optimizer-constants") PTXAS("--warn-on-spills") PTXAS("--warn-on-local-memory-usage"),
    .hints = nvcc_options,
    .prelude = "prelude_cuda.h",
    .wanted = "an NVIDIA driver with NVRTC",
    .doctor = nvrtc_doctor,
    .arch = nvrtc_arch,
    .ship = nvrtc_ship,
    .open = nvrtc_open,
    .close = nvrtc_close,
    .compile = nvrtc_compile,
    .depends = nvrtc_depends,
    .name = nvrtc_name,
};
