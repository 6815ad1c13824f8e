/* The store's answers to libcutune: winners and times of an op, whether something changed, and read-only tables. */
#include "store_sample.h"

#include <dirent.h>

/* ---- winners of an op ---- */

struct seen {
    int n;
    int64_t id, device;
    double times[8];
    char texts[8][160];
};

static int see_winner(void *arg, const struct winner *w)
{
    struct seen *seen = arg;
    struct devspec dev = sample_device();
    assert_string_equal(w->dev.backend, dev.backend);
    assert_string_equal(w->dev.arch, dev.arch);
    assert_int_equal(w->dev.memory, dev.memory);
    assert_true(w->bytes > 0 && w->flops == 0);
    seen->id = w->id;
    seen->device = w->device;
    seen->times[seen->n] = w->time_ns;
    snprintf(seen->texts[seen->n++], sizeof seen->texts[0], "%d %s %s %s %s", w->dev.multiprocessors, w->types, w->sizes,
             w->variant, w->json);
    return 0;
}

static struct seen winners_of(struct store *s, const char *op)
{
    struct seen seen = { 0 };
    struct err err = { 0 };
    if (store_each_winner_of(s, op, NULL, see_winner, &seen, &err))
        fail_msg("%s", err.msg);
    return seen;
}

/* A target of (m, n), and a winner of TILE=tiles[tile] there. */
static struct target winner_for(struct store *s, const struct devspec *dev, int64_t m, int64_t n, int row, bool cold, int tile,
                                double time_ns)
{
    struct problem p = { { m, n } };
    struct config c = sample_config(tile, 0);
    struct target t;
    struct tuned *k = sample_tuned(&c, time_ns);
    assert_int_equal(store_target(s, dev, sample_op(), &p, row, cold, &t, NULL), 0);
    assert_int_equal(store_winner(s, &t, k, NULL), 0);
    tuned_free(k);
    return t;
}

static void gives_winners_of_an_op(void **state)
{
    (void)state;
    struct store *s = open_at("w.db", STORE_WRITE);
    struct devspec here = sample_device(), there = here;
    there.multiprocessors = 114;
    assert_int_equal(winners_of(s, "transpose").n, 0);
    winner_for(s, &here, 5, 6, 0, true, 1, 100);
    winner_for(s, &here, 5, 6, 0, false, 0, 50); /* warm: hidden by the cold one */
    winner_for(s, &here, 7, 8, 1, false, 0, 70); /* warm alone */
    winner_for(s, &there, 5, 6, 0, true, 2, 300);
    struct seen seen = winners_of(s, "transpose");
    assert_int_equal(seen.n, 3);
    assert_string_equal(seen.texts[0], "132 f32 m=5,n=6 tile {\"TILE\":8,\"GRID\":\"xy\",\"PAD\":true,\"SCALE\":0.5}");
    assert_string_equal(seen.texts[1], "132 i32 m=7,n=8 tile {\"TILE\":32,\"GRID\":\"xy\",\"PAD\":true,\"SCALE\":0.5}");
    assert_string_equal(seen.texts[2], "114 f32 m=5,n=6 tile {\"TILE\":64,\"GRID\":\"xy\",\"PAD\":true,\"SCALE\":0.5}");
    assert_true(seen.times[0] == 100 && seen.times[1] == 70 && seen.times[2] == 300);
    assert_int_equal(winners_of(s, "dot").n, 0);

    struct tuned *t;
    struct err err = { 0 };
    assert_int_equal(store_tuned(s, seen.id, &t, &err), 0);
    assert_true(t->time_ns == 300);
    assert_string_equal(t->config, "TILE=64,GRID=xy,PAD=true,SCALE=0.5");
    tuned_free(t);
    assert_int_equal(store_tuned(s, 999, &t, &err), ERR_NOTFOUND);
    assert_non_null(strstr(err.msg, "999"));

    meddle("w.db", "UPDATE op SET current = 0");
    assert_int_equal(winners_of(s, "transpose").n, 0); /* stale */
    store_close(s);
}

