/* Timing: device spans with the queue kept busy. Before each sample outputs and workspaces are poisoned, and the cache is flushed by
 * reading, unless a warm one is asked for. What each timed run has written is checked, all of it. */
#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "measure/internal.h"

enum { SAMPLES = 10, COPY_SAMPLES = 7 };

/* Queues one sample into a span, then a look at its outputs. */
static int queue_sample(struct bench *b, struct loaded *l, int pass, int span, bool keep_work, struct err *err)
{
    int rc = timed_set_back(b, l, pass, keep_work, err);
    if (!rc && b->set.warm) { /* a run that is not timed fills the cache */
        rc = candidate_launch(b, l, &l->own, err);
        rc = rc ?: timed_set_back(b, l, pass, keep_work, err);
    } else if (!rc) {
        rc = service_flush(b, err);
    }
    return rc
        ?: device_span_begin(b->dev, span, err)
        ?: candidate_launch(b, l, &l->own, err)
        ?: device_span_end(b->dev, span, err)
        ?: outputs_look(b, pass, span, err);
}

/* What was right when it was verified. An earlier one of several timed runs leaves no output to be looked at. */
static int wrong_when_timed(struct result *r, bool on_left)
{
    char text[sizeof r->reason] = "another result than the reference's";
    if (r->outcome != OUT_OK)
        memcpy(text, r->reason, sizeof text);
    return condemn(r, OUT_WRONG, "%s: %.200s", on_left ? "on the workspace that its last run left" : "in a timed run", text);
}

/* Of n samples: were all their outputs right, and is all else untouched? */
static int look_back(struct bench *b, struct loaded *l, int pass, int n, bool first_left, struct result *r, struct err *err)
{
    struct found found;
    int rc = guards_look(b, l, err) ?: inputs_look(b, n, err) ?: service_end(b, n + 1, &found, err);
    if (rc)
        return rc;
    int wrong = 0;
    while (wrong < n && same(found.digests[wrong], b->digest[pass]))
        wrong++;
    if (wrong == n && !found.count && same(found.digests[n], b->input_digest[pass]))
        return 0;
    rc = diagnose(b, l, pass, r, err);
    if (rc >= 0 || r->outcome == OUT_WRONG)
        wrong_when_timed(r, first_left && !wrong);
    return rc < 0 ? rc : VERDICT;
}

/* Times come only with the outcome ok. on_left: the first finds the workspace as its last run has left it. */
static int take_samples(struct bench *b, struct loaded *l, int pass, int n, bool on_left, double *ns, struct result *r,
                        struct err *err)
{
    bench_alive(b);
    int rc = (b->inputs_pass == pass ? 0 : inputs_fill(b, pass, err)) ?: service_begin(b, err);
    for (int i = 0; !rc && i < n; i++)
        rc = queue_sample(b, l, pass, i, on_left && !i, err);
    if (!rc && !r->sm_mhz) /* once, while the device works */
        device_clocks(b->dev, &r->sm_mhz, &r->mem_mhz);
    rc = rc ?: look_back(b, l, pass, n, on_left, r, err);
    for (int i = 0; !rc && i < n; i++)
        rc = device_span_ns(b->dev, i, &ns[i], err);
    return rc;
}

/* One sample alone tells whether the rest are worth it, and how many fit between two signs of life. The first two are on other inputs than
 * the run before, in a workspace that was left as it was, or else than the rest: a result that is kept from run to run does not fit. */
static int sample(struct bench *b, struct loaded *l, double cut_ns, struct result *r, struct err *err)
{
    const double slice_ns = 0.5e9;
    double first[2];
    bool keeps = candidate_keeps(l);
    int64_t begun = clock_ns();
    int rc = take_samples(b, l, keeps ? TIMED : 0, 2, keeps, first, r, err); /* the first warms up */
    if (rc)
        return rc;
    if (cut_ns > 0 && first[1] > cut_ns) {
        r->samples[r->nsamples++] = first[1];
        condemn(r, OUT_SLOWER, "first sample over %.3g us", cut_ns / 1e3);
        return 0; /* it has a time */
    }
    double each = (double)(clock_ns() - begun) / 2; /* poisons, flush and checks included */
    int step = each * SAMPLES < slice_ns ? SAMPLES : (int)(slice_ns / each) + 1;
    while (!rc && r->nsamples < SAMPLES) {
        int n = SAMPLES - r->nsamples < step ? SAMPLES - r->nsamples : step;
        rc = take_samples(b, l, TIMED, n, false, r->samples + r->nsamples, r, err);
        r->nsamples += n;
    }
    return rc;
}

