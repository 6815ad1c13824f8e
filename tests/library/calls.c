/* calls DEVICE DATABASE [COMMAND...]: tests the calls of cutune.h on a real device, and compares the results with plain C: workspaces,
 * typed calls, launches by the application itself, stream capture (CUDA), buffers less aligned than a kernel needs (CUDA), a context
 * that is not the handle's, closing with work in flight. If the database knows nothing of the device, the shipped tables are used.
 * COMMAND, `cutune run --wanted` into the same database, must tune what is looked up here and has no winner yet. Prints one line per
 * error, and then exits with 1. */
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "app_graph.h"
#include "cutune_ops.h"

enum { N = 100003, M = 64, ROOM = 1 << 20, TIMES = 20 };

static struct app app;
static void *stream, *out, *x, *y; /* buffers of ROOM bytes */
static cutune *c;
static cutune_handle *h;
static int32_t host[ROOM / 4];
static int bad;

static int expect(int right, const char *what)
{
    if (!right) {
        printf("not right: %s; the library last said: %s\n", what, cutune_error());
        bad++;
    }
    return right;
}

static int32_t x_at(int i)
{
    return i % 1000 - 300;
}

static int32_t y_at(int i)
{
    return i % 7;
}

/* Integers: their sum does not depend on the order. */
static int sum_is_right(void)
{
    int32_t sum = 0;
    for (int i = 0; i < N; i++)
        sum += x_at(i) * y_at(i);
    return !app_get(&app, stream, host, out, 4) && host[0] == sum;
}

static void forget_result(void)
{
    expect(!app_fill(&app, stream, out, 0, ROOM, 0xff), "a fill");
}

static const cutune_kernel *find_dot(void)
{
    const int64_t n = N;
    const cutune_kernel *k = NULL;
    expect(cutune_lookup(h, "dot", "i32", &n, 1, &k) == CUTUNE_OK, "the look-up of dot");
    return k;
}

/* Of i32, in as the i32 of x, M x M from element `at` of both. */
static int transpose_is_right(int at)
{
    int wrong = 0;
    if (app_get(&app, stream, host, out, ROOM))
        return 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++)
            wrong += host[at + j * M + i] != x_at(at + i * M + j);
    for (int i = 0; i < at; i++)
        wrong += host[i] != -1;
    return !wrong && host[at + M * M] == -1;
}

/* ---- what is called */

static void workspaces(void)
{
    void *const buffers[] = { out, x, y };
    const cutune_kernel *k = find_dot();
    size_t bytes = k ? cutune_kernel_workspace(k) : 0;
    void *room = NULL;
    if (!expect(bytes > 0, "dot's default takes a workspace") || app_make(&app, bytes, &room))
        return;
    for (int i = 0; i < 3; i++) {
        forget_result();
        expect(cutune_launch(k, stream, buffers, 3) == CUTUNE_OK && sum_is_right(), "dot in a workspace of the library's");
        forget_result();
        expect(!app_fill(&app, stream, room, 0, bytes, 0xff) && cutune_launch_in(k, stream, buffers, 3, room, bytes) == CUTUNE_OK &&
                   sum_is_right(),
               "dot in a workspace of the caller's");
    }
    expect(cutune_launch_in(k, stream, buffers, 3, room, bytes - 1) == CUTUNE_ERR_INVALID, "a workspace too small");
    expect(cutune_launch_in(k, stream, buffers, 3, NULL, bytes) == CUTUNE_ERR_INVALID, "a workspace that is null");
    app_drop(&app, room);
}

static void typed_calls(void)
{
    forget_result();
    expect(cutune_dot(h, stream, "i32", out, x, y, N) == CUTUNE_OK && sum_is_right(), "cutune_dot");
    forget_result();
    expect(cutune_transpose(h, stream, "i32", out, x, M, M) == CUTUNE_OK && transpose_is_right(0), "cutune_transpose");
    forget_result();
    expect(cutune_transpose(h, stream, "i32", out, x, M, M - 1, M, M, 0) == CUTUNE_OK && !app_get(&app, stream, host, out, ROOM) &&
               host[1] == x_at(M) && host[M] == x_at(1) && host[M * (M - 1)] == -1,
           "cutune_transpose of all but a column");
}

