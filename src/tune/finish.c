/* The end of a run: the best few against each other, the winner and the defaults into the tables, the report. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tune/run.h"

/* Keeps the binaries of those that the play-off may want. */
void top_offer(struct run *r, struct job *job)
{
    struct job *out = job;
    for (int i = 0; i < PLAYOFF; i++)
        if (!r->top[i] || out->median_ns < r->top[i]->median_ns) {
            struct job *next = r->top[i];
            r->top[i] = out;
            out = next;
            if (!out)
                return;
        }
    if (out->index == r->default_index && !r->top[PLAYOFF])
        r->top[PLAYOFF] = out;
    else
        job_free(out);
}

static struct job *top_take(struct run *r, int64_t index)
{
    for (int i = 0; i <= PLAYOFF; i++)
        if (r->top[i] && r->top[i]->index == index) {
            struct job *j = r->top[i];
            r->top[i] = NULL;
            return j;
        }
    return NULL;
}

static struct done *done_of(struct run *r, int64_t index)
{
    for (int64_t i = 0; i < r->ndone; i++)
        if (r->done[i].index == index)
            return &r->done[i];
    return NULL;
}

/* The `n` fastest of those that are right, ascending. */
static int fastest(struct run *r, struct done **out, int n)
{
    int have = 0;
    for (int64_t i = 0; i < r->ndone; i++) {
        struct done *d = &r->done[i];
        if (d->outcome != OUT_OK)
            continue;
        int at = have;
        while (at > 0 && out[at - 1]->stats.median > d->stats.median)
            at--;
        if (at == n)
            continue;
        have += have < n;
        for (int k = have - 1; k > at; k--)
            out[k] = out[k - 1];
        out[at] = d;
    }
    return have;
}

static void enter(struct run *r, struct done *d)
{
    struct job *job = top_take(r, d->index);
    if (!job) { /* measured by an earlier run: its binary is gone */
        job = job_new(r, &d->config, d->index);
        if (!job)
            return;
        r->missing++;
        job->median_ns = d->stats.median;
        queue_put(&r->queued, job);
        return;
    }
    r->played[r->nplayed++] = job;
}

/* An earlier run's winner that is known to be at fault now. */
static bool winner_at_fault(const struct run *r)
{
    for (int64_t i = 0; r->had_winner && i < r->ndone; i++)
        if (!strcmp(r->done[i].key, r->winner_key) && r->done[i].outcome != OUT_OK)
            return true;
    return false;
}

/* Not if its variant has changed since: then one of those that are known, but were not played off against it, takes its place. */
static bool winner_is_of_now(const struct run *r)
{
    const struct known_entry *e = known_find(&r->known, r->winner_key);
    return !e || e->of_now;
}

void playoff_begin(struct run *r)
{
    struct done *best[PLAYOFF] = { 0 };
    r->playoffs++;
    r->quiet_turn = false;
    int n = fastest(r, best, PLAYOFF);
    bool winner_stands = r->had_winner && !winner_at_fault(r) && winner_is_of_now(r);
    if (!n || (!r->report->measured && winner_stands)) {
        r->phase = PHASE_TABLES; /* nothing new: nothing to write either */
        return;
    }
    r->phase = PHASE_PLAYOFF;
    struct done *deflt = r->default_index >= 0 ? done_of(r, r->default_index) : NULL;
    for (int i = 0; i < n; i++) {
        enter(r, best[i]);
        if (best[i] == deflt)
            deflt = NULL;
    }
    if (deflt && deflt->outcome == OUT_OK)
        enter(r, deflt);
    if (!r->meter && !r->failed)
        meter_start(r);
}

void playoff_compiled(struct run *r, struct job *job)
{
    r->missing--;
    if (job->binary.len)
        r->played[r->nplayed++] = job;
    else
        job_free(job);
    if (!r->missing && !r->nplayed)
        tables_begin(r);
}

/* It was right before, and is not: what was measured of it, and of what compiles to the same, is taken back. */
static void condemn(struct run *r, const struct job *job, struct result *result)
{
    result->compile_ms = job->compile_ms;
    for (int64_t i = 0; i < r->ndone; i++) {
        struct done *d = &r->done[i];
        if (d->outcome != OUT_OK || strcmp(d->key, job->key))
            continue;
        r->report->outcomes[d->outcome]--;
        r->report->outcomes[result->outcome]++;
        d->outcome = result->outcome;
        d->stats = result->stats;
        snprintf(d->reason, sizeof d->reason, "%s", result->reason);
        run_store(r, d, result);
    }
}

/* The condemned leave; true where anyone stays. */
static bool keep_players(struct run *r)
{
    int n = 0;
    for (int i = 0; i < r->nplayed; i++) {
        const struct done *d = done_of(r, r->played[i]->index);
        if (d && d->outcome == OUT_OK)
            r->played[n++] = r->played[i];
        else
            job_free(r->played[i]);
    }
    r->nplayed = n;
    return n > 0;
}

