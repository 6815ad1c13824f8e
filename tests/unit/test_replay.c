/* Recorded spaces: the files that they are read from, good and bad; the score, beside numbers of the published package; play. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/mem.h"
#include "op/load.h"
#include "replay/play.h"

#define assert_near(a, b, most) assert_true(fabs((double)(a) - (double)(b)) <= (most))

/* -- a space of 60 configurations, A of 0 to 9 and B of 0 to 5, of which 54 are right -- */

static double sample_ms(int a, int b)
{
    return 1 + ((a - 6.4) * (a - 6.4) + 2 * (b - 2.2) * (b - 2.2)) / 10;
}

static bool sample_right(int a, int b)
{
    return (a * 7 + b * 3 + 5) % 11 != 0;
}

static void write_t4(struct buf *out)
{
    buf_str(out, "{\"metadata\": {\"timeunit\": \"miliseconds\"}, \"results\": [");
    for (int i = 0; i < 60; i++) {
        int a = i / 6, b = i % 6;
        double t = sample_ms(a, b);
        buf_fmt(out, "%s{\"configuration\": {\"A\": %d, \"B\": %d}, \"times\": {\"compilation\": %d, \"framework\": 1, ",
                i ? "," : "", a, b, 100 + 10 * a);
        buf_fmt(out, "\"search_algorithm\": 0, \"validation\": 2");
        if (sample_right(a, b))
            buf_fmt(out,
                    ", \"runtimes\": [%.17g, %.17g, %.17g, %.17g]}, \"invalidity\": \"correct\", \"measurements\": "
                    "[{\"name\": \"time\", \"value\": %.17g, \"unit\": \"\"}]}",
                    t, t, t, t, t);
        else
            buf_str(
                out,
                "}, \"invalidity\": \"runtime\", \"measurements\": [{\"name\": \"time\", \"value\": \"RuntimeFailedConfig\"}]}");
    }
    buf_str(out, "], \"schema_version\": \"1.0.0\"}");
}

/* The same as Kernel Tuner's cache; `closed`: with its last braces. */
static void write_cache(struct buf *out, bool closed)
{
    buf_str(out, "{\"tune_params_keys\": [\"A\", \"B\"], \"cache\": {");
    for (int i = 0; i < 60; i++) {
        int a = i / 6, b = i % 6;
        double t = sample_ms(a, b);
        buf_fmt(out, "\n\"%d,%d\": {\"A\": %d, \"B\": %d, ", a, b, a, b);
        if (sample_right(a, b))
            buf_fmt(out, "\"time\": %.17g, \"times\": [%.17g, %.17g, %.17g, %.17g], ", t, t, t, t, t);
        else
            buf_str(out, "\"time\": \"RuntimeFailedConfig\", ");
        buf_fmt(out, "\"compile_time\": %d, \"framework_time\": 1, \"strategy_time\": 0, \"verification_time\": 2}%s", 100 + 10 * a,
                !closed || i < 59 ? "," : "}}\n");
    }
}

static int parse(const char *text, struct tables *out, struct err *err)
{
    struct buf b = { 0 };
    buf_str(&b, text);
    int rc = tables_parse("dir/some.json", &b, out, err);
    buf_free(&b);
    return rc;
}

static struct recorded_space *sample(struct tables *out)
{
    struct buf text = { 0 };
    struct err err;
    write_t4(&text);
    if (tables_parse("some.json", &text, out, &err))
        fail_msg("%s", err.msg);
    buf_free(&text);
    return out->at[0];
}

static void same_space(const struct recorded_space *a, const struct recorded_space *b)
{
    assert_int_equal(a->space->count, b->space->count);
    for (int64_t i = 0; i < a->space->count; i++) {
        struct config x, y;
        space_at(a->space, i, &x);
        space_at(b->space, i, &y);
        assert_memory_equal(&x, &y, sizeof x);
        assert_int_equal(a->trials[i].outcome, b->trials[i].outcome);
        assert_near(a->trials[i].time_ns, b->trials[i].time_ns, 1e-6);
        assert_near(a->trials[i].seconds, b->trials[i].seconds, 1e-12);
        assert_near(a->trials[i].compile_s, b->trials[i].compile_s, 1e-12);
    }
}

