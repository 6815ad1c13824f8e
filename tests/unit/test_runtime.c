/* libcutune: what a look-up answers, and that it answers every kind of nonsense with a code and a line. */
#include "store_sample.h"

#include "cutune.h"

static cutune_device here(void)
{
    struct devspec d = sample_device();
    cutune_device out = { .size = sizeof out,
                          .multiprocessors = d.multiprocessors,
                          .memory = d.memory,
                          .cc = d.cc,
                          .warp = d.warp,
                          .l2 = d.l2,
                          .max_threads = d.max_threads,
                          .max_shared = d.max_shared,
                          .max_static_shared = d.max_static_shared,
                          .max_alloc = d.max_alloc,
                          .fp64 = d.fp64 };
    strcpy(out.backend, d.backend);
    strcpy(out.name, d.name);
    strcpy(out.arch, d.arch);
    for (int i = 0; i < 3; i++) {
        out.max_block[i] = d.max_block[i];
        out.max_grid[i] = d.max_grid[i];
    }
    return out;
}

/* A folder with a database: transpose tuned for 1111 x 113, two defaults. */
static int make_tables(void **state)
{
    struct store *s;
    if (make_dir(state) || store_open(in_dir("a.db"), STORE_WRITE, &s, NULL))
        return -1;
    sample_winner(s, 1111, 113);
    sample_defaults(s);
    store_close(s);
    return 0;
}

static cutune *opened(void)
{
    cutune *c;
    if (cutune_open(in_dir("a.db"), &c))
        fail_msg("%s", cutune_error(c));
    assert_string_equal(cutune_error(c), "");
    return c;
}

static const cutune_kernel *find(cutune *c, const cutune_device *dev, int64_t m, int64_t n)
{
    const cutune_kernel *k;
    const int64_t sizes[] = { m, n };
    if (cutune_lookup(c, dev, "transpose", "f32", sizes, 2, &k))
        fail_msg("%s", cutune_error(c));
    return k;
}

static void gives_the_tuned_kernel(void **state)
{
    (void)state;
    cutune *c = opened();
    cutune_device dev = here();
    const cutune_kernel *k = find(c, &dev, 1111, 113);
    cutune_geometry g = { .size = sizeof g };
    assert_int_equal(cutune_kernel_match(k), CUTUNE_MATCH_EXACT);
    assert_int_equal(strncmp(cutune_kernel_why(k), "exact: tuned on NVIDIA H200 for m=1111,n=113, 20", 48), 0);
    assert_string_equal(cutune_kernel_variant(k), "tile");
    assert_string_equal(cutune_kernel_config(k), "TILE=8,GRID=xy,PAD=true,SCALE=0.5");
    assert_true(cutune_kernel_time_ns(k) == 1000);
    assert_int_equal(cutune_kernel_launches(k), 2);
    assert_int_equal(cutune_kernel_geometry(k, 0, &g), CUTUNE_OK);
    assert_string_equal(g.entry, "transpose");
    assert_int_equal(g.grid[0], 15); /* ceildiv(113, 8) */
    assert_int_equal(g.grid[1], 139);
    assert_int_equal(g.grid[2], 1);
    assert_int_equal(g.block[0], 8);
    assert_int_equal(g.block[1], 8);
    assert_int_equal(g.shared, 8 * 9 * 4);
    assert_int_equal(cutune_kernel_geometry(k, 1, &g), CUTUNE_OK);
    assert_string_equal(g.entry, "finish");
    assert_int_equal(g.grid[0] * g.grid[1] * g.block[0], 1);
    assert_int_equal(cutune_kernel_geometry(k, 2, &g), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_kernel_geometry(k, -1, &g), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_kernel_geometry(k, 0, NULL), CUTUNE_ERR_INVALID);
    g.size = 8;
    assert_int_equal(cutune_kernel_geometry(k, 0, &g), CUTUNE_ERR_INVALID);
    cutune_close(c);
}

