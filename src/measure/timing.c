/* Timing: device spans, one at a time, each queued while the device is still busy with what precedes it. Before each sample outputs and
 * workspaces are poisoned, and the cache is flushed by reading, unless a warm one is asked for. What each timed run has written is checked,
 * all of it. */
#include <string.h>
#include <sys/param.h>
#include <time.h>

#include "base/mem.h"
#include "base/util.h"
#include "measure/internal.h"

enum { SAMPLES = 10, FEWEST = 3, COPY_SAMPLES = 7, PAUSES = 10 };
static const double LONG_NS = 20e6; /* of a launch: it needs no other before it */
static const double COLD_NS = 10e6; /* that a first launch may need more: it may have to load code, and finds low clocks */

/* Takes one sample into a span, then queues a look at its outputs. While a kernel runs nothing is queued: on an H200 that adds up to 1 us to
 * what it takes. What has to be there when it begins is queued while the cache is flushed. */
static int take_sample(struct bench *b, struct loaded *l, int pass, int span, bool keep_work, struct err *err)
{
    int rc = timed_set_back(b, l, pass, keep_work, err) ?: service_flush(b, err);
    if (b->set.warm) /* a run that is not timed fills the cache; the flush before it keeps the queue busy until all is queued */
        rc = rc ?: candidate_launch(b, l, &l->own, err) ?: timed_set_back(b, l, pass, keep_work, err);
    return rc
        ?: device_span_begin(b->dev, span, err)
        ?: candidate_launch(b, l, &l->own, err)
        ?: device_span_end(b->dev, span, err)
        ?: device_sync(b->dev, err)
        ?: (l->copy_bytes ? 0 : outputs_look(b, pass, span, err));
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

static int take_batch(struct bench *b, struct loaded *l, int pass, int n, bool on_left, double *ns, bool *slowed, struct result *r,
                      struct err *err)
{
    bench_alive(b, DOES_ANY);
    slack_begin(b, l);
    int rc = (b->inputs_pass == pass ? 0 : inputs_fill(b, pass, err)) ?: service_begin(b, err);
    for (int i = 0; !rc && i < n; i++)
        rc = take_sample(b, l, pass, i, on_left && !i, err);
    if (!rc && !r->sm_mhz) /* once, right after it worked */
        device_clocks(b->dev, &r->sm_mhz, &r->mem_mhz);
    *slowed = !rc && device_throttles(b->dev);
    rc = rc ?: l->copy_bytes ? 0 : look_back(b, l, pass, n, on_left, r, err);
    slack_end(b, l);
    for (int i = 0; !rc && i < n; i++) {
        rc = device_span_ns(b->dev, i, &ns[i], err);
        ns[i] *= l->copy_bytes ? l->copy_scale : 1;
    }
    return rc;
}

/* Those of a batch while which the device throttles are thrown away, and taken again after a pause; but not for ever. */
int take_samples(struct bench *b, struct loaded *l, int pass, int n, bool on_left, double *ns, struct result *r, struct err *err)
{
    const struct timespec pause = { .tv_nsec = 200000000 };
    bool slowed;
    int rc = take_batch(b, l, pass, n, on_left, ns, &slowed, r, err);
    for (int i = 0; !rc && slowed && !b->stays_slow && i < PAUSES; i++) {
        r->again++;
        nanosleep(&pause, NULL);
        rc = take_batch(b, l, pass, n, on_left, ns, &slowed, r, err);
    }
    b->stays_slow = slowed;
    r->throttled += slowed;
    return rc;
}

int cut(struct result *r, double ns, double limit_ns, const char *what, struct err *err)
{
    if (limit_ns <= 0 || ns <= limit_ns)
        return 0;
    const int unit = limit_ns < 999.5e3 ? 0 : limit_ns < 999.5e6 ? 1 : 2;
    r->samples[0] = ns;
    r->nsamples = 1;
    return stats_of(r->samples, 1, &r->stats, err)
        ?: condemn(r, OUT_SLOWER, "first %s over %.3g %s", what, limit_ns / (const double[]){ 1e3, 1e6, 1e9 }[unit],
                   (const char *const[]){ "us", "ms", "s" }[unit]);
}

/* step: between two signs of life. */
static int take_up_to(struct bench *b, struct loaded *l, int all, int step, struct result *r, struct err *err)
{
    int rc = 0;
    while (!rc && r->nsamples < all) {
        int n = MIN(step, all - r->nsamples);
        rc = take_samples(b, l, TIMED, n, false, r->samples + r->nsamples, r, err);
        r->nsamples += n;
    }
    return rc;
}

/* One sample alone tells whether the rest are worth it, how many are, and how many fit between two signs of life. It is on other inputs
 * than the run before, in a workspace that was left as it was, or else than the rest: a result that is kept from run to run does not fit. It
 * was verified just now, so only on a processor, where others disturb it, one more goes first. */
static int time_samples(struct bench *b, struct loaded *l, struct limits behind, struct result *r, struct err *err)
{
    const double slice_ns = 0.5e9;
    double first[2];
    int64_t begun = clock_ns();
    const int warm = b->set.dev.shares_cores && l->launch_ns < LONG_NS;
    int all = SAMPLES, rc = take_samples(b, l, l->keeps ? TIMED : 0, 1 + warm, l->keeps, first, r, err);
    double each = (double)(clock_ns() - begun) / (1 + warm); /* poisons, flush and checks included */
    rc = rc ?: cut(r, first[warm], behind.cut_ns, "sample", err);
    while (!rc && all > FEWEST && all * first[warm] > 0.2e9) /* what takes long is disturbed little */
        all--;
    int step = each * all < slice_ns ? all : (int)(slice_ns / each) + 1;
    if (!rc && behind.few_ns > 0 && first[warm] > behind.few_ns) {
        rc = take_up_to(b, l, FEWEST, step, r, err) ?: stats_of(r->samples, FEWEST, &r->stats, err);
        if (r->stats.median > behind.few_ns)
            all = FEWEST;
    }
    rc = rc ?: take_up_to(b, l, all, step, r, err);
    if (rc && r->outcome != OUT_SLOWER)
        r->nsamples = 0;
    return rc ?: stats_of(r->samples, r->nsamples, &r->stats, err);
}

int time_copy(struct bench *b, double bytes, double *ns, struct err *err)
{
    struct loaded l = { .variant = NULL };
    struct result r = { 0 };
    double samples[COPY_SAMPLES + 1];
    struct stats stats;
    *ns = 0;
    if (bytes / 2 < 1)
        return 0;
    bool known = true;
    int rc = copy_load(b, &l, bytes, err);
    for (int i = 0; !rc && i <= COPY_SAMPLES; i++) { /* the first to warm up */
        rc = take_samples(b, &l, TIMED, 1, false, &samples[i], &r, err);
        known = known && !rc && samples[i] <= TIME_MAX;
    }
    if (!rc && known)
        rc = stats_of(samples + 1, COPY_SAMPLES, &stats, err);
    if (!rc && known)
        *ns = stats.median;
    if (rc == ERR_NOMEM) /* then the copy is unknown, which harms nothing else */
        rc = 0;
    candidate_unload(b, &l);
    return rc;
}

/* ---- a candidate alone */

void bench_blame(struct result *r, const struct err *err)
{
    if (r->outcome == OUT_OK)
        condemn(r, OUT_CRASH, "%s", err->msg);
}

int surroundings_prove(struct bench *b, const struct result *r, struct err *err)
{
    if (r->outcome == OUT_OK || r->outcome == OUT_SLOWER)
        return 0;
    b->inputs_pass = -1;
    return bench_control(b, err);
}

/* By its first launch. Where that may have compiled something, a sample has the word. */
static int cut_early(struct bench *b, struct loaded *l, double cut_ns, double limit_ns, struct result *r, struct err *err)
{
    int rc = 0;
    if (b->set.dev.shares_cores && limit_ns > 0 && l->launch_ns > limit_ns)
        rc = take_samples(b, l, TIMED, 1, false, &l->launch_ns, r, err) ?: cut(r, l->launch_ns, cut_ns, "sample", err);
    b->slowest_ns = MAX(b->slowest_ns, l->launch_ns);
    return rc ?: cut(r, l->launch_ns, limit_ns, "launch", err);
}

static double ms_since(int64_t then)
{
    return (double)(clock_ns() - then) / 1e6;
}

static int run_once(struct bench *b, const struct bench_candidate *c, struct limits behind, struct result *r, struct err *err)
{
    struct loaded *l = &b->candidate;
    const double limit = behind.cut_ns > 0 ? behind.cut_ns + COLD_NS : 0;
    int64_t loaded = 0;
    *r = (struct result){ .resources = { -1, -1, -1, -1 } };
    b->tried = NULL;
    bench_alive(b, DOES_ANY);
    r->samples = mem_array(SAMPLES, sizeof *r->samples);
    int rc = r->samples ? 0 : err_nomem(err);
    rc = rc
        ?: inputs_fill(b, TIMED, err) /* goes on while the code is loaded */
        ?: candidate_load(b, c, l, r, err);
    loaded = rc ? 0 : clock_ns();
    rc = rc
        ?: probe(b, &c->config, l, limit, r, err)
        ?: verify_pass(b, l, WAY_FIRST, r, err)
        ?: cut_early(b, l, behind.cut_ns, limit, r, err);
    bench_alive(b, DOES_ANY);
    rc = rc ?: other_choose(b, &c->config, l, err);
    r->alone = !rc && !other_compares(b, l);
    for (enum way way = WAY_OTHER; !rc && way <= (l->keeps ? WAY_LEFT : WAY_OTHER); way++)
        rc = verify_pass(b, l, way, r, err);
    r->verify_ms = loaded ? ms_since(loaded) : 0;
    rc = rc ?: time_samples(b, l, behind, r, err);
    if (!rc && b->set.energy && r->outcome == OUT_OK)
        rc = energy_take(b, l, r, err);
    candidate_unload(b, l);
    return rc;
}

int bench_run(struct bench *b, const struct bench_candidate *c, struct limits behind, struct result *out, struct err *err)
{
    const int64_t begun = clock_ns();
    int rc = run_once(b, c, behind, out, err);
    if (rc == ERR_NOMEM) { /* what earlier candidates needed may be in the way */
        others_drop(b);
        pool_free(b);
        result_free(out);
        rc = run_once(b, c, behind, out, err);
    }
    if (rc >= 0)
        rc = surroundings_prove(b, out, err);
    if (rc)
        b->inputs_pass = -1;
    if (rc && rc != ERR_NOMEM)
        bench_blame(out, err);
    out->measure_ms = ms_since(begun);
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
int play_rounds(struct bench *b, struct loaded *l, int n, int rounds, struct places *p, int64_t until, struct result *out,
                struct err *err)
{
    int rc = 0;
    for (int round = -1; !rc && round <= rounds; round++) {
        if (round >= LEAST_ROUNDS && round < rounds && clock_ns() > until)
            rounds = round;
        if (p && !round) /* all have run: what a driver takes for the first launch of each it has */
            places_make(b, p);
        rc = p && round >= 0 && round < rounds ? places_go(b, p, round * p->n / rounds, err) : 0;
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
    }
    for (int i = 0; !rc && i < n; i++)
        if (out[i].nsamples)
            rc = stats_of(out[i].samples, out[i].nsamples, &out[i].stats, err);
    return rc;
}

int play_reserve(struct bench *b, const struct bench_candidate *c, int n, struct loaded *l, struct err *err)
{
    int64_t most[MAX_ARGS] = { 0 };
    for (int i = 0; i < n; i++) {
        int64_t with[MAX_ARGS];
        struct binding *of = &l[i].own;
        if (c[i].kind != BENCH_KERNEL)
            continue;
        memcpy(with, most, sizeof with);
        int rc = binding_make(&b->plans, &b->set, &b->set.problem, NO_OTHERS, &c[i].config, of, err);
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
            rc = surroundings_prove(b, &out[i], err);
        }
        if (rc)
            bench_blame(&out[i], err);
    }
    return rc;
}

int players_make(struct bench *b, int n, int rounds, struct loaded **l, struct result *out, struct err *err)
{
    *l = mem_array((size_t)n, sizeof **l);
    int rc = *l ? 0 : err_nomem(err);
    for (int i = 0; !rc && i < n; i++) {
        out[i] = (struct result){ .resources = { -1, -1, -1, -1 } };
        out[i].samples = mem_array((size_t)rounds, sizeof(double));
        rc = out[i].samples ? 0 : err_nomem(err);
    }
    b->inputs_pass = -1;
    b->tried = NULL;
    return rc;
}

void players_drop(struct bench *b, struct loaded *l, int n)
{
    for (int i = 0; l && i < n; i++)
        candidate_unload(b, &l[i]);
    mem_free(l);
}

int bench_playoff(struct bench *b, const struct bench_candidate *c, int n, int rounds, struct result *out, struct err *err)
{
    struct loaded *l;
    struct places places = { .n = 1 };
    int rc = players_make(b, n, rounds, &l, out, err);
    others_drop(b); /* what they hold is room for workspaces */
    rc = rc
        ?: play_reserve(b, c, n, l, err)
        ?: load_all(b, c, n, l, out, err)
        ?: play_rounds(b, l, n, rounds, &places, INT64_MAX, out, err);
    places_free(b, &places);
    if (!rc && b->set.energy)
        rc = energy_play(b, l, n, out, err);
    players_drop(b, l, n);
    return rc;
}
