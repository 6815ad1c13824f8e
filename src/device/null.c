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

/* A kernel of a program, for launches of nparams arguments. */
struct null_entry {
    const char *source; /* the program's */
    int64_t dynamic_shared;
    int nparams;
    char name[MAX_NAME + 1];
};

static atomic_uint_fast64_t launches;

uint64_t null_launches(void)
{
    return atomic_load(&launches);
}

void null_describe(int index, struct devspec *out)
{
    *out = null_backend.sample;
    out->index = index;
}

static int null_list(struct devspec *out, int max, struct err *err)
{
    (void)err;
    for (int i = 0; i < NULL_DEVICES && i < max; i++)
        null_describe(i, &out[i]);
    return NULL_DEVICES;
}

static void null_doctor(struct buf *out)
{
    buf_str(out, "null: null:0 and null:1, pretend devices for tests\n");
}

static int null_open(void *handle, struct guest *g, struct err *err)
{
    int index = handle ? *(const int *)handle : 0;
    if (index < 0 || index >= NULL_DEVICES)
        return err_set(err, ERR_NOTFOUND, "there is no null:%d", index);
    null_describe(index, &g->spec);
    return 0;
}

static int null_load(struct guest *g, const void *image, size_t bytes, const char *format, struct guest_code *code, struct err *err)
{
    const size_t magic = strlen(NULL_MAGIC);
    (void)g, (void)format;
    if (bytes < magic || memcmp(image, NULL_MAGIC, magic) != 0)
        return err_set(err, ERR_INVALID, "%zu bytes that are no program of the null device", bytes);
    code->program = arena_strndup(code->arena, (const char *)image + magic, bytes - magic);
    return code->program ? 0 : err_nomem(err);
}

static int null_function(struct guest *g, struct guest_code *code, const char *name, int64_t dynamic_shared,
                         const struct guest_param *params, int nparams, void **out, struct resources *resources, struct err *err)
{
    (void)params;
    if (!name_ok(name) || !strstr(code->program, name))
        return err_set(err, ERR_NOTFOUND, "there is no kernel '%s' in the compiled code", name);
    if (dynamic_shared < 0 || dynamic_shared > g->spec.max_shared)
        return err_set(err, ERR_UNSUPPORTED, "%" PRId64 " bytes of dynamic shared memory: a block has %" PRId64, dynamic_shared,
                       g->spec.max_shared);
    pthread_mutex_lock(&g->lock);
    struct null_entry *e = arena_alloc(code->arena, sizeof *e);
    pthread_mutex_unlock(&g->lock);
    if (!e)
        return err_nomem(err);
    *e = (struct null_entry){ .source = code->program, .dynamic_shared = dynamic_shared, .nparams = nparams };
    strcpy(e->name, name); /* a name that is right is no longer */
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

static int launch_one(struct guest *g, const struct guest_work *work, const struct guest_launch *l, void *const *buffers,
                      struct err *err)
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
    if (rc)
        return rc;
    bool to_buffer = l->nparams > 0 && l->params[0].kind == GUEST_BUFFER;
    pthread_mutex_lock(&g->lock);
    rc = null_told_launch(&((struct null_context *)g)->told, e->source, e->name, l, to_buffer ? buffers[l->params[0].index] : NULL,
                          err);
    pthread_mutex_unlock(&g->lock);
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

static int null_launch(struct guest *g, void *stream, const struct guest_work *work, void *const *buffers, void *workspace,
                       struct err *err)
{
    (void)stream, (void)workspace;
    int rc = 0;
    for (int i = 0; i < work->nclears && !rc; i++)
        rc = check_clear(work, buffers, &work->clears[i], err);
    for (int i = 0; i < work->nlaunches && !rc; i++)
        rc = launch_one(g, work, &work->launches[i], buffers, err);
    return rc;
}

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
    .doctor = null_doctor,
    .size = sizeof(struct null_context),
    .open = null_open,
    .load = null_load,
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
