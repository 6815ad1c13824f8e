/* A database that changes while the library has it open: new winners, another file, no file, another form of an op. */
#include <fcntl.h>
#include <time.h>

#include "runtime_sample.h"

static void nap(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
}

static int refreshed(cutune *c)
{
    int changed = -1;
    if (cutune_refresh(c, &changed))
        fail_msg("%s", cutune_error());
    return changed;
}

static void takes_up_new_winners(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    const cutune_kernel *tuned = find(h, 1111, 113), *before = find(h, 64, 64), *far = find(h, 4096, 4096);
    assert_int_equal(refreshed(c), 0);
    tune("a.db", (struct recipe){ .m = 64, .n = 64, .tile = 2, .ns = 700 });
    assert_ptr_equal(find(h, 64, 64), before);
    assert_int_equal(refreshed(c), 1);
    assert_is(find(h, 64, 64), CUTUNE_MATCH_EXACT, "TILE=64");
    assert_true(cutune_kernel_time_ns(find(h, 64, 64)) == 700);
    assert_is(before, CUTUNE_MATCH_NEAR, "TILE=8");
    assert_ptr_equal(find(h, 1111, 113), tuned);
    assert_ptr_equal(find(h, 4096, 4096), far);
    assert_int_equal(refreshed(c), 0);
    tune("a.db", (struct recipe){ .m = 1111, .n = 113, .tile = 2, .ns = 300 }); /* a better one */
    assert_int_equal(cutune_refresh(c, NULL), CUTUNE_OK);
    assert_is(find(h, 1111, 113), CUTUNE_MATCH_EXACT, "TILE=64");
    assert_is(tuned, CUTUNE_MATCH_EXACT, "TILE=8");
    cutune_close(c);
}

/* Asks until the answer is exact. */
static void await_exact(cutune_handle *h, int64_t m, int64_t n)
{
    for (int i = 0; i < 60000; i++) {
        if (cutune_kernel_match(find(h, m, n)) == CUTUNE_MATCH_EXACT)
            return;
        nap();
    }
    fail_msg("no refresh within five minutes");
}

static void takes_them_up_in_the_background(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ .refresh_ms = 10 });
    cutune_handle *h = attached(c);
    for (int64_t n = 64; n < 67; n++) {
        assert_is(find(h, 64, n), CUTUNE_MATCH_NEAR, "");
        tune("a.db", (struct recipe){ .m = 64, .n = n, .tile = 2 });
        await_exact(h, 64, n);
    }
    cutune_close(c);
}

/* In the place of the winner, for its own problem and as a neighbour, until it is removed. A run that finds another winner changes nothing. */
static void serves_what_is_pinned(void **state)
{
    (void)state;
    const struct recipe r = { .m = 1111, .n = 113, .tile = 2, .ns = 3000 };
    struct devspec here = pretend();
    struct err err = { 0 };
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    assert_is(find(h, 1111, 113), CUTUNE_MATCH_EXACT, "TILE=8");
    struct store *s = open_at("a.db", STORE_WRITE);
    struct target to = target_of(s, &r);
    struct tuned *t = tuned_as(&r);
    to.pinned = true;
    assert_int_equal(store_winner(s, &to, t, &err), 0);
    tuned_free(t);
    assert_int_equal(refreshed(c), 1);
    const cutune_kernel *k = find(h, 1111, 113);
    assert_is(k, CUTUNE_MATCH_EXACT, "TILE=64");
    assert_string_equal(cutune_kernel_why(k), "exact: pinned on Pretend device for f32 m=1111,n=113");
    assert_is(find(h, 1111, 64), CUTUNE_MATCH_NEAR, "TILE=64");
    put_winner_of(s, (struct recipe){ .m = 1111, .n = 113, .tile = 2, .ns = 3000 }); /* the same, found by a run */
    assert_int_equal(refreshed(c), 0);
    assert_int_equal(store_unpin(s, &here, "transpose", "f32", "m=1111,n=113", &err), 0);
    assert_int_equal(refreshed(c), 1);
    assert_string_equal(cutune_kernel_why(find(h, 1111, 113)), "exact: tuned on Pretend device for f32 m=1111,n=113");
    assert_int_equal(store_unpin(s, &here, "transpose", "f32", "m=1111,n=113", &err), ERR_NOTFOUND);
    store_close(s);
    cutune_close(c);
}

