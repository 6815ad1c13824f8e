#include "cases.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "ref/ref.h"

/* Edges of every tile; whole tiles and whole vectors; a tall one. Then with rows further apart, several, both. */
static const char *const transpose_shapes[] = {
    "m=1,n=1",
    "m=1,n=5",
    "m=5,n=1",
    "m=33,n=31",
    "m=113,n=277",
    "m=192,n=64",
    "m=48,n=80",
    "m=20011,n=3",
    "m=1,n=1,ldin=3,ldout=2,batch=3",
    "m=113,n=277,ldin=281,ldout=115",
    "m=64,n=150,ldin=160,ldout=80,batch=2",
    "m=33,n=100,batch=4",
    "m=3,n=1111,ldin=1117,batch=4",
    "m=1100,n=5,ldin=8,ldout=1101,batch=3",
    NULL,
};
static const char *const transpose_tall[] = { "m=600001,n=2", NULL };
static const char *const inplace_shapes[] = {
    "n=1", "n=5", "n=33", "n=64", "n=97", "n=136", "n=72,ld=80,batch=2", "n=32,ld=33,batch=3", "n=131,ld=133,batch=2", NULL
};
static const char *const dot_shapes[] = { "n=1", "n=2", "n=255", "n=1023", "n=4096", "n=100003", NULL };
static const char *const norm_shapes[] = { "n=1", "n=2", "n=255", "n=4096", "n=20011", NULL }; /* whose sums f16 holds */
/* As most are; then transposed, with rows further apart, several: each with few rows, few columns, whole vectors and none. */
static const char *const gemm_shapes[] = {
    "m=1,n=1,k=1",
    "m=1,n=7,k=3",
    "m=17,n=33,k=9",
    "m=64,n=64,k=64",
    "m=65,n=1,k=130",
    "m=1,n=65,k=1",
    "m=131,n=70,k=33",
    "m=40,n=72,k=64,ldc=80,batch=2",
    "m=33,n=2,k=70,lda=71,ldb=4,ldc=3,batch=3",
    "m=72,n=64,k=40,ta=1,lda=80",
    "m=70,n=3,k=131,ta=1,batch=2",
    "m=64,n=96,k=72,tb=1,ldb=80,ldc=104",
    "m=3,n=70,k=131,tb=1,ldc=71",
    "m=96,n=72,k=40,ta=1,tb=1",
    "m=5,n=67,k=33,ta=1,tb=1,lda=6,batch=2",
    "m=66,n=7,k=64,ta=1,tb=1,ldb=64",
    NULL,
};
/* Enough for each multiprocessor to have parts of several tiles: `stream`. */
static const char *const gemm_large[] = {
    "m=270,n=260,k=803,batch=3",
    "m=270,n=262,k=803,ta=1,ldc=271,batch=2",
    "m=270,n=262,k=802,tb=1,batch=2",
    "m=260,n=272,k=804,ta=1,tb=1,batch=2",
    NULL,
};

/* Rows shorter than a warp, of a whole number of packs, and of none; long ones. */
static const char *const rows_shapes[] = { "m=1,n=1", "m=37,n=5", "m=19,n=333", "m=9,n=1024", "m=3,n=4099", "m=2,n=20000", NULL };
static const char *const reduce_shapes[] = {
    "m=1,n=1,columns=0,largest=0,mean=0",    "m=37,n=5,columns=0,largest=0,mean=1",    "m=9,n=1029,columns=0,largest=0,mean=0",
    "m=19,n=333,columns=0,largest=1,mean=0", "m=300,n=64,columns=1,largest=0,mean=0",  "m=301,n=77,columns=1,largest=1,mean=0",
    "m=2,n=1003,columns=1,largest=0,mean=1", "m=1,n=70003,columns=0,largest=0,mean=0", NULL
};

static const char *const convolution_shapes[] = { "h=1,w=1,fh=1,fw=1", "h=33,w=70,fh=3,fw=5", "h=64,w=128,fh=7,fw=3",
                                                  "h=5,w=300,fh=2,fw=17", NULL };
static const char *const stencil_shapes[] = { "nz=1,ny=1,nx=1",  "nz=3,ny=3,nx=3",     "nz=20,ny=17,nx=35",
                                              "nz=9,ny=2,nx=64", "nz=70,ny=16,nx=128", NULL };

static bool expect_transpose(const struct dtype *type, const int64_t *size, void *const *buffers)
{
    ref_transpose(buffers[0], buffers[1], size, (size_t)type->bytes);
    return true;
}

/* sizes: n, ld, batch. */
static bool expect_inplace(const struct dtype *type, const int64_t *size, void *const *buffers)
{
    const int64_t n = size[0], ld = size[1], sizes[] = { n, n, ld, ld, size[2] };
    const size_t bytes = (size_t)(size[2] * n * ld * type->bytes);
    void *before = mem_alloc(bytes);
    if (before) {
        memcpy(before, buffers[0], bytes);
        ref_transpose(buffers[0], before, sizes, (size_t)type->bytes);
    }
    mem_free(before);
    return before;
}

