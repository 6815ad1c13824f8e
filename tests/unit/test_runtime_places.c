/* Where the database, the tables and the cache are, and the messages if they cannot be used. */
#include <dirent.h>
#include <sys/wait.h>

#include "runtime_sample.h"

/* A path that stays while in_dir makes others. */
static const char *keep(char *room, const char *name)
{
    return strcpy(room, in_dir(name));
}

static int make_places(void **state)
{
    unsetenv("CUTUNE_DB");
    unsetenv("XDG_DATA_HOME");
    unsetenv("HOME");
    int rc = make_pretend(state);
    setenv("XDG_CACHE_HOME", in_dir("caches"), 1);
    return rc;
}

static int forget_places(void **state)
{
    unsetenv("CUTUNE_DB");
    unsetenv("XDG_DATA_HOME");
    unsetenv("HOME");
    return remove_dir(state);
}

/* Opened with no path given: which TILE is tuned for m x 113 there? "" for a failure. */
static const char *tuned_at(int64_t m)
{
    static char config[256];
    cutune *c = NULL;
    const cutune_kernel *k = NULL;
    if (cutune_open(NULL, &c))
        return "";
    if (try_find(attached(c), m, 113, &k))
        fail_msg("%s", cutune_error());
    snprintf(config, sizeof config, "%.7s", cutune_kernel_match(k) == CUTUNE_MATCH_EXACT ? cutune_kernel_config(k) : "default");
    cutune_close(c);
    return config;
}

static void looks_for_the_database(void **state)
{
    (void)state;
    char data[PATH_ROOM], home[PATH_ROOM];
    cutune *c = NULL;
    assert_string_equal(tuned_at(1111), "");
    assert_says("no place for the database: set CUTUNE_DB");
    assert_int_equal(mkdir(in_dir("cutune"), 0700) | mkdir(in_dir("home"), 0700) | mkdir(in_dir("home/.local"), 0700) |
                         mkdir(in_dir("home/.local/share"), 0700) | mkdir(in_dir("home/.local/share/cutune"), 0700),
                     0);
    tune("home/.local/share/cutune/tuned.db", (struct recipe){ .m = 1111, .n = 113, .tile = 0 });
    setenv("HOME", keep(home, "home"), 1);
    assert_string_equal(tuned_at(1111), "TILE=32");
    setenv("XDG_DATA_HOME", keep(data, ""), 1);
    assert_string_equal(tuned_at(1111), "");
    assert_says("cutune/tuned.db: no such database");
    tune("cutune/tuned.db", (struct recipe){ .m = 1111, .n = 113, .tile = 2 });
    assert_string_equal(tuned_at(1111), "TILE=64");
    setenv("XDG_DATA_HOME", "not/absolute", 1);
    assert_string_equal(tuned_at(1111), "TILE=32");
    setenv("CUTUNE_DB", in_dir("a.db"), 1);
    assert_string_equal(tuned_at(1111), "TILE=8,");
    setenv("CUTUNE_DB", in_dir("none.db"), 1);
    assert_string_equal(tuned_at(1111), "");
    assert_says("none.db: no such database");
    assert_int_equal(cutune_open(in_dir("none.db"), &c), CUTUNE_ERR_NOTFOUND);
    assert_int_equal(cutune_open("", &c), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_open(sample_dir, &c), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_open("/dev/null", &c), CUTUNE_ERR_INVALID);
    assert_null(c);
}

static void looks_for_the_tables(void **state)
{
    (void)state;
    char data[PATH_ROOM], tables[PATH_ROOM];
    cutune *c = NULL;
    setenv("CUTUNE_TABLES", keep(tables, "a.db"), 1);
    setenv("XDG_DATA_HOME", keep(data, ""), 1); /* where there is no database */
    assert_string_equal(tuned_at(1111), "TILE=8,");
    unsetenv("XDG_DATA_HOME"); /* nor a place for one */
    assert_string_equal(tuned_at(1111), "TILE=8,");
    cutune_options o = { .size = sizeof o, .tables = "" };
    assert_int_equal(cutune_open_with(&o, &c), CUTUNE_ERR_NOTFOUND);
    o.tables = in_dir("none.db");
    assert_int_equal(cutune_open_with(&o, &c), CUTUNE_ERR_NOTFOUND); /* these were asked for */
    assert_says("none.db");
    put_file("text", "a text file, if a short one\n", 28);
    o.tables = in_dir("text");
    assert_int_equal(cutune_open_with(&o, &c), CUTUNE_ERR_INVALID);
    assert_null(c);
}

