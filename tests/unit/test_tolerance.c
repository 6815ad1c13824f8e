/* The default bounds of close: what they let pass, and what not, with sums of a million terms made here. */
#include <math.h>

#include "base/util.h"
#include "measure/tolerance.h"
#include "unit.h"

static const struct bounds by_type = { .kind = CHECK_CLOSE, .length = 1, .rtol = -1, .atol = -1 };

static struct tolerance bound(const char *type, const struct bounds *check, double typical)
{
    return tolerance_of(check, dtype_find(type), typical, 0, 1000000);
}

static bool lets_pass(const struct tolerance *tol, double got, double want)
{
    return tolerance_share(tol, got, want) <= 1;
}

static void bounds_go_by_the_type(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        double rtol;
    } types[] = { { "f32", 2e-4 }, { "f64", 1e-10 }, { "f16", 0x1p-9 }, { "bf16", 0x1p-6 }, { "f8e4m3", 0.25 }, { "f8e5m2", 0.5 } };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct tolerance tol = bound(types[i].type, &by_type, 3);
        assert_true(tol.close && !tol.sum);
        assert_true(tol.rtol == types[i].rtol);
        if (dtype_find(types[i].type)->bytes > 1)
            assert_true(tol.atol >= 3 * tol.rtol && tol.atol < 3.1 * tol.rtol);
    }
    assert_false(bound("i32", &by_type, 3).close); /* integers are equal */
    assert_false(bound("u8", &(struct bounds){ .kind = CHECK_CLOSE, .rtol = 1, .atol = 1 }, 3).close);
    assert_false(bound("f32", &(struct bounds){ .kind = CHECK_EXACT }, 3).close);
    struct tolerance sum = bound("f32", &(struct bounds){ .kind = CHECK_SUM, .length = 100 }, 3);
    assert_true(sum.close && sum.sum && sum.rtol == 0 && sum.atol == 400 * 0x1p-24);
}

static void what_is_said_holds(void **state)
{
    (void)state;
    struct tolerance tol = bound("f32", &(struct bounds){ .kind = CHECK_CLOSE, .rtol = 1e-6, .atol = 0 }, 3);
    assert_true(tol.rtol == 1e-6 && tol.atol == 0);
    assert_true(lets_pass(&tol, 5, 5) && lets_pass(&tol, 0, 0) && !lets_pass(&tol, 1e-30, 0));
    tol = bound("f32", &(struct bounds){ .kind = CHECK_CLOSE, .rtol = 1e-6, .atol = -1 }, 3); /* atol goes with it */
    assert_true(tol.atol >= 3e-6 && tol.atol < 3.1e-6);
    tol = bound("f32", &(struct bounds){ .kind = CHECK_CLOSE, .rtol = -1, .atol = 0.5 }, 3);
    assert_true(tol.rtol == 2e-4 && tol.atol == 0.5);
    tol = bound("f32", &(struct bounds){ .kind = CHECK_CLOSE, .rtol = 0, .atol = 0 }, 3);
    assert_true(tol.close && lets_pass(&tol, 5, 5) && !lets_pass(&tol, nextafter(5, 6), 5));
}

static void what_is_no_number_must_be_the_same(void **state)
{
    (void)state;
    struct tolerance tol = bound("f32", &by_type, 1), sum = tol;
    sum.sum = true;
    assert_true(lets_pass(&tol, NAN, NAN) && !lets_pass(&sum, NAN, NAN));
    assert_true(lets_pass(&tol, INFINITY, INFINITY) && lets_pass(&tol, -INFINITY, -INFINITY));
    static const double odd[] = { NAN, INFINITY, -INFINITY, 1 };
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            if (i != k)
                assert_false(lets_pass(&tol, odd[i], odd[k]));
}

