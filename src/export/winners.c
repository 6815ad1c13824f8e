/* The winners: their columns, and as JSON and CSV; the columns of all that was tried. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"

/* 0 if it is unknown, or the time is so short that there is no number for it. */
static double over_time(const struct listed *l, double what)
{
    double v = l->time_ns > 0 ? what / l->time_ns : 0;
    return isfinite(v) ? v : 0;
}

static double copy_share(const void *row) /* 1: as fast as a device copy of the same bytes */
{
    const struct listed *l = row;
    double share = over_time(l, l->copy_ns);
    return l->bytes > 0 && isfinite(100 * share) ? share : 0;
}

static void speed(struct buf *out, const void *row)
{
    const struct listed *l = row;
    buf_str(out, text_speed(over_time(l, l->bytes), over_time(l, l->flops)));
}

static void passed_of_all(struct buf *out, const void *row)
{
    const struct listed *l = row;
    buf_fmt(out, "%d of %d", l->ok, l->measured);
}

static void configuration(struct buf *out, const void *row)
{
    const struct listed *l = row;
    buf_fmt(out, "%s %s", l->variant, l->config);
}

static void metrics(struct buf *out, const void *row)
{
    const struct listed *l = row;
    metrics_text(out, l->joules, l->metrics);
}

static void metrics_alone(struct buf *out, const void *row)
{
    const struct listed *l = row;
    metrics_text(out, 0, l->metrics);
}

static void state(struct buf *out, const void *row)
{
    const struct listed *l = row;
    const char *changed = l->stale ? (l->beside ? "not served" : "stale") : l->changed ? "changed" : "";
    bool warm = strcmp(l->cache, "warm") == 0;
    const size_t before = out->len;
    bool other = *l->objective && strcmp(l->objective, "time") != 0;
    buf_fmt(out, "%s%s%s", warm ? "warm" : "", warm && *changed ? ", " : "", changed);
    if (l->alone)
        buf_fmt(out, "%sfor this problem only", out->len > before ? ", " : "");
    if (other)
        buf_fmt(out, "%sby %s", out->len > before ? ", " : "", l->objective);
    if (*l->tuned_with)
        buf_fmt(out, "%swith %s", out->len > before ? ", " : "", l->tuned_with);
    if (l->pinned)
        buf_fmt(out, "%spinned", out->len > before ? ", " : "");
}

const struct row_column winner_columns[] = {
    { "backend", FIELD(struct listed, backend), .in = IN_LIST },
    { "device", FIELD(struct listed, device) },
    { "backend", FIELD(struct listed, backend), .in = IN_EXPORT },
    { "arch", FIELD(struct listed, arch) },
    { "driver", FIELD(struct listed, driver), .in = IN_EXPORT },
    { "op", "op", FIELD(struct listed, op) },
    { "dtype", "types", FIELD(struct listed, types) },
    { "problem", "problem", FIELD(struct listed, problem), .in = IN_LIST },
    { "problem", FIELD(struct listed, problem), JSON(struct listed, problem, json_sizes), .in = IN_EXPORT },
    { "cache", FIELD(struct listed, cache) },
    { "variant", FIELD(struct listed, variant) },
    { "config", FIELD(struct listed, config), JSON(struct listed, json, json_stored) },
    { "time_ns", "time", FIELD(struct listed, time_ns), .unit = text_time },
    { "gb_per_s", FIELD(struct listed, bytes), OVER(struct listed, time_ns) },
    { "gflop_per_s", FIELD(struct listed, flops), OVER(struct listed, time_ns), .in = IN_EXPORT },
    { "copy_share", FIELD(struct listed, copy_ns), OVER(struct listed, time_ns), .in = IN_EXPORT },
    { "copy_gb_per_s", FIELD(struct listed, bytes), OVER(struct listed, copy_ns), .in = IN_LIST },
    { .head = "speed", .text = speed, .right = true },
    { .head = "of copy", .number = copy_share, .unit = text_share },
    { "samples", FIELD(struct listed, samples), .in = IN_EXPORT },
    { "measured", FIELD(struct listed, measured) },
    { "passed", FIELD(struct listed, ok) },
    { .head = "passed", .text = passed_of_all, .right = true },
    { "energy_j", FIELD(struct listed, joules) },
    { "metrics", .text = metrics_alone, JSON(struct listed, metrics, json_stored) },
    { "objective", FIELD(struct listed, objective) },
    { .head = "configuration", .text = configuration },
    { .head = "", .text = metrics },
    { .head = "", .text = state },
    { "stale", FIELD(struct listed, stale) },
    { "this_problem_only", FIELD(struct listed, alone) },
    { "pinned", FIELD(struct listed, pinned) },
    { "changed", FIELD(struct listed, changed), .in = IN_LIST },
    { "when", FIELD(struct listed, when), .in = IN_LIST },
    { "date", FIELD(struct listed, when), .in = IN_EXPORT },
    { "tuned_with", FIELD(struct listed, tuned_with) },
    { 0 },
};

