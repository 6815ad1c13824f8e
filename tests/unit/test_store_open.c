/* Opening the store: its own files, and an error message for everything else. */
#include "store_sample.h"

#include <sys/wait.h>

/* Opening must fail with this code, and a line that begins with the path and has this in it. */
static void refuse(const char *path, enum store_mode mode, int code, const char *line)
{
    struct store *s = NULL;
    struct err err = { 0 };
    int rc = store_open(path, mode, &s, &err);
    if (rc != code || strncmp(err.msg, path, strlen(path)) != 0 || !strstr(err.msg, line))
        fail_msg("%s: %d `%s`, not %d `%s`", path, rc, err.msg, code, line);
    assert_null(s);
}

/* ---- opening ---- */

static void opens(void **state)
{
    (void)state;
    store_close(open_at("new.db", STORE_WRITE));
    assert_int_equal(ask_number("new.db", "PRAGMA user_version"), 5);
    assert_int_equal(ask_number("new.db", "PRAGMA application_id"), 0x6375746e);
    store_close(open_at("new.db", STORE_WRITE));
    struct store *s = open_at("new.db", STORE_READ);
    assert_string_equal(store_path(s), in_dir("new.db"));
    store_close(s);
    store_close(NULL);

    put_file("empty.db", "", 0); /* as mktemp leaves it */
    store_close(open_at("empty.db", STORE_WRITE));
    store_close(open_at("100% ?a=b#:memory:", STORE_WRITE)); /* a name is only a name */
    assert_int_equal(access(in_dir("100% ?a=b#:memory:"), F_OK), 0);
}

static void every_column_is_explained(void **state)
{
    (void)state;
    struct buf text = { 0 };
    int columns = 0;
    assert_int_equal(file_read(SOURCE_DIR "/db/schema.sql", 1 << 20, &text, NULL), 0);
    const char *before = "";
    for (char *line = strtok(text.data, "\n"); line; before = line, line = strtok(NULL, "\n")) {
        bool column = !strncmp(line, "    ", 4) && line[4] >= 'a' && line[4] <= 'z';
        columns += column;
        if (column && !strstr(line, "-- "))
            fail_msg("no comment beside: %s", line);
        if (!strncmp(line, "CREATE TABLE", 12) && strncmp(before, "-- ", 3) != 0)
            fail_msg("no comment above: %s", line);
    }
    buf_free(&text);
    store_close(open_at("all.db", STORE_WRITE));
    assert_int_equal(columns, ask_number("all.db", "SELECT count(*) FROM sqlite_master AS t, pragma_table_info(t.name) "
                                                   "WHERE t.type = 'table'"));
}

static void refuses_what_is_not_its_own(void **state)
{
    (void)state;
    char path[256];
    refuse("", STORE_WRITE, ERR_INVALID, "empty");
    refuse(strcpy(path, in_dir("none.db")), STORE_READ, ERR_NOTFOUND, "no such database");
    refuse(strcpy(path, in_dir("none/a.db")), STORE_WRITE, ERR_NOTFOUND, "the folder");
    refuse(sample_dir, STORE_READ, ERR_INVALID, "a folder");
    refuse(sample_dir, STORE_WRITE, ERR_INVALID, "a folder");
    refuse("/dev/null", STORE_READ, ERR_INVALID, "not a regular file");
    put_file("empty.db", "", 0);
    refuse(strcpy(path, in_dir("empty.db")), STORE_READ, ERR_NOTFOUND, "empty");
    put_file("text.db",
             "this is some text, and no database at all. It is longer than the header of one, which has a hundred bytes.", 105);
    refuse(strcpy(path, in_dir("text.db")), STORE_READ, ERR_INVALID, "not a database");
    refuse(strcpy(path, in_dir("text.db")), STORE_WRITE, ERR_INVALID, "not a database");
    meddle("other.db", "CREATE TABLE theirs (a)");
    refuse(strcpy(path, in_dir("other.db")), STORE_READ, ERR_INVALID, "another program's");
    refuse(strcpy(path, in_dir("other.db")), STORE_WRITE, ERR_INVALID, "another program's");
    assert_int_equal(ask_number("other.db", "SELECT count(*) FROM sqlite_master"), 1); /* untouched */
}

