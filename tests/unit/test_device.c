/* Real devices, as far as they are there: every test runs on CUDA and on OpenCL (PoCL, or a GPU), and skips visibly where there is
 * none. Compiling for CUDA needs NVRTC only. */
#include <ftw.h>
#include <sys/wait.h>

#include "base/util.h"
#include "device/device.h"
#include "unit.h"

#define FAILS(with, call)                                                                                                          \
    do {                                                                                                                           \
        err = (struct err){ 0 };                                                                                                   \
        assert_int_equal(call, with);                                                                                              \
        assert_int_equal(err.code, with);                                                                                          \
        assert_true(*err.msg);                                                                                                     \
    } while (0)

static struct err err;

/* A device under test, open; null backend: there is none. */
struct fixture {
    const struct backend *be;
    struct devspec spec;
    struct device *dev;
    struct guest_code *dialect; /* compiled for the first test that wants it */
};

static void read_file(const char *path, struct buf *out)
{
    OK(file_read(path, 1 << 20, out, &err));
}

/* The dialect's test source, as the tuner would put it together. */
static void dialect(const char *backend, bool fp64, struct buf *out)
{
    bool cuda = strcmp(backend, "cuda") == 0;
    read_file(cuda ? SOURCE_DIR "/templates/prelude_cuda.h" : SOURCE_DIR "/templates/prelude_opencl.h", out);
    buf_fmt(out, "#define T float\n#define T_bytes 4\n#define T_bits uint32\n#define T_is_float 1\n"
                 "#define TILE 16\n#define ROWS 4\n#define GRID_xy 1\n#define GRID_x 2\n#define GRID GRID_x\n");
    buf_fmt(out, "#define WITH_DOUBLE %d\n", fp64);
    buf_fmt(out, cuda ? "#define WITH_ATOMIC64 1\n"
                      : "#ifdef cl_khr_int64_base_atomics\n#define WITH_ATOMIC64 1\n#else\n#define WITH_ATOMIC64 0\n#endif\n");
    read_file(TESTS_DIR "/unit/dialect.cu", out);
    assert_false(out->failed);
}

static struct karg scalar(const void *p, int size)
{
    struct karg a = { .param.bytes = size };
    memcpy(a.param.value, p, (size_t)size);
    return a;
}

static struct karg number(int64_t v)
{
    return scalar(&v, 8);
}

static int open_fixture(struct fixture *f, const char *word)
{
    err = (struct err){ 0 };
    if (device_find(word, &f->spec, &err)) {
        print_message("no %s device here: %s\n", word, err.msg);
        return 0;
    }
    f->be = backend_find(f->spec.backend);
    return device_open(&f->spec, &f->dev, &err);
}

static struct fixture *take(void **state)
{
    struct fixture *f = *state;
    if (!f->be)
        skip();
    return f;
}

/* Compiles and loads a source on the fixture's device. */
static struct guest_code *load(struct fixture *f, const char *source)
{
    struct compiler *c;
    struct buf binary = { 0 }, log = { 0 };
    struct guest_code *m;
    OK(f->be->compiling->open(&f->spec, &c, &err));
    int rc = f->be->compiling->compile(c, &(struct compile_job){ .source = source }, &binary, NULL, &log, &err);
    if (rc)
        fail_msg("compile: %s\n%s", err.msg, buf_text(&log));
    OK(device_load(f->dev, binary.data, binary.len, &m, &err));
    f->be->compiling->close(c);
    buf_free(&binary);
    buf_free(&log);
    return m;
}

static struct guest_code *load_dialect(struct fixture *f)
{
    struct buf source = { 0 };
    dialect(f->spec.backend, f->spec.fp64, &source);
    if (!f->dialect)
        f->dialect = load(f, source.data);
    buf_free(&source);
    return f->dialect;
}

