/* Problems that applications asked for. */
#include "store_sample.h"

#include <math.h>

struct seen {
    int n;
    char texts[8][160];
    int64_t counts[8];
};

static int see(void *arg, const struct wanted_problem *w)
{
    struct seen *seen = arg;
    assert_int_equal(strlen(w->last), 20);
    seen->counts[seen->n] = w->count;
    snprintf(seen->texts[seen->n++], sizeof seen->texts[0], "%s %s %s %g", w->op, w->types, w->sizes, w->time_ns);
    return 0;
}

static struct seen wanted(struct store *s, const struct devspec *dev)
{
    struct seen seen = { 0 };
    struct err err = { 0 };
    if (store_each_wanted(s, dev, see, &seen, &err))
        fail_msg("%s", err.msg);
    return seen;
}

static void add(struct store *s, const struct devspec *dev, const char *op, const char *sizes, int64_t count, double time_ns)
{
    struct err err = { 0 };
    if (store_wanted_add(s, dev, op, "f32", sizes, count, time_ns, &err))
        fail_msg("%s", err.msg);
}

static void keeps_what_is_wanted(void **state)
{
    (void)state;
    struct store *s = open_at("w.db", STORE_WRITE);
    struct devspec dev = sample_device(), other = dev;
    other.multiprocessors = 114;
    assert_int_equal(wanted(s, &dev).n, 0);
    assert_int_equal(store_begin(s, true, NULL), 0);
    add(s, &dev, "transpose", "m=1,n=1", 10, 0); /* unknown: after the others, by count */
    add(s, &dev, "transpose", "m=2,n=2", 90, 0);
    add(s, &dev, "transpose", "m=3,n=3", 2, 500);
    add(s, &dev, "dot", "n=4", 50, 100);        /* an op that the file does not know */
    add(s, &dev, "transpose", "m=3,n=3", 5, 0); /* 7 x 500: the time stays */
    add(s, &other, "transpose", "m=9,n=9", 1, 1);
    assert_int_equal(store_end(s, 0, NULL), 0);
    struct seen seen = wanted(s, &dev);
    assert_int_equal(seen.n, 4);
    assert_string_equal(seen.texts[0], "dot f32 n=4 100");
    assert_string_equal(seen.texts[1], "transpose f32 m=3,n=3 500");
    assert_string_equal(seen.texts[2], "transpose f32 m=2,n=2 0");
    assert_string_equal(seen.texts[3], "transpose f32 m=1,n=1 0");
    assert_int_equal(seen.counts[1], 7);
    add(s, &dev, "transpose", "m=3,n=3", 1, 1000);
    assert_string_equal(wanted(s, &dev).texts[0], "transpose f32 m=3,n=3 1000");

    assert_int_equal(store_wanted_done(s, &dev, "transpose", "f32", "m=3,n=3", NULL), 0);
    assert_int_equal(store_wanted_done(s, &dev, "transpose", "f32", "m=3,n=3", NULL), 0); /* not there */
    assert_int_equal(wanted(s, &dev).n, 3);
    assert_int_equal(wanted(s, &other).n, 1);
    other.memory++;
    assert_int_equal(store_wanted_done(s, &other, "dot", "f32", "n=4", NULL), 0); /* an unknown device */
    assert_int_equal(wanted(s, &dev).n, 3);
    store_close(s);
}

static void refuses_what_cannot_be_wanted(void **state)
{
    (void)state;
    struct store *s = open_at("w.db", STORE_WRITE);
    struct devspec dev = sample_device();
    char longest[3000] = "";
    struct err err = { 0 };
    memset(longest, 'a', sizeof longest - 1);
    assert_int_equal(store_wanted_add(s, &dev, "no op", "f32", "m=1", 1, 0, &err), ERR_INVALID);
    assert_non_null(strstr(err.msg, "not stored"));
    assert_int_equal(store_wanted_add(s, &dev, "", "f32", "m=1", 1, 0, NULL), ERR_INVALID);
    assert_int_equal(store_wanted_add(s, &dev, "op", "f32\n", "m=1", 1, 0, NULL), ERR_INVALID);
    assert_int_equal(store_wanted_add(s, &dev, "op", "", "m=1", 1, 0, NULL), ERR_INVALID);
    assert_int_equal(store_wanted_add(s, &dev, "op", "f32", "\x1b[2J", 1, 0, NULL), ERR_INVALID);
    assert_int_equal(store_wanted_add(s, &dev, "op", "f32", longest, 1, 0, NULL), ERR_INVALID);
    assert_int_equal(store_wanted_add(s, &dev, "op", "f32", "m=1", 0, 0, NULL), ERR_INVALID);
    assert_int_equal(store_wanted_add(s, &dev, "op", "f32", "m=1", 1, -1, NULL), ERR_INVALID);
    assert_int_equal(store_wanted_add(s, &dev, "op", "f32", "m=1", 1, NAN, NULL), ERR_INVALID);
    assert_int_equal(store_wanted_add(s, &dev, "op", "f32", "m=1", INT64_MAX, 0, NULL), ERR_INVALID);
    assert_int_equal(wanted(s, &dev).n, 0);
    for (int i = 0; i < 3; i++) /* counted up to the most there is */
        add(s, &dev, "op", "m=1", 600000000000000000, 0);
    assert_int_equal(wanted(s, &dev).counts[0], 1000000000000000000);
    store_close(s);
    s = open_at("w.db", STORE_READ);
    assert_int_equal(store_wanted_add(s, &dev, "op", "f32", "m=1", 1, 0, NULL), ERR_IO);
    store_close(s);
}

static int note_wanted(void *arg, const struct wanted_problem *w)
{
    buf_fmt(arg, "%s %lld; ", w->sizes, (long long)w->count);
    return 0;
}

static void keeps_what_is_wanted_most(void **state)
{
    (void)state;
    static const struct {
        const char *sizes;
        int64_t count;
        double ns;
    } all[] = { { "n=1", 1, 5 }, { "n=2", 3, 5 }, { "n=3", 1, 20 }, { "n=4", 9, 0 },
                { "n=5", 8, 0 }, { "n=3", 2, 0 }, { "n=6", 1, 30 } };
    struct store *s = open_at("wanted.db", STORE_WRITE);
    struct devspec dev = sample_device();
    struct buf seen = { 0 };
    for (int i = 0; i < 7; i++)
        assert_int_equal(store_wanted_add(s, &dev, "dot", "f32", all[i].sizes, all[i].count, all[i].ns, NULL), 0);
    const struct {
        int most;
        const char *left;
    } steps[] = { { 6, "n=3 3; n=6 1; n=2 3; n=1 1; n=4 9; n=5 8; " },
                  { 5, "n=3 3; n=6 1; n=2 3; n=1 1; n=4 9; " },
                  { 2, "n=3 3; n=6 1; " },
                  { 0, "" } };
    for (int i = 0; i < 4; i++) {
        assert_int_equal(store_wanted_trim(s, steps[i].most, NULL), 0);
        buf_clear(&seen);
        assert_int_equal(store_each_wanted(s, &dev, note_wanted, &seen, NULL), 0);
        assert_string_equal(buf_text(&seen), steps[i].left);
    }
    buf_free(&seen);
    store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_folder(keeps_what_is_wanted),
        in_folder(refuses_what_cannot_be_wanted),
        in_folder(keeps_what_is_wanted_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
