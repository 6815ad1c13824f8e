/* A cuBLASLt likewise: products of f32. Of its three algorithms one asks for more workspace than there is, and the last is wrong. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct layout {
    unsigned type;
    uint64_t rows, columns;
    int64_t ld;
};
struct what {
    unsigned compute, scale, t[2];
};
struct found {
    uint64_t algorithm[8];
    size_t workspace;
    unsigned state;
    float waves;
    int reserved[4];
};

unsigned cublasLtCreate(void **out);
unsigned cublasLtDestroy(void *c);
size_t cublasLtGetVersion(void);
unsigned cublasLtMatmulDescCreate(struct what **out, unsigned compute, unsigned scale);
unsigned cublasLtMatmulDescDestroy(struct what *w);
unsigned cublasLtMatmulDescSetAttribute(struct what *w, unsigned attribute, const void *value, size_t bytes);
unsigned cublasLtMatrixLayoutCreate(struct layout **out, unsigned type, uint64_t rows, uint64_t columns, int64_t ld);
unsigned cublasLtMatrixLayoutDestroy(struct layout *l);
unsigned cublasLtMatmulPreferenceCreate(size_t **out);
unsigned cublasLtMatmulPreferenceDestroy(size_t *wish);
unsigned cublasLtMatmulPreferenceSetAttribute(size_t *wish, unsigned attribute, const void *value, size_t bytes);
unsigned cublasLtMatmulAlgoGetHeuristic(void *c, struct what *w, struct layout *a, struct layout *b, struct layout *cl,
                                        struct layout *d, size_t *wish, int room, struct found *out, int *n);
unsigned cublasLtMatmul(void *c, struct what *w, const float *alpha, const float *a, struct layout *al, const float *b,
                        struct layout *bl, const float *beta, const float *cm, struct layout *cl, float *d, struct layout *dl,
                        const uint64_t *algorithm, void *workspace, size_t bytes, void *stream);

static void *make(size_t bytes)
{
    return calloc(1, bytes);
}

unsigned cublasLtCreate(void **out)
{
    *out = make(8);
    return 0;
}

unsigned cublasLtDestroy(void *c)
{
    free(c);
    return 0;
}

size_t cublasLtGetVersion(void)
{
    return 130102;
}

unsigned cublasLtMatmulDescCreate(struct what **out, unsigned compute, unsigned scale)
{
    *out = make(sizeof **out);
    **out = (struct what){ .compute = compute, .scale = scale };
    return 0;
}

unsigned cublasLtMatmulDescDestroy(struct what *w)
{
    free(w);
    return 0;
}

unsigned cublasLtMatmulDescSetAttribute(struct what *w, unsigned attribute, const void *value, size_t bytes)
{
    if (attribute < 3 || attribute > 4 || bytes != sizeof(unsigned))
        return 7;
    memcpy(&w->t[attribute - 3], value, bytes);
    return 0;
}

unsigned cublasLtMatrixLayoutCreate(struct layout **out, unsigned type, uint64_t rows, uint64_t columns, int64_t ld)
{
    *out = make(sizeof **out);
    **out = (struct layout){ type, rows, columns, ld };
    return ld < (int64_t)rows ? 7 : 0;
}

unsigned cublasLtMatrixLayoutDestroy(struct layout *l)
{
    free(l);
    return 0;
}

unsigned cublasLtMatmulPreferenceCreate(size_t **out)
{
    *out = make(sizeof **out);
    return 0;
}

unsigned cublasLtMatmulPreferenceDestroy(size_t *wish)
{
    free(wish);
    return 0;
}

unsigned cublasLtMatmulPreferenceSetAttribute(size_t *wish, unsigned attribute, const void *value, size_t bytes)
{
    if (attribute != 1 || bytes != sizeof *wish)
        return 7;
    memcpy(wish, value, bytes);
    return 0;
}

unsigned cublasLtMatmulAlgoGetHeuristic(void *c, struct what *w, struct layout *a, struct layout *b, struct layout *cl,
                                        struct layout *d, size_t *wish, int room, struct found *out, int *n)
{
    (void)c, (void)w, (void)b, (void)cl, (void)d;
    *n = 0;
    if (room < 3)
        return 7;
    if (a->type) /* it knows none */
        return 0;
    *n = 3;
    for (int i = 0; i < 3; i++)
        out[i] = (struct found){ .algorithm = { (uint64_t)i }, .workspace = i == 1 ? *wish + 1 : 256 };
    return 0;
}

unsigned cublasLtMatmul(void *c, struct what *w, const float *alpha, const float *a, struct layout *al, const float *b,
                        struct layout *bl, const float *beta, const float *cm, struct layout *cl, float *d, struct layout *dl,
                        const uint64_t *algorithm, void *workspace, size_t bytes, void *stream)
{
    (void)c, (void)cm, (void)cl;
    uint64_t depth = w->t[0] ? al->rows : al->columns;
    if (!stream || !workspace || bytes != 256 || *beta != 0 || (w->t[1] ? bl->columns : bl->rows) != depth)
        return 7;
    for (uint64_t j = 0; j < dl->columns; j++)
        for (uint64_t i = 0; i < dl->rows; i++) {
            float sum = 0;
            for (uint64_t p = 0; p < depth; p++)
                sum += a[w->t[0] ? p + i * (uint64_t)al->ld : i + p * (uint64_t)al->ld] *
                       b[w->t[1] ? j + p * (uint64_t)bl->ld : p + j * (uint64_t)bl->ld];
            d[i + j * (uint64_t)dl->ld] = *alpha * sum + (float)algorithm[0];
        }
    return 0;
}
