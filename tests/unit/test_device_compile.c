/* Compiling for CUDA: needs NVRTC, no driver and no GPU. Also what the driver would be handed. */
#include "base/mem.h"
#include "base/util.h"
#include "device/cuda_part.h"
#include "device/device.h"
#include "unit.h"

static struct err err;
static struct compiler *compiler;

static struct compiler *nvrtc(void)
{
    if (!compiler)
        skip();
    return compiler;
}

static void dialect(struct buf *out)
{
    assert_int_equal(file_read(SOURCE_DIR "/templates/prelude_cuda.h", 1 << 20, out, &err), 0);
    buf_str(out,
            "#define T float\n#define T_bytes 4\n#define T_bits uint32\n#define T_is_float 1\n#define TILE 16\n#define ROWS 4\n"
            "#define GRID_xy 1\n#define GRID_x 2\n#define GRID GRID_x\n#define WITH_DOUBLE 1\n#define WITH_ATOMIC64 1\n");
    assert_int_equal(file_read(TESTS_DIR "/unit/dialect.cu", 1 << 20, out, &err), 0);
}

static void compile(const char *source, const char *arch, struct buf *binary)
{
    struct buf log = { 0 };
    int rc =
        cuda_backend.compiling->compile(nvrtc(), &(struct compile_job){ .source = source, .arch = arch }, binary, NULL, &log, &err);
    if (rc)
        fail_msg("%s\n%s", err.msg, buf_text(&log));
    buf_free(&log);
}

static void the_dialect_compiles(void **state)
{
    (void)state;
    nvrtc();
    struct buf source = { 0 }, binary = { 0 };
    bool ptx;
    dialect(&source);
    static const char *const cubins[] = { "sm_90", "sm_90a", NULL };
    for (int i = 0; i < 3; i++) {
        buf_clear(&binary);
        compile(source.data, cubins[i], &binary);
        assert_memory_equal(binary.data, "\177ELF", 4);
        assert_int_equal(cuda_image_check(binary.data, binary.len, NULL, &ptx, &err), 0);
        assert_false(ptx);
    }
    buf_clear(&binary);
    compile(source.data, "compute_75", &binary);
    assert_non_null(strstr(binary.data, ".target sm_75"));
    assert_int_equal(cuda_image_check(binary.data, binary.len, NULL, &ptx, &err), 0);
    assert_true(ptx);
    buf_free(&source);
    buf_free(&binary);
}

/* The same compilation gives PTX for the architecture, whatever else was asked for: a text. */
static void ptx_comes_beside_the_binary(void **state)
{
    (void)state;
    static const char *const archs[] = { "sm_75", "sm_90", "sm_90a", "compute_75" };
    static const char *const targets[] = { ".target sm_75\n", ".target sm_90\n", ".target sm_90a\n", ".target sm_75\n" };
    struct compiler *c = nvrtc();
    for (int i = 0; i < 4; i++) {
        struct buf binary = { 0 }, ptx = { 0 }, log = { 0 };
        const struct compile_job job = { .source = "extern \"C\" __global__ void f(int *p) { *p = 1; }\n", .arch = archs[i] };
        assert_int_equal(cuda_backend.compiling->compile(c, &job, &binary, &ptx, &log, &err), 0);
        assert_true(binary.len > 0 && ptx.len > 0);
        assert_int_equal(strlen(ptx.data), ptx.len);
        assert_non_null(strstr(ptx.data, targets[i]));
        assert_non_null(strstr(ptx.data, ".entry f("));
        if (i == 3) /* the binary is PTX itself: who stores both can tell */
            assert_memory_equal(binary.data, ptx.data, ptx.len);
        buf_free(&binary);
        buf_free(&ptx);
        buf_free(&log);
    }
}

static void a_compiler_has_a_name(void **state)
{
    (void)state;
    char name[COMPILER_NAME];
    cuda_backend.compiling->name(nvrtc(), name);
    assert_memory_equal(name, "NVRTC ", 6);
    assert_non_null(strchr(name, '.'));
}

/* More than any block may have: the source is right, and the message is ptxas's line. */
static void too_much_shared_memory_is_told_from_a_wrong_source(void **state)
{
    (void)state;
    struct compiler *c = nvrtc();
    struct buf binary = { 0 }, log = { 0 };
    const struct compile_job large = { .source = "extern \"C\" __global__ void k(float *p)\n"
                                                 "{\n"
                                                 "    __shared__ float all[50 << 10];\n"
                                                 "    all[threadIdx.x] = p[0];\n"
                                                 "    __syncthreads();\n"
                                                 "    p[threadIdx.x] = all[threadIdx.x * 7 % (50 << 10)];\n"
                                                 "}\n",
                                       .arch = "sm_90" };
    assert_int_equal(cuda_backend.compiling->compile(c, &large, &binary, NULL, &log, &err), ERR_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "uses too much shared data"));
    assert_int_equal(binary.len, 0);
    buf_free(&log);
}