/* Neither zeros nor a few huge elements hide what most elements are like. */
static void a_typical_element(void **state)
{
    (void)state;
    enum { N = 100000 };
    static float v[N];
    struct extent e = { 0 }, none = { 0 };
    for (int i = 0; i < N; i++)
        v[i] = i % 100 == 0 ? (float)((double)(rand_at(1, (uint64_t)i) >> 11) * 0x1p-53) : 0;
    v[1] = NAN;
    v[2] = -INFINITY;
    extent_add(&e, dtype_find("f32"), v, N);
    assert_true(extent_typical(&e) > 0.40 && extent_typical(&e) < 0.48);
    for (int i = 0; i < N; i++)
        v[i] = (float)(1 / ((double)(rand_at(1, (uint64_t)i) >> 11) * 0x1p-52 - 1)); /* one over [-1, 1) */
    e = none;
    extent_add(&e, dtype_find("f32"), v, N);
    assert_true(extent_typical(&e) > 3 && extent_typical(&e) < 5);
    v[3] = 1e38f;
    v[4] = -3e38f;
    e = none;
    extent_add(&e, dtype_find("f32"), v, N);
    assert_true(extent_typical(&e) > 3 && extent_typical(&e) < 5);
    assert_true(extent_typical(&none) == 0);
    e = none;
    const double ends[] = { 0x1p-1074, 1.7e308, 1.7e308 };
    extent_add(&e, dtype_find("f64"), ends, 3);
    assert_true(extent_typical(&e) > 0x1p1022);
}

/* More than half NaN, or nothing finite. */
static void what_proves_nothing(void **state)
{
    (void)state;
    const float half[] = { NAN, 1, NAN, 0 }, most[] = { NAN, 1, NAN }, far[] = { INFINITY, -INFINITY, INFINITY },
                few[] = { -INFINITY, 2, INFINITY };
    struct extent none = { 0 }, e = none;
    assert_false(extent_moot(&none));
    extent_add(&e, dtype_find("f32"), half, 4);
    assert_false(extent_moot(&e));
    extent_add(&e, dtype_find("f32"), most, 3);
    assert_true(extent_moot(&e));
    e = none;
    extent_add(&e, dtype_find("f32"), far, 3);
    assert_true(extent_moot(&e));
    extent_add(&e, dtype_find("f32"), few, 3);
    assert_false(extent_moot(&e));
}

/* Sums of 10^6 numbers, [-1, 1) or [0, 1), one after another in f32, from both ends and in blocks: within the bounds of many such sums, and of one alone,
 * even if that happens to be small. A thousandth is not, unless a sum is so small that its own rounding is more. */
static void sums_may_be_taken_in_any_order(void **state)
{
    (void)state;
    enum { N = 1000000, SUMS = 60, BLOCK = 1000 };
    float *x = malloc(N * sizeof *x);
    int refused = 0;
    assert_non_null(x);
    for (int s = 0; s < SUMS; s++) {
        const bool positive = s % 4 == 3;
        float forward = 0, backward = 0, blocked = 0;
        double sum = 0, size = 0;
        for (int i = 0; i < N; i++) {
            float v = (float)((int32_t)(rand_at((uint64_t)s, (uint64_t)i) >> 40) - 8388608) / 8388608;
            x[i] = positive ? fabsf(v) : v;
            sum += (double)x[i];
            size += fabs((double)x[i]);
            forward += x[i];
        }
        for (int i = N - 1; i >= 0; i--)
            backward += x[i];
        for (int i = 0; i < N; i += BLOCK) {
            float part = 0;
            for (int k = 0; k < BLOCK; k++)
                part += x[i + k];
            blocked += part;
        }
        const double got[] = { (double)forward, (double)backward, (double)blocked };
        struct tolerance many = bound("f32", &by_type, positive ? 5e5 : 390);
        struct tolerance one = tolerance_of(&by_type, dtype_find("f32"), fabs(sum), size, 1);
        struct tolerance blind = bound("f32", &by_type, fabs(sum)); /* without what is known of one where nothing cancels */
        for (int k = 0; k < 3; k++) {
            if (!lets_pass(&many, got[k], sum) || !lets_pass(&one, got[k], sum))
                fail_msg("sum %d: %.9g, not %.9g: %g and %g of the bounds", s, got[k], sum, tolerance_share(&many, got[k], sum),
                         tolerance_share(&one, got[k], sum));
            refused += !lets_pass(&blind, got[k], sum);
        }
        if (fabs(sum) > 390)
            assert_false(lets_pass(&many, sum * 1.001, sum) || lets_pass(&one, sum * 1.001, sum));
        assert_false(lets_pass(&one, sum * 1.1, sum)); /* however small it is */
    }
    assert_true(refused > 0); /* else the rule for one alone would do nothing */
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_go_by_the_type),
        cmocka_unit_test(what_is_said_holds),
        cmocka_unit_test(what_is_no_number_must_be_the_same),
        cmocka_unit_test(a_typical_element),
        cmocka_unit_test(what_proves_nothing),
        cmocka_unit_test(sums_may_be_taken_in_any_order),
    };
    return cmocka_run_group_tests_name("tolerance", tests, NULL, NULL);
}
