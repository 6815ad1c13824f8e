/* The calls of cuBLAS, cuBLASLt and cuTENSOR, on libraries of the tests' own (tests/fake), which compute on the host. */
#include "device/cuda_blas_part.h"
#include "unit.h"

static struct err err;
static int stream;
static struct device dev = { .backend = &cuda_backend, .stream = &stream };

static struct library_call call_of(enum peer_library library, enum peer_call call, const char *type)
{
    const struct dtype *t = dtype_find(type);
    return (struct library_call){
        .library = library, .call = call, .values = { .applies = true, .alpha = 1 }, .type = { t, call == CALL_GEAM ? NULL : t, t }
    };
}

static int run(struct library_call *c, void *a, void *b, void *out, int way, char version[LIBRARY_VERSION])
{
    static unsigned char room[256];
    struct memory m[3] = { { .at = a }, { .at = b }, { .at = out } }, workspace = { .at = room };
    struct called *called = NULL;
    for (int i = 0; i < 3; i++)
        c->memory[i] = c->type[i] ? &m[i] : NULL;
    c->workspace = &workspace;
    int rc = cuda_call_open(&dev, c, &called, &err);
    if (rc)
        return rc;
    rc = way < called->ways ? cuda_call_run(&dev, called, way, &err) : err_set(&err, ERR_NOTFOUND, "there is none");
    if (version)
        memcpy(version, called->version, LIBRARY_VERSION);
    cuda_call_close(&dev, called);
    return rc;
}

/* Row-major 2 x 3 to 3 x 2, scaled. */
static void transposes_by(enum peer_library library, const char *is)
{
    float in[] = { 1, 2, 3, 4, 5, 6 }, out[6] = { 0 };
    const float want[] = { 2, 8, 4, 10, 6, 12 };
    char version[LIBRARY_VERSION];
    struct library_call c = call_of(library, CALL_GEAM, "f32");
    c.values.m = 2, c.values.n = 3, c.values.ld[0] = 3, c.values.ld[2] = 2, c.values.t[0] = true, c.values.alpha = 2;
    OK(run(&c, in, NULL, out, 0, version));
    assert_memory_equal(out, want, sizeof want);
    assert_string_equal(version, is);
}

static void transposes(void **state)
{
    (void)state;
    transposes_by(LIBRARY_CUBLAS, "13.1.2");
    transposes_by(LIBRARY_CUTENSOR, "2.3.1");
}

static void sums(void **state)
{
    double x[] = { 1, 2, 3 }, y[] = { 4, 5, 6 }, out = 0;
    struct library_call c = call_of(LIBRARY_CUBLAS, CALL_DOT, "f64");
    (void)state;
    c.values.n = 3;
    OK(run(&c, x, y, &out, 0, NULL));
    assert_true(out == 32);
}

/* As a script says it of a row-major product: 2 x 3 by 3 x 2. */
static struct library_call product(enum peer_library library, const char *type)
{
    struct library_call c = call_of(library, CALL_GEMM, type);
    c.values.m = 2, c.values.n = 2, c.values.k = 3;
    c.values.ld[0] = 2, c.values.ld[1] = 3, c.values.ld[2] = 2;
    return c;
}

static void multiplies(void **state)
{
    double a[] = { 1, 2, 3, 4, 5, 6 }, b[] = { 1, 0, 0, 1, 1, 1 }, out[4] = { 0 };
    const double want[] = { 4, 5, 10, 11 };
    const enum peer_library libraries[] = { LIBRARY_CUBLAS, LIBRARY_CUTENSOR };
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct library_call c = product(libraries[i], "f64");
        memset(out, 0, sizeof out);
        OK(run(&c, b, a, out, 0, NULL));
        assert_memory_equal(out, want, sizeof want);
    }
}