static void gives_the_first_default_that_holds(void **state)
{
    (void)state;
    cutune *c = opened();
    cutune_device dev = here();
    const cutune_kernel *k = find(c, &dev, 4096, 4096);
    cutune_geometry g = { .size = sizeof g };
    assert_int_equal(cutune_kernel_match(k), CUTUNE_MATCH_DEFAULT);
    assert_string_equal(cutune_kernel_config(k), "TILE=32,GRID=xy,PAD=true,SCALE=0.5");
    assert_string_equal(cutune_kernel_why(k),
                        "default: no tuned record of transpose f32 m=4096,n=4096 on NVIDIA H200; the first default "
                        "whose constraints hold");
    assert_true(cutune_kernel_time_ns(k) == 0);
    k = find(c, &dev, 2097152, 32); /* too many rows for a grid along y */
    assert_string_equal(cutune_kernel_config(k), "TILE=32,GRID=x,PAD=true,SCALE=0.5");
    assert_int_equal(cutune_kernel_geometry(k, 0, &g), CUTUNE_OK);
    assert_int_equal(g.grid[0], 65536);
    assert_int_equal(g.grid[1], 1);

    dev.multiprocessors = 114; /* another device of the backend has the defaults only */
    assert_int_equal(cutune_kernel_match(find(c, &dev, 1111, 113)), CUTUNE_MATCH_DEFAULT);
    dev.max_threads = 16; /* the device's own limits count too */
    const int64_t sizes[] = { 5, 5 };
    assert_int_equal(cutune_lookup(c, &dev, "transpose", "f32", sizes, 2, &k), CUTUNE_ERR_NOTFOUND);
    assert_non_null(strstr(cutune_error(c), "none of the 2 defaults may run"));
    dev = here();
    assert_int_equal(cutune_lookup(c, &dev, "transpose", "i32", sizes, 2, &k), CUTUNE_ERR_NOTFOUND);
    assert_non_null(strstr(cutune_error(c), "no default for cuda"));
    cutune_close(c);
}

static void knows_a_cpu_whatever_its_memory(void **state)
{
    (void)state;
    struct devspec cpu = sample_device();
    struct problem p = { { 64, 64 } };
    struct config config = sample_config(1, 0);
    struct target t;
    cpu.shares_cores = true;
    struct store *s = open_at("a.db", STORE_WRITE);
    struct tuned *k = sample_tuned(&config, 5);
    assert_int_equal(store_target(s, &cpu, sample_op(), &p, 0, true, &t, NULL) | store_winner(s, &t, k, NULL), 0);
    tuned_free(k);
    store_close(s);
    cutune *c = opened();
    cutune_device dev = here();
    dev.cpu = 1;
    dev.memory -= 4096;
    assert_int_equal(cutune_kernel_match(find(c, &dev, 64, 64)), CUTUNE_MATCH_EXACT);
    dev.cpu = 0;
    assert_int_equal(cutune_kernel_match(find(c, &dev, 64, 64)), CUTUNE_MATCH_DEFAULT);
    cutune_close(c);
}

static void answers_the_same_until_closed(void **state)
{
    (void)state;
    cutune *c = opened();
    cutune_device dev = here();
    const cutune_kernel *first = find(c, &dev, 1111, 113);
    for (int64_t n = 1; n < 3000; n++) /* more than there are buckets */
        find(c, &dev, 7, n);
    meddle("a.db", "DELETE FROM tuned");
    assert_ptr_equal(find(c, &dev, 1111, 113), first);
    assert_string_equal(cutune_kernel_variant(first), "tile");
    cutune_close(c);
}