static void serves_what_is_verified(void **state)
{
    (void)state;
    struct store *s = open_at("v.db", STORE_WRITE);
    struct devspec here = sample_device();
    struct target t = winner_for(s, &here, 5, 6, 0, true, 1, 100);
    struct config c = sample_config(0, 1);
    struct tuned *k = sample_tuned(&c, 40), *back;
    struct kept_winner kept;
    struct buf config = { 0 };
    winner_for(s, &here, 5, 6, 0, false, 2, 60);
    k->portable = ".version 8.0\n";
    assert_int_equal(store_winner(s, &t, k, NULL), 0);
    assert_int_equal(find_winner(s, "m=5,n=6", &back, NULL), 0);
    assert_string_equal(back->portable, ".version 8.0\n");
    assert_false(back->unverified);
    tuned_free(back);
    assert_int_equal(ask_number("v.db", "SELECT count(*) FROM code"), 2);
    k->portable = ".version 7.0\n"; /* other code, by this alone */
    assert_int_equal(store_winner(s, &t, k, NULL), 0);
    assert_int_equal(find_winner(s, "m=5,n=6", &back, NULL), 0);
    assert_string_equal(back->portable, ".version 7.0\n");
    tuned_free(back);

    k->alone = true;
    assert_int_equal(store_winner(s, &t, k, NULL), 0);
    assert_int_equal(find_winner(s, "m=5,n=6", &back, NULL), 0);
    assert_true(back->alone && !back->unverified && back->time_ns == 40);
    tuned_free(back);
    assert_int_equal(store_kept_winner(s, &t, &kept, &config, NULL), 0);
    assert_true(kept.alone);
    assert_int_equal(strncmp(buf_text(&config), "variant=tile,TILE=32,", 21), 0);
    buf_free(&config);
    k->unverified = true; /* instead of the verified one: the warm one is what is left */
    assert_int_equal(store_winner(s, &t, k, NULL), 0);
    assert_int_equal(find_winner(s, "m=5,n=6", &back, NULL), 0);
    assert_true(back->time_ns == 60);
    tuned_free(back);
    struct seen seen = winners_of(s, "transpose");
    assert_int_equal(seen.n, 1);
    assert_true(seen.times[0] == 60);
    assert_int_equal(store_kept_winner(s, &t, &kept, &config, NULL), ERR_NOTFOUND);
    tuned_free(k);
    store_close(s);
}

/* ---- times ---- */

static int see_time(void *arg, const struct timed *t)
{
    struct seen *seen = arg;
    seen->device = t->device;
    seen->times[seen->n] = t->median;
    snprintf(seen->texts[seen->n++], sizeof seen->texts[0], "%s %s %s %s", t->types, t->sizes, t->variant, t->json);
    return 0;
}

static struct seen times_of(struct store *s, const char *op)
{
    struct seen seen = { 0 };
    struct err err = { 0 };
    if (store_each_time(s, op, NULL, see_time, &seen, &err))
        fail_msg("%s", err.msg);
    return seen;
}

static void measure(struct store *s, const struct target *t, char digit, int tile, enum outcome outcome, double median)
{
    struct config c = sample_config(tile, 0);
    struct tuned *k = sample_tuned(&c, 0);
    struct measured m = measurement(digit, k->json);
    m.result.outcome = outcome;
    m.result.stats.median = median;
    assert_int_equal(store_measured(s, t, &m, NULL), 0);
    tuned_free(k);
}