/* Elements as numbers: null where they are none. */
static double *numbers(const struct dtype *type, const void *from, int64_t n)
{
    const unsigned char *p = from;
    double *out = type->kind == DT_INT && type->bytes != 4 ? NULL : mem_array((size_t)n, sizeof *out);
    for (int64_t i = 0; out && i < n; i++) {
        int32_t v;
        memcpy(&v, p + i * type->bytes, type->kind == DT_INT ? sizeof v : 0);
        if (type->kind == DT_INT)
            out[i] = (double)v;
        else if (!number_get(type, p + i * type->bytes, &out[i]))
            out[i] = NAN;
    }
    return out;
}

static bool expect_dot(const struct dtype *type, const int64_t *size, void *const *buffers)
{
    if (type->kind == DT_INT) {
        *(int32_t *)buffers[0] = ref_dot_i32(buffers[1], buffers[2], size[0]);
        return type->bytes == 4;
    }
    double *x = numbers(type, buffers[1], size[0]), *y = numbers(type, buffers[2], size[0]);
    bool ok = x && y && number_put(type, ref_dot(x, y, size[0]), buffers[0]);
    mem_free(x);
    mem_free(y);
    return ok;
}

/* |x| or squares, summed; the root of those. */
static bool expect_norm(const struct dtype *type, const int64_t *size, void *const *buffers, bool squares)
{
    double *x = numbers(type, buffers[1], size[0]);
    bool ok = x;
    for (int64_t i = 0; ok && i < size[0]; i++)
        x[i] = squares ? x[i] * x[i] : fabs(x[i]);
    double sum = ok ? ref_sum(x, size[0], 1) : 0;
    ok = ok && number_put(type, squares ? sqrt(sum) : sum, buffers[0]);
    mem_free(x);
    return ok;
}

static bool expect_asum(const struct dtype *type, const int64_t *size, void *const *buffers)
{
    return expect_norm(type, size, buffers, false);
}

static bool expect_nrm2(const struct dtype *type, const int64_t *size, void *const *buffers)
{
    return expect_norm(type, size, buffers, true);
}

/* Of softmax, with one buffer more of rmsnorm, with two of layernorm; behind those is their eps. */
static bool expect_rows(const struct dtype *type, const int64_t *size, void *const *buffers, int vectors)
{
    int64_t m = size[0], n = size[1];
    double *x = numbers(type, buffers[1], m * n), *y = mem_array((size_t)n, sizeof *y);
    double *w = vectors > 0 ? numbers(type, buffers[2], n) : NULL, *b = vectors > 1 ? numbers(type, buffers[3], n) : NULL;
    double eps = vectors ? (double)*(const float *)buffers[2 + vectors] : 0;
    bool ok = x && y && (w || vectors < 1) && (b || vectors < 2);
    for (int64_t i = 0; ok && i < m; i++) {
        if (vectors == 0)
            ref_softmax(y, x + i * n, n);
        else if (vectors == 1)
            ref_rmsnorm(y, x + i * n, w, eps, n);
        else
            ref_layernorm(y, x + i * n, w, b, eps, n);
        for (int64_t j = 0; ok && j < n; j++)
            ok = number_put(type, y[j], (unsigned char *)buffers[0] + (i * n + j) * type->bytes);
    }
    mem_free(x);
    mem_free(y);
    mem_free(w);
    mem_free(b);
    return ok;
}

static bool expect_softmax(const struct dtype *type, const int64_t *size, void *const *buffers)
{
    return expect_rows(type, size, buffers, 0);
}

static bool expect_rmsnorm(const struct dtype *type, const int64_t *size, void *const *buffers)
{
    return expect_rows(type, size, buffers, 1);
}

static bool expect_layernorm(const struct dtype *type, const int64_t *size, void *const *buffers)
{
    return expect_rows(type, size, buffers, 2);
}

/* sizes: m, n, columns, largest, mean. A mean is divided in the type in which the kernel sums. */
static bool expect_reduce(const struct dtype *type, const int64_t *size, void *const *buffers)
{
    bool columns = size[2], ok = true;
    int64_t n = size[1], outputs = columns ? n : size[0], length = columns ? size[0] : n;
    double *x = numbers(type, buffers[1], size[0] * n);
    for (int64_t i = 0; x && ok && i < outputs; i++) {
        const double *from = x + (columns ? i : i * n);
        double v = size[3] ? ref_largest(from, length, columns ? n : 1) : ref_sum(from, length, columns ? n : 1);
        if (type->kind == DT_INT) {
            ((int32_t *)buffers[0])[i] = (int32_t)v / (size[4] ? (int32_t)length : 1);
            continue;
        }
        if (size[4])
            v = type->bytes == 8 ? v / (double)length : (double)((float)v / (float)length);
        ok = number_put(type, v, (unsigned char *)buffers[0] + i * type->bytes);
    }
    mem_free(x);
    return x && ok;
}

static bool put_number_of(const struct dtype *type, double v, void *out)
{
    int32_t whole = (int32_t)v;
    if (type->kind == DT_FLOAT)
        return number_put(type, v, out);
    memcpy(out, &whole, sizeof whole);
    return type->bytes == sizeof whole;
}