static void finds_a_database_that_comes_later(void **state)
{
    (void)state;
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s", in_dir("tables.db"));
    struct store *s = open_at("tables.db", STORE_WRITE);
    put_default_of(s, (struct recipe){ .tile = 2 });
    store_close(s);
    setenv("XDG_DATA_HOME", sample_dir, 1);
    unsetenv("CUTUNE_DB");
    cutune *c = NULL;
    const cutune_options o = { .size = sizeof o, .tables = path };
    assert_int_equal(cutune_open_with(&o, &c), CUTUNE_OK);
    cutune_handle *h = attached(c);
    const cutune_kernel *before = find(h, 64, 64), *other = find(h, 65, 4000000);
    assert_is(before, CUTUNE_MATCH_DEFAULT, "TILE=64");
    assert_int_equal(refreshed(c), 0);
    assert_int_equal(mkdir(in_dir("cutune"), 0700), 0);
    assert_int_equal(refreshed(c), 0);
    tune("cutune/tuned.db", (struct recipe){ .m = 64, .n = 64, .tile = 1 });
    assert_int_equal(refreshed(c), 2);
    assert_is(find(h, 64, 64), CUTUNE_MATCH_EXACT, "TILE=8");
    assert_is(find(h, 65, 4000000), CUTUNE_MATCH_NEAR, "TILE=8");
    assert_is(before, CUTUNE_MATCH_DEFAULT, "TILE=64");
    assert_is(other, CUTUNE_MATCH_DEFAULT, "TILE=64");
    cutune_close(c);
    unsetenv("XDG_DATA_HOME");
}

static void follows_a_replaced_file(void **state)
{
    (void)state;
    char from[PATH_ROOM];
    struct said said = { 0 };
    cutune *c = open_pretend((cutune_options){ .log = note, .log_arg = &said });
    cutune_handle *h = attached(c);
    const cutune_kernel *before = find(h, 1111, 113);
    struct store *s = open_at("b.db", STORE_WRITE);
    put_winner_of(s, (struct recipe){ .m = 1111, .n = 113, .tile = 2, .ns = 5 });
    store_close(s);
    snprintf(from, sizeof from, "%s", in_dir("b.db"));
    assert_int_equal(rename(from, in_dir("a.db")), 0);
    assert_int_equal(refreshed(c), 1);
    assert_is(find(h, 1111, 113), CUTUNE_MATCH_EXACT, "TILE=64");
    assert_is(before, CUTUNE_MATCH_EXACT, "TILE=8");
    assert_int_equal(said.lines, 0);
    cutune_close(c);
}

/* What was read stays; it is said once, and a new file is followed. */
static void does_without_a_deleted_file(void **state)
{
    (void)state;
    struct said said = { 0 };
    cutune *c = open_pretend((cutune_options){ .log = note, .log_arg = &said });
    cutune_handle *h = attached(c);
    const cutune_kernel *k = find(h, 1111, 113);
    unlink(in_dir("a.db"));
    for (int i = 0; i < 3; i++)
        assert_int_equal(refreshed(c), 0);
    assert_int_equal(said.lines, 1);
    assert_non_null(strstr(said.last, "no such database"));
    assert_ptr_equal(find(h, 1111, 113), k);
    assert_is(find(h, 1111, 114), CUTUNE_MATCH_NEAR, "TILE=8");
    tune("a.db", (struct recipe){ .m = 1111, .n = 114, .tile = 2 });
    assert_int_equal(refreshed(c), 2); /* the other's winner is gone: that of the neighbour */
    assert_is(find(h, 1111, 114), CUTUNE_MATCH_EXACT, "TILE=64");
    assert_is(find(h, 1111, 113), CUTUNE_MATCH_NEAR, "TILE=64");
    cutune_close(c);
}

