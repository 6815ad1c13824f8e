/* The pretend device, for tests of the tuning loop and of the library: two of them, null:0 and null:1, with the limits of a large GPU.
 * Nothing is executed and no buffer of an application's is touched, but what a launch is given is checked, so that tests see a caller's
 * mistakes. Programs that are to have it link it; libcutune does not. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "device/check.h"
#include "device/null_part.h"

const char null_magic[8] = "cutuneN\n";

struct null_context {
    struct devspec spec;
    struct null_told *told; /* of a device of ours; null: an application's context, in which launches have no effect */
    pthread_mutex_t lock;   /* of both lists */
    struct null_code *codes;
};

struct null_code {
    char *source;
    struct null_entry *entries;
    struct null_code *next;
};

struct null_entry {
    const char *source; /* the code's */
    int64_t dynamic_shared;
    int nparams;
    struct null_entry *next;
    char name[MAX_NAME + 1];
};

static atomic_uint_fast64_t launches;

uint64_t null_launches(void)
{
    return atomic_load(&launches);
}

void null_describe(int index, struct devspec *out)
{
    *out = (struct devspec){
        .backend = "null",
        .name = "Pretend device",
        .arch = "null",
        .multiprocessors = 132,
        .memory = INT64_C(141) << 30,
        .index = index,
        .driver = "1",
        .warp = 32,
        .l2 = 50 << 20,
        .max_threads = 1024,
        .max_block = { 1024, 1024, 64 },
        .max_grid = { INT32_MAX, 65535, 65535 },
        .max_shared = 227 << 10,
        .max_static_shared = 48 << 10,
        .max_alloc = INT64_C(141) << 30,
        .fp64 = true,
    };
}

static int null_list(struct devspec *out, int max, struct err *err)
{
    if (err)
        *err = (struct err){ 0 };
    for (int i = 0; i < NULL_DEVICES && i < max; i++)
        null_describe(i, &out[i]);
    return NULL_DEVICES;
}

static int source_of(const void *binary, size_t bytes, char **out, struct err *err)
{
    if (bytes < sizeof null_magic || memcmp(binary, null_magic, sizeof null_magic) != 0)
        return err_set(err, ERR_INVALID, "%zu bytes that are no program of the null device", bytes);
    *out = mem_strndup((const char *)binary + sizeof null_magic, bytes - sizeof null_magic);
    return *out ? 0 : err_nomem(err);
}

static int check_entry(const struct devspec *spec, const char *source, const char *name, int64_t dynamic_shared, struct err *err)
{
    if (!name_ok(name) || !strstr(source, name))
        return err_set(err, ERR_NOTFOUND, "there is no kernel '%s' in the compiled code", name);
    if (dynamic_shared < 0 || dynamic_shared > spec->max_shared)
        return err_set(err, ERR_UNSUPPORTED, "%" PRId64 " bytes of dynamic shared memory: a block has %" PRId64, dynamic_shared,
                       spec->max_shared);
    return 0;
}

static int null_open(void *handle, struct devspec *spec, struct guest **out, struct err *err)
{
    int index = handle ? *(const int *)handle : 0;
    if (index < 0 || index >= NULL_DEVICES)
        return err_set(err, ERR_NOTFOUND, "there is no null:%d", index);
    struct null_context *g = mem_zalloc(sizeof *g);
    if (!g)
        return err_nomem(err);
    pthread_mutex_init(&g->lock, NULL);
    null_describe(index, &g->spec);
    *spec = g->spec;
    *out = (struct guest *)g;
    return 0;
}

int null_open_own(int index, struct null_told *told, struct guest **out, struct err *err)
{
    struct devspec spec;
    int rc = null_open(&index, &spec, out, err);
    if (!rc)
        ((struct null_context *)*out)->told = told;
    return rc;
}

static void code_free(struct null_code *code)
{
    for (struct null_entry *e = code->entries, *next; e; e = next) {
        next = e->next;
        mem_free(e);
    }
    mem_free(code->source);
    mem_free(code);
}

static void null_close(struct guest *guest)
{
    struct null_context *g = (struct null_context *)guest;
    if (!g)
        return;
    for (struct null_code *code = g->codes, *next; code; code = next) {
        next = code->next;
        code_free(code);
    }
    pthread_mutex_destroy(&g->lock);
    mem_free(g);
}

static int null_load(struct guest *guest, const void *image, size_t bytes, const char *format, struct guest_code **out,
                     struct err *err)
{
    struct null_context *g = (struct null_context *)guest;
    if (format && strcmp(format, null_backend.format) != 0)
        return err_set(err, ERR_INVALID, "a kernel in the format '%s': the null device takes null", format);
    struct null_code *code = mem_zalloc(sizeof *code);
    if (!code)
        return err_nomem(err);
    int rc = source_of(image, bytes, &code->source, err);
    if (rc) {
        mem_free(code);
        return rc;
    }
    pthread_mutex_lock(&g->lock);
    code->next = g->codes;
    g->codes = code;
    pthread_mutex_unlock(&g->lock);
    *out = (struct guest_code *)code;
    return 0;
}

