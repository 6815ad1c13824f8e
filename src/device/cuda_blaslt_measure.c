/* cuBLASLt beside kernels: a matrix product with each of the algorithms that its heuristics name. */
#include <stdio.h>

#include "device/cuda_blas_part.h"

static struct {
#define X(name, parameters) unsigned(*name) parameters;
    CUBLASLT_FUNCTIONS(X)
#undef X
    size_t (*cublasLtGetVersion)(void);
} libcublaslt;

static bool load(const char **missing)
{
    static const char *const names[] = { "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11" };
#define X(name, parameters) { #name, &libcublaslt.name },
    static const struct library_function functions[] = { { "cublasLtGetVersion", &libcublaslt.cublasLtGetVersion }, CUBLASLT_FUNCTIONS(X) };
#undef X
    static void *library;
    return blas_library(&library, names, sizeof names / sizeof *names, functions, sizeof functions / sizeof *functions, missing);
}

#define LT(err, name, ...) blas_check(libcublaslt.name(__VA_ARGS__), #name, err)

static int describe(struct cuda_called *c, struct err *err)
{
    const struct blas_numbers *w = &c->with;
    const bool *t = c->base.is.values.t;
    const unsigned t_a = t[0], t_b = t[1];
    const unsigned scale = w->type[2] == CUDA_C_32F || w->type[2] == CUDA_C_64F ? w->type[2] : w->f64 ? CUDA_R_64F : CUDA_R_32F;
    const uint64_t rows[3] = { (uint64_t)(t_a ? w->k : w->m), (uint64_t)(t_b ? w->n : w->k), (uint64_t)w->m };
    const uint64_t columns[3] = { (uint64_t)(t_a ? w->m : w->k), (uint64_t)(t_b ? w->k : w->n), (uint64_t)w->n };
    int rc = LT(err, cublasLtMatmulDescCreate, &c->what, w->compute, scale)
        ?: LT(err, cublasLtMatmulDescSetAttribute, c->what, CUBLASLT_MATMUL_DESC_TRANSA, &t_a, sizeof t_a)
        ?: LT(err, cublasLtMatmulDescSetAttribute, c->what, CUBLASLT_MATMUL_DESC_TRANSB, &t_b, sizeof t_b);
    for (int i = 0; !rc && i < 3; i++)
        rc = LT(err, cublasLtMatrixLayoutCreate, &c->layout[i], w->type[i], rows[i], columns[i], w->ld[i]);
    return rc;
}

static int ask(struct cuda_called *c, struct err *err)
{
    const size_t room = LIBRARY_WORKSPACE;
    void *wish = NULL;
    int n = 0;
    int rc = LT(err, cublasLtMatmulPreferenceCreate, &wish)
        ?: LT(err, cublasLtMatmulPreferenceSetAttribute, wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room, sizeof room)
        ?: LT(err, cublasLtMatmulAlgoGetHeuristic, c->lt, c->what, c->layout[0], c->layout[1], c->layout[2], c->layout[2], wish,
              BLAS_WAYS, c->found, &n);
    if (wish)
        libcublaslt.cublasLtMatmulPreferenceDestroy(wish);
    c->base.ways = 0;
    for (int i = 0; !rc && i < n && i < BLAS_WAYS; i++)
        if (c->found[i].state == CUBLAS_STATUS_SUCCESS && c->found[i].workspace <= room)
            c->found[c->base.ways++] = c->found[i];
    return rc ?: c->base.ways ? 0 : err_set(err, ERR_UNSUPPORTED, "its heuristics name no algorithm for this");
}

int blaslt_open(struct cuda_called *c, struct err *err)
{
    const char *missing;
    if (!load(&missing))
        return err_set(err, ERR_UNSUPPORTED, missing ? "libcublasLt lacks %s" : "no libcublasLt.so.13, .12 or .11 is here%s",
                       missing ?: "");
    int rc = LT(err, cublasLtCreate, &c->lt) ?: describe(c, err) ?: ask(c, err);
    size_t v = rc ? 0 : libcublaslt.cublasLtGetVersion();
    snprintf(c->base.version, sizeof c->base.version, "%zu.%zu.%zu", v / 10000, v / 100 % 100, v % 100);
    return rc;
}

int blaslt_run(struct device *d, struct cuda_called *c, int way, struct err *err)
{
    const struct library_call *is = &c->base.is;
    const struct blas_numbers *w = &c->with;
    void *to = is->memory[2]->at;
    return LT(err, cublasLtMatmul, c->lt, c->what, &w->alpha, is->memory[0]->at, c->layout[0], is->memory[1]->at, c->layout[1],
              &w->beta, to, c->layout[2], to, c->layout[2], &c->found[way].algorithm, is->workspace->at, c->found[way].workspace,
              d->stream);
}

void blaslt_close(struct cuda_called *c)
{
    for (int i = 0; i < 3; i++)
        if (c->layout[i])
            libcublaslt.cublasLtMatrixLayoutDestroy(c->layout[i]);
    if (c->what)
        libcublaslt.cublasLtMatmulDescDestroy(c->what);
    if (c->lt)
        libcublaslt.cublasLtDestroy(c->lt);
}