static void gives_times_of_winners_configurations(void **state)
{
    (void)state;
    struct store *s = open_at("t.db", STORE_WRITE);
    struct devspec here = sample_device(), there = here;
    there.multiprocessors = 114;
    struct target a = winner_for(s, &here, 5, 6, 0, true, 1, 100);
    winner_for(s, &here, 5, 6, 0, false, 1, 100); /* does not make a's times warm ones */
    struct target b = winner_for(s, &here, 7, 8, 0, true, 0, 70);
    struct target w = winner_for(s, &here, 9, 9, 0, false, 0, 30); /* for a warm cache only */
    struct target far = winner_for(s, &there, 5, 6, 0, true, 1, 300), cold = w, warm = a;
    cold.cold = true;
    warm.cold = false;
    measure(s, &a, 'a', 1, OUT_OK, 100);
    measure(s, &a, 'b', 0, OUT_SLOWER, 170); /* b's winner, on a */
    measure(s, &a, 'c', 2, OUT_OK, 110);     /* nobody's */
    measure(s, &b, 'a', 1, OUT_WRONG, 60);
    measure(s, &b, 'b', 0, OUT_OK, 75);
    measure(s, &b, 'd', 0, OUT_OK, 70);    /* the same, from a source that has changed: comes later */
    measure(s, &warm, 'a', 1, OUT_OK, 11); /* a's winner is for a cold one */
    measure(s, &cold, 'b', 0, OUT_OK, 44);
    measure(s, &w, 'b', 0, OUT_OK, 30);
    measure(s, &far, 'b', 0, OUT_OK, 290); /* a winner's, but of another device */
    struct seen seen = times_of(s, "transpose");
    static const double expected[] = { 100, 170, 75, 70, 30 };
    assert_int_equal(seen.n, 5);
    assert_memory_equal(seen.times, expected, sizeof expected);
    assert_string_equal(seen.texts[1], "f32 m=5,n=6 tile {\"TILE\":32,\"GRID\":\"xy\",\"PAD\":true,\"SCALE\":0.5}");
    assert_int_equal(seen.device, a.device);
    assert_int_equal(times_of(s, "dot").n, 0);
    meddle("t.db", "UPDATE measurement SET protocol = protocol + 1 WHERE median = 170");
    assert_int_equal(times_of(s, "transpose").n, 4);
    meddle("t.db", "UPDATE tuned SET verified = 0 WHERE time_ns = 100"); /* a's: what is left are b's configurations */
    assert_int_equal(times_of(s, "transpose").n, 3);
    store_close(s);
}

/* ---- several calls as one ---- */

static void joins_calls(void **state)
{
    (void)state;
    struct store *s = open_at("j.db", STORE_WRITE), *reader = open_at("j.db", STORE_READ);
    struct tuned *t;
    assert_int_equal(store_begin(s, true, NULL), 0);
    sample_winner(s, 1, 1);
    assert_int_equal(find_winner(s, "m=1,n=1", &t, NULL), 0);
    tuned_free(t);
    assert_int_equal(find_winner(reader, "m=1,n=1", &t, NULL), ERR_NOTFOUND); /* not yet */
    assert_int_equal(store_end(s, 0, NULL), 0);
    assert_int_equal(find_winner(reader, "m=1,n=1", &t, NULL), 0);
    tuned_free(t);

    assert_int_equal(store_begin(reader, false, NULL), 0);
    assert_int_equal(winners_of(reader, "transpose").n, 1);
    assert_int_equal(store_begin(s, true, NULL), 0);
    sample_winner(s, 2, 2);
    assert_int_equal(store_end(s, 0, NULL), 0);
    assert_int_equal(winners_of(reader, "transpose").n, 1); /* one moment */
    assert_int_equal(store_end(reader, 77, NULL), 77);
    assert_int_equal(winners_of(reader, "transpose").n, 2);

    assert_int_equal(store_begin(s, true, NULL), 0);
    sample_winner(s, 3, 3);
    assert_int_equal(store_end(s, ERR_IO, NULL), ERR_IO); /* undone */
    assert_int_equal(winners_of(s, "transpose").n, 2);
    sample_winner(s, 4, 4); /* alone again */
    assert_int_equal(winners_of(reader, "transpose").n, 3);
    store_close(reader);
    store_close(s);
}

/* ---- changes ---- */

static uint64_t generation(struct store *s)
{
    uint64_t g = 0;
    struct err err = { 0 };
    if (store_generation(s, &g, &err))
        fail_msg("%s", err.msg);
    assert_true(g);
    return g;
}

static void notices_changes(void **state)
{
    (void)state;
    struct store *s = open_at("g.db", STORE_WRITE), *reader = open_at("g.db", STORE_READ);
    uint64_t mine = generation(s), seen = generation(reader);
    assert_int_equal(winners_of(reader, "transpose").n, 0);
    assert_true(generation(reader) == seen && generation(s) == mine); /* reading is no change */
    sample_winner(s, 1, 1);
    assert_true(generation(s) != mine);
    assert_true(generation(reader) != seen);
    seen = generation(reader);
    mine = generation(s);
    assert_true(generation(reader) == seen);
    meddle("g.db", "UPDATE tuned SET time_ns = 5");
    assert_true(generation(reader) != seen);
    assert_true(generation(s) != mine);
    store_close(reader);
    store_close(s);
}

