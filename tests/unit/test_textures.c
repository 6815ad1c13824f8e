/* Textures: what a script may say, what they come to, and the objects of them: on the pretend device, and what the driver is told, by a
 * driver of this file's own. */
#include <pthread.h>

#include "base/mem.h"
#include "device/cuda_part.h"
#include "device/null.h"
#include "sample_op.h"
#include "unit.h"

static struct err err;

enum { IN = 1, VALUE = 3, PARTIAL = 5, NBUFFERS = 6, WALK = 1 };

/* The sample, whose second variant has one launch that passes views of `in`, of m x n elements, or of others. */
struct textured {
    struct sample s;
    struct view views[2];
    int args[3];
    struct launch launch[1];
};

static struct op *op_with(struct textured *t, const struct view *first, const struct view *second)
{
    struct op *op = sample_op(&t->s);
    t->views[0] = *first;
    t->views[1] = second ? *second : *first;
    memcpy(t->args, (int[]){ 0, NBUFFERS, NBUFFERS + 1 }, sizeof t->args);
    t->s.partial[0].type = "ACC";
    t->s.partial[0].count = "64";
    t->launch[0] = (struct launch){
        .kernel = "k", .nargs = 2 + (second != NULL), .args = t->args, .nviews = 1 + (second != NULL), .views = t->views
    };
    op->variants[WALK].launches = t->launch;
    op->variants[WALK].nlaunches = 1;
    op->variants[WALK].requires = (struct requires){ 0 };
    op->variants[WALK].nwhere = 0;
    return op;
}

static void checks_what_a_script_says(void **state)
{
    (void)state;
    static struct textured t;
    static const struct {
        const char *says; /* null: it is right */
        struct view view;
    } cases[] = {
        { NULL, { .arg = IN } },
        { NULL, { .arg = IN, .mode = { .array = true, .linear = true, .naddress = 1, .address = { ADDRESS_BORDER } } } },
        { NULL, { .arg = IN, .mode = { .normalized = true, .naddress = 2, .address = { ADDRESS_WRAP, ADDRESS_MIRROR } } } },
        { NULL, { .arg = IN, .nextents = 1, .extent = { "m * n" }, .channels = "4" } },
        { NULL, { .arg = IN, .nextents = 1, .extent = { "m * n" }, .mode = { .array = true, .linear = true } } },
        { NULL, { .arg = PARTIAL } },
        { NULL, { .arg = 0, .nstrides = 1, .stride = { "m" } } }, /* of an output */
        { "texture: must be of a buffer", { .arg = VALUE } },
        { "texture: must be of a buffer", { .arg = NBUFFERS } },
        { "texture of in: 4 extents, and 1 to 3", { .arg = IN, .nextents = 4, .extent = { "1", "1", "1", "1" } } },
        { "texture of sum: 0 extents", { .arg = 2 } },
        { "texture of in: 2 strides", { .arg = IN, .nstrides = 2, .stride = { "n", "n" } } },
        { "texture of in: has what only tensor maps have", { .arg = IN, .l2 = "0" } },
        { "texture of in: has what only tensor maps have", { .arg = IN, .rank = 2, .box = { "1", "1" } } },
        { "layered: three extents", { .arg = IN, .mode = { .array = true, .layered = true } } },
        { "three extents are read from an array", { .arg = IN, .nextents = 3, .extent = { "1", "m", "n" } } },
        { "read by index", { .arg = IN, .nextents = 1, .extent = { "n" }, .mode = { .linear = true } } },
        { "read by index", { .arg = PARTIAL, .mode = { .normalized = true } } },
        { "\"wrap\" and \"mirror\" need normalized", { .arg = IN, .mode = { .naddress = 1, .address = { ADDRESS_MIRROR } } } },
        { "one word, or one for each extent", { .arg = IN, .mode = { .naddress = 3 } } },
        { "texture of out: an array is filled once", { .arg = 0, .mode = { .array = true } } },
        { "texture of partial: an array is filled once", { .arg = PARTIAL, .mode = { .array = true } } },
        { "for integers of 8 and 16 bits (its type is T)", { .arg = IN, .mode = { .as_float = true } } },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct view view = cases[i].view;
        view.texture = true;
        int rc = op_check(op_with(&t, &view, NULL), &err);
        if (cases[i].says ? rc != ERR_INVALID || !strstr(err.msg, cases[i].says) : rc)
            fail_msg("%d: %d %s", i, rc, err.msg);
    }
}

