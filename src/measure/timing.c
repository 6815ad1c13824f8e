/* Timing: device spans with the queue kept busy. Before each sample the outputs are poisoned and the cache is flushed by reading, unless
 * a warm one is asked for. */
#include <stdio.h>

#include "base/mem.h"
#include "measure/internal.h"

enum { SAMPLES = 10, COPY_SAMPLES = 7 };

/* Queues one sample into a span. Before a cold one no output holds the result: nobody is fast for not writing what is there already. */
static int queue_sample(struct bench *b, struct loaded *l, int span, struct err *err)
{
    int rc = inouts_fill(b, PASSES - 1, err); /* the application has its own there each time: not its cost, not timed */
    if (!rc && !b->set.warm)
        rc = outputs_poison(b, PASSES - 1, err);
    if (!rc && !b->set.warm)
        rc = service_flush(b, err);
    if (!rc)
        rc = b->be->span_begin(b->dev, span, err);
    if (!rc)
        rc = candidate_launch(b, l, err);
    return rc ? rc : b->be->span_end(b->dev, span, err);
}

static int take_samples(struct bench *b, struct loaded *l, int n, double *ns, struct err *err)
{
    bench_alive(b);
    int rc = 0;
    for (int i = 0; !rc && i < n; i++)
        rc = queue_sample(b, l, i, err);
    if (!rc)
        rc = b->be->sync(b->dev, err);
    for (int i = 0; !rc && i < n; i++)
        rc = b->be->span_ns(b->dev, i, &ns[i], err);
    return rc;
}

/* One sample alone tells whether the rest are worth it, and how many fit between two signs of life. */
int time_samples(struct bench *b, struct loaded *l, double cut_ns, struct result *r, struct err *err)
{
    const double slice_ns = 0.5e9;
    r->samples = mem_array(SAMPLES, sizeof *r->samples);
    if (!r->samples)
        return err_nomem(err);
    double first[2];
    int rc = take_samples(b, l, 2, first, err); /* the first warms up */
    if (rc)
        return rc;
    if (cut_ns > 0 && first[1] > cut_ns) {
        r->samples[r->nsamples++] = first[1];
        r->outcome = OUT_SLOWER;
        snprintf(r->reason, sizeof r->reason, "first sample over %.3g us", cut_ns / 1e3);
        return stats_of(r->samples, r->nsamples, &r->stats, err);
    }
    int step = first[1] * SAMPLES < slice_ns ? SAMPLES : (int)(slice_ns / first[1]) + 1;
    while (!rc && r->nsamples < SAMPLES) {
        int n = SAMPLES - r->nsamples < step ? SAMPLES - r->nsamples : step;
        rc = take_samples(b, l, n, r->samples + r->nsamples, err);
        r->nsamples += n;
    }
    if (rc)
        return rc;
    if (b->be->clocks)
        b->be->clocks(b->dev, &r->sm_mhz, &r->mem_mhz);
    return stats_of(r->samples, r->nsamples, &r->stats, err);
}

/* One sample of the i-th, waited for alone, so that what goes wrong is known to be its own. The queue was empty: the flush, or a run
 * that is not timed, keeps it busy until the span has begun. */
static int play(struct bench *b, struct loaded *l, int i, double *ns, struct err *err)
{
    bench_playing(b, i);
    int rc = b->set.warm ? candidate_launch(b, l, err) : 0;
    if (!rc)
        rc = queue_sample(b, l, 0, err);
    if (!rc)
        rc = b->be->sync(b->dev, err);
    return rc ? rc : b->be->span_ns(b->dev, 0, ns, err);
}

/* Round by round, so that a drift of the clocks meets all alike; the order turns each round, so that nobody is always behind the same
 * neighbour. The first round warms up. */
int playoff_rounds(struct bench *b, struct loaded *l, int n, int rounds, struct result *out, struct err *err)
{
    int rc = 0;
    for (int round = -1; !rc && round < rounds; round++) {
        for (int k = 0; !rc && k < n; k++) {
            int i = (k + round + 1) % n;
            if (out[i].outcome != OUT_OK)
                continue;
            double ns;
            rc = play(b, &l[i], i, &ns, err);
            if (rc)
                bench_blame(&out[i], err);
            else if (round >= 0)
                out[i].samples[out[i].nsamples++] = ns;
        }
    }
    for (int i = 0; !rc && i < n; i++)
        if (out[i].outcome == OUT_OK)
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
    int rc = b->be->alloc(b->dev, half, &from, err);
    if (!rc)
        rc = b->be->alloc(b->dev, half, &to, err);
    if (!rc)
        rc = b->be->fill(b->dev, from, 0, half, 1, err);
    for (int i = -1; !rc && i < COPY_SAMPLES; i++) { /* -1: to warm up */
        bench_alive(b);
        rc = b->set.warm ? 0 : service_flush(b, err);
        if (!rc)
            rc = b->be->span_begin(b->dev, 0, err);
        if (!rc)
            rc = b->be->copy(b->dev, to, from, half, err);
        if (!rc)
            rc = b->be->span_end(b->dev, 0, err);
        if (!rc)
            rc = b->be->sync(b->dev, err);
        if (!rc && i >= 0)
            rc = b->be->span_ns(b->dev, 0, &samples[i], err);
    }
    if (!rc)
        rc = stats_of(samples, COPY_SAMPLES, &stats, err);
    if (!rc && stats.median * scale <= TIME_MAX) /* more than that is no time: unknown */
        *ns = stats.median * scale;
    if (to)
        b->be->free(b->dev, to);
    if (from)
        b->be->free(b->dev, from);
    return rc;
}
