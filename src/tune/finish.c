/* The end of a run: the best few against each other, the winner and the defaults into the tables, the report. */
#include <math.h>
#include <string.h>

#include "model/head.h"
#include "model/kernel.h"
#include "tune/run.h"

static bool is_right(const struct job *job)
{
    return job->known && job->known->outcome == OUT_OK;
}

/* Into a list of at most n, the best first; what has no cost does not get in. Returns the one that drops out of it; null if none does. */
static struct job *insert(struct run *r, const struct objective *o, struct job **list, int n, struct job *job)
{
    if (isnan(goal_cost(r, o, job)))
        return job;
    for (int i = 0; i < n && job; i++)
        if (!list[i] || goal_cost(r, o, job) < goal_cost(r, o, list[i])) {
            struct job *next = list[i];
            list[i] = job;
            job = next;
        }
    return job;
}

void top_offer(struct run *r, struct job *job)
{
    job = insert(r, &r->goal, r->top, PLAYOFF, job);
    if (job && job != r->deflt)
        job_drop_code(job);
}

/* The n best of those that are right, the best first; null after the last. */
static void best_by(struct run *r, const struct objective *o, struct job **out, int n)
{
    memset(out, 0, (size_t)n * sizeof(struct job *));
    for (int i = 0; i < r->njobs; i++)
        if (is_right(r->jobs[i]))
            insert(r, o, out, n, r->jobs[i]);
}

/* Whether its samples leave it open. On a processor they leave too much open. */
static bool may_be_best(const struct run *r, const struct job *job, const struct job *best)
{
    return r->goal.by == BY_TIME && !r->dev->shares_cores && job->known->stats.ci_low <= best->known->stats.ci_high;
}

/* Who plays: the best by the run's objective, and who may be; if that is not the op's, some are the best by that. */
static void choose_players(struct run *r, struct job **out)
{
    struct job *own[PLAYOFF];
    const int others = r->other_goal ? OWN_PLAYERS : 0, sure = effort_of(r)->players - others;
    int n = 0;
    best_by(r, &r->goal, out, PLAYOFF);
    best_by(r, &r->own_goal, own, PLAYOFF);
    for (int i = 0; i < PLAYOFF && out[i] && n < PLAYOFF - others; i++)
        if (i < sure || may_be_best(r, out[i], out[0]))
            out[n++] = out[i];
    for (int i = 0; r->other_goal && i < OWN_PLAYERS && own[i]; i++) {
        int at = 0;
        while (at < n && out[at] != own[i])
            at++;
        out[at] = own[i];
        n += at == n;
    }
    for (; n < PLAYOFF; n++)
        out[n] = NULL;
}

