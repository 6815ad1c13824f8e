/* The order of the look-up: exact, near, from another device, default, tables. */
#include <math.h>

#include "runtime_sample.h"

/* Measured too: TILE of the place `tile`, so many ns. */
static void also(struct store *s, int64_t m, int64_t n, int row, int tile, double ns)
{
    put_time_of(s, (struct recipe){ .m = m, .n = n, .row = row, .tile = tile, .ns = ns });
}

static struct store *afresh(void)
{
    unlink(in_dir("a.db"));
    return open_at("a.db", STORE_WRITE);
}

enum { TILE32, TILE8, TILE64 };

static void prefers_exact(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    assert_is(find(h, 1111, 113), CUTUNE_MATCH_EXACT, "TILE=8");
    const cutune_kernel *k = find(h, 1111, 226);
    assert_is(k, CUTUNE_MATCH_NEAR, "TILE=8");
    assert_string_equal(cutune_kernel_why(k), "near: f32 m=1111,n=226 is not tuned on Pretend device; the winner for m=1111,n=113, "
                                              "expected within 9% of a kernel tuned for this problem");
    assert_true(fabs(cutune_kernel_time_ns(k) - 2176) < 1); /* twice the bytes, and what it should lose */
    cutune_close(c);
}

/* The nearest problem's winner lost badly on its neighbours, whose winner lost little there. */
static void takes_the_least_expected_loss(void **state)
{
    (void)state;
    struct store *s = afresh();
    put_winner_of(s, (struct recipe){ .m = 100, .n = 92, .tile = TILE8 });
    put_winner_of(s, (struct recipe){ .m = 108, .n = 108, .tile = TILE64 });
    put_winner_of(s, (struct recipe){ .m = 92, .n = 92, .tile = TILE64 });
    also(s, 100, 92, 0, TILE64, 1050);
    also(s, 108, 108, 0, TILE8, 3000);
    also(s, 92, 92, 0, TILE8, 3000);
    store_close(s);
    cutune *c = open_pretend((cutune_options){ 0 });
    const cutune_kernel *k = find(attached(c), 100, 100);
    assert_is(k, CUTUNE_MATCH_NEAR, "TILE=64");
    assert_true(cutune_kernel_time_ns(k) > 1000 && cutune_kernel_time_ns(k) < 1200);
    cutune_close(c);
}

/* The default won nowhere, but lost less on the problems around than what won there; without its times nothing tells that. */
static void takes_a_default_that_should_be_better(void **state)
{
    (void)state;
    for (int timed = 0; timed < 2; timed++) {
        struct store *s = afresh();
        put_winner_of(s, (struct recipe){ .m = 100, .n = 92, .tile = TILE8 });
        put_winner_of(s, (struct recipe){ .m = 92, .n = 100, .tile = TILE32 });
        put_default_of(s, (struct recipe){ .tile = TILE64 });
        also(s, 100, 92, 0, TILE32, 3000);
        also(s, 92, 100, 0, TILE8, 3000);
        for (int i = 0; i < timed; i++) {
            also(s, 100, 92, 0, TILE64, 1100);
            also(s, 92, 100, 0, TILE64, 1100);
        }
        store_close(s);
        cutune *c = open_pretend((cutune_options){ 0 });
        const cutune_kernel *k = find(attached(c), 100, 100);
        if (timed) {
            assert_is(k, CUTUNE_MATCH_DEFAULT, "TILE=64");
            assert_non_null(strstr(cutune_kernel_why(k), "the default is expected to be as good as any winner there"));
            assert_true(cutune_kernel_time_ns(k) > 1100 && cutune_kernel_time_ns(k) < 1300);
        } else {
            assert_int_equal(cutune_kernel_match(k), CUTUNE_MATCH_NEAR);
        }
        cutune_close(c);
    }
}

/* The default lost a little where a kernel won: near there that is given, far away the default, unless it is the op's first. If it is the
 * winner's own configuration, the answer is the winner. */