/* The first time as most call it; then on what is there, with A transposed and rows further apart. */
static void product(int general)
{
    enum { ROWS = 9, COLUMNS = 5, K = 7, LDC = 6 };
    const int32_t alpha = general ? 2 : 1, beta = general ? 3 : 0;
    const int64_t ldc = general ? LDC : COLUMNS;
    int wrong = 0;
    forget_result();
    int rc = general ? cutune_gemm(h, stream, "i32", out, &alpha, x, y, &beta, ROWS, COLUMNS, K, 1, 0, 0, 0, LDC, 0)
                     : cutune_gemm(h, stream, "i32", out, &alpha, x, y, &beta, ROWS, COLUMNS, K);
    expect(rc == CUTUNE_OK && !app_get(&app, stream, host, out, ROOM), "cutune_gemm");
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ldc; j++) {
            int32_t sum = 0;
            for (int k = 0; k < K; k++)
                sum += x_at(general ? k * ROWS + i : i * K + k) * y_at(k * COLUMNS + j);
            wrong += host[i * ldc + j] != (j < COLUMNS ? alpha * sum - beta : -1);
        }
    expect(!wrong && host[ROWS * ldc] == -1, "the product of cutune_gemm");
}

/* Axes that have a default may be left out. */
static void fewer_sizes(void)
{
    enum { ALL = 9, NEEDED = 3 };
    const int64_t sizes[ALL] = { 9, 5, 7 };
    const cutune_kernel *k;
    for (int n = NEEDED; n <= ALL; n++)
        expect(cutune_lookup(h, "gemm", "i32", sizes, n, &k) == CUTUNE_OK, "the sizes of a product that are needed, and more");
    expect(cutune_lookup(h, "gemm", "i32", sizes, NEEDED - 1, &k) == CUTUNE_ERR_INVALID &&
               strstr(cutune_error(), "gemm takes 3 to 9 sizes (m, n, k, ta, tb, lda, ldb, ldc, batch), not 2"),
           "two sizes of a product");
}

/* Of a transpose; where it needs more than its elements' alignment, another is launched. */
static void askew(const cutune_kernel *k)
{
    if (!app.cu)
        return; /* of a cl_mem only identity is checked */
    void *const by_one[] = { (char *)out + 4, (char *)x + 4 }, *const by_half[] = { (char *)out + 2, x }, *const over[] = { x, x };
    forget_result();
    expect(cutune_launch(k, stream, by_one, 2) == CUTUNE_OK && transpose_is_right(1), "buffers aligned to their elements only");
    expect(cutune_launch(k, stream, by_half, 2) == CUTUNE_ERR_INVALID, "a buffer not aligned to its elements");
    expect(cutune_launch(k, stream, over, 2) == CUTUNE_ERR_INVALID, "an output that is the input");
}

/* ---- launching by oneself */

enum { OWN_PARAMS = 64 };

/* A launch as the getters tell it; workspace parameters as the addresses or sub-buffers that they stand for. */
struct own {
    cutune_geometry g;
    int n;
    cutune_param params[OWN_PARAMS];
    void *memory[OWN_PARAMS];
};

static int tell(const cutune_kernel *k, int launch, void *const *buffers, void *room, size_t bytes, struct own *o)
{
    cl_int rc = CL_SUCCESS;
    *o = (struct own){ .g.size = sizeof o->g, .n = cutune_kernel_params(k, launch) };
    if (cutune_kernel_geometry(k, launch, &o->g) || o->n > OWN_PARAMS)
        return -1;
    for (int i = 0; i < o->n; i++) {
        cutune_param *p = &o->params[i];
        p->size = sizeof *p;
        if (cutune_kernel_param(k, launch, i, p))
            return -1;
        const cl_buffer_region part = { (size_t)p->offset, bytes - (size_t)p->offset };
        if (p->kind == CUTUNE_PARAM_BUFFER)
            o->memory[i] = buffers[p->index];
        else if (p->kind == CUTUNE_PARAM_WORKSPACE && app.cu)
            o->memory[i] = (char *)room + p->offset;
        else if (p->kind == CUTUNE_PARAM_WORKSPACE)
            o->memory[i] = app.cl->clCreateSubBuffer(room, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &part, &rc);
        if (rc)
            return app_check((unsigned)rc, "clCreateSubBuffer");
    }
    return 0;
}

