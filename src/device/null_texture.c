/* Textures of the pretend device. */
#include <stdatomic.h>

#include "device/null.h"

/* An object is the buffer's address, or of an array a number. */
static atomic_uint_fast64_t textures, arrays;

uint64_t null_textures(void)
{
    return atomic_load(&textures);
}

int null_texture(struct guest *g, const struct texture *t, void *at, struct guest_object *out, struct err *err)
{
    (void)g, (void)err;
    atomic_fetch_add(&textures, 1);
    out->object = t->mode.array ? atomic_fetch_add(&arrays, 1) + 1 : (uint64_t)(uintptr_t)at;
    return 0;
}

void null_texture_free(struct guest *g, const struct guest_object *o)
{
    (void)g, (void)o;
    atomic_fetch_sub(&textures, 1);
}

int null_texture_fill(struct guest *g, const struct texture *t, void *array, void *from, void *stream, struct err *err)
{
    (void)g, (void)t, (void)array, (void)stream;
    return from ? 0 : err_set(err, ERR_INVALID, "a texture of no buffer");
}
