/* Answers kept for other processes: given without opening the database while it is as it was, and never after. */
#include "store_sample.h"

#include <fcntl.h>

static struct store *open_kept(const char *name)
{
    char folder[256];
    struct store *s = NULL;
    struct err err = { 0 };
    strcpy(folder, in_dir("cache"));
    if (store_open_kept(in_dir(name), STORE_READ, folder, &s, &err))
        fail_msg("%s", err.msg);
    return s;
}

/* The generation of one that is not open yet is 1, see store_generation. */
static bool is_open(struct store *s)
{
    uint64_t g = 0;
    assert_int_equal(store_generation(s, &g, NULL), 0);
    return g != 1;
}

static double time_of(struct store *s, const char *problem)
{
    struct tuned *t = NULL;
    struct err err = { 0 };
    struct op *op = NULL;
    if (store_op(s, "transpose", &op, &err) || find_winner(s, problem, &t, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(op->naxes, 2);
    assert_string_equal(t->source, sample_tuned(&(struct config){ 0 }, 1)->source);
    double ns = t->time_ns;
    tuned_free(t);
    op_free(op);
    return ns;
}

/* Another process asks what an earlier one has asked. Returns whether it had to open the database. */
static bool ask(double expected)
{
    struct store *s = open_kept("a.db");
    bool before = is_open(s);
    assert_true(time_of(s, "m=1,n=1") == expected);
    assert_true(is_open(s) == before);
    assert_true(time_of(s, "m=1,n=1") == expected);
    store_close(s);
    return before;
}

static void make(void)
{
    struct store *s = open_at("a.db", STORE_WRITE);
    sample_winner(s, 1, 1);
    sample_winner(s, 2, 2);
    store_close(s);
}

static void answers_are_given_without_opening(void **state)
{
    (void)state;
    make();
    meddle("a.db", "UPDATE tuned SET time_ns = 7");
    assert_true(ask(7));
    assert_false(ask(7));
    assert_false(ask(7));
    struct store *s = open_kept("a.db"); /* a question that nobody asked before opens it, also inside a transaction */
    assert_int_equal(store_begin(s, false, NULL), 0);
    assert_false(is_open(s));
    assert_true(time_of(s, "m=2,n=2") == 7 && is_open(s));
    assert_int_equal(store_end(s, 0, NULL), 0);
    store_close(s);
    s = open_kept("a.db");
    assert_true(time_of(s, "m=1,n=1") == 7 && time_of(s, "m=2,n=2") == 7);
    assert_false(is_open(s));
    struct tuned *t = NULL;
    assert_int_equal(find_winner(s, "m=3,n=3", &t, NULL), ERR_NOTFOUND);
    assert_true(is_open(s));
    store_close(s);
}

static void a_change_is_seen(void **state)
{
    (void)state;
    make();
    meddle("a.db", "UPDATE tuned SET time_ns = 7");
    ask(7);
    assert_false(ask(7));
    meddle("a.db", "UPDATE tuned SET time_ns = 8");
    assert_true(ask(8));
    assert_false(ask(8));
    struct store *s = open_kept("a.db"); /* while one that has not opened it waits */
    assert_false(is_open(s));
    meddle("a.db", "UPDATE tuned SET time_ns = 9");
    assert_true(time_of(s, "m=1,n=1") == 9 && is_open(s));
    store_close(s);
    /* What was asked before the change is not kept as what holds after it. */
    s = open_kept("a.db");
    assert_true(time_of(s, "m=2,n=2") == 9);
    meddle("a.db", "UPDATE tuned SET time_ns = 10");
    store_close(s);
    s = open_kept("a.db");
    assert_true(time_of(s, "m=2,n=2") == 10);
    store_close(s);
    assert_int_equal(rename(strcpy((char[256]){ 0 }, in_dir("a.db")), in_dir("b.db")), 0); /* another file */
    make();
    meddle("a.db", "UPDATE tuned SET time_ns = 11");
    assert_true(ask(11));
}

static void a_writers_log_counts(void **state)
{
    (void)state;
    make();
    meddle("a.db", "UPDATE tuned SET time_ns = 7");
    ask(7);
    struct store *writer = open_at("a.db", STORE_WRITE); /* a log beside the file */
    sample_winner(writer, 5, 5);
    assert_true(ask(7) && ask(7));
    store_close(writer);
    assert_true(ask(7)); /* the file has changed */
    assert_false(ask(7));
}

static void damage_of_the_kept_file_costs_nothing(void **state)
{
    (void)state;
    char name[HASH_HEX], path[300], byte;
    make();
    meddle("a.db", "UPDATE tuned SET time_ns = 7");
    ask(7);
    const char *db = in_dir("a.db");
    hash_hex(db, strlen(db), name);
    snprintf(path, sizeof path, "%s/cache/%s.answers", sample_dir, name);
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    off_t size = lseek(fd, 0, SEEK_END);
    for (off_t at = 0; at < size; at += size / 50) {
        assert_false(ask(7));
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte ^= 1;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        assert_true(ask(7)); /* and it is written again, as another file */
        close(fd);
        fd = open(path, O_RDWR);
        assert_true(fd >= 0);
    }
    for (off_t cut = 0; cut < size; cut += size / 20) {
        assert_int_equal(ftruncate(fd, cut), 0);
        assert_true(ask(7));
        close(fd);
        fd = open(path, O_RDWR);
        assert_true(fd >= 0);
    }
    close(fd);
    assert_int_equal(unlink(path) | mkdir(path, 0700), 0); /* it cannot be written: everything is as it was without it */
    assert_true(ask(7) && ask(7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_folder(answers_are_given_without_opening),
        in_folder(a_change_is_seen),
        in_folder(a_writers_log_counts),
        in_folder(damage_of_the_kept_file_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
