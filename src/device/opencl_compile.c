/* Compiling OpenCL C through the device's own driver. A program travels as a small header and the driver's program binary. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/util.h"
#include "device/opencl_names.h"
#include "device/opencl_part.h"

static const char magic[8] = "cutuneCL";
static const char build_options[] = "-cl-std=CL1.2 -w -cl-kernel-arg-info";
enum { LARGE_GRID = 65535 }; /* blocks in one dimension, from which on PoCL has other code */

/* PoCL compiles a kernel once more for each block shape, when it is first enqueued. A trial launch makes it do so here, and the
 * program binary carries the result. Its buffers are new for each job, so that no candidate meets what another left; on a CPU,
 * pages that no kernel touches cost nothing. */
struct opencl_compiler {
    struct opencl_session s;
};

static int ocl_compiler_open(const struct devspec *spec, struct compiler **out, struct err *err)
{
    struct opencl_compiler *c = mem_zalloc(sizeof *c);
    if (!c)
        return err_nomem(err);
    int rc = opencl_session_open(spec, 0, &c->s, err);
    if (rc)
        mem_free(c);
    else
        *out = (struct compiler *)c;
    return rc;
}

static void ocl_compiler_close(struct compiler *c)
{
    if (c)
        opencl_session_close(&((struct opencl_compiler *)c)->s);
    mem_free(c);
}

static void ocl_compiler_name(const struct compiler *c, char out[COMPILER_NAME])
{
    snprintf(out, COMPILER_NAME, "%s", ((const struct opencl_compiler *)c)->s.spec.driver);
}

/* A driver's binary is only for the very driver and device that made it. */
static void put_identity(struct buf *out, const struct devspec *spec)
{
    buf_fmt(out, "%s, %s, %s", spec->arch, spec->name, spec->driver);
}

