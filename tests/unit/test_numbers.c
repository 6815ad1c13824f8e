/* Narrow types as numbers: every element and very many floats, converted by templates/numbers.h on each device that is here, and by the
 * host, against a search of the nearest among all numbers of the type. CUTUNE_HOME says where the templates are; without it, this
 * source tree. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "device/cuda_part.h"
#include "device/device.h"
#include "model/include.h"
#include "source/source.h"

#define OK(call)                                                                                                                   \
    do {                                                                                                                           \
        err = (struct err){ 0 };                                                                                                   \
        if (call)                                                                                                                  \
            fail_msg("%s: %s", #call, err.msg);                                                                                    \
    } while (0)

static struct err err;

/* -- the truth */

/* A type's formula, as the standards have it; of f8e4m3 that of the Open Compute Project. */
static const struct format {
    const char *name;
    int bits, fraction, bias;
    bool saturates; /* too large a number becomes the largest, and not infinity */
    uint32_t most;  /* the largest */
} formats[] = {
    { "f16", 16, 10, 15, false, 0x7bff },
    { "bf16", 16, 7, 127, false, 0x7f7f },
    { "f8e4m3", 8, 3, 7, true, 0x7e },
    { "f8e5m2", 8, 2, 15, true, 0x7b },
};

static float value(const struct format *f, uint32_t x)
{
    uint32_t size = x & ((1u << (f->bits - 1)) - 1), exponent = size >> f->fraction, fraction = size & ((1u << f->fraction) - 1);
    uint32_t last = (1u << (f->bits - 1 - f->fraction)) - 1;
    float v = ldexpf((float)(fraction + (exponent ? 1u << f->fraction : 0)), (int)(exponent ?: 1) - f->bias - f->fraction);
    if (!strcmp(f->name, "f8e4m3") ? size == 0x7f : exponent == last)
        v = strcmp(f->name, "f8e4m3") && !fraction ? INFINITY : NAN;
    return x >> (f->bits - 1) ? -v : v;
}

static uint32_t bits_of(float v)
{
    uint32_t u;
    memcpy(&u, &v, sizeof u);
    return u;
}

static bool same(float a, float b)
{
    return bits_of(a) == bits_of(b) || (isnan(a) && isnan(b));
}

/* The elements of positive numbers stand in the order of the numbers: the nearest is one of two neighbours. Of a number that is none
 * the answer is that of any NaN. */
static uint32_t nearest(const struct format *f, float v)
{
    uint32_t sign = signbit(v) ? 1u << (f->bits - 1) : 0, low = 0, high = f->most;
    double size = fabs((double)v), largest = (double)value(f, f->most), step = largest - (double)value(f, f->most - 1);
    if (size >= largest)
        return sign | (f->saturates || size < largest + step / 2 ? f->most : f->most + 1);
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if ((double)value(f, middle) <= size)
            low = middle;
        else
            high = middle;
    }
    double below = size - (double)value(f, low), above = (double)value(f, high) - size;
    return sign | (below < above || (below == above && low % 2 == 0) ? low : high);
}

/* -- numbers to try */

enum { RANDOM = 400000, MOST = RANDOM + 6 * 65536 + 16 };

static float from_bits(uint32_t u)
{
    float v;
    memcpy(&v, &u, sizeof v);
    return v;
}

/* Every number of the type; the middle between it and the next, and what lies a step beside that; any floats, and more of the size
 * of the type's numbers. */
static int floats_of(const struct format *f, float *out)
{
    int n = 0;
    for (uint32_t x = 0; x < 1u << f->bits; x++) {
        float v = value(f, x), next = value(f, x + 1);
        if (!isfinite(v))
            continue;
        out[n++] = v;
        if (x + 1 == 1u << (f->bits - 1) || x + 1 == 1u << f->bits || !isfinite(next))
            next = v + (v - value(f, x - 1)); /* past the largest */
        float middle = (float)(((double)v + (double)next) / 2);
        out[n++] = middle;
        out[n++] = nextafterf(middle, INFINITY);
        out[n++] = nextafterf(middle, -INFINITY);
    }
    static const float ends[] = { INFINITY, -INFINITY, NAN, FLT_MAX, -FLT_MAX, FLT_MIN, -FLT_MIN, 0x1p-149f, -0x1p-149f };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        out[n++] = ends[i];
    for (int i = 0; i < RANDOM; i++) {
        uint64_t r = rand_at(5, (uint64_t)i);
        float v = from_bits((uint32_t)r);
        if (i % 2)
            v = ldexpf((float)(int32_t)r, (int)(r >> 40) % (2 * f->bias + f->fraction) - f->bias - f->fraction - 30);
        out[n++] = v;
    }
    assert_true(n <= MOST);
    return n;
}

