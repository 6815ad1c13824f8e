/* Misses are counted, written, and tuned by `cutune run --wanted` while the application runs. */
#include "runtime_sample.h"

static int64_t wanted(const char *db, const char *what, const char *sizes)
{
    char sql[256];
    snprintf(sql, sizeof sql, "SELECT coalesce(sum(%s), 0) FROM wanted WHERE sizes LIKE '%s'", what, sizes);
    return ask_number(db, sql);
}

static void ask(cutune_handle *h, int64_t m, int64_t n, int times)
{
    for (int i = 0; i < times; i++)
        find(h, m, n);
}

static void flush(cutune *c)
{
    if (cutune_flush(c))
        fail_msg("%s", cutune_error());
}

static void counts_what_is_not_exact(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ .capture = 1 });
    cutune_handle *h = attached(c), *again = attached(c);
    ask(h, 1111, 113, 3);
    ask(h, 1111, 226, 5);
    ask(again, 1111, 226, 1);
    assert_true(cutune_kernel_holds(find(h, 1111, 113)));
    flush(c);
    assert_int_equal(wanted("a.db", "count", "%"), 6);
    assert_int_equal(wanted("a.db", "count", "m=1111,n=226"), 6);
    assert_int_equal(wanted("a.db", "time_ns", "m=1111,n=226"), 2176); /* twice the bytes of the 1000 ns winner, and what it should lose */
    assert_int_equal(ask_number("a.db",
                                "SELECT count(*) FROM wanted JOIN device ON device.id = wanted.device "
                                "WHERE op = 'transpose' AND types = 'f32' AND backend = 'null' AND name = 'Pretend device'"),
                     1);
    flush(c);
    assert_int_equal(wanted("a.db", "count", "%"), 6);
    ask(h, 1111, 226, 1);
    assert_false(cutune_kernel_holds(find(h, 1111, 226))); /* this one is counted, too */
    cutune_detach(h);
    assert_int_equal(wanted("a.db", "count", "%"), 8);
    ask(again, 64, 64, 4);
    cutune_close(c);
    assert_int_equal(wanted("a.db", "count", "%"), 12);
}

static void counts_nothing_unasked(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ 0 });
    ask(attached(c), 64, 64, 3);
    flush(c);
    cutune_close(c);
    assert_int_equal(wanted("a.db", "count", "%"), 0);
}

/* A problem for which there is no kernel is wanted most; words that can never be right are not. */
static void counts_what_has_no_kernel(void **state)
{
    (void)state;
    meddle("a.db", "PRAGMA foreign_keys = 1; DELETE FROM tuned");
    cutune *c = open_pretend((cutune_options){ .capture = 1 });
    cutune_handle *h = attached(c);
    const cutune_kernel *k = NULL;
    const int64_t sizes[] = { 64, 64 };
    for (int i = 0; i < 3; i++)
        assert_int_equal(try_find(h, 64, 64, &k), CUTUNE_ERR_NOTFOUND);
    assert_int_equal(try_find(h, 0, 64, &k), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_lookup(h, "gemm", "f32", sizes, 2, &k), CUTUNE_ERR_NOTFOUND);
    assert_true(cutune_lookup(h, "transpose", "f99", sizes, 2, &k) < 0);
    flush(c);
    assert_int_equal(wanted("a.db", "count", "%"), 3);
    tune("a.db", (struct recipe){ .m = 64, .n = 64 });
    int changed = 0;
    assert_int_equal(cutune_refresh(c, &changed), CUTUNE_OK);
    assert_int_equal(changed, 1);
    assert_is(find(h, 64, 64), CUTUNE_MATCH_EXACT, "TILE=32");
    cutune_close(c);
    assert_int_equal(wanted("a.db", "count", "%"), 3);
}

static void counts_no_more_once_exact(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ .capture = 1 });
    cutune_handle *h = attached(c);
    ask(h, 64, 64, 2);
    tune("a.db", (struct recipe){ .m = 64, .n = 64 });
    assert_int_equal(cutune_refresh(c, NULL), CUTUNE_OK);
    ask(h, 64, 64, 5);
    cutune_close(c);
    assert_int_equal(wanted("a.db", "count", "%"), 2);
}

static void makes_the_database(void **state)
{
    (void)state;
    char tables[PATH_ROOM];
    snprintf(tables, sizeof tables, "%s", in_dir("a.db"));
    setenv("XDG_DATA_HOME", sample_dir, 1);
    unsetenv("CUTUNE_DB");
    const cutune_options o = { .size = sizeof o, .tables = tables, .capture = 1 };
    cutune *c = NULL;
    assert_int_equal(cutune_open_with(&o, &c), CUTUNE_OK);
    ask(attached(c), 64, 64, 2);
    cutune_close(c);
    unsetenv("XDG_DATA_HOME");
    assert_int_equal(wanted("cutune/tuned.db", "count", "%"), 2);
}

/* Also of a handle that is gone by then. */
static void keeps_what_it_could_not_write(void **state)
{
    (void)state;
    char path[PATH_ROOM], tables[PATH_ROOM];
    snprintf(tables, sizeof tables, "%s", in_dir("a.db"));
    snprintf(path, sizeof path, "%s", in_dir("none/b.db"));
    cutune *c = open_pretend((cutune_options){ .path = path, .tables = tables, .capture = 1 });
    cutune_handle *h = attached(c);
    ask(h, 64, 64, 2);
    assert_true(cutune_flush(c) < 0);
    ask(h, 64, 65, 3);
    cutune_detach(h);
    assert_int_equal(mkdir(in_dir("none"), 0700), 0);
    cutune_close(c);
    assert_int_equal(wanted("none/b.db", "count", "m=64,n=64"), 2);
    assert_int_equal(wanted("none/b.db", "count", "m=64,n=65"), 3);
}

