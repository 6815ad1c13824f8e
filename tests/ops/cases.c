#include "cases.h"

#include <string.h>

#include "base/util.h"
#include "ref/ref.h"

/* Edges of every tile; whole tiles and whole vectors; a tall one. */
static const char *const transpose_shapes[] = { "m=1,n=1",    "m=1,n=5",   "m=5,n=1",     "m=33,n=31", "m=113,n=277",
                                                "m=192,n=64", "m=48,n=80", "m=20011,n=3", NULL };
static const char *const dot_shapes[] = { "n=1", "n=2", "n=255", "n=1023", "n=100003", NULL };
static const char *const gemm_shapes[] = { "m=1,n=1,k=1",    "m=1,n=7,k=3",  "m=17,n=33,k=9",   "m=64,n=64,k=64",
                                           "m=65,n=1,k=130", "m=1,n=65,k=1", "m=131,n=70,k=33", NULL };

static bool expect_transpose(const struct dtype *type, const int64_t *size, void *const *buffers)
{
    ref_transpose(buffers[0], buffers[1], size[0], size[1], (size_t)type->bytes);
    return true;
}

static bool expect_dot(const struct dtype *type, const int64_t *size, void *const *buffers)
{
    if (!strcmp(type->name, "f32"))
        *(float *)buffers[0] = ref_dot_f32(buffers[1], buffers[2], size[0]);
    else if (!strcmp(type->name, "f64"))
        *(double *)buffers[0] = ref_dot_f64(buffers[1], buffers[2], size[0]);
    else if (!strcmp(type->name, "i32"))
        *(int32_t *)buffers[0] = ref_dot_i32(buffers[1], buffers[2], size[0]);
    else
        return false;
    return true;
}

static bool expect_gemm(const struct dtype *type, const int64_t *size, void *const *buffers)
{
    if (!strcmp(type->name, "f32"))
        ref_gemm_f32(buffers[0], buffers[1], buffers[2], size[0], size[1], size[2]);
    else if (!strcmp(type->name, "f64"))
        ref_gemm_f64(buffers[0], buffers[1], buffers[2], size[0], size[1], size[2]);
    else if (!strcmp(type->name, "i32"))
        ref_gemm_i32(buffers[0], buffers[1], buffers[2], size[0], size[1], size[2]);
    else
        return false;
    return true;
}

const struct known_op *known_op_at(int i)
{
    static const struct known_op known[] = {
        { "transpose", transpose_shapes, "m=600001,n=2", expect_transpose },
        { "dot", dot_shapes, NULL, expect_dot },
        { "gemm", gemm_shapes, NULL, expect_gemm },
    };
    return i >= 0 && i < (int)(sizeof known / sizeof *known) ? &known[i] : NULL;
}

static void put_integer(void *out, int64_t i, int64_t v, int bytes)
{
    if (bytes == 1)
        ((int8_t *)out)[i] = (int8_t)v;
    else if (bytes == 2)
        ((int16_t *)out)[i] = (int16_t)v;
    else if (bytes == 4)
        ((int32_t *)out)[i] = (int32_t)v;
    else
        ((int64_t *)out)[i] = v;
}

static bool put_number(void *out, int64_t i, const struct dtype *type, enum source source, uint64_t h)
{
    int64_t whole = (int64_t)(h % 5) - 2;
    /* A fraction of 23 bits, so that f32 holds it as it is. */
    double v = source == SOURCE_WHOLE ? (double)whole : (double)((int64_t)(h >> 40) - (1 << 23)) / (1 << 23);
    if (type->kind == DT_INT)
        put_integer(out, i, source == SOURCE_WHOLE ? whole : (int64_t)(h % 201) - 100, type->bytes);
    else if (type->kind == DT_FLOAT && type->bytes == 4)
        ((float *)out)[i] = (float)v;
    else if (type->kind == DT_FLOAT && type->bytes == 8)
        ((double *)out)[i] = v;
    else
        return false;
    return true;
}

bool source_fill(void *out, int64_t n, const struct dtype *type, enum source source, uint64_t seed)
{
    if (source == SOURCE_BITS) {
        unsigned char *p = out;
        size_t bytes = (size_t)n * (size_t)type->bytes;
        for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
            uint64_t h = rand_at(seed, at);
            memcpy(p + at, &h, bytes - at < sizeof h ? bytes - at : sizeof h);
        }
        return true;
    }
    for (int64_t i = 0; i < n; i++)
        if (!put_number(out, i, type, source, rand_at(seed, (uint64_t)i)))
            return false;
    return true;
}