static int take_log(const struct opencl_session *s, cl_program program, struct buf *log, struct err *err)
{
    size_t size = 0;
    if (s->cl->clGetProgramBuildInfo(program, s->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS || size < 2)
        return 0; /* no log, or an empty one */
    char *text = mem_zalloc(size + 1);
    if (!text)
        return err_nomem(err);
    if (s->cl->clGetProgramBuildInfo(program, s->device, CL_PROGRAM_BUILD_LOG, size, text, NULL) == CL_SUCCESS)
        buf_put(log, text, strnlen(text, size < MAX_LOG ? size : MAX_LOG));
    mem_free(text);
    return buf_check(log, err);
}

int opencl_build(const struct opencl_session *s, const char *source, cl_program *out, struct buf *log, struct err *err)
{
    cl_int result = CL_SUCCESS;
    cl_program program = s->cl->clCreateProgramWithSource(s->context, 1, &source, NULL, &result);
    int rc = opencl_check(result, err, "clCreateProgramWithSource");
    if (rc)
        return rc;
    result = s->cl->clBuildProgram(program, 1, &s->device, build_options, NULL, NULL);
    rc = take_log(s, program, log, err);
    if (!rc && result == CL_BUILD_PROGRAM_FAILURE)
        rc = err_set(err, ERR_INVALID, "the OpenCL compiler refuses the source");
    else if (!rc)
        rc = opencl_check(result, err, "clBuildProgram");
    if (rc)
        s->cl->clReleaseProgram(program);
    else
        *out = program;
    return rc;
}

enum {
    SURELY_MAPPED = 64 << 20, /* bytes from which on an allocation is fresh pages, which are zero */
    ZONE = 64 << 10,          /* before and behind a buffer: a candidate may write there and do no harm */
};

struct scratch {
    cl_mem whole, inside;
};

static int scratch_make(struct opencl_compiler *c, int64_t bytes, struct scratch *out, struct err *err)
{
    const unsigned char zero = 0;
    if (out->inside)
        return 0;
    int rc = opencl_buffer(&c->s, bytes + 2 * ZONE, &out->whole, err);
    if (!rc && bytes < SURELY_MAPPED)
        rc =
            opencl_check(c->s.cl->clEnqueueFillBuffer(c->s.queue, out->whole, &zero, 1, 0, (size_t)bytes + 2 * ZONE, 0, NULL, NULL),
                         err, "clEnqueueFillBuffer");
    if (rc)
        return rc;
    cl_buffer_region region = { .origin = ZONE, .size = (size_t)bytes };
    cl_int result = CL_SUCCESS;
    out->inside = c->s.cl->clCreateSubBuffer(out->whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &result);
    return opencl_check(result, err, "clCreateSubBuffer");
}

static void scratch_free(struct opencl_compiler *c, struct scratch *s)
{
    if (s->inside)
        c->s.cl->clReleaseMemObject(s->inside);
    if (s->whole)
        c->s.cl->clReleaseMemObject(s->whole);
}

/* The launch's arguments: its scratch buffers are made. */
static int try_args(struct opencl_compiler *c, const struct warm_launch *w, struct scratch scratch[MAX_KARGS],
                    struct opencl_arg args[MAX_KARGS], struct err *err)
{
    int rc = 0;
    for (int i = 0; i < w->nargs && !rc; i++) {
        args[i] = (struct opencl_arg){ w->args[i].bytes, (size_t)w->args[i].size };
        if (w->buffer_bytes[i] <= 0) {
            rc = check_scalar(i, w->args[i].size, err);
        } else if (w->buffer[i] < 0 || w->buffer[i] >= MAX_KARGS) {
            rc = err_set(err, ERR_INVALID, "buffer number %d", w->buffer[i]);
        } else {
            struct scratch *s = &scratch[w->buffer[i]];
            rc = scratch_make(c, w->buffer_bytes[i], s, err);
            args[i] = (struct opencl_arg){ &s->inside, sizeof s->inside };
        }
    }
    return rc;
}

/* One block of the launch, on scratch buffers; of a grid that PoCL compiles as a large one, as many as make it large. */
static int try_launch(struct opencl_compiler *c, cl_program program, const struct warm_launch *w, struct scratch scratch[MAX_KARGS],
                      struct err *err)
{
    struct opencl_arg args[MAX_KARGS];
    int rc = check_launch(&c->s.spec, &w->geometry, c->s.spec.max_shared, NULL, 0, err);
    if (!rc && (w->nargs < 0 || w->nargs > MAX_KARGS))
        rc = err_set(err, ERR_INVALID, "%d kernel arguments: at most %d are possible", w->nargs, MAX_KARGS);
    rc = rc ?: try_args(c, w, scratch, args, err);
    if (rc)
        return rc;
    cl_int result = CL_SUCCESS;
    cl_kernel kernel = c->s.cl->clCreateKernel(program, w->kernel, &result);
    rc = opencl_check(result, err, "clCreateKernel");
    if (rc)
        return rc;
    cl_ulong local = 0; /* PoCL would abort */
    c->s.cl->clGetKernelWorkGroupInfo(kernel, c->s.device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    if (local > (cl_ulong)(c->s.spec.max_shared - w->geometry.shared))
        rc = err_set(err, ERR_UNSUPPORTED, "%s: %llu bytes of shared memory", w->kernel, (unsigned long long)local);
    unsigned blocks[3], block[3];
    for (int i = 0; i < 3; i++) {
        blocks[i] = w->geometry.grid[i] >= LARGE_GRID ? LARGE_GRID : 1;
        block[i] = (unsigned)w->geometry.block[i];
    }
    rc = rc
        ?: opencl_set_args(&c->s, kernel, args, w->nargs, w->geometry.shared, err)
        ?: opencl_enqueue(&c->s, kernel, blocks, block, err)
        ?: opencl_check(c->s.cl->clFinish(c->s.queue), err, "clFinish");
    c->s.cl->clReleaseKernel(kernel);
    return rc;
}

static int put_binary(const struct opencl_session *s, cl_program program, struct buf *out, struct err *err)
{
    size_t size = 0;
    int rc =
        opencl_check(s->cl->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL), err, "clGetProgramInfo");
    if (rc)
        return rc;
    if (!size)
        return err_set(err, ERR_UNSUPPORTED, "this OpenCL driver gives no program binary");
    unsigned char *bytes = mem_alloc(size);
    if (!bytes)
        return err_nomem(err);
    rc = opencl_check(s->cl->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL), err, "clGetProgramInfo");
    if (!rc) {
        struct buf identity = { 0 };
        char hash[HASH_HEX];
        put_identity(&identity, &s->spec);
        hash_hex(bytes, size, hash);
        buf_put(out, magic, sizeof magic);
        buf_bytes(out, identity.data, identity.len);
        buf_lstr(out, hash);
        buf_bytes(out, bytes, size);
        if (out->failed || identity.failed)
            rc = err_nomem(err);
        buf_free(&identity);
    }
    mem_free(bytes);
    return rc;
}

