/* Files of recorded spaces: Kernel Tuner's caches, T4 results, cutune's own listings. */
#include "fuzz.h"

#include "replay/score.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = { 0 };
    struct tables t = { 0 };
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
