/* The columns of a winner. */
#include <math.h>
#include <string.h>

#include "export/export.h"

/* 0 if it is unknown, or the time is so short that there is no number for it. */
static double over_time(const struct listed *l, double what)
{
    double v = l->time_ns > 0 ? what / l->time_ns : 0;
    return isfinite(v) ? v : 0;
}

static double gb_per_s(const void *row)
{
    const struct listed *l = row;
    return over_time(l, l->bytes);
}

static double gflop_per_s(const void *row)
{
    const struct listed *l = row;
    return over_time(l, l->flops);
}

static double copy_share(const void *row) /* 1: as fast as a device copy of the same bytes */
{
    const struct listed *l = row;
    return over_time(l, l->copy_ns);
}

static double copy_share_shown(const void *row)
{
    const struct listed *l = row;
    return l->bytes > 0 && isfinite(100 * copy_share(l)) ? copy_share(l) : 0;
}

static double copy_gb_per_s(const void *row)
{
    const struct listed *l = row;
    double v = l->copy_ns > 0 ? l->bytes / l->copy_ns : 0;
    return isfinite(v) ? v : 0;
}

static void speed(struct buf *out, const void *row)
{
    buf_str(out, text_speed(gb_per_s(row), gflop_per_s(row)));
}

static void right_of_all(struct buf *out, const void *row)
{
    const struct listed *l = row;
    buf_fmt(out, "%d of %d", l->ok, l->measured);
}

static void configuration(struct buf *out, const void *row)
{
    const struct listed *l = row;
    buf_fmt(out, "%s %s", l->variant, l->config);
}

static void state(struct buf *out, const void *row)
{
    const struct listed *l = row;
    const char *changed = l->stale ? "stale" : l->changed ? "changed" : "";
    bool warm = strcmp(l->cache, "warm") == 0;
    buf_fmt(out, "%s%s%s", warm ? "warm" : "", warm && *changed ? ", " : "", changed);
}

static json_t *config_json(const void *row)
{
    return json_stored(((const struct listed *)row)->json);
}

static json_t *problem_json(const void *row)
{
    return json_sizes(((const struct listed *)row)->problem);
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
    { "problem", FIELD(struct listed, problem), .json = problem_json, .in = IN_EXPORT },
    { "cache", FIELD(struct listed, cache) },
    { "variant", FIELD(struct listed, variant) },
    { "config", FIELD(struct listed, config), .json = config_json },
    { "time_ns", "time", FIELD(struct listed, time_ns), .unit = UNIT_NS },
    { "gb_per_s", .number = gb_per_s },
    { "gflop_per_s", .number = gflop_per_s, .in = IN_EXPORT },
    { "copy_share", .number = copy_share, .in = IN_EXPORT },
    { "copy_gb_per_s", .number = copy_gb_per_s, .in = IN_LIST },
    { .head = "speed", .text = speed, .right = true },
    { .head = "of copy", .number = copy_share_shown, .unit = UNIT_SHARE },
    { "samples", FIELD(struct listed, samples), .in = IN_EXPORT },
    { "measured", FIELD(struct listed, measured) },
    { "ok", FIELD(struct listed, ok) },
    { .head = "right", .text = right_of_all, .right = true },
    { .head = "configuration", .text = configuration },
    { .head = "", .text = state },
    { "stale", FIELD(struct listed, stale) },
    { "changed", FIELD(struct listed, changed), .in = IN_LIST },
    { "when", FIELD(struct listed, when), .in = IN_LIST },
    { "date", FIELD(struct listed, when), .in = IN_EXPORT },
    { 0 },
};