/* -- the host */

static void the_host_converts(void **state)
{
    (void)state;
    float *v = malloc(MOST * sizeof *v);
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        const struct format *f = &formats[k];
        const struct dtype *t = dtype_find(f->name);
        assert_true(t && dtype_narrow(t) && t->bytes * 8 == f->bits && t->eps == ldexp(1, -f->fraction - 1));
        for (uint32_t x = 0; x < 1u << f->bits; x++) {
            double d = 0;
            assert_true(number_get(t, (unsigned char *)&x, &d) && same((float)d, value(f, x)));
        }
        int n = floats_of(f, v);
        for (int i = 0; i < n; i++) {
            uint32_t x = 0, want = isnan(v[i]) ? 0 : nearest(f, v[i]);
            bool fits = number_put(t, (double)v[i], (unsigned char *)&x), small = fabsf(v[i]) <= value(f, f->most);
            if (small ? !fits || x != want : fits && (x != want || !isfinite(value(f, want))))
                fail_msg("%s: %a gives %#x, and should %#x", f->name, (double)v[i], x, want);
        }
    }
    free(v);
}

/* -- devices */

static const char kernels[] = "KERNEL void widens(GLOBAL float *out, GLOBAL const T *in, int64 n)\n"
                              "{\n"
                              "    __shared__ T line[64];\n" /* through a pointer to other memory, too */
                              "    int64 i = (int64)blockIdx.x * 64 + threadIdx.x;\n"
                              "    if (i < n) {\n"
                              "        line[threadIdx.x] = in[i];\n"
                              "        T_acc a = T_get(in, i), b = T_get(line, threadIdx.x);\n"
                              "        out[i] = a == b || a != a ? a : 1234.5f;\n"
                              "    }\n"
                              "}\n"
                              "KERNEL void narrows(GLOBAL T *out, GLOBAL const float *in, int64 n)\n"
                              "{\n"
                              "    int64 i = (int64)blockIdx.x * 64 + threadIdx.x;\n"
                              "    if (i < n)\n"
                              "        T_put(out, i, in[i]);\n"
                              "}\n";

static void source_of(const struct backend *be, const char *type, struct buf *out)
{
    char path[4096];
    const char *home = getenv("CUTUNE_HOME") ?: SOURCE_DIR, *files[] = { be->compiling->prelude, NUMBERS };
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/templates/%s", home, files[i]);
        OK(file_read(path, 1 << 20, out, &err));
    }
    source_define_type(out, "T", dtype_find(type));
    source_define_numbers(out, "T", dtype_find(type));
    buf_str(out, kernels);
    OK(buf_check(out, &err));
}

struct fixture {
    const char *word, *arch; /* null: the device's own */
    const struct backend *be;
    struct devspec spec;
    struct device *dev;
};

static struct guest_code *load(struct fixture *f, const char *type)
{
    struct compiler *c;
    struct buf source = { 0 }, binary = { 0 }, log = { 0 };
    struct guest_code *m;
    source_of(f->be, type, &source);
    OK(f->be->compiling->open(&f->spec, &c, &err));
    if (f->be->compiling->compile(c, &(struct compile_job){ .source = source.data, .arch = f->arch }, &binary, NULL, &log, &err))
        fail_msg("compile: %s\n%s", err.msg, buf_text(&log));
    OK(device_load(f->dev, binary.data, binary.len, &m, &err));
    f->be->compiling->close(c);
    buf_free(&source);
    buf_free(&binary);
    buf_free(&log);
    return m;
}

