#include "replay/play.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "search/search.h"

enum { MAX_CORES = 64, FRAME_TRIES = FRAME_FAILED + 1 };
static const double MAX_SECONDS = 86400; /* for all repeats of a strategy on a space */

/* What is asked for and not told yet, the oldest first. */
struct flight {
    int64_t *index;
    int first, n, room;
};

/* One process's share: every cores-th repeat. */
struct share {
    const struct recorded_space *t;
    const struct play *how;
    double seconds;
    int first;
};

static int ask_more(struct search *s, struct flight *f, int64_t left, bool *nothing, struct err *err)
{
    int64_t answer[3 * 1024 + 1];
    int n, want = f->room - f->n;
    int rc = search_ask(s, left < want ? (int)left : want, err) ?: search_answer(s, answer, &n, err);
    if (rc)
        return rc;
    for (int i = 0; i < n; i++)
        f->index[(f->first + f->n++) % f->room] = answer[i];
    *nothing = n == 0;
    return 0;
}

/* Appends what it tried to `out`. A strategy that says "nothing now" is asked again after the next outcome, as in a run. */
static int play_once(const struct share *now, struct search *s, struct flight *f, struct buf *out, struct err *err)
{
    const struct recorded_space *t = now->t;
    double clock = 0;
    bool nothing = false;
    int64_t accepted = 0;
    int rc = 0;
    f->first = f->n = 0;
    while (!rc && clock <= now->seconds) {
        int64_t left = t->space->count - accepted;
        int had = f->n;
        if (!s->done && left && f->n < f->room && !nothing)
            rc = ask_more(s, f, left, &nothing, err);
        accepted += f->n - had;
        if (rc || !f->n)
            break;
        int64_t i = f->index[f->first];
        const struct recorded_trial *trial = &t->trials[i];
        f->first = (f->first + 1) % f->room;
        f->n--;
        buf_i64(out, i);
        clock += trial->seconds;
        nothing = false;
        bool ok = trial->outcome == OUT_OK;
        rc = search_tell(s, i, trial->outcome, trial->time_ns, ok ? trial->time_ns : NAN, err);
    }
    return rc;
}

/* In the child: a frame for each of its repeats. */
static int live(struct channel *c, void *arg, struct err *err)
{
    const struct share *now = arg;
    struct flight f = { .room = now->how->jobs ? 3 * now->how->jobs + 1 : 1 };
    f.index = mem_array((size_t)f.room, sizeof *f.index);
    int rc = f.index ? 0 : err_nomem(err);
    for (int i = now->first; !rc && i < now->how->repeats; i += now->how->cores) {
        struct search *s = NULL;
        rc = search_open(now->how->home, now->how->strategy, now->t->space, now->how->seed + (uint64_t)i, NULL, &s, err);
        size_t frame = frame_begin(&c->out, FRAME_TRIES);
        rc = rc ?: play_once(now, s, &f, &c->out, err);
        frame_end(&c->out, frame);
        search_close(s);
        rc = rc ?: channel_send(c, NULL, err);
    }
    mem_free(f.index);
    return rc;
}

/* What came back is a strategy's word: only what it may have tried. */
static int take(const struct recorded_space *t, struct cursor body, struct tries *out, struct err *err)
{
    size_t bytes = (size_t)(body.end - body.at);
    bool good = bytes % 8 == 0 && bytes / 8 <= (size_t)t->space->count;
    out->n = good ? (int)(bytes / 8) : 0;
    out->index = mem_array((size_t)out->n, sizeof *out->index);
    if (!out->index)
        return err_nomem(err);
    for (int i = 0; i < out->n; i++) {
        out->index[i] = get_i64(&body);
        good = good && out->index[i] >= 0 && out->index[i] < t->space->count;
    }
    return good ? 0 : err_set(err, ERR_CORRUPT, "its process sent what is no answer");
}

int play(const struct recorded_space *t, const struct play *how, double seconds, struct tries *out, struct err *err)
{
    struct forked child[MAX_CORES];
    struct share share[MAX_CORES];
    struct play now = *how;
    struct frame frame;
    int rc = 0, started = 0;
    now.cores = how->cores < 1 ? 1 : how->cores > MAX_CORES ? MAX_CORES : how->cores;
    now.cores = now.cores < how->repeats ? now.cores : how->repeats;
    memset(out, 0, (size_t)how->repeats * sizeof *out);
    const struct patience patience = patience_of(MAX_SECONDS, NULL);
    for (; !rc && started < now.cores; started += !rc) {
        share[started] = (struct share){ t, &now, seconds, started };
        rc = forked_start((int)MAX_SECONDS, live, &share[started], &child[started], err);
    }
    for (int i = 0; !rc && i < how->repeats; i++) {
        rc = forked_next(&child[i % now.cores], &patience, &frame, err);
        if (!rc && frame.kind != FRAME_TRIES)
            rc = forked_failed(&child[i % now.cores], ERR_CORRUPT, err);
        rc = rc ?: take(t, frame.body, &out[i], err);
    }
    while (started--)
        forked_close(&child[started]);
    if (rc)
        tries_free(out, how->repeats);
    return rc;
}

void tries_free(struct tries *t, int n)
{
    for (int i = 0; i < n; i++) {
        mem_free(t[i].index);
        t[i] = (struct tries){ 0 };
    }
}