struct made {
    struct plan *plan;
    struct val slots[MAX_SLOTS];
};

static void plan_it(struct op *op, int row, int64_t m, int64_t n, struct made *out)
{
    struct problem prob = { .size = { m, n, 1 } };
    OK(op_check(op, &err));
    OK(plan_new(op, WALK, &out->plan, &err));
    plan_slots(out->plan, &prob, row, &roomy, &(struct config){ .variant = WALK }, out->slots);
}

static void limits_what_no_device_takes(void **state)
{
    (void)state;
    static struct textured t;
    enum { F32, F16, I32 };
    static const struct {
        struct view view;
        int row;
        int64_t m, n;
        bool fits;
        int64_t extent[3], pitch, rows, bytes;
    } cases[] = {
        { { .nextents = 0 }, F32, 3, 64, true, { 64, 3, 1 }, 256, 3, 768 },
        { { .nextents = 0 }, F32, 3, 63, false, { 0 }, 0, 0, 0 }, /* rows of 252 bytes */
        { { .nextents = 0 }, F32, 1, 63, true, { 63, 1, 1 }, 256, 1, 252 },
        { { .nextents = 0 }, F16, 3, 16, true, { 16, 3, 1 }, 32, 3, 96 },
        { { .nextents = 0 }, F32, 65000, 8, true, { 8, 65000, 1 }, 32, 65000, 65000 * 32 },
        { { .nextents = 0 }, F32, 65001, 8, false, { 0 }, 0, 0, 0 },
        { { .nextents = 0 }, F32, 2, 131072, true, { 131072, 2, 1 }, 524288, 2, 1048576 },
        { { .nextents = 0 }, F32, 2, 131080, false, { 0 }, 0, 0, 0 },
        { { .channels = "4" }, F32, 3, 64, true, { 16, 3, 1 }, 256, 3, 768 },
        { { .channels = "4" }, F32, 3, 62, false, { 0 }, 0, 0, 0 },
        { { .channels = "m" }, F32, 3, 96, false, { 0 }, 0, 0, 0 },
        { { .channels = "m" }, F32, 2, 96, true, { 48, 2, 1 }, 384, 2, 768 },
        { { .mode = { .array = true } }, F32, 3, 63, true, { 63, 3, 1 }, 252, 3, 756 },
        { { .mode = { .array = true } }, F32, 65537, 3, false, { 0 }, 0, 0, 0 },
        { { .mode = { .linear = true } }, F32, 3, 64, true, { 64, 3, 1 }, 256, 3, 768 },
        { { .mode = { .linear = true } }, I32, 3, 64, false, { 0 }, 0, 0, 0 },
        { { .nextents = 1, .extent = { "m * n" } }, F32, 1 << 14, 1 << 14, true, { 1 << 28, 1, 1 }, 1 << 30, 1, 1 << 30 },
        { { .nextents = 1, .extent = { "m * n" } }, F32, 1 << 15, 1 << 14, false, { 0 }, 0, 0, 0 },
        { { .nextents = 1, .extent = { "m * n + 1" } }, F32, 3, 64, false, { 0 }, 0, 0, 0 }, /* behind the buffer */
        { { .nextents = 2, .extent = { "m", "n - 8" }, .nstrides = 1, .stride = { "n" } },
          F32,
          3,
          64,
          true,
          { 56, 3, 1 },
          256,
          3,
          672 },
        { { .nextents = 2, .extent = { "m", "n" }, .nstrides = 1, .stride = { "8" } },
          F32,
          3,
          64,
          false,
          { 0 },
          0,
          0,
          0 }, /* overlap */
        { { .nextents = 3, .extent = { "m", "2", "4" }, .mode = { .array = true } }, F32, 3, 8, true, { 4, 2, 3 }, 16, 2, 96 },
        { { .nextents = 3, .extent = { "m", "2", "3" }, .nstrides = 2, .stride = { "8", "4" }, .mode = { .array = true } },
          F32,
          3,
          8,
          true,
          { 3, 2, 3 },
          16,
          2,
          72 },
        { { .nextents = 3, .extent = { "m", "1", "3" }, .nstrides = 2, .stride = { "8", "3" }, .mode = { .array = true } },
          F32,
          3,
          8,
          true,
          { 3, 1, 3 },
          32,
          1,
          36 },
        { { .nextents = 3, .extent = { "m", "2", "3" }, .nstrides = 2, .stride = { "8", "3" }, .mode = { .array = true } },
          F32,
          3,
          8,
          false,
          { 0 },
          0,
          0,
          0 },
        { { .nextents = 3, .extent = { "m", "1", "1" }, .mode = { .array = true } }, F32, 16385, 8, false, { 0 }, 0, 0, 0 },
        { { .nextents = 3, .extent = { "m", "1", "1" }, .mode = { .array = true, .layered = true } },
          F32,
          2049,
          8,
          false,
          { 0 },
          0,
          0,
          0 },
        { { .nextents = 3, .extent = { "m", "1", "n" }, .mode = { .array = true, .layered = true } },
          F32,
          2048,
          32768,
          true,
          { 32768, 1, 2048 },
          131072,
          1,
          268435456 },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct view view = cases[i].view;
        struct made m;
        struct texture got;
        view.texture = true;
        view.arg = IN;
        plan_it(op_with(&t, &view, NULL), cases[i].row, cases[i].m, cases[i].n, &m);
        const char *refused = plan_refuses(m.plan, m.slots, &roomy);
        if (cases[i].fits ? refused != NULL : !refused || strcmp(refused, "limit: texture of in"))
            fail_msg("%d: %s", i, refused ? refused : "nothing is refused");
        int rc = plan_texture(m.plan, 0, 0, m.slots, &got, &err);
        assert_int_equal(rc, cases[i].fits ? 0 : ERR_UNSUPPORTED);
        if (!rc && (memcmp(got.extent, cases[i].extent, sizeof got.extent) || got.pitch != cases[i].pitch ||
                    got.rows != cases[i].rows || got.bytes != cases[i].bytes))
            fail_msg("%d: %lld x %lld x %lld, %lld, %lld, %lld", i, (long long)got.extent[0], (long long)got.extent[1],
                     (long long)got.extent[2], (long long)got.pitch, (long long)got.rows, (long long)got.bytes);
        plan_free(m.plan);
    }
}

