/* Launching on the pretend device: nothing is executed and no buffer is touched, but what a launch is given is checked, so that
 * tests see a caller's mistakes. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "device/check.h"
#include "device/guest.h"
#include "device/null_part.h"

struct guest {
    struct devspec spec;
    pthread_mutex_t lock; /* of both lists */
    struct guest_code *codes;
};

struct guest_code {
    char *source;
    struct entry *entries;
    struct guest_code *next;
};

struct entry {
    const char *source; /* the code's */
    int64_t dynamic_shared;
    int nparams;
    struct entry *next;
};

static atomic_uint_fast64_t launches;

uint64_t null_guest_launches(void)
{
    return atomic_load(&launches);
}

static int null_open(void *handle, struct devspec *spec, struct guest **out, struct err *err)
{
    int index = handle ? *(const int *)handle : 0;
    if (index < 0 || index >= NULL_DEVICES)
        return err_set(err, ERR_NOTFOUND, "there is no null:%d", index);
    struct guest *g = mem_zalloc(sizeof *g);
    if (!g)
        return err_nomem(err);
    pthread_mutex_init(&g->lock, NULL);
    null_describe(index, &g->spec);
    *spec = g->spec;
    *out = g;
    return 0;
}

static void code_free(struct guest_code *code)
{
    for (struct entry *e = code->entries, *next; e; e = next) {
        next = e->next;
        mem_free(e);
    }
    mem_free(code->source);
    mem_free(code);
}

static void null_close(struct guest *g)
{
    if (!g)
        return;
    for (struct guest_code *code = g->codes, *next; code; code = next) {
        next = code->next;
        code_free(code);
    }
    pthread_mutex_destroy(&g->lock);
    mem_free(g);
}

static int null_load(struct guest *g, const void *image, size_t bytes, const char *format, struct guest_code **out, struct err *err)
{
    if (strcmp(format, "null") != 0)
        return err_set(err, ERR_INVALID, "a kernel in the format '%s': the null device takes null", format);
    struct guest_code *code = mem_zalloc(sizeof *code);
    if (!code)
        return err_nomem(err);
    int rc = null_source(image, bytes, &code->source, err);
    if (rc) {
        mem_free(code);
        return rc;
    }
    pthread_mutex_lock(&g->lock);
    code->next = g->codes;
    g->codes = code;
    pthread_mutex_unlock(&g->lock);
    *out = code;
    return 0;
}

static void null_unload(struct guest *g, struct guest_code *code)
{
    if (!code)
        return;
    pthread_mutex_lock(&g->lock);
    struct guest_code **at = &g->codes;
    while (*at != code)
        at = &(*at)->next;
    *at = code->next;
    pthread_mutex_unlock(&g->lock);
    code_free(code);
}

static int null_function(struct guest *g, struct guest_code *code, const char *name, int64_t dynamic_shared,
                         const struct guest_param *params, int nparams, void **out, struct err *err)
{
    (void)params;
    int rc = null_entry_check(&g->spec, code->source, name, dynamic_shared, err);
    if (rc)
        return rc;
    struct entry *e = mem_zalloc(sizeof *e);
    if (!e)
        return err_nomem(err);
    *e = (struct entry){ .source = code->source, .dynamic_shared = dynamic_shared, .nparams = nparams };
    pthread_mutex_lock(&g->lock);
    e->next = code->entries;
    code->entries = e;
    pthread_mutex_unlock(&g->lock);
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
        return check_scalar(i, &(struct karg){ .size = p->bytes }, err);
    if (p->kind == GUEST_WORKSPACE)
        return check_view(p->offset, p->room, work->workspace, err);
    return err_set(err, ERR_INVALID, "kernel argument %d: of the kind %d", i + 1, (int)p->kind);
}

static int check_one(const struct guest *g, const struct guest_work *work, const struct guest_launch *l, void *const *buffers,
                     struct err *err)
{
    const struct entry *e = l->function;
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
    return rc ? rc : null_launch_check(e->source, err);
}

/* Buffers are of a length that nobody tells. */
static int check_clear(const struct guest_work *work, void *const *buffers, const struct guest_clear *c, struct err *err)
{
    int rc = c->workspace ? 0 : check_buffer(work, buffers, c->index, err);
    return rc ? rc : check_part("a clear", c->offset, c->bytes, c->workspace ? work->workspace : INT64_MAX, err);
}

static int null_launch(struct guest *g, void *stream, const struct guest_work *work, void *const *buffers, void *workspace,
                       struct err *err)
{
    (void)stream;
    (void)workspace;
    int rc = 0;
    for (int i = 0; i < work->nclears && !rc; i++)
        rc = check_clear(work, buffers, &work->clears[i], err);
    for (int i = 0; i < work->nlaunches && !rc; i++) {
        rc = check_one(g, work, &work->launches[i], buffers, err);
        if (!rc)
            atomic_fetch_add(&launches, 1);
    }
    return rc;
}

const struct guest_backend null_guest = {
    .name = "null",
    .open = null_open,
    .close = null_close,
    .forget = null_close,
    .load = null_load,
    .unload = null_unload,
    .function = null_function,
    .raw = null_raw,
    .launch = null_launch,
    .addresses = true,
};