static void survives_a_file_cut_short(void **state)
{
    (void)state;
    for (long bytes = 0; bytes < 60000; bytes += 7001) {
        struct said said = { 0 };
        const cutune_kernel *k = NULL;
        remove_dir(NULL);
        assert_int_equal(make_pretend(NULL), 0);
        cutune *c = open_pretend((cutune_options){ .log = note, .log_arg = &said });
        cutune_handle *h = attached(c);
        const cutune_kernel *first = find(h, 1111, 113);
        assert_int_equal(truncate(in_dir("a.db"), bytes), 0);
        int rc = cutune_refresh(c, NULL);
        assert_true(rc == CUTUNE_OK || *cutune_error());
        rc = try_find(h, 1111, 114, &k);
        assert_true(rc == CUTUNE_OK || *cutune_error());
        assert_ptr_equal(find(h, 1111, 113), first);
        assert_is(first, CUTUNE_MATCH_EXACT, "TILE=8");
        cutune_close(c);
    }
}

static void survives_a_file_written_over(void **state)
{
    (void)state;
    char nonsense[4096];
    memset(nonsense, '#', sizeof nonsense);
    cutune *c = open_pretend((cutune_options){ .refresh_ms = 1 });
    cutune_handle *h = attached(c);
    const cutune_kernel *first = find(h, 1111, 113), *k = NULL;
    int fd = open(in_dir("a.db"), O_WRONLY);
    assert_int_equal(pwrite(fd, nonsense, sizeof nonsense, 0), sizeof nonsense);
    close(fd);
    int rc = cutune_refresh(c, NULL);
    assert_true(rc == CUTUNE_OK || *cutune_error());
    (void)try_find(h, 1111, 114, &k);
    assert_ptr_equal(find(h, 1111, 113), first);
    cutune_close(c);
}

/* ---- another form of the op */

/* Stores the op with its value `m` one more, and a winner of that form. */
static void change_form(int64_t m, int64_t n)
{
    struct op op = *sample_op();
    struct arg args[4];
    struct devspec dev = pretend();
    struct problem p = { { m, n } };
    struct target to;
    struct tuned *t = tuned_as(&(struct recipe){ .tile = 2 });
    memcpy(args, op.args, sizeof args);
    t->op->args[2].value = args[2].value = "m + 1";
    op.args = args;
    struct store *s = open_at("a.db", STORE_WRITE);
    assert_int_equal(store_target(s, &dev, &op, &p, 0, true, &to, NULL), 0);
    assert_int_equal(store_winner(s, &to, t, NULL), 0);
    store_close(s);
    tuned_free(t);
}

/* The value that a kernel of the op gets for m. */
static int64_t told_m(const cutune_kernel *k)
{
    cutune_param p = { .size = sizeof p };
    int64_t m;
    assert_int_equal(cutune_kernel_param(k, 0, 2, &p), CUTUNE_OK);
    assert_int_equal(p.kind, CUTUNE_PARAM_VALUE);
    assert_int_equal(p.bytes, 8);
    memcpy(&m, p.value, sizeof m);
    return m;
}

static void never_mixes_two_forms(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    const cutune_kernel *tuned = find(h, 1111, 113), *near = find(h, 1111, 200);
    const cutune_op *before, *now;
    assert_int_equal(cutune_op_find(c, "transpose", &before), CUTUNE_OK);
    assert_int_equal(told_m(tuned), 1111);
    assert_true(cutune_kernel_is_of(tuned, before));
    change_form(64, 64);
    assert_int_equal(told_m(find(h, 64, 64)), 65); /* asked for the first time: the op as it is now */
    assert_false(cutune_kernel_is_of(find(h, 64, 64), before));
    assert_ptr_equal(find(h, 1111, 113), tuned); /* and the others until a refresh */
    assert_int_equal(cutune_op_find(c, "transpose", &now), CUTUNE_OK);
    assert_false(cutune_kernel_is_of(tuned, now));
    assert_true(cutune_kernel_holds(tuned) && cutune_kernel_holds(near));
    assert_int_equal(refreshed(c), 2);
    assert_false(cutune_kernel_holds(tuned) || cutune_kernel_holds(near) || cutune_kernel_holds(NULL));
    assert_true(cutune_kernel_holds(find(h, 1111, 113)));
    assert_true(cutune_kernel_is_of(find(h, 1111, 113), now));
    assert_true(cutune_kernel_is_of(tuned, before));
    assert_false(cutune_kernel_is_of(NULL, now) || cutune_kernel_is_of(tuned, NULL));
    assert_is(find(h, 1111, 113), CUTUNE_MATCH_NEAR, "TILE=64"); /* what was tuned is stale */
    assert_int_equal(told_m(find(h, 1111, 113)), 1112);
    assert_int_equal(told_m(find(h, 1111, 200)), 1112);
    assert_int_equal(told_m(tuned), 1111);
    assert_int_equal(told_m(near), 1111);
    cutune_close(c);
}

