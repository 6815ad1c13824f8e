/* launches DEVICE DATABASE OP VARIANT: an op of tests/cli/ops that repeats launches, has clusters, tensor maps or textures (bitonic, stencil,
 * rowsum, tilecopy, cells), tuned in the database, in an application: by the library's launches, and on CUDA by the application's own and in a graph.
 * VARIANT is the one that must be given, or "-". Prints a line per error, and then exits with 1; else what a launch costs. */
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "app_graph.h"

enum { MOST = 1 << 20, LAUNCHES = 1000 };

static struct app app;
static void *stream, *out, *in;
static int32_t from[MOST], want[MOST], got[MOST];
static int bad;

static void expect(bool right, const char *what)
{
    if (!right)
        bad += printf("not right: %s; the library last said: %s\n", what, cutune_error()) > 0;
}

static int by_value(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The numbers that it reads and writes, and what it should write. */
struct ask {
    const char *op, *types;
    int64_t sizes[3];
    int nsizes, nin, nout;
};

/* The mean of eight elements, all of them small whole numbers: nothing rounds. */
static void prepare_cells(const struct ask *a)
{
    const int64_t d = a->sizes[0], m = a->sizes[1], n = a->sizes[2];
    for (int64_t i = 0; i < a->nin; i++) {
        float x = (float)((uint32_t)i * 2654435761u >> 25);
        memcpy(&from[i], &x, sizeof x);
    }
    for (int64_t i = 0; i < a->nout; i++) {
        float sum = 0, x;
        for (int k = 0; k < 8; k++) {
            int64_t slice = i / n / m + k / 4, row = i / n % m + k / 2 % 2, col = i % n + k % 2;
            slice = slice < d ? slice : d - 1;
            row = row < m ? row : m - 1;
            memcpy(&x, &from[(slice * m + row) * n + (col < n ? col : n - 1)], sizeof x);
            sum += x;
        }
        sum /= 8;
        memcpy(&want[i], &sum, sizeof sum);
    }
}

static void prepare(const struct ask *a)
{
    const int64_t m = a->sizes[0], n = a->sizes[1];
    for (int i = 0; i < a->nin; i++)
        from[i] = (int32_t)((uint32_t)i * 2654435761u) >> (strcmp(a->op, "rowsum") ? 0 : 20);
    memcpy(want, from, sizeof *want * (size_t)a->nin);
    if (!strcmp(a->op, "bitonic"))
        qsort(want, (size_t)m, sizeof *want, by_value);
    for (int s = 0; !strcmp(a->op, "stencil") && s < n; s++)
        for (int i = 1, before = want[0]; i < m - 1; i++) {
            int here = want[i];
            want[i] = (int32_t)((uint32_t)before + (uint32_t)here + (uint32_t)want[i + 1]);
            before = here;
        }
    for (int i = 0; !strcmp(a->op, "rowsum") && i < m; i++) {
        int32_t sum = 0;
        for (int k = 0; k < n; k++)
            sum += from[i * n + k];
        want[i] = sum;
    }
    if (!strcmp(a->op, "cells"))
        prepare_cells(a);
    expect(!app_put(&app, stream, in, from, sizeof *from * (size_t)a->nin), "the input");
}

static void look(const struct ask *a, const char *what)
{
    size_t bytes = sizeof *got * (size_t)a->nout;
    expect(!app_get(&app, stream, got, out, bytes) && !memcmp(got, want, bytes), what);
    app_fill(&app, stream, out, 0, bytes, 0xff);
}

static void captured(const struct ask *a, const cutune_kernel *k, void *const *buffers)
{
    struct app_graph graph = { 0 };
    expect(!app_capture(stream) && !cutune_launch(k, stream, buffers, 2) && !app_captured(stream, &graph), "a capture");
    for (int i = 0; i < 2; i++) {
        expect(!app_graph_launch(&graph, stream), "the graph");
        look(a, "what the graph gives");
    }
    app_graph_drop(&graph);
}

/* Launch i, as the calls tell it. */
static int own_step(const cutune_kernel *k, int i, void *const *buffers, char *workspace)
{
    _Alignas(128) static unsigned char maps[32][128];
    static uint64_t textures[32];
    static cutune_param p[32];
    void *pointers[32], *parts[32], *function = NULL;
    cutune_geometry g = { .size = sizeof g };
    int n = cutune_kernel_params(k, i),
        failed = n > 32 || cutune_kernel_geometry(k, i, &g) || cutune_kernel_function(k, i, &function);
    for (int a = 0; a < n && !failed; a++) {
        p[a].size = sizeof p[a];
        failed = cutune_kernel_param(k, i, a, &p[a]);
        parts[a] = workspace + p[a].offset;
        void *at = p[a].kind == CUTUNE_PARAM_WORKSPACE || p[a].index < 0 ? parts[a] : buffers[p[a].index];
        pointers[a] = p[a].kind == CUTUNE_PARAM_VALUE    ? (void *)p[a].value
                      : p[a].kind == CUTUNE_PARAM_BUFFER ? (void *)&buffers[p[a].index]
                                                         : (void *)&parts[a];
        if (!failed && p[a].kind == CUTUNE_PARAM_TENSOR_MAP) {
            failed = cutune_kernel_tensor_map(k, i, a, at, maps[a]);
            pointers[a] = maps[a];
        }
        if (!failed && p[a].kind == CUTUNE_PARAM_TEXTURE) {
            failed = cutune_kernel_texture(k, i, a, stream, at, &textures[a]);
            pointers[a] = &textures[a];
        }
    }
    struct cuda_launch_attribute attributes[3];
    CUlaunchConfig config = { .shared = (unsigned)g.shared, .stream = stream, .attributes = attributes };
    for (int d = 0; d < 3; d++) {
        config.grid[d] = (unsigned)g.grid[d];
        config.block[d] = (unsigned)g.block[d];
    }
    if (g.cluster[0]) {
        struct cuda_launch_attribute *a = &attributes[config.nattributes++];
        *a = (struct cuda_launch_attribute){ .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION };
        for (int d = 0; d < 3; d++)
            a->value.cluster[d] = (unsigned)g.cluster[d];
    }
    if (g.cooperative)
        attributes[config.nattributes++] = (struct cuda_launch_attribute){ .id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.flag = 1 };
    if (g.dependent)
        attributes[config.nattributes++] =
            (struct cuda_launch_attribute){ .id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, .value.flag = 1 };
    return failed || app.cu->cuLaunchKernelEx(&config, function, pointers, NULL);
}

static void own_launches(const struct ask *a, const cutune_kernel *k, void *const *buffers)
{
    void *workspace = NULL;
    size_t bytes = cutune_kernel_workspace(k);
    int failed = bytes && app_make(&app, bytes, &workspace);
    for (int i = 0; i < cutune_kernel_clears(k) && !failed; i++) {
        cutune_clear c = { .size = sizeof c };
        failed =
            cutune_kernel_clear(k, i, &c) || app_fill(&app, stream, c.kind == CUTUNE_PARAM_WORKSPACE ? workspace : buffers[c.index],
                                                      (size_t)c.offset, (size_t)c.bytes, 0);
    }
    for (int i = 0; i < cutune_kernel_launches(k) && !failed; i++)
        failed = own_step(k, i, buffers, workspace);
    expect(!failed, "the application's own launches");
    look(a, "what the application's own launches give");
    app_drop(&app, workspace);
}

/* The input elsewhere; and, if the allocator gives it, at the same address again. */
static void moved(const struct ask *a, const cutune_kernel *k)
{
    for (int i = 0; i < 3; i++) {
        void *other = NULL;
        expect(!app_make(&app, sizeof *from * (size_t)a->nin, &other) &&
                   !app_put(&app, stream, other, from, sizeof *from * (size_t)a->nin) &&
                   !cutune_launch(k, stream, (void *const[]){ out, other }, 2),
               "a launch with the input elsewhere");
        look(a, "what it gives");
        app_drop(&app, other);
    }
}

static void tell_cost(const cutune_kernel *k, void *const *buffers)
{
    struct timespec begin, end;
    const int most = app.cu ? LAUNCHES : LAUNCHES / 20; /* a processor runs them while it queues them */
    int n = 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (; n < most / cutune_kernel_launches(k) && !cutune_launch(k, stream, buffers, 2); n++)
        ;
    clock_gettime(CLOCK_MONOTONIC, &end);
    double ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
    printf("%s %s: %d launches, %.0f ns to queue each\n", cutune_kernel_variant(k), cutune_kernel_config(k),
           cutune_kernel_launches(k), ns / n / cutune_kernel_launches(k));
}

static void ask_for(cutune_handle *h, const struct ask *a, const char *variant)
{
    void *const buffers[] = { out, in };
    const cutune_kernel *k = NULL;
    if (cutune_lookup(h, a->op, a->types, a->sizes, a->nsizes, &k)) {
        expect(false, "the look-up");
        return;
    }
    expect(!strcmp(variant, "-") || !strcmp(cutune_kernel_variant(k), variant), "the variant");
    prepare(a);
    app_fill(&app, stream, out, 0, sizeof *got * (size_t)a->nout, 0xff);
    for (int i = 0; i < 2; i++) {
        expect(!cutune_launch(k, stream, buffers, 2), "a launch");
        look(a, "what a launch gives");
    }
    if (app.cu && !bad) {
        own_launches(a, k, buffers);
        captured(a, k, buffers);
        moved(a, k);
    }
    if (!bad && cutune_kernel_launches(k))
        tell_cost(k, buffers);
    if (app.cu)
        app_check(app.cu->cuStreamSynchronize(stream), "cuStreamSynchronize");
}

int main(int argc, char **argv)
{
    static const struct ask asks[] = {
        { "bitonic", "i32", { 4096 }, 1, 4096, 4096 },
        { "bitonic", "i32", { 1 << 17 }, 1, 1 << 17, 1 << 17 },
        { "bitonic", "i32", { 1 }, 1, 1, 1 },
        { "stencil", "i32", { 1000, 7 }, 2, 1000, 1000 },
        { "stencil", "i32", { 1000, 6 }, 2, 1000, 1000 },
        { "stencil", "i32", { 333, 1 }, 2, 333, 333 },
        { "rowsum", "i32", { 100, 3000 }, 2, 300000, 100 },
        { "rowsum", "i32", { 7, 1001 }, 2, 7007, 7 },
        { "tilecopy", "f32", { 1000, 1024 }, 2, 1024000, 1024000 },
        { "tilecopy", "f32", { 77, 100 }, 2, 7700, 7700 },
        { "cells", "f32", { 20, 50, 1000 }, 3, 1000000, 1000000 },
        { "cells", "f32", { 3, 33, 64 }, 3, 6336, 6336 },
        { "cells", "f32", { 1, 1, 8 }, 3, 8, 8 },
    };
    cutune *c = NULL;
    cutune_handle *h = NULL;
    if (argc != 5)
        return fprintf(stderr, "launches DEVICE DATABASE OP VARIANT\n"), 2;
    if (app_open(&app, argv[1]) || app_stream(&app, &stream) || app_make(&app, sizeof got, &out) ||
        app_make(&app, sizeof from, &in))
        return 1;
    if (cutune_open(argv[2], &c) || app_attach(&app, c, stream, &h))
        return 1;
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++)
        if (!strcmp(asks[i].op, argv[3]))
            ask_for(h, &asks[i], argv[4]);
    cutune_close(c);
    app_drop(&app, out);
    app_drop(&app, in);
    app_stream_drop(&app, stream);
    app_close(&app);
    return bad != 0;
}
