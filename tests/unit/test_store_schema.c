/* Nothing in a stranger's schema runs: a definition that is not cutune's is refused on opening, and every statement is limited. */
#include "store_sample.h"

#include <fcntl.h>

/* sqlite_master is written as it stands, as a stranger's own program can. */
#define FORGED(table, from, to)                                                                                                    \
    "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = replace(sql, " from ", " to ") WHERE name = '" table "'"

static const struct {
    const char *sql, *says;
} foreign[] = {
    /* What would be computed by reading. */
    { "ALTER TABLE tuned ADD COLUMN slow GENERATED ALWAYS AS (length(printf('%.*c', 100000000, 'x'))) VIRTUAL", "table tuned " },
    { FORGED("device", "'name TEXT NOT NULL'", "'name TEXT AS (hex(zeroblob(100000000)))'"), "table device " },
    { FORGED("tuned", "'variant TEXT NOT NULL'", "'variant TEXT GENERATED ALWAYS AS (upper(config))'"), "table tuned " },
    { "DROP TABLE wanted; CREATE VIEW wanted AS SELECT 1 AS tuned", "view wanted " },
    { "DROP VIEW kernel; CREATE VIEW kernel AS SELECT hex(zeroblob(100000000)) AS device", "view kernel " },
    { "DROP VIEW kernel", "it lacks the VIEW kernel" },
    { "ALTER TABLE tuned RENAME TO t; CREATE VIEW tuned AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT "
      "* FROM t, c",
      "table t " },
    { "CREATE VIEW more AS SELECT 1", "view more " },
    { "CREATE VIRTUAL TABLE words USING fts5(w)", "table words " },
    { "CREATE VIRTUAL TABLE box USING rtree(id, a, b)", "table box " },
    /* What would be computed by writing. */
    { "CREATE TRIGGER t AFTER INSERT ON device BEGIN DELETE FROM tuned; END", "trigger t " },
    { "CREATE INDEX i ON tuned (length(config))", "index i " },
    { "CREATE INDEX i ON tuned (variant) WHERE length(config) > 3", "index i " },
    { "CREATE INDEX i ON tuned (variant COLLATE NOCASE)", "index i " },
    { "CREATE UNIQUE INDEX i ON code (length(source))", "index i " },
    { FORGED("measurement", "'CHECK (local >= -1)'", "'CHECK (length(zeroblob(100000000)) > 0)'"), "table measurement " },
    { FORGED("tuned", "'verified INTEGER NOT NULL'", "'verified INTEGER NOT NULL DEFAULT (random())'"), "table tuned " },
    { FORGED("provenance", "'uuid TEXT'", "'uuid TEXT COLLATE NOCASE'"), "table provenance " },
    { FORGED("tuned", "'ON DELETE CASCADE'", "'ON DELETE RESTRICT'"), "table tuned " },
    { FORGED("measurement", "'local >= -1'", "'local >= -2'"), "table measurement " },
    { FORGED("wanted", "') WITHOUT ROWID'", "'); DELETE FROM tuned'"), "table wanted " },
    { FORGED("wanted", "'PRIMARY KEY (device'", "'PRIMARYKEY (device'"), NULL },
    /* What would mislead the planner, or take long. */
    { "ANALYZE", "table sqlite_stat1 " },
    { "CREATE TABLE more (a)", "table more " },
    { "CREATE TABLE \"a\x1b[2J\nb\" (a)", "table a [2J b " },
    { "DROP TABLE code", "it lacks the TABLE code" },
    { "DROP TABLE measurement", "it lacks the TABLE measurement" },
    { "DROP INDEX op_current", "it lacks the UNIQUE INDEX op_current" },
    { "ALTER TABLE tuned RENAME COLUMN verified TO proved", "table tuned " },
    { "ALTER TABLE op DROP COLUMN contract", NULL }, /* SQLite itself may refuse it */
    { "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = NULL WHERE name = 'wanted'", NULL },
    { "PRAGMA writable_schema = 1; DELETE FROM sqlite_master WHERE name = 'wanted'", "it lacks the TABLE wanted" },
};

static void put_sample(const char *name, struct buf *out)
{
    struct store *s = open_at(name, STORE_WRITE);
    sample_winner(s, 1111, 113);
    sample_defaults(s);
    store_close(s);
    assert_int_equal(file_read(in_dir(name), 1 << 24, out, NULL), 0);
}

