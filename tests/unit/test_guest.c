/* Kernels launched in contexts that are not ours, on OpenCL and on CUDA, each skipped visibly where there is none. Contexts and queues
 * are made as an application would. */
#include <dlfcn.h>
#include <sys/wait.h>

#include "guest_app.h"
#include "guest_kernels.h"

static struct app *take(void **state)
{
    struct app *a = *state;
    if (!a->backend)
        skip();
    return a;
}

/* ------------------------------------------------------------------------------------------------------- the application's side */

static void *ocl_make(struct app *a, size_t bytes)
{
    cl_int result = CL_SUCCESS;
    cl_mem m = a->cl->clCreateBuffer(a->context, CL_MEM_READ_WRITE, bytes, NULL, &result);
    assert_int_equal(result, CL_SUCCESS);
    return m;
}

static void ocl_drop(struct app *a, void *buffer)
{
    a->cl->clReleaseMemObject(buffer);
}

static void ocl_put(struct app *a, void *stream, void *to, const void *from, size_t bytes)
{
    assert_int_equal(a->cl->clEnqueueWriteBuffer(stream, to, CL_TRUE, 0, bytes, from, 0, NULL, NULL), CL_SUCCESS);
}

static void ocl_get(struct app *a, void *stream, void *to, void *from, size_t bytes)
{
    assert_int_equal(a->cl->clEnqueueReadBuffer(stream, from, CL_TRUE, 0, bytes, to, 0, NULL, NULL), CL_SUCCESS);
}

static cl_command_queue queue_of(struct app *a, cl_context context, cl_ulong properties)
{
    cl_int result = CL_SUCCESS;
    cl_device_id device;
    assert_int_equal(a->cl->clGetCommandQueueInfo(a->streams[0], CL_QUEUE_DEVICE, sizeof device, &device, NULL), CL_SUCCESS);
    cl_command_queue queue = a->cl->clCreateCommandQueue(context, device, properties, &result);
    assert_int_equal(result, CL_SUCCESS);
    return queue;
}

static int open_opencl(void **state)
{
    static struct app app;
    struct app *a = &app;
    err = (struct err){ 0 };
    struct devspec spec;
    cl_device_id device;
    cl_int result = CL_SUCCESS;
    *state = a;
    if (device_find("opencl", &spec, &err) || opencl_device(&spec, &device, &err)) {
        print_message("no OpenCL device here: %s\n", err.msg);
        return 0;
    }
    a->cl = &libopencl;
    a->context = a->cl->clCreateContext(NULL, 1, &device, NULL, NULL, &result);
    assert_int_equal(result, CL_SUCCESS);
    a->handle = a->streams[0] = a->cl->clCreateCommandQueue(a->context, device, 0, &result);
    assert_int_equal(result, CL_SUCCESS);
    a->streams[1] = queue_of(a, a->context, 0);
    a->format = "clbin";
    a->make = ocl_make;
    a->drop = ocl_drop;
    a->put = ocl_put;
    a->get = ocl_get;
    struct compiler *c;
    struct buf log = { 0 };
    OK(opencl_backend.compiling->open(&spec, &c, &err));
    OK(opencl_backend.compiling->compile(c, &(struct compile_job){ .source = guest_opencl }, &a->image, NULL, &log, &err));
    opencl_backend.compiling->close(c);
    buf_free(&log);
    a->backend = backend_find("opencl");
    OK(guest_open(a->backend, a->handle, &a->spec, &a->guest, &err));
    OK(guest_load(a->guest, a->image.data, a->image.len, a->format, &a->code, &err));
    return 0;
}

static int close_opencl(void **state)
{
    struct app *a = *state;
    if (!a->backend)
        return 0;
    guest_close(a->guest);
    for (int i = 0; i < 2; i++)
        a->cl->clReleaseCommandQueue(a->streams[i]);
    a->cl->clReleaseContext(a->context);
    buf_free(&a->image);
    return 0;
}

static void *cuda_make(struct app *a, size_t bytes)
{
    CUdeviceptr at;
    assert_int_equal(a->cu->cuMemAlloc_v2(&at, bytes), CUDA_SUCCESS);
    return (void *)(uintptr_t)at;
}

static void cuda_drop(struct app *a, void *buffer)
{
    a->cu->cuMemFree_v2((uintptr_t)buffer);
}

static void cuda_put(struct app *a, void *stream, void *to, const void *from, size_t bytes)
{
    assert_int_equal(a->cu->cuMemcpyHtoDAsync_v2((uintptr_t)to, from, bytes, stream), CUDA_SUCCESS);
    assert_int_equal(a->cu->cuStreamSynchronize(stream), CUDA_SUCCESS);
}

static void cuda_get(struct app *a, void *stream, void *to, void *from, size_t bytes)
{
    assert_int_equal(a->cu->cuMemcpyDtoHAsync_v2(to, (uintptr_t)from, bytes, stream), CUDA_SUCCESS);
    assert_int_equal(a->cu->cuStreamSynchronize(stream), CUDA_SUCCESS);
}

