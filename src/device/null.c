/* The pretend device, for tests of the tuning loop and of the library: two of them, null:0 and null:1, with the limits of a large
 * GPU. No kernel is executed, so outputs stay as they were filled, and no buffer of an application's is touched. But what a launch
 * is given is checked, so that tests see a caller's mistakes. Time is a function of the source, the kernel and the geometry. The
 * memory of a device of ours is the host's; $CUTUNE_NULL_TAKEN bytes of it are taken by others. The compiler's output is the
 * source. Programs that are to have the device link this file; libcutune does not.
 *
 * Lines of the source make it misbehave: `//null: WORD`, with these words.
 *   compile-error   the compiler refuses the source        time=NS       the time of a launch of it
 *   crash-compile   the compiler's process dies            delay=MS      a wait for it sleeps as long
 *   hang-compile    the compiler never returns             launch-error  its launch is refused
 *   hoard-compile   the compiler dies because it cannot get 64 GB, or hangs if it can
 *   large-compile   the compiler finds that it takes more than the device has
 *   crash           a wait for it takes the process down   hang          a wait for it never returns
 *   sticky          a wait for it, and every call after, fails as on a lost context
 *   after=N         what its launches do amiss begins with the N+1st in a process; all sources that say so are counted together
 *   if=PATH         all but time and delay only while there is such a file: a machine that breaks, and is mended
 *   above=N         likewise, only launches of more than N blocks along x
 *   watts=N         what a launch of it draws; 200 without it. A counter has the energy of all work; with $CUTUNE_NULL_ENERGY "none"
 *                   there is no such counter, with "still" it never moves
 *   throttle=N      a launch of it takes twice as long until the device has said N times that it throttles, asked after such a launch
 *   wrong           until another launch, the kernels check_equal, check_close and digest write to the uint64 that their first
 *                   argument points to: one is wrong, the first */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/util.h"
#include "device/null.h"

#define NULL_MAGIC "cutuneN\n" /* a program is this and its source */
enum { NULL_DEVICES = 2, COUNTER_NS = 20000000 };

struct null_program {
    const char *source;
    const char *told; /* the part of it from the first line on that tells the device to do something */
    uint64_t hash;
    bool service; /* its kernels check results */
};

/* A kernel of a program, for launches of nparams parameters. */
struct null_entry {
    const struct null_program *of;
    int64_t dynamic_shared;
    int nparams;
};

/* ---- what a source tells the device to do */

static const char mark[] = "//null: ";

/* What follows `//null: WORD` at the start of a line; null if no line says it. */
static const char *directive(const char *source, const char *word)
{
    for (const char *line = source; line; line = strchr(line, '\n')) {
        line += strspn(line, "\n \t");
        const char *at = line + sizeof mark - 1;
        if (strncmp(line, mark, sizeof mark - 1) != 0 || strncmp(at, word, strlen(word)) != 0)
            continue;
        const char *rest = at + strlen(word);
        if (*rest == 0 || *rest == '\n' || *rest == '\r' || *rest == ' ' || rest[-1] == '=')
            return rest;
    }
    return NULL;
}

/* The value of `//null: WORD=VALUE`; -1 if there is none. */
static int64_t value_of(const char *source, const char *word)
{
    const char *text = directive(source, word);
    return text ? strtoll(text, NULL, 10) : -1;
}

/* Whether what the source says holds now. */
static bool applies(const char *source)
{
    const char *path = directive(source, "if=");
    char name[256];
    if (!path)
        return true;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(path, "\r\n"), path);
    return access(name, F_OK) == 0;
}

/* Whether a source says `//null: WORD`, and if it says when, that it is time. */
static bool null_says(const char *source, const char *word)
{
    return directive(source, word) && applies(source);
}

/* 1e3 to 1e6 ns, the same for the same source, kernel and geometry. */
static double time_of(const struct null_program *p, const struct guest_launch *l)
{
    const struct geometry *g = &l->geometry;
    int64_t told = value_of(p->told, "time=");
    if (told >= 0)
        return (double)told;
    uint64_t h = p->hash;
    for (const char *c = l->kernel; *c; c++)
        h = rand_at(h, (unsigned char)*c);
    for (int i = 0; i < 3; i++)
        h = rand_at(rand_at(h, (uint64_t)g->grid[i]), (uint64_t)g->block[i]);
    return 1e3 + (double)(rand_at(h, (uint64_t)g->shared) % 999001);
}

