/* Compiling OpenCL C through the device's own driver. A program travels as a small header and the driver's program binary. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "device/opencl_part.h"
#include "model/head.h"
#include "model/include.h"

static const char magic[8] = "cutuneCL";
#define USUAL_STD     "-cl-std=CL1.2"
#define USUAL_OPTIONS " -w -cl-kernel-arg-info"
enum {
    IDENTITY = 260, /* bytes of what a binary is for */
    AGAIN = 3,      /* builds of a program whose binary is not whole */
};

static int ocl_compiler_open(const struct devspec *spec, struct compiler **out, struct err *err)
{
    struct guest *g;
    int rc = opencl_open_own(spec, &g, err);
    if (!rc)
        *out = (struct compiler *)g; /* the guest is the compiler */
    return rc;
}

static void ocl_compiler_close(struct compiler *c)
{
    guest_close((struct guest *)c);
}

static void ocl_compiler_name(const struct compiler *c, char out[COMPILER_NAME])
{
    snprintf(out, COMPILER_NAME, "%s", ((const struct guest *)c)->spec.driver);
}

static int take_log(const struct opencl_context *g, cl_program program, struct buf *log, struct err *err)
{
    size_t size = 0;
    if (libopencl.clGetProgramBuildInfo(program, g->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS || size < 2)
        return 0; /* no log, or an empty one */
    char *text = mem_zalloc(size + 1);
    if (!text)
        return err_nomem(err);
    if (libopencl.clGetProgramBuildInfo(program, g->device, CL_PROGRAM_BUILD_LOG, size, text, NULL) == CL_SUCCESS)
        buf_put(log, text, strnlen(text, size < MAX_LOG ? size : MAX_LOG));
    mem_free(text);
    return buf_check(log, err);
}

/* Releases the program if this fails. A log is wanted for sources only: they can be refused. */
static int build(const struct opencl_context *g, cl_program program, const char *options, struct buf *log, struct err *err)
{
    cl_int result = libopencl.clBuildProgram(program, 1, &g->device, options, NULL, NULL);
    int rc = log ? take_log(g, program, log, err) : 0;
    if (!rc && log && result == CL_BUILD_PROGRAM_FAILURE)
        rc = err_set(err, ERR_INVALID, "the OpenCL compiler refuses the source");
    if (!rc && log && result == CL_INVALID_BUILD_OPTIONS)
        rc = err_set(err, ERR_INVALID, "the OpenCL compiler refuses an option");
    rc = rc ?: opencl_check(result, err, "clBuildProgram");
    if (rc)
        libopencl.clReleaseProgram(program);
    return rc;
}

/* On a processor assembler is the host's own: it could read any file (.incbin), or start a program. So its words are macros that do not
 * compile, and no line may change these. */
#define NO_ASSEMBLER "=no_assembler_on_a_processor"
static const char no_assembler[] = " -D__asm__" NO_ASSEMBLER " -D__asm" NO_ASSEMBLER " -Dasm" NO_ASSEMBLER;

static int check_macros(const char *source, struct err *err)
{
    struct text t = { .at = source };
    struct line l;
    int rc = 0;
    while (!rc && text_next(&t, &l)) {
        char name[12] = "";
        sscanf(l.words, "undef %11[a-z_]", name);
        sscanf(l.words, "define %11[a-z_]", name);
        if (!strcmp(name, "asm") || !strcmp(name, "__asm") || !strcmp(name, "__asm__"))
            rc = err_set(err, ERR_INVALID, "line %d: on a processor there is no assembler, and %s stays as it is", l.number, name);
    }
    return text_end(&t, rc, err);
}

/* Ours, and those of the source's head. */
static int list_options(const char *source, struct buf *out, struct err *err)
{
    struct head head;
    bool std = false;
    int rc = head_read(source, &head, err);
    for (int i = 0; !rc && i < head.noptions; i++) {
        rc = compile_option(&opencl_compiling, head.options[i], err);
        std = std || !strncmp(head.options[i], "-cl-std=", 8);
    }
    buf_fmt(out, "%s%s", std ? "" : USUAL_STD, USUAL_OPTIONS);
    for (int i = 0; !rc && i < head.noptions; i++)
        buf_fmt(out, " %s", head.options[i]);
    head_free(&head);
    return rc ?: buf_check(out, err);
}

int opencl_build(const struct opencl_context *g, const char *source, cl_program *out, struct buf *log, struct err *err)
{
    cl_int result = CL_SUCCESS;
    struct buf options = { 0 };
    int rc = list_options(source, &options, err);
    if (g->g.spec.shares_cores) {
        buf_str(&options, no_assembler);
        rc = rc ?: check_macros(source, err) ?: buf_check(&options, err);
    }
    if (!rc) {
        *out = libopencl.clCreateProgramWithSource(g->context, 1, &source, NULL, &result);
        rc = opencl_check(result, err, "clCreateProgramWithSource") ?: build(g, *out, options.data, log, err);
    }
    buf_free(&options);
    return rc;
}

/* ---- trial launches */

enum {
    SURELY_MAPPED = 64 << 20, /* bytes from which on an allocation is fresh pages, which are zero */
    ZONE = 64 << 10,          /* before and behind a buffer: a candidate may write there and do no harm */
    LARGE_GRID = 65535,       /* blocks in one dimension, from which on PoCL has other code */
};

/* PoCL compiles a kernel once more for each block shape, when it is first enqueued. A trial launch makes it do so here, and the
 * program binary carries the result. Its buffers are new for each job, so that no candidate meets what another left; on a CPU,
 * pages that no kernel touches cost nothing. */
struct trial {
    struct opencl_context *g;
    struct guest_code code;
    void *whole[GUEST_PARAMS], *inside[GUEST_PARAMS]; /* buffers by number */
};

static int trial_buffer(struct trial *t, int i, int64_t bytes, struct err *err)
{
    cl_int result = CL_SUCCESS;
    if (t->inside[i])
        return 0;
    int rc = opencl_buffer(t->g, bytes + 2 * ZONE, &t->whole[i], err);
    if (bytes < SURELY_MAPPED)
        rc = rc ?: opencl_fill(t->g, t->g->queue, t->whole[i], 0, bytes + 2 * ZONE, 0, err);
    if (rc)
        return rc;
    t->inside[i] = opencl_part(t->whole[i], ZONE, bytes, &result);
    return opencl_check(result, err, "clCreateSubBuffer");
}

/* Launches one block, on scratch buffers. If PoCL compiles the grid as a large one, it takes as many blocks as make it large. */
static int trial_launch(struct trial *t, const struct guest_launch *w, struct err *err)
{
    struct guest_launch l = *w;
    const struct guest_work work = { .nlaunches = 1, .launches = &l };
    struct guest *guest = (struct guest *)t->g;
    int rc = check_geometry(&guest->spec, &w->geometry, guest->spec.max_shared, err);
    for (int i = 0; i < w->nparams && !rc; i++)
        if (w->params[i].kind == GUEST_BUFFER)
            rc = trial_buffer(t, w->params[i].index, w->params[i].room, err);
    for (int i = 0; i < 3; i++)
        l.geometry.grid[i] = w->geometry.grid[i] >= LARGE_GRID ? LARGE_GRID : 1;
    return rc ?: guest_function(guest, &t->code, &l, NULL, err)
        ?: opencl_backend.launch(guest, NULL, &work, t->inside, NULL, err)
        ?: OPENCL(err, clFinish, t->g->queue);
}

static void trial_end(struct trial *t)
{
    for (int i = 0; i < GUEST_PARAMS; i++) {
        if (t->inside[i])
            libopencl.clReleaseMemObject(t->inside[i]);
        if (t->whole[i])
            libopencl.clReleaseMemObject(t->whole[i]);
    }
    opencl_backend.unload((struct guest *)t->g, &t->code);
    arena_free(t->code.arena);
}

/* ---- program binaries */

/* A driver's binary is only for the very driver and device that made it. */
static void identity(const struct devspec *spec, char out[IDENTITY])
{
    snprintf(out, IDENTITY, "%s, %s, %s", spec->arch, spec->name, spec->driver);
}

/* PoCL takes the program from its cache. Another process that builds the same one removes it there for a moment, and whoever asks for the
 * binary just then gets one without it, which takes the process down that loads it. */
static bool lacks_program(const struct opencl_context *g, const void *bytes, size_t size)
{
    static const char file[] = "/program.bc";
    return !strcmp(g->g.spec.arch, "pocl") && !memmem(bytes, size, file, sizeof file - 1);
}

static int put_binary(const struct opencl_context *g, cl_program program, struct buf *out, bool *whole, struct err *err)
{
    size_t size = 0;
    int rc = OPENCL(err, clGetProgramInfo, program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL);
    if (rc)
        return rc;
    if (!size)
        return err_set(err, ERR_UNSUPPORTED, "this OpenCL driver gives no program binary");
    unsigned char *bytes = mem_alloc(size);
    if (!bytes)
        return err_nomem(err);
    rc = OPENCL(err, clGetProgramInfo, program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL);
    if (!rc) {
        *whole = !lacks_program(g, bytes, size);
        char made_for[IDENTITY], hash[HASH_HEX];
        identity(&g->g.spec, made_for);
        hash_hex(bytes, size, hash);
        buf_put(out, magic, sizeof magic);
        buf_bytes(out, made_for, strlen(made_for));
        buf_lstr(out, hash);
        buf_bytes(out, bytes, size);
        rc = buf_check(out, err);
    }
    mem_free(bytes);
    return rc;
}

/* Takes the header apart. The program's bytes stay where they are. */
static int open_container(const struct opencl_context *g, const void *binary, size_t bytes, const unsigned char **program,
                          size_t *size, struct err *err)
{
    char own[IDENTITY], actual[HASH_HEX];
    size_t made_for_bytes, hash_bytes;
    if (bytes < sizeof magic || memcmp(binary, magic, sizeof magic))
        return err_set(err, ERR_INVALID, "%zu bytes that are no OpenCL program of cutune's", bytes);
    struct cursor in = cursor_on((const char *)binary + sizeof magic, bytes - sizeof magic);
    const char *made_for = get_bytes(&in, &made_for_bytes);
    const char *hash = get_lstr(&in, &hash_bytes);
    *program = get_bytes(&in, size);
    if (!in.bad)
        hash_hex(*program, *size, actual);
    if (in.bad || in.at != in.end || hash_bytes != HASH_HEX - 1 || memcmp(hash, actual, hash_bytes))
        return err_set(err, ERR_INVALID, "an OpenCL program of %zu bytes that is cut short or damaged", bytes);
    identity(&g->g.spec, own);
    if (strlen(own) == made_for_bytes && !memcmp(own, made_for, made_for_bytes))
        return 0;
    return err_set(err, ERR_INVALID, "an OpenCL program for %.*s; this device is %s",
                   made_for_bytes < IDENTITY ? (int)made_for_bytes : IDENTITY, made_for, own);
}

int opencl_program_load(const struct opencl_context *g, const void *binary, size_t bytes, struct guest_code *code, struct err *err)
{
    const unsigned char *image;
    size_t size;
    int rc = open_container(g, binary, bytes, &image, &size, err);
    if (rc)
        return rc;
    cl_int status = CL_SUCCESS, result = CL_SUCCESS;
    code->program = libopencl.clCreateProgramWithBinary(g->context, 1, &g->device, &size, &image, &status, &result);
    return opencl_check(result, err, "clCreateProgramWithBinary") ?: build(g, code->program, USUAL_STD USUAL_OPTIONS, NULL, err);
}

/* ---- the compiler */

static int ocl_compile(struct compiler *compiler, const struct compile_job *job, struct buf *binary, struct buf *portable,
                       struct buf *log, struct err *err)
{
    struct opencl_context *g = (struct opencl_context *)compiler;
    struct trial trial = { .g = g, .code.arena = arena_new() };
    (void)portable; /* drivers that take an intermediate form are too few */
    cl_program program = NULL;
    int rc = trial.code.arena ? opencl_build(g, job->source, &program, log, err) : err_nomem(err);
    if (rc) {
        arena_free(trial.code.arena);
        return rc;
    }
    trial.code.program = program;
    bool warms = g->g.spec.shares_cores && job->nlaunches > 0;
    if (warms && job->warming)
        job->warming(job->warming_arg);
    for (int i = 0; i < job->nlaunches && warms; i++) {
        /* What is refused here is refused again when it is launched to be measured; the binary is right without a trial launch. */
        struct err why = { 0 };
        if (trial_launch(&trial, &job->launches[i], &why))
            buf_fmt(log, "trial launch of %s: %s\n", job->launches[i].kernel, why.msg);
    }
    bool whole = true;
    rc = put_binary(g, program, binary, &whole, err);
    for (int i = 0; !rc && !whole && i < AGAIN; i++) {
        buf_clear(binary);
        rc = opencl_build(g, job->source, &program, NULL, err);
        if (!rc) {
            rc = put_binary(g, program, binary, &whole, err);
            libopencl.clReleaseProgram(program);
        }
    }
    trial_end(&trial);
    return rc;
}

/* What a trial launch leaves in the binary is for its block, and for a large grid or a small one. */
static void ocl_depends(const struct compiler *compiler, const struct compile_job *job, struct buf *out)
{
    bool warms = ((const struct guest *)compiler)->spec.shares_cores;
    for (int i = 0; i < job->nlaunches && warms; i++) {
        const struct guest_launch *l = &job->launches[i];
        buf_lstr(out, l->kernel);
        for (int d = 0; d < 3; d++) {
            buf_i64(out, l->geometry.block[d]);
            buf_u8(out, l->geometry.grid[d] >= LARGE_GRID);
        }
    }
}

static const struct native_type opencl_types[] = {
    { "i8", "char" },
    { "i16", "short" },
    { "i32", "int" },
    { "i64", "long" },
    { "u8", "uchar" },
    { "u16", "ushort" },
    { "u32", "uint" },
    { "u64", "ulong" },
    { "f16", "half" },
    { "bf16", "ushort" },
    { "f32", "float" },
    { "f64", "double" },
    { "f8e4m3", "uchar" },
    { "f8e5m2", "uchar" },
    { "c64", "float2" },
    { "c128", "double2" },
    { 0 },
};

static const struct option_hint opencl_hints[] = {
    { "-cl-std=", "CL1.1, CL1.2, CL2.0, CL3.0, CLC++, CLC++1.0 and CLC++2021 are the versions that there are" },
    { "-O", "it optimizes as it is" },
    { NULL, NULL },
};

/* C's functions of floats: OpenCL's work in the type of what they are given. */
#define FLOAT_1(f) #f "f", "#define " #f "f(x) " #f "((float)(x))\n"
#define FLOAT_2(f) #f "f", "#define " #f "f(x, y) " #f "((float)(x), (float)(y))\n"
#define FLOAT_3(f) #f "f", "#define " #f "f(x, y, z) " #f "((float)(x), (float)(y), (float)(z))\n"
static const struct word_line opencl_words[] = {
    { FLOAT_1(acos) },     { FLOAT_1(acosh) },     { FLOAT_1(asin) },  { FLOAT_1(asinh) },  { FLOAT_1(atan) },  { FLOAT_1(atanh) },
    { FLOAT_1(cbrt) },     { FLOAT_1(ceil) },      { FLOAT_1(cos) },   { FLOAT_1(cosh) },   { FLOAT_1(cospi) }, { FLOAT_1(erf) },
    { FLOAT_1(erfc) },     { FLOAT_1(exp) },       { FLOAT_1(exp10) }, { FLOAT_1(exp2) },   { FLOAT_1(expm1) }, { FLOAT_1(fabs) },
    { FLOAT_1(floor) },    { FLOAT_1(lgamma) },    { FLOAT_1(log) },   { FLOAT_1(log10) },  { FLOAT_1(log1p) }, { FLOAT_1(log2) },
    { FLOAT_1(rint) },     { FLOAT_1(round) },     { FLOAT_1(rsqrt) }, { FLOAT_1(sin) },    { FLOAT_1(sinh) },  { FLOAT_1(sinpi) },
    { FLOAT_1(sqrt) },     { FLOAT_1(tan) },       { FLOAT_1(tanh) },  { FLOAT_1(tgamma) }, { FLOAT_1(trunc) }, { FLOAT_2(atan2) },
    { FLOAT_2(copysign) }, { FLOAT_2(fdim) },      { FLOAT_2(fmax) },  { FLOAT_2(fmin) },   { FLOAT_2(fmod) },  { FLOAT_2(hypot) },
    { FLOAT_2(pow) },      { FLOAT_2(remainder) }, { FLOAT_3(fma) },   { NULL, NULL },
};

const struct backend_compiling opencl_compiling = {
    .language = "OpenCL C",
    .types = opencl_types,
    .prelude = "prelude_opencl.h",
    .functions = OPENCL_C_FUNCTIONS,
    .constant = "__constant",
    .words = opencl_words,
    .bare = true,
    .hints = opencl_hints,
    .options = "-cl-std=CL1.1 -cl-std=CL1.2 -cl-std=CL2.0 -cl-std=CL3.0 -cl-std=CLC++ -cl-std=CLC++1.0 -cl-std=CLC++2021 "
               "-cl-single-precision-constant -cl-denorms-are-zero -cl-fp32-correctly-rounded-divide-sqrt -cl-opt-disable "
               "-cl-strict-aliasing -cl-mad-enable -cl-no-signed-zeros -cl-unsafe-math-optimizations -cl-finite-math-only "
               "-cl-fast-relaxed-math -cl-uniform-work-group-size -cl-no-subgroup-ifp -cl-nv-maxrregcount= -cl-nv-opt-level= "
               "-cl-nv-verbose -D* -U* -w",
    .wanted = "an OpenCL driver such as PoCL",
    .open = ocl_compiler_open,
    .close = ocl_compiler_close,
    .compile = ocl_compile,
    .depends = ocl_depends,
    .name = ocl_compiler_name,
};
