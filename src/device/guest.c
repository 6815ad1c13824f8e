/* What is the same in the contexts of all backends: the list of loaded code. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "device/backend.h"

int guest_open(const struct backend *b, void *handle, struct devspec *spec, struct guest **out, struct err *err)
{
    struct guest *g = mem_zalloc(b->size);
    if (!g)
        return err_nomem(err);
    g->backend = b;
    pthread_mutex_init(&g->lock, NULL);
    int rc = b->open(handle, g, err);
    if (rc) {
        guest_forget(g);
        return rc;
    }
    *spec = g->spec;
    *out = g;
    return 0;
}

void guest_forget(struct guest *g)
{
    if (!g)
        return;
    for (struct guest_code *code = g->codes, *next; code; code = next) {
        next = code->next;
        arena_free(code->arena);
    }
    pthread_mutex_destroy(&g->lock);
    mem_free(g);
}

void guest_close(struct guest *g)
{
    if (g && g->backend->close)
        g->backend->close(g);
    guest_forget(g);
}

static int check_format(const struct backend *b, const char *format, struct err *err)
{
    if (!format || !strcmp(format, b->format) || (b->portable && !strcmp(format, b->portable)))
        return 0;
    return err_set(err, ERR_INVALID, "a kernel in the format '%s': %s takes %s%s%s", format, b->name, b->format,
                   b->portable ? " and " : "", b->portable ? b->portable : "");
}

int guest_load(struct guest *g, const void *image, size_t bytes, const char *format, struct guest_code **out, struct err *err)
{
    struct arena *arena;
    struct guest_code *code = arena_with(sizeof *code, &arena);
    if (!code)
        return err_nomem(err);
    code->arena = arena;
    int rc = check_format(g->backend, format, err) ?: g->backend->load(g, image, bytes, format, code, err);
    if (rc) {
        arena_free(arena);
        return rc;
    }
    pthread_mutex_lock(&g->lock);
    code->next = g->codes;
    g->codes = code;
    pthread_mutex_unlock(&g->lock);
    *out = code;
    return 0;
}

void guest_unload(struct guest *g, struct guest_code *code)
{
    if (!code)
        return;
    pthread_mutex_lock(&g->lock);
    struct guest_code **at = &g->codes;
    while (*at != code)
        at = &(*at)->next;
    *at = code->next;
    pthread_mutex_unlock(&g->lock);
    guest_textures_free(g, code);
    if (g->backend->unload)
        g->backend->unload(g, code);
    arena_free(code->arena);
}

void guest_unload_all(struct guest *g)
{
    while (g->codes)
        guest_unload(g, g->codes);
}

int guest_fits(struct guest *g, const struct guest_launch *l, struct err *err)
{
    int rc = geometry_special(&l->geometry) && g->backend->fits ? g->backend->fits(g, l, err) : 0;
    if (rc)
        err_prefix(err, "kernel '%s': ", l->kernel);
    return rc;
}

int guest_function(struct guest *g, struct guest_code *code, struct guest_launch *l, struct resources *resources, struct err *err)
{
    if (l->nparams < 0 || l->nparams > GUEST_PARAMS)
        return err_set(err, ERR_INVALID, "%d kernel arguments: at most %d are possible", l->nparams, GUEST_PARAMS);
    int rc = g->backend->function(g, code, l, resources, err);
    if (rc && rc != ERR_NOTFOUND)
        err_prefix(err, "kernel '%s': ", l->kernel);
    return rc;
}

int guest_symbol(struct guest *g, struct guest_code *code, const char *name, int64_t bytes, void **at, struct err *err)
{
    int64_t has = 0;
    if (!g->backend->symbol)
        return err_set(err, ERR_UNSUPPORTED, "%s has no __constant__ arrays", g->backend->name);
    int rc = g->backend->symbol(g, code, name, at, &has, err);
    if (rc == ERR_NOTFOUND)
        return err_set(err, rc, "there is no __constant__ array '%s' in the compiled code", name);
    if (!rc && bytes > has)
        return err_set(err, ERR_UNSUPPORTED, "the __constant__ array '%s' has %" PRId64 " bytes, its input %" PRId64, name, has,
                       bytes);
    return rc;
}
