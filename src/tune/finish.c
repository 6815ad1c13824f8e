/* The end of a run: the best few against each other, the winner and the defaults into the tables, the report. */
#include <stdio.h>
#include <string.h>

#include "tune/run.h"

static bool is_right(const struct job *job)
{
    return job->done && job->outcome == OUT_OK;
}

void top_offer(struct run *r, struct job *job)
{
    for (int i = 0; i < PLAYOFF && job; i++)
        if (!r->top[i] || job->stats.median < r->top[i]->stats.median) {
            struct job *next = r->top[i];
            r->top[i] = job;
            job = next;
        }
    if (job && job->index != r->default_index)
        job_drop_code(job);
}

/* The `n` fastest of those that are right, ascending. */
static int fastest(struct run *r, struct job **out, int n)
{
    int have = 0;
    for (int i = 0; i < r->njobs; i++) {
        struct job *job = r->jobs[i];
        if (!is_right(job))
            continue;
        int at = have;
        while (at > 0 && out[at - 1]->stats.median > job->stats.median)
            at--;
        if (at == n)
            continue;
        have += have < n;
        for (int k = have - 1; k > at; k--)
            out[k] = out[k - 1];
        out[at] = job;
    }
    return have;
}

static void enter(struct run *r, struct job *job)
{
    job->retried = job->untried = false;
    if (job->binary.len) {
        r->players[r->nplayers++] = job;
        return;
    }
    r->missing++; /* measured by an earlier run: its code is gone */
    queue_put(&r->queued, job);
}

/* An earlier run's winner that is known to be at fault now. */
static bool winner_at_fault(const struct run *r)
{
    for (int i = 0; r->had_winner && i < r->njobs; i++)
        if (r->jobs[i]->done && r->jobs[i]->outcome != OUT_OK && !strcmp(r->jobs[i]->key, r->winner_key))
            return true;
    return false;
}

/* Not if its variant has changed since: then one of those that are known, but were not played off against it, takes its place. */
static bool winner_is_of_now(const struct run *r)
{
    const struct known *k = known_find(r, r->winner_key);
    return !k || k->of_now;
}

void playoff_begin(struct run *r)
{
    struct job *best[PLAYOFF] = { 0 };
    r->playoffs++;
    r->quiet_turn = false;
    int n = fastest(r, best, PLAYOFF);
    bool winner_stands = r->had_winner && !winner_at_fault(r) && winner_is_of_now(r);
    if (!n || (!r->report->measured && winner_stands)) {
        r->phase = PHASE_TABLES; /* nothing new: nothing to write either */
        return;
    }
    r->phase = PHASE_PLAYOFF;
    struct job *deflt = run_default(r);
    for (int i = 0; i < n; i++) {
        enter(r, best[i]);
        if (best[i] == deflt)
            deflt = NULL;
    }
    if (deflt && is_right(deflt))
        enter(r, deflt);
    if (!r->meter && !r->failed)
        meter_start(r);
}

void playoff_compiled(struct run *r, struct job *job)
{
    r->missing--;
    if (job->binary.len)
        r->players[r->nplayers++] = job;
    if (!r->missing && !r->nplayers)
        tables_begin(r);
}

/* It was right before, and is not: what was measured of it, and of what compiles to the same, is taken back. */
static void take_back(struct run *r, const struct job *player, const struct result *result)
{
    for (int i = 0; i < r->njobs; i++) {
        struct job *job = r->jobs[i];
        if (!is_right(job) || strcmp(job->key, player->key))
            continue;
        r->report->outcomes[job->outcome]--;
        r->report->outcomes[result->outcome]++;
        job->outcome = result->outcome;
        job->stats = result->stats;
        memcpy(job->reason, result->reason, sizeof job->reason);
        run_store(r, job, result);
    }
}

/* The condemned leave; true if anyone stays. */
static bool keep_players(struct run *r)
{
    int n = 0;
    for (int i = 0; i < r->nplayers; i++)
        if (is_right(r->players[i]))
            r->players[n++] = r->players[i];
    r->nplayers = n;
    return n > 0;
}

/* The players that stay play again, once a worker is ready; if none stay, the next best play. */
static void play_again(struct run *r)
{
    struct job *best;
    if (keep_players(r))
        return;
    if (fastest(r, &best, 1) && r->playoffs < PLAYOFFS)
        playoff_begin(r);
    else
        tables_begin(r);
}

/* Who it ended with plays once more. */
void playoff_broken(struct run *r, int at, struct result *result)
{
    r->playing = false;
    if (at >= 0)
        meter_doubts(r, r->players[at], result);
    else if (++r->unexplained >= UNEXPLAINED)
        tables_begin(r); /* what was measured before will have to do */
}

void playoff_condemned(struct run *r)
{
    take_back(r, r->doubt.job, &r->doubt.result);
    play_again(r);
}