static struct kernel *entry(struct fixture *f, struct guest_code *m, const char *name, int64_t shared)
{
    struct kernel *k;
    OK(device_kernel(f->dev, m, name, shared, &k, NULL, &err));
    return k;
}

static struct memory *room(struct fixture *f, int64_t bytes)
{
    struct memory *m;
    OK(device_alloc(f->dev, bytes, &m, &err));
    return m;
}

static void description_is_whole(void **state)
{
    const struct fixture *f = take(state);
    const struct devspec *d = &f->spec;
    print_message("%s:%d is %s, %s, driver %s\n", d->backend, d->index, d->name, d->arch, d->driver);
    assert_true(*d->name && *d->arch && *d->driver);
    assert_true(d->multiprocessors > 0 && d->memory > 0 && d->max_alloc > 0 && d->max_alloc <= d->memory && d->l2 >= 0);
    assert_true(d->max_threads > 0 && d->warp > 0 && d->max_static_shared > 0 && d->max_shared >= d->max_static_shared);
    for (int i = 0; i < 3; i++)
        assert_true(d->max_block[i] > 0 && d->max_grid[i] >= 65535);
    assert_int_equal(d->shared_driver, strcmp(d->backend, "opencl") == 0);
    assert_int_equal(d->cc > 0, strcmp(d->backend, "cuda") == 0);
    struct devspec again;
    char word[32];
    snprintf(word, sizeof word, "%s:%d", d->backend, d->index);
    OK(device_find(word, &again, &err));
    assert_string_equal(again.name, d->name);
}

static void memory_moves(void **state)
{
    struct fixture *f = take(state);
    enum { SIZE = 5 * GUEST_ALIGN + 13 };
    struct memory *a = room(f, SIZE), *b = room(f, SIZE), *view, *inner;
    unsigned char *bytes = malloc(SIZE);
    OK(device_fill(f->dev, a, 0, SIZE, 0x11, &err));
    OK(device_view(f->dev, a, GUEST_ALIGN, 3 * GUEST_ALIGN + 5, &view, &err));
    OK(device_fill(f->dev, view, 0, 3 * GUEST_ALIGN + 5, 0x22, &err));
    OK(device_view(f->dev, view, GUEST_ALIGN, 7, &inner, &err));
    OK(device_write(f->dev, inner, 2, "hello", 5, &err));
    OK(device_fill(f->dev, a, 3, 5, 0x33, &err));
    OK(device_copy(f->dev, b, a, SIZE, &err));
    OK(device_read(f->dev, bytes, b, 0, SIZE, &err));
    for (int i = 0; i < SIZE; i++) {
        int at = i - 2 * GUEST_ALIGN - 2;
        bool in_view = i >= GUEST_ALIGN && i < 4 * GUEST_ALIGN + 5;
        assert_int_equal(bytes[i], at >= 0 && at < 5 ? "hello"[at] : in_view ? 0x22 : i >= 3 && i < 8 ? 0x33 : 0x11);
    }
    OK(device_read(f->dev, bytes, inner, 2, 5, &err));
    assert_memory_equal(bytes, "hello", 5);
    OK(device_copy(f->dev, inner, b, 0, &err)); /* nothing is fine */

    FAILS(ERR_INVALID, device_fill(f->dev, a, 1, SIZE, 0, &err));
    FAILS(ERR_INVALID, device_fill(f->dev, a, -1, 1, 0, &err));
    FAILS(ERR_INVALID, device_copy(f->dev, inner, a, 8, &err));
    FAILS(ERR_INVALID, device_read(f->dev, bytes, view, 0, SIZE, &err));
    FAILS(ERR_INVALID, device_write(f->dev, view, INT64_MAX, bytes, 1, &err));
    struct memory *none = NULL;
    FAILS(ERR_INVALID, device_view(f->dev, a, 100, 1, &none, &err));
    FAILS(ERR_INVALID, device_view(f->dev, view, 0, SIZE, &none, &err));
    FAILS(ERR_INVALID, device_alloc(f->dev, 0, &none, &err));
    FAILS(ERR_NOMEM, device_alloc(f->dev, INT64_MAX, &none, &err));
    assert_null(none);
    device_free(f->dev, inner);
    device_free(f->dev, view);
    device_free(f->dev, a);
    device_free(f->dev, b);
    device_free(f->dev, NULL);
    free(bytes);
}

