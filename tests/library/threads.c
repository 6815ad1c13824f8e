/* threads DEVICE DATABASE SECONDS [COMMAND...]: 16 threads look up and launch transposes and check each result. Meanwhile COMMAND, a
 * `cutune run`, writes into the same database, and the library reads the new records every 10 ms.
 *
 * Ends when SECONDS are over and the command has ended. Look-ups are timed once each thread has launched each problem: by the clock, which
 * includes waiting for a core, and by the thread's processor time, which still includes interrupts. Prints one line; exits with 1 if a
 * call failed or a result was wrong. The test does not depend on the times. */
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "app.h"
#include "base/util.h"

enum { THREADS = 16, LOOKUPS = 16 /* a launch */, TYPES = 3, SHAPES = 14, PROBLEMS = SHAPES * TYPES, MAX_BYTES = 127 * 129 * 8 };

static const struct {
    const char *name;
    size_t bytes;
} types[TYPES] = { { "f32", 4 }, { "i8", 1 }, { "f64", 8 } };

static const int64_t shapes[SHAPES][2] = {
    { 1, 1 },   { 1, 5 },    { 5, 1 },    { 3, 7 },     { 17, 33 }, { 31, 31 }, { 64, 64 },
    { 65, 63 }, { 113, 11 }, { 11, 113 }, { 127, 129 }, { 100, 3 }, { 2, 257 }, { 111, 13 }
};

/* ------------------------------------------------------------------------------------------------------------------ threads */

static struct app app;
static cutune_handle *handle;
static pthread_barrier_t warm;
static atomic_int over, told;

struct thread {
    pthread_t id;
    uint64_t number;
    void *stream, *to, *from; /* its own */
    unsigned char in[MAX_BYTES], out[MAX_BYTES];
    const cutune_kernel *first[PROBLEMS]; /* as it was warmed up with */
    uint64_t changed;                     /* a bit a problem that got another since */
    int64_t lookups, launches, failed, wrong;
    int64_t longest, slow, slow_cpu; /* of look-ups since: nanoseconds; how many were above 1 ms by the clock, by processor time */
};

static void tell(struct thread *t, const char *what, int p)
{
    t->failed++;
    if (atomic_fetch_add(&told, 1) < 10)
        fprintf(stderr, "%s %s m=%d,n=%d: %s\n", what, types[p % TYPES].name, (int)shapes[p / TYPES][0], (int)shapes[p / TYPES][1],
                cutune_error());
}

static int64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* By words and sizes at addresses of their own, as callers have them. */
static const cutune_kernel *look_up(struct thread *t, int p)
{
    char op[16], type[8];
    const int64_t sizes[] = { shapes[p / TYPES][0], shapes[p / TYPES][1] };
    const cutune_kernel *k = NULL;
    snprintf(op, sizeof op, "trans%s", "pose");
    snprintf(type, sizeof type, "%s", types[p % TYPES].name);
    int64_t cpu = cpu_ns(), wall = clock_ns();
    int rc = cutune_lookup(handle, op, type, sizes, 2, &k);
    wall = clock_ns() - wall;
    cpu = cpu_ns() - cpu;
    t->lookups++;
    if (rc)
        tell(t, "look-up of", p);
    if (!t->first[p])
        t->first[p] = k;
    else if (t->first[p] != k)
        t->changed |= UINT64_C(1) << p;
    t->longest = wall > t->longest ? wall : t->longest;
    t->slow += wall > 1000000;
    t->slow_cpu += cpu > 1000000;
    return k;
}

static void launch(struct thread *t, int p)
{
    size_t size = types[p % TYPES].bytes, m = (size_t)shapes[p / TYPES][0], n = (size_t)shapes[p / TYPES][1];
    void *const buffers[] = { t->to, t->from };
    const cutune_kernel *k = look_up(t, p);
    if (!k)
        return;
    t->launches++;
    /* Filled first, so that nothing of the launch before passes for a result. */
    if (app_fill(&app, t->stream, t->to, 0, m * n * size, 0xff) || cutune_launch(k, t->stream, buffers, 2) ||
        app_get(&app, t->stream, t->out, t->to, m * n * size)) {
        tell(t, "launch of", p);
        return;
    }
    int wrong = 0;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            wrong += memcmp(&t->out[(j * m + i) * size], &t->in[(i * n + j) * size], size) != 0;
    if (wrong && atomic_fetch_add(&told, 1) < 10)
        fprintf(stderr, "%s m=%zu,n=%zu: %d elements are wrong: %s %s\n", types[p % TYPES].name, m, n, wrong,
                cutune_kernel_variant(k), cutune_kernel_config(k));
    t->wrong += wrong != 0;
}

/* Each problem once, in an order of the thread's own. */
static void launch_all(struct thread *t)
{
    for (int p = 0; p < PROBLEMS; p++)
        launch(t, (p + (int)t->number * 5) % PROBLEMS);
}

