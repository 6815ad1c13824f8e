/* Claims beside what was measured: which of two stays, that nothing serves or counts them, and what is known of them here. */
#include "store_sample.h"

struct seen {
    int n;
    enum claim_state state;
    double claimed, here;
    char when[32], tool[32];
    int samples;
};

static int see(void *arg, const struct record *r)
{
    struct seen *seen = arg;
    seen->n++;
    seen->state = claim_state(r);
    seen->claimed = r->measured.result.stats.median;
    seen->here = r->here_ns;
    seen->samples = r->measured.result.nsamples;
    snprintf(seen->when, sizeof seen->when, "%s", r->when);
    snprintf(seen->tool, sizeof seen->tool, "%s", r->tool);
    return 0;
}

static struct seen look(struct store *s, bool claims)
{
    struct seen seen = { 0 };
    struct err err = { 0 };
    if (store_each_record(s, claims, "transpose", "f32", "m=1111,n=113", see, &seen, &err))
        fail_msg("%s", err.msg);
    return seen;
}

/* The newer one stays, and the faster one: what is both older and slower never takes its place, what is one of them neither. */
static void which_stays(void **state)
{
    (void)state;
    struct store *s = open_at("claims.db", STORE_WRITE);
    static const char *const y2024 = "2024-01-01T00:00:00Z", *const y2025 = "2025-01-01T00:00:00Z",
                             *const y2026 = "2026-01-01T00:00:00Z";
    assert_int_equal(sample_claim_of(s, OUT_OK, 1000, y2025), CLAIM_ADDED);
    assert_int_equal(sample_claim_of(s, OUT_OK, 1000, y2025), CLAIM_KNOWN);
    assert_int_equal(sample_claim_of(s, OUT_OK, 1200, y2024), CLAIM_KEPT);
    assert_int_equal(sample_claim_of(s, OUT_OK, 800, y2024), CLAIM_KEPT);
    assert_int_equal(sample_claim_of(s, OUT_OK, 1200, y2026), CLAIM_KEPT);
    assert_int_equal(sample_claim_of(s, OUT_CRASH, 0, y2026), CLAIM_KEPT);
    struct seen seen = look(s, true);
    assert_int_equal(seen.n, 1);
    assert_true(seen.claimed == 1000);
    assert_int_equal(sample_claim_of(s, OUT_OK, 900, y2026), CLAIM_REPLACED);
    seen = look(s, true);
    assert_int_equal(seen.n, 1);
    assert_true(seen.claimed == 900);
    assert_int_equal(seen.samples, 3);
    assert_string_equal(seen.when, y2026);
    assert_string_equal(seen.tool, "T4");
    assert_int_equal(seen.state, CLAIM_UNVERIFIED);
    store_close(s);
}

static int count_tried(void *arg, const struct listed *l)
{
    (void)l;
    ++*(int *)arg;
    return 0;
}

/* A problem with claims alone has no answer; what was measured neither changes nor is counted otherwise because of them. */
static void nothing_serves_them(void **state)
{
    (void)state;
    struct store *s = open_at("claims.db", STORE_WRITE);
    const struct devspec dev = sample_device();
    struct tuned *t = NULL;
    int tried = 0;
    sample_claim(s);
    assert_int_equal(store_find_winner(s, &dev, "transpose", "f32", "m=1111,n=113", &t, NULL), ERR_NOTFOUND);
    assert_int_equal(store_each_tried(s, count_tried, &tried, NULL), 0);
    assert_int_equal(tried, 0);
    struct target target = sample_winner(s, 1111, 113); /* 1000 ns, over 900 */
    assert_int_equal(store_each_tried(s, count_tried, &tried, NULL), 0);
    assert_int_equal(tried, 1);
    assert_int_equal(look(s, false).n, 1);
    struct seen seen = look(s, true);
    assert_int_equal(seen.n, 1);
    assert_int_equal(seen.state, CLAIM_SLOWER);
    assert_true(seen.here == 1000);
    assert_int_equal(store_forget(s, &target, NULL), 0); /* --retune */
    seen = look(s, true);
    assert_int_equal(seen.n, 1);
    assert_int_equal(seen.state, CLAIM_UNVERIFIED);
    store_close(s);
}

static void what_holds(void **state)
{
    (void)state;
    struct store *s = open_at("claims.db", STORE_WRITE);
    sample_winner(s, 1111, 113);
    sample_claim_of(s, OUT_OK, 950, "2026-01-01T00:00:00Z");
    assert_int_equal(look(s, true).state, CLAIM_HOLDS);
    sample_claim_of(s, OUT_OK, 100, "2026-01-01T00:00:00Z");
    assert_int_equal(look(s, true).state, CLAIM_SLOWER);
    store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = { in_folder(which_stays), in_folder(nothing_serves_them), in_folder(what_holds) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