/* Once more among those that stay, by whichever worker is ready next; where there are none, among the next best. */
static void play_again(struct run *r)
{
    struct done *best;
    if (keep_players(r))
        return;
    if (fastest(r, &best, 1) && r->playoffs < PLAYOFFS)
        playoff_begin(r);
    else
        tables_begin(r);
}

/* The play-off is over before its end. Whom it ended with plays once more; if it ends with him again, it is his fault as soon as the
 * next worker has passed the reference. Takes over what the result owns. */
static void broken_off(struct run *r, int at, struct result *result)
{
    r->playing = false;
    struct job *player = at >= 0 ? r->played[at] : NULL;
    if (player && player->suspected) {
        r->doubt = (struct doubt){ .job = player, .result = *result, .playing = true };
        *result = (struct result){ 0 };
        return;
    }
    if (player)
        player->suspected = true;
    else
        r->unexplained++;
    if (r->unexplained >= PLAYOFFS)
        tables_begin(r); /* what was measured before will have to do */
}

void playoff_died(struct run *r, bool struck, enum outcome outcome, const char *why)
{
    struct result result = { .outcome = outcome, .resources = { -1, -1, -1, -1 } };
    snprintf(result.reason, sizeof result.reason, "%.230s, in the play-off", why);
    broken_off(r, struck ? -1 : r->playing_at, &result);
}

void playoff_settled(struct run *r)
{
    condemn(r, r->doubt.job, &r->doubt.result);
    play_again(r);
}

/* The better measurement of one that is right still. */
static void keep_played(struct run *r, const struct job *job, struct result *result)
{
    struct done *d = done_of(r, job->index);
    if (!d || result->stats.n < 1)
        return;
    d->stats = result->stats;
    d->round = 1;
    result->compile_ms = job->compile_ms;
    run_store(r, d, result);
}

static int take_results(struct run *r, struct cursor *body, struct result *results)
{
    int n = 0, rc = get_u32(body) == (uint32_t)r->nplayed ? 0 : ERR_CORRUPT;
    while (!rc && n < r->nplayed)
        rc = result_get(body, &results[n++], NULL);
    return rc;
}

static void take_times(struct run *r, struct result *results)
{
    r->playing = false;
    for (int i = 0; i < r->nplayed && !r->failed; i++)
        if (results[i].outcome != OUT_OK)
            condemn(r, r->played[i], &results[i]);
        else
            keep_played(r, r->played[i], &results[i]);
    if (keep_players(r))
        tables_begin(r);
    else
        play_again(r);
}

void playoff_played(struct run *r, struct cursor *body)
{
    struct result results[PLAYOFF + 1] = { 0 };
    int rc = take_results(r, body, results);
    enum standing standing = get_u8(body);
    int at = standing == DOUBTFUL ? r->playing_at : -1; /* whom it ended with */
    if (rc || body->bad || standing > NO_VERDICT) {
        worker_garbage(r->meter); /* its end is that of this play-off */
    } else if (standing == STANDS) {
        take_times(r, results);
    } else {
        r->meter_leaves = standing == DOUBTFUL;
        r->meter_ready = !r->meter_leaves;
        broken_off(r, at, &results[at < 0 ? 0 : at]);
    }
    for (int i = 0; i <= PLAYOFF; i++)
        result_free(&results[i]);
}

/* One time cannot be told from another where each lies within the other's interval. */
static bool tied(const struct done *a, const struct done *b)
{
    return a->stats.median <= b->stats.ci_high && b->stats.median <= a->stats.ci_high && a->stats.median >= b->stats.ci_low &&
           b->stats.median >= a->stats.ci_low;
}

/* The fastest of the play-off, or of all where there was none; among ties the first of the space. */
static struct done *choose(struct run *r, int *ties)
{
    struct done *best = NULL, *first;
    int round = 0;
    for (int64_t i = 0; i < r->ndone; i++)
        if (r->done[i].outcome == OUT_OK && r->done[i].round > round)
            round = r->done[i].round;
    for (int64_t i = 0; i < r->ndone; i++) {
        struct done *d = &r->done[i];
        if (d->outcome == OUT_OK && d->round == round && (!best || d->stats.median < best->stats.median))
            best = d;
    }
    *ties = 0;
    first = best;
    for (int64_t i = 0; best && i < r->ndone; i++) {
        struct done *d = &r->done[i];
        if (d == best || d->outcome != OUT_OK || d->round != round || !tied(d, best))
            continue;
        ++*ties;
        if (d->index < first->index)
            first = d;
    }
    return first;
}

/* A compiler older than the device gives PTX for a binary: that is kept as what it is, and once. */
static bool binary_is_portable(const struct job *job)
{
    size_t n = job->portable.len;
    return n && job->binary.len >= n && memcmp(job->binary.data, job->portable.data, n) == 0;
}

