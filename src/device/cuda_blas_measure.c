/* cuBLAS beside kernels: its calls on a device of ours, on its stream. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "device/cuda_blas_part.h"

static struct {
#define X(name, parameters) unsigned(*name) parameters;
    CUBLAS_FUNCTIONS(X)
#undef X
} libcublas;

bool blas_library(void **library, const char *const *names, int n, const struct library_function *functions, int m,
                  const char **missing)
{
    *missing = NULL;
    if (*library)
        return true;
    void *found = cuda_library(names, n);
    for (int i = 0; found && i < m; i++)
        if (!library_find(found, functions[i].name, functions[i].at) && !*missing)
            *missing = functions[i].name;
    *library = *missing ? NULL : found;
    return *library;
}

static bool load(const char **missing)
{
    static const char *const before[] = { "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11" };
    static const char *const names[] = { "libcublas.so.13", "libcublas.so.12", "libcublas.so.11" };
#define X(name, parameters) { #name, &libcublas.name },
    static const struct library_function functions[] = { CUBLAS_FUNCTIONS(X) };
#undef X
    static void *library;
    if (!library)
        cuda_library(before, sizeof before / sizeof *before); /* which it needs, and may not find by itself */
    return blas_library(&library, names, sizeof names / sizeof *names, functions, sizeof functions / sizeof *functions, missing);
}

int blas_check(unsigned status, const char *function, struct err *err)
{
    static const struct {
        unsigned status;
        int code;
        const char *text;
    } known[] = {
        { CUBLAS_STATUS_NOT_INITIALIZED, ERR_UNSUPPORTED, "not initialized" },
        { CUBLAS_STATUS_ALLOC_FAILED, ERR_NOMEM, "no memory" },
        { CUBLAS_STATUS_INVALID_VALUE, ERR_UNSUPPORTED, "invalid value" },
        { CUBLAS_STATUS_ARCH_MISMATCH, ERR_UNSUPPORTED, "not on this architecture" },
        { CUBLAS_STATUS_NOT_SUPPORTED, ERR_UNSUPPORTED, "not supported" },
    };
    if (status == CUBLAS_STATUS_SUCCESS)
        return 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].status == status)
            return err_set(err, known[i].code, "%s: %s", function, known[i].text);
    return err_set(err, ERR_DEVICE, "%s: status %u", function, status);
}
#define BLAS(err, name, ...) blas_check(libcublas.name(__VA_ARGS__), #name, err)

/* ---- types and numbers */

static bool type_of(const struct dtype *t, unsigned *out)
{
    static const struct {
        const char *name;
        unsigned type;
    } types[] = { { "f32", CUDA_R_32F },   { "f64", CUDA_R_64F }, { "f16", CUDA_R_16F },
                  { "bf16", CUDA_R_16BF }, { "c64", CUDA_C_32F }, { "c128", CUDA_C_64F } };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!t || !strcmp(types[i].name, t->name)) {
            *out = types[i].type;
            return true;
        }
    return false;
}

/* ERR_UNSUPPORTED: not with these types, or too large. */
static int blas_numbers_of(const struct library_call *c, struct blas_numbers *out, struct err *err)
{
    static const unsigned modes[] = { [MODE_FULL] = CUBLAS_COMPUTE_32F,
                                      [MODE_TF32] = CUBLAS_COMPUTE_32F_FAST_TF32,
                                      [MODE_BF16] = CUBLAS_COMPUTE_32F_FAST_16BF,
                                      [MODE_F16] = CUBLAS_COMPUTE_32F_FAST_16F };
    const struct peer_values *v = &c->values;
    const int64_t sizes[] = { v->m, v->n, v->k, v->ld[0], v->ld[1], v->ld[2] };
    int *const to[] = { &out->m, &out->n, &out->k, &out->ld[0], &out->ld[1], &out->ld[2] };
    *out = (struct blas_numbers){ .compute = modes[c->mode] };
    for (int i = 0; i < 3; i++)
        if (!type_of(c->type[i], &out->type[i]))
            return err_set(err, ERR_UNSUPPORTED, "it has no %s", c->type[i]->name);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i] > INT32_MAX)
            return err_set(err, ERR_UNSUPPORTED, "a size of %lld is more than it takes", (long long)sizes[i]);
        *to[i] = (int)sizes[i];
    }
    out->f64 = out->type[2] == CUDA_R_64F || out->type[2] == CUDA_C_64F;
    if (c->mode && out->type[2] != CUDA_R_32F)
        return err_set(err, ERR_UNSUPPORTED, "only f32 is rounded to less");
    if (out->f64) {
        out->compute = CUBLAS_COMPUTE_64F;
        out->alpha.d[0] = v->alpha;
        out->beta.d[0] = v->beta;
    } else {
        out->alpha.f[0] = (float)v->alpha;
        out->beta.f[0] = (float)v->beta;
    }
    return 0;
}

/* ---- calls */

