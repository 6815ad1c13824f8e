/* scalars DEVICE DATABASE: docs/examples/axpby, tuned in the database, on a real device: typed calls with two scalars, launches by the
 * application itself, the fall-back for buffers less aligned than the winner needs, and (CUDA) stream capture. Prints a line per error, and
 * then exits with 1. */
#include <stdbool.h>

#include "app_graph.h"
#include "axpby_ops.h"

enum { N = 1000, ROOM = N + 8 };

static struct app app;
static void *stream, *out, *x, *y;
static cutune_handle *h;
static float host[ROOM];
static int bad;

static void expect(bool right, const char *what)
{
    if (!right)
        bad += printf("not right: %s; the library last said: %s\n", what, cutune_error()) > 0;
}

static float x_at(int i)
{
    return (float)(i % 37);
}

static float y_at(int i)
{
    return (float)(i % 23 - 11);
}

static void forget_result(void)
{
    expect(!app_fill(&app, stream, out, 0, sizeof host, 0xff), "a fill");
}

/* Whether elements from..from + n - 1 are what they must be and the others were left alone. The numbers are exact. */
static bool is_right(float alpha, float beta, int from, int n)
{
    int wrong = 0;
    if (app_get(&app, stream, host, out, sizeof host))
        return false;
    for (int i = 0; i < ROOM; i++) {
        float want = alpha * x_at(i) + beta * y_at(i);
        wrong += i < from || i >= from + n ? host[i] == host[i] : host[i] != want;
    }
    return !wrong;
}

static void typed_calls(void)
{
    static const float numbers[][2] = { { 0.5f, -0.25f }, { 0, 1 }, { 3, 0 }, { -1.5f, 1024 } };
    for (int i = 0; i < 4; i++) {
        float alpha = numbers[i][0], beta = numbers[i][1];
        forget_result();
        expect(cutune_axpby(h, stream, "f32", out, alpha, x, beta, y, N) == CUTUNE_OK && is_right(alpha, beta, 0, N),
               "a typed call");
        forget_result();
        expect(cutune_axpby(h, stream, "f32", out, alpha, x, beta, y, 7) == CUTUNE_OK && is_right(alpha, beta, 0, 7),
               "a typed call of what was not tuned");
    }
}

/* The values are read during the call: what becomes of them then does not matter. */
static void values_are_read_at_once(const cutune_kernel *k)
{
    float alpha = 2, beta = 8;
    void *const buffers[] = { out, &alpha, x, &beta, y };
    forget_result();
    expect(cutune_launch(k, stream, buffers, 5) == CUTUNE_OK, "a launch");
    alpha = beta = 0;
    expect(is_right(2, 8, 0, N), "its result");
    void *const lacking[] = { out, NULL, x, &beta, y };
    expect(cutune_launch(k, stream, lacking, 5) == CUTUNE_ERR_INVALID && strstr(cutune_error(), "scalar alpha is null"),
           "a null scalar");
    expect(cutune_launch(k, stream, buffers, 3) == CUTUNE_ERR_INVALID && strstr(cutune_error(), "3 buffers and 2 scalars, not 3"),
           "a count");
}

/* Of a cl_mem the alignment is not checked. */
static void falls_back(const cutune_kernel *k)
{
    float alpha = 4, beta = -2;
    void *const shifted[] = { (char *)out + 4, &alpha, (char *)x + 4, &beta, (char *)y + 4 };
    expect(!strcmp(cutune_kernel_variant(k), "fours") == (cutune_kernel_fallback(k) != NULL), "the fall-back");
    if (!app.cu)
        return;
    forget_result();
    expect(cutune_launch(k, stream, shifted, 5) == CUTUNE_OK && is_right(4, -2, 1, N), "buffers aligned to their elements only");
}