/* In any mode; nothing is changed by having tried. */
static void assert_refused(const char *name, const char *attack, const char *says)
{
    struct buf before = { 0 }, after = { 0 };
    assert_int_equal(file_read(in_dir(name), 1 << 26, &before, NULL), 0);
    for (int mode = STORE_READ; mode <= STORE_TABLES; mode++) {
        struct store *s = NULL;
        struct err err = { 0 };
        int rc = store_open(in_dir(name), (enum store_mode)mode, &s, &err);
        if (rc != ERR_CORRUPT || strncmp(err.msg, in_dir(name), strlen(in_dir(name))) || (says && !strstr(err.msg, says)))
            fail_msg("%s: mode %d: %d %s", attack, mode, rc, err.msg);
    }
    assert_int_equal(file_read(in_dir(name), 1 << 26, &after, NULL), 0);
    assert_int_equal(before.len, after.len);
    assert_memory_equal(before.data, after.data, before.len);
    buf_free(&before);
    buf_free(&after);
}

/* As meddle, and an attack that SQLite itself does not let through is none. */
static bool try_sql(const char *name, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(in_dir(name), &db), SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_close(db);
    return rc == SQLITE_OK;
}

static void refuses_foreign_schemas(void **state)
{
    (void)state;
    struct buf good = { 0 };
    int tried = 0, all = (int)(sizeof foreign / sizeof *foreign);
    put_sample("good.db", &good);
    for (int i = 0; i < all; i++) {
        put_file("bad.db", good.data, good.len);
        if (!try_sql("bad.db", foreign[i].sql))
            continue;
        assert_refused("bad.db", foreign[i].sql, foreign[i].says);
        tried++;
    }
    buf_free(&good);
    assert_true(tried >= all - 4); /* an SQLite may lack a module or two */
}

/* An older file is as little trusted, though its tables are not those of now. */
static void refuses_older_foreign_schemas(void **state)
{
    (void)state;
    static const char *const attacks[] = {
        "ALTER TABLE tuned ADD COLUMN slow AS (upper(config))",
        "CREATE VIEW more AS SELECT 1",
        "CREATE TRIGGER t AFTER INSERT ON device BEGIN DELETE FROM tuned; END",
        "CREATE INDEX i ON tuned (length(config))",
        "CREATE TABLE more (a)",
        "CREATE TABLE code2 (a); ALTER TABLE code ADD COLUMN portable",
        "ANALYZE",
        "DROP TABLE measurement",
        FORGED("device", "'name TEXT NOT NULL'", "'name TEXT AS (hex(zeroblob(100000000)))'"),
        FORGED("code", "'UNIQUE'", "''"),
        FORGED("measurement", "'''ok'''", "'''OK'''"),
        FORGED("measurement", "'''ok'''", "'''--'''"),
        FORGED("op_axis", "'name TEXT'", "'name TEXT COLLATE NOCASE'"),
        "DROP TABLE tuned_launch; CREATE VIEW tuned_launch AS SELECT 1 AS tuned",
    };
    struct buf sql = { 0 };
    buf_str(&sql, "BEGIN;");
    assert_int_equal(file_read(SOURCE_DIR "/tests/data/version-1.sql", 1 << 20, &sql, NULL), 0);
    buf_str(&sql, "COMMIT");
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        unlink(in_dir("old.db"));
        meddle("old.db", buf_text(&sql));
        assert_true(try_sql("old.db", attacks[i]));
        assert_refused("old.db", attacks[i], NULL);
    }
    buf_free(&sql);
}

/* Blanks and comments are nobody's business: another cutune of the same version wrote others. */
static void takes_other_comments(void **state)
{
    (void)state;
    struct buf good = { 0 };
    put_sample("good.db", &good);
    assert_true(try_sql("good.db", FORGED("tuned", "'-- row'", "'/* a row; */ --'")));
    assert_true(try_sql("good.db", FORGED("wanted", "'  '", "char(10)")));
    assert_true(try_sql("good.db", FORGED("code", "'NOT NULL,'", "'NOT /* */ NULL' || char(9) || ' ,'")));
    for (int mode = STORE_READ; mode <= STORE_TABLES; mode++)
        store_close(open_at("good.db", (enum store_mode)mode));
    buf_free(&good);
}