static void null_unload(struct guest *guest, struct guest_code *loaded)
{
    struct null_context *g = (struct null_context *)guest;
    struct null_code *code = (struct null_code *)loaded;
    if (!code)
        return;
    pthread_mutex_lock(&g->lock);
    struct null_code **at = &g->codes;
    while (*at != code)
        at = &(*at)->next;
    *at = code->next;
    pthread_mutex_unlock(&g->lock);
    code_free(code);
}

static int null_function(struct guest *guest, struct guest_code *loaded, const char *name, int64_t dynamic_shared,
                         const struct guest_param *params, int nparams, void **out, struct resources *resources, struct err *err)
{
    struct null_context *g = (struct null_context *)guest;
    struct null_code *code = (struct null_code *)loaded;
    (void)params;
    int rc = check_entry(&g->spec, code->source, name, dynamic_shared, err);
    if (rc)
        return rc;
    struct null_entry *e = mem_zalloc(sizeof *e);
    if (!e)
        return err_nomem(err);
    *e = (struct null_entry){ .source = code->source, .dynamic_shared = dynamic_shared, .nparams = nparams };
    strcpy(e->name, name); /* a name that is right is no longer */
    pthread_mutex_lock(&g->lock);
    e->next = code->entries;
    code->entries = e;
    pthread_mutex_unlock(&g->lock);
    if (resources)
        *resources = (struct resources){ .registers = 32, .max_threads = g->spec.max_threads };
    *out = e;
    return 0;
}

static void *null_raw(void *function)
{
    return function;
}

static int check_buffer(const struct guest_work *work, void *const *buffers, int index, struct err *err)
{
    if (index < 0 || index >= work->nbuffers)
        return err_set(err, ERR_INVALID, "buffer %d of %d", index, work->nbuffers);
    return buffers[index] ? 0 : err_set(err, ERR_INVALID, "buffer %d is null", index);
}

static int check_param(const struct guest_work *work, void *const *buffers, const struct guest_param *p, int i, struct err *err)
{
    if (p->kind == GUEST_BUFFER)
        return check_buffer(work, buffers, p->index, err);
    if (p->kind == GUEST_VALUE)
        return check_scalar(i, p->bytes, err);
    if (p->kind == GUEST_WORKSPACE)
        return check_view(p->offset, p->room, work->workspace, err);
    return err_set(err, ERR_INVALID, "kernel argument %d: of the kind %d", i + 1, (int)p->kind);
}

static int launch_one(const struct null_context *g, const struct guest_work *work, const struct guest_launch *l,
                      void *const *buffers, struct err *err)
{
    const struct null_entry *e = l->function;
    struct geometry geometry = { .shared = l->shared };
    for (int i = 0; i < 3; i++) {
        geometry.grid[i] = l->grid[i];
        geometry.block[i] = l->block[i];
    }
    int rc = check_launch(&g->spec, &geometry, e->dynamic_shared, NULL, 0, err);
    if (!rc && l->nparams != e->nparams)
        rc = err_set(err, ERR_INVALID, "the kernel takes %d arguments, the launch gives %d", e->nparams, l->nparams);
    for (int i = 0; i < l->nparams && !rc; i++)
        rc = check_param(work, buffers, &l->params[i], i, err);
    bool to_buffer = !rc && l->nparams > 0 && l->params[0].kind == GUEST_BUFFER;
    if (!rc && g->told)
        return null_told_launch(g->told, e->source, e->name, l, to_buffer ? buffers[l->params[0].index] : NULL, err);
    rc = rc ?: null_launch_check(e->source, err);
    if (!rc)
        atomic_fetch_add(&launches, 1);
    return rc;
}

/* The length of a buffer is not known here. */
static int check_clear(const struct guest_work *work, void *const *buffers, const struct guest_clear *c, struct err *err)
{
    return (c->workspace ? 0 : check_buffer(work, buffers, c->index, err))
               ?: check_part("a clear", c->offset, c->bytes, c->workspace ? work->workspace : INT64_MAX, err);
}

static int null_launch(struct guest *guest, void *stream, const struct guest_work *work, void *const *buffers, void *workspace,
                       struct err *err)
{
    (void)stream;
    (void)workspace;
    int rc = 0;
    for (int i = 0; i < work->nclears && !rc; i++)
        rc = check_clear(work, buffers, &work->clears[i], err);
    for (int i = 0; i < work->nlaunches && !rc; i++)
        rc = launch_one((struct null_context *)guest, work, &work->launches[i], buffers, err);
    return rc;
}

static void null_doctor(struct buf *out)
{
    buf_str(out, "null: null:0 and null:1, pretend devices for tests\n");
}

const struct backend null_backend = {
    .name = "null",
    .format = "null",
    .pretend = true,
    .addresses = true,
    .list = null_list,
    .doctor = null_doctor,
    .open = null_open,
    .close = null_close,
    .forget = null_close,
    .load = null_load,
    .unload = null_unload,
    .function = null_function,
    .raw = null_raw,
    .launch = null_launch,
    .compiling = &null_compiling,
    .measuring = &null_measuring,
};

/* Whoever links this file has the device. */
__attribute__((constructor)) static void null_present(void)
{
    backend_add(&null_backend);
}