void null_spend(struct null_context *t, double ns, double watts)
{
    t->clock_ns += ns;
    t->joules += ns * watts / 1e9;
    if (t->clock_ns - t->moved_ns < COUNTER_NS)
        return;
    t->counter = t->joules;
    t->moved_ns = t->clock_ns;
}

int null_lost(const struct null_context *t, struct err *err)
{
    return t->lost ? err_set(err, ERR_DEVICE, "NULL_ERROR_LAUNCH_FAILED (the context is lost)") : 0;
}

/* A launch; first: the first buffer, of 8 bytes at least, or null. */
static int told_launch(struct null_context *t, const struct null_program *p, const struct guest_launch *l, void *first, struct err *err)
{
    static const uint32_t one[2] = { 1, ~0u };
    const char *source = p->told;
    int rc = null_lost(t, err);
    if (rc)
        return rc;
    int64_t after = value_of(source, "after="), delay = value_of(source, "delay=");
    bool due = after < 0 || t->counted++ >= after, act = due && applies(source) && l->geometry.grid[0] > value_of(source, "above=");
    if (act && directive(source, "launch-error"))
        return err_set(err, ERR_UNSUPPORTED, "NULL_ERROR_LAUNCH_OUT_OF_RESOURCES (the source asks for it)");
    bool counts = !strcmp(l->kernel, "check_equal") || !strcmp(l->kernel, "check_close") || !strcmp(l->kernel, "digest");
    if (!p->service) {
        t->wrong = act && directive(source, "wrong");
        t->throttle = value_of(source, "throttle=");
    } else if (counts && t->wrong && first)
        memcpy(first, one, sizeof one);
    t->hang |= act && directive(source, "hang");
    t->crash |= act && directive(source, "crash");
    t->sticky |= act && directive(source, "sticky");
    if (due && delay > t->delay_ms)
        t->delay_ms = delay;
    int64_t watts = value_of(source, "watts=");
    bool slow = t->throttled < value_of(source, "throttle=");
    null_spend(t, time_of(p, l) * (slow ? 2 : 1), watts < 0 ? 2 * NULL_IDLE_WATTS : (double)watts);
    return 0;
}

/* ---- a guest */

static atomic_uint_fast64_t launches;

uint64_t null_launches(void)
{
    return atomic_load(&launches);
}

static int null_list(struct devspec *out, int max, struct err *err)
{
    (void)err;
    for (int i = 0; i < NULL_DEVICES && i < max; i++) {
        out[i] = null_backend.sample;
        out[i].index = i;
    }
    return NULL_DEVICES;
}

static int null_open(void *handle, struct guest *g, struct err *err)
{
    int index = handle ? *(const int *)handle : 0;
    if (index < 0 || index >= NULL_DEVICES)
        return err_set(err, ERR_NOTFOUND, "there is no null:%d", index);
    g->spec = null_backend.sample;
    g->spec.index = index;
    return 0;
}

static int null_load(struct guest *g, const void *image, size_t bytes, const char *format, struct guest_code *code, struct err *err)
{
    const size_t magic = strlen(NULL_MAGIC);
    (void)g, (void)format;
    if (bytes < magic || memcmp(image, NULL_MAGIC, magic) != 0)
        return err_set(err, ERR_INVALID, "%zu bytes that are no program of the null device", bytes);
    struct null_program *p = code->program = arena_alloc(code->arena, sizeof *p);
    const char *source = p ? arena_strndup(code->arena, (const char *)image + magic, bytes - magic) : NULL;
    char hash[HASH_HEX];
    if (!source)
        return err_nomem(err);
    hash_hex(source, strlen(source), hash);
    hash[16] = 0;
    const char *told = strstr(source, mark);
    while (told && told > source && told[-1] != '\n')
        told--;
    *p = (struct null_program){ .source = source,
                                .told = told ?: "",
                                .hash = strtoull(hash, NULL, 16),
                                .service = strstr(source, "check_equal") };
    return 0;
}

