/* native cuda:0 DATABASE: tests/cli/ops/native.lua, tuned in the database, in an application: kernels whose names are C++'s and whose taps
 * are in constant memory, by the library's launches and by the application's own, and captured; then as PTX, and from source, as on a
 * device of another architecture. The database is changed. Prints a line per error, and then exits with 1. */
#include <dlfcn.h>
#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>

#include "app_graph.h"

enum { N = 1001, BLOCKS = (N + 255) / 256 };

static struct app app;
static void *stream, *sums, *x, *taps;
static float numbers[N + 2], weights[3];
static int bad;

static void expect(bool right, const char *what)
{
    if (!right)
        bad += printf("not right: %s; the library last said: %s\n", what, cutune_error()) > 0;
}

static void choose_taps(float a, float b, float c)
{
    weights[0] = a, weights[1] = b, weights[2] = c;
    expect(!app_put(&app, stream, taps, weights, sizeof weights), "the taps");
}

static bool is_right(void)
{
    float got[BLOCKS];
    bool right = !app_get(&app, stream, got, sums, sizeof got);
    for (int b = 0; b < BLOCKS && right; b++) {
        double want = 0;
        for (int i = b * 256; i < N && i < b * 256 + 256; i++)
            want += weights[0] * numbers[i] + weights[1] * numbers[i + 1] + weights[2] * numbers[i + 2];
        right = fabs(got[b] - want) <= 1e-4 * (1 + fabs(want));
    }
    return right && !app_fill(&app, stream, sums, 0, sizeof got, 0xff);
}

static void library_launches(const cutune_kernel *k)
{
    void *const buffers[] = { sums, x, taps };
    choose_taps(1, 2, 3);
    expect(!cutune_launch(k, stream, buffers, 3) && is_right(), "a launch");
    choose_taps(0.5f, 0, -1); /* what an earlier launch left in constant memory is not used */
    expect(!cutune_launch(k, stream, buffers, 3) && is_right(), "a launch with other taps");
}

static void own_launch(const cutune_kernel *k)
{
    void *const buffers[] = { sums, x, taps };
    void *function = NULL, *pointers[8];
    cutune_param p[8];
    cutune_constant c = { .size = sizeof c };
    cutune_geometry g = { .size = sizeof g };
    CUresult (*copy)(CUdeviceptr, CUdeviceptr, size_t, CUstream);
    void *found = dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), "cuMemcpyDtoDAsync_v2");
    memcpy(&copy, &found, sizeof copy);
    int n = cutune_kernel_params(k, 0), failed = cutune_kernel_constants(k) != 1 || cutune_kernel_constant(k, 0, &c) || n != 3 ||
                                                 cutune_kernel_geometry(k, 0, &g) || cutune_kernel_function(k, 0, &function);
    for (int i = 0; i < n && !failed; i++) {
        p[i].size = sizeof p[i];
        failed = cutune_kernel_param(k, 0, i, &p[i]);
        pointers[i] = p[i].kind == CUTUNE_PARAM_VALUE ? (void *)p[i].value : (void *)&buffers[p[i].index];
    }
    choose_taps(3, 1, 2);
    failed = failed || copy((CUdeviceptr)c.address, (CUdeviceptr)buffers[c.index], (size_t)c.bytes, stream) ||
             app.cu->cuLaunchKernel(function, (unsigned)g.grid[0], 1, 1, (unsigned)g.block[0], 1, 1, (unsigned)g.shared, stream,
                                    pointers, NULL);
    expect(!failed && is_right(), "a launch by the application itself");
}

static void captured(const cutune_kernel *k)
{
    void *const buffers[] = { sums, x, taps };
    struct app_graph graph = { 0 };
    expect(!app_capture(stream) && !cutune_launch(k, stream, buffers, 3) && !app_captured(stream, &graph), "a capture");
    for (int i = 0; i < 2; i++) { /* the copy is in the graph, too */
        choose_taps((float)i, 1, 7);
        expect(!app_graph_launch(&graph, stream) && is_right(), "the graph");
    }
    app_graph_drop(&graph);
}

static void change(const char *file, const char *statement)
{
    sqlite3 *db = NULL;
    expect(!sqlite3_open(file, &db) && !sqlite3_exec(db, statement, NULL, NULL, NULL), statement);
    sqlite3_close(db);
}

static void all_calls(const char *file, const char *form)
{
    const int64_t sizes[] = { N };
    const cutune_kernel *k = NULL;
    cutune *c = NULL;
    cutune_handle *h = NULL;
    int was = bad;
    if (cutune_open(file, &c) || app_attach(&app, c, stream, &h) || cutune_lookup(h, "native_sums", "f32", sizes, 1, &k)) {
        expect(false, "the look-up");
    } else {
        expect(cutune_kernel_match(k) == CUTUNE_MATCH_EXACT, "an exact answer");
        library_launches(k);
        own_launch(k);
        captured(k);
    }
    cutune_close(c);
    printf("as %s: %s\n", form, bad == was ? "all calls are right" : "not right");
}

int main(int argc, char **argv)
{
    if (argc != 3 || strncmp(argv[1], "cuda", 4))
        return fprintf(stderr, "native cuda:0 DATABASE\n"), 2;
    if (app_open(&app, argv[1]) || app_stream(&app, &stream) || app_make(&app, BLOCKS * sizeof(float), &sums) ||
        app_make(&app, sizeof numbers, &x) || app_make(&app, sizeof weights, &taps))
        return 1;
    for (int i = 0; i < N + 2; i++)
        numbers[i] = (float)(i % 37) / 8;
    expect(!app_put(&app, stream, x, numbers, sizeof numbers), "the input");
    all_calls(argv[2], "a binary");
    change(argv[2], "UPDATE code SET binary = NULL, format = NULL, arch = NULL");
    all_calls(argv[2], "PTX");
    change(argv[2], "UPDATE code SET portable = NULL");
    all_calls(argv[2], "source");
    app_drop(&app, sums);
    app_drop(&app, x);
    app_drop(&app, taps);
    app_stream_drop(&app, stream);
    app_close(&app);
    return bad != 0;
}
