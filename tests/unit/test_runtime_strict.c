/* Strict mode: what is not exact, and what would have to be compiled, is refused or told, with the part of the key that differs. */
#include "runtime_sample.h"
#include "store/sql.h"

static int make_strict(void **state)
{
    unsetenv("CUTUNE_STRICT");
    return make_pretend(state);
}

static int remove_strict(void **state)
{
    unsetenv("CUTUNE_STRICT");
    return remove_dir(state);
}

static void assert_refused(cutune_handle *h, int64_t m, int64_t n, const char *words)
{
    const cutune_kernel *k = NULL;
    assert_int_equal(try_find(h, m, n, &k), CUTUNE_ERR_STRICT);
    assert_null(k);
    assert_says(words);
}

static void refuses_what_is_not_exact(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ .strict = CUTUNE_STRICT_ERROR });
    cutune_handle *h = attached(c);
    assert_is(find(h, 1111, 113), CUTUNE_MATCH_EXACT, "TILE=8");
    for (int i = 0; i < 3; i++) /* each time, and no kernel is made that nobody gets */
        assert_refused(h, 1111, 64,
                       "strict: no exact answer for transpose f32 m=1111,n=64 on Pretend device: the nearest record differs in "
                       "size n: 113, not 64");
    assert_refused(h, 5, 64, "differs in size m: 1111, not 5; size n: 113, not 64");
    assert_non_null(h->kernels);
    assert_null(h->kernels->next);
    tune("a.db", (struct recipe){ .m = 5, .n = 64, .tile = 2 });
    int changed = 0;
    assert_int_equal(cutune_refresh(c, &changed), CUTUNE_OK);
    assert_is(find(h, 5, 64), CUTUNE_MATCH_EXACT, "TILE=64");
    const cutune_kernel *k;
    assert_int_equal(try_find(h, 0, 5, &k), CUTUNE_ERR_INVALID); /* what was wrong before is told as ever */
    cutune_close(c);
}

static void tells_each_problem_once(void **state)
{
    (void)state;
    struct said said = { 0 };
    cutune *c = open_pretend((cutune_options){ .strict = CUTUNE_STRICT_LOG, .log = note, .log_arg = &said });
    cutune_handle *h = attached(c);
    find(h, 1111, 113);
    assert_int_equal(said.lines, 0);
    for (int i = 0; i < 3; i++)
        assert_is(find(h, 1111, 64), CUTUNE_MATCH_NEAR, "TILE=8");
    assert_int_equal(cutune_refresh(c, NULL), CUTUNE_OK);
    tune("a.db", (struct recipe){ .m = 7, .n = 7, .tile = 1 });
    assert_int_equal(cutune_refresh(c, NULL), CUTUNE_OK);
    assert_int_equal(said.lines, 1);
    assert_non_null(strstr(said.last, "size n: 113, not 64; given instead, near: f32 m=1111,n=64 is not tuned on Pretend device"));
    cutune_close(c);
}

static void names_the_part_that_differs(void **state)
{
    (void)state;
    struct devspec other = pretend();
    const int64_t sizes[] = { 1111, 113 };
    const cutune_kernel *k = NULL;
    cutune *c = open_pretend((cutune_options){ .strict = CUTUNE_STRICT_ERROR });
    cutune_handle *h = attached(c);
    assert_int_equal(cutune_lookup(h, "transpose", "i32", sizes, 2, &k), CUTUNE_ERR_STRICT);
    assert_says("transpose i32 m=1111,n=113 on Pretend device: the nearest record differs in types: f32, not i32");
    strcpy(other.name, "Other");
    other.multiprocessors++;
    assert_refused(attached_to(c, &other), 1111, 113,
                   "the nearest record differs in device: 'Pretend device', not 'Other'; multiprocessors of the device: ");
    tune("a.db", (struct recipe){ .m = 9, .n = 9, .unverified = true });
    cutune_refresh(c, NULL);
    assert_refused(h, 9, 9, "m=9,n=9 on Pretend device: its record came from elsewhere and is not verified here");
    meddle("a.db", "UPDATE tuned SET kernel = x'00' WHERE role = 'winner'");
    cutune_close(c);
    c = open_pretend((cutune_options){ .strict = CUTUNE_STRICT_ERROR, .cache = "" });
    assert_int_equal(try_find(attached(c), 1111, 113, &k), CUTUNE_ERR_CORRUPT); /* damage is told as such */
    cutune_close(c);
}