static void *work(void *arg)
{
    struct thread *t = arg;
    for (size_t i = 0; i < MAX_BYTES; i++)
        t->in[i] = (unsigned char)(1 + rand_at(t->number, i) % 100); /* no NaN, of any type */
    int ready = !app_stream(&app, &t->stream) && !app_make(&app, MAX_BYTES, &t->to) && !app_make(&app, MAX_BYTES, &t->from) &&
                !app_put(&app, t->stream, t->from, t->in, MAX_BYTES);
    t->failed += !ready;
    if (ready)
        launch_all(t);
    pthread_barrier_wait(&warm);
    t->longest = t->slow = t->slow_cpu = 0;
    for (uint64_t i = 0; ready && !atomic_load(&over); i++) {
        for (uint64_t l = 1; l < LOOKUPS; l++)
            look_up(t, (int)(rand_at(t->number + THREADS, i * LOOKUPS + l) % PROBLEMS));
        launch(t, (int)(rand_at(t->number + THREADS, i * LOOKUPS) % PROBLEMS));
        if (!app.cu) /* whose device is the tuner's CPU too */
            nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
    }
    if (ready)
        launch_all(t); /* of all that came in until the end */
    app_drop(&app, t->to);
    app_drop(&app, t->from);
    app_stream_drop(&app, t->stream);
    return NULL;
}

/* --------------------------------------------------------------------------------------------------------------------- main */

static void note(void *arg, const char *line)
{
    (void)arg;
    fprintf(stderr, "libcutune: %s\n", line);
}

/* How a child ended; 0 where it succeeded. */
static int run_beside(char **command, double seconds)
{
    extern char **environ;
    struct timespec pause = { .tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9) };
    pid_t child = 0;
    int status = 0;
    if (*command && posix_spawnp(&child, *command, NULL, NULL, command, environ))
        return fprintf(stderr, "%s does not start\n", *command), -1;
    nanosleep(&pause, NULL);
    if (child && (waitpid(child, &status, 0) != child || status))
        return fprintf(stderr, "%s ended with status %d\n", *command, status), -1;
    return 0;
}

/* The line, and whether all was right. */
static int report(const struct thread *threads)
{
    static struct thread sum;
    for (const struct thread *t = threads; t < threads + THREADS; t++) {
        sum.lookups += t->lookups;
        sum.launches += t->launches;
        sum.failed += t->failed;
        sum.wrong += t->wrong;
        sum.longest = t->longest > sum.longest ? t->longest : sum.longest;
        sum.slow += t->slow;
        sum.slow_cpu += t->slow_cpu;
        sum.changed |= t->changed;
    }
    int right = sum.lookups && !sum.failed && !sum.wrong, changed = 0;
    for (int p = 0; p < PROBLEMS; p++)
        changed += sum.changed >> p & 1;
    printf("%d threads: %lld look-ups, %lld launches, %lld wrong results, %lld failed calls; longest look-up %.1f us, %lld above 1 "
           "ms, "
           "%lld of processor time; %d of %d kernels changed\n",
           THREADS, (long long)sum.lookups, (long long)sum.launches, (long long)sum.wrong, (long long)sum.failed,
           (double)sum.longest / 1000, (long long)sum.slow, (long long)sum.slow_cpu, changed, PROBLEMS);
    return right ? 0 : -1;
}

int main(int argc, char **argv)
{
    char *end = "";
    double seconds = argc > 3 ? strtod(argv[3], &end) : -1;
    if (!(seconds >= 0 && seconds < 3600) || *end)
        return fprintf(stderr, "threads DEVICE DATABASE SECONDS [COMMAND...]\n"), 2;
    const cutune_options options = { .size = sizeof options, .path = argv[2], .capture = 1, .refresh_ms = 10, .log = note };
    static struct thread threads[THREADS];
    void *stream;
    cutune *c;
    if (app_open(&app, argv[1]) || app_stream(&app, &stream))
        return 1;
    if (cutune_open_with(&options, &c))
        return fprintf(stderr, "%s\n", cutune_error()), 1;
    if (app_attach(&app, c, stream, &handle))
        return 1;
    pthread_barrier_init(&warm, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        threads[i].number = (uint64_t)i;
        if (pthread_create(&threads[i].id, NULL, work, &threads[i]))
            return fprintf(stderr, "no more threads\n"), 1;
    }
    pthread_barrier_wait(&warm);
    int rc = run_beside(argv + 4, seconds);
    if (cutune_refresh(c, NULL)) {
        fprintf(stderr, "%s\n", cutune_error());
        rc = -1;
    }
    atomic_store(&over, 1);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i].id, NULL);
    if (report(threads))
        rc = -1;
    cutune_close(c);
    app_stream_drop(&app, stream);
    app_close(&app);
    pthread_barrier_destroy(&warm);
    return rc ? 1 : 0;
}