/* What is wrong with one op is said, and keeps nothing of another's from being written. */
static void writes_past_a_damaged_op(void **state)
{
    (void)state;
    meddle("a.db", "INSERT INTO op (id, name, hash, current, interface) SELECT 99, 'broken', hash, 1, interface FROM op");
    cutune *c = open_pretend((cutune_options){ .capture = 1 });
    cutune_handle *h = attached(c);
    const cutune_kernel *k = NULL;
    const int64_t sizes[] = { 64, 64 };
    assert_int_equal(cutune_lookup(h, "broken", "f32", sizes, 2, &k), CUTUNE_ERR_NOTFOUND);
    ask(h, 64, 64, 2);
    meddle("a.db", "UPDATE op SET interface = bend(interface, 'axis 0', '') WHERE id = 99");
    tune("a.db", (struct recipe){ .m = 1111, .n = 113, .tile = 2, .ns = 300 });
    assert_int_equal(cutune_refresh(c, NULL), CUTUNE_ERR_CORRUPT);
    assert_says("damaged");
    assert_is(find(h, 1111, 113), CUTUNE_MATCH_EXACT, "TILE=64"); /* renewed all the same */
    assert_int_equal(cutune_flush(c), CUTUNE_ERR_CORRUPT);
    assert_says("damaged");
    assert_int_equal(wanted("a.db", "count", "m=64,n=64"), 2);
    cutune_close(c);
}

/* What could not be written is kept, and written when it can be. */
static void says_that_it_cannot_write(void **state)
{
    (void)state;
    char tables[PATH_ROOM], path[PATH_ROOM];
    struct said said = { 0 };
    snprintf(tables, sizeof tables, "%s", in_dir("a.db"));
    snprintf(path, sizeof path, "%s", in_dir("none/b.db"));
    cutune *c = open_pretend((cutune_options){ .path = path, .tables = tables, .capture = 1, .log = note, .log_arg = &said });
    cutune_handle *h = attached(c);
    ask(h, 64, 64, 2);
    assert_true(cutune_flush(c) < 0);
    assert_says("none");
    assert_int_equal(said.lines, 1);
    assert_non_null(strstr(said.last, "misses were not written"));
    ask(h, 64, 64, 1);
    ask(h, 64, 65, 1);
    assert_true(cutune_flush(c) < 0);
    assert_int_equal(mkdir(in_dir("none"), 0700), 0);
    flush(c);
    assert_int_equal(wanted("none/b.db", "count", "%"), 4);
    assert_int_equal(wanted("none/b.db", "count", "m=64,n=64"), 3);
    cutune_close(c);
    assert_int_equal(wanted("none/b.db", "count", "%"), 4);

    unsetenv("HOME"); /* nowhere to write */
    unsetenv("XDG_DATA_HOME");
    const cutune_options o = { .size = sizeof o, .tables = tables, .capture = 1, .log = note, .log_arg = &said };
    assert_int_equal(cutune_open_with(&o, &c), CUTUNE_OK);
    ask(attached(c), 64, 64, 2);
    cutune_close(c);
    assert_non_null(strstr(said.last, "no place for the database"));
}

static void run(const char *words)
{
    char command[1024];
    snprintf(command, sizeof command, "%s run --db '%s' --device null:0 --jobs 1 --quiet %s >/dev/null", CUTUNE_PROGRAM,
             in_dir("loop.db"), words);
    if (system(command))
        fail_msg("%s", command);
}

/* The loop: ask, capture, tune what was asked for, take it up; without opening anything anew. */
static void tunes_what_was_asked_for(void **state)
{
    (void)state;
    char path[PATH_ROOM];
    const cutune_kernel *k = NULL;
    run("--op transpose --dtype f32 --shape m=64,n=64 --budget 2");
    snprintf(path, sizeof path, "%s", in_dir("loop.db"));
    cutune *c = open_pretend((cutune_options){ .path = path, .capture = 1 });
    cutune_handle *h = attached(c);
    ask(h, 100, 60, 3);
    assert_is(find(h, 64, 64), CUTUNE_MATCH_EXACT, "");
    k = find(h, 100, 60);
    assert_int_not_equal(cutune_kernel_match(k), CUTUNE_MATCH_EXACT);
    flush(c);
    assert_int_equal(wanted("loop.db", "count", "m=100,n=60"), 4);
    run("--wanted --budget 2");
    assert_int_equal(wanted("loop.db", "count", "%"), 0);
    int changed = 0;
    assert_int_equal(cutune_refresh(c, &changed), CUTUNE_OK);
    assert_int_equal(changed, 1);
    assert_is(find(h, 100, 60), CUTUNE_MATCH_EXACT, "");
    assert_int_not_equal(cutune_kernel_match(k), CUTUNE_MATCH_EXACT);
    void *const buffers[] = { (void *)0x10000000, (void *)0x20000000 }; /* which the pretend device leaves alone */
    if (cutune_launch(find(h, 100, 60), NULL, buffers, 2))
        fail_msg("%s", cutune_error());
    cutune_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_pretend(counts_what_is_not_exact),
        with_pretend(counts_nothing_unasked),
        with_pretend(counts_what_has_no_kernel),
        with_pretend(counts_no_more_once_exact),
        with_pretend(makes_the_database),
        with_pretend(tunes_what_was_asked_for),
        with_pretend(keeps_what_it_could_not_write),
        with_pretend(writes_past_a_damaged_op),
        with_pretend(says_that_it_cannot_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
