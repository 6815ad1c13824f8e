/* The columns of claims: what files from elsewhere say of configurations, and what came of these here. */
#include <string.h>

#include "export/export.h"

static void outcome(struct buf *out, const void *row)
{
    buf_str(out, outcome_name(((const struct record *)row)->measured.result.outcome));
}

static void here(struct buf *out, const void *row)
{
    const struct record *r = row;
    const char *slower = claim_state(r) == CLAIM_SLOWER ? "slower: " : "";
    if (!r->checked)
        buf_str(out, "unverified");
    else if (r->here_ns > 0 && (r->here == OUT_OK || *slower))
        buf_fmt(out, "%s%s", *slower ? slower : "right: ", text_time(r->here_ns));
    else
        buf_str(out, outcome_name(r->here));
}

static void state(struct buf *out, const void *row)
{
    static const char *const words[] = { "unverified", "holds", "slower", "failed" };
    buf_str(out, words[claim_state(row)]);
}

static void configuration(struct buf *out, const void *row)
{
    const struct record *r = row;
    buf_fmt(out, "%s %s", r->measured.variant, r->config);
}

static void origin(struct buf *out, const void *row)
{
    const struct record *r = row;
    buf_fmt(out, "%s%s%s", r->tool, *r->tool && *r->file ? ", " : "", r->file);
}

const struct row_column claim_columns[] = {
    { "backend", FIELD(struct record, dev.backend) },
    { "device", FIELD(struct record, dev.name) },
    { "arch", FIELD(struct record, dev.arch) },
    { "op", FIELD(struct record, op) },
    { "dtype", FIELD(struct record, types) },
    { "problem", FIELD(struct record, sizes) },
    { "cache", FIELD(struct record, cache) },
    { "variant", FIELD(struct record, measured.variant) },
    { "config", FIELD(struct record, config), JSON(struct record, measured.json, json_stored) },
    { "outcome", "claimed", .text = outcome },
    { "time_ns", "time", FIELD(struct record, measured.result.stats.median), .unit = text_time },
    { "compile_ms", FIELD(struct record, measured.result.compile_ms) },
    { "samples", FIELD(struct record, measured.result.stats.n) },
    { "energy_j", FIELD(struct record, measured.result.energy.joules) },
    { "reason", FIELD(struct record, measured.result.reason) },
    { .head = "here", .text = here },
    { .head = "configuration", .text = configuration },
    { .head = "from", .text = origin },
    { "tool", FIELD(struct record, tool) },
    { "file", FIELD(struct record, file) },
    { "driver", FIELD(struct record, driver) },
    { "when", FIELD(struct record, when) },
    { "claim", .text = state },
    { "here_time_ns", FIELD(struct record, here_ns) },
    { "here_device", FIELD(struct record, here_device) },
    { 0 },
};