static void trusts_the_default_more_the_farther_away(void **state)
{
    (void)state;
    for (int rank = 0; rank < 2; rank++) {
        struct store *s = afresh();
        put_winner_of(s, (struct recipe){ .m = 100, .n = 100, .tile = TILE8 });
        put_default_of(s, (struct recipe){ .tile = TILE64, .rank = rank });
        also(s, 100, 100, 0, TILE64, 1050);
        store_close(s);
        cutune *c = open_pretend((cutune_options){ 0 });
        cutune_handle *h = attached(c);
        assert_is(find(h, 100, 92), CUTUNE_MATCH_NEAR, "TILE=8");
        const cutune_kernel *far = find(h, 3000, 3000);
        if (rank)
            assert_is(far, CUTUNE_MATCH_DEFAULT, "TILE=64");
        else
            assert_is(far, CUTUNE_MATCH_NEAR, "TILE=8");
        cutune_close(c);

        s = afresh();
        put_winner_of(s, (struct recipe){ .m = 100, .n = 100, .tile = TILE64 });
        put_default_of(s, (struct recipe){ .tile = TILE64, .rank = rank });
        store_close(s);
        c = open_pretend((cutune_options){ 0 });
        assert_is(find(attached(c), 3000, 3000), CUTUNE_MATCH_NEAR, "TILE=64");
        cutune_close(c);
    }
}

/* What lost this problem by failing at it is not given for having won elsewhere, nor for being a default. */
static void passes_over_what_failed_for_the_problem(void **state)
{
    (void)state;
    static const char *const failures[] = { "wrong", "crash", "timeout", "launch-error" };
    for (int i = 0; i < 4; i++) {
        struct store *s = afresh();
        put_winner_of(s, (struct recipe){ .m = 101, .n = 100, .tile = TILE8 });
        put_winner_of(s, (struct recipe){ .m = 300, .n = 300, .tile = TILE64 });
        also(s, 100, 100, 0, TILE8, 900);
        sample_defaults(s);
        store_close(s);
        cutune *c = open_pretend((cutune_options){ 0 });
        assert_is(find(attached(c), 100, 100), CUTUNE_MATCH_NEAR, "TILE=8");
        cutune_close(c);
        char sql[256];
        snprintf(sql, sizeof sql, "UPDATE measurement SET outcome = '%s', reason = 'a test', made = 'now' WHERE median = 900", failures[i]);
        meddle("a.db", sql);
        meddle("a.db", "UPDATE op SET variants = '{\"tile\":\"now\"}'");
        c = open_pretend((cutune_options){ 0 });
        assert_is(find(attached(c), 100, 100), CUTUNE_MATCH_NEAR, "TILE=64");
        assert_is(find(attached(c), 100, 101), CUTUNE_MATCH_NEAR, "TILE=8"); /* it failed at another */
        cutune_close(c);
        meddle("a.db", "UPDATE op SET variants = '{\"tile\":\"later\"}'");
        c = open_pretend((cutune_options){ 0 });
        assert_is(find(attached(c), 100, 100), CUTUNE_MATCH_NEAR, "TILE=8"); /* the variant has changed since */
        cutune_close(c);
    }
}

static void passes_over_what_may_not_run_here(void **state)
{
    (void)state;
    struct store *s = afresh();
    put_winner_of(s, (struct recipe){ .m = 4000000, .n = 4, .tile = TILE64 });
    put_winner_of(s, (struct recipe){ .m = 900, .n = 4, .tile = TILE32, .grid = 1 });
    store_close(s);
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    assert_is(find(h, 4000004, 4), CUTUNE_MATCH_NEAR, "TILE=64");
    assert_is(find(h, 5000000, 4), CUTUNE_MATCH_NEAR, "TILE=32,GRID=x,"); /* too many rows for the other's grid */
    cutune_close(c);
    meddle("a.db", "UPDATE tuned SET kernel = bend(kernel, 'block', 'TILE +') WHERE id = 1");
    c = open_pretend((cutune_options){ 0 });
    assert_is(find(attached(c), 4000004, 4), CUTUNE_MATCH_NEAR, "TILE=32,GRID=x,");
    cutune_close(c);
}