/* Relative paths are of the folder that the database was opened in. */
static void stays_where_it_was_opened(void **state)
{
    (void)state;
    char *before = getcwd(NULL, 0), new_path[PATH_ROOM];
    int changed = 0;
    assert_int_equal(mkdir(in_dir("elsewhere"), 0700), 0);
    assert_int_equal(chdir(sample_dir), 0);
    tune("w.db", (struct recipe){ .m = 5, .n = 5 });
    setenv("CUTUNE_TABLES", "a.db", 1);
    cutune *c = open_pretend((cutune_options){ .path = "w.db", .cache = "cache", .capture = 1 });
    assert_int_equal(chdir("elsewhere"), 0);
    cutune_handle *h = attached(c);
    assert_is(find(h, 6, 6), CUTUNE_MATCH_NEAR, "TILE=32");
    assert_int_equal(cutune_flush(c), CUTUNE_OK);
    assert_int_equal(ask_number("w.db", "SELECT count(*) FROM wanted"), 1);
    tune("new.db", (struct recipe){ .m = 6, .n = 6, .tile = 2 });
    meddle("new.db", "DELETE FROM tuned WHERE problem NOT IN (SELECT id FROM problem WHERE sizes = 'm=6,n=6')");
    keep(new_path, "new.db");
    assert_int_equal(rename(new_path, in_dir("w.db")), 0);
    assert_int_equal(cutune_refresh(c, &changed), CUTUNE_OK);
    assert_is(find(h, 6, 6), CUTUNE_MATCH_EXACT, "TILE=64");
    cutune_close(c);
    assert_int_equal(chdir(sample_dir), 0);
    c = open_pretend((cutune_options){ .path = "none.db", .capture = 1 }); /* the tables alone */
    assert_int_equal(chdir("elsewhere"), 0);
    assert_is(find(attached(c), 1111, 113), CUTUNE_MATCH_EXACT, "TILE=8");
    cutune_close(c);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(rmdir(in_dir("elsewhere")), 0); /* nothing was made there */
    free(before);
}

/* A home of another user's, or none: the tables answer. */
static void does_without_a_home(void **state)
{
    (void)state;
    char tables[PATH_ROOM], shut[PATH_ROOM];
    struct said said = { 0 };
    const char *const homes[] = { "/dev/null", keep(shut, "shut") };
    const cutune_options o = { .size = sizeof o, .tables = keep(tables, "a.db"), .log = note, .log_arg = &said };
    assert_int_equal(mkdir(shut, 0), 0);
    for (int i = 0; i < (geteuid() ? 2 : 1); i++) { /* nothing is shut for root */
        cutune *c = NULL;
        setenv("HOME", homes[i], 1);
        said.lines = 0;
        if (cutune_open_with(&o, &c))
            fail_msg("%s", cutune_error());
        assert_int_equal(said.lines, 1);
        assert_non_null(strstr(said.last, "done without"));
        assert_is(find(attached(c), 1111, 113), CUTUNE_MATCH_EXACT, "TILE=8");
        cutune_close(c);
    }
    assert_int_equal(rmdir(shut), 0);
}

static void refuses_what_is_no_database(void **state)
{
    (void)state;
    cutune *c = NULL;
    put_file("text", "a text file, which is longer than the header of a database would be, if it were one: 100 bytes\n\n\n\n", 99);
    assert_int_equal(cutune_open(in_dir("text"), &c), CUTUNE_ERR_INVALID);
    assert_true(*cutune_error());
    put_file("empty", "", 0);
    assert_int_equal(cutune_open(in_dir("empty"), &c), CUTUNE_ERR_NOTFOUND);
    assert_says("empty");
    meddle("foreign.db", "CREATE TABLE t (x)");
    assert_int_equal(cutune_open(in_dir("foreign.db"), &c), CUTUNE_ERR_INVALID);
    assert_says("another program's database");
    meddle("a.db", "PRAGMA user_version = 99");
    assert_int_equal(cutune_open(in_dir("a.db"), &c), CUTUNE_ERR_INVALID);
    assert_says("of a newer cutune");
    assert_null(c);
}

/* As somebody who may read it only: root may write everywhere. */
static void reads_what_it_may_not_write(void **state)
{
    (void)state;
    char path[PATH_ROOM];
    assert_int_equal(chmod(keep(path, "a.db"), 0444) | chmod(sample_dir, 0555), 0);
    pid_t child = fork();
    if (child == 0) {
        cutune *c = NULL;
        const cutune_options o = { .size = sizeof o, .path = path, .capture = 1 };
        const cutune_kernel *k = NULL;
        cutune_handle *h = NULL;
        if (getuid() == 0 && setuid(65534))
            _exit(1);
        if (cutune_open_with(&o, &c) || attach_null(c, 0, &h) || try_find(h, 1111, 113, &k) || try_find(h, 64, 64, &k))
            _exit(2);
        if (cutune_flush(c) != CUTUNE_ERR_IO || !strstr(cutune_error(), "a.db"))
            _exit(3);
        cutune_close(c);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chmod(sample_dir, 0700), 0);
    assert_int_equal(status, 0);
}

/* ---- the cache */

