/* launch_cost DATABASE: what libcutune adds to a launch, compared with the driver alone in the same process, on the first CUDA device.
 *
 * The database holds some transposes tuned on that device. In the order of the output:
 * - The first launch. `launch_cost DATABASE first raw|CACHE` is run in new processes, in turn. The time starts when there are a context
 *   and buffers, and ends with the first launch: of a module in memory (raw), or through cutune_open, attach, look-up and launch, without a
 *   cache folder or with one in which an earlier process has kept the answer. It comes first, because misses are written to the database
 *   later on.
 * - A look-up of one of 1,000 problems of three element sizes, tuned or not. All were looked up once before; misses are captured. Each
 *   look-up is timed with the processor's clock, minus the cost of reading the clock. Launches by cuLaunchKernel come between the rounds,
 *   so that both see the same processor: its speed changes by half within seconds on a machine that others use, too.
 * - Launches of a 32 x 32 transpose: cuLaunchKernel, cutune_launch, and look-up with cutune_launch, in turn. The median of batches of 100. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

#include "base/mem.h"
#include "base/util.h"
#include "cutune.h"
#include "device/cuda_api.h"
#include "device/device.h"
#include "store/store.h"

enum { PROBLEMS = 1000, ROUNDS = 200, BATCHES = 2000, BATCH = 100, STARTS = 15 };

static const struct cuda_api *cu;
static const int64_t tiny[] = { 32, 32 };

static void must(int rc, const char *what)
{
    if (rc) {
        fprintf(stderr, "%s: %d %s\n", what, rc, cutune_error());
        exit(1);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double *v, int n, double q)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return v[(int)(q * (n - 1))];
}

static void context(void)
{
    CUdevice device;
    CUcontext ctx;
    cu = cuda_api(NULL);
    if (!cu) {
        fprintf(stderr, "no CUDA here\n");
        exit(1);
    }
    must((int)cu->cuDeviceGet(&device, 0), "cuDeviceGet");
    must((int)cu->cuDevicePrimaryCtxRetain(&ctx, device), "cuDevicePrimaryCtxRetain");
    must((int)cu->cuCtxSetCurrent(ctx), "cuCtxSetCurrent");
}

static void buffers_new(void *buffers[2])
{
    for (int i = 0; i < 2; i++) {
        CUdeviceptr at;
        must((int)cu->cuMemAlloc_v2(&at, 1 << 20), "cuMemAlloc");
        buffers[i] = (void *)(uintptr_t)at;
    }
}

static cutune_handle *opened(const char *database, int capture)
{
    const cutune_options o = { .size = sizeof o, .path = database, .tables = "", .cache = "", .capture = capture };
    cutune *c;
    cutune_handle *h;
    must(cutune_open_with(&o, &c), "cutune_open_with");
    must(cutune_attach_cuda(c, NULL, &h), "cutune_attach_cuda");
    return h;
}

/* ---- cuLaunchKernel */

/* A launch of the 32 x 32 transpose. */
struct raw {
    void *buffers[2];
    CUstream stream;
    CUfunction function;
    cutune_geometry g;
    int nparams;
    cutune_param params[64];
    void *pointers[64];
};

