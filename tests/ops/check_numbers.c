/* check_numbers: the narrow types as numbers, converted by the host and by templates/numbers.h on a device: every element, and very many
 * floats, against a search of the nearest among all numbers of the type.
 * Usage: check_numbers DEVICE [ARCH]. With compute_75, CUDA's conversions for older devices than this one. CUTUNE_HOME has the templates.
 * Like check_ops it can be copied to other machines. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "device/device.h"
#include "model/include.h"
#include "op/load.h"
#include "source/source.h"

enum { RIGHT = 0, FAILED = 1, USAGE = 2, NO_DEVICE = 77 };

static struct err err;

static void must(int rc)
{
    if (!rc)
        return;
    printf("%s\n", err.msg);
    exit(FAILED);
}

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
    return n;
}

/* -- the host */

/* The number of faults. */
static int host_converts(const struct format *f, const float *v, int n)
{
    const struct dtype *t = dtype_find(f->name);
    int wrong = !t || !dtype_narrow(t) || t->bytes * 8 != f->bits || t->eps != ldexp(1, -f->fraction - 1);
    for (uint32_t x = 0; !wrong && x < 1u << f->bits; x++) {
        double d = 0;
        wrong += !number_get(t, &x, &d) || !same((float)d, value(f, x));
    }
    for (int i = 0; t && i < n; i++) {
        uint32_t x = 0, want = isnan(v[i]) ? 0 : nearest(f, v[i]);
        bool fits = number_put(t, (double)v[i], (unsigned char *)&x), small = fabsf(v[i]) <= value(f, f->most);
        bool right = small ? fits && x == want : !fits || (x == want && isfinite(value(f, want)));
        if (!right && !wrong++)
            printf("%s: on the host %a gives %#x, and should %#x\n", f->name, (double)v[i], x, want);
    }
    return wrong;
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

struct machine {
    const struct backend *be;
    struct devspec spec;
    struct device *dev;
    const char *arch, *home;
};

static void compile(const struct machine *m, const char *type, struct buf *binary)
{
    struct compiler *c;
    struct buf source = { 0 }, log = { 0 };
    char path[4096];
    const char *files[] = { m->be->compiling->prelude, NUMBERS };
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/templates/%s", m->home, files[i]);
        must(file_read(path, 1 << 20, &source, &err));
    }
    source_define_type(&source, "T", dtype_find(type));
    source_define_numbers(&source, "T", dtype_find(type));
    buf_str(&source, kernels);
    must(buf_check(&source, &err));
    must(m->be->compiling->open(&m->spec, &c, &err));
    int rc =
        m->be->compiling->compile(c, &(struct compile_job){ .source = source.data, .arch = m->arch }, binary, NULL, &log, &err);
    printf("%s", buf_text(&log));
    must(rc);
    m->be->compiling->close(c);
    buf_free(&source);
    buf_free(&log);
}

static void launch(const struct machine *m, struct guest_code *code, const char *name, void *out, int out_size, const void *in,
                   int in_size, int64_t n)
{
    struct kernel *k;
    struct memory *to, *from;
    must(device_kernel(m->dev, code, name, 0, &k, NULL, &err));
    must(device_alloc(m->dev, n * out_size, &to, &err));
    must(device_alloc(m->dev, n * in_size, &from, &err));
    must(device_write(m->dev, from, 0, in, n * in_size, &err));
    struct geometry g = { .grid = { (n + 63) / 64, 1, 1 }, .block = { 64, 1, 1 } };
    struct karg args[] = { { .memory = to }, { .memory = from }, { .param.bytes = 8 } };
    memcpy(args[2].param.value, &n, 8);
    must(device_launch(m->dev, k, &g, args, 3, &err));
    must(device_sync(m->dev, &err));
    must(device_read(m->dev, out, to, 0, n * out_size, &err));
    device_free(m->dev, to);
    device_free(m->dev, from);
}

/* The number of faults. */
static int device_converts(const struct machine *m, const struct format *f, const float *v, int n)
{
    static unsigned char all[2 << 16], got[MOST * 2];
    static float wide[1 << 16];
    struct buf binary = { 0 };
    struct guest_code *code;
    int bytes = f->bits / 8, count = 1 << f->bits, wrong = 0;
    compile(m, f->name, &binary);
    must(device_load(m->dev, binary.data, binary.len, &code, &err));
    for (int x = 0; x < count; x++)
        memcpy(all + x * bytes, &x, (size_t)bytes);
    launch(m, code, "widens", wide, 4, all, bytes, count);
    for (uint32_t x = 0; x < (uint32_t)count; x++)
        if (!same(wide[x], value(f, x)) && !wrong++)
            printf("%s: %#x gives %a, and should %a\n", f->name, x, (double)wide[x], (double)value(f, x));
    launch(m, code, "narrows", got, bytes, v, 4, n);
    for (int i = 0; i < n; i++) {
        uint32_t x = 0;
        memcpy(&x, got + i * bytes, (size_t)bytes);
        bool right = isnan(v[i]) ? isnan(value(f, x)) : x == nearest(f, v[i]);
        if (!right && !wrong++)
            printf("%s: %a gives %#x, and should %#x\n", f->name, (double)v[i], x, nearest(f, v[i]));
    }
    device_unload(m->dev, code);
    buf_free(&binary);
    return wrong;
}

int main(int argc, char **argv)
{
    struct machine m = { .arch = argc > 2 ? argv[2] : NULL };
    static float v[MOST];
    int wrong = 0;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "Usage: check_numbers DEVICE [ARCH]\n");
        return USAGE;
    }
    must(home_find(&m.home, &err));
    bool here = !device_find(argv[1], &m.spec, &err);
    if (here)
        must(device_open(&m.spec, &m.dev, &err));
    else
        printf("%s\n", err.msg);
    m.be = here ? backend_find(m.spec.backend) : NULL;
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        const struct format *f = &formats[k];
        int n = floats_of(f, v), host = host_converts(f, v, n), device = here ? device_converts(&m, f, v, n) : 0;
        printf("%-6s %5d elements, %d floats: %d wrong on the host, %d on %s%s%s\n", f->name, 1 << f->bits, n, host, device,
               here ? m.spec.name : "no device", m.arch ? " as " : "", m.arch ?: "");
        wrong += host + device;
    }
    if (here)
        device_close(m.dev);
    return wrong ? FAILED : here ? RIGHT : NO_DEVICE;
}