/* The result lies in a view between guards; a launch between two others is timed. */
static void turns_a_matrix(void **state)
{
    struct fixture *f = take(state);
    enum { M = 53, N = 70, BYTES = M * N * 4, ROOM = 3 * GUEST_ALIGN + (BYTES + GUEST_ALIGN) / GUEST_ALIGN * GUEST_ALIGN };
    struct guest_code *m = load_dialect(f);
    struct resources r;
    struct kernel *k;
    OK(device_kernel(f->dev, m, "turn", 0, &k, &r, &err));
    assert_true(r.max_threads >= 64 && (r.shared < 0 || r.shared >= 16 * 17 * 4));
    struct memory *in = room(f, BYTES), *out = room(f, ROOM), *inside;
    float *host = malloc(ROOM);
    for (int i = 0; i < M * N; i++)
        host[i] = (float)i;
    OK(device_write(f->dev, in, 0, host, BYTES, &err));
    OK(device_fill(f->dev, out, 0, ROOM, 0x5a, &err));
    OK(device_view(f->dev, out, GUEST_ALIGN, BYTES, &inside, &err));
    struct geometry g = { .grid = { (N + 15) / 16, (M + 15) / 16, 1 }, .block = { 16, 4, 1 } };
    struct karg args[] = { { .memory = inside }, { .memory = in }, number(M), number(N) };
    OK(device_span_begin(f->dev, 5, &err));
    for (int i = 0; i < 3; i++)
        OK(device_launch(f->dev, k, &g, args, 4, &err));
    OK(device_span_end(f->dev, 5, &err));
    OK(device_span_begin(f->dev, 6, &err));
    OK(device_span_end(f->dev, 6, &err));
    OK(device_sync(f->dev, &err));
    double ns = -1, empty = -1;
    OK(device_span_ns(f->dev, 5, &ns, &err));
    OK(device_span_ns(f->dev, 6, &empty, &err));
    assert_true(ns > 0 && empty >= 0);
    FAILS(ERR_INVALID, device_span_ns(f->dev, 7, &ns, &err));
    FAILS(ERR_INVALID, device_span_begin(f->dev, MAX_SPANS, &err));
    FAILS(ERR_INVALID, device_span_end(f->dev, -1, &err));

    OK(device_read(f->dev, host, out, 0, ROOM, &err));
    const unsigned char *bytes = (const unsigned char *)host;
    for (int i = 0; i < ROOM; i++)
        if (i < GUEST_ALIGN || i >= GUEST_ALIGN + BYTES)
            assert_int_equal(bytes[i], 0x5a);
    for (int y = 0; y < M; y++)
        for (int x = 0; x < N; x++)
            assert_true(host[GUEST_ALIGN / 4 + x * M + y] == (float)(y * N + x));

    int code = device_kernel(f->dev, m, "absent", 0, &k, NULL, &err);
    assert_int_equal(code, ERR_NOTFOUND);
    device_free(f->dev, inside);
    device_free(f->dev, out);
    device_free(f->dev, in);
    free(host);
}

