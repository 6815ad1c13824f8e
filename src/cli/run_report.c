#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/run.h"
#include "export/export.h"
#include "model/kernel.h"

enum { SHOWN_METRICS = 8 }; /* in tables, which may have no more columns */

/* ---- as tables */

/* The columns of what was measured beside time: energy, if it was, and the op's metrics. */
static void more_cells(struct buf *out, const struct op *op, const struct tune_entry *e, const struct tune_report *r)
{
    if (r->best.joules > 0)
        buf_fmt(out, e->joules > 0 ? "%.4g J\t" : "\t", e->joules);
    for (int i = 0; i < op->nmetrics && i < SHOWN_METRICS; i++)
        buf_fmt(out, isfinite(e->metrics[i]) ? "%.4g\t" : "\t", e->metrics[i]);
}

static void entry_row(struct text_table *table, const char *label, const struct op *op, const struct tune_entry *e,
                      const struct tune_report *r)
{
    struct buf config = { 0 }, share = { 0 }, more = { 0 };
    if (e->config.variant < 0)
        return;
    config_print(&config, op, &e->config);
    if (e->time_ns > 0 && e->gb_per_s > 0 && r->copy_gb_per_s > 0)
        buf_fmt(&share, "%.0f%%", 100 * e->gb_per_s / r->copy_gb_per_s);
    more_cells(&more, op, e, r);
    table_row(table, "%s\t%s\t%s\t%s\t%s%s %s", label, e->time_ns > 0 ? text_time(e->time_ns) : outcome_name(e->outcome),
              text_speed(e->gb_per_s, e->gflop_per_s), buf_text(&share), buf_text(&more), op->variants[e->config.variant].name,
              buf_text(&config));
    buf_free(&config);
    buf_free(&share);
    buf_free(&more);
}

static int timing_table(const struct op *op, const struct tune_report *r, struct err *err)
{
    struct text_table table = { .align = "lrrr", .heads = true };
    struct buf heads = { 0 }, blanks = { 0 };
    if (r->best.joules > 0)
        buf_str(&heads, "energy\t");
    for (int i = 0; i < op->nmetrics && i < SHOWN_METRICS; i++)
        buf_fmt(&heads, "%s\t", op->metrics[i].name);
    for (const char *at = buf_text(&heads); (at = strchr(at, '\t')); at++) {
        strcat(table.align, "r");
        buf_str(&blanks, "\t");
    }
    strcat(table.align, "l");
    table_row(&table, "\ttime\tspeed\tof copy\t%sconfiguration", buf_text(&heads));
    table.good = r->best.config.variant >= 0;
    entry_row(&table, "best", op, &r->best, r);
    entry_row(&table, "default", op, &r->deflt, r);
    if (memcmp(&r->worst.config, &r->best.config, sizeof r->best.config) != 0)
        entry_row(&table, "worst", op, &r->worst, r);
    entry_row(&table, "winner", op, &r->served, r);
    if (r->copy_gb_per_s > 0)
        table_row(&table, "copy\t%s\t%s\t100%%\t%sthe device's own copy of the same bytes", text_time(r->copy_ns),
                  text_speed(r->copy_gb_per_s, 0), buf_text(&blanks));
    buf_free(&heads);
    buf_free(&blanks);
    return table_print(&table, 2, err);
}

/* What was compared for this problem only, and why, if that is known: of the default it is. */
static void print_alone(const struct tune_report *r)
{
    const int64_t ok = r->outcomes[OUT_OK];
    if (r->own_only)
        text_line("  the fastest were at fault for larger problems: look-ups give the winner for this one only");
    const char *best = r->best.alone && !r->own_only ? ", the best among them" : "";
    if (r->nalone < ok && r->nalone)
        text_line("  %" PRId64 " of those ok%s, " REASON_ALONE ": look-ups give them for this one only", r->nalone, best);
    else if (r->nalone < ok)
        return;
    else if (*r->alone)
        text_line("  " REASON_ALONE ": %s%s", r->alone, ok ? "; look-ups give these for this one only" : "");
    else if (ok)
        text_line("  " REASON_ALONE ": look-ups give these for this one only");
}

