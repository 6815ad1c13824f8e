/* T4, the auto-tuning community's format of results: all that was tried for one problem on one device. Times are in nanoseconds, so that
 * none loses a digit. Beside what the format names stands what only cutune knows: the variant, the outcome and its reason, and, in the
 * metadata, of what all this is. */
#include <stdlib.h>
#include <string.h>

#include "export/export.h"

struct t4_writer {
    const struct t4_choice *choice;
    struct buf *out;
    int n;
    struct buf of; /* the problem and device of the first: the others must be of the same */
    struct err *err;
};

/* What an outcome is called there. */
static const char *invalidity(enum outcome o)
{
    static const char *const words[OUT_COUNT] = {
        [OUT_OK] = "correct",
        [OUT_SLOWER] = "correct",
        [OUT_INVALID] = "constraints",
        [OUT_COMPILE_ERROR] = "compile",
        [OUT_RESOURCES] = "constraints",
        [OUT_LAUNCH_ERROR] = "runtime",
        [OUT_WRONG] = "correctness",
        [OUT_TIMEOUT] = "timeout",
        [OUT_CRASH] = "runtime",
    };
    return words[o];
}

static json_t *measurement(const char *name, json_t *value, const char *unit)
{
    return json_pack("{s:s, s:o, s:s}", "name", name, "value", value, "unit", unit);
}

static json_t *times(const struct result *r)
{
    json_t *runs = json_array();
    double sum = 0;
    for (int i = 0; i < r->nsamples; i++) {
        runs = json_append(runs, json_real(r->samples[i]));
        sum += r->samples[i];
    }
    /* The format says compilation_time; Kernel Tuner writes and reads the other names. */
    return json_pack("{s:f, s:f, s:f, s:i, s:i, s:i, s:o}", "compilation_time", r->compile_ms * 1e6, "compilation",
                     r->compile_ms * 1e6, "benchmark", sum, "framework", 0, "search_algorithm", 0, "validation", 0, "runtimes",
                     runs);
}

static json_t *measurements(const struct result *r, bool right)
{
    json_t *all = json_array();
    all = json_append(all, measurement("time", right ? json_real(r->stats.median) : json_text(outcome_name(r->outcome)), "ns"));
    if (r->resources.registers >= 0)
        all = json_append(all, measurement("registers", json_integer(r->resources.registers), ""));
    if (r->energy.joules > 0)
        all = json_append(all, measurement("energy", json_real(r->energy.joules), "J"));
    return all;
}

static json_t *result(const struct record *r)
{
    const struct result *of = &r->measured.result;
    bool right = of->outcome == OUT_OK || of->outcome == OUT_SLOWER;
    return json_pack("{s:o, s:o, s:o, s:o, s:s, s:i, s:s, s:o, s:o, s:[s]}", "timestamp", json_text(r->when), "configuration",
                     json_stored(r->measured.json), "variant", json_text(r->measured.variant), "times", times(of), "invalidity",
                     invalidity(of->outcome), "correctness", right, "outcome", outcome_name(of->outcome), "reason",
                     json_text(of->reason), "measurements", measurements(of, right), "objectives", "time");
}

static json_t *metadata(const struct record *r)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "timeunit", "nanoseconds", "tool", json_text(r->tool),
                     "op", json_text(r->op), "dtype", json_text(r->types), "problem", json_text(r->sizes), "backend",
                     json_text(r->dev.backend), "device", json_text(r->dev.name), "arch", json_text(r->dev.arch), "driver",
                     json_text(r->driver), "cache", r->cache);
}

static int put_json(struct buf *out, json_t *json, struct err *err)
{
    char *text = json ? json_dumps(json, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(json);
    if (!text)
        return err_nomem(err);
    buf_str(out, text);
    free(text); /* jansson's own */
    return 0;
}

static bool chosen(const struct t4_choice *c, const struct record *r)
{
    return devspec_called(&r->dev, c->device) && !r->stale && !strcmp(r->cache, c->warm ? "warm" : "cold");
}

static int put_record(void *arg, const struct record *r)
{
    struct t4_writer *w = arg;
    struct buf of = { 0 };
    if (!chosen(w->choice, r))
        return 0;
    buf_fmt(&of, "%s %s %s on %s (%s)", r->op, r->types, r->sizes, r->dev.name, r->dev.arch);
    int rc = buf_check(&of, w->err);
    if (!rc && !w->n) {
        w->of = of;
        of = (struct buf){ 0 };
        buf_str(w->out, "{\"schema_version\":\"1.0.0\",\"metadata\":");
        rc = put_json(w->out, metadata(r), w->err);
        buf_str(w->out, ",\"results\":[");
    } else if (!rc && strcmp(w->of.data, of.data) != 0) {
        rc = err_set(w->err, ERR_INVALID,
                     "t4 is of one problem on one device, and there are %.300s and %.300s: choose with --op, --shape, --dtype "
                     "and --device",
                     w->of.data, of.data);
    }
    buf_free(&of);
    buf_str(w->out, w->n++ ? ",\n" : "\n");
    return rc ?: put_json(w->out, result(r), w->err);
}

int t4_export(struct store *s, const struct t4_choice *choice, struct buf *out, struct err *err)
{
    struct t4_writer w = { .choice = choice, .out = out, .err = err };
    int rc = store_each_record(s, false, choice->op, choice->types, choice->sizes, put_record, &w, err);
    if (!rc && !w.n)
        rc = err_set(err, ERR_NOTFOUND, "%s: no such measurement: `cutune list --measurements` tells which there are",
                     store_path(s));
    buf_str(out, "\n]}\n");
    buf_free(&w.of);
    return rc ?: buf_check(out, err);
}