static void dynamic_shared_memory(void **state)
{
    struct fixture *f = take(state);
    enum { N = 1000, THREADS = 64, BLOCKS = (N + THREADS - 1) / THREADS };
    struct guest_code *m = load_dialect(f);
    struct kernel *k = entry(f, m, "halves", THREADS * 4);
    float host[N], got[N];
    for (int i = 0; i < N; i++)
        host[i] = (float)(i + 1);
    struct memory *in = room(f, sizeof host), *out = room(f, sizeof host);
    OK(device_write(f->dev, in, 0, host, sizeof host, &err));
    struct geometry g = { .grid = { BLOCKS, 1, 1 }, .block = { THREADS, 1, 1 }, .shared = THREADS * 4 };
    struct karg args[] = { { .memory = out }, { .memory = in }, number(N) };
    OK(device_launch(f->dev, k, &g, args, 3, &err));
    OK(device_read(f->dev, got, out, 0, sizeof got, &err));
    for (int i = 0; i < N; i++) {
        int start = i - i % THREADS, from = start + (i % THREADS + THREADS / 2) % THREADS;
        assert_true(got[i] == (from < N ? host[from] : 0) + host[start]);
    }
    g.shared++;
    FAILS(ERR_INVALID, device_launch(f->dev, k, &g, args, 3, &err));
    struct kernel *none = NULL;
    FAILS(ERR_UNSUPPORTED, device_kernel(f->dev, m, "halves", f->spec.max_shared + 1, &none, NULL, &err));
    FAILS(ERR_UNSUPPORTED, device_kernel(f->dev, m, "halves", -1, &none, NULL, &err));

    /* As much as the device has: more than CUDA gives without being asked. */
    k = entry(f, m, "halves", f->spec.max_shared);
    g.shared = f->spec.max_shared;
    OK(device_launch(f->dev, k, &g, args, 3, &err));
    OK(device_sync(f->dev, &err));
    device_free(f->dev, out);
    device_free(f->dev, in);
}

static void atomics(void **state)
{
    struct fixture *f = take(state);
    enum { BLOCKS = 9, THREADS = 64, ALL = BLOCKS * THREADS };
    struct guest_code *m = load_dialect(f);
    struct kernel *k = entry(f, m, "atomics", 0);
    struct memory *room_of[4];
    for (int i = 0; i < 4; i++) {
        room_of[i] = room(f, 16);
        OK(device_fill(f->dev, room_of[i], 0, 16, 0, &err));
    }
    uint32_t u[3] = { 0, 1000, 0 }, bits;
    OK(device_write(f->dev, room_of[1], 0, u, sizeof u, &err));
    int32_t by = -3, i[3];
    float sum;
    struct geometry g = { .grid = { BLOCKS, 1, 1 }, .block = { THREADS, 1, 1 } };
    struct karg args[] = {
        { .memory = room_of[0] }, { .memory = room_of[1] }, { .memory = room_of[2] }, { .memory = room_of[3] }, scalar(&by, 4)
    };
    OK(device_launch(f->dev, k, &g, args, 5, &err));
    OK(device_read(f->dev, i, room_of[0], 0, sizeof i, &err));
    OK(device_read(f->dev, u, room_of[1], 0, sizeof u, &err));
    OK(device_read(f->dev, &sum, room_of[2], 0, sizeof sum, &err));
    OK(device_read(f->dev, &bits, room_of[3], 0, sizeof bits, &err));
    assert_int_equal(i[0], -3 * ALL);
    assert_int_equal(i[1], -(THREADS - 1));
    assert_int_equal(i[2], THREADS - 1);
    assert_int_equal(u[0], 2 * ALL);
    assert_int_equal(u[1], 5);
    assert_int_equal(u[2], THREADS - 1 + 5);
    assert_true(sum == 0.5f * ALL);
    assert_int_equal(bits, 0x80000000u);

    if (device_kernel(f->dev, m, "atomics64", 0, &k, NULL, &err) == 0) {
        uint64_t wide;
        double exact;
        OK(device_fill(f->dev, room_of[0], 0, 16, 0, &err));
        OK(device_fill(f->dev, room_of[1], 0, 16, 0, &err));
        OK(device_launch(f->dev, k, &g, args, 2, &err));
        OK(device_read(f->dev, &wide, room_of[0], 0, 8, &err));
        OK(device_read(f->dev, &exact, room_of[1], 0, 8, &err));
        assert_true(wide == (uint64_t)ALL << 33);
        assert_true(exact == 0.25 * ALL);
    } else {
        print_message("no 64-bit atomics here\n");
        assert_string_not_equal(f->spec.arch, "pocl");
        assert_string_not_equal(f->spec.backend, "cuda");
    }
    for (int n = 0; n < 4; n++)
        device_free(f->dev, room_of[n]);
}

