/* `cutune simulate`: strategies on recorded spaces. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "cli/run.h"
#include "op/load.h"
#include "replay/play.h"
#include "replay/played.h"

enum {
    MAX_STRATEGIES = 32,
    MAX_REPEATS = 10000,
    USUAL_REPEATS = 100,
    FEW = 15, /* a budget of fewer configurations: chance decides */
};

struct simulation {
    const char *home;
    struct play play;
    struct tables tables;
    const char *strategies[MAX_STRATEGIES];
    int nstrategies, nown; /* nown of these are ours */
    char *names;           /* what strategies points into */
    struct score *scores;  /* by strategy, then usable table */
    int usable;            /* tables in which there is something to find */
    struct played *played; /* by other tuners: strategies, too, after ours */
    int nplayed;
    bool json;
    struct rows rows;
};

/* A line of what is printed. */
struct score_line {
    const char *table, *strategy;
    struct score score;
    int64_t configurations, right, budget;
    double budget_s, optimum_ns;
    int repeats, jobs;
    int64_t seed;
};

static json_t *unless_nan(double v)
{
    return json_value(isfinite(v) ? val_float(v) : (struct val){ 0 });
}

static json_t *json_p(const void *row)
{
    return unless_nan(((const struct score_line *)row)->score.p);
}

static json_t *json_low(const void *row)
{
    return unless_nan(((const struct score_line *)row)->score.low);
}

static json_t *json_high(const void *row)
{
    return unless_nan(((const struct score_line *)row)->score.high);
}

static json_t *json_three(const double v[3])
{
    json_t *object = json_object();
    for (int w = 0; w < 3; w++) {
        char name[8];
        snprintf(name, sizeof name, "%.0f%%", 100 * within[w]);
        object = json_with(object, name, unless_nan(v[w]));
    }
    return object;
}

static json_t *json_evaluations(const void *row)
{
    return json_three(((const struct score_line *)row)->score.evaluations);
}

static json_t *json_seconds(const void *row)
{
    return json_three(((const struct score_line *)row)->score.seconds);
}

static void text_score(struct buf *out, const void *row)
{
    const struct score *s = &((const struct score_line *)row)->score;
    buf_fmt(out, "%.3f (%.3f to %.3f)", s->p, s->low, s->high);
}

static void text_within(struct buf *out, const void *row, int w)
{
    const struct score *s = &((const struct score_line *)row)->score;
    if (isfinite(s->seconds[w]))
        buf_fmt(out, "%.4g, %.3g s", s->evaluations[w], s->seconds[w]);
    else
        buf_str(out, "-");
}

static void text_within_0(struct buf *out, const void *row)
{
    text_within(out, row, 0);
}

static void text_within_1(struct buf *out, const void *row)
{
    text_within(out, row, 1);
}

static void text_within_2(struct buf *out, const void *row)
{
    text_within(out, row, 2);
}

static const struct row_column columns[] = {
    { "table", FIELD(struct score_line, table) },
    { "strategy", "strategy", FIELD(struct score_line, strategy) },
    { "score", .json = json_p },
    { "score_low", .json = json_low },
    { "score_high", .json = json_high },
    { .head = "score (95% interval)", .text = text_score, .right = true },
    { .head = "within 10%", .text = text_within_0, .right = true },
    { .head = "within 5%", .text = text_within_1, .right = true },
    { .head = "within 2%", .text = text_within_2, .right = true },
    { "evaluations", .json = json_evaluations },
    { "seconds", .json = json_seconds },
    { "configurations", FIELD(struct score_line, configurations) },
    { "right", FIELD(struct score_line, right) },
    { "budget", FIELD(struct score_line, budget) },
    { "budget_s", FIELD(struct score_line, budget_s) },
    { "optimum_ns", FIELD(struct score_line, optimum_ns) },
    { "repeats", FIELD(struct score_line, repeats) },
    { "jobs", FIELD(struct score_line, jobs) },
    { "seed", FIELD(struct score_line, seed) },
    { 0 },
};

/* ---- the command line */