/* Numbers at the edges: nothing overflows. */
static void bounds_numbers(void **state)
{
    (void)state;
    static struct textured t;
    static const char *const channels[] = { "m - m", "-m", "m << 32", "m * 9", "1 << 31 + m - m", "m + 1" };
    static const char *const numbers[] = { "0", "-1", "1 << 62", "9223372036854775807", "1 << 31", "(1 << 32) + 1" };
    for (int i = 0; i < COUNT(numbers) * COUNT(numbers) * COUNT(numbers); i++) {
        struct view view = { .arg = IN, .texture = true, .nextents = 3, .nstrides = 2, .mode = { .array = true } };
        struct made m;
        const char *a = numbers[i % COUNT(numbers)], *b = numbers[i / COUNT(numbers) % COUNT(numbers)];
        const char *c = numbers[i / COUNT(numbers) / COUNT(numbers)];
        const char *const all[] = { a, b, c };
        memcpy(view.extent, all, sizeof all);
        memcpy(view.stride, all, 2 * sizeof *all);
        view.channels = channels[i / COUNT(numbers) / COUNT(numbers)];
        plan_it(op_with(&t, &view, NULL), 0, (int64_t)1 << 30, (int64_t)1 << 30, &m);
        assert_non_null(plan_refuses(m.plan, m.slots, &roomy));
        plan_free(m.plan);
    }
}

/* Views that are the same share a texture. */
static struct guest_texture *list(struct textured *t, const struct view *a, const struct view *b, struct arena *arena,
                                  struct guest_launch **launches)
{
    struct made m;
    struct guest_param args[2 * MAX_ARGS] = { { .kind = GUEST_VALUE } };
    struct guest_texture *all;
    int n;
    for (int i = 0; i < NBUFFERS; i++)
        args[i] = (struct guest_param){ .kind = i == PARTIAL ? GUEST_WORKSPACE : GUEST_BUFFER, .index = i };
    plan_it(op_with(t, a, b), 0, 3, 64, &m);
    OK(guest_launches(m.plan, m.slots, args, arena, launches, &n, &all, &err));
    plan_free(m.plan);
    assert_int_equal(n, 1);
    assert_true((*launches)->views);
    return all;
}

static int length(const struct guest_texture *t)
{
    int n = 0;
    for (; t; t = t->next)
        n++;
    return n;
}