/* The better measurement of one that is right still. */
static void keep_played(struct run *r, struct job *job, const struct result *result)
{
    if (result->stats.n < 1)
        return;
    job->stats = result->stats;
    job->played = true;
    run_store(r, job, result);
}

void playoff_played(struct run *r, struct result *results)
{
    r->playing = false;
    for (int i = 0; i < r->nplayers && !r->failed; i++)
        if (results[i].outcome != OUT_OK)
            take_back(r, r->players[i], &results[i]);
        else
            keep_played(r, r->players[i], &results[i]);
    if (keep_players(r))
        tables_begin(r);
    else
        play_again(r);
}

/* One time cannot be told from another if each lies within the other's interval. */
static bool tied(const struct job *a, const struct job *b)
{
    return a->stats.median <= b->stats.ci_high && b->stats.median <= a->stats.ci_high && a->stats.median >= b->stats.ci_low &&
           b->stats.median >= a->stats.ci_low;
}

/* The fastest of the play-off, or of all if there was none; among ties the first of the space. */
static const struct job *choose(const struct run *r, int *ties)
{
    const struct job *best = NULL, *first;
    bool played = false;
    for (int i = 0; i < r->njobs; i++)
        played = played || (is_right(r->jobs[i]) && r->jobs[i]->played);
    for (int i = 0; i < r->njobs; i++) {
        const struct job *job = r->jobs[i];
        if (is_right(job) && job->played == played && (!best || job->stats.median < best->stats.median))
            best = job;
    }
    *ties = 0;
    first = best;
    for (int i = 0; best && i < r->njobs; i++) {
        const struct job *job = r->jobs[i];
        if (job == best || !is_right(job) || job->played != played || !tied(job, best))
            continue;
        ++*ties;
        if (job->index < first->index)
            first = job;
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

/* An earlier run's winner that is at fault is no longer served, even if there is no other. */
static int drop_condemned(struct run *r, struct err *err)
{
    if (!winner_at_fault(r))
        return 0;
    r->had_winner = false;
    return store_forget_winner(r->store, &r->target, err);
}

static int keep_winner(struct run *r, struct err *err)
{
    const struct job *job = choose(r, &r->report->ties);
    if (!job || !job->binary.len) /* nothing right, or nothing new */
        return drop_condemned(r, err);
    struct tuned *t = NULL;
    int rc = tuned_of(r->op, &job->config, &t, err);
    if (!rc) {
        fill_tuned(r, job, t);
        t->role = TUNED_WINNER;
        t->time_ns = job->stats.median;
        rc = store_winner(r->store, &r->target, t, err);
        memcpy(r->winner_key, job->key, HASH_HEX);
        r->had_winner = true;
    }
    tuned_free(t);
    return rc;
}

/* The op's defaults, each compiled: what a look-up gives if nothing is tuned. */
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
        int rc = tuned_of(r->op, &job->config, &t, &r->err);
        if (!rc) {
            fill_tuned(r, job, t);
            t->role = TUNED_DEFAULT;
            t->rank = job->rank;
            t->copy_ns = 0;
            rc = store_default(r->store, r->dev, r->op, r->row, t, &r->err);
        }
        run_check(r, rc);
    }
    tuned_free(t);
    job_drop_code(job);
}

static void fill_entry(const struct run *r, const struct job *job, struct tune_entry *out)
{
    if (!job)
        return;
    out->config = job->config;
    out->outcome = job->outcome;
    memcpy(out->reason, job->reason, sizeof out->reason);
    out->time_ns = job->stats.median;
    if (job->stats.median > 0) {
        out->gb_per_s = r->work_bytes / job->stats.median;
        out->gflop_per_s = r->work_flops / job->stats.median;
    }
}

int report_finish(struct run *r, struct err *err)
{
    struct tune_report *out = r->report;
    int ties, rc = keep_winner(r, err);
    const struct job *best = NULL, *worst = NULL;
    for (int i = 0; i < r->njobs; i++) {
        const struct job *job = r->jobs[i];
        bool timed = is_right(job) || (job->done && job->outcome == OUT_SLOWER);
        if (timed && (!worst || job->stats.median > worst->stats.median))
            worst = job;
        if (!best && r->had_winner && is_right(job) && !strcmp(job->key, r->winner_key))
            best = job;
    }
    fill_entry(r, best ? best : choose(r, &ties), &out->best);
    fill_entry(r, worst, &out->worst);
    fill_entry(r, run_default(r), &out->deflt);
    out->copy_ns = r->copy_ns > 0 ? r->copy_ns : r->winner_copy_ns;
    if (out->copy_ns > 0)
        out->copy_gb_per_s = r->work_bytes / out->copy_ns;
    out->seconds = (double)(clock_ns() - r->start_ns) / 1e9;
    double working = r->first_ns ? (double)(clock_ns() - r->first_ns) / 1e9 : 0;
    if (working > 0)
        out->rate = (double)out->measured / working;
    return r->failed ? err_set(err, r->failed, "%s", r->why.msg) : rc;
}
