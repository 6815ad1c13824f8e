/* The report's data as its page reads them: report/README.md says what each member is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "export/report.h"

static int put_json(struct buf *out, json_t *json, struct err *err)
{
    char *text = json ? json_dumps(json, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6)) : NULL;
    if (!text)
        return err_nomem(err);
    buf_str(out, text);
    free(text); /* jansson's own */
    return 0;
}

static int put_member(struct buf *out, const char *name, json_t *json, struct err *err)
{
    buf_fmt(out, ",\n\"%s\":", name);
    return put_json(out, json, err);
}

static void put_time(struct buf *out, int64_t seconds)
{
    char text[32] = "";
    time_t t = seconds;
    struct tm tm;
    if (gmtime_r(&t, &tm))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    buf_fmt(out, "\"%s\"", text);
}

/* ---- values in the order in which people look for them: numbers, truth values, words */

static int kind(const json_t *v)
{
    return json_is_number(v) ? 0 : json_is_boolean(v) ? 1 : 2;
}

struct value {
    json_t *json;
    size_t at; /* in the list that is sorted */
};

static int compare(const void *a, const void *b)
{
    const json_t *x = ((const struct value *)a)->json, *y = ((const struct value *)b)->json;
    if (kind(x) != kind(y))
        return kind(x) - kind(y);
    if (json_is_string(x) && json_is_string(y))
        return strcmp(json_string_value(x), json_string_value(y));
    double d = kind(x) ? json_is_true(x) - json_is_true(y) : json_number_value(x) - json_number_value(y);
    return d < 0 ? -1 : d > 0;
}

static int sort_values(struct report *r, struct report_param *p)
{
    size_t n = json_array_size(p->values);
    struct value *sorted = mem_array(n, sizeof *sorted);
    p->rank = arena_array(r->arena, n, sizeof *p->rank);
    if (!sorted || !p->rank) {
        mem_free(sorted);
        return err_nomem(r->err);
    }
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct value){ json_incref(json_array_get(p->values, i)), i };
    qsort(sorted, n, sizeof *sorted, compare);
    for (size_t i = 0; i < n; i++) {
        p->rank[sorted[i].at] = (int)i;
        json_array_set_new(p->values, i, sorted[i].json);
    }
    mem_free(sorted);
    return 0;
}

/* ---- columns */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-";

/* The shortest form of a column: a number if it is the same everywhere; a character a row, "_" for -1; an array. */
static void put_column(struct buf *out, const double *v, int n, int precision)
{
    bool same = true, small = true;
    for (int i = 0; i < n; i++) {
        same = same && v[i] == v[0];
        small = small && v[i] >= -1 && v[i] < (double)sizeof digits - 1 && v[i] == floor(v[i]);
    }
    if (same) {
        buf_fmt(out, "%.*g", precision, n ? v[0] : 0);
        return;
    }
    buf_str(out, small ? "\"" : "[");
    for (int i = 0; i < n; i++)
        if (small)
            buf_put(out, v[i] < 0 ? "_" : &digits[(int)v[i]], 1);
        else
            buf_fmt(out, "%s%.*g", i ? "," : "", precision, v[i]);
    buf_str(out, small ? "\"" : "]");
}

struct columns {
    const struct report *r;
    const struct report_run *run;
    int64_t start;
};

/* Thousandths of the time. */
static double apart(const struct report_row *row, double from, double to)
{
    double share = row->stats.median > 0 ? 1000 * (to - from) / row->stats.median : 0;
    return isfinite(share) ? round(share) : 0;
}

#define OF(name, value)                                                                                                            \
    static double name(const struct columns *c, const struct report_row *row)                                                      \
    {                                                                                                                              \
        (void)c;                                                                                                                   \
        return (double)(value);                                                                                                    \
    }