/* Two f32 winners far away; what one of the two did here is known of the other type, which is as large. */
static void learns_from_other_types(void **state)
{
    (void)state;
    for (int best = TILE8; best <= TILE64; best++) {
        int other = best == TILE8 ? TILE64 : TILE8;
        struct store *s = afresh();
        put_winner_of(s, (struct recipe){ .m = 4096, .n = 4096, .tile = TILE8 });
        put_winner_of(s, (struct recipe){ .m = 4000, .n = 4096, .tile = TILE64 });
        put_winner_of(s, (struct recipe){ .m = 100, .n = 100, .row = 1, .tile = best });
        also(s, 100, 100, 1, other, 3000);
        store_close(s);
        cutune *c = open_pretend((cutune_options){ 0 });
        assert_is(find(attached(c), 100, 104), CUTUNE_MATCH_NEAR, best == TILE8 ? "TILE=8" : "TILE=64");
        cutune_close(c);
    }
}

/* The same op with a flag, and a winner with it off: no kernel for problems with it on. */
static void takes_no_neighbour_of_other_flags(void **state)
{
    (void)state;
    struct axis axes[] = { { "m", AXIS_SIZE, NULL, NULL }, { "n", AXIS_SIZE, NULL, NULL }, { "add", AXIS_FLAG, NULL, NULL } };
    struct op op = *sample_op();
    struct devspec dev = pretend();
    struct problem p = { { 64, 64, 0 } };
    struct target to;
    op.name = "flagged";
    op.naxes = 3;
    op.axes = axes;
    struct store *s = afresh();
    struct tuned *t = tuned_as(&(struct recipe){ 0 });
    t->op->naxes = 3;
    t->op->axes = axes;
    assert_int_equal(store_target(s, &dev, &op, &p, 0, true, &to, NULL), 0);
    assert_int_equal(store_winner(s, &to, t, NULL), 0);
    tuned_free(t);
    store_close(s);
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    const int64_t off[] = { 64, 60, 0 }, on[] = { 64, 64, 1 }, two[] = { 64, 64, 2 };
    const cutune_kernel *k = NULL;
    assert_int_equal(cutune_lookup(h, "flagged", "f32", off, 3, &k), CUTUNE_OK);
    assert_int_equal(cutune_kernel_match(k), CUTUNE_MATCH_NEAR);
    assert_int_equal(cutune_lookup(h, "flagged", "f32", on, 3, &k), CUTUNE_ERR_NOTFOUND);
    assert_int_equal(cutune_lookup(h, "flagged", "f32", two, 3, &k), CUTUNE_ERR_INVALID);
    assert_says("a flag is 0 or 1");
    cutune_close(c);
}

static void goes_to_the_nearest_device(void **state)
{
    (void)state;
    struct devspec small = pretend(), like = pretend(), other = pretend();
    strcpy(small.name, "Small device");
    small.multiprocessors = 16;
    strcpy(like.name, "Like device");
    like.multiprocessors = 114;
    strcpy(other.name, "Other architecture");
    strcpy(other.arch, "null2");
    struct store *s = afresh();
    put_winner_of(s, (struct recipe){ .m = 64, .n = 64, .tile = TILE32, .dev = &other });
    put_winner_of(s, (struct recipe){ .m = 64, .n = 64, .tile = TILE64, .dev = &small });
    put_winner_of(s, (struct recipe){ .m = 64, .n = 64, .tile = TILE8, .dev = &like });
    store_close(s);
    static const char *const nearest[] = { "TILE=8", "TILE=64", "TILE=32" };
    static const char *const names[] = { "Like device", "Small device", "Other architecture" };
    for (int i = 0; i < 3; i++) {
        char sql[128];
        cutune *c = open_pretend((cutune_options){ 0 });
        const cutune_kernel *k = find(attached(c), 64, 64);
        assert_is(k, CUTUNE_MATCH_DEVICE, nearest[i]);
        assert_non_null(strstr(cutune_kernel_why(k), names[i]));
        assert_true(cutune_kernel_time_ns(k) > 0);
        cutune_close(c);
        snprintf(sql, sizeof sql, "DELETE FROM tuned WHERE device = (SELECT id FROM device WHERE name = '%s')", names[i]);
        meddle("a.db", sql);
    }
    struct devspec cuda = sample_device(); /* kernels of another backend do not run */
    s = afresh();
    put_winner_of(s, (struct recipe){ .m = 64, .n = 64, .dev = &cuda });
    store_close(s);
    cutune *c = open_pretend((cutune_options){ 0 });
    const cutune_kernel *k = NULL;
    assert_int_equal(try_find(attached(c), 64, 64, &k), CUTUNE_ERR_NOTFOUND);
    cutune_close(c);
}