static int ocl_compile(struct compiler *compiler, const struct compile_job *job, struct buf *binary, struct buf *portable,
                       struct buf *log, struct err *err)
{
    struct opencl_compiler *c = (struct opencl_compiler *)compiler;
    (void)portable; /* drivers that take an intermediate form are too few */
    cl_program program;
    int rc = opencl_build(&c->s, job->source, &program, log, err);
    if (rc)
        return rc;
    bool warms = c->s.spec.shares_cores && job->nlaunches > 0;
    if (warms && job->warming)
        job->warming(job->warming_arg);
    struct scratch scratch[MAX_KARGS] = { 0 };
    for (int i = 0; i < job->nlaunches && warms; i++) {
        /* What is refused here is refused again when it is launched to be measured; the binary is right without a trial launch. */
        struct err why = { 0 };
        if (try_launch(c, program, &job->launches[i], scratch, &why))
            buf_fmt(log, "trial launch of %s: %s\n", job->launches[i].kernel, why.msg);
    }
    for (int i = 0; i < MAX_KARGS; i++)
        scratch_free(c, &scratch[i]);
    rc = put_binary(&c->s, program, binary, err);
    c->s.cl->clReleaseProgram(program);
    return rc;
}

const struct backend_compiling opencl_compiling = {
    .language = "OpenCL C",
    .prelude = "prelude_opencl.h",
    .functions = opencl_functions,
    .bare = true,
    .wanted = "an OpenCL driver such as PoCL",
    .open = ocl_compiler_open,
    .close = ocl_compiler_close,
    .compile = ocl_compile,
    .name = ocl_compiler_name,
};

/* Takes the header apart; the program's bytes are borrowed. */
static int open_container(const struct opencl_session *s, const void *binary, size_t bytes, const void **program, size_t *size,
                          struct err *err)
{
    if (bytes < sizeof magic || memcmp(binary, magic, sizeof magic) != 0)
        return err_set(err, ERR_INVALID, "%zu bytes that are no OpenCL program of cutune's", bytes);
    struct cursor in = cursor_on((const char *)binary + sizeof magic, bytes - sizeof magic);
    size_t identity_bytes, hash_bytes;
    const char *identity = get_bytes(&in, &identity_bytes);
    const char *hash = get_lstr(&in, &hash_bytes);
    *program = get_bytes(&in, size);
    char actual[HASH_HEX];
    if (!in.bad)
        hash_hex(*program, *size, actual);
    if (in.bad || in.at != in.end || hash_bytes != HASH_HEX - 1 || memcmp(hash, actual, hash_bytes) != 0)
        return err_set(err, ERR_INVALID, "an OpenCL program of %zu bytes that is cut short or damaged", bytes);
    struct buf own = { 0 };
    put_identity(&own, &s->spec);
    int rc = 0;
    if (own.failed)
        rc = err_nomem(err);
    else if (own.len != identity_bytes || memcmp(own.data, identity, identity_bytes) != 0)
        rc = err_set(err, ERR_INVALID, "an OpenCL program for %.*s; this device is %s",
                     identity_bytes < 300 ? (int)identity_bytes : 300, identity, own.data);
    buf_free(&own);
    return rc;
}

int opencl_program_load(const struct opencl_session *s, const void *binary, size_t bytes, cl_program *out, struct err *err)
{
    const void *program_bytes = NULL;
    size_t size = 0;
    int rc = open_container(s, binary, bytes, &program_bytes, &size, err);
    if (rc)
        return rc;
    const unsigned char *image = program_bytes;
    cl_int status = CL_SUCCESS, result = CL_SUCCESS;
    cl_program program = s->cl->clCreateProgramWithBinary(s->context, 1, &s->device, &size, &image, &status, &result);
    rc = opencl_check(result, err, "clCreateProgramWithBinary");
    if (rc)
        return rc;
    rc = opencl_check(s->cl->clBuildProgram(program, 1, &s->device, build_options, NULL, NULL), err, "clBuildProgram");
    if (rc)
        s->cl->clReleaseProgram(program);
    else
        *out = program;
    return rc;
}