/* Reading a schema of many tables takes time and memory before it can be compared with anything. */
static void refuses_many_tables(void **state)
{
    (void)state;
    struct buf good = { 0 }, sql = { 0 };
    put_sample("many.db", &good);
    buf_str(&sql, "BEGIN;");
    for (int i = 0; i < 3000; i++)
        buf_fmt(&sql, "CREATE TABLE t%d(a);", i);
    buf_str(&sql, "COMMIT;");
    assert_true(try_sql("many.db", buf_text(&sql)));
    assert_refused("many.db", "3000 tables", "has more");
    buf_free(&good);
    buf_free(&sql);
}

/* ---- pages that lead in circles */

enum { PAGE = 4096, FANOUT = 600 };

static void put_u32(unsigned char *at, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(v >> (24 - 8 * i));
}

/* An inner page of a table, all of whose children are one page. */
static void make_inner(unsigned char *page, uint32_t child)
{
    enum { CELL = PAGE - 5 };
    memset(page, 0, PAGE);
    page[0] = 5;
    page[3] = FANOUT >> 8;
    page[4] = FANOUT & 0xff;
    page[5] = CELL >> 8;
    page[6] = CELL & 0xff;
    put_u32(page + 8, child);
    for (int i = 0; i < FANOUT; i++) {
        page[12 + 2 * i] = CELL >> 8;
        page[13 + 2 * i] = CELL & 0xff;
    }
    put_u32(page + CELL, child);
    page[CELL + 4] = 1; /* row id */
}

/* The table's own page moves behind the file, below three inner ones: a few rows are billions. */
static void make_circles(const char *name, const char *table)
{
    struct buf file = { 0 };
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT rootpage FROM sqlite_master WHERE name = '%s'", table);
    size_t root = (size_t)ask_number(name, sql);
    assert_int_equal(file_read(in_dir(name), 1 << 24, &file, NULL), 0);
    size_t pages = file.len / PAGE;
    unsigned char *all = calloc(pages + 3, PAGE);
    memcpy(all, file.data, file.len);
    memcpy(all + pages * PAGE, all + (root - 1) * PAGE, PAGE);
    assert_int_equal(all[pages * PAGE], 13); /* a leaf */
    make_inner(all + (pages + 1) * PAGE, (uint32_t)pages + 1);
    make_inner(all + (pages + 2) * PAGE, (uint32_t)pages + 2);
    make_inner(all + (root - 1) * PAGE, (uint32_t)pages + 3);
    put_u32(all + 28, (uint32_t)pages + 3);
    put_file(name, all, (pages + 3) * PAGE);
    free(all);
    buf_free(&file);
}

static int ignore_tried(void *arg, const struct listed *t)
{
    (void)t;
    ++*(int64_t *)arg;
    return 0;
}

static int ignore_listed(void *arg, const struct listed *l)
{
    (void)l;
    ++*(int64_t *)arg;
    return 0;
}

static int ignore_time(void *arg, const struct timed *t)
{
    (void)t;
    ++*(int64_t *)arg;
    return 0;
}

static int ignore_measured(void *arg, const struct measured *m)
{
    (void)m;
    ++*(int64_t *)arg;
    return 0;
}

static void ends_in_circles(void **state)
{
    (void)state;
    static const char *const tables[] = { "measurement", "problem", "device", "tuned", "provenance" };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct buf good = { 0 };
        put_sample("round.db", &good);
        make_circles("round.db", tables[i]);
        struct store *s = open_at("round.db", STORE_READ);
        struct target t = { .device = 1, .problem = 1, .cold = true };
        struct err err = { 0 };
        int64_t rows = 0;
        int bad = 0;
        bad += store_each_tried(s, ignore_tried, &rows, &err) == ERR_CORRUPT;
        bad += store_each_winner(s, ignore_listed, &rows, &err) == ERR_CORRUPT;
        bad += store_each_time(s, "transpose", NULL, ignore_time, &rows, &err) == ERR_CORRUPT;
        bad += store_each_measured(s, &t, ignore_measured, &rows, &err) == ERR_CORRUPT;
        assert_true(rows < 10000000);
        if (!strcmp(tables[i], "measurement") && (!bad || !strstr(err.msg, "round.db: damaged: what it was asked has no end")))
            fail_msg("%s: %d ended, the last by '%s'", tables[i], bad, err.msg);
        store_close(s);
        buf_free(&good);
        unlink(in_dir("round.db"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_folder(refuses_foreign_schemas), in_folder(refuses_older_foreign_schemas),
        in_folder(takes_other_comments),    in_folder(refuses_many_tables),
        in_folder(ends_in_circles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
