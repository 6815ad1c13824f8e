/* Outcomes, statistics, and results as bytes. */
#include <math.h>

#include "base/mem.h"
#include "model/record.h"
#include "model/serial.h"
#include "unit.h"

static void outcomes(void **state)
{
    (void)state;
    for (int i = 0; i < OUT_COUNT; i++)
        assert_int_equal(outcome_find(outcome_name((enum outcome)i)), i);
    assert_string_equal(outcome_name(OUT_LAUNCH_ERROR), "launch-error");
    assert_string_equal(outcome_name(OUT_COUNT), "unknown");
    assert_int_equal(outcome_find("fine"), -1);
}

static void near(double got, double want)
{
    if (fabs(got - want) > 1e-12 * fabs(want))
        fail_msg("got %.17g, expected %.17g", got, want);
}

static void statistics(void **state)
{
    (void)state;
    const double samples[] = { 5, 1, 4, 2 };
    struct stats s;
    struct err err = { 0 };
    assert_int_equal(stats_of(samples, 4, &s, &err), 0);
    assert_true(samples[0] == 5 && samples[3] == 2);
    assert_int_equal(s.n, 4);
    near(s.median, 3);
    near(s.mean, 3);
    near(s.stddev, sqrt(10.0 / 3));
    assert_true(s.min == 1 && s.max == 5 && s.ci_low == 1 && s.ci_high == 5);

    assert_int_equal(stats_of(samples, 1, &s, &err), 0);
    assert_true(s.median == 5 && s.mean == 5 && s.stddev == 0 && s.ci_low == 5 && s.ci_high == 5);
    assert_int_equal(stats_of(samples, 3, &s, &err), 0);
    near(s.median, 4);

    /* equal samples far from zero: nothing cancels */
    const double large[] = { 1e15 + 1, 1e15 + 1, 1e15 + 1 };
    assert_int_equal(stats_of(large, 3, &s, &err), 0);
    assert_true(s.stddev == 0 && s.mean == 1e15 + 1);
}

/* The ranks of the interval's ends, as tables of order statistics have them. */
static void intervals(void **state)
{
    (void)state;
    static const int rank[][2] = {
        /* samples, rank of the lower end */
        { 1, 1 },  { 5, 1 },   { 6, 1 },   { 8, 1 },    { 9, 2 },      { 11, 2 },      { 12, 3 },
        { 20, 6 }, { 30, 10 }, { 50, 18 }, { 100, 40 }, { 1000, 469 }, { 5000, 2431 },
    };
    static double samples[5000];
    for (int i = 0; i < COUNT(rank); i++) {
        int n = rank[i][0];
        for (int k = 0; k < n; k++)
            samples[k] = n - k;
        struct stats s;
        assert_int_equal(stats_of(samples, n, &s, NULL), 0);
        assert_int_equal((int)s.ci_low, rank[i][1]);
        assert_int_equal((int)s.ci_high, n + 1 - rank[i][1]);
    }
}

static void no_statistics(void **state)
{
    (void)state;
    struct stats s;
    struct err err = { 0 };
    const double wrong[][2] = { { 1, NAN }, { 1, INFINITY }, { 1, -1 }, { 1, 2 * TIME_MAX } };
    assert_int_equal(stats_of(wrong[0], 0, &s, &err), ERR_INVALID);
    for (int i = 0; i < COUNT(wrong); i++) {
        assert_int_equal(stats_of(wrong[i], 2, &s, &err), ERR_INVALID);
        assert_non_null(strstr(err.msg, "sample 1 is "));
    }
    mem_fail_at(0);
    int rc = stats_of(wrong[0], 1, &s, &err);
    mem_fail_at(-1);
    assert_int_equal(rc, ERR_NOMEM);
}

static struct result sample_result(double *samples)
{
    struct result r = {
        .outcome = OUT_SLOWER,
        .reason = "behind",
        .nsamples = 3,
        .samples = samples,
        .compile_ms = 23.5,
        .resources = { 40, 4224, -1, 1024 },
        .sm_mhz = 1980,
    };
    samples[0] = 3, samples[1] = 1, samples[2] = 2.5;
    assert_int_equal(stats_of(samples, 3, &r.stats, NULL), 0);
    return r;
}

static void result_put(struct buf *out, struct result *r)
{
    io_result(&(struct serial){ .out = out }, r);
}

static int result_get(struct cursor *in, struct result *out)
{
    struct serial s = { .in = in };
    *out = (struct result){ 0 };
    io_result(&s, out);
    if (serial_failed(&s))
        result_free(out);
    return s.nomem ? ERR_NOMEM : in->bad ? ERR_CORRUPT : 0;
}

static void bytes(void **state)
{
    (void)state;
    double samples[3];
    struct result r = sample_result(samples), back;
    struct buf b = { 0 };
    result_put(&b, &r);
    struct cursor in = cursor_on(b.data, b.len);
    assert_int_equal(result_get(&in, &back), 0);
    assert_ptr_equal(in.at, in.end);
    assert_int_equal(back.outcome, OUT_SLOWER);
    assert_string_equal(back.reason, "behind");
    assert_true(back.stats.median == 2.5 && back.stats.ci_high == 3 && back.stats.n == 3);
    assert_int_equal(back.nsamples, 3);
    assert_memory_equal(back.samples, samples, sizeof samples);
    assert_true(back.compile_ms == 23.5 && back.sm_mhz == 1980 && back.mem_mhz == 0);
    assert_true(back.resources.registers == 40 && back.resources.local == -1 && back.resources.max_threads == 1024);
    result_free(&back);
    assert_null(back.samples);
    result_free(&back);
    buf_free(&b);
}

/* As a broken worker may send it: refused, nothing owned. */
static void wrong_bytes(void **state)
{
    (void)state;
    double samples[3];
    struct result r = sample_result(samples), back;
    struct buf b = { 0 };
    result_put(&b, &r);
    for (size_t n = 0; n < b.len; n++) {
        struct cursor in = cursor_on(b.data, n);
        assert_int_equal(result_get(&in, &back), ERR_CORRUPT);
        assert_null(back.samples);
    }
    for (size_t at = 0; at < b.len; at++)
        for (int v = 0; v < 256; v += 51) {
            char was = b.data[at];
            b.data[at] = (char)v;
            struct cursor in = cursor_on(b.data, b.len);
            if (result_get(&in, &back) == 0) {
                assert_true((int)back.outcome < OUT_COUNT && back.nsamples >= 0);
                result_free(&back);
            }
            b.data[at] = was;
        }
    mem_fail_at(0);
    struct cursor in = cursor_on(b.data, b.len);
    int rc = result_get(&in, &back);
    mem_fail_at(-1);
    assert_int_equal(rc, ERR_NOMEM);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outcomes),      cmocka_unit_test(statistics), cmocka_unit_test(intervals),
        cmocka_unit_test(no_statistics), cmocka_unit_test(bytes),      cmocka_unit_test(wrong_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
