/* Files of recorded spaces: Kernel Tuner's caches, T4 results, cutune's own listings; played, and imported. */
#include "fuzz.h"
#include "unit/store_sample.h"

#include "replay/claims.h"
#include "replay/score.h"

/* What the store would take as it is. */
static int each_claim(void *arg, const struct record *c)
{
    struct buf config = { 0 };
    const struct result *r = &c->measured.result;
    (void)arg;
    must(op_variant(sample_op(), c->measured.variant) >= 0 && config_of_json(&config, c->measured.json));
    must(strlen(c->when) == 20 && text_ok(r->reason, 255, false) && (r->outcome != OUT_OK || !*r->reason));
    must(text_ok(c->dev.name, 127, false) && text_ok(c->tool, 63, false) && text_ok(c->driver, 63, false));
    must(r->outcome < OUT_COUNT && r->stats.median >= 0 && r->stats.median < TIME_MAX && r->compile_ms >= 0);
    for (int i = 0; i < r->nsamples; i++)
        must(r->samples[i] > 0 && r->samples[i] < TIME_MAX);
    buf_free(&config);
    return 0;
}

static void import(const struct recorded_space *s)
{
    const struct claiming how = { .op = sample_op(),
                                  .file = "table.json",
                                  .when = "2026-01-01T00:00:00Z",
                                  .types = "f32",
                                  .sizes = "m=3,n=4",
                                  .rename = "block_size_x=TILE" };
    struct err err = { 0 };
    int rc = claims_of(s, &how, each_claim, NULL, &err);
    must_say(rc, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = { 0 };
    struct tables t = { .whole = size % 2 };
    struct buf text = { 0 };
    buf_put(&text, data, size);
    int rc = tables_parse("table.json", &text, &t, &err);
    must_say(rc, &err);
    for (int i = 0; i < t.n && !rc; i++) {
        struct yardstick y;
        const struct recorded_space *s = t.at[i];
        must(s->space->count > 0);
        for (int64_t k = 0; k < s->space->count; k++) {
            struct config c;
            space_at(s->space, k, &c);
            must(space_find(s->space, &c) == k);
            must(s->trials[k].seconds >= 0 && s->trials[k].time_ns >= 0 && s->trials[k].outcome < OUT_COUNT);
        }
        if (t.whole)
            import(s);
        if (yardstick_of(s, &y, NULL))
            continue;
        int64_t tried[] = { 0, s->space->count - 1 };
        struct tries tries = { s->space->count > 1 ? 2 : 1, tried };
        struct score score;
        must(!score_of(s, &y, &tries, 1, 1, NULL, &score, NULL));
        must(score.p == score.p && score.low <= score.high);
        yardstick_free(&y);
    }
    tables_free(&t);
    buf_free(&text);
    return 0;
}
