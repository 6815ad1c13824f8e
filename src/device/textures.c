/* Texture objects: made once, found again without a lock, and kept as long as the code that they were made for. */
#include "base/mem.h"
#include "device/backend.h"

/* Addresses that a texture may be launched with: an application that has more of them should look at its allocator. */
enum { MOST_OBJECTS = 1 << 16 };

/* Under the lock. The code keeps memory only for what was made: an application may try again and again. */
static int make(struct guest *g, struct guest_texture *t, struct guest_code *code, void *at, struct guest_object **out,
                struct err *err)
{
    struct guest_object made = { .at = at, .next_of_code = code->objects };
    int rc = g->backend->texture(g, &t->is, at, &made, err);
    if (rc)
        return rc;
    struct guest_object *o = arena_alloc(code->arena, sizeof *o);
    if (!o) {
        g->backend->texture_free(g, &made);
        return err_nomem(err);
    }
    *o = made;
    *out = code->objects = o;
    return 0;
}

int guest_textures(struct guest *g, struct guest_code *code, struct guest_texture *all, struct err *err)
{
    int rc = 0;
    for (struct guest_texture *t = all; t && !rc; t = t->next) {
        if (t->code)
            continue;
        if (!g->backend->texture)
            return err_set(err, ERR_UNSUPPORTED, "%s has no textures", g->backend->name);
        pthread_mutex_lock(&g->lock);
        rc = t->is.mode.array ? make(g, t, code, NULL, &t->own, err) : 0;
        pthread_mutex_unlock(&g->lock);
        if (!rc)
            t->code = code;
    }
    return rc;
}

static struct guest_object *find(_Atomic(struct guest_object *) *bucket, const void *at)
{
    struct guest_object *o = atomic_load_explicit(bucket, memory_order_acquire);
    while (o && o->at != at)
        o = o->next;
    return o;
}

/* Unless another thread was faster. */
static int add(struct guest *g, struct guest_texture *t, _Atomic(struct guest_object *) *bucket, void *at,
               struct guest_object **out, struct err *err)
{
    int rc = 0;
    pthread_mutex_lock(&g->lock);
    struct guest_object *o = find(bucket, at);
    const bool fresh = !o;
    if (fresh)
        rc = t->nmade < MOST_OBJECTS
                 ? make(g, t, t->code, at, &o, err)
                 : err_set(err, ERR_UNSUPPORTED, "a texture over buffers at more than %d addresses", MOST_OBJECTS);
    if (fresh && !rc) {
        t->nmade++;
        o->next = atomic_load_explicit(bucket, memory_order_relaxed);
        atomic_store_explicit(bucket, o, memory_order_release);
    }
    pthread_mutex_unlock(&g->lock);
    *out = o;
    return rc;
}

int guest_texture_of(struct guest *g, struct guest_texture *t, void *at, uint64_t *object, struct err *err)
{
    const uint64_t mixed = (uint64_t)(uintptr_t)at / TEXTURE_ALIGN * 0x9e3779b97f4a7c15;
    _Atomic(struct guest_object *) *bucket = &t->made[mixed >> 58]; /* of 64 */
    struct guest_object *o = t->is.mode.array ? t->own : find(bucket, at);
    int rc = 0;
    if (!o)
        rc = add(g, t, bucket, at, &o, err);
    if (!rc)
        *object = o->object;
    return rc;
}

int guest_texture_fill(struct guest *g, const struct guest_texture *t, void *from, void *stream, struct err *err)
{
    return g->backend->texture_fill(g, &t->is, t->own->array, from, stream, err);
}

void guest_textures_free(struct guest *g, struct guest_code *code)
{
    for (const struct guest_object *o = code->objects; o; o = o->next_of_code)
        g->backend->texture_free(g, o);
    code->objects = NULL;
}