/* Whether a play-off could still tell something of it: so much does no median err. */
static bool is_close(const struct run *r, const struct job *job, const struct job *best, double behind)
{
    return r->goal.by != BY_TIME || r->other_goal || job->known->stats.median <= behind * best->known->stats.median;
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

/* What is known of an earlier run's winner; null if nothing. */
static const struct known *known_winner(const struct run *r)
{
    return r->had_winner ? known_find(r, r->kept.key) : NULL;
}

bool cuts_taken_back(struct run *r)
{
    bool any = false;
    for (int i = 0; i < r->njobs && !budget_over(r); i++) {
        struct job *job = r->jobs[i];
        double cut = job->known && job->known->outcome == OUT_SLOWER ? goal_cut(r, &job->config) : -1;
        if (cut < 0 || (cut > 0 && job->known->stats.median > cut))
            continue;
        any = job->known->unsettled = true;
        job->known = NULL;
        job->retried = job->untried = false;
        r->report->tried--;
        queue_put_in_order(&r->queued, job);
    }
    return any;
}

/* An earlier run's winner plays, too, if this one has not tried it: a run of a few tries would else put a worse one in its place. */
static void bring_winner(struct run *r)
{
    struct known *known = r->had_winner ? known_find(r, r->kept.key) : NULL;
    struct config config;
    bool needless = r->winner_index < 0 || r->opt->pin || !known || known->outcome != OUT_OK || !known->of_now;
    for (int i = 0; i < r->njobs; i++)
        needless = needless || r->jobs[i]->index == r->winner_index;
    if (needless)
        return;
    space_at(r->space, r->winner_index, &config);
    struct job *job = job_new(r, &config, r->winner_index);
    if (!job)
        return;
    job->known = known;
    job->brought = true;
    memcpy(job->key, r->kept.key, HASH_HEX);
}

/* A reference from outside is not asked for larger problems: it may take long. */
static bool is_grown(const struct run *r, const struct known *k)
{
    return k->grown || r->op->outside;
}

void playoff_begin(struct run *r)
{
    struct job *best[PLAYOFF], *deflt = r->deflt;
    const struct known *winner = known_winner(r);
    /* An earlier run's winner may stay without a play-off, unless it is at fault, its variant has changed since, or it was never run for a
     * larger problem. */
    bool alone = winner && r->kept.alone && !winner->alone; /* it stands in for those that were at fault there */
    bool stands = r->had_winner && r->winner_by_now &&
                  (!winner || (winner->outcome == OUT_OK && winner->of_now && (alone || is_grown(r, winner))));
    r->playoffs++;
    r->quiet_turn = false;
    choose_players(r, best);
    if (best[0])
        bring_winner(r);
    if (!best[0] || (!r->report->measured && stands)) {
        r->phase = PHASE_TABLES; /* nothing new: nothing to write either */
        return;
    }
    choose_players(r, best);
    r->phase = PHASE_PLAYOFF;
    for (int i = 0; i < PLAYOFF && best[i] && is_close(r, best[i], best[0], 1.5); i++) {
        enter(r, best[i]);
        if (best[i] == deflt)
            deflt = NULL;
    }
    if (deflt && is_right(deflt) && is_close(r, deflt, best[0], 4)) /* so that its time is comparable */
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

/* Whether there is another play-off. The last is for this problem only, if so many were at fault for larger ones, and none was right. */
static bool plays_again(struct run *r)
{
    if (r->playoffs < PLAYOFFS)
        return true;
    const struct known *winner = known_winner(r);
    bool kept = r->had_winner && (!winner || winner->outcome == OUT_OK), ends = !r->outgrown || r->report->own_only || kept;
    for (int i = 0; i < r->njobs; i++)
        ends = ends || (is_right(r->jobs[i]) && is_grown(r, r->jobs[i]->known));
    if (ends)
        return false;
    r->report->own_only = r->grow_not = true;
    r->playoffs = PLAYOFFS - 1;
    return true;
}

/* The condemned leave. Then the best of those that are left play, what was cut for being behind them among these. False then. */
static bool keep_players(struct run *r)
{
    struct job *best;
    int n = 0;
    for (int i = 0; i < r->nplayers; i++)
        if (is_right(r->players[i]))
            r->players[n++] = r->players[i];
    const bool all = n == r->nplayers;
    r->nplayers = n;
    if (all)
        return true;
    goal_find_best(r);
    if (r->playoffs == PLAYOFFS && n)
        return true;
    r->nplayers = 0;
    best_by(r, &r->goal, &best, 1);
    if (r->playoffs < PLAYOFFS && cuts_taken_back(r))
        r->phase = PHASE_SEARCH;
    else if (best && plays_again(r))
        playoff_begin(r);
    else
        tables_begin(r);
    return false;
}

/* The player that it ended with plays once more. */
void playoff_broken(struct run *r, int at, struct result *result)
{
    r->playing = false;
    if (at >= 0)
        meter_doubts(r, r->players[at], result);
    else if (r->growing)
        r->grow_not = true;
    else if (++r->unexplained >= UNEXPLAINED)
        tables_begin(r); /* what was measured before will have to do */
}

void playoff_condemned(struct run *r)
{
    run_store(r, r->doubt.job, &r->doubt.result); /* for what compiles to the same, too */
    run_trial(r, r->doubt.job, TRIAL_PLAYOFF);
    r->outgrown += r->growing;
    keep_players(r);
}

void playoff_grown(struct run *r, struct result *results)
{
    bool all = true;
    r->playing = false;
    for (int i = 0; i < r->nplaying && !r->failed; i++) {
        r->players[i]->known->grown = results[i].outcome == OUT_OK;
        if (results[i].outcome == OUT_OK)
            continue;
        all = false;
        run_store(r, r->players[i], &results[i]);
        run_trial(r, r->players[i], TRIAL_PLAYOFF);
    }
    if (!all && r->outgrown++ < OUTGROWN)
        r->playoffs--;
    keep_players(r);
}

void playoff_played(struct run *r, struct result *results)
{
    r->playing = false;
    for (int i = 0; i < r->nplayers && !r->failed; i++) {
        /* One that sat out keeps its earlier time; one whose twin, which compiles to the same, has just failed is no longer right. */
        bool counts = results[i].outcome != OUT_OK || (results[i].stats.n > 0 && is_right(r->players[i]));
        r->players[i]->played = counts;
        if (!counts)
            continue;
        results[i].alone = r->players[i]->known->alone; /* it plays on its own problem only */
        results[i].grown = r->players[i]->known->grown;
        run_store(r, r->players[i], &results[i]);
        run_trial(r, r->players[i], TRIAL_PLAYOFF);
    }
    if (keep_players(r))
        tables_begin(r);
}

/* The best of the play-off, or of all if there was none; among ties the first of the space. Two tie if neither can be told from the other:
 * each lies within the other's interval. */
static const struct job *choose(struct run *r, const struct objective *o, int *ties)
{
    const bool any = !r->outgrown || r->report->own_only; /* else what was not run for larger problems may be like those at fault */
    struct job *all = NULL, *played = NULL;
    for (int i = 0; i < r->njobs; i++) {
        if (is_right(r->jobs[i]) && (any || is_grown(r, r->jobs[i]->known)))
            insert(r, o, &all, 1, r->jobs[i]);
        if (is_right(r->jobs[i]) && r->jobs[i]->played)
            insert(r, o, &played, 1, r->jobs[i]);
    }
    const struct job *best = played ? played : all, *first = best;
    *ties = 0;
    for (int i = 0; best && i < r->njobs; i++) {
        const struct job *job = r->jobs[i];
        bool tie = job != best && is_right(job) && !isnan(goal_cost(r, o, job)) && goal_tied(r, o, job, best);
        *ties += tie;
        if (tie && job->played == best->played && job->index < first->index)
            first = job;
    }
    return first;
}

/* The job as what a look-up gives. */
static int store_kernel(struct run *r, const struct job *job, enum tuned_role role, struct err *err)
{
    struct tuned *t = NULL;
    struct target to = r->target;
    bool winner = role == TUNED_WINNER;
    struct op op = *r->op;
    struct served as;
    to.pinned = r->opt->pin;
    size_t n = job->portable.len;
    op_as_default(r->op, winner ? &(struct op_default){ .config = job->config } : job->deflt, &as);
    op.ndefaults = r->ndefaults;
    int rc = tuned_of(&as.op, &as.config, &t, err);
    rc = rc ?: kernel_call(t->op, job->entries.data, job->entries.len, err);
    if (rc) {
        tuned_free(t);
        return rc;
    }
    memcpy(t->key, job->key, HASH_HEX);
    t->role = role;
    t->source = job->source.data;
    t->portable = n ? job->portable.data : NULL;
    t->compiler = job->binary.len ? job->compiler : NULL;
    /* A compiler older than the device gives PTX for a binary: that is kept as what it is, and once. */
    bool portable = n && job->binary.len >= n && memcmp(job->binary.data, job->portable.data, n) == 0;
    if (job->binary.len && !portable) {
        t->binary = job->binary.data;
        t->binary_bytes = job->binary.len;
        t->format = backend_find(r->dev->backend)->format;
        t->arch = r->dev->arch;
    }
    t->rank = job->rank;
    t->time_ns = winner ? job->known->stats.median : 0;
    t->copy_ns = winner ? r->copy_ns : 0;
    t->alone = winner && (job->known->alone || r->report->own_only);
    rc = winner ? store_winner(r->store, &to, t, err) : store_default(r->store, r->dev, &op, r->task.row, t, err);
    tuned_free(t);
    return rc;
}

/* Whether an earlier run's winner is not to be given any more: its code is at fault. If nothing was right: or so is what its variant makes of its
 * configuration by another compiler or under closer checks; or the op no longer has it. What another template makes says nothing of it. */
static bool winner_is_out(const struct run *r, bool any_right)
{
    const struct known *k = known_winner(r);
    bool out = k && k->outcome != OUT_OK;
    if (any_right || out || r->failed || !r->report->tried)
        return out;
    for (int i = 0; i < r->njobs && (!k || k->of_now); i++) {
        const struct job *job = r->jobs[i];
        bool again = job->index == r->winner_index && job->known;
        out = out || (again && job->known->outcome >= OUT_LAUNCH_ERROR && job->known->outcome <= OUT_CRASH);
    }
    return out || r->winner_index < 0;
}

static int keep_winner(struct run *r, const struct job *job, struct err *err)
{
    if (job && job->binary.len) {
        memcpy(r->kept.key, job->key, HASH_HEX);
        r->had_winner = true;
        return store_kernel(r, job, TUNED_WINNER, err);
    }
    const bool out = r->had_winner && winner_is_out(r, job); /* no longer served, even if there is no other */
    if (r->had_winner && !job)
        r->report->earlier = out ? "forgotten" : "kept";
    r->had_winner = r->had_winner && !out;
    return out || !job ? store_forget_failed(r->store, &r->target, out, err) : 0;
}

/* The op's defaults for these types and this backend, each compiled: what a look-up gives if nothing is tuned. */
void tables_begin(struct run *r)
{
    r->phase = PHASE_TABLES;
    for (int i = 0; i < r->op->ndefaults && !r->opt->pin; i++) {
        struct served as;
        bool serves = false;
        op_as_default(r->op, &r->op->defaults[i], &as);
        run_check(r, default_serves(&as, r->task.row, r->dev, &serves, &r->err));
        struct job *job = serves ? job_new(r, &r->op->defaults[i].config, -1) : NULL;
        if (r->failed)
            return;
        if (!serves)
            continue;
        job->deflt = &r->op->defaults[i];
        job->rank = r->ndefaults++;
        r->defaults_left++;
        queue_put(&r->queued, job);
    }
}

void tables_compiled(struct run *r, struct job *job)
{
    r->defaults_left--;
    bool named = job->source.len && (job->entries.len || !head_asks(job->source.data));
    if (named && !r->failed)
        run_check(r, store_kernel(r, job, TUNED_DEFAULT, &r->err));
    job_drop_code(job);
}

static void fill_entry(struct run *r, const struct job *job, struct tune_entry *out)
{
    if (!job || !job->known)
        return;
    const struct known *k = job->known;
    out->config = job->config;
    out->outcome = k->outcome;
    out->alone = k->alone;
    memcpy(out->reason, k->reason, sizeof out->reason);
    out->time_ns = k->stats.median;
    out->joules = k->energy.joules;
    if (out->time_ns > 0) {
        out->gb_per_s = r->target.bytes / out->time_ns;
        out->gflop_per_s = r->target.flops / out->time_ns;
    }
    for (int i = 0; i < r->op->nmetrics; i++)
        out->metrics[i] = out->time_ns > 0 ? goal_metric(r, &job->config, i, out->time_ns, out->joules) : NAN;
}

/* The slowest that is right; by another objective the one that does worst by it. */
static const struct job *worse(struct run *r, const struct job *a, const struct job *b)
{
    bool slower = !b || a->known->stats.median > b->known->stats.median;
    double cost = goal_cost(r, &r->goal, a), most = b ? goal_cost(r, &r->goal, b) : NAN;
    return (r->goal.by == BY_TIME ? slower : !isnan(cost) && !(cost <= most)) ? a : b;
}

int report_finish(struct run *r, struct err *err)
{
    struct tune_report *out = r->report;
    const struct job *best = choose(r, &r->goal, &out->ties), *worst = NULL, *winner = NULL;
    int ties;
    int rc = keep_winner(r, r->other_goal ? choose(r, &r->own_goal, &ties) : best, err);
    for (int i = 0; i < r->njobs; i++) {
        const struct job *job = r->jobs[i];
        const struct known *k = job->known;
        if (!k)
            continue;
        out->outcomes[k->outcome] += !job->brought;
        out->nalone += k->outcome == OUT_OK && k->alone && !job->brought;
        out->hinted += job->hinted;
        bool timed = !job->brought && (k->outcome == OUT_OK || k->outcome == OUT_SLOWER);
        worst = timed ? worse(r, job, worst) : worst;
        if (!winner && r->had_winner && is_right(job) && !strcmp(job->key, r->kept.key))
            winner = job;
    }
    const struct job *shown = winner && !r->other_goal ? winner : best;
    fill_entry(r, shown, &out->best);
    out->best.alone = out->best.alone || out->own_only;
    out->best_hinted = shown && shown->hinted;
    out->best_brought = shown && shown->brought;
    if (r->other_goal)
        fill_entry(r, winner, &out->served);
    snprintf(out->objective, sizeof out->objective, "%s", objective_name(r->op, &r->goal));
    snprintf(out->served_by, sizeof out->served_by, "%s", r->other_goal ? objective_name(r->op, &r->own_goal) : "");
    snprintf(out->no_value, sizeof out->no_value, "%.255s", r->no_value.code ? r->no_value.msg : "");
    fill_entry(r, worst, &out->worst);
    fill_entry(r, r->deflt, &out->deflt);
    out->copy_ns = r->copy_ns > 0 ? r->copy_ns : r->kept.copy_ns;
    if (out->copy_ns > 0)
        out->copy_gb_per_s = r->target.bytes / out->copy_ns;
    out->ended = out->interrupted ? END_NONE : out->ended;
    out->target_share = target_share(r, out->best.time_ns);
    out->seconds = run_seconds(r->start_ns);
    out->rate = r->first_ns ? (double)out->measured / run_seconds(r->first_ns) : 0;
    return r->failed ? err_set(err, r->failed, "%s", r->why.msg) : rc;
}