static int run_cuda(void *function, struct own *o)
{
    void *pointers[OWN_PARAMS];
    const cutune_geometry *g = &o->g;
    for (int i = 0; i < o->n; i++)
        pointers[i] = o->params[i].kind == CUTUNE_PARAM_VALUE ? (void *)o->params[i].value : (void *)&o->memory[i];
    return app_check(app.cu->cuLaunchKernel(function, (unsigned)g->grid[0], (unsigned)g->grid[1], (unsigned)g->grid[2],
                                            (unsigned)g->block[0], (unsigned)g->block[1], (unsigned)g->block[2],
                                            (unsigned)g->shared, stream, pointers, NULL),
                     "cuLaunchKernel");
}

static int run_opencl(void *function, struct own *o)
{
    size_t global[3], local[3];
    cl_int rc = CL_SUCCESS;
    for (int d = 0; d < 3; d++) {
        local[d] = (size_t)o->g.block[d];
        global[d] = (size_t)(o->g.grid[d] * o->g.block[d]);
    }
    for (int i = 0; i < o->n && !rc; i++) {
        const cutune_param *p = &o->params[i];
        bool value = p->kind == CUTUNE_PARAM_VALUE;
        rc = app.cl->clSetKernelArg(function, (cl_uint)i, value ? (size_t)p->bytes : sizeof(cl_mem),
                                    value ? (const void *)p->value : (const void *)&o->memory[i]);
    }
    if (o->g.shared && !rc)
        rc = app.cl->clSetKernelArg(function, (cl_uint)o->n, (size_t)o->g.shared, NULL);
    rc = rc ?: app.cl->clEnqueueNDRangeKernel(stream, function, 3, NULL, global, local, 0, NULL, NULL);
    for (int i = 0; i < o->n && !app.cu; i++)
        if (o->params[i].kind == CUTUNE_PARAM_WORKSPACE)
            app_drop(&app, o->memory[i]);
    return app_check((unsigned)rc, "a launch of one's own");
}

static void own_launch(const cutune_kernel *k, void *const *buffers, const char *what)
{
    size_t bytes = cutune_kernel_workspace(k);
    void *room = NULL, *function;
    struct own o;
    int failed = bytes ? app_make(&app, bytes, &room) || app_fill(&app, stream, room, 0, bytes, 0xff) : 0;
    for (int i = 0; i < cutune_kernel_clears(k) && !failed; i++) {
        cutune_clear z = { .size = sizeof z };
        failed = cutune_kernel_clear(k, i, &z) || app_fill(&app, stream, z.kind == CUTUNE_PARAM_BUFFER ? buffers[z.index] : room,
                                                           (size_t)z.offset, (size_t)z.bytes, 0);
    }
    for (int i = 0; i < cutune_kernel_launches(k) && !failed; i++)
        failed = tell(k, i, buffers, room, bytes, &o) || cutune_kernel_function(k, i, &function) ||
                 (app.cu ? run_cuda(function, &o) : run_opencl(function, &o));
    expect(!failed && !app_get(&app, stream, host, out, 4), what);
    app_drop(&app, room);
}

static void own_launches(void)
{
    void *const buffers[] = { out, x, y };
    const int64_t sizes[] = { M, M };
    const cutune_kernel *k = find_dot();
    forget_result();
    own_launch(k, buffers, "dot launched by the caller");
    expect(sum_is_right(), "the sum of dot launched by the caller");
    expect(cutune_lookup(h, "transpose", "i32", sizes, 2, &k) == CUTUNE_OK, "the look-up of transpose");
    forget_result();
    own_launch(k, buffers, "transpose launched by the caller");
    expect(transpose_is_right(0), "the result of transpose launched by the caller");
    askew(k);
}