static void errors_come_with_a_log(void **state)
{
    (void)state;
    struct compiler *c = nvrtc();
    struct buf binary = { 0 }, log = { 0 };
    const struct compile_job bad = { .source = "\n\nint f() { return nothing; }\n" };
    assert_int_equal(cuda_backend.compiling->compile(c, &bad, &binary, NULL, &log, &err), ERR_INVALID);
    assert_non_null(strstr(log.data, "kernel.cu(3): error"));
    assert_int_equal(strlen(log.data), log.len);
    assert_int_equal(binary.len, 0);
    buf_free(&log);
    static const char *const archs[] = { "", "90", "sm_", "sm_9", "sm_9000", "sm_90 --x", "sm_90aa", "compute_x" };
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        const struct compile_job job = { .source = "", .arch = archs[i] };
        assert_int_equal(cuda_backend.compiling->compile(c, &job, &binary, NULL, &log, &err), ERR_INVALID);
        assert_non_null(strstr(err.msg, archs[i]));
    }
    const struct compile_job unknown = { .source = "", .arch = "sm_999" };
    assert_int_equal(cuda_backend.compiling->compile(c, &unknown, &binary, NULL, &log, &err), ERR_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "sm_999"));
    buf_free(&log);
    buf_free(&binary);
}

static void an_older_compiler_gives_ptx(void **state)
{
    (void)state;
    nvrtc();
    struct compiler *c;
    struct buf binary = { 0 }, log = { 0 };
    assert_int_equal(cuda_backend.compiling->open(&(struct devspec){ .cc = 999 }, &c, &err), 0);
    const struct compile_job job = { .source = "extern \"C\" __global__ void f() {}\n" };
    assert_int_equal(cuda_backend.compiling->compile(c, &job, &binary, NULL, &log, &err), 0);
    assert_non_null(strstr(binary.data, ".entry f"));
    cuda_backend.compiling->close(c);
    assert_int_equal(cuda_backend.compiling->open(&(struct devspec){ .cc = 10 }, &c, &err), ERR_UNSUPPORTED);
    buf_free(&binary);
    buf_free(&log);
}

/* Every allocation of ours may fail. */
static void memory_runs_out(void **state)
{
    (void)state;
    nvrtc();
    const struct compile_job job = { .source = "extern \"C\" __global__ void f() {}\n", .arch = "compute_75" };
    int rc = ERR_NOMEM;
    for (long nth = 0; rc; nth++) {
        struct compiler *c = NULL;
        struct buf binary = { 0 }, log = { 0 };
        mem_fail_at(nth);
        rc = cuda_backend.compiling->open(&(struct devspec){ .cc = 90 }, &c, &err)
                 ?: cuda_backend.compiling->compile(c, &job, &binary, NULL, &log, &err);
        mem_fail_at(-1);
        assert_true(rc == 0 || rc == ERR_NOMEM);
        cuda_backend.compiling->close(c);
        buf_free(&binary);
        buf_free(&log);
    }
}

/* A cubin cut anywhere, or with a header that points past its end, never reaches the driver. */
static void images_are_checked(void **state)
{
    (void)state;
    bool ptx;
    assert_int_equal(cuda_image_check("", 0, NULL, &ptx, &err), ERR_INVALID);
    assert_int_equal(cuda_image_check("\177ELF", 4, NULL, &ptx, &err), ERR_INVALID);
    assert_int_equal(cuda_image_check("no version", 10, NULL, &ptx, &err), ERR_INVALID);
    assert_int_equal(cuda_image_check(".version 7.0\0.target", 20, NULL, &ptx, &err), ERR_INVALID);
    assert_int_equal(cuda_image_check(".version 7.0\n", 14, NULL, &ptx, &err), 0); /* with its zero byte */
    nvrtc();
    struct buf binary = { 0 };
    compile("extern \"C\" __global__ void f(int *p) { *p = 1; }\n", "sm_90", &binary);
    for (size_t cut = 1; cut < binary.len; cut++) {
        char *copy = malloc(cut); /* so that a sanitizer sees a read past its end */
        memcpy(copy, binary.data, cut);
        int rc = cuda_image_check(copy, cut, NULL, &ptx, &err);
        free(copy);
        assert_int_equal(rc, ERR_INVALID);
    }
    for (size_t at = 0; at < 64; at++)
        for (int flip = 1; flip < 256; flip <<= 1) {
            char *copy = malloc(binary.len);
            memcpy(copy, binary.data, binary.len);
            copy[at] ^= (char)flip;
            cuda_image_check(copy, binary.len, NULL, &ptx, &err);
            free(copy);
        }
    buf_free(&binary);
}

static int open_nvrtc(void **state)
{
    (void)state;
    if (cuda_backend.compiling->open(&(struct devspec){ .cc = 90 }, &compiler, &err))
        print_message("NVRTC is not here, its tests are skipped: %s\n", err.msg);
    return 0;
}

static int close_nvrtc(void **state)
{
    (void)state;
    cuda_backend.compiling->close(compiler);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_dialect_compiles),
        cmocka_unit_test(errors_come_with_a_log),
        cmocka_unit_test(too_much_shared_memory_is_told_from_a_wrong_source),
        cmocka_unit_test(ptx_comes_beside_the_binary),
        cmocka_unit_test(a_compiler_has_a_name),
        cmocka_unit_test(an_older_compiler_gives_ptx),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(images_are_checked),
    };
    return cmocka_run_group_tests(tests, open_nvrtc, close_nvrtc);
}