static void tells_the_stale(void **state)
{
    (void)state;
    static const char again[] =
        "INSERT INTO op (name, hash, current, contract, variants, interface) SELECT name, '%s', 1, %s, variants, "
        "interface FROM op WHERE hash <> 'a' LIMIT 1";
    char sql[512];
    meddle("a.db", "UPDATE op SET current = 0");
    snprintf(sql, sizeof sql, again, "a", "'0123456789abcdef0123456789abcdef'");
    meddle("a.db", sql);
    cutune *c = open_pretend((cutune_options){ .strict = CUTUNE_STRICT_ERROR });
    assert_refused(attached(c), 1111, 113, "its record is stale: the op's contract (check, reference or fills) has changed since");
    assert_refused(attached(c), 1111, 64, "no problem of the op is tuned");
    cutune_close(c);
    meddle("a.db", "DELETE FROM op WHERE hash = 'a'");
    snprintf(sql, sizeof sql, again, "b", "contract");
    meddle("a.db", sql);
    c = open_pretend((cutune_options){ .strict = CUTUNE_STRICT_ERROR });
    assert_refused(attached(c), 1111, 113, "its record is stale: the op's interface (axes or arguments) has changed since");
    cutune_close(c);
}

static void captures_what_it_refuses(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ .strict = CUTUNE_STRICT_ERROR, .capture = 1 });
    cutune_handle *h = attached(c);
    for (int i = 0; i < 3; i++)
        assert_refused(h, 12, 13, "");
    cutune_close(c);
    struct store *s = open_at("a.db", STORE_READ);
    int64_t count = 0;
    assert_int_equal(sql_number(s, "SELECT count FROM wanted WHERE sizes = 'm=12,n=13'", &count), SQLITE_OK);
    assert_int_equal(count, 3);
    store_close(s);
}

static int launch(const cutune_kernel *k)
{
    _Alignas(64) static char out[64 * 64 * 4], in[64 * 64 * 4];
    void *buffers[] = { out, in };
    return cutune_launch(k, NULL, buffers, 2);
}

static void compiles_nothing(void **state)
{
    (void)state;
    struct said said = { 0 };
    cutune_options o = { .strict = CUTUNE_STRICT_ERROR, .cache = "", .log = note, .log_arg = &said };
    tune("a.db", (struct recipe){ .m = 64, .n = 64, .arch = "null2" });
    cutune *c = open_pretend(o);
    cutune_handle *h = attached(c);
    const cutune_kernel *k = find(h, 64, 64);
    assert_int_equal(launch(k), CUTUNE_ERR_STRICT);
    assert_says("strict: transpose tile TILE=32,GRID=xy,PAD=true,SCALE=0.5 would be compiled for Pretend device: the architecture "
                "of its binary "
                "differs: null2, not null");
    assert_int_equal(launch(k), CUTUNE_ERR_STRICT);
    assert_int_equal(said.lines, 0);
    cutune_close(c);
    o.strict = CUTUNE_STRICT_LOG;
    c = open_pretend(o);
    k = find(attached(c), 64, 64);
    assert_int_equal(launch(k), CUTUNE_OK);
    assert_int_equal(said.lines, 2); /* that it will, and that it did */
    assert_int_equal(launch(k), CUTUNE_OK);
    assert_int_equal(said.lines, 2);
    cutune_close(c);
}

/* The option goes first; an application of before it has only the environment. */
static void is_set_from_outside(void **state)
{
    (void)state;
    cutune *c = NULL;
    const cutune_kernel *k;
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s", in_dir("a.db"));
    setenv("CUTUNE_STRICT", "error", 1);
    c = open_pretend((cutune_options){ 0 });
    assert_refused(attached(c), 1, 1, "strict: ");
    cutune_close(c);
    const cutune_options first = { .size = offsetof(cutune_options, strict), .path = path, .strict = CUTUNE_STRICT_OFF };
    assert_int_equal(cutune_open_with(&first, &c), CUTUNE_OK);
    assert_refused(attached(c), 1, 1, "strict: ");
    cutune_close(c);
    c = open_pretend((cutune_options){ .strict = CUTUNE_STRICT_OFF });
    find(attached(c), 1, 1);
    cutune_close(c);
    setenv("CUTUNE_STRICT", "", 1);
    c = open_pretend((cutune_options){ 0 });
    assert_int_equal(try_find(attached(c), 1, 1, &k), CUTUNE_OK);
    cutune_close(c);
    setenv("CUTUNE_STRICT", "errors", 1);
    assert_int_equal(cutune_open(path, &c), CUTUNE_ERR_INVALID);
    assert_says("CUTUNE_STRICT is 'errors': log or error is wanted");
    const cutune_options wrong = { .size = sizeof wrong, .path = path, .strict = (cutune_strict)4 };
    assert_int_equal(cutune_open_with(&wrong, &c), CUTUNE_ERR_INVALID);
    assert_says("strict is 4");
}

#define strictly(test) cmocka_unit_test_setup_teardown(test, make_strict, remove_strict)

int main(void)
{
    const struct CMUnitTest tests[] = {
        strictly(refuses_what_is_not_exact), strictly(tells_each_problem_once),  strictly(names_the_part_that_differs),
        strictly(tells_the_stale),           strictly(captures_what_it_refuses), strictly(compiles_nothing),
        strictly(is_set_from_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
