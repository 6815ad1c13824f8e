/* libcutune: the answers of look-ups, and that a nonsensical record is skipped. */
#include "runtime_sample.h"

/* A folder with a database: transpose tuned for 1111 x 113, two defaults. */
static int make_tables(void **state)
{
    struct store *s;
    if (make_dir(state) || store_open(in_dir("a.db"), STORE_WRITE, &s, NULL))
        return -1;
    setenv("CUTUNE_TABLES", "", 1);
    sample_winner(s, 1111, 113);
    sample_defaults(s);
    store_close(s);
    return 0;
}

static cutune_handle *attached_here(cutune *c)
{
    struct devspec d = sample_device();
    return attached_to(c, &d);
}

static void gives_the_tuned_kernel(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ 0 });
    const cutune_kernel *k = find(attached_here(c), 1111, 113);
    cutune_geometry g = { .size = sizeof g };
    assert_int_equal(cutune_kernel_match(k), CUTUNE_MATCH_EXACT);
    assert_string_equal(cutune_kernel_why(k), "exact: tuned on NVIDIA H200 for f32 m=1111,n=113");
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
    cutune_close(c);
}

static void gives_the_first_default_that_holds(void **state)
{
    (void)state;
    meddle("a.db", "DELETE FROM tuned WHERE role = 'winner'");
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached_here(c);
    const cutune_kernel *k = find(h, 4096, 4096);
    cutune_geometry g = { .size = sizeof g };
    assert_is(k, CUTUNE_MATCH_DEFAULT, "TILE=32,GRID=xy");
    assert_string_equal(cutune_kernel_why(k), "default: no tuned kernel fits transpose f32 m=4096,n=4096 on NVIDIA H200; "
                                              "the first of the database's defaults that fits");
    assert_true(cutune_kernel_time_ns(k) == 0);
    k = find(h, 2097152, 32); /* too many rows for a grid along y */
    assert_is(k, CUTUNE_MATCH_DEFAULT, "TILE=32,GRID=x,");
    assert_int_equal(cutune_kernel_geometry(k, 0, &g), CUTUNE_OK);
    assert_int_equal(g.grid[0], 65536);
    assert_int_equal(g.grid[1], 1);
    cutune_close(c);
}

/* Defaults are read once, as far as a problem needs them, and anew when the file has changed. */
static void follows_the_files_defaults(void **state)
{
    (void)state;
    meddle("a.db", "DELETE FROM tuned WHERE role = 'winner'");
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached_here(c);
    assert_is(find(h, 4096, 4096), CUTUNE_MATCH_DEFAULT, "TILE=32,GRID=xy");
    assert_is(find(h, 2097152, 32), CUTUNE_MATCH_DEFAULT, "TILE=32,GRID=x,");
    assert_is(find(h, 4096, 4095), CUTUNE_MATCH_DEFAULT, "TILE=32,GRID=xy");
    assert_is(find(h, 2097153, 32), CUTUNE_MATCH_DEFAULT, "TILE=32,GRID=x,");
    meddle("a.db", "DELETE FROM tuned WHERE rank = 0");
    assert_is(find(h, 4096, 4094), CUTUNE_MATCH_DEFAULT, "TILE=32,GRID=x,");
    cutune_close(c);
}

