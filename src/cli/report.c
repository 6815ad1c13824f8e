#include "cli/report.h"

#include <errno.h>
#include <inttypes.h>

#include "cli/json.h"
#include "cli/shell.h"
#include "cli/text.h"

static void entry_row(struct text_table *table, const char *label, const struct op *op, const struct tune_entry *e,
                      const struct tune_report *r)
{
    struct buf config = { 0 };
    if (e->config.variant < 0)
        return;
    config_print(&config, op, &e->config);
    bool timed = e->time_ns > 0;
    table_cell(table, "%s", label);
    table_cell(table, "%s", timed ? text_time(e->time_ns) : outcome_name(e->outcome));
    table_cell(table, "%s", text_speed(e->gb_per_s, e->gflop_per_s));
    if (timed && e->gb_per_s > 0 && r->copy_gb_per_s > 0)
        table_cell(table, "%.0f%%", 100 * e->gb_per_s / r->copy_gb_per_s);
    else
        table_cell(table, "%s", "");
    table_cell(table, "%s %s", op->variants[e->config.variant].name, buf_text(&config));
    buf_free(&config);
}

static int timing_table(const struct op *op, const struct tune_report *r, struct err *err)
{
    struct text_table table = { .align = "lrrrl" };
    const char *const heads[] = { "", "time", "speed", "of copy", "configuration" };
    for (int i = 0; i < 5; i++)
        table_cell(&table, "%s", heads[i]);
    entry_row(&table, "best", op, &r->best, r);
    entry_row(&table, "default", op, &r->deflt, r);
    entry_row(&table, "worst", op, &r->worst, r);
    if (r->copy_gb_per_s > 0) {
        table_cell(&table, "copy");
        table_cell(&table, "%s", text_time(r->copy_ns));
        table_cell(&table, "%s", text_speed(r->copy_gb_per_s, 0));
        table_cell(&table, "100%%");
        table_cell(&table, "the device's own copy of the same bytes");
    }
    return table_print(&table, 2, err);
}

static void print_counts(const struct tune_report *r)
{
    struct buf line = { 0 };
    buf_fmt(&line, "  %" PRId64 " of %" PRId64 " configurations tried: ok %" PRId64 ", wrong %" PRId64, r->tried, r->valid,
            r->outcomes[OUT_OK], r->outcomes[OUT_WRONG]);
    for (int i = 0; i < OUT_COUNT; i++)
        if (r->outcomes[i] && i != OUT_OK && i != OUT_WRONG)
            buf_fmt(&line, ", %s %" PRId64, outcome_name(i), r->outcomes[i]);
    if (r->ties)
        buf_fmt(&line, "; %d more as fast as the best", r->ties);
    text_line("%s", buf_text(&line));
    buf_free(&line);
    if (r->measured)
        text_line("  %" PRId64 " measured now in %.1f s, %.1f a second", r->measured, r->seconds, r->rate);
    else if (r->tried && !r->interrupted)
        text_line("  nothing to measure: all of these are in the database (--retune measures them again)");
    if (r->unsettled)
        text_line("  %" PRId64 " without a verdict, and not stored: %s", r->unsettled, r->unsettled_why);
    if (r->deflt.config.variant >= 0 && r->deflt.reason[0])
        text_line("  the default: %s: %s", outcome_name(r->deflt.outcome), r->deflt.reason);
    if (r->best.config.variant < 0 && r->tried)
        text_line("  no configuration was right, so there is no winner");
}