/* Puts numbers into an output; frees them. */
static bool put_numbers(const struct dtype *type, void *out, double *from, int64_t n)
{
    bool ok = from;
    for (int64_t i = 0; ok && i < n; i++)
        ok = number_put(type, from[i], (unsigned char *)out + i * type->bytes);
    mem_free(from);
    return ok;
}

/* sizes: m, n, k, ta, tb, lda, ldb, ldc, batch; buffers: c, alpha, a, b, beta. Sums in double are exact enough, also of whole numbers of 32
 * bits from small ones. */
static bool expect_gemm(const struct dtype *type, const int64_t *size, void *const *buffers)
{
    const int64_t m = size[0], n = size[1], k = size[2], ta = size[3], tb = size[4], batch = size[8];
    const int64_t all_a = batch * (ta ? k : m) * size[5], all_b = batch * (tb ? n : k) * size[6], all_c = batch * m * size[7];
    const struct dtype *scalar = dtype_computing(type);
    double *a = numbers(type, buffers[2], all_a), *b = numbers(type, buffers[3], all_b), *c = numbers(type, buffers[0], all_c);
    double *alpha = numbers(scalar, buffers[1], 1), *beta = numbers(scalar, buffers[4], 1);
    bool ok = a && b && c && alpha && beta;
    for (int64_t i = 0; ok && i < batch; i++)
        ref_gemm(c + i * m * size[7], *alpha, a + i * (ta ? k : m) * size[5], b + i * (tb ? n : k) * size[6], *beta, size);
    for (int64_t i = 0; ok && i < all_c; i++)
        if (i % size[7] < n)
            ok = put_number_of(type, c[i], (unsigned char *)buffers[0] + i * type->bytes);
    mem_free(a);
    mem_free(b);
    mem_free(c);
    mem_free(alpha);
    mem_free(beta);
    return ok;
}

/* sizes: h, w, fh, fw. */
static bool expect_convolution(const struct dtype *type, const int64_t *size, void *const *buffers)
{
    int64_t h = size[0], w = size[1], fh = size[2], fw = size[3];
    double *in = numbers(type, buffers[1], (h + fh - 1) * (w + fw - 1)), *filter = numbers(type, buffers[2], fh * fw);
    double *out = mem_array((size_t)(h * w), sizeof *out);
    bool ok = in && filter && out;
    if (ok)
        ref_convolution(out, in, filter, h, w, fh, fw);
    mem_free(in);
    mem_free(filter);
    return put_numbers(type, buffers[0], out, ok ? h * w : 0) && ok;
}

/* sizes: nz, ny, nx; the coefficients are the third to the fifth argument. */
static bool expect_stencil(const struct dtype *type, const int64_t *size, void *const *buffers)
{
    int64_t n = size[0] * size[1] * size[2];
    double *in = numbers(type, buffers[1], n), *out = mem_array((size_t)n, sizeof *out), abc[3];
    bool ok = in && out;
    for (int i = 0; ok && i < 3; i++)
        ok = number_get(type, buffers[2 + i], &abc[i]);
    if (ok)
        ref_stencil(out, in, abc, size[0], size[1], size[2]);
    mem_free(in);
    return put_numbers(type, buffers[0], out, ok ? n : 0) && ok;
}

const struct known_op *known_op_at(int i)
{
    static const struct known_op known[] = {
        { "transpose", transpose_shapes, transpose_tall, expect_transpose, NULL, NULL },
        { "transpose_inplace", inplace_shapes, NULL, expect_inplace, NULL, NULL },
        { "dot", dot_shapes, NULL, expect_dot, NULL, NULL },
        { "asum", norm_shapes, NULL, expect_asum, NULL, NULL },
        { "nrm2", norm_shapes, NULL, expect_nrm2, NULL, NULL },
        { "gemm", gemm_shapes, gemm_large, expect_gemm, NULL, "c" },
        { "softmax", rows_shapes, NULL, expect_softmax, NULL, NULL },
        { "rmsnorm", rows_shapes, NULL, expect_rmsnorm, NULL, NULL },
        { "layernorm", rows_shapes, NULL, expect_layernorm, NULL, NULL },
        { "reduce", reduce_shapes, NULL, expect_reduce, NULL, NULL },
        { "convolution", convolution_shapes, NULL, expect_convolution, "docs/examples", NULL },
        { "stencil", stencil_shapes, NULL, expect_stencil, "docs/examples", NULL },
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
    /* A fraction of 23 bits, so that f32 holds it as it is; of 7 for types of 16. */
    int bits = type->bytes == 2 ? 7 : 23;
    double v = source == SOURCE_WHOLE ? (double)whole : (double)((int64_t)(h >> (63 - bits)) - ((int64_t)1 << bits)) / (1 << bits);
    if (type->kind == DT_FLOAT)
        return number_put(type, v, (unsigned char *)out + i * type->bytes);
    put_integer(out, i, source == SOURCE_WHOLE ? whole : (int64_t)(h % 201) - 100, type->bytes);
    return type->kind == DT_INT;
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