OF(at, row->created - c->start)
OF(variant, c->r->configs[row->config].at)
OF(outcome, row->outcome)
OF(reason, row->reason)
OF(median, row->stats.median)
OF(low, apart(row, row->stats.ci_low, row->stats.median))
OF(high, apart(row, row->stats.median, row->stats.ci_high))
OF(samples, row->stats.n)
OF(resources, row->resources)
OF(compiling, row->compile_ms)
OF(joules, row->joules)
OF(stale, row->stale)
OF(provenance, row->provenance)
OF(state, row->state)

enum { WHOLE = 15 };
static const struct {
    const char *name;
    double (*of)(const struct columns *c, const struct report_row *row);
    int precision; /* digits */
} all_columns[] = {
    { "at", at, WHOLE },
    { "variant", variant, WHOLE },
    { "outcome", outcome, WHOLE },
    { "reason", reason, WHOLE },
    { "time", median, 6 },
    { "low", low, WHOLE },
    { "high", high, WHOLE },
    { "samples", samples, WHOLE },
    { "resources", resources, WHOLE },
    { "compile", compiling, 3 },
    { "joules", joules, 6 },
    { "stale", stale, WHOLE },
    { "provenance", provenance, WHOLE },
    { "state", state, WHOLE },
};

/* The place of the value of its variant's j-th parameter. */
static double value_of(const struct report *r, const struct report_row *row, int j)
{
    const struct report_config *c = &r->configs[row->config];
    return j < c->nvalues && c->values[j] >= 0 ? r->params[r->variants[c->variant].params[j]].rank[c->values[j]] : -1;
}

static void put_columns(const struct columns *c, double *v, struct buf *out)
{
    const struct report_run *run = c->run;
    int most = 0;
    for (size_t k = 0; k < sizeof all_columns / sizeof *all_columns; k++) {
        if (all_columns[k].of == state && !run->claims)
            continue;
        for (int i = 0; i < run->n; i++)
            v[i] = all_columns[k].of(c, &run->rows[i]);
        buf_fmt(out, ",\"%s\":", all_columns[k].name);
        put_column(out, v, run->n, all_columns[k].precision);
    }
    for (int i = 0; i < run->n; i++) {
        int n = c->r->configs[run->rows[i].config].nvalues;
        most = n > most ? n : most;
    }
    buf_str(out, ",\"config\":[");
    for (int j = 0; j < most; j++) {
        for (int i = 0; i < run->n; i++)
            v[i] = value_of(c->r, &run->rows[i], j);
        buf_str(out, j ? "," : "");
        put_column(out, v, run->n, WHOLE);
    }
    buf_str(out, "]");
}

/* ---- runs */

static int by_id(const void *a, const void *b)
{
    const struct report_row *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static void put_samples(const struct report_run *run, struct buf *out)
{
    const char *before = "";
    buf_str(out, ",\"sampled\":[");
    for (int i = 0; i < run->n; i++)
        if (run->rows[i].samples) {
            buf_fmt(out, "%s%d", before, i);
            before = ",";
        }
    buf_str(out, "],\"ns\":[");
    before = "";
    for (int i = 0; i < run->n; i++) {
        const struct report_row *row = &run->rows[i];
        for (int k = 0; k < row->nsamples; k++)
            buf_fmt(out, "%s%.6g", k ? "," : *before ? ",[" : "[", row->samples[k]);
        if (row->samples)
            buf_str(out, row->nsamples ? "]" : *before ? ",[]" : "[]");
        before = row->samples ? "," : before;
    }
    buf_str(out, "]");
}

static int put_run(struct report *r, struct report_run *run, struct buf *out)
{
    struct columns c = { r, run, INT64_MAX };
    double *v = mem_array((size_t)run->n + 1, sizeof *v);
    if (!v)
        return err_nomem(r->err);
    if (run->n)
        qsort(run->rows, (size_t)run->n, sizeof *run->rows, by_id);
    for (int i = 0; i < run->n; i++)
        c.start = run->rows[i].created < c.start ? run->rows[i].created : c.start;
    buf_fmt(out, "{\"source\":%d,\"device\":%d,\"problem\":%d,\"cache\":\"%s\",\"claims\":%s,\"n\":%d,\"start\":", run->source,
            run->device, run->problem, run->warm ? "warm" : "cold", run->claims ? "true" : "false", run->n);
    put_time(out, run->n ? c.start : 0);
    put_columns(&c, v, out);
    put_samples(run, out);
    buf_str(out, "}");
    mem_free(v);
    return 0;
}

/* ---- winners */

static json_t *stats_json(const struct report_row *row)
{
    const struct stats *s = &row->stats;
    return json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:i, s:i}", "n", s->n, "median", s->median, "min", s->min, "max",
                     s->max, "mean", s->mean, "stddev", s->stddev, "low", s->ci_low, "high", s->ci_high, "sm_mhz", row->sm_mhz,
                     "mem_mhz", row->mem_mhz);
}