static int read_strategies(struct simulation *s, const char *words, struct err *err)
{
    s->names = mem_strdup(words ? words : "random");
    if (!s->names)
        return err_nomem(err);
    char *save = NULL;
    for (char *name = strtok_r(s->names, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
        if (s->nstrategies == MAX_STRATEGIES)
            return err_set(err, ERR_USAGE, "--strategy: at most %d of them", MAX_STRATEGIES);
        int rc = strategy_named(s->home, name, err);
        if (rc)
            return rc;
        s->strategies[s->nstrategies++] = name;
    }
    return s->nstrategies ? 0 : err_set(err, ERR_USAGE, "--strategy '': names of strategies are wanted: random,genetic");
}

static int read_numbers(struct simulation *s, const struct args *args, struct err *err)
{
    uint64_t seed = 1, repeats = USUAL_REPEATS, jobs = 0;
    if (args->seed && !number_read(args->seed, INT64_MAX, &seed))
        return err_set(err, ERR_USAGE, "--seed '%.40s': a whole number of 0 to %" PRId64 " is wanted", args->seed, INT64_MAX);
    if (args->repeats && (!number_read(args->repeats, MAX_REPEATS, &repeats) || !repeats))
        return err_set(err, ERR_USAGE, "--repeats '%.40s': a whole number of 1 to %d is wanted", args->repeats, MAX_REPEATS);
    if (args->jobs && !number_read(args->jobs, MAX_PLAY_JOBS, &jobs))
        return err_set(err, ERR_USAGE, "--jobs '%.40s': a whole number of 0 to %d is wanted", args->jobs, MAX_PLAY_JOBS);
    s->play = (struct play){ s->home, NULL, seed, (int)repeats, core_count(), (int)jobs };
    return 0;
}

/* The strategies of other tuners, by name, after ours. */
static int read_played(struct simulation *s, const char *path, struct err *err)
{
    s->nown = s->nstrategies;
    if (!path)
        return 0;
    int rc = played_read(path, &s->tables, &s->played, &s->nplayed, err);
    for (int i = 0; !rc && i < s->nplayed; i++) {
        bool known = false;
        for (int k = s->nown; k < s->nstrategies; k++)
            known = known || !strcmp(s->strategies[k], s->played[i].strategy);
        if (!known && s->nstrategies == MAX_STRATEGIES)
            return err_set(err, ERR_INVALID, "%s: with --strategy at most %d strategies", path, MAX_STRATEGIES);
        if (!known)
            s->strategies[s->nstrategies++] = s->played[i].strategy;
    }
    return rc;
}

/* ---- the simulation */

static void add_line(struct simulation *s, const char *title, const char *table, const struct recorded_space *t,
                     const struct yardstick *y, const char *strategy, const struct score *score)
{
    struct score_line line = {
        table, strategy, *score, .repeats = s->play.repeats, .jobs = s->play.jobs, .seed = (int64_t)s->play.seed
    };
    line.configurations = t ? t->space->count : -1;
    line.right = y ? y->right : -1;
    line.budget = y ? y->to : -1;
    line.budget_s = y ? y->to_s : 0;
    line.optimum_ns = y ? y->ascending[0] : 0;
    rows_add(&s->rows, title, &line);
}

static const struct played *played_of(const struct simulation *s, int strategy, int table)
{
    for (int i = 0; i < s->nplayed; i++)
        if (s->played[i].table == table && !strcmp(s->played[i].strategy, s->strategies[strategy]))
            return &s->played[i];
    return NULL;
}

/* One strategy on one space. */
static int simulate_one(struct simulation *s, int strategy, int table, const struct yardstick *y, struct score *out,
                        struct err *err)
{
    const struct played *other = strategy < s->nown ? NULL : played_of(s, strategy, table);
    const struct recorded_space *t = s->tables.at[table];
    if (strategy >= s->nown && !other)
        return err_set(err, ERR_INVALID, "%s: nothing is there that %s tried", t->title, s->strategies[strategy]);
    if (other)
        return score_of(t, y, other->runs, other->nruns, s->play.seed, NULL, out, err);
    s->play.strategy = s->strategies[strategy];
    struct tries *tries = mem_array((size_t)s->play.repeats, sizeof *tries);
    int rc = tries ? 0 : err_nomem(err);
    rc = rc ?: play(t, &s->play, yardstick_end(y), tries, err) ?: score_of(t, y, tries, s->play.repeats, s->play.seed, NULL, out, err);
    int idle = 0;
    for (int i = 0; !rc && i < s->play.repeats; i++)
        idle += !tries[i].n;
    if (idle)
        complain("note: %s: %s proposed nothing in %d of %d repeats", t->title, s->strategies[strategy], idle, s->play.repeats);
    if (tries)
        tries_free(tries, s->play.repeats);
    mem_free(tries);
    if (rc)
        err_prefix(err, "%s: ", t->title);
    return rc;
}

/* What makes a score say little. That configurations are missing no table tells. */
static void warn(const struct recorded_space *t, const struct yardstick *y)
{
    int64_t cut = 0;
    for (int64_t i = 0; i < t->space->count; i++)
        cut += t->trials[i].slower;
    if (cut)
        complain("note: %s: %" PRId64 " of %" PRId64 " configurations were cut short, so their times are rough: tune with "
                 "--strategy exhaustive --no-cut",
                 t->title, cut, t->space->count);
    if (y->to < FEW)
        complain("note: %s: random search comes near the best within %" PRId64 " configurations: too few to tell strategies apart",
                 t->title, y->to);
}

static int simulate_table(struct simulation *s, int table, struct err *err)
{
    const struct recorded_space *t = s->tables.at[table];
    struct yardstick y;
    struct buf title = { 0 };
    int rc = yardstick_of(t, &y, err);
    if (rc == ERR_INVALID && s->tables.n > 1) { /* others are searched */
        complain("%s", err->msg);
        return 0;
    }
    if (rc)
        return rc;
    warn(t, &y);
    buf_fmt(&title, "%s: %" PRId64 " configurations, %" PRId64 " right; budget %.4g s, about %" PRId64 " of them; optimum %s%s",
            t->title, t->space->count, y.right, y.to_s, y.to, text_time(y.ascending[0]),
            t->costs ? "" : "; it has no times of compiling and measuring: each configuration counts a second");
    for (int i = 0; !rc && i < s->nstrategies; i++) {
        struct score *score = &s->scores[i * s->tables.n + s->usable];
        rc = simulate_one(s, i, table, &y, score, err);
        if (!rc)
            add_line(s, buf_text(&title), t->title, t, &y, s->strategies[i], score);
    }
    buf_free(&title);
    yardstick_free(&y);
    s->usable++;
    return rc;
}

static int simulate(struct request *r, struct err *err)
{
    struct simulation s = { .json = r->args.json };
    int rc = r->args.words.n ? 0 : err_set(err, ERR_USAGE, "a file with a recorded space is wanted: cutune simulate TABLE.json");
    rc = rc ?: home_find(&s.home, err) ?: read_strategies(&s, r->args.strategy, err) ?: read_numbers(&s, &r->args, err);
    for (int i = 0; !rc && i < r->args.words.n; i++)
        rc = tables_read(r->args.words.at[i], &s.tables, err);
    rc = rc ?: read_played(&s, r->args.played, err);
    s.scores = rc ? NULL : mem_array((size_t)s.nstrategies * (size_t)s.tables.n, sizeof *s.scores);
    if (!rc && !s.scores)
        rc = err_nomem(err);
    s.rows = rows_of(columns, s.json);
    for (int i = 0; !rc && i < s.tables.n; i++)
        rc = simulate_table(&s, i, err);
    if (!rc && !s.usable)
        rc = err_set(err, ERR_INVALID, "there is nothing to find in any of the %d spaces", s.tables.n);
    for (int i = 0; !rc && s.usable > 1 && i < s.nstrategies; i++) {
        struct score mean = score_mean(&s.scores[i * s.tables.n], s.usable);
        char title[40];
        snprintf(title, sizeof title, "all %d", s.usable);
        add_line(&s, title, "all", NULL, NULL, s.strategies[i], &mean);
    }
    rc = rows_end(&s.rows, rc, err);
    mem_free(s.scores);
    mem_free(s.names);
    played_free(s.played, s.nplayed);
    tables_free(&s.tables);
    return rc;
}

const struct command simulate_command = {
    .name = "simulate",
    .summary = "strategies on recorded spaces, without a device",
    .word = "TABLE...",
    .words = true,
    .options = OPTIONS(
        { "strategy", WORD(strategy), "NAME|FILE.lua,...", 0, "The strategies, one after the other; random without it", 0 },
        { "repeats", WORD(repeats), "100", 0, "How often each searches each space; 100 without it", 0 },
        { "seed", WORD(seed), "1", 0, "Of the first repeat; the next has the next. 1 without it", 0 },
        { "jobs", WORD(jobs), "0", 0,
          "Ask ahead as a run with so many compile workers does; without it a strategy knows all earlier outcomes", 0 },
        { "played", WORD(played), "FILE.json", 0, "Score what other tuners tried, too: see docs/strategies.md", 0 }, { OPT_JSON }),
    .doc = "Lets strategies search spaces whose every configuration was measured before, and scores them. "
           "A table is what `cutune list --measurements --json` prints, a T4 result file or a cache file of "
           "Kernel Tuner, gzipped or not. What a search did not try is no part of the space."
           "\vThe score is that of the published methodology: how far on the way from random search to the "
           "optimum a strategy is, on average over its budget. 0 is as good as random search, 1 is the optimum "
           "from the start. The budget ends where random search comes 95% of the way from the median to the "
           "best. Time is what the table says that compiling and measuring took. "
           "'within 10%' says how many configurations and seconds it takes to find one that is at most 10% "
           "slower than the best: the median of the repeats; '-' if most do not find one within the budget.\n\n"
           "Examples:\n"
           "  cutune run --op NAME --strategy exhaustive --no-cut\n"
           "  cutune list --measurements --json > space.json\n"
           "  cutune simulate space.json --strategy random,./mine.lua\n"
           "  cutune simulate A100.json.gz A4000.json.gz --repeats 25 --jobs 16 --json",
    .run = simulate,
};
