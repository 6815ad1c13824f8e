/* The conversions of narrow types compile for every architecture, and use the instructions that it has. NVRTC only: no GPU. What they give
 * is check_numbers's to see. And how far results in 8 bits may be off. */
#include "base/util.h"
#include "device/cuda_part.h"
#include "device/device.h"
#include "measure/tolerance.h"
#include "model/include.h"
#include "source/source.h"
#include "unit.h"

static struct err err;

static const char *const types[] = { "f16", "bf16", "f8e4m3", "f8e5m2" };

static const char kernel[] = "KERNEL void both(GLOBAL T *out, GLOBAL const T *in, float by)\n"
                             "{\n"
                             "    T_put(out, threadIdx.x, by * T_get(in, threadIdx.x));\n"
                             "}\n";

static void source_of(const char *type, struct buf *out)
{
    static const char *const files[] = { SOURCE_DIR "/templates/prelude_cuda.h", SOURCE_DIR "/templates/" NUMBERS };
    for (int i = 0; i < 2; i++)
        assert_int_equal(file_read(files[i], 1 << 20, out, &err), 0);
    source_define_type(out, "T", dtype_find(type));
    source_define_numbers(out, "T", dtype_find(type));
    buf_str(out, kernel);
    assert_int_equal(buf_check(out, &err), 0);
}

static const struct {
    const char *arch, *has[4], *has_not[4];
} archs[] = {
    { "sm_70", { "cvt.f32.f16", "cvt.rn.f16.f32" }, { "cvt.rn.bf16", "e4m3x2" } },
    { "sm_75", { "cvt.f32.f16", "cvt.rn.f16.f32" }, { "cvt.rn.bf16", "e4m3x2" } },
    { "sm_80", { "cvt.f32.f16", "cvt.rn.f16.f32", "cvt.rn.bf16.f32" }, { "e4m3x2" } },
    { "sm_89", { "cvt.rn.bf16.f32", "cvt.rn.satfinite.e4m3x2.f32", "cvt.rn.satfinite.e5m2x2.f32" }, { NULL } },
    { "sm_90", { "cvt.rn.bf16.f32", "cvt.rn.satfinite.e4m3x2.f32", "cvt.rn.satfinite.e5m2x2.f32" }, { NULL } },
    { "sm_100", { "cvt.rn.bf16.f32", "cvt.rn.satfinite.e4m3x2.f32", "cvt.rn.satfinite.e5m2x2.f32" }, { NULL } },
};

/* The PTX of all types, without a warning. False if this NVRTC does not know the architecture. */
static bool ptx_of(struct compiler *c, const char *arch, struct buf *out)
{
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        struct buf source = { 0 }, binary = { 0 }, ptx = { 0 }, log = { 0 };
        source_of(types[k], &source);
        err = (struct err){ 0 };
        int rc = cuda_backend.compiling->compile(c, &(struct compile_job){ .source = source.data, .arch = arch }, &binary, &ptx,
                                                 &log, &err);
        if (rc != ERR_UNSUPPORTED && (rc || log.len))
            fail_msg("%s %s: %s\n%s", arch, types[k], err.msg, buf_text(&log));
        buf_str(out, buf_text(&ptx));
        buf_free(&source);
        buf_free(&binary);
        buf_free(&ptx);
        buf_free(&log);
        if (rc)
            return false;
    }
    return true;
}

static void nvrtc_takes_it_for_every_architecture(void **state)
{
    (void)state;
    struct compiler *c;
    const struct devspec sm_90 = { .backend = "cuda", .cc = 90 };
    int rc = cuda_backend.compiling->open(&sm_90, &c, &err), n = 0;
    if (rc == ERR_UNSUPPORTED)
        skip();
    assert_int_equal(rc, 0);
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        struct buf ptx = { 0 };
        if (!ptx_of(c, archs[i].arch, &ptx)) {
            print_message("this NVRTC does not know %s\n", archs[i].arch);
            buf_free(&ptx);
            continue;
        }
        n++;
        for (int k = 0; k < 4 && archs[i].has[k]; k++)
            if (!strstr(buf_text(&ptx), archs[i].has[k]))
                fail_msg("%s: no %s", archs[i].arch, archs[i].has[k]);
        for (int k = 0; k < 4 && archs[i].has_not[k]; k++)
            if (strstr(buf_text(&ptx), archs[i].has_not[k]))
                fail_msg("%s: has %s", archs[i].arch, archs[i].has_not[k]);
        buf_free(&ptx);
    }
    assert_true(n > 0);
    cuda_backend.compiling->close(c);
}

/* Two steps of a number are allowed, and where large terms cancel no more than what sums in f32 err by. */
static void f8_may_be_two_steps_off(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        double want, right, wrong;
    } cases[] = {
        { "f8e4m3", 1, 1.25, 1.375 }, { "f8e4m3", 0.015625, 0.01953125, 0.025390625 },
        { "f8e5m2", 1, 1.5, 1.75 },   { "f8e5m2", 0.25, 0.375, 1 },
        { "f8e5m2", 1, 0.5, 0.4375 },
    };
    const struct bounds check = { .kind = CHECK_CLOSE, .length = 1, .rtol = -1, .atol = -1 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tolerance tol = tolerance_of(&check, dtype_find(cases[i].type), 2, 2, 100000);
        assert_true(tolerance_share(&tol, cases[i].right, cases[i].want) <= 1);
        assert_true(tolerance_share(&tol, cases[i].wrong, cases[i].want) > 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nvrtc_takes_it_for_every_architecture),
        cmocka_unit_test(f8_may_be_two_steps_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