static void places(void **state)
{
    struct fixture *f = take(state);
    enum { BLOCKS = 2 * 3 * 4, THREADS = 4 * 2 * 3 };
    struct guest_code *m = load_dialect(f);
    struct kernel *k = entry(f, m, "places", 0);
    uint32_t got[BLOCKS * THREADS];
    struct memory *out = room(f, sizeof got);
    struct geometry g = { .grid = { 2, 3, 4 }, .block = { 4, 2, 3 } };
    struct karg args[] = { { .memory = out } };
    OK(device_fill(f->dev, out, 0, sizeof got, 0xff, &err));
    OK(device_launch(f->dev, k, &g, args, 1, &err));
    OK(device_read(f->dev, got, out, 0, sizeof got, &err));
    for (uint32_t i = 0; i < BLOCKS * THREADS; i++)
        assert_int_equal(got[i], i / THREADS << 16 | i % THREADS);

    /* What the device cannot take is refused, and it is as good as before. */
    struct geometry bad[] = { g, g, g, g };
    bad[0].grid[0] = 0;
    bad[1].block[1] = -1;
    bad[2].grid[0] = INT64_MAX;
    bad[3].block[0] = f->spec.max_threads;
    for (int i = 0; i < 4; i++)
        FAILS(ERR_UNSUPPORTED, device_launch(f->dev, k, &bad[i], args, 1, &err));
    struct karg too_many[] = { args[0], number(1), number(2) };
    if (strcmp(f->spec.backend, "opencl") == 0) /* a driver before CUDA 12.4 does not tell */
        FAILS(ERR_INVALID, device_launch(f->dev, k, &g, too_many, 3, &err));
    FAILS(ERR_INVALID, device_launch(f->dev, k, &g, too_many, 1000, &err));
    too_many[1].param.bytes = 17;
    FAILS(ERR_INVALID, device_launch(f->dev, k, &g, too_many, 2, &err));
    OK(device_launch(f->dev, k, &g, args, 1, &err));
    OK(device_sync(f->dev, &err));
    device_free(f->dev, out);
}

static void facts(void **state)
{
    struct fixture *f = take(state);
    struct guest_code *m = load_dialect(f);
    struct kernel *k = entry(f, m, "facts", 0);
    int64_t got[10];
    uint32_t wide[8];
    float floats[4];
    struct memory *out = room(f, sizeof got), *w = room(f, sizeof wide), *fl = room(f, sizeof floats);
    int8_t small = -5;
    uint16_t medium = 65535;
    uint64_t large = UINT64_MAX;
    struct karg args[] = { { .memory = out }, { .memory = w },    { .memory = fl },
                           scalar(&small, 1), scalar(&medium, 2), scalar(&large, 8) };
    struct geometry one = { .grid = { 1, 1, 1 }, .block = { 1, 1, 1 } };
    OK(device_launch(f->dev, k, &one, args, 6, &err));
    OK(device_read(f->dev, got, out, 0, sizeof got, &err));
    OK(device_read(f->dev, wide, w, 0, sizeof wide, &err));
    OK(device_read(f->dev, floats, fl, 0, sizeof floats, &err));
    const int64_t want[] = { 1122, 4488, 441, -5, 65535, INT64_MAX, 34, 1, 0x3f800000, 2 };
    for (int i = 0; i < 9 + f->spec.fp64; i++)
        assert_true(got[i] == want[i]);
    const uint32_t vectors[] = { 1, 2, 3, UINT32_MAX, UINT32_MAX, 3, 2, 1 };
    assert_memory_equal(wide, vectors, sizeof wide);
    for (int i = 0; i < 4; i++)
        assert_true(floats[i] == (float)i + 0.5f);
    device_free(f->dev, out);
    device_free(f->dev, w);
    device_free(f->dev, fl);
}