int time_samples(struct bench *b, struct loaded *l, double cut_ns, struct result *r, struct err *err)
{
    r->samples = mem_array(SAMPLES, sizeof *r->samples);
    int rc = r->samples ? sample(b, l, cut_ns, r, err) : err_nomem(err);
    if (rc)
        r->nsamples = 0;
    return rc ?: stats_of(r->samples, r->nsamples, &r->stats, err);
}

/* One sample of the i-th, waited for and checked alone, so that what goes wrong is known to be its own. The flush, or the run that is
 * not timed, keeps the queue busy until the span has begun. */
static int play(struct bench *b, struct loaded *l, int i, int pass, double *ns, struct result *out, struct err *err)
{
    bench_playing(b, i);
    int rc = 0;
    for (int k = 0; !rc && k < l->nwork; k++) /* other players have other zones in the pool */
        rc = guarded_paint(b, &l->work[k], TIMED, err);
    rc = rc ?: take_samples(b, l, pass, 1, false, ns, out, err);
    return rc == VERDICT ? bench_control(b, err) : rc;
}

static int play_round(struct bench *b, struct loaded *l, int n, int round, int pass, struct result *out, struct err *err)
{
    int rc = 0;
    for (int k = 0; !rc && k < n; k++) {
        int i = (k + round + 1) % n;
        double ns = 0;
        if (out[i].outcome != OUT_OK || l[i].sits_out)
            continue;
        rc = play(b, &l[i], i, pass, &ns, &out[i], err);
        if (rc)
            bench_blame(&out[i], err);
        if (out[i].outcome != OUT_OK)
            out[i].nsamples = 0;
        else if (round >= 0 && pass == TIMED)
            out[i].samples[out[i].nsamples++] = ns;
    }
    return rc;
}

/* Round by round, so that a drift of the clocks meets all alike; the order turns each round, so that no player is always behind the
 * same one. The first round warms up; the last, on other inputs, is for what was kept from the others. */
int playoff_rounds(struct bench *b, struct loaded *l, int n, int rounds, struct result *out, struct err *err)
{
    int rc = 0;
    for (int round = -1; !rc && round <= rounds; round++)
        rc = play_round(b, l, n, round, round < rounds ? TIMED : 0, out, err);
    for (int i = 0; !rc && i < n; i++)
        if (out[i].nsamples)
            rc = stats_of(out[i].samples, out[i].nsamples, &out[i].stats, err);
    return rc;
}

int time_copy(struct bench *b, double bytes, double *ns, struct err *err)
{
    struct memory *from = NULL, *to = NULL;
    const double most = 4.0 * (1 << 30); /* past that the bandwidth no longer changes, and memory may be short */
    double scale = bytes / 2 > most ? bytes / 2 / most : 1;
    int64_t half = (int64_t)(bytes / 2 / scale);
    double samples[COPY_SAMPLES];
    struct stats stats;
    *ns = 0;
    if (half < 1)
        return 0;
    int rc = device_alloc(b->dev, half, &from, err)
        ?: device_alloc(b->dev, half, &to, err)
        ?: device_fill(b->dev, from, 0, half, 1, err);
    for (int i = -1; !rc && i < COPY_SAMPLES; i++) { /* -1: to warm up */
        bench_alive(b);
        rc = (b->set.warm ? 0 : service_flush(b, err))
            ?: device_span_begin(b->dev, 0, err)
            ?: device_copy(b->dev, to, from, half, err)
            ?: device_span_end(b->dev, 0, err)
            ?: device_sync(b->dev, err);
        if (!rc && i >= 0)
            rc = device_span_ns(b->dev, 0, &samples[i], err);
    }
    rc = rc ?: stats_of(samples, COPY_SAMPLES, &stats, err);
    if (!rc && stats.median * scale <= TIME_MAX) /* else it stays unknown */
        *ns = stats.median * scale;
    if (rc == ERR_NOMEM) /* then the copy is unknown, which harms nothing else */
        rc = 0;
    device_free(b->dev, to);
    device_free(b->dev, from);
    return rc;
}