static int run_geam(const struct cuda_called *c, const struct library_call *is, const void *a, void *to, struct err *err)
{
    const struct blas_numbers *w = &c->with;
    const unsigned t = is->values.t[0];
    if (w->type[0] != w->type[2])
        return err_set(err, ERR_UNSUPPORTED, "both matrices must be of one type");
    switch (w->type[2]) {
    case CUDA_R_32F:
        return BLAS(err, cublasSgeam, c->blas, t, 0, w->m, w->n, &w->alpha, a, w->ld[0], &w->beta, to, w->ld[2], to, w->ld[2]);
    case CUDA_R_64F:
        return BLAS(err, cublasDgeam, c->blas, t, 0, w->m, w->n, &w->alpha, a, w->ld[0], &w->beta, to, w->ld[2], to, w->ld[2]);
    case CUDA_C_32F:
        return BLAS(err, cublasCgeam, c->blas, t, 0, w->m, w->n, &w->alpha, a, w->ld[0], &w->beta, to, w->ld[2], to, w->ld[2]);
    case CUDA_C_64F:
        return BLAS(err, cublasZgeam, c->blas, t, 0, w->m, w->n, &w->alpha, a, w->ld[0], &w->beta, to, w->ld[2], to, w->ld[2]);
    default:
        return err_set(err, ERR_UNSUPPORTED, "it has no %s", is->type[2]->name);
    }
}

static int blas_run(const struct cuda_called *c, struct err *err)
{
    const struct library_call *is = &c->base.is;
    const struct blas_numbers *w = &c->with;
    const void *a = is->memory[0]->at, *b = is->memory[1] ? is->memory[1]->at : NULL;
    void *to = is->memory[2]->at;
    const unsigned sums = w->f64 ? CUDA_R_64F : CUDA_R_32F;
    switch (is->call) {
    case CALL_GEAM:
        return run_geam(c, is, a, to, err);
    case CALL_DOT:
        return BLAS(err, cublasDotEx, c->blas, w->n, a, w->type[0], 1, b, w->type[1], 1, to, w->type[2], sums);
    default:
        return BLAS(err, cublasGemmEx, c->blas, is->values.t[0], is->values.t[1], w->m, w->n, w->k, &w->alpha, a, w->type[0],
                    w->ld[0], b, w->type[1], w->ld[1], &w->beta, to, w->type[2], w->ld[2], w->compute, CUBLAS_GEMM_DEFAULT);
    }
}

/* One number, 130000 or (to 12) 120803, as people write it: 13.0.0, 12.8.3. */
static void version_of(const struct cuda_called *c, char out[LIBRARY_VERSION])
{
    int v = 0;
    if (!libcublas.cublasGetVersion_v2(c->blas, &v))
        snprintf(out, LIBRARY_VERSION, "%d.%d.%d", v / 10000, v / 100 % 100, v % 100);
}

static int blas_open(struct device *d, struct cuda_called *c, struct err *err)
{
    const char *missing;
    if (!load(&missing))
        return err_set(err, ERR_UNSUPPORTED, missing ? "libcublas lacks %s" : "no libcublas.so.13, .12 or .11 is here%s",
                       missing ?: "");
    int rc = BLAS(err, cublasCreate_v2, &c->blas) ?: BLAS(err, cublasSetStream_v2, c->blas, d->stream);
    if (!rc && c->base.is.call == CALL_DOT) /* the sum stays on the device */
        rc = BLAS(err, cublasSetPointerMode_v2, c->blas, CUBLAS_POINTER_MODE_DEVICE);
    if (!rc)
        version_of(c, c->base.version);
    return rc;
}

int cuda_call_open(struct device *d, const struct library_call *what, struct called **out, struct err *err)
{
    if (what->library != LIBRARY_CUBLAS && what->library != LIBRARY_CUBLASLT && what->library != LIBRARY_CUTENSOR)
        return err_set(err, ERR_NOTFOUND, "it is no library for CUDA devices");
    struct cuda_called *c = mem_zalloc(sizeof *c);
    if (!c)
        return err_nomem(err);
    c->base.is = *what;
    c->base.ways = 1;
    int rc = blas_numbers_of(what, &c->with, err);
    if (!rc)
        rc = what->library == LIBRARY_CUBLAS ? blas_open(d, c, err) : what->library == LIBRARY_CUBLASLT ? blaslt_open(c, err) : tensors_open(c, err);
    if (rc)
        cuda_call_close(d, &c->base);
    else
        *out = &c->base;
    return rc;
}

int cuda_call_run(struct device *d, struct called *called, int way, struct err *err)
{
    struct cuda_called *c = (struct cuda_called *)called;
    return c->lt ? blaslt_run(d, c, way, err) : c->blas ? blas_run(c, err) : tensors_run(d, c, err);
}

void cuda_call_close(struct device *d, struct called *called)
{
    struct cuda_called *c = (struct cuda_called *)called;
    (void)d;
    if (c->blas)
        libcublas.cublasDestroy_v2(c->blas);
    blaslt_close(c);
    tensors_close(c);
    mem_free(c);
}
