/* Answers kept for other processes: given without reading the database while it is as it was, and never after. */
#include "store_sample.h"

#include <fcntl.h>
#include <sys/stat.h>

/* A file that was written just now is not trusted to stay as it is. */
static void age(void)
{
    const struct timespec times[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
    assert_int_equal(utimensat(AT_FDCWD, in_dir("a.db"), times, 0), 0);
}

static void change(const char *sql)
{
    meddle("a.db", sql);
    age();
}

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
    struct tuned *sample = sample_tuned(&(struct config){ 0 }, 1);
    assert_string_equal(t->source, sample->source);
    tuned_free(sample);
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
    change("UPDATE tuned SET time_ns = 7");
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
    change("UPDATE tuned SET time_ns = 7");
    ask(7);
    assert_false(ask(7));
    change("UPDATE tuned SET time_ns = 8");
    assert_true(ask(8));
    assert_false(ask(8));
    struct store *s = open_kept("a.db"); /* while one that has not opened it waits */
    assert_false(is_open(s));
    change("UPDATE tuned SET time_ns = 9");
    assert_true(time_of(s, "m=1,n=1") == 9 && is_open(s));
    store_close(s);
    /* What was asked before the change is not kept as what holds after it. */
    s = open_kept("a.db");
    assert_true(time_of(s, "m=2,n=2") == 9);
    change("UPDATE tuned SET time_ns = 10");
    store_close(s);
    s = open_kept("a.db");
    assert_true(time_of(s, "m=2,n=2") == 10);
    store_close(s);
    assert_int_equal(rename(strcpy((char[256]){ 0 }, in_dir("a.db")), in_dir("b.db")), 0); /* another file */
    make();
    change("UPDATE tuned SET time_ns = 11");
    assert_true(ask(11));
}

static void a_writers_log_counts(void **state)
{
    (void)state;
    make();
    change("UPDATE tuned SET time_ns = 7");
    ask(7);
    struct store *writer = open_at("a.db", STORE_WRITE); /* a log beside the file */
    sample_winner(writer, 5, 5);
    assert_true(ask(7) && ask(7));
    store_close(writer);
    assert_true(ask(7) && ask(7)); /* just written */
    age();
    assert_true(ask(7));
    assert_false(ask(7));
}

/* Whoever closes a file lets go of all locks that his process has on it. */
static void locks_stay(void **state)
{
    (void)state;
    char command[512], said[64] = "";
    make();
    change("UPDATE tuned SET time_ns = 7");
    ask(7);
    struct store *writer = open_at("a.db", STORE_WRITE);
    sample_winner(writer, 5, 5);
    struct store *s = open_kept("a.db");
    time_of(s, "m=1,n=1");
    store_close(s);
    snprintf(command, sizeof command, "sqlite3 '%s' 'PRAGMA journal_mode = DELETE' 2>/dev/null", in_dir("a.db"));
    FILE *out = popen(command, "r"); /* takes the log away, unless another process has the file open */
    assert_non_null(out);
    assert_true(!fgets(said, sizeof said, out) || strncmp(said, "delete", 6));
    pclose(out);
    store_close(writer);
}

static void another_folder_changes_nothing(void **state)
{
    (void)state;
    char here[256];
    struct store *s = NULL;
    make();
    change("UPDATE tuned SET time_ns = 7");
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(sample_dir), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(store_open_kept("a.db", STORE_READ, "cache", &s, NULL), 0);
        assert_int_equal(chdir("/"), 0);
        assert_true(time_of(s, "m=1,n=1") == 7 && is_open(s) == !i);
        assert_true(i == 0 || time_of(s, "m=2,n=2") == 7);
        assert_int_equal(chdir(sample_dir), 0);
        store_close(s);
    }
    assert_int_equal(chdir(here), 0);
}

static void damage_of_the_kept_file_costs_nothing(void **state)
{
    (void)state;
    char name[HASH_HEX], path[300], byte;
    make();
    change("UPDATE tuned SET time_ns = 7");
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

/* An application that is open while others tune leaves no log that would slow down later starts. */
static void a_reader_leaves_no_log(void **state)
{
    (void)state;
    make();
    struct store *writer = open_at("a.db", STORE_WRITE), *reader = open_at("a.db", STORE_READ);
    assert_true(time_of(reader, "m=1,n=1") > 0);
    sample_winner(writer, 5, 5);
    store_close(writer);
    double now = time_of(reader, "m=1,n=1");
    store_close(reader);
    age();
    assert_true(ask(now));
    assert_false(ask(now));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_folder(answers_are_given_without_opening),
        in_folder(a_change_is_seen),
        in_folder(a_writers_log_counts),
        in_folder(a_reader_leaves_no_log),
        in_folder(locks_stay),
        in_folder(another_folder_changes_nothing),
        in_folder(damage_of_the_kept_file_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
