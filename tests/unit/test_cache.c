/* The cache of compiled code: what goes in comes out, or nothing; what a key rests on; what is removed when it grows too large. */
#include <fcntl.h>
#include <time.h>

#include "device/null.h"
#include "unit.h"
#include "worker/cache.h"

struct parts {
    struct buf binary, portable, entries;
    struct cached code;
};

static struct cached *parts(struct parts *p, const char *binary, const char *portable, const char *entries)
{
    *p = (struct parts){ .code.ms = 12.5 };
    buf_str(&p->binary, binary);
    buf_str(&p->portable, portable);
    buf_str(&p->entries, entries);
    p->code.binary = &p->binary, p->code.portable = &p->portable, p->code.entries = &p->entries;
    return &p->code;
}

static void drop(struct parts *p)
{
    buf_free(&p->binary);
    buf_free(&p->portable);
    buf_free(&p->entries);
}

static bool load(const char *key, struct parts *p)
{
    *p = (struct parts){ .code = { &p->binary, &p->portable, &p->entries, 0 } };
    return cache_load(in_dir("code"), key, &p->code);
}

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C "cccccccccccccccccccccccccccccccc"

static void what_goes_in_comes_out(void **state)
{
    (void)state;
    struct parts p;
    assert_false(load(A, &p));
    drop(&p);
    cache_save(in_dir("code"), A, parts(&p, "binary", "", "name\n"));
    drop(&p);
    assert_true(load(A, &p));
    assert_string_equal(buf_text(&p.binary), "binary");
    assert_string_equal(buf_text(&p.portable), "");
    assert_string_equal(buf_text(&p.entries), "name\n");
    assert_true(p.code.ms == 12.5);
    drop(&p);
    assert_false(load(B, &p));
    drop(&p);
}

/* Cut at any place, or with a byte changed at any place: nothing comes out. */
static void what_is_damaged_does_not(void **state)
{
    (void)state;
    char whole[512], path[PATH_ROOM];
    struct parts p;
    cache_save(in_dir("code"), A, parts(&p, "binary", "portable", "name\n"));
    drop(&p);
    snprintf(path, sizeof path, "%s", in_dir("code/" A));
    FILE *f = fopen(path, "r");
    const size_t n = fread(whole, 1, sizeof whole, f);
    fclose(f);
    assert_in_range(n, 60, sizeof whole - 1);
    for (size_t i = 0; i < 2 * n; i++) {
        f = fopen(path, "w");
        if (i >= n)
            whole[i - n] ^= 1;
        assert_int_equal(fwrite(whole, 1, i < n ? i : n, f), i < n ? i : n);
        if (i >= n)
            whole[i - n] ^= 1;
        fclose(f);
        assert_false(load(A, &p));
        drop(&p);
    }
}

static void used_at(const char *name, time_t when)
{
    const struct timespec times[2] = { { .tv_sec = when }, { .tv_sec = when } };
    assert_int_equal(utimensat(AT_FDCWD, in_dir(name), times, 0), 0);
}

/* Of three the two that were used last stay; half of a file that a killed process left goes as any, what is none of ours stays. */
static void what_was_not_used_for_longest_goes(void **state)
{
    (void)state;
    struct parts p;
    struct stat st;
    static const char *const keys[] = { A, B, C };
    for (int i = 0; i < 3; i++) {
        cache_save(in_dir("code"), keys[i], parts(&p, "binary", "portable", ""));
        drop(&p);
    }
    for (int i = 0; i < 2; i++) {
        FILE *f = fopen(in_dir(i ? "code/other.db" : "code/" A ".x1y2z3"), "w");
        fputs("half", f);
        fclose(f);
    }
    assert_int_equal(stat(in_dir("code/" A), &st), 0);
    used_at("code/" A ".x1y2z3", 1000);
    used_at("code/" A, 2000);
    used_at("code/" B, 1500);
    used_at("code/" C, 3000);
    assert_true(load(A, &p)); /* it is used now */
    drop(&p);
    cache_trim(in_dir("code"), 3 * st.st_size + 4);
    assert_int_equal(access(in_dir("code/" A ".x1y2z3"), F_OK), 0);
    cache_trim(in_dir("code"), 3 * st.st_size + 3);
    assert_int_not_equal(access(in_dir("code/" A ".x1y2z3"), F_OK), 0);
    assert_int_equal(access(in_dir("code/" B), F_OK), 0);
    cache_trim(in_dir("code"), 3 * st.st_size - 1);
    assert_int_not_equal(access(in_dir("code/" B), F_OK), 0);
    cache_trim(in_dir("code"), st.st_size);
    assert_int_not_equal(access(in_dir("code/" C), F_OK), 0);
    assert_int_equal(access(in_dir("code/" A), F_OK), 0);
    cache_trim(in_dir("code"), 0);
    assert_int_not_equal(access(in_dir("code/" A), F_OK), 0);
    assert_int_equal(access(in_dir("code/other.db"), F_OK), 0);
    cache_trim(in_dir("none"), 0);
}

static void keys_rest_on_all_that_goes_in(void **state)
{
    (void)state;
    struct err err;
    const struct devspec *dev = &null_backend.sample;
    struct devspec other = *dev, driver = *dev, shared = *dev, shared_driver;
    struct compiler *compiler;
    char keys[6][HASH_HEX], again[HASH_HEX];
    const struct compile_job job = { .source = "kernel" };
    snprintf(other.arch, sizeof other.arch, "other");
    snprintf(driver.driver, sizeof driver.driver, "2");
    shared.shared_driver = true;
    shared_driver = shared;
    snprintf(shared_driver.driver, sizeof shared_driver.driver, "2");
    OK(null_backend.compiling->open(dev, &compiler, &err));
    OK(cache_key(compiler, dev, &job, keys[0], &err));
    OK(cache_key(compiler, dev, &(struct compile_job){ .source = "kernel2" }, keys[1], &err));
    OK(cache_key(compiler, dev, &(struct compile_job){ .source = "kernel", .arch = "sm_90a" }, keys[2], &err));
    OK(cache_key(compiler, &other, &job, keys[3], &err));
    OK(cache_key(compiler, &shared, &job, keys[4], &err));
    OK(cache_key(compiler, &shared_driver, &job, keys[5], &err));
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(keys[i], keys[k]);
    OK(cache_key(compiler, dev, &job, again, &err));
    assert_string_equal(again, keys[0]);
    OK(cache_key(compiler, &driver, &job, again, &err)); /* code that needs no driver of its own is for any */
    assert_string_equal(again, keys[0]);
    null_backend.compiling->close(compiler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_folder(what_goes_in_comes_out),
        in_folder(what_is_damaged_does_not),
        in_folder(what_was_not_used_for_longest_goes),
        cmocka_unit_test(keys_rest_on_all_that_goes_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
