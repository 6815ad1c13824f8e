/* cuTENSOR beside kernels: a permutation for geam, a contraction for a matrix product. Only what its heuristics choose: no autotuning, and
 * nothing that it would compile. */
#include <stdio.h>
#include <string.h>

#include "device/cuda_blas_part.h"
#include "device/cuda_tensor_api.h"

enum { ALIGNMENT = 128 }; /* bytes: every buffer has more */

static struct {
#define X(name, parameters) unsigned(*name) parameters;
    CUTENSOR_FUNCTIONS(X)
#undef X
    size_t (*cutensorGetVersion)(void);
    void *const *compute[5]; /* IN_F32 and so on */
} libcutensor;

enum { IN_F32, IN_F64, IN_TF32, IN_BF16, IN_F16 };

static bool load(const char **missing)
{
    static const char *const names[] = { "libcutensor.so.2" };
#define X(name, parameters) { #name, &libcutensor.name },
    static const struct library_function functions[] = {
        { "cutensorGetVersion", &libcutensor.cutensorGetVersion },
        CUTENSOR_FUNCTIONS(X)
        { "CUTENSOR_COMPUTE_DESC_32F", &libcutensor.compute[IN_F32] },
        { "CUTENSOR_COMPUTE_DESC_64F", &libcutensor.compute[IN_F64] },
        { "CUTENSOR_COMPUTE_DESC_TF32", &libcutensor.compute[IN_TF32] },
        { "CUTENSOR_COMPUTE_DESC_16BF", &libcutensor.compute[IN_BF16] },
        { "CUTENSOR_COMPUTE_DESC_16F", &libcutensor.compute[IN_F16] },
    };
#undef X
    static void *library;
    return blas_library(&library, names, 1, functions, sizeof functions / sizeof *functions, missing);
}

#define TENSOR(err, name, ...) blas_check(libcutensor.name(__VA_ARGS__), #name, err)

/* A matrix by columns, rows x columns, with the letters of its modes; transposed it lies in memory the other way round. */
static int make_matrix(struct cuda_called *c, int i, int64_t rows, int64_t columns, const char letters[2], bool transposed,
                       struct err *err)
{
    struct cuda_tensors *t = &c->tensors;
    const int64_t extent[2] = { transposed ? columns : rows, transposed ? rows : columns };
    const int64_t stride[2] = { 1, c->with.ld[i] };
    t->modes[i][0] = letters[transposed];
    t->modes[i][1] = letters[!transposed];
    return TENSOR(err, cutensorCreateTensorDescriptor, t->handle, &t->matrix[i], 2, extent, stride, c->with.type[i], ALIGNMENT);
}

static void *compute_of(const struct cuda_called *c)
{
    static const int modes[] = { [MODE_FULL] = IN_F32, [MODE_TF32] = IN_TF32, [MODE_BF16] = IN_BF16, [MODE_F16] = IN_F16 };
    return *libcutensor.compute[c->with.f64 ? IN_F64 : modes[c->base.is.mode]];
}

/* Alpha and beta as the library wants them for this. */
static int take_scalars(struct cuda_called *c, struct err *err)
{
    static const struct {
        unsigned type;
        const char *name; /* of the real part */
    } types[] = { { CUDA_R_32F, "f32" }, { CUDA_R_64F, "f64" }, { CUDA_R_16F, "f16" },
                  { CUDA_R_16BF, "bf16" }, { CUDA_C_32F, "f32" }, { CUDA_C_64F, "f64" } };
    struct cuda_tensors *t = &c->tensors;
    unsigned type = 0;
    int rc = TENSOR(err, cutensorOperationDescriptorGetAttribute, t->handle, t->what, CUTENSOR_OPERATION_DESCRIPTOR_SCALAR_TYPE,
                    &type, sizeof type);
    for (size_t i = 0; !rc && i < sizeof types / sizeof *types; i++)
        if (types[i].type == type) {
            number_put(dtype_find(types[i].name), c->base.is.values.alpha, t->alpha);
            number_put(dtype_find(types[i].name), c->base.is.values.beta, t->beta);
            return 0;
        }
    return rc ?: err_set(err, ERR_UNSUPPORTED, "its factors are of type %u, which cutune does not know", type);
}

static int describe(struct cuda_called *c, struct err *err)
{
    struct cuda_tensors *t = &c->tensors;
    const struct peer_values *v = &c->base.is.values;
    void *compute = compute_of(c);
    const unsigned same = CUTENSOR_OP_IDENTITY;
    int rc = make_matrix(c, 2, v->m, v->n, "mn", false, err);
    if (c->base.is.call == CALL_GEAM)
        return rc ?: make_matrix(c, 0, v->m, v->n, "mn", v->t[0], err)
                         ?: TENSOR(err, cutensorCreatePermutation, t->handle, &t->what, t->matrix[0], t->modes[0], same,
                                   t->matrix[2], t->modes[2], compute);
    return rc ?: make_matrix(c, 0, v->m, v->k, "mk", v->t[0], err)
                     ?: make_matrix(c, 1, v->k, v->n, "kn", v->t[1], err)
                     ?: TENSOR(err, cutensorCreateContraction, t->handle, &t->what, t->matrix[0], t->modes[0], same, t->matrix[1],
                               t->modes[1], same, t->matrix[2], t->modes[2], same, t->matrix[2], t->modes[2], compute);
}

int tensors_open(struct cuda_called *c, struct err *err)
{
    struct cuda_tensors *t = &c->tensors;
    const char *missing;
    if (!load(&missing))
        return err_set(err, ERR_UNSUPPORTED, missing ? "libcutensor lacks %s" : "no libcutensor.so.2 is here%s", missing ?: "");
    int rc = TENSOR(err, cutensorCreate, &t->handle) ?: describe(c, err) ?: take_scalars(c, err);
    rc = rc ?: TENSOR(err, cutensorCreatePlanPreference, t->handle, &t->wish, CUTENSOR_ALGO_DEFAULT, CUTENSOR_JIT_MODE_NONE)
                   ?: TENSOR(err, cutensorCreatePlan, t->handle, &t->plan, t->what, t->wish, LIBRARY_WORKSPACE);
    size_t v = rc ? 0 : libcutensor.cutensorGetVersion();
    snprintf(c->base.version, sizeof c->base.version, "%zu.%zu.%zu", v / 10000, v / 100 % 100, v % 100);
    return rc;
}

int tensors_run(struct device *d, const struct cuda_called *c, struct err *err)
{
    const struct library_call *is = &c->base.is;
    const struct cuda_tensors *t = &c->tensors;
    const void *a = is->memory[0]->at;
    void *to = is->memory[2]->at;
    if (is->call == CALL_GEAM)
        return TENSOR(err, cutensorPermute, t->handle, t->plan, t->alpha, a, to, d->stream);
    return TENSOR(err, cutensorContract, t->handle, t->plan, t->alpha, a, is->memory[1]->at, t->beta, to, to, is->workspace->at,
                  LIBRARY_WORKSPACE, d->stream);
}

void tensors_close(struct cuda_called *c)
{
    struct cuda_tensors *t = &c->tensors;
    if (t->plan)
        libcutensor.cutensorDestroyPlan(t->plan);
    if (t->wish)
        libcutensor.cutensorDestroyPlanPreference(t->wish);
    if (t->what)
        libcutensor.cutensorDestroyOperationDescriptor(t->what);
    for (int i = 0; i < 3; i++)
        if (t->matrix[i])
            libcutensor.cutensorDestroyTensorDescriptor(t->matrix[i]);
    if (t->handle)
        libcutensor.cutensorDestroy(t->handle);
}