/* One whose code is damaged is found out when it is to be served, one whose kernel is when it is asked whether it may run. */
static void passes_over_damaged_defaults(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        bool is_row; /* that a reader of the file finds damaged */
    } attacks[] = {
        { "UPDATE tuned SET code = (SELECT max(id) + 1 FROM code) WHERE rank = 0", true },
        { "INSERT INTO code (id, hash, source) VALUES (99, 'x', x'00'); UPDATE tuned SET code = 99 WHERE rank = 0", true },
        { "UPDATE tuned SET kernel = bend(kernel, 'grid', 'ceildiv(n,') WHERE rank = 0", false },
        { "UPDATE tuned SET kernel = bend(kernel, 'where', 'TILE') WHERE rank = 0", false },
        { "UPDATE tuned SET kernel = x'00' WHERE rank = 0", true },
        { "UPDATE tuned SET variant = x'00' WHERE rank = 0", true },
    };
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        struct said said = { 0 };
        unlink(in_dir("a.db"));
        struct store *s = open_at("a.db", STORE_WRITE);
        sample_defaults(s);
        store_close(s);
        meddle("a.db", attacks[i].sql);
        cutune *c = open_pretend((cutune_options){ .log = note, .log_arg = &said });
        cutune_handle *h = attached_here(c);
        assert_is(find(h, 4096, 4096), CUTUNE_MATCH_DEFAULT, "TILE=32,GRID=x,");
        assert_is(find(h, 4096, 4095), CUTUNE_MATCH_DEFAULT, "TILE=32,GRID=x,");
        assert_int_equal(cutune_each(c, never, NULL), 0);
        assert_string_equal(said.last, attacks[i].is_row ? "1 of the database's rows are damaged and left out" : "");
        cutune_close(c);
    }
}

static void gives_none_where_none_may_run(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ 0 });
    struct devspec small = sample_device();
    const cutune_kernel *k = NULL;
    small.max_threads = 16; /* the device's own limits count too */
    cutune_handle *h = attached_to(c, &small);
    assert_int_equal(try_find(h, 1111, 113, &k), CUTUNE_ERR_NOTFOUND);
    assert_says("nothing tuned and no default may run there; the last refusal: limit: threads a block");
    const int64_t sizes[] = { 5, 5 };
    assert_int_equal(cutune_lookup(h, "transpose", "i32", sizes, 2, &k), CUTUNE_ERR_NOTFOUND);
    assert_says("no kernel for transpose i32 m=5,n=5 on NVIDIA H200");
    assert_null(strstr(cutune_error(), "refusal")); /* of an earlier look-up */
    assert_null(k);
    cutune_close(c);
}

static void keeps_the_last_error_until_the_next(void **state)
{
    (void)state;
    char before[1024];
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached_here(c);
    const cutune_kernel *k = NULL;
    assert_int_equal(try_find(h, 0, 5, &k), CUTUNE_ERR_INVALID);
    snprintf(before, sizeof before, "%s", cutune_error());
    find(h, 4097, 5); /* refused here and there on its way, and then answered */
    find(h, 2097152, 32);
    assert_string_equal(cutune_error(), before);
    cutune_close(c);
    assert_string_equal(cutune_error(), before);
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
    cutune *c = open_pretend((cutune_options){ 0 });
    cpu.memory -= 4096;
    assert_is(find(attached_to(c, &cpu), 64, 64), CUTUNE_MATCH_EXACT, "TILE=8");
    cpu.shares_cores = false;
    assert_int_not_equal(cutune_kernel_match(find(attached_to(c, &cpu), 64, 64)), CUTUNE_MATCH_EXACT);
    cutune_close(c);
}

static void answers_the_same_until_closed(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached_here(c);
    const cutune_kernel *first = find(h, 1111, 113);
    const cutune_kernel *others[1500];
    for (int i = 0; i < 1500; i++) /* the table grows a few times */
        others[i] = find(h, 7, i + 1);
    meddle("a.db", "DELETE FROM tuned");
    for (int i = 0; i < 1500; i++)
        assert_ptr_equal(find(h, 7, i + 1), others[i]);
    assert_ptr_equal(find(h, 1111, 113), first);
    assert_string_equal(cutune_kernel_variant(first), "tile");
    cutune_close(c);
}

