/* A cuTENSOR likewise: matrices of f32 or f64 with any modes, permuted and contracted by what its descriptors say. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { INVALID = 7, NOT_SUPPORTED = 15, R_32F = 0, R_64F = 1 };

struct tensor {
    int64_t extent[2], stride[2];
    unsigned type;
};
struct what {
    struct tensor a, b, c;
    int32_t a_mode[2], b_mode[2], c_mode[2];
    const char *compute;
};

const char *const CUTENSOR_COMPUTE_DESC_32F = "f32", *const CUTENSOR_COMPUTE_DESC_64F = "f64",
                                     *const CUTENSOR_COMPUTE_DESC_TF32 = "tf32", *const CUTENSOR_COMPUTE_DESC_16BF = "bf16",
                                     *const CUTENSOR_COMPUTE_DESC_16F = "f16";

#define CALL(name, ...)                                                                                                            \
    unsigned name(__VA_ARGS__);                                                                                                    \
    unsigned name(__VA_ARGS__)
size_t cutensorGetVersion(void);

static unsigned make(void **out, size_t bytes)
{
    *out = calloc(1, bytes);
    return *out ? 0 : 3;
}

size_t cutensorGetVersion(void)
{
    return 20301;
}

CALL(cutensorCreate, void **out)
{
    return make(out, 1);
}

#define DESTROYS(name)                                                                                                             \
    CALL(name, void *p)                                                                                                            \
    {                                                                                                                              \
        free(p);                                                                                                                   \
        return 0;                                                                                                                  \
    }
DESTROYS(cutensorDestroy)
DESTROYS(cutensorDestroyTensorDescriptor)
DESTROYS(cutensorDestroyOperationDescriptor)
DESTROYS(cutensorDestroyPlanPreference)
DESTROYS(cutensorDestroyPlan)

CALL(cutensorCreateTensorDescriptor, void *h, struct tensor **out, uint32_t modes, const int64_t extent[], const int64_t stride[],
     unsigned type, uint32_t alignment)
{
    if (!h || modes != 2 || stride[0] != 1 || stride[1] < extent[0] || !alignment)
        return INVALID;
    if (type != R_32F && type != R_64F)
        return NOT_SUPPORTED;
    unsigned rc = make((void **)out, sizeof **out);
    if (!rc) {
        memcpy((*out)->extent, extent, sizeof (*out)->extent);
        memcpy((*out)->stride, stride, sizeof (*out)->stride);
        (*out)->type = type;
    }
    return rc;
}

CALL(cutensorCreatePermutation, void *h, struct what **out, struct tensor *a, const int32_t a_mode[], unsigned a_op, struct tensor *c,
     const int32_t c_mode[], const char *compute)
{
    unsigned rc = h && a_op == 1 ? make((void **)out, sizeof **out) : INVALID;
    if (!rc) {
        (*out)->a = *a;
        (*out)->c = *c;
        (*out)->compute = compute;
        memcpy((*out)->a_mode, a_mode, sizeof (*out)->a_mode);
        memcpy((*out)->c_mode, c_mode, sizeof (*out)->c_mode);
    }
    return rc;
}

CALL(cutensorCreateContraction, void *h, struct what **out, struct tensor *a, const int32_t a_mode[], unsigned a_op, struct tensor *b,
     const int32_t b_mode[], unsigned b_op, struct tensor *c, const int32_t c_mode[], unsigned c_op, struct tensor *d,
     const int32_t d_mode[], const char *compute)
{
    if (c != d || b_op != 1 || c_op != 1 || memcmp(c_mode, d_mode, 2 * sizeof *c_mode))
        return INVALID;
    unsigned rc = cutensorCreatePermutation(h, out, a, a_mode, a_op, c, c_mode, compute);
    if (!rc) {
        (*out)->b = *b;
        memcpy((*out)->b_mode, b_mode, sizeof (*out)->b_mode);
    }
    return rc;
}

CALL(cutensorOperationDescriptorGetAttribute, void *h, struct what *w, unsigned attribute, unsigned *value, size_t bytes)
{
    if (!h || attribute != 1 || bytes != sizeof *value)
        return INVALID;
    *value = w->compute == CUTENSOR_COMPUTE_DESC_64F ? R_64F : R_32F;
    return 0;
}

CALL(cutensorCreatePlanPreference, void *h, void **out, int algorithm, unsigned jit)
{
    return h && algorithm == -1 && !jit ? make(out, 1) : INVALID;
}

CALL(cutensorCreatePlan, void *h, struct what **out, struct what *w, void *wish, uint64_t workspace)
{
    unsigned rc = h && wish && workspace ? make((void **)out, sizeof **out) : INVALID;
    if (!rc)
        **out = *w;
    return rc;
}

static double number(unsigned type, const void *p, int64_t i)
{
    return type == R_64F ? ((const double *)p)[i] : (double)((const float *)p)[i];
}

static void set(unsigned type, void *p, int64_t i, double v)
{
    if (type == R_64F)
        ((double *)p)[i] = v;
    else
        ((float *)p)[i] = (float)v;
}

/* Where the element with these values of the modes is; index: by letter. */
static int64_t place(const struct tensor *t, const int32_t mode[2], const int64_t index[128])
{
    return index[mode[0]] * t->stride[0] + index[mode[1]] * t->stride[1];
}

