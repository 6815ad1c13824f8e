/* The store: what goes in comes out, whoever else holds the file; and a file from anywhere gives a line, never a crash. */
#include "store_sample.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

static struct store *open_at(const char *name, enum store_mode mode)
{
    struct store *s;
    struct err err = { 0 };
    if (store_open(in_dir(name), mode, &s, &err))
        fail_msg("%s", err.msg);
    return s;
}

/* Runs SQL on the file as another program would: no constraints hold it back. */
static void meddle(const char *name, const char *sql)
{
    sqlite3 *db;
    char *said = NULL;
    assert_int_equal(sqlite3_open(in_dir(name), &db), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA ignore_check_constraints = 1; PRAGMA foreign_keys = 0", NULL, NULL, NULL);
    if (sqlite3_exec(db, sql, NULL, NULL, &said))
        fail_msg("%s: %s", sql, said);
    sqlite3_close(db);
}

static int64_t ask_number(const char *name, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_open(in_dir(name), &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int64_t v = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return v;
}

static void put_file(const char *name, const void *bytes, size_t n)
{
    FILE *f = fopen(in_dir(name), "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

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

static int find(struct store *s, const char *problem, struct tuned **out, struct err *err)
{
    struct devspec dev = sample_device();
    return store_find_winner(s, &dev, "transpose", "f32", problem, out, err);
}

/* ---- opening ---- */

static void opens(void **state)
{
    (void)state;
    store_close(open_at("new.db", STORE_WRITE));
    assert_int_equal(ask_number("new.db", "PRAGMA user_version"), 1);
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
    refuse(strcpy(path, in_dir("empty.db")), STORE_READ, ERR_INVALID, "empty");
    put_file("text.db", "this is some text, and no database at all. It is longer than the header of one, which has a hundred bytes.", 105);
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
    meddle("new.db", "PRAGMA user_version = 2");
    refuse(path, STORE_READ, ERR_INVALID, "newer");
    refuse(path, STORE_WRITE, ERR_INVALID, "newer");
    meddle("new.db", "PRAGMA user_version = 0");
    refuse(path, STORE_WRITE, ERR_CORRUPT, "no version");
}

static void survives_damage(void **state)
{
    (void)state;
    char path[256];
    struct store *s = open_at("whole.db", STORE_WRITE);
    sample_winner(s, 1111, 113);
    sample_defaults(s);
    store_close(s);
    struct buf whole = { 0 };
    assert_int_equal(file_read(in_dir("whole.db"), 1 << 24, &whole, NULL), 0);

    put_file("cut.db", whole.data, whole.len / 2);
    refuse(strcpy(path, in_dir("cut.db")), STORE_READ, ERR_CORRUPT, "damaged");
    refuse(strcpy(path, in_dir("cut.db")), STORE_WRITE, ERR_CORRUPT, "damaged");

    /* Bytes turned over all along it: an answer or a line, each time. */
    int lines = 0;
    for (uint64_t round = 0; round < 400; round++) {
        struct err err = { 0 };
        struct tuned *t = NULL, **all = NULL;
        int n = 0, rc;
        size_t at = rand_at(round, 0) % whole.len, bytes = 1 + rand_at(round, 1) % 64;
        put_file("bad.db", whole.data, whole.len);
        int fd = open(in_dir("bad.db"), O_WRONLY);
        for (size_t i = 0; i < bytes && at + i < whole.len; i++) {
            unsigned char byte = (unsigned char)rand_at(round, 2 + i);
            assert_int_equal(pwrite(fd, &byte, 1, (off_t)(at + i)), 1);
        }
        close(fd);
        rc = store_open(in_dir("bad.db"), STORE_READ, &s, &err);
        if (!rc) {
            rc = find(s, "m=1111,n=113", &t, &err);
            tuned_free(t);
            if (!rc)
                rc = store_find_defaults(s, "cuda", "transpose", "f32", &all, &n, &err);
            for (int i = 0; all && i < n; i++)
                tuned_free(all[i]);
            mem_free(all);
            store_close(s);
        }
        lines += rc != 0;
        if (rc)
            assert_true(*err.msg);
    }
    assert_true(lines > 10); /* the rounds did hit something */
    buf_free(&whole);
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
    if (store_open(kept_path, STORE_READ, &s, &err) || find(s, "m=5,n=6", &t, &err)) {
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

/* ---- measurements ---- */

struct seen {
    int n;
    char keys[8][HASH_HEX];
    struct result last;
    double samples[8];
};

static int see(void *arg, const struct measured *m)
{
    struct seen *seen = arg;
    assert_string_equal(m->variant, "tile");
    strcpy(seen->keys[seen->n++], m->key);
    seen->last = m->result;
    for (int i = 0; i < m->result.nsamples; i++)
        seen->samples[i] = m->result.samples[i];
    return 0;
}

static int stop(void *arg, const struct measured *m)
{
    (void)m;
    return ++*(int *)arg == 2 ? 77 : 0;
}

static struct measured measurement(char digit, const char *config)
{
    struct measured m = { .variant = "tile", .config = config };
    memset(m.key, digit, HASH_HEX - 1);
    m.result.resources = (struct resources){ -1, -1, -1, -1 };
    return m;
}

static void keeps_measurements(void **state)
{
    (void)state;
    struct store *s = open_at("m.db", STORE_WRITE);
    struct devspec dev = sample_device();
    struct problem p = { { 1111, 113 } };
    struct target cold, warm, again;
    assert_int_equal(store_target(s, &dev, sample_op(), &p, 1, true, &cold, NULL), 0);
    assert_int_equal(store_target(s, &dev, sample_op(), &p, 1, false, &warm, NULL), 0);
    strcpy(dev.uuid, "GPU-2"); /* another card of the kind shares the records */
    assert_int_equal(store_target(s, &dev, sample_op(), &p, 1, true, &again, NULL), 0);
    assert_true(again.device == cold.device && again.problem == cold.problem && again.provenance != cold.provenance);

    struct measured a = measurement('a', "TILE=8"), b = measurement('b', "TILE=64");
    double samples[] = { 3.5, 2.25, 1e9 };
    a.result.outcome = OUT_COMPILE_ERROR;
    strcpy(a.result.reason, "t.cu:3: \x1b[1mno such thing\there");
    b.result = (struct result){ .outcome = OUT_OK, .nsamples = 3, .samples = samples, .compile_ms = 23.5,
                                .resources = { 40, 4224, 8, 1024 }, .sm_mhz = 1980, .mem_mhz = 3201 };
    assert_int_equal(stats_of(samples, 3, &b.result.stats, NULL), 0);
    assert_int_equal(store_measured(s, &cold, &a, NULL) | store_measured(s, &cold, &b, NULL), 0);
    assert_int_equal(store_measured(s, &warm, &b, NULL), 0);

    struct seen seen = { 0 };
    assert_int_equal(store_each_measured(s, &cold, see, &seen, NULL), 0);
    assert_int_equal(seen.n, 2);
    assert_string_equal(seen.keys[0], a.key);
    assert_string_equal(seen.keys[1], b.key);
    assert_int_equal(seen.last.nsamples, 3);
    assert_memory_equal(seen.samples, samples, sizeof samples);
    assert_memory_equal(&seen.last.stats, &b.result.stats, sizeof(struct stats));
    assert_int_equal(seen.last.resources.registers, 40);
    assert_int_equal(seen.last.sm_mhz, 1980);
    assert_true(seen.last.compile_ms == 23.5);

    a.result.outcome = OUT_TIMEOUT; /* stored again: replaced, in its old place */
    assert_int_equal(store_measured(s, &cold, &a, NULL), 0);
    memset(&seen, 0, sizeof seen);
    assert_int_equal(store_each_measured(s, &cold, see, &seen, NULL), 0);
    assert_int_equal(seen.n, 2);
    assert_string_equal(seen.keys[0], a.key);
    int count = 0;
    assert_int_equal(store_each_measured(s, &cold, stop, &count, NULL), 77);

    assert_int_equal(store_forget(s, &cold, NULL), 0);
    memset(&seen, 0, sizeof seen);
    assert_int_equal(store_each_measured(s, &cold, see, &seen, NULL), 0);
    assert_int_equal(seen.n, 0);
    assert_int_equal(store_each_measured(s, &warm, see, &seen, NULL), 0);
    assert_int_equal(seen.n, 1);

    struct err err = { 0 };
    a.result.resources.registers = -7; /* out of range: refused, and nothing is left half done */
    assert_int_equal(store_measured(s, &cold, &a, &err), ERR_INVALID);
    assert_non_null(strstr(err.msg, "not stored"));
    a.result.resources.registers = 7;
    assert_int_equal(store_measured(s, &cold, &a, NULL), 0);
    store_close(s);
}

/* Killed in the middle: what had been stored is there. */
static void outlives_kill(void **state)
{
    (void)state;
    int pipe_ends[2];
    assert_int_equal(pipe(pipe_ends), 0);
    store_close(open_at("k.db", STORE_WRITE));
    pid_t child = fork();
    if (!child) {
        struct store *s = open_at("k.db", STORE_WRITE);
        for (int64_t i = 1;; i++) {
            sample_winner(s, i, i);
            if (write(pipe_ends[1], "x", 1) != 1)
                _exit(1);
        }
    }
    char done[20];
    for (size_t n = 0; n < sizeof done;)
        n += (size_t)read(pipe_ends[0], done, sizeof done - n);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    struct store *s = open_at("k.db", STORE_READ);
    for (int i = 1; i <= 20; i++) {
        char problem[32];
        struct tuned *t;
        struct err err = { 0 };
        snprintf(problem, sizeof problem, "m=%d,n=%d", i, i);
        if (find(s, problem, &t, &err))
            fail_msg("%s", err.msg);
        tuned_free(t);
    }
    store_close(s);
}

/* ---- kernels ---- */

static void same_text(const char *a, const char *b)
{
    if (a && b)
        assert_string_equal(a, b);
    else
        assert_true(a == b);
}

static void same_tuned(const struct tuned *a, const struct tuned *b)
{
    assert_string_equal(a->key, b->key);
    assert_string_equal(a->variant, b->variant);
    assert_string_equal(a->config, b->config);
    assert_int_equal(a->nparams, b->nparams);
    for (int i = 0; i < a->nparams; i++) {
        assert_string_equal(a->params[i].name, b->params[i].name);
        assert_int_equal(a->params[i].value.type, b->params[i].value.type);
        assert_true(val_eq(a->params[i].value, b->params[i].value));
    }
    assert_true(a->time_ns == b->time_ns && a->copy_ns == b->copy_ns);
    assert_string_equal(a->source, b->source);
    assert_int_equal(a->binary_bytes, b->binary_bytes);
    if (a->binary)
        assert_memory_equal(a->binary, b->binary, a->binary_bytes);
    same_text(a->format, b->format);
    same_text(a->arch, b->arch);
    same_text(a->compiler, b->compiler);
    same_text(a->requires.backend, b->requires.backend);
    assert_int_equal(a->requires.cc, b->requires.cc);
    assert_int_equal(a->nlaunches, b->nlaunches);
    for (int i = 0; i < a->nlaunches; i++) {
        const struct tuned_launch *x = &a->launches[i], *y = &b->launches[i];
        assert_string_equal(x->kernel, y->kernel);
        for (int d = 0; d < 3; d++) {
            same_text(x->grid[d], y->grid[d]);
            same_text(x->block[d], y->block[d]);
        }
        same_text(x->shared, y->shared);
        assert_int_equal(x->nargs, y->nargs);
        assert_memory_equal(x->args, y->args, (size_t)x->nargs * sizeof *x->args);
    }
    assert_int_equal(a->nwhere, b->nwhere);
    for (int i = 0; i < a->nwhere; i++)
        assert_string_equal(a->where[i], b->where[i]);
    assert_int_equal(a->nworkspaces, b->nworkspaces);
    for (int i = 0; i < a->nworkspaces; i++) {
        assert_string_equal(a->workspaces[i].name, b->workspaces[i].name);
        assert_string_equal(a->workspaces[i].type, b->workspaces[i].type);
        assert_string_equal(a->workspaces[i].count, b->workspaces[i].count);
        assert_int_equal(a->workspaces[i].clear, b->workspaces[i].clear);
    }
    assert_int_equal(a->nneeds, b->nneeds);
    for (int i = 0; i < a->nneeds; i++) {
        assert_int_equal(a->needs[i].kind, b->needs[i].kind);
        assert_int_equal(a->needs[i].arg, b->needs[i].arg);
        same_text(a->needs[i].bytes, b->needs[i].bytes);
    }
    assert_int_equal(a->nclear, b->nclear);
    assert_memory_equal(a->clear, b->clear, (size_t)a->nclear * sizeof *a->clear);
}

static void keeps_winners(void **state)
{
    (void)state;
    struct store *s = open_at("w.db", STORE_WRITE);
    struct target t = sample_winner(s, 1111, 113);
    struct config c = sample_config(2, 1);
    struct tuned *k = sample_tuned(&c, 800), *back;
    k->requires = (struct requires){ .backend = "cuda", .cc = 80 };
    assert_int_equal(store_winner(s, &t, k, NULL), 0); /* instead of the sample's */
    struct err err = { 0 };
    if (find(s, "m=1111,n=113", &back, &err))
        fail_msg("%s", err.msg);
    same_tuned(k, back);
    assert_int_equal(back->role, TUNED_WINNER);
    assert_int_equal(strlen(back->when), 20);
    tuned_free(back);

    k->binary = NULL; /* source only */
    k->binary_bytes = 0;
    k->format = k->arch = k->compiler = NULL;
    assert_int_equal(store_winner(s, &t, k, NULL), 0);
    assert_int_equal(find(s, "m=1111,n=113", &back, NULL), 0);
    same_tuned(k, back);
    tuned_free(back);
    tuned_free(k);
    assert_int_equal(ask_number("w.db", "SELECT count(*) FROM tuned"), 1);
    assert_int_equal(ask_number("w.db", "SELECT count(*) FROM code"), 1); /* nothing of the replaced */
    assert_int_equal(ask_number("w.db", "SELECT count(*) FROM tuned_param"), 4);

    assert_int_equal(find(s, "m=1111,n=114", &back, &err), ERR_NOTFOUND);
    struct devspec other = sample_device();
    other.multiprocessors = 114;
    assert_int_equal(store_find_winner(s, &other, "transpose", "f32", "m=1111,n=113", &back, &err), ERR_NOTFOUND);
    assert_int_equal(store_forget(s, &t, NULL), 0);
    assert_int_equal(find(s, "m=1111,n=113", &back, &err), ERR_NOTFOUND);
    assert_int_equal(ask_number("w.db", "SELECT count(*) FROM code"), 0);
    store_close(s);
}

static void prefers_cold_winners(void **state)
{
    (void)state;
    struct store *s = open_at("w.db", STORE_WRITE);
    struct devspec dev = sample_device();
    struct problem p = { { 7, 8 } };
    struct target warm;
    assert_int_equal(store_target(s, &dev, sample_op(), &p, 0, false, &warm, NULL), 0);
    struct config c = sample_config(0, 1);
    struct tuned *k = sample_tuned(&c, 10), *back;
    assert_int_equal(store_winner(s, &warm, k, NULL), 0);
    assert_int_equal(find(s, "m=7,n=8", &back, NULL), 0);
    assert_true(back->time_ns == 10);
    tuned_free(back);
    sample_winner(s, 7, 8);
    assert_int_equal(find(s, "m=7,n=8", &back, NULL), 0);
    assert_true(back->time_ns == 1000);
    tuned_free(back);
    tuned_free(k);
    store_close(s);
}

static void keeps_defaults(void **state)
{
    (void)state;
    struct store *s = open_at("d.db", STORE_WRITE);
    struct tuned **all;
    int n;
    sample_defaults(s);
    sample_defaults(s); /* replaced, not doubled */
    assert_int_equal(store_find_defaults(s, "cuda", "transpose", "f32", &all, &n, NULL), 0);
    assert_int_equal(n, 2);
    for (int i = 0; i < n; i++) {
        struct config c = sample_config(0, i);
        struct tuned *k = sample_tuned(&c, 0);
        same_tuned(k, all[i]);
        assert_int_equal(all[i]->role, TUNED_DEFAULT);
        assert_int_equal(all[i]->rank, i);
        tuned_free(k);
        tuned_free(all[i]);
    }
    mem_free(all);
    assert_int_equal(store_find_defaults(s, "opencl", "transpose", "f32", &all, &n, NULL), 0);
    assert_int_equal(n, 0);
    mem_free(all);

    struct op shorter = *sample_op(); /* a list that became shorter leaves nothing behind it */
    struct config c = sample_config(0, 1);
    struct tuned *k = sample_tuned(&c, 0);
    struct devspec dev = sample_device();
    shorter.ndefaults = 1;
    assert_int_equal(store_default(s, &dev, &shorter, 0, k, NULL), 0);
    assert_int_equal(ask_number("d.db", "SELECT count(*) FROM tuned"), 1);
    tuned_free(k);
    store_close(s);
}

/* ---- ops ---- */

static void keeps_ops(void **state)
{
    (void)state;
    struct store *s = open_at("o.db", STORE_WRITE);
    struct err err = { 0 };
    struct op *op;
    assert_int_equal(store_op(s, "transpose", &op, &err), ERR_NOTFOUND);
    sample_defaults(s);
    if (store_op(s, "transpose", &op, &err))
        fail_msg("%s", err.msg);
    const struct op *was = sample_op();
    assert_int_equal(op->naxes, was->naxes);
    assert_string_equal(op->axes[1].name, "n");
    assert_int_equal(op->nrows, 2);
    assert_ptr_equal(op->rows[1], was->rows[1]);
    assert_int_equal(op->nargs, was->nargs);
    assert_string_equal(op->args[0].extent[1], "m");
    assert_int_equal(op->args[0].rank, 2);
    assert_string_equal(op->args[2].value, "m");
    assert_string_equal(op->args[2].type, "i64");
    assert_string_equal(op->work_bytes, was->work_bytes);
    assert_null(op->work_flops);
    op_free(op);
    store_close(s);
}

static int count_stale(void *arg, const struct listed *l)
{
    *(int *)arg += l->stale;
    return 0;
}

static void marks_what_a_change_made_stale(void **state)
{
    (void)state;
    struct store *s = open_at("s.db", STORE_WRITE);
    struct devspec dev = sample_device();
    struct problem p = { { 1111, 113 } };
    struct target t;
    struct tuned *back;
    struct op *read, changed = *sample_op(), wider = changed;
    struct arg args[4];
    const struct dtype *rows[3] = { dtype_find("f32"), dtype_find("i32"), dtype_find("f64") };
    int stale = 0;
    sample_winner(s, 1111, 113);

    wider.rows = rows; /* one type more: nothing becomes stale */
    wider.nrows = 3;
    assert_int_equal(store_target(s, &dev, &wider, &p, 2, true, &t, NULL), 0);
    assert_int_equal(find(s, "m=1111,n=113", &back, NULL), 0);
    tuned_free(back);
    assert_int_equal(store_op(s, "transpose", &read, NULL), 0);
    assert_int_equal(read->nrows, 3);
    op_free(read);

    memcpy(args, changed.args, sizeof args); /* arguments in another order */
    args[0] = changed.args[1];
    args[1] = changed.args[0];
    changed.args = args;
    assert_int_equal(store_target(s, &dev, &changed, &p, 0, true, &t, NULL), 0);
    assert_int_equal(find(s, "m=1111,n=113", &back, NULL), ERR_NOTFOUND);
    assert_int_equal(store_each_winner(s, count_stale, &stale, NULL), 0);
    assert_int_equal(stale, 1);
    assert_int_equal(store_op(s, "transpose", &read, NULL), 0);
    assert_string_equal(read->args[0].name, "in");
    op_free(read);

    assert_int_equal(store_target(s, &dev, sample_op(), &p, 0, true, &t, NULL), 0); /* changed back */
    assert_int_equal(find(s, "m=1111,n=113", &back, NULL), 0);
    tuned_free(back);
    store_close(s);
}

static int check_listed(void *arg, const struct listed *l)
{
    ++*(int *)arg;
    assert_string_equal(l->device, "NVIDIA H200");
    assert_string_equal(l->op, "transpose");
    assert_string_equal(l->types, "f32");
    assert_string_equal(l->problem, "m=1111,n=113");
    assert_string_equal(l->config, "TILE=8,GRID=xy,PAD=true,SCALE=0.5");
    assert_string_equal(l->cache, "cold");
    assert_string_equal(l->driver, "580.1");
    assert_true(l->time_ns == 1000 && l->copy_ns == 500 && l->bytes == 2. * 1111 * 113 * 4 && l->flops == 0);
    assert_int_equal(l->nparams, 4);
    assert_string_equal(l->params[1].value.s, "xy");
    assert_int_equal(l->samples, 3);
    assert_int_equal(l->measured, 2);
    assert_int_equal(l->ok, 1);
    assert_false(l->stale);
    return 0;
}

static void lists_winners(void **state)
{
    (void)state;
    struct store *s = open_at("l.db", STORE_WRITE);
    struct target t = sample_winner(s, 1111, 113);
    struct measured bad = measurement('f', "TILE=64");
    bad.result.outcome = OUT_WRONG;
    assert_int_equal(store_measured(s, &t, &bad, NULL), 0);
    int n = 0;
    assert_int_equal(store_each_winner(s, check_listed, &n, NULL), 0);
    assert_int_equal(n, 1);
    store_close(s);
}

/* ---- a file from anywhere ---- */

static int ignore_measured(void *arg, const struct measured *m)
{
    (void)arg;
    (void)m;
    return 0;
}

static int ignore_listed(void *arg, const struct listed *l)
{
    (void)arg;
    (void)l;
    return 0;
}

/* What reading everything gives: 0, or the first code with its line in err. */
static int read_all(struct store *s, const struct target *t, struct err *err)
{
    struct tuned *winner = NULL, **defaults = NULL;
    struct op *op = NULL;
    int n = 0, rc = find(s, "m=1111,n=113", &winner, err);
    tuned_free(winner);
    if (!rc)
        rc = store_find_defaults(s, "cuda", "transpose", "f32", &defaults, &n, err);
    for (int i = 0; defaults && i < n; i++)
        tuned_free(defaults[i]);
    mem_free(defaults);
    if (!rc)
        rc = store_op(s, "transpose", &op, err);
    if (!rc)
        op_free(op);
    if (!rc)
        rc = store_each_measured(s, t, ignore_measured, NULL, err);
    return rc ? rc : store_each_winner(s, ignore_listed, NULL, err);
}

static void reads_hostile_values(void **state)
{
    (void)state;
    static const char *const attacks[] = {
        "UPDATE tuned SET variant = x'00ff'",
        "UPDATE tuned SET variant = 'a b'",
        "UPDATE tuned SET variant = CAST(x'7469006c65' AS TEXT)",
        "UPDATE tuned SET config = x'37'",
        "UPDATE tuned SET config = CAST(zeroblob(70000) AS TEXT)",
        "UPDATE tuned SET config = char(27) || '[2J'",
        "UPDATE tuned SET key = 'short'",
        "UPDATE tuned SET key = replace(hex(zeroblob(16)), '0', 'z')",
        "UPDATE tuned SET time_ns = 'fast'",
        "UPDATE tuned SET time_ns = -1.0",
        "UPDATE tuned SET time_ns = 9e999",
        "UPDATE tuned SET role = 'boss'",
        "UPDATE tuned SET rank = 1000000 WHERE role = 'default'",
        "UPDATE tuned SET requires_cc = 99999999999",
        "UPDATE tuned SET requires_grid_order = 2",
        "UPDATE tuned SET requires_backend = x'00'",
        "UPDATE tuned SET created = 5",
        "UPDATE tuned SET code = 99",
        "UPDATE code SET source = zeroblob(8)",
        "UPDATE code SET source = printf('%.*c', 17000000, 'a')",
        "UPDATE code SET binary = 'text'",
        "UPDATE code SET format = 'exe'",
        "DELETE FROM tuned_launch",
        "UPDATE tuned_launch SET place = place + 1 WHERE place = 1",
        "UPDATE tuned_launch SET kernel = '9lives'",
        "UPDATE tuned_launch SET grid_x = x'31'",
        "UPDATE tuned_launch SET shared = x'33'",
        "UPDATE tuned_launch_arg SET arg = 5 WHERE place = 0",
        "UPDATE tuned_launch_arg SET arg = -1 WHERE place = 0",
        "UPDATE tuned_launch_arg SET launch = 4 WHERE launch = 1",
        "UPDATE tuned_launch_arg SET place = 7 WHERE place = 4",
        "DELETE FROM tuned_launch_arg WHERE place = 0",
        "UPDATE tuned_param SET type = 'quaternion'",
        "UPDATE tuned_param SET value = 'x' WHERE type = 'int'",
        "UPDATE tuned_param SET value = 2 WHERE type = 'bool'",
        "UPDATE tuned_param SET value = x'00' WHERE type = 'string'",
        "UPDATE tuned_param SET name = ''",
        "WITH RECURSIVE c(i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM c WHERE i < 99) "
        "INSERT INTO tuned_param SELECT tuned.id, i, 'p', 'int', 1 FROM c, tuned",
        "UPDATE tuned_where SET text = x'37'",
        "UPDATE tuned_workspace SET clear = 9",
        "UPDATE tuned_workspace SET count = x'00'",
        "UPDATE tuned_need SET kind = 'luck'",
        "UPDATE tuned_need SET arg = 4",
        "UPDATE tuned_need SET bytes = x'00' WHERE kind = 'align'",
        "UPDATE tuned_clear SET arg = -1",
        "UPDATE op_axis SET kind = 'soup'",
        "UPDATE op_axis SET name = 'm'",
        "UPDATE op_axis SET place = 9 WHERE place = 1",
        "DELETE FROM op_axis",
        "DELETE FROM op_type",
        "UPDATE op_binding SET dtype = 'f33'",
        "DELETE FROM op_binding WHERE line = 0",
        "DELETE FROM op_binding",
        "UPDATE op_arg SET type = 'U'",
        "UPDATE op_arg SET value = 'm +' WHERE kind = 'value'",
        "UPDATE op_arg SET value = 'secret' WHERE kind = 'value'",
        "UPDATE op_arg SET kind = 'value'",
        "DELETE FROM op_arg",
        "UPDATE op_extent SET arg = 77 WHERE arg = 1",
        "UPDATE op_extent SET extent = x'6d'",
        "UPDATE op SET work_bytes = '('",
        "UPDATE measurement SET samples = x'010203'",
        "UPDATE measurement SET samples = x'ffffffffffffffff'",
        "UPDATE measurement SET samples = 'text'",
        "UPDATE measurement SET outcome = 'great'",
        "UPDATE measurement SET reason = printf('%.*c', 300, 'r')",
        "UPDATE measurement SET median = 'x'",
        "UPDATE measurement SET registers = 5000000000",
        "UPDATE measurement SET n = -1",
        "UPDATE problem SET bytes = 'x'",
        "UPDATE device SET arch = 'a' || char(10) || 'b'; UPDATE tuned SET device = device",
        "UPDATE provenance SET driver = x'00'",
        "DROP TABLE code",
        "DROP TABLE tuned_launch; CREATE VIEW tuned_launch AS SELECT 1 AS tuned",
        "DROP TABLE measurement",
        "ALTER TABLE op_arg RENAME COLUMN kind TO sort",
    };
    struct store *s = open_at("good.db", STORE_WRITE);
    struct target t = sample_winner(s, 1111, 113);
    struct buf good = { 0 };
    struct err err = { 0 };
    sample_defaults(s);
    if (read_all(s, &t, &err))
        fail_msg("%s", err.msg);
    store_close(s);
    assert_int_equal(file_read(in_dir("good.db"), 1 << 24, &good, NULL), 0);
    int failed = 0;
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        put_file("hostile.db", good.data, good.len);
        meddle("hostile.db", attacks[i]);
        s = open_at("hostile.db", STORE_READ);
        memset(&err, 0, sizeof err);
        int rc = read_all(s, &t, &err);
        bool away = strstr(attacks[i], "device SET arch"); /* then the winner is another device's */
        if (rc != (away ? ERR_NOTFOUND : ERR_CORRUPT) || strncmp(err.msg, in_dir("hostile.db"), strlen(sample_path)) != 0)
            print_error("%s: %d %s\n", attacks[i], rc, err.msg), failed++;
        store_close(s);
    }
    buf_free(&good);
    assert_int_equal(failed, 0);
}

/* ---- no memory ---- */

static int write_all(const char *path, struct err *err)
{
    struct store *s;
    struct devspec dev = sample_device();
    struct problem p = { { 1111, 113 } };
    struct config c = sample_config(0, 0);
    struct target t;
    struct tuned *k = NULL;
    double samples[] = { 1, 2, 3 };
    struct measured m = measurement('a', "TILE=8");
    m.result.nsamples = 3;
    m.result.samples = samples;
    int rc = store_open(path, STORE_WRITE, &s, err);
    if (rc)
        return rc;
    if (!(rc = store_target(s, &dev, sample_op(), &p, 0, true, &t, err)) && !(rc = store_measured(s, &t, &m, err)) &&
        !(rc = tuned_of(sample_op(), &c, &k, err))) {
        hash_hex("", 0, k->key);
        k->source = "source";
        if (!(rc = store_winner(s, &t, k, err)) && !(rc = store_default(s, &dev, sample_op(), 0, k, err)))
            rc = read_all(s, &t, err);
    }
    tuned_free(k);
    store_close(s);
    return rc;
}

static void survives_failed_allocations(void **state)
{
    (void)state;
    char path[256];
    strcpy(path, in_dir("memory.db"));
    int rc = ERR_NOMEM;
    long n = 0;
    while (rc) {
        struct err err = { 0 };
        mem_fail_at(n++);
        rc = write_all(path, &err);
        mem_fail_at(-1);
        if (rc && rc != ERR_NOMEM)
            fail_msg("allocation %ld: %d %s", n, rc, err.msg);
    }
    assert_true(n > 50);
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

#define in_folder(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_folder(opens),
        in_folder(every_column_is_explained),
        in_folder(refuses_what_is_not_its_own),
        in_folder(refuses_versions_it_does_not_know),
        in_folder(survives_damage),
        in_folder(keeps_to_permissions),
        in_folder(keeps_measurements),
        in_folder(outlives_kill),
        in_folder(keeps_winners),
        in_folder(prefers_cold_winners),
        in_folder(keeps_defaults),
        in_folder(keeps_ops),
        in_folder(marks_what_a_change_made_stale),
        in_folder(lists_winners),
        in_folder(reads_hostile_values),
        in_folder(survives_failed_allocations),
        in_folder(knows_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