/* Words of the same meaning are other entries; texts are compared, not their addresses. */
static void knows_a_problem_by_its_words(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached_here(c);
    const int64_t sizes[] = { 1111, 113 };
    char op[] = "transpose", types[] = "f32";
    const cutune_kernel *k = NULL, *same = NULL;
    assert_int_equal(cutune_lookup(h, op, "T=f32", sizes, 2, &k), CUTUNE_OK);
    assert_int_equal(cutune_kernel_match(k), CUTUNE_MATCH_EXACT);
    k = find(h, 1111, 113);
    assert_int_equal(cutune_lookup(h, op, types, sizes, 2, &same), CUTUNE_OK);
    assert_ptr_equal(k, same);
    cutune_close(c);
}

/* A look-up by an op's name that is kept where nothing follows it, so that a sanitizer sees who reads past its end. */
static int find_op(cutune_handle *h, const char *name, const cutune_kernel **k)
{
    const int64_t sizes[] = { 1111, 113 };
    char *alone = strdup(name);
    int rc = cutune_lookup(h, alone, "f32", sizes, 2, k);
    free(alone);
    return rc;
}

/* Names of any length, against all that differ from them in one letter, or are cut short or go on. */
static void tells_names_apart(void **state)
{
    (void)state;
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnop";
    for (size_t n = 1; n < 40; n += n < 20 ? 1 : 7) {
        char name[64], other[64], sql[128];
        const cutune_kernel *k = NULL, *same = NULL, *none = NULL;
        snprintf(name, sizeof name, "%.*s", (int)n, letters);
        snprintf(sql, sizeof sql, "UPDATE op SET name = '%s'", name);
        meddle("a.db", sql);
        cutune *c = open_pretend((cutune_options){ 0 });
        cutune_handle *h = attached_here(c);
        assert_int_equal(find_op(h, name, &k), CUTUNE_OK);
        assert_int_equal(find_op(h, name, &same), CUTUNE_OK);
        assert_ptr_equal(k, same);
        for (size_t i = 0; i <= n; i++) {
            strcpy(other, name);
            other[i] = i < n ? 'Z' : 'q';
            other[n + (i == n)] = 0;
            assert_int_equal(find_op(h, other, &none), CUTUNE_ERR_NOTFOUND);
            other[i] = 0;
            if (i < n)
                assert_int_equal(find_op(h, other, &none), CUTUNE_ERR_NOTFOUND);
        }
        assert_null(none);
        cutune_close(c);
    }
}

struct listing {
    int n, stop_at;
    char first[256];
};

static int list(void *arg, const cutune_record *r)
{
    struct listing *l = arg;
    assert_true(r->size == sizeof *r);
    if (!l->n++)
        snprintf(l->first, sizeof l->first, "%s %s %s %s %s %s %s %s %g %d", r->op, r->types, r->sizes, r->backend, r->device,
                 r->arch, r->variant, r->config, r->time_ns, r->stale);
    return l->n == l->stop_at ? 7 : 0;
}

static void tells_what_is_there(void **state)
{
    (void)state;
    struct store *s = open_at("a.db", STORE_WRITE);
    sample_winner(s, 64, 64);
    store_close(s);
    cutune *c = open_pretend((cutune_options){ 0 });
    struct listing all = { 0 }, one = { .stop_at = 1 };
    assert_int_equal(cutune_each(c, list, &all), CUTUNE_OK);
    assert_int_equal(all.n, 2);
    assert_string_equal(all.first,
                        "transpose f32 m=1111,n=113 cuda NVIDIA H200 sm_90 tile TILE=8,GRID=xy,PAD=true,SCALE=0.5 1000 0");
    assert_int_equal(cutune_each(c, list, &one), 7);
    meddle("a.db", "UPDATE tuned SET verified = 0");
    all = (struct listing){ 0 };
    assert_int_equal(cutune_each(c, list, &all), CUTUNE_OK);
    assert_int_equal(all.n, 0);
    cutune_close(c);
}

