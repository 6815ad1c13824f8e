/* Files of earlier versions are read as they are, and migrated. tests/data/version-N.sql makes one of version N. */
#include "store_sample.h"

enum { NEWEST = 5 };

static void make_version(int version, const char *name)
{
    struct buf sql = { 0 }, path = { 0 };
    buf_fmt(&path, SOURCE_DIR "/tests/data/version-%d.sql", version);
    buf_str(&sql, "BEGIN;");
    assert_int_equal(file_read(buf_text(&path), 1 << 20, &sql, NULL), 0);
    buf_fmt(&sql, "UPDATE measurement SET protocol = %d; COMMIT", PROTOCOL); /* timed as it is done now */
    unlink(in_dir(name));
    meddle(name, buf_text(&sql));
    buf_free(&sql);
    buf_free(&path);
    assert_int_equal(ask_number(name, "PRAGMA user_version"), version);
}

static int count_listed(void *arg, const struct listed *l)
{
    assert_false(l->unverified || l->changed);
    assert_int_equal(l->samples, 3);
    assert_int_equal(l->ok, 1);
    ++*(int *)arg;
    return 0;
}

static int count_winners(void *arg, const struct winner *w)
{
    assert_true(w->time_ns == 1000);
    ++*(int *)arg;
    return 0;
}

static int count_times(void *arg, const struct timed *t)
{
    assert_true(t->median == 1000);
    ++*(int *)arg;
    return 0;
}

static int count_wanted(void *arg, const struct wanted_problem *w)
{
    (void)w;
    ++*(int *)arg;
    return 0;
}

static int count_default(void *arg, struct tuned *t)
{
    assert_int_equal(t->rank, *(int *)arg);
    ++*(int *)arg;
    tuned_free(t);
    return 0;
}