static void launch(struct fixture *f, struct guest_code *m, const char *name, void *out, int out_size, const void *in, int in_size,
                   int64_t n)
{
    struct kernel *k;
    struct memory *to, *from;
    OK(device_kernel(f->dev, m, name, 0, &k, NULL, &err));
    OK(device_alloc(f->dev, n * out_size, &to, &err));
    OK(device_alloc(f->dev, n * in_size, &from, &err));
    OK(device_write(f->dev, from, 0, in, n * in_size, &err));
    struct geometry g = { .grid = { (n + 63) / 64, 1, 1 }, .block = { 64, 1, 1 } };
    struct karg args[] = { { .memory = to }, { .memory = from }, { .size = 8 } };
    memcpy(args[2].bytes, &n, 8);
    OK(device_launch(f->dev, k, &g, args, 3, &err));
    OK(device_sync(f->dev, &err));
    OK(device_read(f->dev, out, to, 0, n * out_size, &err));
    device_free(f->dev, to);
    device_free(f->dev, from);
}

static void a_device_converts(void **state)
{
    struct fixture *dev = *state;
    if (!dev->be)
        skip();
    float *v = malloc(MOST * sizeof *v), *wide = malloc(65536 * sizeof *wide);
    unsigned char *all = malloc(65536 * 2), *got = malloc(MOST * 2);
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        const struct format *f = &formats[k];
        int bytes = f->bits / 8, n = 1 << f->bits;
        struct guest_code *m = load(dev, f->name);
        for (int x = 0; x < n; x++)
            memcpy(all + x * bytes, &x, (size_t)bytes);
        launch(dev, m, "widens", wide, 4, all, bytes, n);
        for (uint32_t x = 0; x < (uint32_t)n; x++)
            if (!same(wide[x], value(f, x)))
                fail_msg("%s: %#x gives %a, and should %a", f->name, x, (double)wide[x], (double)value(f, x));
        n = floats_of(f, v);
        launch(dev, m, "narrows", got, bytes, v, 4, n);
        for (int i = 0; i < n; i++) {
            uint32_t x = 0;
            memcpy(&x, got + i * bytes, (size_t)bytes);
            if (isnan(v[i]) ? !isnan(value(f, x)) : x != nearest(f, v[i]))
                fail_msg("%s: %a gives %#x, and should %#x", f->name, (double)v[i], x, nearest(f, v[i]));
        }
        print_message("%s: %d elements, %d floats\n", f->name, 1 << f->bits, n);
        device_unload(dev->dev, m);
    }
    free(v);
    free(wide);
    free(all);
    free(got);
}

/* -- NVRTC: each architecture has the instructions that it can have. */

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
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        struct buf source = { 0 }, binary = { 0 }, ptx = { 0 }, log = { 0 };
        source_of(&cuda_backend, formats[k].name, &source);
        err = (struct err){ 0 };
        int rc = cuda_backend.compiling->compile(c, &(struct compile_job){ .source = source.data, .arch = arch }, &binary, &ptx,
                                                 &log, &err);
        if (rc != ERR_UNSUPPORTED && (rc || log.len))
            fail_msg("%s %s: %s\n%s", arch, formats[k].name, err.msg, buf_text(&log));
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

static struct fixture cuda = { .word = "cuda" }, cuda_old = { .word = "cuda", .arch = "compute_75" }, opencl = { .word = "opencl" };

static int open_fixture(struct fixture *f)
{
    err = (struct err){ 0 };
    if (device_find(f->word, &f->spec, &err)) {
        print_message("no %s device here: %s\n", f->word, err.msg);
        return 0;
    }
    f->be = backend_find(f->spec.backend);
    return device_open(&f->spec, &f->dev, &err);
}

static int open_both(void **state)
{
    (void)state;
    return open_fixture(&cuda) || open_fixture(&cuda_old) || open_fixture(&opencl);
}

static int close_both(void **state)
{
    (void)state;
    struct fixture *all[] = { &cuda, &cuda_old, &opencl };
    for (int i = 0; i < 3; i++)
        if (all[i]->be)
            device_close(all[i]->dev);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_converts),
        { "cuda: a_device_converts", a_device_converts, NULL, NULL, &cuda },
        { "cuda, as for an older device: a_device_converts", a_device_converts, NULL, NULL, &cuda_old },
        { "opencl: a_device_converts", a_device_converts, NULL, NULL, &opencl },
        cmocka_unit_test(nvrtc_takes_it_for_every_architecture),
    };
    return cmocka_run_group_tests(tests, open_both, close_both);
}