/* Tells which database has the results, and prints the command that looks up the last of them. */
static void print_next(const struct devspec *dev, const struct args *args, const struct store *store, const struct finding *last)
{
    struct buf line = { 0 }, shape = { 0 }, types = { 0 };
    char id[32];
    problem_print(&shape, last->op, last->problem);
    op_row_print(&types, last->op, last->row);
    devspec_id(dev, id);
    const char *const words[] = {
        program_invocation_name, "lookup",  "--op",          args->op ? args->op : last->op->name, "--shape",
        buf_text(&shape),        "--dtype", buf_text(&types)
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        shell_word(&line, words[i]);
    if (args->device) {
        shell_word(&line, "--device");
        shell_word(&line, id);
    }
    if (args->db) {
        shell_word(&line, "--db");
        shell_word(&line, args->db);
    }
    text_line("%s", "");
    text_line("database  %s", store_path(store));
    printf("look up   %s\n", buf_text(&line)); /* which is harmless, and to be copied as it is */
    buf_free(&line);
    buf_free(&shape);
    buf_free(&types);
}

int report_print(const struct devspec *dev, const struct args *args, const struct store *store, const struct finding *found, int n,
                 struct err *err)
{
    char id[32];
    devspec_id(dev, id);
    for (int i = 0; i < n; i++) {
        struct buf title = { 0 };
        bool new_op = !i || found[i].op != found[i - 1].op;
        if (i && new_op)
            text_line("%s", "");
        if (new_op)
            text_line("%s on %s: %s (%s)", found[i].op->name, id, dev->name, dev->arch);
        target_print(&title, found[i].op, found[i].problem, found[i].row);
        text_line("%s", "");
        text_line("%s", buf_text(&title));
        buf_free(&title);
        int rc = timing_table(found[i].op, &found[i].report, err);
        if (rc)
            return rc;
        print_counts(&found[i].report);
    }
    if (n && found[n - 1].report.best.config.variant >= 0)
        print_next(dev, args, store, &found[n - 1]);
    return 0;
}

static json_t *entry_json(const struct op *op, const struct tune_entry *e)
{
    if (e->config.variant < 0)
        return json_null();
    json_t *o = json_object();
    o = json_with(o, "variant", json_text(op->variants[e->config.variant].name));
    o = json_with(o, "config", json_config(op, &e->config));
    o = json_with(o, "time_ns", json_positive(e->time_ns));
    o = json_with(o, "gb_per_s", json_positive(e->gb_per_s));
    o = json_with(o, "gflop_per_s", json_positive(e->gflop_per_s));
    return json_with(o, "outcome", json_text(outcome_name(e->outcome)));
}

static json_t *outcomes_json(const struct tune_report *r)
{
    json_t *o = json_object();
    for (int i = 0; i < OUT_COUNT; i++)
        o = json_with(o, outcome_name(i), json_integer(r->outcomes[i]));
    return o;
}

static json_t *finding_json(const struct finding *f)
{
    const struct op *op = f->op;
    const struct tune_report *r = &f->report;
    struct buf types = { 0 };
    op_row_print(&types, op, f->row);
    json_t *o = json_object();
    o = json_with(o, "op", json_text(op->name));
    o = json_with(o, "dtype", json_text(buf_text(&types)));
    o = json_with(o, "problem", json_problem(op, f->problem));
    o = json_with(o, "valid", json_integer(r->valid));
    o = json_with(o, "tried", json_integer(r->tried));
    o = json_with(o, "no_verdict", json_integer(r->unsettled));
    o = json_with(o, "outcomes", outcomes_json(r));
    o = json_with(o, "best", entry_json(op, &r->best));
    o = json_with(o, "default", entry_json(op, &r->deflt));
    o = json_with(o, "copy_gb_per_s", json_positive(r->copy_gb_per_s));
    o = json_with(o, "worst", entry_json(op, &r->worst));
    o = json_with(o, "ties", json_integer(r->ties));
    o = json_with(o, "measured", json_integer(r->measured));
    o = json_with(o, "seconds", json_real(r->seconds));
    o = json_with(o, "configurations_per_s", json_real(r->rate));
    o = json_with(o, "interrupted", json_boolean(r->interrupted));
    buf_free(&types);
    return o;
}

int report_json(const struct devspec *dev, const struct store *store, const struct finding *found, int n, struct err *err)
{
    json_t *results = json_array(), *o = json_object();
    for (int i = 0; i < n; i++)
        results = json_append(results, finding_json(&found[i]));
    o = json_with(o, "device", columns_json(device_columns, 0, dev));
    o = json_with(o, "results", results);
    return json_print(json_with(o, "database", store ? json_text(store_path(store)) : json_null()), err);
}