/* With what the getters tell. */
static void own_launch(const cutune_kernel *k)
{
    float alpha = 0.125f, beta = 16;
    void *buffers[] = { out, &alpha, x, &beta, y }, *function = NULL, *pointers[16];
    cutune_param p[16];
    cutune_geometry g = { .size = sizeof g };
    int n = cutune_kernel_params(k, 0), scalars = 0,
        failed = cutune_kernel_geometry(k, 0, &g) || cutune_kernel_function(k, 0, &function) || n > 16;
    for (int i = 0; i < n && !failed; i++) {
        p[i].size = sizeof p[i];
        failed = cutune_kernel_param(k, 0, i, &p[i]);
        bool scalar = p[i].kind == CUTUNE_PARAM_SCALAR, value = p[i].kind == CUTUNE_PARAM_VALUE;
        scalars += scalar;
        pointers[i] = value ? (void *)p[i].value : scalar ? buffers[p[i].index] : (void *)&buffers[p[i].index];
        if (!app.cu && !failed)
            failed =
                app.cl->clSetKernelArg(function, (cl_uint)i, scalar || value ? (size_t)p[i].bytes : sizeof(cl_mem), pointers[i]);
    }
    const size_t local[] = { (size_t)g.block[0] }, global[] = { (size_t)(g.grid[0] * g.block[0]) };
    forget_result();
    if (!failed && app.cu)
        failed =
            (int)app.cu->cuLaunchKernel(function, (unsigned)g.grid[0], 1, 1, (unsigned)g.block[0], 1, 1, 0, stream, pointers, NULL);
    else if (!failed)
        failed = app.cl->clEnqueueNDRangeKernel(stream, function, 1, NULL, global, local, 0, NULL, NULL);
    expect(!failed && scalars == 2 && is_right(0.125f, 16, 0, N), "a launch by the application itself");
}

/* ---- stream capture */

/* A graph keeps the values that it was captured with. */
static void captured(void)
{
    struct app_graph graph = { 0 };
    forget_result();
    expect(!app.cu->cuStreamSynchronize(stream) && !app_capture(stream), "cuStreamBeginCapture");
    expect(cutune_axpby(h, stream, "f32", out, 32, x, 0.0625f, y, N) == CUTUNE_OK, "a typed call while it is captured");
    expect(!app_captured(stream, &graph), "the graph");
    expect(cutune_axpby(h, stream, "f32", out, 1, x, 1, y, N) == CUTUNE_OK && is_right(1, 1, 0, N), "a call with other values");
    for (int i = 0; i < 2; i++) {
        forget_result();
        expect(!app_graph_launch(&graph, stream) && is_right(32, 0.0625f, 0, N), "the graph's result");
    }
    app_graph_drop(&graph);
}

int main(int argc, char **argv)
{
    const int64_t sizes[] = { N };
    const cutune_kernel *k = NULL;
    cutune *c = NULL;
    if (argc != 3)
        return fprintf(stderr, "scalars DEVICE DATABASE\n"), 2;
    if (app_open(&app, argv[1]) || app_stream(&app, &stream) || app_make(&app, sizeof host, &out) ||
        app_make(&app, sizeof host, &x) || app_make(&app, sizeof host, &y))
        return 1;
    for (int i = 0; i < ROOM; i++)
        host[i] = x_at(i);
    expect(!app_put(&app, stream, x, host, sizeof host), "the input");
    for (int i = 0; i < ROOM; i++)
        host[i] = y_at(i);
    expect(!app_put(&app, stream, y, host, sizeof host), "the input");
    if (cutune_open(argv[2], &c) || app_attach(&app, c, stream, &h) || cutune_lookup(h, "axpby", "f32", sizes, 1, &k))
        return fprintf(stderr, "%s\n", cutune_error()), 1;
    expect(cutune_kernel_match(k) == CUTUNE_MATCH_EXACT, "an exact answer");
    typed_calls();
    values_are_read_at_once(k);
    falls_back(k);
    own_launch(k);
    if (app.cu)
        captured();
    cutune_close(c);
    app_drop(&app, out);
    app_drop(&app, x);
    app_drop(&app, y);
    app_stream_drop(&app, stream);
    app_close(&app);
    if (!bad)
        printf("axpby on %s: all calls are right\n", argv[1]);
    return bad != 0;
}