static void outcome(struct buf *out, const void *row)
{
    const struct listed *l = row;
    buf_str(out, outcome_name(l->outcome));
}

/* The winner, and why it is not the first where it is not. */
static void won(struct buf *out, const void *row)
{
    const struct listed *l = row;
    const int apart = l->faster - l->faster_ties;
    if (!l->winner)
        return;
    buf_str(out, "winner");
    if (*l->objective && strcmp(l->objective, "time") != 0) {
        buf_fmt(out, ", by %s", l->objective);
        return;
    }
    if (l->faster_ties)
        buf_fmt(out, "; %d above as fast, as far as can be told", l->faster_ties);
    if (apart)
        buf_fmt(out, "; %d above not timed beside it", apart);
}

const struct row_column tried_columns[] = {
    { "backend", FIELD(struct listed, backend) },
    { "device", FIELD(struct listed, device) },
    { "arch", FIELD(struct listed, arch) },
    { "op", FIELD(struct listed, op) },
    { "dtype", FIELD(struct listed, types) },
    { "problem", FIELD(struct listed, problem) },
    { "cache", FIELD(struct listed, cache) },
    { "variant", FIELD(struct listed, variant) },
    { "config", FIELD(struct listed, config), JSON(struct listed, json, json_stored) },
    { "outcome", "outcome", .text = outcome },
    { .head = "time", FIELD(struct listed, time_ns), .unit = text_time },
    { .head = "configuration", .text = configuration },
    { "energy_j", FIELD(struct listed, joules) },
    { "metrics", .text = metrics_alone, JSON(struct listed, metrics, json_stored) },
    { .head = "", .text = metrics },
    { "reason", "reason", FIELD(struct listed, reason) },
    { .head = "", .text = won },
    { "reference", FIELD(struct listed, reference) },
    { "time_ns", FIELD(struct listed, time_ns) },
    { "samples", FIELD(struct listed, samples) },
    { "compile_ms", FIELD(struct listed, compile_ms) },
    { "winner", FIELD(struct listed, winner) },
    { "stale", FIELD(struct listed, stale) },
    { 0 },
};

struct row_writer {
    struct buf *out;
    bool json;
    int n;
    struct err *err;
};

static int write_row(void *arg, const struct listed *l)
{
    struct row_writer *w = arg;
    if (!w->json) {
        columns_csv(w->out, winner_columns, IN_EXPORT, l);
        return 0;
    }
    json_t *row = columns_json(winner_columns, IN_EXPORT, l);
    char *text = row ? json_dumps(row, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(row);
    if (!text)
        return err_nomem(w->err);
    buf_fmt(w->out, "%s\n%s", w->n++ ? "," : "", text);
    free(text); /* jansson's own */
    return 0;
}

int export_rows(struct store *s, const char *format, struct buf *out, struct err *err)
{
    bool json = !strcmp(format, "json");
    struct row_writer w = { .out = out, .json = json, .err = err };
    if (!json && strcmp(format, "csv"))
        return err_set(err, ERR_INVALID, "format %.40s is not known: json or csv", format);
    if (json)
        buf_fmt(out, "{\"cutune\":\"%s\",\"winners\":[", CUTUNE_VERSION);
    else
        columns_csv(out, winner_columns, IN_EXPORT, NULL);
    int rc = store_each_winner(s, write_row, &w, err);
    if (json)
        buf_str(out, "\n]}\n");
    return rc ?: buf_check(out, err);
}