static void does_not_serve_the_stale(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    const cutune_kernel *tuned = find(h, 1111, 113), *k = NULL;
    change_form(64, 64);
    meddle("a.db", "UPDATE tuned SET verified = 0 WHERE id = (SELECT max(id) FROM tuned)"); /* nothing of the new form is tuned */
    assert_int_equal(refreshed(c), 1);
    assert_int_equal(try_find(h, 1111, 113, &k), CUTUNE_ERR_NOTFOUND);
    assert_null(k);
    assert_is(tuned, CUTUNE_MATCH_EXACT, "TILE=8");
    tune("a.db", (struct recipe){ .m = 64, .n = 65, .tile = 2 }); /* and back */
    assert_int_equal(refreshed(c), 1);
    assert_is(find(h, 1111, 113), CUTUNE_MATCH_EXACT, "TILE=8");
    cutune_close(c);
}

static void does_not_serve_what_another_contract_proved(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    const cutune_kernel *k = NULL;
    assert_is(find(h, 1111, 113), CUTUNE_MATCH_EXACT, "TILE=8");
    meddle("a.db", "UPDATE op SET current = 0");
    meddle("a.db", "INSERT INTO op (name, hash, current, contract, variants, interface) SELECT name, 'a', 1, "
                   "'0123456789abcdef0123456789abcdef', variants, interface FROM op");
    assert_int_equal(refreshed(c), 1);
    assert_int_equal(try_find(h, 1111, 113, &k), CUTUNE_ERR_NOTFOUND);
    meddle("a.db", "DELETE FROM op WHERE hash = 'a'");
    meddle("a.db", "UPDATE op SET current = 1"); /* and back */
    assert_int_equal(refreshed(c), 1);
    assert_is(find(h, 1111, 113), CUTUNE_MATCH_EXACT, "TILE=8");
    cutune_close(c);
}

static void tells_of_another_number_of_sizes(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ .capture = 1 });
    cutune_handle *h = attached(c);
    const cutune_kernel *near = find(h, 64, 64), *k = NULL;
    meddle("a.db", "UPDATE op SET interface = bend(interface, 'axes', '3')");
    assert_int_equal(refreshed(c), 1);
    assert_int_equal(try_find(h, 64, 64, &k), CUTUNE_ERR_INVALID);
    assert_says("transpose takes 3 sizes (m, n, batch), not 2");
    assert_is(near, CUTUNE_MATCH_NEAR, "TILE=8");
    assert_int_equal(cutune_flush(c), CUTUNE_OK);
    cutune_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_pretend(takes_up_new_winners),
        with_pretend(takes_them_up_in_the_background),
        with_pretend(serves_what_is_pinned),
        with_pretend(finds_a_database_that_comes_later),
        with_pretend(follows_a_replaced_file),
        with_pretend(does_without_a_deleted_file),
        with_pretend(survives_a_file_cut_short),
        with_pretend(survives_a_file_written_over),
        with_pretend(never_mixes_two_forms),
        with_pretend(does_not_serve_the_stale),
        with_pretend(does_not_serve_what_another_contract_proved),
        with_pretend(tells_of_another_number_of_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