static int null_function(struct guest *g, struct guest_code *code, struct guest_launch *l, struct resources *resources,
                         struct err *err)
{
    const struct null_program *p = code->program;
    int64_t shared = l->geometry.shared;
    if (!name_ok(l->kernel) || !strstr(p->source, l->kernel))
        return err_set(err, ERR_NOTFOUND, "there is no kernel '%s' in the compiled code", l->kernel);
    if (shared < 0 || shared > g->spec.max_shared)
        return err_set(err, ERR_UNSUPPORTED, "%" PRId64 " bytes of dynamic shared memory: a block has %" PRId64, shared,
                       g->spec.max_shared);
    pthread_mutex_lock(&g->lock);
    struct null_entry *e = arena_alloc(code->arena, sizeof *e);
    pthread_mutex_unlock(&g->lock);
    if (!e)
        return err_nomem(err);
    *e = (struct null_entry){ .of = p, .dynamic_shared = shared, .nparams = l->nparams };
    if (resources)
        *resources = (struct resources){ .registers = 32, .max_threads = g->spec.max_threads };
    l->function = l->handle = e;
    return 0;
}

static _Thread_local unsigned char scalar_seen[16];
static _Thread_local int scalar_bytes;

/* It is read as a driver would read it. */
static void note_scalar(const void *value, int bytes)
{
    memcpy(scalar_seen, value, (size_t)bytes);
    scalar_bytes = bytes;
}

int null_scalar(void *out)
{
    memcpy(out, scalar_seen, (size_t)scalar_bytes);
    return scalar_bytes;
}

/* Any word of the source; it has 64 KiB, as constant memory has. */
static int null_symbol(struct guest *g, struct guest_code *code, const char *name, void **at, int64_t *has, struct err *err)
{
    const struct null_program *p = code->program;
    *has = 64 << 10;
    if (!strstr(p->source, name))
        return ERR_NOTFOUND;
    pthread_mutex_lock(&g->lock);
    *at = arena_alloc(code->arena, (size_t)*has);
    pthread_mutex_unlock(&g->lock);
    return *at ? 0 : err_nomem(err);
}

static int check_buffer(const struct guest_work *work, void *const *buffers, int index, struct err *err)
{
    if (index < 0 || index >= work->nbuffers)
        return err_set(err, ERR_INVALID, "buffer %d of %d", index, work->nbuffers);
    return buffers[index] ? 0 : err_set(err, ERR_INVALID, "buffer %d is null", index);
}

static int check_param(struct guest *g, const struct guest_work *work, void *const *buffers, const struct guest_param *p, int i,
                       struct err *err)
{
    const bool buffer = p->kind == GUEST_BUFFER || p->kind == GUEST_TENSOR || p->kind == GUEST_TEXTURE;
    uint64_t object;
    if (p->kind == GUEST_WORKSPACE || p->in_workspace)
        return check_view(p->offset, p->room, work->workspace, err);
    int rc = buffer ? check_buffer(work, buffers, p->index, err) : check_scalar(i, p->bytes, err);
    if (!rc && p->kind == GUEST_TEXTURE)
        rc = guest_texture_of(g, p->texture, buffers[p->index], &object, err);
    if (rc || buffer || p->kind == GUEST_VALUE)
        return rc;
    rc = check_buffer(work, buffers, p->index, err);
    if (!rc)
        note_scalar(buffers[p->index], p->bytes);
    return rc;
}

static int launch_one(struct guest *g, const struct guest_work *work, const struct guest_launch *l, void *const *buffers,
                      struct err *err)
{
    const struct null_entry *e = l->function;
    int rc = check_geometry(&g->spec, &l->geometry, e->dynamic_shared, err);
    if (!rc && l->nparams != e->nparams)
        rc = err_set(err, ERR_INVALID, "the kernel takes %d arguments, the launch gives %d", e->nparams, l->nparams);
    for (int i = 0; i < l->nparams && !rc; i++)
        rc = check_param(g, work, buffers, &l->params[i], i, err);
    if (rc)
        return rc;
    bool to_buffer = l->nparams > 0 && l->params[0].kind == GUEST_BUFFER;
    pthread_mutex_lock(&g->lock);
    rc = told_launch((struct null_context *)g, e->of, l, to_buffer ? buffers[l->params[0].index] : NULL, err);
    pthread_mutex_unlock(&g->lock);
    if (!rc)
        atomic_fetch_add(&launches, 1);
    return rc;
}

/* Nobody reads it, but tests see what it was made of. */
static int null_tensor(const struct tensor *t, void *at, void *out, struct err *err)
{
    const uint64_t words[TENSOR_BYTES / 8] = { (uint64_t)(uintptr_t)at, (uint64_t)t->extent[0], (uint64_t)t->box[0] };
    (void)err;
    memcpy(out, words, sizeof words);
    return 0;
}