static void take_extents(const struct tensor *t, const int32_t mode[2], int64_t extent[128])
{
    extent[mode[0]] = t->extent[0];
    extent[mode[1]] = t->extent[1];
}

CALL(cutensorContract, void *h, struct what *w, const void *alpha, const void *a, const void *b, const void *beta, const void *c,
     void *d, void *workspace, uint64_t bytes, void *stream)
{
    int64_t extent[128] = { 0 }, at[128] = { 0 };
    unsigned scalar = w->compute == CUTENSOR_COMPUTE_DESC_64F ? R_64F : R_32F;
    double off = w->compute == CUTENSOR_COMPUTE_DESC_TF32 ? 1.0005 : 1; /* it is less exact */
    int32_t k = w->a_mode[0];
    if (!h || !workspace || !bytes || !stream || c != d)
        return INVALID;
    take_extents(&w->a, w->a_mode, extent);
    take_extents(&w->b, w->b_mode, extent);
    if (k == w->c_mode[0] || k == w->c_mode[1])
        k = w->a_mode[1];
    for (at[w->c_mode[0]] = 0; at[w->c_mode[0]] < w->c.extent[0]; at[w->c_mode[0]]++)
        for (at[w->c_mode[1]] = 0; at[w->c_mode[1]] < w->c.extent[1]; at[w->c_mode[1]]++) {
            int64_t to = place(&w->c, w->c_mode, at);
            double sum = 0, old = number(scalar, beta, 0);
            for (at[k] = 0; at[k] < extent[k]; at[k]++)
                sum += number(w->a.type, a, place(&w->a, w->a_mode, at)) * number(w->b.type, b, place(&w->b, w->b_mode, at));
            set(w->c.type, d, to, number(scalar, alpha, 0) * sum * off + (old != 0 ? old * number(w->c.type, c, to) : 0));
        }
    return 0;
}

CALL(cutensorPermute, void *h, struct what *w, const void *alpha, const void *a, void *b, void *stream)
{
    int64_t at[128] = { 0 };
    unsigned scalar = w->compute == CUTENSOR_COMPUTE_DESC_64F ? R_64F : R_32F;
    if (!h || !stream)
        return INVALID;
    for (at[w->c_mode[0]] = 0; at[w->c_mode[0]] < w->c.extent[0]; at[w->c_mode[0]]++)
        for (at[w->c_mode[1]] = 0; at[w->c_mode[1]] < w->c.extent[1]; at[w->c_mode[1]]++)
            set(w->c.type, b, place(&w->c, w->c_mode, at), number(scalar, alpha, 0) * number(w->a.type, a, place(&w->a, w->a_mode, at)));
    return 0;
}