static void raw_new(cutune_handle *h, struct raw *r)
{
    void *function;
    const cutune_kernel *k;
    buffers_new(r->buffers);
    must((int)cu->cuStreamCreate(&r->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    must(cutune_lookup(h, "transpose", "f32", tiny, 2, &k), "cutune_lookup");
    must(cutune_launch(k, r->stream, r->buffers, 2), "cutune_launch");
    if (cutune_kernel_launches(k) != 1) {
        fprintf(stderr, "the kernel has several launches\n");
        exit(1);
    }
    must(cutune_kernel_function(k, 0, &function), "cutune_kernel_function");
    r->function = function;
    r->g.size = sizeof r->g;
    must(cutune_kernel_geometry(k, 0, &r->g), "cutune_kernel_geometry");
    r->nparams = cutune_kernel_params(k, 0);
    for (int i = 0; i < r->nparams; i++) {
        r->params[i].size = sizeof r->params[i];
        must(cutune_kernel_param(k, 0, i, &r->params[i]), "cutune_kernel_param");
        r->pointers[i] = r->params[i].kind == CUTUNE_PARAM_BUFFER ? (void *)&r->buffers[r->params[i].index] : r->params[i].value;
    }
}

static void launch_raw(struct raw *r)
{
    const cutune_geometry *g = &r->g;
    must((int)cu->cuLaunchKernel(r->function, (unsigned)g->grid[0], (unsigned)g->grid[1], (unsigned)g->grid[2],
                                 (unsigned)g->block[0], (unsigned)g->block[1], (unsigned)g->block[2], (unsigned)g->shared,
                                 r->stream, r->pointers, NULL),
         "cuLaunchKernel");
}

/* ---- look-ups */

static double tick_ns(void)
{
    int64_t t = clock_ns();
    uint64_t c = __rdtsc();
    while (clock_ns() - t < 100000000) {
    }
    return (double)(clock_ns() - t) / (double)(__rdtsc() - c);
}

static void time_lookups(cutune_handle *h, struct raw *raw)
{
    static const char *const types[] = { "f32", "i8", "f64" };
    static double ns[PROBLEMS * ROUNDS], launches[ROUNDS];
    static int64_t sizes[PROBLEMS][2];
    const cutune_kernel *k;
    double tick = tick_ns(), first = 0, empty[1000];
    int matches[4] = { 0 };
    unsigned aux;
    for (int i = 0; i < PROBLEMS; i++) {
        for (int a = 0; a < 2; a++)
            sizes[i][a] =
                i % 10 ? 1 + (int64_t)(rand_at(7, (uint64_t)(2 * i + a)) % 5000) : 64 << (rand_at(8, (uint64_t)(2 * i + a)) % 7);
        int64_t before = clock_ns();
        must(cutune_lookup(h, "transpose", types[i % 3], sizes[i], 2, &k), "cutune_lookup");
        first += (double)(clock_ns() - before);
        matches[cutune_kernel_match(k)]++;
    }
    for (int i = 0; i < 1000; i++) {
        uint64_t begin = __rdtscp(&aux);
        empty[i] = (double)(__rdtscp(&aux) - begin) * tick;
    }
    double overhead = quantile(empty, 1000, 0.5);
    int n = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t from = clock_ns();
        for (int i = 0; i < BATCH; i++)
            launch_raw(raw);
        launches[round] = (double)(clock_ns() - from) / BATCH;
        must((int)cu->cuStreamSynchronize(raw->stream), "cuStreamSynchronize");
        for (int j = 0; j < PROBLEMS; j++) {
            int i = (int)(rand_at((uint64_t)round, (uint64_t)j) % PROBLEMS);
            uint64_t begin = __rdtscp(&aux);
            int rc = cutune_lookup(h, "transpose", types[i % 3], sizes[i], 2, &k);
            ns[n++] = (double)(__rdtscp(&aux) - begin) * tick - overhead;
            must(rc, "cutune_lookup");
        }
    }
    double median = quantile(ns, n, 0.5), launch = quantile(launches, ROUNDS, 0.5);
    printf("look-up: median %.0f ns, %.2f%% of cuLaunchKernel, 99th percentile %.0f, %.2f%%, longest %.0f; the first of a problem "
           "%.0f us; "
           "%d exact, %d near, %d device, %d default\n",
           median, 100 * median / launch, quantile(ns, n, 0.99), 100 * quantile(ns, n, 0.99) / launch, quantile(ns, n, 1),
           first / PROBLEMS / 1000, matches[0], matches[1], matches[2], matches[3]);
}

/* ---- launches */

static void time_launches(cutune_handle *h, struct raw *raw)
{
    static double ns[3][BATCHES];
    static const char *const ways[] = { "cuLaunchKernel", "cutune_launch", "look-up and cutune_launch" };
    const cutune_kernel *k;
    must(cutune_lookup(h, "transpose", "f32", tiny, 2, &k), "cutune_lookup");
    for (int b = 0; b < BATCHES; b++)
        for (int w = 0; w < 3; w++) {
            int way = (w + b) % 3;
            must((int)cu->cuStreamSynchronize(raw->stream), "cuStreamSynchronize");
            int64_t begin = clock_ns();
            for (int i = 0; i < BATCH; i++) {
                if (way == 2)
                    must(cutune_lookup(h, "transpose", "f32", tiny, 2, &k), "cutune_lookup");
                if (way)
                    must(cutune_launch(k, raw->stream, raw->buffers, 2), "cutune_launch");
                else
                    launch_raw(raw);
            }
            ns[way][b] = (double)(clock_ns() - begin) / BATCH;
        }
    must((int)cu->cuStreamSynchronize(raw->stream), "cuStreamSynchronize");
    double least = quantile(ns[0], BATCHES, 0.5);
    for (int w = 0; w < 3; w++) {
        double median = quantile(ns[w], BATCHES, 0.5);
        printf("%-26s %.0f ns, %.4f; interquartile %.0f to %.0f\n", ways[w], median, median / least, quantile(ns[w], BATCHES, 0.25),
               quantile(ns[w], BATCHES, 0.75));
    }
}

/* ---- the first launch of a process */

/* The compiler has no part in any of it. */
static void must_lack_nvrtc(void)
{
    struct buf maps = { 0 };
    must(file_read("/proc/self/maps", 64 << 20, &maps, NULL), "/proc/self/maps");
    if (strstr(buf_text(&maps), "nvrtc")) {
        fprintf(stderr, "NVRTC was loaded\n");
        exit(1);
    }
    buf_free(&maps);
}

/* The times of its steps go to t. */
static void first_cutune(const char *database, const char *cache, void **buffers, int64_t t[5])
{
    const cutune_options o = { .size = sizeof o, .path = database, .tables = "", .cache = cache };
    const cutune_kernel *k;
    cutune *c;
    cutune_handle *h;
    t[0] = clock_ns();
    must(cutune_open_with(&o, &c), "cutune_open_with");
    t[1] = clock_ns();
    must(cutune_attach_cuda(c, NULL, &h), "cutune_attach_cuda");
    t[2] = clock_ns();
    must(cutune_lookup(h, "transpose", "f32", (const int64_t[]){ 1111, 113 }, 2, &k), "cutune_lookup");
    t[3] = clock_ns();
    must(cutune_launch(k, NULL, buffers, 2), "cutune_launch");
    t[4] = clock_ns();
    cutune_close(c); /* keeps the answer */
}

/* The cubin of the same kernel, all that a launch needs of it at hand before the clock starts. */
static void first_raw(const struct tuned *t, const cutune_geometry *g, void **buffers)
{
    CUmodule module;
    CUfunction function;
    int64_t m = 1111, n = 113;
    void *pointers[] = { &buffers[0], &buffers[1], &m, &n };
    must((int)cu->cuModuleLoadDataEx(&module, t->binary, 0, NULL, NULL), "cuModuleLoadData");
    must((int)cu->cuModuleGetFunction(&function, module, g->entry), "cuModuleGetFunction");
    must((int)cu->cuLaunchKernel(function, (unsigned)g->grid[0], (unsigned)g->grid[1], (unsigned)g->grid[2], (unsigned)g->block[0],
                                 (unsigned)g->block[1], (unsigned)g->block[2], (unsigned)g->shared, NULL, pointers, NULL),
         "cuLaunchKernel");
}

static void raw_at_hand(const char *database, struct tuned **t, cutune_geometry *g)
{
    const cutune_options o = { .size = sizeof o, .path = database, .tables = "", .cache = "" };
    cutune_device device = { .size = sizeof device };
    struct devspec dev;
    struct store *s;
    cutune *c;
    cutune_handle *h;
    const cutune_kernel *k;
    must(device_find("cuda:0", &dev, NULL) || store_open(database, STORE_READ, &s, NULL) ||
             store_find_winner(s, &dev, "transpose", "f32", "m=1111,n=113", t, NULL),
         "a tuned transpose of 1111 x 113");
    must(cutune_device_find("cuda:0", &device), "cutune_device_find");
    must(cutune_open_with(&o, &c) || cutune_attach(c, &device, &h) ||
             cutune_lookup(h, "transpose", "f32", (const int64_t[]){ 1111, 113 }, 2, &k) || cutune_kernel_geometry(k, 0, g),
         "its geometry");
}

/* cache: as in cutune_options; null: a module at hand */
static int first(const char *database, const char *cache)
{
    struct tuned *t = NULL;
    cutune_geometry g = { .size = sizeof g };
    void *buffers[2];
    int64_t steps[5];
    if (!cache)
        raw_at_hand(database, &t, &g);
    context();
    buffers_new(buffers);
    steps[0] = clock_ns();
    if (cache)
        first_cutune(database, cache, buffers, steps);
    else
        first_raw(t, &g, buffers);
    if (!cache)
        steps[4] = clock_ns();
    must((int)cu->cuStreamSynchronize(NULL), "cuStreamSynchronize");
    must_lack_nvrtc();
    for (int i = 0; cache && i < 4; i++)
        fprintf(stderr, "%s %.0f%s", ((const char *[]){ "open", "attach", "look-up", "launch" })[i],
                (double)(steps[i + 1] - steps[i]) / 1000, i < 3 ? ", " : " us\n");
    printf("%.0f\n", (double)(steps[4] - steps[0]) / 1000);
    return 0;
}

static double first_of(const char *program, const char *database, const char *way)
{
    struct buf command = { 0 };
    double us;
    buf_fmt(&command, "'%s' '%s' first '%s'", program, database, way);
    FILE *out = popen(buf_text(&command), "r");
    if (!out || fscanf(out, "%lf", &us) != 1)
        must(-1, buf_text(&command));
    pclose(out);
    buf_free(&command);
    return us;
}

static void time_first(const char *program, const char *database)
{
    char folder[] = "/tmp/launch-cost-XXXXXX", command[64];
    if (!mkdtemp(folder))
        must(-1, folder);
    const char *const ways[] = { "raw", "", folder };
    double us[3][STARTS], median[3];
    sleep(3);                            /* an answer of a file that was written just now is not kept */
    first_of(program, database, folder); /* keeps its answer there */
    for (int i = 0; i < STARTS; i++)
        for (int way = 0; way < 3; way++)
            us[way][i] = first_of(program, database, ways[way]);
    for (int way = 0; way < 3; way++)
        median[way] = quantile(us[way], STARTS, 0.5);
    printf(
        "first launch of a process, after its context: module at hand %.0f us; cutune, database opened %.0f us, %.1f times; with "
        "answers of an earlier process %.0f us, %.1f times\n",
        median[0], median[1], median[1] / median[0], median[2], median[2] / median[0]);
    snprintf(command, sizeof command, "rm -r %s", folder);
    must(system(command), command);
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[2], "first"))
        return first(argv[1], strcmp(argv[3], "raw") ? argv[3] : NULL);
    if (argc != 2) {
        fprintf(stderr, "launch_cost DATABASE\n");
        return 2;
    }
    time_first(argv[0], argv[1]);
    context();
    cutune_handle *h = opened(argv[1], 1);
    struct raw raw = { 0 };
    raw_new(h, &raw);
    time_lookups(h, &raw);
    time_launches(h, &raw);
    must_lack_nvrtc();
    printf("NVRTC was not loaded\n");
    return 0;
}