/* Why the search ended before all were tried, and whether the best is as fast as was asked for. */
static void print_end(const struct request *r, const struct tune_report *f)
{
    char effort[80];
    snprintf(effort, sizeof effort, "by --effort %.40s", r->args.effort ?: "normal");
    const char *const ends[] = {
        [END_TARGET] = "by --target",
        [END_BUDGET] = "by --budget",
        [END_PATIENCE] = "by --patience",
        [END_EFFORT] = effort,
        [END_STRATEGY] = "as the strategy had nothing more to propose",
    };
    if (f->ended > END_ALL)
        text_line("  ended %s; not tried: %" PRId64, ends[f->ended], f->valid - f->tried);
    if (f->target_share > 0 && f->target_share < 1)
        text_line("  --target %s: the best has %.1f%% of it", r->args.target, floor(1000 * f->target_share) / 10);
}

static void print_counts(const struct request *request, const struct tune_report *r)
{
    struct buf line = { 0 };
    buf_fmt(&line, "  %" PRId64 " of %" PRId64 " configurations tried: ok %" PRId64 ", wrong %" PRId64, r->tried, r->valid,
            r->outcomes[OUT_OK], r->outcomes[OUT_WRONG]);
    for (int i = 0; i < OUT_COUNT; i++)
        if (r->outcomes[i] && i != OUT_OK && i != OUT_WRONG)
            buf_fmt(&line, ", %s %" PRId64, outcome_name(i), r->outcomes[i]);
    if (r->ties)
        buf_fmt(&line, "; %d more cannot be told apart from the best", r->ties);
    text_line("%s", buf_text(&line));
    buf_free(&line);
    print_end(request, r);
    if (r->hinted)
        text_line("  tried first: the default, then %" PRId64 " that should be good, by other problems; %s", r->hinted,
                  r->best_hinted ? "one of these is the best" : "none of these is the best");
    if (r->best_brought)
        text_line("  the best was there before: nothing that this search tried was better");
    if (strcmp(r->objective, "time") != 0)
        text_line("  the best is by %s", r->objective);
    if (*r->served_by)
        text_line("  look-ups give %s", r->served.config.variant < 0 ? "nothing new of this run: they go by what it did not measure"
                                                                     : "the winner, which is by the op's own objective");
    if (*r->no_value)
        text_line("  a metric had no value: %s", r->no_value);
    print_alone(r);
    if (*r->unproved)
        text_line("  scalars not proved, choose an `other` that shows: %s", r->unproved);
    if (*r->constant)
        text_line("  the check proves little, choose data that shows more, or smaller bounds: %s", r->constant);
    if (r->measured && r->seconds >= 0.1)
        text_line("  %" PRId64 " measured now in %.1f s", r->measured, r->seconds);
    else if (r->measured)
        text_line("  %" PRId64 " measured now", r->measured);
    if (r->cached || r->shared)
        text_line("  code: %" PRId64 " compiled, %" PRId64 " from the cache, %" PRId64 " identical to another's", r->compiled, r->cached,
                  r->shared);
    if (!r->measured && r->tried && !r->interrupted)
        text_line("  nothing to measure: all of these are in the database (--retune measures them again)");
    if (r->again || r->throttled)
        text_line("  the device slowed itself down, for heat or a power brake: %" PRId64 " batches of samples were taken again, %" PRId64
                  " kept as it went on",
                  r->again, r->throttled);
    if (r->unsettled)
        text_line("  %" PRId64 " without a verdict, and not stored: %s", r->unsettled, r->unsettled_why);
    if (r->deflt.config.variant >= 0 && r->deflt.reason[0])
        text_line("  the default: %s: %s", outcome_name(r->deflt.outcome), r->deflt.reason);
    if (!strcmp(r->objective, "time") && r->deflt.outcome == OUT_OK && r->deflt.time_ns > 0 && r->deflt.time_ns < r->best.time_ns)
        text_line("  best and default are as fast, as far as can be told; of such the first of the space is taken");
    if (r->best.config.variant < 0 && r->tried)
        text_line("  no configuration was right%s", !r->earlier               ? ", so there is no winner"
                                                   : !strcmp(r->earlier, "kept") ? "; look-ups still give the winner of an earlier run, "
                                                                                   "whose code was not tried (--retune forgets it)"
                                                                                 : "; the winner of an earlier run is given no more");
}