static const struct view rows = { .arg = IN, .texture = true },
                         array = { .arg = IN, .texture = true, .mode = { .array = true, .linear = true, .normalized = true } },
                         work = { .arg = PARTIAL, .texture = true };

static void shares_textures(void **state)
{
    (void)state;
    static struct textured t;
    struct guest_launch *l;
    struct arena *arena = arena_new();
    assert_int_equal(length(list(&t, &rows, &rows, arena, &l)), 1);
    assert_ptr_equal(l->params[1].texture, l->params[2].texture);
    assert_int_equal(length(list(&t, &rows, &array, arena, &l)), 2);
    assert_ptr_not_equal(l->params[1].texture, l->params[2].texture);
    assert_int_equal(l->params[1].kind, GUEST_TEXTURE);
    assert_int_equal(l->params[1].bytes, 8);
    assert_int_equal(l->params[1].index, IN);
    assert_int_equal(length(list(&t, &work, NULL, arena, &l)), 1);
    assert_true(l->params[1].in_workspace);
    arena_free(arena);
}

/* ---- objects, on the pretend device */

static struct guest *guest;
static struct guest_code *code;

static void open_null(void)
{
    static const char image[] = "cutuneN\nk";
    struct devspec spec;
    OK(guest_open(&null_backend, NULL, &spec, &guest, &err));
    OK(guest_load(guest, image, sizeof image - 1, "null", &code, &err));
}

enum { THREADS = 8, ADDRESSES = 1000 };
static struct guest_texture *shared;

static void *ask(void *arg)
{
    bool right = true;
    for (int i = 0; i < 4 * ADDRESSES; i++) {
        const int k = (i * 7 + (int)(intptr_t)arg) % ADDRESSES + 1;
        uint64_t object = 0;
        right = right && !guest_texture_of(guest, shared, (void *)(intptr_t)(k * TEXTURE_ALIGN), &object, NULL) &&
                object == (uint64_t)k * TEXTURE_ALIGN;
    }
    return right ? arg : NULL;
}

static void keeps_objects(void **state)
{
    (void)state;
    static struct textured t;
    struct guest_launch *l;
    struct arena *arena = arena_new();
    pthread_t threads[THREADS];
    uint64_t first, second;
    open_null();
    struct guest_texture *all = list(&t, &rows, &array, arena, &l);
    OK(guest_textures(guest, code, all, &err));
    OK(guest_textures(guest, code, all, &err));
    assert_int_equal(null_textures(), 1); /* the array's */
    OK(guest_texture_of(guest, l->params[2].texture, (void *)0x1000, &first, &err));
    OK(guest_texture_of(guest, l->params[2].texture, (void *)0x2000, &second, &err));
    assert_int_equal(first, second);
    assert_int_equal(null_textures(), 1);
    shared = l->params[1].texture;
    for (intptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++) {
        void *right;
        pthread_join(threads[i], &right);
        assert_non_null(right);
    }
    assert_int_equal(null_textures(), 1 + ADDRESSES);
    for (int i = ADDRESSES + 1; i <= 1 << 16; i++)
        OK(guest_texture_of(guest, shared, (void *)((intptr_t)i * TEXTURE_ALIGN), &first, &err));
    assert_int_equal(guest_texture_of(guest, shared, (void *)0x7000000000, &first, &err), ERR_UNSUPPORTED);
    OK(guest_texture_of(guest, shared, (void *)TEXTURE_ALIGN, &first, &err));
    guest_unload(guest, code);
    assert_int_equal(null_textures(), 0);
    guest_close(guest);
    arena_free(arena);
}

/* ---- what the driver is told */

static struct {
    struct cuda_array_descriptor array;
    struct cuda_resource resource;
    struct cuda_texture_descriptor how;
    struct cuda_copy copy;
    unsigned mode; /* of captures, this thread's */
    int arrays, objects, copies, launches;
    uint64_t passed[2];
    CUresult answer; /* of cuTexObjectCreate */
} told;

static CUresult get_current(CUcontext *context)
{
    *context = (CUcontext)&told;
    return CUDA_SUCCESS;
}

