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

/* Of n samples: were all their outputs right, and is all else untouched? */
int look_back(struct bench *b, struct loaded *l, int pass, int n, bool first_left, struct result *r, struct err *err)
{
    struct found found;
    int rc = rest_look(b, l, n, err) ?: service_end(b, n + 1, &found, err);
    if (rc)
        return rc;
    int wrong = 0;
    while (wrong < n && found.digests[wrong] == b->digest[pass])
        wrong++;
    if (wrong == n && !found.count && found.digests[n] == b->input_digest[pass])
        return 0;
    rc = diagnose(b, l, pass, r, err);
    if (rc >= 0 && r->outcome == OUT_OK) /* an earlier one of several runs leaves no output to be looked at */
        condemn(r, OUT_WRONG, "another result than the reference's");
    if (r->outcome == OUT_WRONG) /* it was right when it was verified */
        tell_when(r, first_left && !wrong ? "on the workspace that its last run left" : "in a timed run");
    return rc < 0 ? rc : VERDICT;
}

/* Times come only with the outcome ok. on_left: the first finds the workspace as its last run has left it. */
static int take_samples(struct bench *b, struct loaded *l, int pass, int n, bool on_left, double *ns, struct result *r,
                        struct err *err)
{
    bench_alive(b, -1);
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
static int time_samples(struct bench *b, struct loaded *l, double cut_ns, struct result *r, struct err *err)
{
    const double slice_ns = 0.5e9;
    double first[2];
    int64_t begun = clock_ns();
    r->samples = mem_array(SAMPLES, sizeof *r->samples);
    if (!r->samples)
        return err_nomem(err);
    int rc = take_samples(b, l, l->keeps ? TIMED : 0, 2, l->keeps, first, r, err); /* the first warms up */
    double each = (double)(clock_ns() - begun) / 2;                                /* poisons, flush and checks included */
    int step = each * SAMPLES < slice_ns ? SAMPLES : (int)(slice_ns / each) + 1;
    if (!rc && cut_ns > 0 && first[1] > cut_ns) {
        r->samples[r->nsamples++] = first[1];
        condemn(r, OUT_SLOWER, "first sample over %.3g us", cut_ns / 1e3);
    }
    while (!rc && r->outcome == OUT_OK && r->nsamples < SAMPLES) {
        int n = SAMPLES - r->nsamples < step ? SAMPLES - r->nsamples : step;
        rc = take_samples(b, l, TIMED, n, false, r->samples + r->nsamples, r, err);
        r->nsamples += n;
    }
    if (rc)
        r->nsamples = 0;
    return rc ?: stats_of(r->samples, r->nsamples, &r->stats, err);
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
        bench_alive(b, -1);
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

/* ---- a candidate alone */

void bench_blame(struct result *r, const struct err *err)
{
    if (r->outcome == OUT_OK)
        condemn(r, OUT_CRASH, "%s", err->msg);
}

/* Nothing of a candidate that was not right is left for the next; and it was the candidate's fault only if the reference still passes
 * here. A context that is lost needs no proof. */
static int prove_surroundings(struct bench *b, const struct result *r, struct err *err)
{
    if (r->outcome == OUT_OK)
        return 0;
    b->inputs_pass = -1;
    return r->outcome == OUT_SLOWER ? 0 : bench_control(b, err);
}

static int run_once(struct bench *b, const struct bench_candidate *c, double cut_ns, struct result *r, struct err *err)
{
    struct loaded *l = &b->candidate;
    *r = (struct result){ .resources = { -1, -1, -1, -1 } };
    b->tried = NULL;
    bench_alive(b, -1);
    int rc = inputs_fill(b, TIMED, err) /* goes on while the code is loaded */
                 ?: candidate_load(b, c, l, r, err) ?: other_choose(b, &c->config, l, err);
    bench_alive(b, -1);
    for (enum way way = WAY_FIRST; !rc && way <= (l->keeps ? WAY_LEFT : WAY_OTHER); way++)
        rc = verify_pass(b, l, way, r, err);
    rc = rc ?: time_samples(b, l, cut_ns, r, err);
    if (!rc && b->set.energy && r->outcome == OUT_OK)
        rc = energy_take(b, l, r, err);
    candidate_unload(b, l);
    return rc;
}

int bench_run(struct bench *b, const struct bench_candidate *c, double cut_ns, struct result *out, struct err *err)
{
    int rc = run_once(b, c, cut_ns, out, err);
    if (rc == ERR_NOMEM) { /* what earlier candidates needed may be in the way */
        others_drop(b);
        pool_free(b);
        result_free(out);
        rc = run_once(b, c, cut_ns, out, err);
    }
    if (rc >= 0)
        rc = prove_surroundings(b, out, err);
    if (rc)
        b->inputs_pass = -1;
    if (rc && rc != ERR_NOMEM)
        bench_blame(out, err);
    return rc;
}

/* ---- the play-off */

/* One sample of the i-th, waited for and checked alone, so that what goes wrong is known to be its own. The flush, or the run that is
 * not timed, keeps the queue busy until the span has begun. */
static int play(struct bench *b, struct loaded *l, int i, int pass, double *ns, struct result *out, struct err *err)
{
    bench_alive(b, i);
    int rc = 0;
    for (int k = 0; !rc && k < l->nwork; k++) /* other players have other zones in the pool */
        rc = guarded_paint(b, &l->work[k], TIMED, err);
    rc = rc ?: take_samples(b, l, pass, 1, false, ns, out, err);
    return rc == VERDICT ? bench_control(b, err) : rc;
}

/* Round by round, so that a drift of the clocks meets all alike; the order turns each round, so that no player is always behind the
 * same one. The first round warms up; the last, on other inputs, is for what was kept from the others. */
static int play_rounds(struct bench *b, struct loaded *l, int n, int rounds, struct result *out, struct err *err)
{
    int rc = 0;
    for (int round = -1; !rc && round <= rounds; round++)
        for (int k = 0; !rc && k < n; k++) {
            int i = (k + round + 1) % n, pass = round < rounds ? TIMED : 0;
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
    for (int i = 0; !rc && i < n; i++)
        if (out[i].nsamples)
            rc = stats_of(out[i].samples, out[i].nsamples, &out[i].stats, err);
    return rc;
}

/* Makes room in the pool for the workspaces of the players, the first ones first. A player for which there is none sits out. */
static int reserve(struct bench *b, const struct bench_candidate *c, int n, struct loaded *l, struct err *err)
{
    int64_t most[MAX_ARGS] = { 0 };
    for (int i = 0; i < n; i++) {
        int64_t with[MAX_ARGS];
        struct binding *of = &l[i].own;
        memcpy(with, most, sizeof with);
        int rc = binding_make(&b->plans, &b->set, &b->set.problem, false, &c[i].config, of, err);
        for (int k = 0; !rc && k < of->nwork; k++)
            with[k] = of->work[k] > with[k] ? of->work[k] : with[k];
        rc = rc ?: pool_reserve(b, with, MAX_ARGS, err);
        if (rc == ERR_DEVICE)
            return rc;
        l[i].sits_out = rc != 0;
        if (!rc)
            memcpy(most, with, sizeof most);
    }
    return pool_reserve(b, most, MAX_ARGS, err); /* after a failure the pool may be empty */
}

static int load_all(struct bench *b, const struct bench_candidate *c, int n, struct loaded *l, struct result *out, struct err *err)
{
    int rc = inputs_fill(b, TIMED, err);
    for (int i = 0; !rc && i < n; i++) {
        if (l[i].sits_out)
            continue;
        bench_alive(b, i);
        rc = candidate_load(b, &c[i], &l[i], &out[i], err);
        if (rc == ERR_NOMEM) {
            candidate_unload(b, &l[i]);
            l[i].sits_out = true;
            rc = 0;
        } else if (rc >= 0) {
            rc = prove_surroundings(b, &out[i], err);
        }
        if (rc)
            bench_blame(&out[i], err);
    }
    return rc;
}

int bench_playoff(struct bench *b, const struct bench_candidate *c, int n, int rounds, struct result *out, struct err *err)
{
    struct loaded *l = mem_array((size_t)n, sizeof *l);
    int rc = l ? 0 : err_nomem(err);
    for (int i = 0; !rc && i < n; i++) {
        out[i] = (struct result){ .resources = { -1, -1, -1, -1 } };
        out[i].samples = mem_array((size_t)rounds, sizeof(double));
        rc = out[i].samples ? 0 : err_nomem(err);
    }
    b->inputs_pass = -1;
    b->tried = NULL;
    others_drop(b); /* what they hold is room for workspaces */
    rc = rc ?: reserve(b, c, n, l, err) ?: load_all(b, c, n, l, out, err) ?: play_rounds(b, l, n, rounds, out, err);
    if (!rc && b->set.energy)
        rc = energy_play(b, l, n, out, err);
    for (int i = 0; l && i < n; i++)
        candidate_unload(b, &l[i]);
    mem_free(l);
    return rc;
}