static void test_formats_agree(void **state)
{
    (void)state;
    struct tables t4 = { 0 }, cache = { 0 };
    const struct recorded_space *s = sample(&t4);
    assert_int_equal(s->space->count, 60);
    assert_int_equal(s->op->variants[0].nparams, 2);
    assert_string_equal(s->op->variants[0].params[1].name, "B");
    assert_int_equal(s->op->variants[0].params[0].n, 10);
    assert_true(s->costs);
    for (int closed = 0; closed < 2; closed++) {
        struct buf text = { 0 };
        struct err err = { 0 };
        write_cache(&text, closed);
        if (tables_parse("cache.json", &text, &cache, &err))
            fail_msg("%s", err.msg);
        same_space(s, cache.at[cache.n - 1]);
        buf_free(&text);
    }
    assert_int_equal(cache.n, 2);
    tables_free(&t4);
    tables_free(&cache);
    tables_free(&cache);
}

/* Rows of `cutune list --measurements --json`: a space for each problem, what is stale left out; and of an export. */
static void test_own(void **state)
{
    (void)state;
    static const char head[] = "{\"op\": \"o\", \"device\": \"d\", \"cache\": \"cold\", \"dtype\": \"f32\", ";
    struct buf text = { 0 };
    struct tables t = { 0 };
    struct err err = { 0 };
    buf_fmt(&text,
            "[%s\"problem\": \"n=1\", \"variant\": \"v\", \"config\": {\"X\": true, \"Y\": \"a\"}, \"outcome\": \"ok\", "
            "\"time_ns\": 5},",
            head);
    buf_fmt(&text,
            "%s\"problem\": \"n=1\", \"variant\": \"v\", \"config\": {\"Y\": \"b\", \"X\": false}, \"outcome\": \"wrong\", "
            "\"time_ns\": null},",
            head);
    buf_fmt(&text, "%s\"problem\": \"n=1\", \"variant\": \"w\", \"config\": {}, \"outcome\": \"slower\", \"time_ns\": 9},", head);
    buf_fmt(
        &text,
        "%s\"problem\": \"n=2\", \"variant\": \"v\", \"config\": {\"X\": true, \"Y\": \"a\"}, \"outcome\": \"ok\", \"time_ns\": 7, "
        "\"compile_ms\": 20, \"samples\": 10},",
        head);
    buf_fmt(&text, "%s\"problem\": \"n=2\", \"variant\": 5, \"stale\": true}]", head);
    if (tables_parse("own.json", &text, &t, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(t.n, 2);
    assert_string_equal(t.at[0]->title, "own.json o f32 n=1 d");
    assert_int_equal(t.at[0]->space->count, 3);
    assert_int_equal(t.at[0]->op->nvariants, 2);
    assert_false(t.at[0]->costs);
    static const enum outcome outcomes[] = { OUT_WRONG, OUT_OK, OUT_OK };
    for (int i = 0; i < 3; i++) {
        assert_int_equal(t.at[0]->trials[i].outcome, outcomes[i]);
        assert_near(t.at[0]->trials[i].seconds, 1, 0);
    }
    assert_near(t.at[1]->trials[0].seconds, 0.02 + 70e-9, 1e-12);
    tables_free(&t);
    assert_int_equal(
        parse("{\"cutune\": \"0.1.0\", \"winners\": [{\"op\": \"o\", \"variant\": \"v\", \"config\": {\"X\": 1}, \"time_ns\": 5}]}",
              &t, &err),
        0);
    assert_int_equal(t.at[0]->trials[0].outcome, OUT_OK);
    tables_free(&t);
    buf_free(&text);
}

static void test_bad_files(void **state)
{
    (void)state;
#define CACHE "{\"tune_params_keys\": [\"A\"], \"cache\": "
    static const struct {
        const char *text, *part;
    } cases[] = {
        { "", "line 1: this is no JSON" },
        { "PK\3\4", "this is no JSON" },
        { CACHE "{\"1\": {\"A\": 1, \"ti", "this is no JSON" },
        { "[[[[[[[[", "this is no JSON" },
        { "7", "this is no JSON" },
        { "{}", "no recorded space" },
        { "[]", "it has no configurations" },
        { "[7]", "row 1: it has no variant" },
        { "[{\"variant\": \"v\", \"config\": 3}]", "row 1: it has no configuration" },
        { "[{\"variant\": \"\", \"config\": {}}]", "'' is no name of a variant" },
        { "[{\"variant\": \"v\", \"config\": {\"A\": 1}}, {\"variant\": \"v\", \"config\": {\"A\": 1, \"B\": 2}}]",
          "row 2: it has 2 parameters, those before it have 1" },
        { "[{\"variant\": \"v\", \"config\": {\"A\": 1}}, {\"variant\": \"v\", \"config\": {\"B\": 1}}]",
          "the parameter A is missing" },
        { "{\"cache\": {}}", "\"tune_params_keys\" is missing" },
        { "{\"tune_params_keys\": 4, \"cache\": {}}", "\"tune_params_keys\" is missing" },
        { "{\"tune_params_keys\": [4], \"cache\": {}}", "entry 1 is no text" },
        { "{\"tune_params_keys\": [\"A\", \"A\"], \"cache\": {}}", "the parameter A is named twice" },
        { "{\"tune_params_keys\": [\"variant\"], \"cache\": {}}", "is no name of a parameter" },
        { "{\"tune_params_keys\": [\"a\\nb\"], \"cache\": {}}", "is no name of a parameter" },
        { CACHE "{}}", "it has no configurations" },
        { CACHE "{\"x\": 7}}", "configuration x: the parameter A is missing" },
        { CACHE "{\"x\": {\"A\": [1]}}}", "configuration x: the parameter A has a value of another kind" },
        { CACHE "{\"x\": {\"A\": 1, \"time\": true}}}", "configuration x: its time is neither a number" },
        { CACHE "{\"x\": {\"A\": 1, \"times\": [2, \"b\"]}}}", "configuration x: its time is neither a number" },
        { "[{\"variant\": \"v\", \"config\": {}, \"time_ns\": {}}]", "row 1: its time is neither a number" },
        { "{\"results\": [{}]}", "result 1: \"invalidity\" is missing" },
        { "{\"results\": [7]}", "result 1: it is no object" },
        { "{\"results\": [{\"invalidity\": \"correct\"}]}", "result 1: it has no configuration" },
        { "{\"metadata\": {\"timeunit\": \"years\"}, \"results\": []}", "\"timeunit\": seconds, milliseconds" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tables t = { 0 };
        struct err err = { 0 };
        assert_int_equal(parse(cases[i].text, &t, &err), ERR_INVALID);
        if (!strstr(err.msg, cases[i].part) || strncmp(err.msg, "dir/some.json: ", 15))
            fail_msg("'%s' lacks '%s'", err.msg, cases[i].part);
        tables_free(&t);
    }
    /* Odd, but right: no time is a failure, and a number of a failure's. */
    struct tables t = { 0 };
    assert_int_equal(
        parse(CACHE "{\"a\": {\"A\": 1, \"time\": null}, \"b\": {\"A\": 2.5, \"time\": 1e20}, \"c\": {\"A\": \"x\", \"time\": -1}, "
                    "\"d\": {\"A\": false, \"times\": [2, 4], \"compile_time\": \"long\"}}}",
              &t, NULL),
        0);
    assert_int_equal(t.at[0]->space->count, 4);
    assert_int_equal(t.at[0]->trials[0].outcome, OUT_OK); /* false comes first, numbers follow, texts are last */
    assert_near(t.at[0]->trials[0].time_ns, 3e6, 0);
    for (int i = 1; i < 4; i++)
        assert_int_equal(t.at[0]->trials[i].outcome, OUT_CRASH);
    tables_free(&t);
}

static void test_without_memory(void **state)
{
    (void)state;
    for (long nth = 0, rc = -1; rc; nth++) {
        struct tables t = { 0 };
        mem_fail_at(nth);
        rc = parse("[{\"variant\": \"v\", \"config\": {\"A\": 1, \"B\": \"x\"}, \"time_ns\": 5}]", &t, NULL);
        mem_fail_at(-1);
        tables_free(&t);
        assert_true(nth < 500);
    }
}

static void read_bytes(const void *bytes, size_t n, const char *part)
{
    char path[] = "/tmp/cutune-table-XXXXXX";
    int fd = mkstemp(path);
    struct buf text = { 0 };
    struct err err = { 0 };
    assert_true(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && !close(fd));
    int rc = text_read(path, &text, &err);
    unlink(path);
    assert_int_equal(rc, part ? ERR_INVALID : 0);
    if (part && !strstr(err.msg, part))
        fail_msg("'%s' lacks '%s'", err.msg, part);
    if (!part)
        assert_string_equal(buf_text(&text), "{\"some\": 1}");
    buf_free(&text);
}

static void test_gzipped(void **state)
{
    (void)state;
    static const char text[] = "{\"some\": 1}";
    unsigned char packed[256];
    z_stream z = {
        .next_in = (unsigned char *)(uintptr_t)text, .avail_in = sizeof text - 1, .next_out = packed, .avail_out = sizeof packed
    };
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    read_bytes(text, sizeof text - 1, NULL);
    read_bytes(packed, z.total_out, NULL);
    read_bytes(packed, z.total_out - 4, "cut short");
    read_bytes(packed, 14, "cut short");
    memset(packed + 12, 0xff, 6);
    read_bytes(packed, z.total_out, "no gzipped file that can be read");
    struct buf out = { 0 };
    struct err err;
    assert_int_equal(text_read("/nowhere/at.all", &out, &err), ERR_NOTFOUND);
    buf_free(&out);
}

/* -- the score -- */

/* Ten repeats, each a walk through all configurations in steps of its own, until 1.1 times the budget. */
static void walks(const struct recorded_space *t, double end, struct tries tries[10])
{
    static const int step[] = { 7, 11, 13, 17, 19, 23, 29, 31, 37, 41 };
    for (int r = 0; r < 10; r++) {
        double s = 0;
        tries[r] = (struct tries){ 0, calloc(60, sizeof(int64_t)) };
        for (int i = 0; i < 60 && s <= end; i++) {
            int64_t index = (7 * r + 3 + step[r] * i) % 60;
            tries[r].index[tries[r].n++] = index;
            s += t->trials[index].seconds;
        }
    }
}

/* autotuning_methodology 1.1.0 (PyPI) on the same space and walks: SearchspaceStatistics, RandomSearchCalculatedBaseline, and
 * StochasticOptimizationAlgorithm with one regression of all points in place of its bagging of random ones, with which it gives
 * -0.453 in the mean, standard deviation 0.042. */
static void test_published_numbers(void **state)
{
    (void)state;
    struct tables tables = { 0 };
    const struct recorded_space *t = sample(&tables);
    struct yardstick y;
    struct tries tries[10];
    struct score score;
    double curve[POINTS], mean = 0;
    assert_int_equal(yardstick_of(t, &y, NULL), 0);
    assert_int_equal(y.right, 54);
    assert_near(y.median, 2.304e6, 1e-3);
    assert_int_equal(y.from, 1);
    assert_int_equal(y.to, 18);
    assert_near(y.from_s, 0.154288, 1e-9);
    assert_near(y.to_s, 2.777184, 1e-9);
    assert_near(y.mean_s, 0.17391970370370372, 1e-12);
    static const int at[] = { 0, 250, 500, 750, 999 };
    static const double random[] = { 2.224, 1.33310102951, 1.17764100588, 1.144, 1.044 },
                        best[] = { 2.324, 1.264, 1.204, 1.164, 1.144 };
    for (int i = 0; i < POINTS; i++)
        mean += y.random[i] / POINTS;
    assert_near(mean, 1.29855855163e6, 1e-2);
    walks(t, yardstick_end(&y), tries);
    assert_int_equal(score_of(t, &y, tries, 10, 1, curve, &score, NULL), 0);
    for (int i = 0; i < 5; i++) {
        assert_near(y.random[at[i]], random[i] * 1e6, 1e-2);
        assert_near(curve[at[i]], best[i] * 1e6, 1e-2);
    }
    assert_near(score.p, -0.458111925926, 1e-9);
    assert_true(score.low < score.p && score.p < score.high && score.high - score.low > 0.02);
    struct score twice[2] = { score, score }, both = score_mean(twice, 2);
    assert_near(both.p, score.p, 1e-12);
    assert_near(both.low, score.low, 1e-12);
    for (int r = 0; r < 10; r++)
        free(tries[r].index);
    yardstick_free(&y);
    tables_free(&tables);
}

static void test_isotonic(void **state)
{
    (void)state;
    static const double v[] = { 9, 7, 8, 3, 4, 5, 1 }, fit[] = { 9, 7.5, 7.5, 4, 4, 4, 1 };
    struct fall_level l[7];
    int n = 0, k = 0;
    for (int i = 0; i < 7; i++)
        n = isotonic_fall(l, n, i, v[i], 1);
    assert_int_equal(n, 4);
    for (int i = 0; i < 7; i++) {
        k += i > l[k].to;
        assert_near(l[k].value, fit[i], 1e-12);
    }
}

static void test_nothing_to_find(void **state)
{
    (void)state;
    static const char *const texts[] = {
        CACHE "{\"a\": {\"A\": 1, \"time\": 5}}}",
        CACHE "{\"a\": {\"A\": 1, \"time\": 5}, \"b\": {\"A\": 2, \"time\": 5}}}",
        CACHE "{\"a\": {\"A\": 1, \"time\": \"x\"}, \"b\": {\"A\": 2, \"time\": \"y\"}}}",
    };
    for (int i = 0; i < 3; i++) {
        struct tables t = { 0 };
        struct yardstick y;
        struct err err = { 0 };
        assert_int_equal(parse(texts[i], &t, NULL), 0);
        assert_int_equal(yardstick_of(t.at[0], &y, &err), ERR_INVALID);
        assert_non_null(strstr(err.msg, "nothing to find"));
        tables_free(&t);
    }
}

/* -- play -- */

static void test_play(void **state)
{
    (void)state;
    struct tables tables = { 0 };
    const struct recorded_space *t = sample(&tables);
    struct tries a[6], b[6];
    struct play how = { .home = SOURCE_DIR, .strategy = "random", .seed = 5, .repeats = 6, .cores = 3 };
    assert_int_equal(play(t, &how, 1, a, NULL), 0);
    how.cores = 1;
    how.jobs = 4; /* random does not mind to be asked ahead */
    assert_int_equal(play(t, &how, 1, b, NULL), 0);
    for (int r = 0; r < 6; r++) {
        double s = 0;
        assert_int_equal(a[r].n, b[r].n);
        assert_memory_equal(a[r].index, b[r].index, (size_t)a[r].n * sizeof(int64_t));
        for (int i = 0; i < a[r].n; i++)
            s += t->trials[a[r].index[i]].seconds;
        assert_true(s > 1 && s < 1.25); /* up to the one that crosses the end */
        assert_true(!r || a[r].index[0] != a[0].index[0] || a[r].index[1] != a[0].index[1]);
    }
    tries_free(a, 6);
    tries_free(b, 6);
    how.strategy = "exhaustive";
    assert_int_equal(play(t, &how, 1e9, a, NULL), 0);
    assert_int_equal(a[5].n, 60);
    tries_free(a, 6);
    struct err err = { 0 };
    how.strategy = "no_such";
    assert_int_equal(play(t, &how, 1, a, &err), ERR_NOTFOUND);
    tables_free(&tables);
}

/* Each strategy tries all there is, each once, if it has the time, however far ahead it is asked; and the same again with the same seed. */
static void exhausts(const struct recorded_space *t, const char *name, int jobs)
{
    struct tries a[2], b[2];
    struct play how = { .home = SOURCE_DIR, .strategy = name, .seed = 3, .repeats = 2, .cores = 2, .jobs = jobs };
    struct err err;
    for (int again = 0; again < 2; again++)
        if (play(t, &how, 1e9, again ? b : a, &err))
            fail_msg("%s: %s", name, err.msg);
    for (int r = 0; r < 2; r++) {
        bool seen[60] = { false };
        if (a[r].n != t->space->count)
            fail_msg("%s tried %d of %d", name, a[r].n, (int)t->space->count);
        for (int i = 0; i < a[r].n; i++) {
            assert_false(seen[a[r].index[i]]);
            seen[a[r].index[i]] = true;
        }
        assert_memory_equal(a[r].index, b[r].index, (size_t)a[r].n * sizeof(int64_t));
    }
    tries_free(a, 2);
    tries_free(b, 2);
}

static void test_strategies(void **state)
{
    (void)state;
    struct tables t = { 0 };
    char **names;
    int n;
    sample(&t);
    assert_int_equal(parse("[{\"variant\": \"v\", \"config\": {\"A\": 1, \"B\": \"x\"}, \"time_ns\": 5},"
                           "{\"variant\": \"v\", \"config\": {\"A\": 2, \"B\": \"x\"}, \"time_ns\": 6},"
                           "{\"variant\": \"v\", \"config\": {\"A\": 4, \"B\": \"y\"}, \"outcome\": \"wrong\"},"
                           "{\"variant\": \"u\", \"config\": {\"A\": true}, \"time_ns\": 8},"
                           "{\"variant\": \"w\", \"config\": {}, \"time_ns\": 7}]",
                           &t, NULL),
                     0);
    assert_int_equal(parse("[{\"variant\": \"v\", \"config\": {}, \"outcome\": \"wrong\"}]", &t, NULL), 0);
    setenv("CUTUNE_HOME", SOURCE_DIR, 1);
    assert_int_equal(script_names("search", &names, &n, NULL), 0);
    assert_true(n >= 7);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < t.n; k++)
            for (int jobs = 0; jobs < 12; jobs += 5)
                exhausts(t.at[k], names[i], jobs);
    mem_free(names);
    tables_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats_agree), cmocka_unit_test(test_own),
        cmocka_unit_test(test_bad_files),     cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_gzipped),       cmocka_unit_test(test_published_numbers),
        cmocka_unit_test(test_isotonic),      cmocka_unit_test(test_nothing_to_find),
        cmocka_unit_test(test_play),          cmocka_unit_test(test_strategies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