static CUresult exchange(CUstreamCaptureMode *mode)
{
    unsigned before = told.mode;
    told.mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

static CUresult create_array(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *what)
{
    assert_int_equal(told.mode, CU_STREAM_CAPTURE_MODE_RELAXED);
    told.array = *what;
    told.arrays++;
    *out = (CUarray)&told.array;
    return CUDA_SUCCESS;
}

static CUresult destroy_array(CUarray a)
{
    assert_ptr_equal(a, &told.array);
    told.arrays--;
    return CUDA_SUCCESS;
}

static CUresult create_object(CUtexObject *out, const CUDA_RESOURCE_DESC *of, const CUDA_TEXTURE_DESC *how,
                              const CUDA_RESOURCE_VIEW_DESC *view)
{
    assert_null(view);
    assert_int_equal(told.mode, CU_STREAM_CAPTURE_MODE_RELAXED);
    told.resource = *of;
    told.how = *how;
    *out = told.answer ? 0 : 1000 + (uint64_t)told.objects++;
    return told.answer;
}

static CUresult destroy_object(CUtexObject object)
{
    (void)object;
    told.objects--;
    return CUDA_SUCCESS;
}

static CUresult copy(const CUDA_MEMCPY3D *what, CUstream stream)
{
    assert_ptr_equal(stream, &told.copy);
    assert_int_equal(told.launches, 0);
    told.copy = *what;
    told.copies++;
    return CUDA_SUCCESS;
}

static CUresult launch(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
                       unsigned int block_y, unsigned int block_z, unsigned int shared_bytes, CUstream stream, void **params,
                       void **extra)
{
    (void)function, (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z, (void)shared_bytes;
    (void)stream, (void)extra;
    memcpy(&told.passed[0], params[1], 8);
    memcpy(&told.passed[1], params[2], 8);
    told.launches++;
    return CUDA_SUCCESS;
}

static CUresult param_info(CUfunction function, size_t index, size_t *offset, size_t *size)
{
    (void)function, (void)index, (void)offset, (void)size;
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult words(CUresult error, const char **text)
{
    (void)error;
    *text = "refused";
    return CUDA_SUCCESS;
}

static CUresult unload_module(CUmodule module)
{
    assert_int_equal(told.objects, 0); /* they went first */
    assert_null(module);
    return CUDA_SUCCESS;
}

static struct cuda_context context = { .g.backend = &cuda_backend, .context = (CUcontext)&told };

static void open_cuda(void)
{
    struct arena *arena;
    memset(&told, 0, sizeof told);
    libcuda = (struct cuda_api){ .cuCtxGetCurrent = get_current,
                                 .cuThreadExchangeStreamCaptureMode = exchange,
                                 .cuArray3DCreate_v2 = create_array,
                                 .cuArrayDestroy = destroy_array,
                                 .cuTexObjectCreate = create_object,
                                 .cuTexObjectDestroy = destroy_object,
                                 .cuMemcpy3DAsync_v2 = copy,
                                 .cuLaunchKernel = launch,
                                 .cuFuncGetParamInfo = param_info,
                                 .cuModuleUnload = unload_module,
                                 .cuGetErrorName = words,
                                 .cuGetErrorString = words };
    guest = &context.g;
    pthread_mutex_init(&guest->lock, NULL);
    code = arena_with(sizeof *code, &arena);
    assert_non_null(code);
    code->arena = arena;
    guest->codes = code;
}

static void make_for_cuda(const struct view *a, const struct view *b, struct arena *arena, struct guest_work *out)
{
    static struct textured t;
    struct guest_launch *l;
    *out = (struct guest_work){ .nlaunches = 1, .nbuffers = NBUFFERS };
    out->textures = list(&t, a, b, arena, &l);
    out->launches = l;
    OK(guest_textures(guest, code, out->textures, &err));
}

static void tells_the_driver_of_rows_and_arrays(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct guest_work w;
    void *buffers[NBUFFERS] = { (void *)0x10000, (void *)0x20000, (void *)0x30000 };
    open_cuda();
    make_for_cuda(&rows, &array, arena, &w);
    assert_int_equal(told.arrays, 1);
    assert_int_equal(told.objects, 1);
    assert_int_equal(told.mode, 0); /* as it was */
    assert_int_equal(told.array.extent[0], 64);
    assert_int_equal(told.array.extent[1], 3);
    assert_int_equal(told.array.extent[2], 0); /* two dimensions */
    assert_int_equal(told.array.format, CU_AD_FORMAT_FLOAT);
    assert_int_equal(told.array.channels, 1);
    assert_int_equal(told.array.flags, 0);
    assert_int_equal(told.resource.type, CU_RESOURCE_TYPE_ARRAY);
    assert_ptr_equal(told.resource.of.array, &told.array);
    assert_int_equal(told.how.filter, CU_TR_FILTER_MODE_LINEAR);
    assert_int_equal(told.how.flags, CU_TRSF_NORMALIZED_COORDINATES);
    for (int d = 0; d < 3; d++)
        assert_int_equal(told.how.address[d], CU_TR_ADDRESS_MODE_CLAMP);
    OK(cuda_backend.launch(guest, &told.copy, &w, buffers, NULL, &err));
    assert_int_equal(told.copies, 1);
    assert_int_equal(told.copy.from.type, CU_MEMORYTYPE_DEVICE);
    assert_int_equal(told.copy.from.at, 0x20000);
    assert_int_equal(told.copy.from.pitch, 256);
    assert_int_equal(told.copy.to.type, CU_MEMORYTYPE_ARRAY);
    assert_ptr_equal(told.copy.to.array, &told.array);
    assert_int_equal(told.copy.extent[0], 256);
    assert_int_equal(told.copy.extent[1], 3);
    assert_int_equal(told.copy.extent[2], 1);
    assert_int_equal(told.resource.type, CU_RESOURCE_TYPE_PITCH2D);
    assert_int_equal(told.resource.of.buffer.at, 0x20000);
    assert_int_equal(told.resource.of.buffer.bytes_or_width, 64);
    assert_int_equal(told.resource.of.buffer.height, 3);
    assert_int_equal(told.resource.of.buffer.pitch, 256);
    assert_int_equal(told.resource.flags, 0);
    assert_int_equal(told.how.filter, 0);
    assert_int_equal(told.how.flags, 0); /* floating point */
    assert_int_equal(told.passed[0], 1001);
    assert_int_equal(told.passed[1], 1000);
    /* Again, and of a buffer elsewhere. */
    for (int i = 0; i < 2; i++) {
        told.launches = 0;
        OK(cuda_backend.launch(guest, &told.copy, &w, buffers, NULL, &err));
    }
    assert_int_equal(told.objects, 2);
    told.launches = 0;
    buffers[IN] = (void *)0x40000;
    OK(cuda_backend.launch(guest, &told.copy, &w, buffers, NULL, &err));
    assert_int_equal(told.objects, 3);
    assert_int_equal(told.passed[0], 1002);
    assert_int_equal(told.passed[1], 1000);
    /* A driver that refuses. */
    told.answer = CUDA_ERROR_INVALID_VALUE;
    told.launches = 0;
    buffers[IN] = (void *)0x50000;
    assert_int_equal(cuda_backend.launch(guest, &told.copy, &w, buffers, NULL, &err), ERR_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "cuTexObjectCreate: refused"));
    assert_int_equal(told.mode, 0);
    /* However often it does, nothing is kept of it; nor is an object that there is no memory to remember. */
    mem_fail_at(0);
    for (intptr_t i = 1; i <= 10000; i++) {
        buffers[IN] = (void *)(0x50000 + i * TEXTURE_ALIGN);
        assert_int_equal(cuda_backend.launch(guest, &told.copy, &w, buffers, NULL, &err), ERR_UNSUPPORTED);
    }
    told.answer = CUDA_SUCCESS;
    int rc = 0, kept = told.objects;
    for (intptr_t i = 1; !rc; i++, kept += !rc) {
        told.launches = 0;
        buffers[IN] = (void *)(0x50000 + i * TEXTURE_ALIGN);
        rc = cuda_backend.launch(guest, &told.copy, &w, buffers, NULL, &err);
    }
    mem_fail_at(-1);
    assert_int_equal(rc, ERR_NOMEM);
    assert_int_equal(told.objects, kept);
    guest_unload(guest, code);
    assert_int_equal(told.objects, 0);
    assert_int_equal(told.arrays, 0);
    arena_free(arena);
}

static void tells_the_driver_of_fetches_and_volumes(void **state)
{
    (void)state;
    static const struct view fetch = { .arg = IN, .texture = true, .nextents = 1, .extent = { "m * n" }, .channels = "4" };
    static const struct view volume = {
        .arg = IN,
        .texture = true,
        .nextents = 3,
        .extent = { "m", "4", "12" },
        .nstrides = 2,
        .stride = { "64", "16" },
        .channels = "2",
        .mode = { .array = true, .normalized = true, .naddress = 3, .address = { ADDRESS_WRAP, ADDRESS_MIRROR, ADDRESS_BORDER } }
    };
    struct view layers = volume;
    struct arena *arena = arena_new();
    struct guest_work w;
    void *buffers[NBUFFERS] = { (void *)0x10000, (void *)0x20000 };
    open_cuda();
    make_for_cuda(&fetch, &volume, arena, &w);
    assert_int_equal(told.array.extent[0], 6);
    assert_int_equal(told.array.extent[1], 4);
    assert_int_equal(told.array.extent[2], 3);
    assert_int_equal(told.array.channels, 2);
    assert_int_equal(told.how.address[0], CU_TR_ADDRESS_MODE_BORDER); /* x is the innermost */
    assert_int_equal(told.how.address[1], CU_TR_ADDRESS_MODE_MIRROR);
    assert_int_equal(told.how.address[2], CU_TR_ADDRESS_MODE_WRAP);
    OK(cuda_backend.launch(guest, &told.copy, &w, buffers, NULL, &err));
    assert_int_equal(told.copy.from.pitch, 64);
    assert_int_equal(told.copy.from.height, 4);
    assert_int_equal(told.copy.extent[0], 48);
    assert_int_equal(told.copy.extent[1], 4);
    assert_int_equal(told.copy.extent[2], 3);
    assert_int_equal(told.resource.type, CU_RESOURCE_TYPE_LINEAR);
    assert_int_equal(told.resource.of.buffer.bytes_or_width, 3 * 64 * 4);
    assert_int_equal(told.resource.of.buffer.channels, 4);
    layers.mode.layered = true;
    told.launches = 0;
    make_for_cuda(&fetch, &layers, arena, &w);
    assert_int_equal(told.array.flags, CUDA_ARRAY3D_LAYERED);
    assert_int_equal(told.array.extent[2], 3);
    guest_unload(guest, code);
    arena_free(arena);
}

static void knows_formats(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        unsigned format;
        bool as_float;
        unsigned flags;
    } cases[] = {
        { "u8", CU_AD_FORMAT_UNSIGNED_INT8, false, CU_TRSF_READ_AS_INTEGER },
        { "u16", CU_AD_FORMAT_UNSIGNED_INT16, false, CU_TRSF_READ_AS_INTEGER },
        { "u32", CU_AD_FORMAT_UNSIGNED_INT32, false, CU_TRSF_READ_AS_INTEGER },
        { "i8", CU_AD_FORMAT_SIGNED_INT8, false, CU_TRSF_READ_AS_INTEGER },
        { "i16", CU_AD_FORMAT_SIGNED_INT16, false, CU_TRSF_READ_AS_INTEGER },
        { "i32", CU_AD_FORMAT_SIGNED_INT32, false, CU_TRSF_READ_AS_INTEGER },
        { "f16", CU_AD_FORMAT_HALF, false, 0 },
        { "f32", CU_AD_FORMAT_FLOAT, false, 0 },
        { "u8", CU_AD_FORMAT_UNSIGNED_INT8, true, 0 },
        { "i16", CU_AD_FORMAT_SIGNED_INT16, true, 0 },
    };
    open_cuda();
    for (int i = 0; i < COUNT(cases); i++) {
        struct texture t = { .type = dtype_find(cases[i].type), .rank = 1, .channels = 1, .extent = { 64, 1, 1 }, .bytes = 64 };
        struct guest_object made = { 0 };
        t.mode.as_float = cases[i].as_float;
        OK(cuda_backend.texture(guest, &t, (void *)0x20000, &made, &err));
        assert_int_equal(told.resource.of.buffer.format, cases[i].format);
        assert_int_equal(told.how.flags, cases[i].flags);
        cuda_backend.texture_free(guest, &made);
    }
    guest_unload(guest, code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checks_what_a_script_says),
        cmocka_unit_test(limits_what_no_device_takes),
        cmocka_unit_test(bounds_numbers),
        cmocka_unit_test(shares_textures),
        cmocka_unit_test(keeps_objects),
        cmocka_unit_test(tells_the_driver_of_rows_and_arrays),
        cmocka_unit_test(tells_the_driver_of_fetches_and_volumes),
        cmocka_unit_test(knows_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