static void refuses_nonsense(void **state)
{
    (void)state;
    cutune *c = opened();
    cutune_device dev = here(), bad = dev;
    const cutune_kernel *k = NULL;
    const int64_t sizes[] = { 4, 4, 4 }, zero[] = { 0, 4 }, negative[] = { 4, INT64_MIN }, huge[] = { INT64_MAX, INT64_MAX };
    assert_int_equal(cutune_lookup(NULL, &dev, "transpose", "f32", sizes, 2, &k), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_lookup(c, NULL, "transpose", "f32", sizes, 2, &k), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_lookup(c, &dev, NULL, "f32", sizes, 2, &k), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_lookup(c, &dev, "transpose", NULL, sizes, 2, &k), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_lookup(c, &dev, "transpose", "f32", NULL, 2, &k), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_lookup(c, &dev, "transpose", "f32", sizes, 2, NULL), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_lookup(c, &dev, "transpose", "f32", sizes, 3, &k), CUTUNE_ERR_INVALID);
    assert_string_equal(cutune_error(c), "transpose takes 2 sizes (m, n), not 3");
    assert_int_equal(cutune_lookup(c, &dev, "transpose", "f32", zero, 2, &k), CUTUNE_ERR_INVALID);
    assert_non_null(strstr(cutune_error(c), "m cannot be 0"));
    assert_int_equal(cutune_lookup(c, &dev, "transpose", "f32", negative, 2, &k), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_lookup(c, &dev, "transpose", "f32", huge, 2, &k), CUTUNE_ERR_NOTFOUND);
    assert_int_equal(cutune_lookup(c, &dev, "transpose", "f33", sizes, 2, &k), CUTUNE_ERR_NOTFOUND);
    assert_int_equal(cutune_lookup(c, &dev, "gemm", "f32", sizes, 3, &k), CUTUNE_ERR_NOTFOUND);
    assert_non_null(strstr(cutune_error(c), "gemm"));
    bad.size = 4;
    assert_int_equal(cutune_lookup(c, &bad, "transpose", "f32", sizes, 2, &k), CUTUNE_ERR_INVALID);
    bad = dev;
    memset(bad.name, 'x', sizeof bad.name);
    assert_int_equal(cutune_lookup(c, &bad, "transpose", "f32", sizes, 2, &k), CUTUNE_ERR_INVALID);
    bad = (cutune_device){ .size = sizeof bad };
    assert_int_equal(cutune_lookup(c, &bad, "transpose", "f32", sizes, 2, &k), CUTUNE_ERR_NOTFOUND);
    assert_true(cutune_device_find(c, "abacus:0", &dev) < 0);
    assert_int_equal(cutune_device_find(NULL, NULL, &dev), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_device_find(c, NULL, NULL), CUTUNE_ERR_INVALID);
    assert_null(k);
    cutune_close(c);
    cutune_close(NULL);
}

static void says_why_it_did_not_open(void **state)
{
    (void)state;
    cutune *c;
    const cutune_kernel *k;
    cutune_device dev = here();
    const int64_t sizes[] = { 4, 4 };
    assert_int_equal(cutune_open("x", NULL), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_open(in_dir("none.db"), &c), CUTUNE_ERR_NOTFOUND);
    assert_non_null(strstr(cutune_error(c), "none.db: no such database"));
    assert_int_equal(cutune_lookup(c, &dev, "transpose", "f32", sizes, 2, &k), CUTUNE_ERR_INVALID);
    cutune_close(c);
    assert_int_equal(cutune_open(sample_dir, &c), CUTUNE_ERR_INVALID);
    cutune_close(c);
    setenv("CUTUNE_DB", in_dir("a.db"), 1); /* the place used where none is given */
    assert_int_equal(cutune_open(NULL, &c), CUTUNE_OK);
    cutune_close(c);
    unsetenv("CUTUNE_DB");
    assert_non_null(strstr(cutune_error(NULL), "memory"));
}