static void refuses_bad_source(void **state)
{
    const struct fixture *f = take(state);
    struct compiler *c;
    struct buf binary = { 0 }, log = { 0 }, source = { 0 };
    OK(f->be->compiling->open(&f->spec, &c, &err));
    FAILS(ERR_INVALID,
          f->be->compiling->compile(c, &(struct compile_job){ .source = "int f( { nonsense; }\n" }, &binary, NULL, &log, &err));
    assert_true(log.len > 0 && strstr(log.data, "error"));
    assert_int_equal(binary.len, 0);
    /* and goes on with the next */
    dialect(f->spec.backend, f->spec.fp64, &source);
    buf_clear(&log);
    OK(f->be->compiling->compile(c, &(struct compile_job){ .source = source.data }, &binary, NULL, &log, &err));
    assert_true(binary.len > 0);

    struct guest_code *m = NULL;
    FAILS(ERR_INVALID, device_load(f->dev, "garbage", 7, &m, &err));
    FAILS(ERR_INVALID, device_load(f->dev, "", 0, &m, &err));
    for (size_t cut = 0; cut < binary.len - 1; cut += binary.len / 50 + 1)
        FAILS(ERR_INVALID, device_load(f->dev, binary.data, cut, &m, &err));
    f->be->compiling->close(c);
    buf_free(&binary);
    buf_free(&log);
    buf_free(&source);
}

static void count_call(void *n)
{
    ++*(int *)n;
}

/* A trial launch leaves a binary that loads and is right; one that is refused does not spoil it. Only a CPU makes one. */
static void trial_launches(void **state)
{
    struct fixture *f = take(state);
    struct buf binary = { 0 }, log = { 0 }, source = { 0 };
    dialect(f->spec.backend, f->spec.fp64, &source);
    struct karg count = number(1024);
    struct geometry g = { .grid = { 16, 1, 1 }, .block = { 64, 1, 1 }, .shared = 256 }, large = g, bad = g;
    large.grid[0] = 100000;
    bad.block[0] = f->spec.max_threads + 1;
    struct guest_param params[3];
    struct guest_launch launches[] = {
        { .kernel = "halves", .geometry = g },
        { .kernel = "halves", .geometry = large },
        { .kernel = "halves", .geometry = bad },
        { .kernel = "absent", .geometry = g },
    };
    for (int i = 0; i < 4; i++) {
        struct guest_param *p = params;
        launches[i].nparams = 3;
        launches[i].params = params;
        p[0] = (struct guest_param){ .kind = GUEST_BUFFER, .index = 0, .room = 4096 };
        p[1] = (struct guest_param){ .kind = GUEST_BUFFER, .index = 1, .room = 4096 };
        p[2] = count.param;
        p[2].kind = GUEST_VALUE;
    }
    int calls = 0;
    struct compile_job job = {
        .source = source.data, .nlaunches = 4, .launches = launches, .warming = count_call, .warming_arg = &calls
    };
    struct compiler *c;
    OK(f->be->compiling->open(&f->spec, &c, &err));
    for (int i = 0; i < 2; i++) { /* the second time on the same buffers */
        buf_clear(&binary);
        OK(f->be->compiling->compile(c, &job, &binary, NULL, &log, &err));
    }
    f->be->compiling->close(c);
    assert_int_equal(calls, f->spec.shares_cores ? 2 : 0);
    assert_int_equal(strstr(buf_text(&log), "trial launch of absent") != NULL, f->spec.shares_cores);
    struct guest_code *m;
    OK(device_load(f->dev, binary.data, binary.len, &m, &err));
    struct kernel *k = entry(f, m, "halves", 256);
    struct memory *in = room(f, 4096), *out = room(f, 4096);
    OK(device_fill(f->dev, in, 0, 4096, 0, &err));
    OK(device_fill(f->dev, out, 0, 4096, 0xff, &err));
    struct karg real[] = { { .memory = out }, { .memory = in }, number(1024) };
    OK(device_launch(f->dev, k, &g, real, 3, &err));
    float got[1024];
    OK(device_read(f->dev, got, out, 0, 4096, &err));
    for (int i = 0; i < 1024; i++)
        assert_true(got[i] == 0);
    device_free(f->dev, in);
    device_free(f->dev, out);
    device_unload(f->dev, m);
    buf_free(&binary);
    buf_free(&log);
    buf_free(&source);
}