/* Those that cannot be told from it: each median lies within the other's interval. */
static json_t *ties_json(const struct report_run *run, const struct report_row *w)
{
    json_t *ties = json_array();
    for (int i = 0; w && i < run->n; i++) {
        const struct report_row *row = &run->rows[i];
        const struct stats *a = &row->stats, *b = &w->stats;
        if (row != w && row->outcome == OUT_OK && !row->stale && a->median >= b->ci_low && a->median <= b->ci_high &&
            b->median >= a->ci_low && b->median <= a->ci_high)
            ties = json_append(ties, json_integer(i));
    }
    return ties;
}

static int put_winner(struct report *r, int run_at, const struct report_winner *w, struct buf *out)
{
    const struct report_run *run = &r->runs[run_at];
    int at_row = run->n - 1;
    while (at_row >= 0 && strcmp(run->rows[at_row].key, w->key) != 0)
        at_row--;
    const struct report_row *row = at_row < 0 ? NULL : &run->rows[at_row];
    json_t *all = json_incref(w->json);
    all = json_with(all, "run", json_integer(run_at));
    all = all ? json_with(all, "row", json_integer(at_row)) : NULL;
    all = all ? json_with(all, "stats", row ? stats_json(row) : json_null()) : NULL;
    all = all ? json_with(all, "ties", ties_json(run, row)) : NULL;
    int rc = put_json(out, all, r->err);
    json_decref(all);
    return rc;
}

static int put_runs(struct report *r, struct buf *out)
{
    int rc = 0, n = 0;
    buf_str(out, ",\n\"runs\":[");
    for (int i = 0; !rc && i < r->nruns; i++) {
        buf_str(out, i ? ",\n" : "\n");
        rc = put_run(r, &r->runs[i], out);
    }
    buf_str(out, "],\n\"winners\":[");
    for (int i = 0; !rc && i < r->nruns; i++)
        for (int k = 0; !rc && k < r->runs[i].nwinners; k++) {
            buf_str(out, n++ ? ",\n" : "\n");
            rc = put_winner(r, i, &r->runs[i].winners[k], out);
        }
    buf_str(out, "]}\n");
    return rc;
}

int report_json(struct report *r, struct buf *out, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < r->nparams; i++)
        rc = sort_values(r, &r->params[i]);
    buf_fmt(out, "{\"format\":1,\"cutune\":\"%s\",\"written\":", CUTUNE_VERSION);
    put_time(out, time(NULL));
    buf_str(out, ",\n\"outcomes\":[");
    for (int i = 0; i < OUT_COUNT; i++)
        buf_fmt(out, "%s\"%s\"", i ? "," : "", outcome_name(i));
    buf_str(out, "]");
    rc = rc ?: put_member(out, "sources", r->sources, err) ?: put_member(out, "devices", r->devices, err);
    rc = rc ?: put_member(out, "provenance", r->provenances, err) ?: put_member(out, "ops", r->ops, err);
    rc = rc ?: put_member(out, "problems", r->problems, err) ?: put_member(out, "reasons", r->reasons, err);
    rc = rc ?: put_member(out, "resources", r->resources, err) ?: put_runs(r, out);
    return rc ?: buf_check(out, err);
}