/* ---- stream capture */

/* Problems that nothing was launched of yet. */
static void prefetched(void)
{
    static const int64_t sum[] = { N - 1 }, turn[] = { M, M + 1 };
    const cutune_problem problems[] = { { sizeof *problems, "dot", "i32", sum, 1 },
                                        { sizeof *problems, "transpose", "i32", turn, 2 } };
    expect(cutune_prefetch(h, problems, 2) == CUTUNE_OK, "a prefetch");
    if (!app.cu) {
        forget_result();
        expect(cutune_transpose(h, stream, "i32", out, x, M, M + 1) == CUTUNE_OK && !app_get(&app, stream, host, out, ROOM) &&
                   host[M] == x_at(1),
               "a launch after a prefetch");
        return;
    }
    struct app_graph graph = { 0 };
    /* Element 1 of the output is the transpose's, element 0 at last the sum of all but the last pair. */
    forget_result();
    expect(!app_capture(stream), "cuStreamBeginCapture");
    expect(cutune_transpose(h, stream, "i32", out, x, M, M + 1) == CUTUNE_OK, "a transpose while it is captured");
    expect(cutune_dot(h, stream, "i32", out, x, y, N - 1) == CUTUNE_OK, "a dot, with its workspace, while it is captured");
    expect(!app_captured(stream, &graph), "the graph");
    expect(!app_get(&app, stream, host, out, 8) && host[0] == -1 && host[1] == -1, "nothing ran while it was captured");
    int32_t sum_of_all = 0;
    for (int i = 0; i < N - 1; i++)
        sum_of_all += x_at(i) * y_at(i);
    for (int i = 0; i < 2; i++) {
        forget_result();
        expect(!app_graph_launch(&graph, stream) && !app_get(&app, stream, host, out, 8) && host[0] == sum_of_all &&
                   host[1] == x_at(M + 1),
               "the graph's results");
    }
    app_graph_drop(&graph);
}

/* ---- what is not the handle's */

static void foreign(void)
{
    void *const buffers[] = { out, x, y };
    const cutune_kernel *k = find_dot();
    cutune_handle *none = NULL;
    cl_int rc = CL_SUCCESS;
    if (app.cu) {
        expect(!app.cu->cuCtxSetCurrent(NULL), "cuCtxSetCurrent");
        int code = cutune_launch(k, stream, buffers, 3); /* the stream may be enough for the driver */
        expect(code == CUTUNE_OK || (code == CUTUNE_ERR_INVALID && *cutune_error()), "a launch without a current context");
        expect(cutune_attach_cuda(c, NULL, &none) == CUTUNE_ERR_INVALID && !none, "a handle without a current context");
        expect(!app.cu->cuCtxSetCurrent(app.primary), "cuCtxSetCurrent");
        return;
    }
    cl_context context = app.cl->clCreateContext(NULL, 1, &app.id, NULL, NULL, &rc);
    cl_command_queue queue = app.cl->clCreateCommandQueue(context, app.id, 0, &rc);
    expect(cutune_launch(k, queue, buffers, 3) == CUTUNE_ERR_INVALID && *cutune_error(), "a queue of another context");
    expect(cutune_attach_opencl(c, NULL, &none) == CUTUNE_ERR_INVALID && !none, "a handle without a queue");
    app.cl->clReleaseCommandQueue(queue);
    app.cl->clReleaseContext(context);
    /* The handle keeps its queue. */
    rc = cutune_attach_opencl(c, queue = app.cl->clCreateCommandQueue(app.context, app.id, 0, NULL), &none);
    app.cl->clReleaseCommandQueue(queue);
    forget_result();
    expect(!app.cl->clFinish(stream), "clFinish");
    expect(!rc && cutune_dot(none, NULL, "i32", out, x, y, N) == CUTUNE_OK && !app.cl->clFinish(queue) && sum_is_right(),
           "a launch on the handle's queue, which its maker let go of");
    cutune_detach(none);
}