/* Records that are well-formed column by column, and nonsense as a kernel. */
static void refuses_damaged_records(void **state)
{
    (void)state;
    static const char *const attacks[] = {
        "UPDATE tuned_launch SET grid_x = 'ceildiv(n,'",
        "UPDATE tuned_launch SET grid_x = 'no_such_name'",
        "UPDATE tuned_launch SET grid_x = 'n * 9223372036854775807'",
        "UPDATE tuned_launch SET block_x = '0'",
        "UPDATE tuned_launch SET block_x = '\"wide\"'",
        "UPDATE tuned_launch SET grid_x = replace(printf('%.*c', 30000, '('), '', '')",
        "UPDATE tuned_where SET text = 'TILE'",
        "UPDATE tuned_where SET text = 'TILE > 1000'",
        "UPDATE tuned_param SET name = 'm' WHERE place = 0",
        "UPDATE tuned_param SET name = 'TILE'",
        "UPDATE tuned_param SET value = 'a b' WHERE type = 'string'",
        "UPDATE tuned_workspace SET type = 'U'",
        "UPDATE tuned_need SET arg = 2",
        "UPDATE tuned_clear SET arg = 1",
        "UPDATE tuned SET requires_backend = 'vulkan'",
        "UPDATE tuned SET requires_cc = 100",
    };
    const int64_t sizes[] = { 1111, 113 };
    cutune_device dev = here();
    int failed = 0;
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        char sql[256];
        cutune *c;
        const cutune_kernel *k = NULL;
        snprintf(sql, sizeof sql, "%s", attacks[i]);
        unlink(in_dir("a.db"));
        struct store *s;
        assert_int_equal(store_open(in_dir("a.db"), STORE_WRITE, &s, NULL), 0);
        sample_winner(s, 1111, 113);
        store_close(s);
        meddle("a.db", sql);
        c = opened();
        int rc = cutune_lookup(c, &dev, "transpose", "f32", sizes, 2, &k);
        if (rc != CUTUNE_ERR_CORRUPT || k || !*cutune_error(c))
            print_error("%s: %d %s\n", sql, rc, cutune_error(c)), failed++;
        cutune_close(c);
    }
    assert_int_equal(failed, 0);
}

static int look_up_all(void)
{
    cutune *c;
    const cutune_kernel *k;
    cutune_device dev = here();
    const int64_t tuned[] = { 1111, 113 }, large[] = { 2097152, 32 };
    int rc = cutune_open(in_dir("a.db"), &c);
    if (!rc && !(rc = cutune_lookup(c, &dev, "transpose", "f32", tuned, 2, &k)))
        rc = cutune_lookup(c, &dev, "transpose", "f32", large, 2, &k);
    if (rc)
        assert_true(*cutune_error(c));
    cutune_close(c);
    return rc;
}

static void survives_failed_allocations(void **state)
{
    (void)state;
    int rc = CUTUNE_ERR_NOMEM;
    long n = 0;
    while (rc) {
        mem_fail_at(n++);
        rc = look_up_all();
        mem_fail_at(-1);
        if (rc && rc != CUTUNE_ERR_NOMEM)
            fail_msg("allocation %ld: %d", n, rc);
    }
    assert_true(n > 50);
}

static void tells_its_version(void **state)
{
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", CUTUNE_VERSION_MAJOR, CUTUNE_VERSION_MINOR, CUTUNE_VERSION_PATCH);
    assert_string_equal(cutune_version_text(), text);
    assert_int_equal(cutune_version(), CUTUNE_VERSION_NUMBER);
}

#define with_tables(test) cmocka_unit_test_setup_teardown(test, make_tables, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_tables(gives_the_tuned_kernel),
        with_tables(gives_the_first_default_that_holds),
        with_tables(knows_a_cpu_whatever_its_memory),
        with_tables(answers_the_same_until_closed),
        with_tables(refuses_nonsense),
        with_tables(says_why_it_did_not_open),
        with_tables(refuses_damaged_records),
        with_tables(survives_failed_allocations),
        cmocka_unit_test(tells_its_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