static void fill_tuned(struct run *r, const struct job *job, struct tuned *t)
{
    memcpy(t->key, job->key, HASH_HEX);
    t->source = job->source.data;
    if (job->binary.len && !binary_is_portable(job)) {
        t->binary = job->binary.data;
        t->binary_bytes = job->binary.len;
        t->format = backend_find(r->dev->backend)->format;
        t->arch = r->dev->arch;
    }
    if (job->portable.len)
        t->portable = job->portable.data;
    if (job->binary.len)
        t->compiler = job->compiler;
    t->copy_ns = r->copy_ns;
}

static struct job *job_of(struct run *r, int64_t index)
{
    for (int i = 0; i < r->nplayed; i++)
        if (r->played[i]->index == index)
            return r->played[i];
    for (int i = 0; i <= PLAYOFF; i++)
        if (r->top[i] && r->top[i]->index == index)
            return r->top[i];
    return NULL;
}

/* An earlier run's winner that is at fault is served no longer, though nobody takes its place. */
static int drop_condemned(struct run *r, struct err *err)
{
    if (!winner_at_fault(r))
        return 0;
    r->had_winner = false;
    return store_forget_winner(r->store, &r->target, err);
}

static int keep_winner(struct run *r, struct err *err)
{
    const struct done *d = choose(r, &r->report->ties);
    const struct job *job = d ? job_of(r, d->index) : NULL;
    if (!job) /* nothing right, or nothing new */
        return drop_condemned(r, err);
    struct tuned *t = NULL;
    int rc = tuned_of(r->op, &d->config, &t, err);
    if (!rc) {
        fill_tuned(r, job, t);
        t->role = TUNED_WINNER;
        t->time_ns = d->stats.median;
        rc = store_winner(r->store, &r->target, t, err);
        memcpy(r->winner_key, d->key, HASH_HEX);
        r->had_winner = true;
    }
    tuned_free(t);
    return rc;
}

/* The op's defaults, each compiled: what a look-up gives where nothing is tuned. */
void tables_begin(struct run *r)
{
    r->phase = PHASE_TABLES;
    for (int i = 0; i < r->op->ndefaults; i++) {
        struct config c;
        config_of_default(r->op, i, &c);
        struct job *job = job_new(r, &c, -1);
        if (!job)
            return;
        job->rank = i;
        r->defaults_left++;
        queue_put(&r->queued, job);
    }
}

void tables_compiled(struct run *r, struct job *job)
{
    struct tuned *t = NULL;
    r->defaults_left--;
    if (job->source.len && !r->failed) {
        int rc = tuned_of(r->op, &job->config, &t, &r->why);
        if (!rc) {
            fill_tuned(r, job, t);
            t->role = TUNED_DEFAULT;
            t->rank = job->rank;
            t->copy_ns = 0;
            rc = store_default(r->store, r->dev, r->op, r->row, t, &r->why);
        }
        if (rc)
            run_fail(r, r->why.code, "%s", r->why.msg);
    }
    tuned_free(t);
    job_free(job);
}

static void fill_entry(const struct run *r, const struct done *d, struct tune_entry *out)
{
    if (!d)
        return;
    out->config = d->config;
    out->outcome = d->outcome;
    snprintf(out->reason, sizeof out->reason, "%s", d->reason);
    out->time_ns = d->stats.median;
    if (d->stats.median > 0) {
        out->gb_per_s = r->work_bytes / d->stats.median;
        out->gflop_per_s = r->work_flops / d->stats.median;
    }
}

static const struct done *by_key(const struct run *r, const char *key)
{
    for (int64_t i = 0; i < r->ndone; i++)
        if (!strcmp(r->done[i].key, key) && r->done[i].outcome == OUT_OK)
            return &r->done[i];
    return NULL;
}

int report_finish(struct run *r, struct err *err)
{
    struct tune_report *out = r->report;
    int rc = keep_winner(r, err);
    const struct done *best = r->had_winner ? by_key(r, r->winner_key) : NULL, *worst = NULL;
    int ties;
    if (!best)
        best = choose(r, &ties);
    for (int64_t i = 0; i < r->ndone; i++) {
        const struct done *d = &r->done[i];
        bool right = d->outcome == OUT_OK || d->outcome == OUT_SLOWER;
        if (right && (!worst || d->stats.median > worst->stats.median))
            worst = d;
    }
    fill_entry(r, best, &out->best);
    fill_entry(r, worst, &out->worst);
    fill_entry(r, r->default_index >= 0 ? done_of(r, r->default_index) : NULL, &out->deflt);
    out->copy_ns = r->copy_ns > 0 ? r->copy_ns : r->winner_copy_ns;
    if (out->copy_ns > 0)
        out->copy_gb_per_s = r->work_bytes / out->copy_ns;
    out->seconds = (double)(clock_ns() - r->start_ns) / 1e9;
    double working = r->first_ns ? (double)(clock_ns() - r->first_ns) / 1e9 : 0;
    if (working > 0)
        out->rate = (double)out->measured / working;
    if (r->failed) {
        err_set(err, r->failed, "%s", r->why.msg);
        return r->failed;
    }
    return rc;
}