/* Records that are well-formed column by column, and nonsense as a kernel: passed over with a line, and then there is none. */
static void passes_over_damaged_records(void **state)
{
    (void)state;
    static const char *const attacks[] = {
        "UPDATE tuned SET kernel = bend(kernel, 'grid', 'ceildiv(n,')",
        "UPDATE tuned SET kernel = bend(kernel, 'grid', 'no_such_name')",
        "UPDATE tuned SET kernel = bend(kernel, 'grid', 'n * 9223372036854775807')",
        "UPDATE tuned SET kernel = bend(kernel, 'block', '0')",
        "UPDATE tuned SET kernel = bend(kernel, 'block', '\"wide\"')",
        "UPDATE tuned SET kernel = bend(kernel, 'grid', replace(printf('%.*c', 30000, '('), '', ''))",
        "UPDATE tuned SET kernel = bend(kernel, 'where', 'TILE')",
        "UPDATE tuned SET kernel = bend(kernel, 'where', 'TILE > 1000')",
        "UPDATE tuned SET kernel = bend(kernel, 'param 0', 'm')",
        "UPDATE tuned SET kernel = bend(kernel, 'params', 'TILE')",
        "UPDATE tuned SET kernel = bend(kernel, 'words', 'a b')",
        "UPDATE tuned SET kernel = bend(kernel, 'workspace.type', 'U')",
        "UPDATE tuned SET kernel = bend(kernel, 'workspace.count', '9223372036854775807 // sizeof(T)')",
        "UPDATE tuned SET kernel = bend(kernel, 'need.arg', '2')",
        "UPDATE tuned SET kernel = bend(kernel, 'need.bytes', '3')",
        "UPDATE tuned SET kernel = bend(kernel, 'clear', '1')",
        "UPDATE tuned SET kernel = bend(kernel, 'backend', 'vulkan')",
        "UPDATE tuned SET kernel = bend(kernel, 'cc', '100')",
    };
    int failed = 0;
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        const cutune_kernel *k = NULL;
        struct said said = { 0 };
        unlink(in_dir("a.db"));
        struct store *s = open_at("a.db", STORE_WRITE);
        sample_winner(s, 1111, 113);
        store_close(s);
        meddle("a.db", attacks[i]);
        cutune *c = open_pretend((cutune_options){ .log = note, .log_arg = &said });
        cutune_handle *h = attached_here(c);
        int exact = try_find(h, 1111, 113, &k), near = try_find(h, 1111, 114, &k);
        bool none = near == CUTUNE_ERR_NOTFOUND || near == CUTUNE_ERR_CORRUPT;
        bool told = exact == CUTUNE_ERR_CORRUPT || said.lines; /* a constraint that does not hold is no damage to see */
        if ((exact != CUTUNE_ERR_CORRUPT && exact != CUTUNE_ERR_NOTFOUND) || !none || k || !told)
            print_error("%s: %d, %d, %s, %s\n", attacks[i], exact, near, cutune_error(), said.last), failed++;
        cutune_close(c);
    }
    assert_int_equal(failed, 0);
}

static void serves_a_default_for_a_damaged_record(void **state)
{
    (void)state;
    struct said said = { 0 };
    meddle("a.db", "UPDATE tuned SET kernel = bend(kernel, 'grid', 'ceildiv(n,') WHERE role = 'winner'");
    cutune *c = open_pretend((cutune_options){ .log = note, .log_arg = &said });
    assert_is(find(attached_here(c), 1111, 113), CUTUNE_MATCH_DEFAULT, "TILE=32");
    assert_true(said.lines > 0);
    assert_non_null(strstr(said.last, "passed over"));
    cutune_close(c);
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
        with_tables(follows_the_files_defaults),
        with_tables(passes_over_damaged_defaults),
        with_tables(gives_none_where_none_may_run),
        with_tables(keeps_the_last_error_until_the_next),
        with_tables(knows_a_cpu_whatever_its_memory),
        with_tables(answers_the_same_until_closed),
        with_tables(knows_a_problem_by_its_words),
        with_tables(tells_names_apart),
        with_tables(tells_what_is_there),
        with_tables(passes_over_damaged_records),
        with_tables(serves_a_default_for_a_damaged_record),
        cmocka_unit_test(tells_its_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