static int null_launch(struct guest *g, void *stream, const struct guest_work *work, void *const *buffers, void *workspace,
                       struct err *err)
{
    (void)stream, (void)workspace;
    int rc = 0;
    for (int i = 0; i < work->nclears && !rc; i++) {
        const struct guest_clear *c = &work->clears[i];
        rc = c->workspace ? 0 : check_buffer(work, buffers, c->index, err);
        rc = rc ?: check_part("a clear", c->offset, c->bytes, c->workspace ? work->workspace : INT64_MAX, err); /* unknown here */
    }
    for (int i = 0; i < work->nconstants && !rc; i++)
        rc = check_buffer(work, buffers, work->constants[i].index, err);
    for (const struct guest_texture *t = work->textures; t && !rc; t = t->next)
        rc = t->is.mode.array ? guest_texture_fill(g, t, buffers[t->index], stream, err) : 0;
    for (int i = 0; i < work->nlaunches && !rc; i++)
        rc = launch_one(g, work, &work->launches[i], buffers, err);
    return rc;
}

/* ---- the compiler */

/* Whether a process may have so much; it is not used. */
static bool may_have(int64_t bytes)
{
    void *p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED)
        munmap(p, (size_t)bytes);
    return p != MAP_FAILED;
}

/* There is nothing to it, but it must not be null. */
static int null_compiler_open(const struct devspec *spec, struct compiler **out, struct err *err)
{
    (void)spec;
    *out = mem_alloc(1);
    return *out ? 0 : err_nomem(err);
}

static void null_compiler_close(struct compiler *c)
{
    mem_free(c);
}

static void null_compiler_name(const struct compiler *c, char out[COMPILER_NAME])
{
    (void)c;
    snprintf(out, COMPILER_NAME, "1"); /* the driver's version, as with OpenCL */
}

/* The portable form is the bare source. */
static int null_compile(struct compiler *c, const struct compile_job *job, struct buf *binary, struct buf *portable,
                        struct buf *log, struct err *err)
{
    (void)c;
    bool hoards = null_says(job->source, "hoard-compile");
    if (null_says(job->source, "crash-compile") || (hoards && !may_have(INT64_C(64) << 30)))
        abort();
    while (hoards || null_says(job->source, "hang-compile"))
        pause();
    if (null_says(job->source, "compile-error")) {
        buf_str(log, "kernel(1): error: the source asks for it\n");
        return buf_check(log, err) ?: err_set(err, ERR_INVALID, "the pretend compiler refuses the source");
    }
    if (null_says(job->source, "large-compile"))
        return err_set(err, ERR_UNSUPPORTED, "the source asks for too much");
    buf_fmt(binary, "%s%s", NULL_MAGIC, job->source);
    if (portable)
        buf_str(portable, job->source);
    return binary->failed || (portable && portable->failed) ? err_nomem(err) : 0;
}

static const struct backend_compiling null_compiling = {
    .language = "CUDA C++", /* as it pretends */
    .prelude = "prelude_cuda.h",
    .open = null_compiler_open,
    .close = null_compiler_close,
    .compile = null_compile,
    .name = null_compiler_name,
};

const struct backend null_backend = {
    .name = "null",
    .format = "null",
    .pretend = true,
    .addresses = true,
    .sample = { .backend = "null",
                .name = "Pretend device",
                .arch = "null",
                .multiprocessors = 132,
                .memory = INT64_C(141) << 30,
                .driver = "1",
                .warp = 32,
                .l2 = 50 << 20,
                .max_threads = 1024,
                .max_block = { 1024, 1024, 64 },
                .max_grid = { INT32_MAX, 65535, 65535 },
                .max_shared = 227 << 10,
                .max_static_shared = 48 << 10,
                .max_alloc = INT64_C(141) << 30,
                .fp64 = true },
    .list = null_list,
    .size = sizeof(struct null_context),
    .open = null_open,
    .close = guest_unload_all,
    .load = null_load,
    .function = null_function,
    .tensor = null_tensor,
    .texture = null_texture,
    .texture_free = null_texture_free,
    .texture_fill = null_texture_fill,
    .symbol = null_symbol,
    .launch = null_launch,
    .compiling = &null_compiling,
    .measuring = &null_measuring,
};

/* Whoever links this file has the device. */
__attribute__((constructor)) static void null_present(void)
{
    backend_add(&null_backend);
}