/* A fault takes the context down and says so from then on. Last on CUDA: the device is of no use afterwards. */
static void fault_is_sticky(void **state)
{
    struct fixture *f = take(state);
    if (strcmp(f->spec.backend, "cuda") != 0)
        skip(); /* PoCL's takes the process down */
    struct guest_code *m = load(f, "extern \"C\" __global__ void wild(int *p) { p[1ll << 40] = 1; }\n");
    struct kernel *k = entry(f, m, "wild", 0);
    struct memory *p = room(f, 4);
    struct geometry one = { .grid = { 1, 1, 1 }, .block = { 1, 1, 1 } };
    struct karg arg = { .memory = p };
    OK(device_launch(f->dev, k, &one, &arg, 1, &err));
    FAILS(ERR_DEVICE, device_sync(f->dev, &err));
    assert_true(strstr(err.msg, "CUDA_ERROR_ILLEGAL_ADDRESS"));
    FAILS(ERR_DEVICE, device_fill(f->dev, p, 0, 4, 0, &err));
    device_free(f->dev, p);
    device_unload(f->dev, m);
}

/* Where the threads of a driver are missing it must not be asked. */
static void opencl_is_not_for_forks(void **state)
{
    struct fixture *f = *state;
    struct device *again;
    int status = -1;
    if (!f->be)
        skip();
    pid_t child = fork();
    if (child == 0) {
        int rc = device_open(&f->spec, &again, &err);
        _exit(rc != ERR_UNSUPPORTED || !strstr(err.msg, "before this process was forked"));
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    OK(device_open(&f->spec, &again, &err));
    device_close(again);
}

/* PoCL caches kernels in a folder: one of this run's own. */
static char cache[] = "/tmp/cutune-test-XXXXXX";
static struct fixture cuda, opencl;

static int open_all(void **state)
{
    (void)state;
    if (!mkdtemp(cache) || setenv("POCL_CACHE_DIR", cache, 1))
        return -1;
    return open_fixture(&cuda, "cuda") || open_fixture(&opencl, "opencl");
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static void close_fixture(struct fixture *f)
{
    if (!f->be)
        return;
    device_unload(f->dev, f->dialect);
    device_close(f->dev);
}

static int close_all(void **state)
{
    (void)state;
    close_fixture(&cuda);
    close_fixture(&opencl);
    return nftw(cache, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The test on each backend. */
#define BOTH(test)                                                                                                                 \
    { "cuda: " #test, test, NULL, NULL, &cuda },                                                                                   \
    {                                                                                                                              \
        "opencl: " #test, test, NULL, NULL, &opencl                                                                                \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(description_is_whole),
        BOTH(memory_moves),
        BOTH(turns_a_matrix),
        BOTH(dynamic_shared_memory),
        BOTH(atomics),
        BOTH(places),
        BOTH(facts),
        BOTH(refuses_bad_source),
        BOTH(trial_launches),
        BOTH(fault_is_sticky),
        { "opencl_is_not_for_forks", opencl_is_not_for_forks, NULL, NULL, &opencl },
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