/* Of transposed matrices, into one that is there; both libraries make the same of it. */
static void multiplies_transposed(void **state)
{
    double a[] = { 1, 2, 3, 4, 5, 6 }, b[] = { 1, 0, 2, 1, 1, 3 }, out[2][6] = { { 1, 2, -1, 3, 4, -1 }, { 1, 2, -1, 3, 4, -1 } };
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct library_call c = product(i ? LIBRARY_CUTENSOR : LIBRARY_CUBLAS, "f64");
        c.values.t[0] = c.values.t[1] = true;
        c.values.ld[0] = 3, c.values.ld[1] = 2, c.values.ld[2] = 3;
        c.values.alpha = 2, c.values.beta = 0.5;
        OK(run(&c, a, b, out[i], 0, NULL));
    }
    assert_true(out[0][0] == 0.5 + 2 * (1 * 1 + 2 * 2 + 3 * 1) && out[0][2] == -1);
    assert_memory_equal(out[0], out[1], sizeof *out);
}

static void modes_differ(void **state)
{
    float a[] = { 1, 2, 3, 4, 5, 6 }, b[] = { 1, 0, 0, 1, 1, 1 }, out[4] = { 0 };
    struct library_call c;
    (void)state;
    for (int i = 0; i < 2; i++) {
        c = product(i ? LIBRARY_CUTENSOR : LIBRARY_CUBLAS, "f32");
        OK(run(&c, b, a, out, 0, NULL));
        assert_true(out[0] == 4);
        c.mode = MODE_TF32; /* which the fakes make inexact */
        OK(run(&c, b, a, out, 0, NULL));
        assert_true(out[0] > 4 && out[0] < 4.01f);
    }
    c = product(LIBRARY_CUBLAS, "f64");
    c.mode = MODE_TF32;
    assert_int_equal(run(&c, b, a, out, 0, NULL), ERR_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "only f32"));
}

/* Those that ask for too much workspace are left out: the second way is the third algorithm. */
static void names_algorithms(void **state)
{
    float a[] = { 1, 2, 3, 4, 5, 6 }, b[] = { 1, 0, 0, 1, 1, 1 }, out[4] = { 0 };
    struct library_call c = product(LIBRARY_CUBLASLT, "f32");
    char version[LIBRARY_VERSION];
    (void)state;
    OK(run(&c, b, a, out, 0, version));
    assert_true(out[0] == 4 && out[1] == 5 && out[2] == 10 && out[3] == 11);
    assert_string_equal(version, "13.1.2");
    OK(run(&c, b, a, out, 1, NULL));
    assert_true(out[0] == 6);
    assert_int_equal(run(&c, b, a, out, 2, NULL), ERR_NOTFOUND);
}

static void what_a_library_lacks(void **state)
{
    float x[4] = { 0 };
    struct library_call c = product(LIBRARY_CUBLASLT, "f16");
    (void)state;
    assert_int_equal(run(&c, x, x, x, 0, NULL), ERR_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "no algorithm"));
    c = product(LIBRARY_CUTENSOR, "f16");
    assert_int_equal(run(&c, x, x, x, 0, NULL), ERR_UNSUPPORTED);
    assert_string_equal(err.msg, "cutensorCreateTensorDescriptor: not supported");
    c = call_of(LIBRARY_CUBLAS, CALL_GEAM, "i32");
    assert_int_equal(run(&c, x, NULL, x, 0, NULL), ERR_UNSUPPORTED);
    assert_string_equal(err.msg, "it has no i32");
    c = product(LIBRARY_CUBLAS, "f32");
    c.values.k = INT64_C(1) << 31;
    assert_int_equal(run(&c, x, x, x, 0, NULL), ERR_UNSUPPORTED);
    c = product(LIBRARY_CUBLAS, "f32");
    c.values.ld[2] = 1; /* what it refuses leaves the device as it was */
    assert_int_equal(run(&c, x, x, x, 0, NULL), ERR_UNSUPPORTED);
    assert_string_equal(err.msg, "cublasGemmEx: invalid value");
    c = product(LIBRARY_CLBLAST, "f32");
    assert_int_equal(run(&c, x, x, x, 0, NULL), ERR_NOTFOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transposes),       cmocka_unit_test(sums),
        cmocka_unit_test(multiplies),       cmocka_unit_test(modes_differ),
        cmocka_unit_test(names_algorithms), cmocka_unit_test(what_a_library_lacks),
        cmocka_unit_test(multiplies_transposed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