static int open_cuda(void **state)
{
    static struct app app;
    struct app *a = &app;
    err = (struct err){ 0 };
    CUdevice device;
    CUcontext context;
    *state = a;
    a->cu = cuda_api(&err);
    if (!a->cu) {
        print_message("no CUDA device here: %s\n", err.msg);
        return 0;
    }
    a->backend = backend_find("cuda");
    FAILS(ERR_INVALID, "cudaFree(0)", guest_open(a->backend, NULL, &a->spec, &a->guest, &err));
    assert_int_equal(a->cu->cuDeviceGet(&device, 0), CUDA_SUCCESS);
    assert_int_equal(a->cu->cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
    assert_int_equal(a->cu->cuCtxSetCurrent(context), CUDA_SUCCESS);
    for (int i = 0; i < 2; i++)
        assert_int_equal(a->cu->cuStreamCreate((CUstream *)&a->streams[i], CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    a->handle = context;
    a->format = "ptx";
    a->make = cuda_make;
    a->drop = cuda_drop;
    a->put = cuda_put;
    a->get = cuda_get;
    buf_put(&a->image, guest_ptx, sizeof guest_ptx);
    OK(guest_open(a->backend, NULL, &a->spec, &a->guest, &err));
    OK(guest_load(a->guest, a->image.data, a->image.len, a->format, &a->code, &err));
    return 0;
}

static int close_cuda(void **state)
{
    struct app *a = *state;
    CUdevice device;
    if (!a->backend)
        return 0;
    guest_close(a->guest);
    for (int i = 0; i < 2; i++)
        a->cu->cuStreamDestroy_v2(a->streams[i]);
    if (a->cu->cuCtxGetDevice(&device) == CUDA_SUCCESS)
        a->cu->cuDevicePrimaryCtxRelease_v2(device);
    buf_free(&a->image);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------------ kernels */

/* An output full of ones and an input that counts from `from`. */
static void make_buffers(struct app *a, void *stream, uint32_t from, void *buffers[2])
{
    uint32_t *host = malloc(BYTES);
    for (int i = 0; i < 2; i++)
        buffers[i] = a->make(a, BYTES);
    for (uint32_t i = 0; i < N; i++)
        host[i] = from + i;
    a->put(a, stream, buffers[1], host, BYTES);
    memset(host, 0xff, BYTES);
    a->put(a, stream, buffers[0], host, BYTES);
    free(host);
}

static void drop_buffers(struct app *a, void *buffers[2])
{
    for (int i = 0; i < 2; i++)
        a->drop(a, buffers[i]);
}

static uint32_t sum_of(uint32_t from, uint32_t i)
{
    return 2 * (from + i) + (uint32_t)((uint64_t)N * from + (uint64_t)N * (N - 1) / 2);
}

/* How many elements of out are not what make_sum's work gives. */
static int count_wrong(struct app *a, void *stream, uint32_t from, void *out)
{
    uint32_t *host = malloc(BYTES);
    int wrong = 0;
    a->get(a, stream, host, out, BYTES);
    for (uint32_t i = 0; i < N; i++)
        wrong += host[i] != sum_of(from, i);
    free(host);
    return wrong;
}

/* --------------------------------------------------------------------------------------------------- tests on OpenCL and CUDA */

static void the_device_is_described(void **state)
{
    struct app *a = take(state);
    struct devspec listed;
    OK(device_find(a->backend->name, &listed, &err));
    assert_true(devspec_same(&a->spec, &listed));
    assert_int_equal(a->spec.index, listed.index);
    assert_string_equal(a->spec.uuid, listed.uuid);
    assert_string_equal(a->spec.driver, listed.driver);
    assert_int_equal(a->spec.max_shared, listed.max_shared);
    assert_int_equal(a->spec.max_threads, listed.max_threads);
}

static void launches_on_any_stream(void **state)
{
    struct app *a = take(state);
    uint32_t host[N];
    for (int s = 0; s < 3; s++) {
        void *stream = s < 2 ? a->streams[s] : NULL, *buffers[2];
        void *same = stream ? stream : a->cl ? a->streams[0] : NULL; /* null: the handle's queue, or CUDA's default */
        uint32_t n = N - 100;
        struct job j;
        make_add(a, 5, n, BYTES - 60, &j);
        make_buffers(a, same, 7, buffers);
        OK(a->backend->launch(a->guest, stream, &j.work, buffers, NULL, &err));
        a->get(a, same, host, buffers[0], BYTES);
        for (uint32_t i = 0; i < N; i++)
            assert_int_equal(host[i], i < n ? 12 + i : i >= N - 15 && i < N - 10 ? 0 : UINT32_MAX);
        drop_buffers(a, buffers);
    }
}

/* Of each launch its own value, which is read at once. */
static void scalars_are_read_at_once(void **state)
{
    struct app *a = take(state);
    uint32_t host[N], by = 0;
    void *buffers[3];
    struct job j;
    make_add(a, 5, N, BYTES - 60, &j);
    make_buffers(a, a->streams[0], 7, buffers);
    j.params[0][2] = (struct guest_param){ .kind = GUEST_SCALAR, .index = 2, .bytes = sizeof by };
    j.launches[0] = launch_of(a, "add", j.params[0], 4);
    j.work.nclears = 0;
    j.work.nbuffers = 3;
    buffers[2] = &by;
    for (int i = 0; i < 3; i++) {
        by = 1000 * (uint32_t)i + 1;
        OK(a->backend->launch(a->guest, a->streams[0], &j.work, buffers, NULL, &err));
        by = 0;
        a->get(a, a->streams[0], host, buffers[0], BYTES);
        for (uint32_t at = 0; at < N; at++)
            assert_int_equal(host[at], 7 + at + 1000 * (uint32_t)i + 1);
    }
    drop_buffers(a, buffers);
}

static void a_workspace_is_taken(void **state)
{
    struct app *a = take(state);
    struct job j;
    void *buffers[2];
    make_sum(a, &j);
    make_buffers(a, a->streams[1], 3, buffers);
    for (int again = 0; again < 3; again++)
        OK(a->backend->launch(a->guest, a->streams[1], &j.work, buffers, NULL, &err));
    assert_int_equal(count_wrong(a, a->streams[1], 3, buffers[0]), 0);
    drop_buffers(a, buffers);
}

static void a_workspace_is_given(void **state)
{
    struct app *a = take(state);
    struct job j;
    uint32_t host[WORKSPACE / 4] = { 0 };
    void *buffers[2], *room = a->make(a, WORKSPACE);
    make_sum(a, &j);
    make_buffers(a, a->streams[1], 3, buffers);
    a->put(a, a->streams[1], room, host, WORKSPACE);
    OK(a->backend->launch(a->guest, a->streams[1], &j.work, buffers, room, &err));
    assert_int_equal(count_wrong(a, a->streams[1], 3, buffers[0]), 0);
    a->get(a, a->streams[1], host, room, WORKSPACE);
    assert_int_equal(host[TOTAL_AT / 4], sum_of(3, 0) - 2 * 3);
    drop_buffers(a, buffers);
    a->drop(a, room);
}

static void shared_memory_of_any_size(void **state)
{
    struct app *a = take(state);
    struct guest_param params[] = { buffer(0), buffer(1) };
    uint32_t host[N];
    void *buffers[2];
    int64_t most = a->spec.max_shared - 256, less = most - 1024; /* a driver may have some for itself */
    /* The larger first: what it asked for must not be taken back. */
    struct guest_launch turns[2];
    for (int i = 0; i < 2; i++) {
        turns[i] = (struct guest_launch){ .kernel = "turn", .nparams = 2, .params = params };
        turns[i].geometry = (struct geometry){ .grid = { N / BLOCK, 1, 1 }, .block = { BLOCK, 1, 1 }, .shared = i ? less : most };
        OK(guest_function(a->guest, a->code, &turns[i], NULL, &err));
    }
    for (int i = 0; i < 2; i++) {
        struct guest_work work = { .nlaunches = 1, .nbuffers = 2, .launches = &turns[i] };
        make_buffers(a, a->streams[0], 0, buffers);
        OK(a->backend->launch(a->guest, a->streams[0], &work, buffers, NULL, &err));
        a->get(a, a->streams[0], host, buffers[0], BYTES);
        for (uint32_t e = 0; e < N / BLOCK * BLOCK; e++)
            assert_int_equal(host[e], e / BLOCK * BLOCK + BLOCK - 1 - e % BLOCK);
        drop_buffers(a, buffers);
    }
    FAILS(ERR_UNSUPPORTED, "turn", get_function(a->guest, a->code, "turn", a->spec.max_shared + 1, params, 2));
    FAILS(ERR_UNSUPPORTED, "turn", get_function(a->guest, a->code, "turn", -1, params, 2));
}

static void wrong_images_are_refused(void **state)
{
    struct app *a = take(state);
    struct guest_code *code = NULL;
    bool cuda = a->cu;
    const void *image = a->image.data;
    size_t bytes = a->image.len;
    FAILS(ERR_INVALID, "'null'", guest_load(a->guest, image, bytes, "null", &code, &err));
    FAILS(ERR_INVALID, cuda ? "clbin" : "cubin", guest_load(a->guest, image, bytes, cuda ? "clbin" : "cubin", &code, &err));
    FAILS(ERR_INVALID, "0 bytes", guest_load(a->guest, image, 0, a->format, &code, &err));
    FAILS(ERR_INVALID, "bytes", guest_load(a->guest, "nothing that anybody knows", 26, a->format, &code, &err));
    for (size_t cut = 1; cut < bytes && !cuda; cut += 1 + bytes / 50)
        FAILS(ERR_INVALID, "bytes", guest_load(a->guest, image, cut, a->format, &code, &err));
    for (size_t at = 0; at < bytes && !cuda; at += 1 + bytes / 50) {
        err = (struct err){ 0 };
        char *copy = malloc(bytes);
        memcpy(copy, image, bytes);
        copy[at] ^= 0x10;
        assert_true(guest_load(a->guest, copy, bytes, a->format, &code, &err) < 0 && *err.msg);
        free(copy);
    }
    if (cuda) {
        FAILS(ERR_INVALID, "stored as cubin", guest_load(a->guest, image, bytes, "cubin", &code, &err));
        FAILS(ERR_INVALID, "damaged", guest_load(a->guest, "\177ELF and no more", 15, "cubin", &code, &err));
        /* Text that only the driver can judge: refused here, or where a function is asked for. */
        static const char bad[] = ".version 6.4\n.target sm_52\n.address_size 64\nnothing\n";
        int rc = guest_load(a->guest, bad, sizeof bad, "ptx", &code, &err) ?: get_function(a->guest, code, "add", 0, NULL, 0);
        assert_true(rc < 0 && *err.msg);
        return;
    }
    assert_null(code);
}

static void wrong_arguments_are_refused(void **state)
{
    struct app *a = take(state);
    struct guest_param params[] = { buffer(0), buffer(1), number(1), number(N), number(0) };
    FAILS(ERR_NOTFOUND, "'absent'", get_function(a->guest, a->code, "absent", 0, params, 4));
    FAILS(ERR_INVALID, "65", get_function(a->guest, a->code, "add", 0, params, GUEST_PARAMS + 1));
    FAILS(ERR_INVALID, "-1", get_function(a->guest, a->code, "add", 0, params, -1));
    if (a->cu && !a->cu->cuFuncGetParamInfo)
        return; /* the driver does not tell */
    FAILS(ERR_INVALID, "takes 4", get_function(a->guest, a->code, "add", 0, params, 5));
    FAILS(ERR_INVALID, "takes 4", get_function(a->guest, a->code, "add", 0, params, 2));
    struct guest_param swapped[] = { number(1), buffer(0), buffer(1), number(N) };
    FAILS(ERR_INVALID, "argument 1", get_function(a->guest, a->code, "add", 0, swapped, 4));
    const char *const names[] = { "out", "in", "by", "n" };
    struct guest_launch l = { .kernel = "add", .nparams = 4, .params = params, .names = names };
    params[2].bytes = 8;
    FAILS(ERR_INVALID, "kernel argument 3 (by): the kernel takes 4 bytes, the launch gives 8: for an int say value(\"by\", \"by\", \"i32\")",
          guest_function(a->guest, a->code, &l, NULL, &err));
    params[2] = (struct guest_param){ .kind = GUEST_SCALAR, .bytes = 8 };
    FAILS(ERR_INVALID, "(by): the kernel takes 4 bytes, the launch gives 8", guest_function(a->guest, a->code, &l, NULL, &err));
    assert_null(strstr(err.msg, "value")); /* it is none */
    l.nparams = 3;
    FAILS(ERR_INVALID, "the kernel takes 4 arguments, the launch gives 3 (out, in, by)", guest_function(a->guest, a->code, &l, NULL, &err));
    l.nparams = 4;
    params[2] = (struct guest_param){ .kind = GUEST_SCALAR, .bytes = 2 };
    FAILS(ERR_INVALID, "(by): the kernel takes 4 bytes, the launch gives 2", guest_function(a->guest, a->code, &l, NULL, &err));
    l.names = NULL;
    FAILS(ERR_INVALID, "kernel argument 3: the kernel takes 4 bytes", guest_function(a->guest, a->code, &l, NULL, &err));
}

/* OpenCL C's own types are held against the script's. Bits may be read as unsigned numbers, elements as vectors; other names say nothing. */
static void other_types_are_refused(void **state)
{
    struct app *a = take(state);
    static const struct {
        const char *kernel; /* its parameter */
        const char *right, *wrong;
    } cases[] = {
        { "__global float *p", "f32 c64", "i32 u32 f64 f16 bf16 c128" },
        { "__global const float4 *p", "f32 c64", "i32 f64" },
        { "__constant double *p", "f64 c128", "f32 i64 c64" },
        { "__global int *p", "i32 u32", "f32 i64 i16" },
        { "__global uint *p", "i32 u32 f32", "f64 i64 u8 f16" },
        { "__global uint4 *p", "i32 f32 f16 u8 c128", "" },
        { "__global unsigned char *p", "i8 u8 f8e4m3", "f32 i32" },
        { "__global ushort *p", "i16 f16 bf16", "f32 i32 u8" },
        { "__global short *p", "i16 bf16", "f32 u8" },
        { "__global mine *p", "f32 i32 f64", "" },
        { "__global struct s *p", "f32 i32 f64", "" },
        { "__global void *p", "f32 i32 f64", "" },
        { "int p", "i32 u32", "f32" },
        { "uint p", "i32 u32 f32", "" },
        { "float p", "f32", "i32 u32" },
        { "long p", "i64 u64", "f64 c64" },
        { "float2 p", "c64", "f64 i64" },
        { "mine p", "f32 i32", "" },
        { "int64 p", "i64 f64", "" },
        { "__global float16 *p", "f32", "i32" },
    };
    struct compiler *c;
    struct buf image = { 0 }, log = { 0 }, source = { 0 };
    struct guest_code *code;
    buf_str(&source, "typedef int mine; typedef long int64; struct s { float x; };\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        buf_fmt(&source, "__kernel void k%zu(%s) {}\n", i, cases[i].kernel);
    OK(opencl_backend.compiling->open(&a->spec, &c, &err));
    OK(opencl_backend.compiling->compile(c, &(struct compile_job){ .source = source.data }, &image, NULL, &log, &err));
    opencl_backend.compiling->close(c);
    OK(guest_load(a->guest, image.data, image.len, NULL, &code, &err));
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        char words[64], kernel[8], *rest = words;
        bool right = i % 2 == 0, pointer = strchr(cases[i / 2].kernel, '*');
        snprintf(words, sizeof words, "%s", right ? cases[i / 2].right : cases[i / 2].wrong);
        snprintf(kernel, sizeof kernel, "k%zu", i / 2);
        for (const char *word; (word = strsep(&rest, " ")) && *word;) {
            const struct dtype *type = dtype_find(word);
            struct guest_param p = { .kind = pointer ? GUEST_BUFFER : GUEST_VALUE,
                                     .bytes = pointer ? 0 : type->bytes,
                                     .type = type };
            int rc = get_function(a->guest, code, kernel, 0, &p, 1);
            if ((rc == 0) != right || (rc && !strstr(err.msg, word)))
                fail_msg("%s and %s: %d %s", cases[i / 2].kernel, word, rc, rc ? err.msg : "");
        }
    }
    guest_unload(a->guest, code);
    buf_free(&image);
    buf_free(&log);
    buf_free(&source);
}

static void code_comes_and_goes(void **state)
{
    struct app *a = take(state);
    struct guest_code *other = NULL, *old = a->code;
    struct job j;
    void *buffers[2];
    OK(guest_load(a->guest, a->image.data, a->image.len, a->format, &other, &err));
    assert_ptr_not_equal(other, old);
    a->code = other;
    make_sum(a, &j);
    make_buffers(a, a->streams[0], 1, buffers);
    OK(a->backend->launch(a->guest, a->streams[0], &j.work, buffers, NULL, &err));
    assert_int_equal(count_wrong(a, a->streams[0], 1, buffers[0]), 0);
    a->code = old;
    guest_unload(a->guest, other);
    guest_unload(a->guest, NULL);
    make_sum(a, &j);
    OK(a->backend->launch(a->guest, a->streams[0], &j.work, buffers, NULL, &err));
    assert_int_equal(count_wrong(a, a->streams[0], 1, buffers[0]), 0);
    drop_buffers(a, buffers);
}

/* The work adds the same to the output each time, so that what another thread's launch mixed in stays. */
static void *launch_often(void *arg)
{
    enum { TIMES = 500 };
    struct thread *t = arg;
    struct app *a = t->a;
    void *stream = a->streams[t->number % 2], *buffers[2];
    uint32_t from = (uint32_t)t->number * 1000, host[N];
    if (a->cu)
        a->cu->cuCtxSetCurrent(a->handle);
    make_buffers(a, stream, from, buffers);
    for (int i = 0; i < TIMES; i++)
        t->failed += a->backend->launch(a->guest, stream, &t->job->work, buffers, NULL, NULL) != 0;
    a->get(a, stream, host, buffers[0], BYTES);
    for (uint32_t i = 0; i < N; i++)
        t->wrong += host[i] != UINT32_MAX + TIMES * sum_of(from, i);
    drop_buffers(a, buffers);
    return NULL;
}

static void threads_share_a_kernel(void **state)
{
    struct app *a = take(state);
    struct thread threads[4];
    struct job j;
    make_sum(a, &j);
    j.work.nclears = 1; /* the workspace's alone */
    for (int i = 0; i < 4; i++) {
        threads[i] = (struct thread){ .a = a, .job = &j, .number = i };
        pthread_create(&threads[i].id, NULL, launch_often, &threads[i]);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i].id, NULL);
        assert_int_equal(threads[i].failed, 0);
        assert_int_equal(threads[i].wrong, 0);
    }
}

static void a_child_only_forgets(void **state)
{
    struct app *a = take(state);
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        guest_forget(a->guest);
        guest_forget(NULL);
        _exit(0);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

/* Work in flight is waited for, or goes on by itself. */
static void closing_with_work_in_flight(void **state)
{
    struct app other = *take(state);
    struct job j;
    void *buffers[2];
    OK(guest_open(other.backend, other.handle, &other.spec, &other.guest, &err));
    OK(guest_load(other.guest, other.image.data, other.image.len, other.format, &other.code, &err));
    make_sum(&other, &j);
    make_buffers(&other, other.streams[1], 9, buffers);
    for (int i = 0; i < 20; i++)
        OK(other.backend->launch(other.guest, other.streams[1], &j.work, buffers, NULL, &err));
    guest_close(other.guest);
    guest_close(NULL);
    assert_int_equal(count_wrong(&other, other.streams[1], 9, buffers[0]), 0);
    drop_buffers(&other, buffers);
}

/* ------------------------------------------------------------------------------------------------------------------ OpenCL only */

static void queues_are_looked_at(void **state)
{
    struct app *a = take(state);
    struct devspec spec;
    struct guest *g = NULL;
    struct job j;
    cl_device_id device;
    cl_int result = CL_SUCCESS;
    void *buffers[2];
    assert_int_equal(a->cl->clGetCommandQueueInfo(a->streams[0], CL_QUEUE_DEVICE, sizeof device, &device, NULL), CL_SUCCESS);
    cl_context context = a->cl->clCreateContext(NULL, 1, &device, NULL, NULL, &result);
    cl_command_queue foreign = queue_of(a, context, 0), mixed = queue_of(a, a->context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    FAILS(ERR_INVALID, "null", guest_open(a->backend, NULL, &spec, &g, &err));
    FAILS(ERR_INVALID, "out of order", guest_open(a->backend, mixed, &spec, &g, &err));
    assert_null(g);
    make_add(a, 1, N, 0, &j);
    make_buffers(a, a->streams[0], 0, buffers);
    FAILS(ERR_INVALID, "out of order", a->backend->launch(a->guest, mixed, &j.work, buffers, NULL, &err));
    FAILS(ERR_INVALID, "another context", a->backend->launch(a->guest, foreign, &j.work, buffers, NULL, &err));
    void *none[2] = { buffers[0], NULL };
    FAILS(ERR_INVALID, "buffer 1", a->backend->launch(a->guest, NULL, &j.work, none, NULL, &err));
    uint32_t host[N];
    a->get(a, a->streams[0], host, buffers[0], BYTES);
    for (int i = 0; i < N; i++)
        assert_int_equal(host[i], UINT32_MAX);
    drop_buffers(a, buffers);
    a->cl->clReleaseCommandQueue(mixed);
    a->cl->clReleaseCommandQueue(foreign);
    a->cl->clReleaseContext(context);
}

/* The guest keeps queue and context alive by itself. */
static void the_queue_is_retained(void **state)
{
    struct app *a = take(state);
    struct devspec spec;
    struct guest *g;
    cl_command_queue queue = queue_of(a, a->context, 0);
    OK(guest_open(a->backend, queue, &spec, &g, &err));
    a->cl->clReleaseCommandQueue(queue);
    struct app other = *a;
    struct job j;
    void *buffers[2];
    other.guest = g;
    OK(guest_load(g, a->image.data, a->image.len, a->format, &other.code, &err));
    make_sum(&other, &j);
    make_buffers(a, a->streams[0], 2, buffers);
    OK(other.backend->launch(g, NULL, &j.work, buffers, NULL, &err));
    a->cl->clFinish(queue);
    assert_int_equal(count_wrong(a, a->streams[0], 2, buffers[0]), 0);
    drop_buffers(a, buffers);
    guest_close(g);
}

/* -------------------------------------------------------------------------------------------------------------------- CUDA only */

/* A function of the driver's that only this test uses. */
static void *driver(const char *name)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *f = library ? dlsym(library, name) : NULL;
    if (!f)
        fail_msg("the driver lacks %s", name);
    return f;
}

static void the_current_context_counts(void **state)
{
    struct app *a = take(state);
    struct devspec spec;
    struct guest *g = NULL;
    struct job j;
    void *buffers[2];
    CUcontext now = a->handle;
    make_sum(a, &j);
    make_buffers(a, a->streams[0], 0, buffers);
    a->cu->cuCtxSetCurrent(NULL);
    FAILS(ERR_INVALID, "no CUDA context", a->backend->launch(a->guest, a->streams[0], &j.work, buffers, NULL, &err));
    FAILS(ERR_INVALID, "no CUDA context", guest_open(a->backend, NULL, &spec, &g, &err));
    OK(guest_open(a->backend, a->handle, &spec, &g, &err)); /* the others need none, and leave none */
    struct app other = *a;
    other.guest = g;
    OK(guest_load(g, a->image.data, a->image.len, a->format, &other.code, &err));
    make_sum(&other, &j);
    guest_close(g);
    assert_int_equal(a->cu->cuCtxGetCurrent(&now), CUDA_SUCCESS);
    assert_null(now);
    a->cu->cuCtxSetCurrent(a->handle);
    drop_buffers(a, buffers);
}

/* Work of launches only, in a primary context: the driver says that the function is not the current context's. */
static void a_plain_launch_asks_the_driver(void **state)
{
    struct app *a = take(state);
    CUresult (*create)(CUcontext *, unsigned, CUdevice) = (CUresult(*)(CUcontext *, unsigned, CUdevice))driver("cuCtxCreate_v2");
    CUresult (*destroy)(CUcontext) = (CUresult(*)(CUcontext))driver("cuCtxDestroy_v2");
    CUdevice device;
    CUcontext other;
    struct job j;
    uint32_t host[N];
    void *buffers[2];
    make_add(a, 5, N, BYTES - 60, &j);
    j.work.nclears = 0;
    make_buffers(a, a->streams[0], 7, buffers);
    assert_int_equal(a->cu->cuCtxGetDevice(&device), CUDA_SUCCESS);
    assert_int_equal(create(&other, 0, device), CUDA_SUCCESS);
    FAILS(ERR_INVALID, "another CUDA context", a->backend->launch(a->guest, NULL, &j.work, buffers, NULL, &err));
    assert_int_equal(destroy(other), CUDA_SUCCESS);
    a->cu->cuCtxSetCurrent(a->handle);
    OK(a->backend->launch(a->guest, a->streams[0], &j.work, buffers, NULL, &err));
    a->get(a, a->streams[0], host, buffers[0], BYTES);
    assert_int_equal(host[0], 7 + 5);
    drop_buffers(a, buffers);
}

typedef struct CUgraph_st *graph;
typedef struct CUgraphExec_st *graph_exec;

static void launches_are_captured(void **state)
{
    struct app *a = take(state);
    CUresult (*begin)(CUstream, unsigned) = (CUresult(*)(CUstream, unsigned))driver("cuStreamBeginCapture_v2");
    CUresult (*end)(CUstream, graph *) = (CUresult(*)(CUstream, graph *))driver("cuStreamEndCapture");
    CUresult (*make)(graph_exec *, graph, unsigned long long) =
        (CUresult(*)(graph_exec *, graph, unsigned long long))driver("cuGraphInstantiateWithFlags");
    CUresult (*launch)(graph_exec, CUstream) = (CUresult(*)(graph_exec, CUstream))driver("cuGraphLaunch");
    CUresult (*drop_exec)(graph_exec) = (CUresult(*)(graph_exec))driver("cuGraphExecDestroy");
    CUresult (*drop)(graph) = (CUresult(*)(graph))driver("cuGraphDestroy");
    struct job j;
    void *buffers[2];
    graph g = NULL;
    graph_exec exec = NULL;
    make_sum(a, &j);
    make_buffers(a, a->streams[0], 4, buffers);
    assert_int_equal(begin(a->streams[0], 0), CUDA_SUCCESS); /* 0: no thread may do what cannot be captured */
    OK(a->backend->launch(a->guest, a->streams[0], &j.work, buffers, NULL, &err));
    assert_int_equal(end(a->streams[0], &g), CUDA_SUCCESS);
    assert_int_equal(make(&exec, g, 0), CUDA_SUCCESS);
    assert_true(count_wrong(a, a->streams[0], 4, buffers[0]) == N); /* nothing has run yet */
    for (int i = 0; i < 2; i++)
        assert_int_equal(launch(exec, a->streams[0]), CUDA_SUCCESS);
    assert_int_equal(count_wrong(a, a->streams[0], 4, buffers[0]), 0);
    drop_exec(exec);
    drop(g);
    drop_buffers(a, buffers);
}

static void a_destroyed_context_is_a_code(void **state)
{
    struct app *a = take(state);
    CUresult (*create)(CUcontext *, unsigned, CUdevice) = (CUresult(*)(CUcontext *, unsigned, CUdevice))driver("cuCtxCreate_v2");
    CUresult (*destroy)(CUcontext) = (CUresult(*)(CUcontext))driver("cuCtxDestroy_v2");
    struct app other = *a;
    struct job j;
    CUdevice device;
    CUcontext context, again;
    assert_int_equal(a->cu->cuCtxGetDevice(&device), CUDA_SUCCESS);
    assert_int_equal(create(&context, 0, device), CUDA_SUCCESS);
    OK(guest_open(a->backend, context, &other.spec, &other.guest, &err));
    OK(guest_load(other.guest, a->image.data, a->image.len, a->format, &other.code, &err));
    make_sum(&other, &j);
    assert_int_equal(destroy(context), CUDA_SUCCESS);
    void *buffers[2];
    struct guest_code *code = NULL;
    err = (struct err){ 0 };
    a->cu->cuCtxSetCurrent(a->handle);
    make_buffers(a, a->streams[0], 0, buffers);
    FAILS(ERR_INVALID, "another CUDA context", a->backend->launch(other.guest, a->streams[0], &j.work, buffers, NULL, &err));
    assert_true(guest_load(other.guest, a->image.data, a->image.len, a->format, &code, &err) < 0 && *err.msg);
    assert_true(get_function(other.guest, other.code, "add", 0, j.params[0], 4) < 0 && *err.msg);
    /* Another may come to lie at the same address. */
    assert_int_equal(create(&again, 0, device), CUDA_SUCCESS);
    err = (struct err){ 0 };
    if (again != context)
        assert_true(a->backend->launch(other.guest, NULL, &j.work, buffers, NULL, &err) < 0 && *err.msg);
    else if (
        a->cu->cuCtxGetId) /* an older driver does not tell them apart. Launches do not ask: a library's kernel is as good there */
        assert_true(guest_load(other.guest, a->image.data, a->image.len, a->format, &code, &err) < 0 && *err.msg);
    guest_close(other.guest);
    assert_int_equal(destroy(again), CUDA_SUCCESS);
    a->cu->cuCtxSetCurrent(a->handle);
    drop_buffers(a, buffers);
}

/* Two handles of one process, each on a device of its own: what is one's is not taken by the other. */
static void another_device_is_another_context(void **state)
{
    struct app *a = take(state);
    struct app other = *a;
    struct job own, j;
    void *buffers[2], *foreign[2];
    CUdevice device;
    CUcontext context;
    int n = 0;
    assert_int_equal(a->cu->cuDeviceGetCount(&n), CUDA_SUCCESS);
    if (n < 2)
        skip();
    make_sum(a, &own);
    make_buffers(a, a->streams[0], 3, buffers);
    assert_int_equal(a->cu->cuDeviceGet(&device, 1), CUDA_SUCCESS);
    assert_int_equal(a->cu->cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
    OK(guest_open(a->backend, context, &other.spec, &other.guest, &err)); /* while the first device's is current */
    assert_string_not_equal(a->spec.uuid, other.spec.uuid);
    OK(guest_load(other.guest, a->image.data, a->image.len, a->format, &other.code, &err));
    make_sum(&other, &j);
    FAILS(ERR_INVALID, "another CUDA context", a->backend->launch(other.guest, NULL, &j.work, buffers, NULL, &err));
    assert_int_equal(a->cu->cuCtxSetCurrent(context), CUDA_SUCCESS);
    assert_int_equal(a->cu->cuStreamCreate((CUstream *)&other.streams[0], CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    make_buffers(&other, other.streams[0], 5, foreign);
    FAILS(ERR_INVALID, "another CUDA context", a->backend->launch(a->guest, a->streams[0], &own.work, buffers, NULL, &err));
    OK(a->backend->launch(other.guest, other.streams[0], &j.work, foreign, NULL, &err));
    assert_int_equal(count_wrong(&other, other.streams[0], 5, foreign[0]), 0);
    err = (struct err){ 0 }; /* the other's stream in this one's context: the driver says so */
    assert_true(a->backend->launch(other.guest, a->streams[0], &j.work, foreign, NULL, &err) < 0 && *err.msg);
    drop_buffers(&other, foreign);
    a->cu->cuStreamDestroy_v2(other.streams[0]);
    guest_close(other.guest);
    assert_int_equal(a->cu->cuCtxSetCurrent(a->handle), CUDA_SUCCESS);
    OK(a->backend->launch(a->guest, a->streams[0], &own.work, buffers, NULL, &err));
    assert_int_equal(count_wrong(a, a->streams[0], 3, buffers[0]), 0);
    a->cu->cuDevicePrimaryCtxRelease_v2(device);
    drop_buffers(a, buffers);
}

int main(void)
{
#define ON_BOTH                                                                                                                    \
    cmocka_unit_test(the_device_is_described), cmocka_unit_test(launches_on_any_stream),                                           \
        cmocka_unit_test(scalars_are_read_at_once), cmocka_unit_test(a_workspace_is_taken),                                        \
        cmocka_unit_test(a_workspace_is_given), cmocka_unit_test(shared_memory_of_any_size),                                       \
        cmocka_unit_test(wrong_images_are_refused), cmocka_unit_test(wrong_arguments_are_refused),                                 \
        cmocka_unit_test(code_comes_and_goes), cmocka_unit_test(threads_share_a_kernel), cmocka_unit_test(a_child_only_forgets),   \
        cmocka_unit_test(closing_with_work_in_flight)
    const struct CMUnitTest opencl_tests[] = {
        ON_BOTH,
        cmocka_unit_test(other_types_are_refused),
        cmocka_unit_test(queues_are_looked_at),
        cmocka_unit_test(the_queue_is_retained),
        cmocka_unit_test(memory_runs_out),
    };
    const struct CMUnitTest cuda_tests[] = {
        ON_BOTH,
        cmocka_unit_test(the_current_context_counts),
        cmocka_unit_test(a_plain_launch_asks_the_driver),
        cmocka_unit_test(launches_are_captured),
        cmocka_unit_test(a_destroyed_context_is_a_code),
        cmocka_unit_test(another_device_is_another_context),
    };
    int failed = cmocka_run_group_tests(opencl_tests, open_opencl, close_opencl);
    return failed + cmocka_run_group_tests(cuda_tests, open_cuda, close_cuda);
}