static void notices_another_file(void **state)
{
    (void)state;
    char path[256], here[256];
    store_close(open_at("a.db", STORE_WRITE));
    store_close(open_at("b.db", STORE_WRITE));
    struct store *s = open_at("a.db", STORE_READ), *tables = open_at("a.db", STORE_TABLES), *writer = open_at("c.db", STORE_WRITE);
    assert_false(store_replaced(s) || store_replaced(tables) || store_replaced(writer));
    strcpy(path, in_dir("a.db"));
    assert_int_equal(rename(in_dir("b.db"), path), 0);
    assert_true(store_replaced(s) && store_replaced(tables));
    assert_false(store_replaced(writer));
    store_close(s);
    store_close(tables);
    s = open_at("a.db", STORE_READ);
    assert_false(store_replaced(s));
    assert_int_equal(unlink(path), 0);
    assert_true(store_replaced(s));
    store_close(s);
    assert_int_equal(unlink(in_dir("c.db")), 0);
    assert_true(store_replaced(writer));
    store_close(writer);

    /* A link that leads elsewhere now, and a relative path from another folder. */
    store_close(open_at("one.db", STORE_WRITE));
    store_close(open_at("two.db", STORE_WRITE));
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(sample_dir) | symlink("one.db", "link.db"), 0);
    assert_int_equal(store_open("link.db", STORE_READ, &s, NULL), 0);
    assert_int_equal(chdir("/"), 0);
    assert_false(store_replaced(s));
    assert_int_equal(chdir(sample_dir) | unlink("link.db") | symlink("two.db", "link.db"), 0);
    assert_true(store_replaced(s));
    store_close(s);
    assert_int_equal(chdir(here), 0);
}

/* ---- tables ---- */

static int files_in(const char *folder)
{
    DIR *d = opendir(folder);
    int n = 0;
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void reads_tables(void **state)
{
    (void)state;
    static const char name[] = "tables/50% ?mode=rw&a=b#\xc3\xa9 x.db";
    char path[256];
    struct err err = { 0 };
    struct tuned *t;
    mkdir(in_dir("tables"), 0755);
    struct store *s = open_at(name, STORE_WRITE);
    sample_winner(s, 5, 6);
    store_close(s);
    assert_int_equal(chmod(in_dir(name), 0444) | chmod(in_dir("tables"), 0555), 0);
    s = open_at(name, STORE_TABLES);
    assert_int_equal(winners_of(s, "transpose").n, 1);
    assert_int_equal(find_winner(s, "m=5,n=6", &t, NULL), 0);
    tuned_free(t);
    assert_int_equal(files_in(in_dir("tables")), 3); /* itself and the two dots */
    assert_int_equal(store_wanted_add(s, &(struct devspec){ .backend = "cuda" }, "op", "f32", "m=1", 1, 0, &err), ERR_IO);
    assert_non_null(strstr(err.msg, "read-only"));
    store_close(s);

    strcpy(path, in_dir("none.db"));
    assert_int_equal(store_open(path, STORE_TABLES, &s, &err), ERR_NOTFOUND);
    put_file("text.db", "this is some text, and no database at all. It is longer than a header, which has a hundred bytes.......",
             104);
    strcpy(path, in_dir("text.db"));
    assert_int_equal(store_open(path, STORE_TABLES, &s, &err), ERR_INVALID);

    struct store *writer = open_at("busy.db", STORE_WRITE), *tables = NULL; /* what it has written is still in its log */
    sample_winner(writer, 5, 6);
    strcpy(path, in_dir("busy.db"));
    assert_int_equal(store_open(path, STORE_TABLES, &tables, &err), ERR_IO);
    assert_non_null(strstr(err.msg, "last writer"));
    store_close(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_folder(gives_winners_of_an_op),
        in_folder(serves_what_is_verified),
        in_folder(gives_times_of_winners_configurations),
        in_folder(joins_calls),
        in_folder(notices_changes),
        in_folder(notices_another_file),
        in_folder(reads_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