/* Beside them lie the answers that were kept. */
static bool is_code(const struct dirent *e)
{
    return *e->d_name != '.' && !strstr(e->d_name, ".answers");
}

static int codes_in(const char *name)
{
    DIR *d = opendir(in_dir(name));
    int n = 0;
    if (!d)
        return 0;
    for (struct dirent *e; (e = readdir(d));)
        n += is_code(e);
    closedir(d);
    return n;
}

/* Whether the first launch of 64 x 64, whose binary is for another architecture, had to compile. */
static bool compiles(const char *cache)
{
    struct said said = { 0 };
    void *const buffers[] = { (void *)0x10000000, (void *)0x20000000 };
    cutune *c = open_pretend((cutune_options){ .cache = cache, .log = note, .log_arg = &said });
    if (cutune_launch(find(attached(c), 64, 64), NULL, buffers, 2))
        fail_msg("%s", cutune_error());
    cutune_close(c);
    assert_true(!said.lines || strstr(said.last, "compiled a kernel"));
    return said.lines;
}

static void keeps_what_it_compiled(void **state)
{
    (void)state;
    char cache[PATH_ROOM], file[PATH_ROOM + 300];
    tune("a.db", (struct recipe){ .m = 64, .n = 64, .arch = "null2" });
    keep(cache, "some/where");
    assert_true(compiles(""));
    assert_true(compiles(cache));
    assert_int_equal(codes_in("some/where"), 1);
    assert_false(compiles(cache));
    DIR *d = opendir(cache);
    struct dirent *e;
    while ((e = readdir(d)) && !is_code(e))
        continue;
    assert_non_null(e);
    snprintf(file, sizeof file, "%s/%s", cache, e->d_name);
    closedir(d);
    static const int cuts[] = { 0, 10, 32, 33, 40 };
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        assert_int_equal(truncate(file, cuts[i]), 0);
        assert_true(compiles(cache));
        assert_false(compiles(cache)); /* and it is whole again */
    }
    FILE *f = fopen(file, "r+");
    assert_non_null(f);
    fseek(f, -1, SEEK_END);
    fputc('#', f);
    fclose(f);
    assert_true(compiles(cache));
    assert_false(compiles(cache));
    assert_int_equal(codes_in("some/where"), 1);
}

static void does_without_a_cache(void **state)
{
    (void)state;
    char cache[PATH_ROOM];
    tune("a.db", (struct recipe){ .m = 64, .n = 64, .arch = "null2" });
    put_file("file", "x", 1);
    assert_true(compiles(keep(cache, "file"))); /* not a folder */
    assert_true(compiles(keep(cache, "file")));
    assert_true(compiles("/proc/nowhere"));
    assert_true(compiles(NULL)); /* in XDG_CACHE_HOME */
    assert_int_equal(codes_in("caches/cutune"), 1);
    assert_false(compiles(NULL));
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", sample_dir, 1);
    assert_true(compiles(NULL));
    assert_int_equal(codes_in(".cache/cutune"), 1);
    unsetenv("HOME");
    assert_true(compiles(NULL));
}

static void tells_why_it_does_not_compile(void **state)
{
    (void)state;
    void *const buffers[] = { (void *)0x10000000, (void *)0x20000000 };
    tune("a.db", (struct recipe){ .m = 64, .n = 64, .arch = "null2", .source = "//null: compile-error\nvoid transpose() finish" });
    tune("a.db", (struct recipe){ .m = 64, .n = 65, .source = "void transpose() { /* its second kernel is not there */ }" });
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    assert_int_equal(cutune_launch(find(h, 64, 64), NULL, buffers, 2), CUTUNE_ERR_UNSUPPORTED);
    assert_says("transpose tile TILE=32,GRID=xy,PAD=true,SCALE=0.5: its source does not compile here: kernel(1): error");
    assert_int_equal(cutune_launch(find(h, 64, 65), NULL, buffers, 2), CUTUNE_ERR_NOTFOUND);
    assert_says("there is no kernel 'finish'");
    cutune_close(c);
    meddle("a.db", "UPDATE code SET binary = x'00ff00', arch = 'null'"); /* no program: from source, then */
    struct said said = { 0 };
    c = open_pretend((cutune_options){ .cache = "", .log = note, .log_arg = &said });
    assert_int_equal(cutune_launch(find(attached(c), 1111, 113), NULL, buffers, 2), CUTUNE_OK);
    assert_true(said.lines >= 2);
    cutune_close(c);
}

#define with_places(test) cmocka_unit_test_setup_teardown(test, make_places, forget_places)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_places(looks_for_the_database), with_places(looks_for_the_tables),        with_places(stays_where_it_was_opened),
        with_places(does_without_a_home),    with_places(refuses_what_is_no_database), with_places(reads_what_it_may_not_write),
        with_places(keeps_what_it_compiled), with_places(does_without_a_cache),        with_places(tells_why_it_does_not_compile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