static void refuses_versions_it_does_not_know(void **state)
{
    (void)state;
    char path[256];
    strcpy(path, in_dir("new.db"));
    store_close(open_at("new.db", STORE_WRITE));
    meddle("new.db", "PRAGMA user_version = 6");
    refuse(path, STORE_READ, ERR_INVALID, "newer");
    refuse(path, STORE_WRITE, ERR_INVALID, "newer");
    meddle("new.db", "PRAGMA user_version = 0");
    refuse(path, STORE_WRITE, ERR_CORRUPT, "no version");
}

/* As an ordinary user, in a child: root may do anything. */
static void as_nobody(void (*body)(void))
{
    pid_t child = fork();
    if (!child) {
        if (geteuid() == 0 && (setegid(65534) || seteuid(65534)))
            _exit(3);
        body();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void expect_line(const char *path, enum store_mode mode, const char *line, int problem)
{
    struct store *s;
    struct err err = { 0 };
    if (store_open(path, mode, &s, &err) != ERR_IO || !strstr(err.msg, line)) {
        fprintf(stderr, "%s\n", err.msg);
        _exit(problem);
    }
}

static char closed_path[256], kept_path[256];

static void denied(void)
{
    struct store *s;
    struct tuned *t;
    struct err err = { 0 };
    expect_line(closed_path, STORE_READ, "cannot read it", 10);
    expect_line(kept_path, STORE_WRITE, "cannot write it", 11);
    if (store_open(kept_path, STORE_READ, &s, &err) || find_winner(s, "m=5,n=6", &t, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        _exit(12);
    }
    tuned_free(t);
    store_close(s);
}

static void folder_denied(void)
{
    expect_line(kept_path, STORE_WRITE, "cannot write in the folder", 13);
}

static void keeps_to_permissions(void **state)
{
    (void)state;
    mkdir(in_dir("kept"), 0755);
    struct store *s = open_at("kept/a.db", STORE_WRITE);
    sample_winner(s, 5, 6);
    store_close(s);
    strcpy(kept_path, in_dir("kept/a.db"));
    put_file("closed.db", "", 0);
    strcpy(closed_path, in_dir("closed.db"));
    assert_int_equal(chmod(sample_dir, 0755) | chmod(closed_path, 0) | chmod(kept_path, 0444), 0);
    assert_int_equal(chmod(in_dir("kept"), 0555), 0);
    as_nobody(denied);
    assert_int_equal(chmod(kept_path, 0666), 0);
    as_nobody(folder_denied);
    assert_int_equal(access(in_dir("kept/a.db-wal"), F_OK), -1); /* nothing was left there */
}

/* ---- between writers ---- */

/* 1: a file that keeps a journal while it is written; 2: one that keeps a log beside it. */
static int kind_of(const char *name)
{
    struct buf header = { 0 };
    assert_int_equal(file_read(in_dir(name), 1 << 24, &header, NULL), 0);
    int kind = header.data[18];
    buf_free(&header);
    return kind;
}

static void rests_as_one_file(void **state)
{
    (void)state;
    struct tuned *t;
    struct store *first = open_at("a.db", STORE_WRITE), *second = open_at("a.db", STORE_WRITE);
    sample_winner(first, 5, 6);
    assert_int_equal(kind_of("a.db"), 2);
    store_close(first); /* others have it open: left as it is */
    assert_int_equal(access(in_dir("a.db-wal"), F_OK), 0);
    sample_winner(second, 6, 7);
    store_close(second);
    assert_int_equal(kind_of("a.db"), 1);
    assert_int_equal(access(in_dir("a.db-wal"), F_OK) & access(in_dir("a.db-journal"), F_OK), -1);

    struct store *reader = open_at("a.db", STORE_READ);
    assert_int_equal(find_winner(reader, "m=6,n=7", &t, NULL), 0);
    tuned_free(t);
    first = open_at("a.db", STORE_WRITE); /* and the next writer logs again */
    sample_winner(first, 7, 8);
    assert_int_equal(access(in_dir("a.db-wal"), F_OK), 0);
    assert_int_equal(find_winner(reader, "m=7,n=8", &t, NULL), 0);
    tuned_free(t);
    store_close(first);
    assert_int_equal(find_winner(reader, "m=7,n=8", &t, NULL), 0);
    tuned_free(t);
    store_close(reader);
    store_close(open_at("a.db", STORE_WRITE));
    assert_int_equal(kind_of("a.db"), 1);
}

/* A writer killed while its changes go into the file: who reads next undoes them. */
static void undoes_a_half_done_change(void **state)
{
    (void)state;
    char path[256];
    struct tuned *t;
    struct store *s = open_at("a.db", STORE_WRITE);
    sample_winner(s, 5, 6);
    store_close(s);
    strcpy(path, in_dir("a.db"));
    pid_t child = fork();
    if (!child) {
        sqlite3 *db;
        int rc = sqlite3_open(path, &db);
        rc = rc ? rc
                : sqlite3_exec(db,
                               "PRAGMA cache_size = 1; BEGIN; UPDATE tuned SET verified = 0; "
                               "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 5000) "
                               "INSERT INTO wanted SELECT 1, 'op', 'f32', 'n=' || i, 1, 0.0, '2026-01-01T00:00:00Z' FROM c",
                               NULL, NULL, NULL);
        _exit(rc);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(access(in_dir("a.db-journal"), F_OK), 0);
    refuse(path, STORE_TABLES, ERR_IO, "did not end");
    s = open_at("a.db", STORE_READ);
    assert_int_equal(find_winner(s, "m=5,n=6", &t, NULL), 0);
    tuned_free(t);
    store_close(s);
    assert_int_equal(ask_number("a.db", "SELECT count(*) FROM wanted"), 0);
    assert_int_equal(access(in_dir("a.db-journal"), F_OK), -1);
}

/* ---- places ---- */

static void knows_its_place(void **state)
{
    (void)state;
    char *path, data[256];
    struct err err = { 0 };
    strcpy(data, in_dir("data"));
    setenv("CUTUNE_DB", "mine.db", 1);
    assert_int_equal(store_default_path(true, &path, &err), 0);
    assert_string_equal(path, "mine.db");
    mem_free(path);
    unsetenv("CUTUNE_DB");
    setenv("XDG_DATA_HOME", data, 1);
    assert_int_equal(store_default_path(false, &path, &err), 0);
    assert_string_equal(path, in_dir("data/cutune/tuned.db"));
    mem_free(path);
    assert_int_equal(access(data, F_OK), -1);
    assert_int_equal(store_default_path(true, &path, &err), 0);
    mem_free(path);
    assert_int_equal(access(in_dir("data/cutune"), F_OK), 0);
    setenv("XDG_DATA_HOME", "relative", 1);
    setenv("HOME", data, 1);
    assert_int_equal(store_default_path(false, &path, &err), 0);
    assert_string_equal(path, in_dir("data/.local/share/cutune/tuned.db"));
    mem_free(path);
    unsetenv("HOME");
    assert_int_equal(store_default_path(false, &path, &err), ERR_NOTFOUND);
    put_file("file", "", 0);
    setenv("XDG_DATA_HOME", in_dir("file"), 1);
    assert_int_equal(store_default_path(true, &path, &err), ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_folder(opens),
        in_folder(every_column_is_explained),
        in_folder(refuses_what_is_not_its_own),
        in_folder(refuses_versions_it_does_not_know),
        in_folder(keeps_to_permissions),
        in_folder(rests_as_one_file),
        in_folder(undoes_a_half_done_change),
        in_folder(knows_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