/* A command about the finding, after what it is for. It is harmless, and to be copied as it is. */
static void print_command(const struct request *r, const char *what, const char *command, const struct finding *last)
{
    struct buf line = { 0 };
    const struct args *args = &r->args;
    char id[32];
    devspec_id(&r->dev, id);
    bool in_c = !strcmp(command, "export"), of_op = in_c || !strcmp(command, "report");
    const char *const words[][2] = {
        { program_invocation_name, command },
        { "--op", args->op ? args->op : last->op->name },
        { "--format", in_c ? "c" : NULL },
        { "--shape", of_op ? NULL : last->sizes },
        { "--dtype", of_op ? NULL : last->types },
        { "--device", args->device && !of_op ? id : NULL },
        { "--db", args->db },
        { "-o", in_c ? "tuned.c" : NULL },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i][1]) {
            shell_word(&line, words[i][0]);
            shell_word(&line, words[i][1]);
        }
    for (int i = 0; i < args->include_dirs.n; i++) {
        shell_word(&line, "--include-dir");
        shell_word(&line, args->include_dirs.at[i]);
    }
    printf("%-8s  %s\n", what, buf_text(&line));
    buf_free(&line);
}

/* Whether a word of the command line is this option, by its long name as it is or begins; *apart: its value is the next word. */
static bool is_option(const char *word, const char *name, bool *apart)
{
    size_t n = strcspn(word, "=");
    *apart = !word[n];
    return n > 2 && !strncmp(word, name, n);
}

/* The same command, for more of what is left: what is stored stays. */
static void print_search_on(const struct request *r)
{
    const char *effort = r->args.effort;
    struct buf line = { 0 };
    shell_word(&line, program_invocation_name);
    shell_word(&line, "run");
    for (char **word = r->words; *word; word++) {
        bool apart;
        if (is_option(*word, "--effort", &apart) || is_option(*word, "--parent", &apart))
            word += apart && word[1];
        else if (!is_option(*word, "--retune", &apart))
            shell_word(&line, *word);
    }
    printf("search on %s --effort %s\n", buf_text(&line), effort && !strcmp(effort, "quick") ? "normal" : "thorough");
    buf_free(&line);
}

/* Which database has the results, and what to do with them: commands about the last. */
static void print_next(const struct request *r, const struct finding *found, int n)
{
    bool by_effort = false, interrupted = false, thorough = r->args.effort && !strcmp(r->args.effort, "thorough");
    bool again = !r->args.wanted && !r->args.verify; /* the same words mean the same problems */
    for (int i = 0; i < n; i++) {
        by_effort = by_effort || found[i].report.ended == END_EFFORT;
        interrupted = interrupted || found[i].report.interrupted; /* what then goes on is said elsewhere */
    }
    puts("");
    text_line("database  %s", store_path(r->store));
    if (by_effort && again && !thorough && !interrupted)
        print_search_on(r);
    if (report_drawn())
        print_command(r, "charts", "report", &found[n - 1]);
    print_command(r, "compare", "bench", &found[n - 1]);
    print_command(r, "in C", "export", &found[n - 1]);
    print_command(r, "look up", "lookup", &found[n - 1]);
}

static void tell_tuned_with(const struct op *op)
{
    struct buf with = { 0 };
    tuned_with_print(&with, op);
    if (with.len)
        text_line("  with %s", buf_text(&with));
    buf_free(&with);
}

static int print_tables(const struct request *r, const struct finding *found, int n, struct err *err)
{
    char id[32];
    int rc = 0;
    devspec_id(&r->dev, id);
    for (const struct finding *f = found; !rc && f < found + n; f++) {
        bool new_op = f == found || f->op != f[-1].op;
        if (new_op && f > found)
            puts("");
        if (new_op)
            text_line("%s on %s: %s (%s)", f->op->name, id, r->dev.name, r->dev.arch);
        puts("");
        text_line("%s", f->title);
        tell_tuned_with(f->op);
        rc = timing_table(f->op, &f->report, err);
        if (!rc)
            print_counts(r, &f->report);
    }
    if (!rc && n && found[n - 1].op->outside_beside)
        text_line("proved by %s, not by the op's own reference: stored beside its results, and not given to look-ups",
                  found[n - 1].op->outside);
    else if (!rc && n && found[n - 1].report.best.config.variant >= 0)
        print_next(r, found, n);
    return rc;
}

/* ---- as JSON */