/* The rows of version-N.sql, the same for each N, whatever the file's version is by now. */
static void finds_the_rows(struct store *s)
{
    static const char *const problems[] = { "m=1111,n=113", "m=5,n=6" };
    struct devspec dev = sample_device();
    struct err err = { 0 };
    struct config c = sample_config(1, 0);
    struct tuned *was = sample_tuned(&c, 1000), *t;
    for (int i = 0; i < 2; i++) {
        if (find_winner(s, problems[i], &t, &err))
            fail_msg("%s", err.msg);
        assert_string_equal(t->key, was->key);
        assert_string_equal(t->config, was->config);
        assert_string_equal(t->json, was->json);
        assert_string_equal(t->source, was->source);
        assert_int_equal(t->binary_bytes, was->binary_bytes);
        assert_memory_equal(t->binary, was->binary, was->binary_bytes);
        assert_int_equal(t->op->variants->nlaunches, 2);
        assert_string_equal(t->op->variants->params[1].values->s, "xy");
        assert_null(t->portable);
        assert_false(t->unverified);
        tuned_free(t);
    }
    tuned_free(was);
    int n = 0, times = 0, listed = 0, winners = 0, wanted = 0;
    if (store_each_default(s, "cuda", "transpose", "f32", 0, count_default, &n, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(n, 2);
    assert_int_equal(store_left_out(s), 0);
    if (store_each_winner(s, count_listed, &listed, &err) || store_each_winner_of(s, "transpose", NULL, count_winners, &winners, &err) ||
        store_each_time(s, "transpose", NULL, count_times, &times, &err) || store_each_wanted(s, &dev, count_wanted, &wanted, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(listed, 2);
    assert_int_equal(winners, 2);
    assert_int_equal(times, 2);
    assert_int_equal(wanted, 0);
}

static void reads_older_versions(void **state)
{
    (void)state;
    for (int version = 1; version < NEWEST; version++) {
        make_version(version, "old.db");
        struct store *s = open_at("old.db", STORE_READ);
        finds_the_rows(s);
        store_close(s);
        s = open_at("old.db", STORE_TABLES);
        finds_the_rows(s);
        store_close(s);
        assert_int_equal(ask_number("old.db", "PRAGMA user_version"), version); /* left as it was */
        assert_int_equal(ask_number("old.db", "SELECT count(*) FROM sqlite_master WHERE type = 'view'"), version == 4);
    }
}

/* What they were proved against nobody knows, so they are stale once a script has said it. */
static void older_records_are_of_no_contract(void **state)
{
    (void)state;
    struct tuned *t;
    struct err err = { 0 };
    for (int version = 1; version < NEWEST; version++) {
        make_version(version, "old.db");
        struct store *s = open_at("old.db", STORE_WRITE);
        finds_the_rows(s);
        sample_winner(s, 7, 8);
        t = NULL;
        assert_int_equal(find_winner(s, "m=5,n=6", &t, &err), version < 3 ? ERR_NOTFOUND : 0);
        tuned_free(t);
        assert_int_equal(find_winner(s, "m=7,n=8", &t, &err), 0);
        tuned_free(t);
        store_close(s);
    }
}

static void migrates_a_version(int version)
{
    make_version(version, "old.db");
    struct store *reader = open_at("old.db", STORE_READ); /* of before */
    finds_the_rows(reader);
    struct store *s = open_at("old.db", STORE_WRITE);
    assert_int_equal(ask_number("old.db", "PRAGMA user_version"), NEWEST);
    finds_the_rows(s);
    sample_winner(s, 7, 8);
    store_close(s);
    assert_int_equal(ask_number("old.db", "SELECT count(*) FROM code WHERE binary NOT NULL"), 1); /* one kernel, then and now */
    assert_int_equal(ask_number("old.db", "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    assert_int_equal(ask_number("old.db", "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check != 'ok'"), 0);

    /* Who had it open goes on, and sees what the columns of now say. */
    struct tuned *t;
    assert_int_equal(find_winner(reader, "m=7,n=8", &t, NULL), 0);
    tuned_free(t);
    meddle("old.db", "UPDATE tuned SET verified = 0; UPDATE code SET portable = 'ptx'");
    assert_int_equal(find_winner(reader, "m=7,n=8", &t, NULL), ERR_NOTFOUND);
    assert_int_equal(store_tuned(reader, 1, &t, NULL), 0);
    assert_true(t->unverified);
    assert_string_equal(t->portable, "ptx");
    tuned_free(t);
    store_close(reader);
}

static void migrates_older_versions(void **state)
{
    (void)state;
    for (int version = 1; version < NEWEST; version++)
        migrates_a_version(version);
}

/* What the file says of its tables, without comments and spaces. */
static void schema_of(const char *name, struct buf *out)
{
    sqlite3 *db;
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_open(in_dir(name), &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT sql FROM sqlite_master WHERE sql NOT NULL ORDER BY type, name", -1, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        for (const char *c = (const char *)sqlite3_column_text(stmt, 0); *c; c++) {
            if (!strncmp(c, "--", 2))
                c += strcspn(c, "\n");
            if (*c != ' ' && *c != '\n')
                buf_put(out, c, 1);
        }
        buf_str(out, "\n");
    }
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

static void migration_and_schema_agree(void **state)
{
    (void)state;
    struct buf fresh = { 0 };
    store_close(open_at("new.db", STORE_WRITE));
    schema_of("new.db", &fresh);
    for (int version = 1; version < NEWEST; version++) {
        struct buf migrated = { 0 };
        make_version(version, "old.db");
        store_close(open_at("old.db", STORE_WRITE));
        schema_of("old.db", &migrated);
        assert_string_equal(buf_text(&migrated), buf_text(&fresh));
        buf_free(&migrated);
    }
    buf_free(&fresh);
}

/* No memory at any point leaves the file what it was, or migrated. */
static void migrates_without_memory(void **state)
{
    (void)state;
    char path[256];
    strcpy(path, in_dir("old.db"));
    int rc = ERR_NOMEM;
    for (long n = 0; rc; n++) {
        struct store *s = NULL;
        struct err err = { 0 };
        make_version(1, "old.db");
        mem_fail_at(n);
        rc = store_open(path, STORE_WRITE, &s, &err);
        store_close(s);
        mem_fail_at(-1);
        if (rc && rc != ERR_NOMEM)
            fail_msg("allocation %ld: %d %s", n, rc, err.msg);
        s = open_at("old.db", STORE_READ);
        finds_the_rows(s);
        store_close(s);
    }
    for (long n = 0, read = ERR_NOMEM; read; n++) {
        struct store *s = NULL;
        make_version(1, "old.db");
        mem_fail_at(n);
        read = store_open(path, STORE_READ, &s, NULL);
        store_close(s);
        mem_fail_at(-1);
        assert_true(!read || read == ERR_NOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_folder(reads_older_versions),       in_folder(older_records_are_of_no_contract), in_folder(migrates_older_versions),
        in_folder(migration_and_schema_agree), in_folder(migrates_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