/* ---- misses, and back */

static int run(char **command)
{
    extern char **environ;
    pid_t child;
    int status;
    return posix_spawnp(&child, *command, NULL, NULL, command, environ) || waitpid(child, &status, 0) != child || status;
}

/* Of an application that goes on: asks, and has the winner once it was tuned. */
static void loop(const char *database, char **command)
{
    const cutune_options options = { .size = sizeof options, .path = database, .capture = 1, .refresh_ms = 10 };
    const int64_t sizes[] = { M, M };
    void *const buffers[] = { out, x };
    const cutune_kernel *k = NULL;
    cutune *application = NULL;
    cutune_handle *mine = NULL;
    if (!expect(cutune_open_with(&options, &application) == CUTUNE_OK && !app_attach(&app, application, stream, &mine) &&
                    cutune_lookup(mine, "transpose", "i32", sizes, 2, &k) == CUTUNE_OK &&
                    cutune_kernel_match(k) != CUTUNE_MATCH_EXACT && cutune_flush(application) == CUTUNE_OK && !run(command),
                "a miss, and the run that tunes it")) {
        cutune_close(application);
        return;
    }
    for (int i = 0; i < 30000 && cutune_kernel_match(k) != CUTUNE_MATCH_EXACT; i++) {
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
        expect(cutune_lookup(mine, "transpose", "i32", sizes, 2, &k) == CUTUNE_OK, "the look-up of what is being tuned");
    }
    expect(cutune_kernel_match(k) == CUTUNE_MATCH_EXACT, "what was asked for is tuned and taken up");
    forget_result();
    expect(cutune_launch(k, stream, buffers, 2) == CUTUNE_OK && transpose_is_right(0), "the new winner's result");
    askew(k);
    cutune_close(application);
}

static int count(void *arg, const cutune_record *r)
{
    ++*(int *)arg;
    expect(*r->op && *r->types && *r->sizes && *r->backend && *r->device && *r->variant && r->time_ns > 0, "what a record says");
    return 7;
}

int main(int argc, char **argv)
{
    int records = 0;
    if (argc < 3)
        return fprintf(stderr, "calls DEVICE DATABASE [COMMAND...]\n"), 2;
    if (app_open(&app, argv[1]) || app_stream(&app, &stream) || app_make(&app, ROOM, &out) || app_make(&app, ROOM, &x) ||
        app_make(&app, ROOM, &y))
        return 1;
    for (int i = 0; i < ROOM / 4; i++)
        host[i] = x_at(i);
    expect(!app_put(&app, stream, x, host, ROOM), "the input");
    for (int i = 0; i < ROOM / 4; i++)
        host[i] = y_at(i);
    expect(!app_put(&app, stream, y, host, ROOM), "the input");
    if (cutune_open(argv[2], &c))
        return fprintf(stderr, "%s\n", cutune_error()), 1;
    if (app_attach(&app, c, stream, &h))
        return 1;
    prefetched();
    workspaces();
    typed_calls();
    product(false);
    product(true);
    fewer_sizes();
    own_launches();
    foreign();
    if (argc > 3)
        loop(argv[2], argv + 3);
    expect(cutune_each(c, count, &records) == 7 && records == 1, "the enumeration, which is stopped at once");
    forget_result();
    for (int i = 0; i < TIMES; i++)
        expect(cutune_dot(h, stream, "i32", out, x, y, N) == CUTUNE_OK, "one of many launches");
    cutune_close(c);
    expect(sum_is_right(), "the result of what was in flight at the close");
    app_drop(&app, out);
    app_drop(&app, x);
    app_drop(&app, y);
    app_stream_drop(&app, stream);
    app_close(&app);
    printf("calls on %s: %s\n", argv[1], bad ? "not all right" : "right");
    return bad != 0;
}