static json_t *metrics_json(const struct op *op, const struct tune_entry *e)
{
    json_t *metrics = json_object();
    for (int i = 0; i < op->nmetrics; i++)
        metrics = json_with(metrics, op->metrics[i].name, json_value(val_float(e->metrics[i])));
    return metrics;
}

static json_t *entry_json(const struct op *op, const struct tune_entry *e)
{
    if (e->config.variant < 0)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:b}", "variant", json_text(op->variants[e->config.variant].name),
                     "config", json_config(op, &e->config), "time_ns", json_positive(e->time_ns), "gb_per_s",
                     json_positive(e->gb_per_s), "gflop_per_s", json_positive(e->gflop_per_s), "outcome", outcome_name(e->outcome),
                     "energy_j", json_positive(e->joules), "metrics", metrics_json(op, e), "this_problem_only", e->alone);
}

static json_t *finding_json(const struct finding *f)
{
    static const char *const ends[] = { [END_ALL] = "all",           [END_TARGET] = "target", [END_BUDGET] = "budget",
                                        [END_PATIENCE] = "patience", [END_EFFORT] = "effort", [END_STRATEGY] = "strategy" };
    const struct op *op = f->op;
    const struct tune_report *r = &f->report;
    json_t *outcomes = json_object();
    struct buf with = { 0 };
    tuned_with_print(&with, op);
    for (int i = 0; i < OUT_COUNT; i++)
        outcomes = json_with(outcomes, outcome_name(i), json_integer(r->outcomes[i]));
    json_t *found = json_pack(
        "{s:o, s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:i, s:I, s:f, s:f, s:b, s:s, s:o, s:I, s:I, s:I}", "op", json_text(op->name),
        "dtype", json_text(f->types), "problem", json_sizes(f->sizes), "valid", (json_int_t)r->valid, "tried", (json_int_t)r->tried,
        "no_verdict", (json_int_t)r->unsettled, "outcomes", outcomes, "best", entry_json(op, &r->best), "default",
        entry_json(op, &r->deflt), "copy_gb_per_s", json_positive(r->copy_gb_per_s), "worst", entry_json(op, &r->worst), "ties",
        r->ties, "measured", (json_int_t)r->measured, "seconds", r->seconds, "configurations_per_s", r->rate, "interrupted",
        r->interrupted, "objective", r->objective, "winner", *r->served_by ? entry_json(op, &r->served) : json_null(), "compiled",
        (json_int_t)r->compiled, "from_cache", (json_int_t)r->cached, "shared_code", (json_int_t)r->shared);
    if (r->ended && found)
        found = json_with(found, "ended", json_text(ends[r->ended]));
    if (r->target_share > 0 && found)
        found = json_with(found, "share_of_target", json_real(r->target_share));
    if (r->earlier && found)
        found = json_with(found, "earlier_winner", json_text(r->earlier));
    found = found ? json_with(found, "neighbours", json_pack("{s:I, s:b}", "tried", (json_int_t)r->hinted, "won", r->best_hinted)) : NULL;
    if (*r->alone && found)
        found = json_with(found, "no_other_problem", json_text(r->alone));
    if (*r->unproved && found)
        found = json_with(found, "scalars_not_proved", json_text(r->unproved));
    if (*r->constant && found)
        found = json_with(found, "check_proves_little", json_text(r->constant));
    if ((r->again || r->throttled) && found)
        found = json_with(found, "throttled",
                          json_pack("{s:I, s:I}", "again", (json_int_t)r->again, "kept", (json_int_t)r->throttled));
    if (with.len && found)
        found = json_with(found, "tuned_with", json_text(buf_text(&with)));
    if (f->claims && found)
        found = json_with(found, "claims", json_incref(f->claims));
    buf_free(&with);
    return found;
}

static int print_json(const struct request *r, const struct finding *found, int n, struct err *err)
{
    json_t *results = json_array();
    for (int i = 0; i < n; i++)
        results = json_append(results, finding_json(&found[i]));
    return json_print(json_pack("{s:o, s:o, s:o}", "device", columns_json(device_columns, 0, &r->dev), "results", results,
                                "database", r->store ? json_text(store_path(r->store)) : json_null()),
                      err);
}

int run_report(const struct request *r, const struct finding *found, int n, struct err *err)
{
    return r->args.json ? print_json(r, found, n, err) : print_tables(r, found, n, err);
}