/* Two devices as near as each other, of which only the second has what may run here. */
static void asks_every_device(void **state)
{
    (void)state;
    struct devspec one = pretend(), two = pretend();
    strcpy(one.name, "One");
    strcpy(two.name, "Two");
    struct store *s = afresh();
    put_winner_of(s, (struct recipe){ .m = 64, .n = 64, .tile = TILE64, .dev = &one });
    put_winner_of(s, (struct recipe){ .m = 64, .n = 64, .tile = TILE8, .grid = 1, .dev = &two });
    store_close(s);
    cutune *c = open_pretend((cutune_options){ 0 });
    assert_is(find(attached(c), 5000000, 4), CUTUNE_MATCH_DEVICE, "TILE=8,GRID=x,");
    cutune_close(c);
}

static void does_not_serve_the_unverified(void **state)
{
    (void)state;
    tune("a.db", (struct recipe){ .m = 64, .n = 64, .tile = TILE64, .unverified = true });
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    assert_is(find(h, 64, 64), CUTUNE_MATCH_NEAR, "TILE=8");
    assert_is(find(h, 64, 65), CUTUNE_MATCH_NEAR, "TILE=8");
    cutune_close(c);
}

static void serves_what_is_alone_for_its_own_problem_only(void **state)
{
    (void)state;
    struct devspec other = pretend();
    const cutune_kernel *k = NULL;
    strcpy(other.name, "Other device");
    struct store *s = open_at("a.db", STORE_WRITE);
    put_winner_of(s, (struct recipe){ .m = 64, .n = 64, .tile = TILE64, .alone = true });
    also(s, 64, 64, 0, TILE8, 3000);
    store_close(s);
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    assert_is(find(h, 64, 64), CUTUNE_MATCH_EXACT, "TILE=64");
    assert_is(find(h, 64, 65), CUTUNE_MATCH_NEAR, "TILE=8");
    assert_is(find(attached_to(c, &other), 64, 64), CUTUNE_MATCH_DEVICE, "TILE=8");
    cutune_close(c);
    tune("a.db", (struct recipe){ .m = 67, .n = 67, .tile = TILE64 }); /* the same configuration, where it was compared for another */
    c = open_pretend((cutune_options){ 0 });
    const cutune_kernel *near = find(attached(c), 64, 65);
    assert_is(near, CUTUNE_MATCH_NEAR, "TILE=64");
    assert_non_null(strstr(cutune_kernel_why(near), "m=67,n=67"));
    cutune_close(c);
    store_close(afresh());
    tune("a.db", (struct recipe){ .m = 64, .n = 64, .tile = TILE64, .alone = true });
    c = open_pretend((cutune_options){ 0 });
    h = attached(c);
    assert_int_equal(try_find(h, 64, 65, &k), CUTUNE_ERR_NOTFOUND);
    assert_says("what was compared with the reference for no other problem is not used");
    assert_is(find(h, 64, 64), CUTUNE_MATCH_EXACT, "TILE=64");
    cutune_close(c);
}

/* ---- tables */

/* Named apart from the path that in_dir makes next. */
static const char *tables_path(void)
{
    static char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s", in_dir("tables.db"));
    return path;
}

static void make_tables(const char *more)
{
    struct store *s = open_at("tables.db", STORE_WRITE);
    put_default_of(s, (struct recipe){ .tile = TILE64 });
    store_close(s);
    if (more)
        meddle("tables.db", more);
}

static void comes_to_the_tables_last(void **state)
{
    (void)state;
    make_tables(NULL);
    cutune *c = open_pretend((cutune_options){ .tables = tables_path() });
    assert_is(find(attached(c), 64, 64), CUTUNE_MATCH_NEAR, "TILE=8");
    cutune_close(c);
    meddle("a.db", "DELETE FROM tuned WHERE role = 'winner'");
    c = open_pretend((cutune_options){ .tables = tables_path() });
    assert_is(find(attached(c), 64, 64), CUTUNE_MATCH_DEFAULT, "TILE=32");
    cutune_close(c);
    meddle("a.db", "DELETE FROM tuned");
    c = open_pretend((cutune_options){ .tables = tables_path() });
    const cutune_kernel *k = find(attached(c), 64, 64);
    assert_is(k, CUTUNE_MATCH_DEFAULT, "TILE=64");
    assert_non_null(strstr(cutune_kernel_why(k), "the first of the op's own defaults that fits"));
    cutune_close(c);
}

