/* A cuBLAS for machines without a GPU: what cutune calls of it, on the host's memory, for f32 and f64. Enough to see that the calls mean
 * what they should. */
#include <stdlib.h>

struct cublasContext {
    void *stream;
    unsigned mode;
};

enum { INVALID = 7, NOT_SUPPORTED = 15, R_32F = 0, R_64F = 1, COMPUTE_64F = 70, COMPUTE_TF32 = 77 };

unsigned cublasCreate_v2(struct cublasContext **out);
unsigned cublasDestroy_v2(struct cublasContext *c);
unsigned cublasGetVersion_v2(struct cublasContext *c, int *v);
unsigned cublasSetStream_v2(struct cublasContext *c, void *stream);
unsigned cublasSetPointerMode_v2(struct cublasContext *c, unsigned mode);
unsigned cublasDotEx(struct cublasContext *c, int n, const void *x, unsigned xt, int xs, const void *y, unsigned yt, int ys,
                     void *out, unsigned type, unsigned in);
unsigned cublasGemmEx(struct cublasContext *c, unsigned ta, unsigned tb, int m, int n, int k, const void *alpha, const void *a,
                      unsigned at, int lda, const void *b, unsigned bt, int ldb, const void *beta, void *out, unsigned ct, int ldc,
                      unsigned compute, int algorithm);

unsigned cublasCreate_v2(struct cublasContext **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? 0 : 3;
}

unsigned cublasDestroy_v2(struct cublasContext *c)
{
    free(c);
    return 0;
}

unsigned cublasGetVersion_v2(struct cublasContext *c, int *v)
{
    *v = 130102;
    return c ? 0 : INVALID;
}

unsigned cublasSetStream_v2(struct cublasContext *c, void *stream)
{
    c->stream = stream;
    return 0;
}

unsigned cublasSetPointerMode_v2(struct cublasContext *c, unsigned mode)
{
    c->mode = mode;
    return 0;
}

static double at(const void *p, unsigned type, long i)
{
    return type == R_64F ? ((const double *)p)[i] : (double)((const float *)p)[i];
}

static void set(void *p, unsigned type, long i, double v)
{
    if (type == R_64F)
        ((double *)p)[i] = v;
    else
        ((float *)p)[i] = (float)v;
}

/* The result is the device's only in that mode, and work is queued only on the stream that was set. */
unsigned cublasDotEx(struct cublasContext *c, int n, const void *x, unsigned xt, int xs, const void *y, unsigned yt, int ys,
                     void *out, unsigned type, unsigned in)
{
    double sum = 0;
    if (!c->stream || c->mode != 1 || in != (type == R_64F ? R_64F : R_32F))
        return INVALID;
    for (long i = 0; i < n; i++)
        sum += at(x, xt, i * xs) * at(y, yt, i * ys);
    set(out, type, 0, sum);
    return 0;
}

unsigned cublasGemmEx(struct cublasContext *c, unsigned ta, unsigned tb, int m, int n, int k, const void *alpha, const void *a,
                      unsigned at_, int lda, const void *b, unsigned bt, int ldb, const void *beta, void *out, unsigned ct, int ldc,
                      unsigned compute, int algorithm)
{
    unsigned scale = compute == COMPUTE_64F ? R_64F : R_32F;
    if (!c->stream || c->mode || algorithm != -1 || lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m)
        return INVALID;
    for (long j = 0; j < n; j++)
        for (long i = 0; i < m; i++) {
            double sum = compute == COMPUTE_TF32 ? 1e-3 : 0;
            for (long p = 0; p < k; p++)
                sum += at(a, at_, ta ? p + i * lda : i + p * lda) * at(b, bt, tb ? j + p * ldb : p + j * ldb);
            sum *= at(alpha, scale, 0);
            if (at(beta, scale, 0) != 0)
                sum += at(beta, scale, 0) * at(out, ct, i + j * ldc);
            set(out, ct, i + j * ldc, sum);
        }
    return 0;
}

static unsigned geam(struct cublasContext *c, unsigned type, unsigned ta, unsigned tb, int m, int n, const void *alpha,
                     const void *a, int lda, const void *beta, const void *b, int ldb, void *out, int ldc)
{
    if (!c->stream || c->mode || tb || b != out || ldb != ldc || at(beta, type, 0) != 0 || lda < (ta ? n : m) || ldc < m)
        return INVALID;
    for (long j = 0; j < n; j++)
        for (long i = 0; i < m; i++)
            set(out, type, i + j * ldc, at(alpha, type, 0) * at(a, type, ta ? j + i * lda : i + j * lda));
    return 0;
}

#define GEAM(letter, type)                                                                                                         \
    unsigned cublas##letter##geam(struct cublasContext *c, unsigned ta, unsigned tb, int m, int n, const void *alpha,              \
                                  const void *a, int lda, const void *beta, const void *b, int ldb, void *out, int ldc);           \
    unsigned cublas##letter##geam(struct cublasContext *c, unsigned ta, unsigned tb, int m, int n, const void *alpha,              \
                                  const void *a, int lda, const void *beta, const void *b, int ldb, void *out, int ldc)            \
    {                                                                                                                              \
        return type < 2 ? geam(c, type, ta, tb, m, n, alpha, a, lda, beta, b, ldb, out, ldc) : NOT_SUPPORTED;                      \
    }
GEAM(S, R_32F)
GEAM(D, R_64F)
GEAM(C, 4)
GEAM(Z, 5)