/* There a default that was never timed is newer than what won; if it was, and lost, the winner is given. */
static void prefers_a_new_default_of_the_tables(void **state)
{
    (void)state;
    meddle("a.db", "DELETE FROM tuned");
    for (int lost = 0; lost < 2; lost++) {
        unlink(tables_path());
        struct store *s = open_at("tables.db", STORE_WRITE);
        put_winner_of(s, (struct recipe){ .m = 100, .n = 92, .tile = TILE8 });
        put_winner_of(s, (struct recipe){ .m = 92, .n = 100, .tile = TILE8 });
        put_default_of(s, (struct recipe){ .tile = TILE64 });
        put_default_of(s, (struct recipe){ .rank = 1, .tile = TILE32 });
        also(s, 100, 92, 0, TILE32, 2000);
        if (lost)
            also(s, 100, 92, 0, TILE64, 2000);
        store_close(s);
        cutune *c = open_pretend((cutune_options){ .tables = tables_path() });
        if (lost)
            assert_is(find(attached(c), 100, 100), CUTUNE_MATCH_NEAR, "TILE=8");
        else
            assert_is(find(attached(c), 100, 100), CUTUNE_MATCH_DEFAULT, "TILE=64");
        cutune_close(c);
    }
}

static void knows_ops_of_the_tables_alone(void **state)
{
    (void)state;
    make_tables("UPDATE op SET name = 'shipped'");
    cutune *c = open_pretend((cutune_options){ .tables = tables_path() });
    cutune_handle *h = attached(c);
    const int64_t sizes[] = { 64, 64 };
    const cutune_kernel *k = NULL;
    assert_int_equal(cutune_lookup(h, "shipped", "f32", sizes, 2, &k), CUTUNE_OK);
    assert_is(k, CUTUNE_MATCH_DEFAULT, "TILE=64");
    assert_int_equal(cutune_lookup(h, "neither", "f32", sizes, 2, &k), CUTUNE_ERR_NOTFOUND);
    assert_says("neither");
    assert_is(find(h, 64, 64), CUTUNE_MATCH_NEAR, "TILE=8");
    cutune_close(c);
}

/* The tables' kernels take other arguments than the database's op says: what fits nobody's call is not given. */
static void leaves_out_tables_of_another_form(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "UPDATE op SET interface = bend(interface, 'values', 'm + 1')",
        "UPDATE op SET interface = bend(interface, 'arg 2', 'rows')",
        "UPDATE op SET interface = bend(interface, 'extent 0', 'm + 1')",
        "UPDATE op SET interface = bend(interface, 'axis 0 kind', '2')",
        "UPDATE op SET interface = bend(interface, 'arg 0 kind', '2')",
    };
    meddle("a.db", "DELETE FROM tuned");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const cutune_kernel *k = NULL;
        unlink(tables_path());
        make_tables(forms[i]);
        cutune *c = open_pretend((cutune_options){ .tables = tables_path() });
        if (try_find(attached(c), 64, 64, &k) != CUTUNE_ERR_NOTFOUND)
            fail_msg("%s: served", forms[i]);
        cutune_close(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_pretend(prefers_exact),
        with_pretend(takes_the_least_expected_loss),
        with_pretend(takes_a_default_that_should_be_better),
        with_pretend(trusts_the_default_more_the_farther_away),
        with_pretend(passes_over_what_may_not_run_here),
        with_pretend(passes_over_what_failed_for_the_problem),
        with_pretend(learns_from_other_types),
        with_pretend(takes_no_neighbour_of_other_flags),
        with_pretend(goes_to_the_nearest_device),
        with_pretend(asks_every_device),
        with_pretend(does_not_serve_the_unverified),
        with_pretend(serves_what_is_alone_for_its_own_problem_only),
        with_pretend(comes_to_the_tables_last),
        with_pretend(prefers_a_new_default_of_the_tables),
        with_pretend(knows_ops_of_the_tables_alone),
        with_pretend(leaves_out_tables_of_another_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
