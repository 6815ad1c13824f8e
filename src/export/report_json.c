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

/* To so many digits. */
static double rounded(double v, int precision)
{
    if (v == 0 || !isfinite(v))
        return v;
    int beyond = (int)floor(log10(fabs(v))) + 1 - precision;
    double unit = pow(10, abs(beyond));
    return beyond > 0 ? round(v / unit) * unit : round(v * unit) / unit;
}

/* How many characters a row has as a text of digits; 0 if it cannot be one, or an array is shorter. */
static int width_of(const double *v, int n)
{
    double most = 0, base = (double)sizeof digits - 1;
    size_t array = 0;
    int width = 1;
    for (int i = 0; i < n; i++) {
        if (!(v[i] >= -1 && v[i] < 1e9 && v[i] == floor(v[i])))
            return 0;
        most = fmax(most, v[i]);
        array += (size_t)snprintf(NULL, 0, "%.0f,", v[i]);
    }
    for (double top = base; most >= top; top *= base)
        width++;
    return (size_t)width * (size_t)n <= array ? width : 0;
}

static void put_digits(struct buf *out, double v, int width)
{
    char text[8];
    long left = (long)v, base = (long)sizeof digits - 1;
    for (int i = width; i--; left = left < 0 ? left : left / base)
        text[i] = left < 0 ? '_' : digits[left % base];
    buf_put(out, text, (size_t)width);
}

static bool same(const double *v, int n)
{
    int i = 1;
    while (i < n && v[i] == v[0])
        i++;
    return i >= n;
}

/* The shortest form of a column: a number if it is the same everywhere; so many characters a row; an array. Rounds it. */
static void put_column(struct buf *out, double *v, int n, int precision)
{
    for (int i = 0; i < n; i++)
        v[i] = rounded(v[i], precision);
    if (same(v, n)) {
        buf_fmt(out, "%.*g", precision, n ? v[0] : 0);
        return;
    }
    int width = width_of(v, n);
    buf_str(out, width ? "\"" : "[");
    for (int i = 0; i < n; i++)
        if (width)
            put_digits(out, v[i], width);
        else
            buf_fmt(out, "%s%.*g", i ? "," : "", precision, v[i]);
    buf_str(out, width ? "\"" : "]");
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
OF(compiling, row->compile_ms < 10 ? rounded(row->compile_ms, 3) : round(row->compile_ms))
OF(joules, row->joules)
OF(stale, row->stale)
OF(provenance, row->provenance)
OF(state, row->state)

enum { WHOLE = 15, DIGITS = 6 };
static const struct {
    const char *name;
    double (*of)(const struct columns *c, const struct report_row *row);
    int precision; /* digits */
} all_columns[] = {
    { "at", at, WHOLE },
    { "variant", variant, WHOLE },
    { "outcome", outcome, WHOLE },
    { "reason", reason, WHOLE },
    { "time", median, DIGITS },
    { "low", low, WHOLE },
    { "high", high, WHOLE },
    { "samples", samples, WHOLE },
    { "resources", resources, WHOLE },
    { "compile", compiling, WHOLE },
    { "joules", joules, DIGITS },
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
        if (!run->n || (v[0] == 0 && same(v, run->n)))
            continue;
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

/* Samples of one row: how many, the least, and how much each is above it. */
static int put_sampled(const struct report_row *row, struct buf *out, struct err *err)
{
    int n = row->nsamples;
    double *v = mem_array((size_t)n + 1, sizeof *v), least = n ? INFINITY : 0;
    if (!v)
        return err_nomem(err);
    for (int i = 0; i < n; i++)
        least = fmin(least, v[i] = rounded(row->samples[i], DIGITS));
    for (int i = 0; i < n; i++)
        v[i] -= least;
    buf_fmt(out, "[%d,%.*g,", n, DIGITS, least);
    put_column(out, v, n, DIGITS);
    buf_str(out, "]");
    mem_free(v);
    return 0;
}

static int put_samples(const struct report_run *run, struct buf *out, struct err *err)
{
    const char *before = "";
    int rc = 0;
    buf_str(out, ",\"sampled\":[");
    for (int i = 0; i < run->n; i++)
        if (run->rows[i].samples) {
            buf_fmt(out, "%s%d", before, i);
            before = ",";
        }
    buf_str(out, "],\"ns\":[");
    before = "";
    for (int i = 0; i < run->n && !rc; i++)
        if (run->rows[i].samples) {
            buf_str(out, before);
            rc = put_sampled(&run->rows[i], out, err);
            before = ",";
        }
    buf_str(out, "]");
    return rc;
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
    buf_fmt(out, "{\"problem\":%d,\"n\":%d", run->problem, run->n);
    if (run->source)
        buf_fmt(out, ",\"source\":%d", run->source);
    if (run->device)
        buf_fmt(out, ",\"device\":%d", run->device);
    buf_str(out, run->warm ? ",\"warm\":true" : "");
    buf_str(out, run->claims ? ",\"claims\":true" : "");
    put_columns(&c, v, out);
    int rc = put_samples(run, out, r->err);
    buf_str(out, "}");
    mem_free(v);
    return rc;
}

/* ---- winners */

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
    json_t *all = json_incref(w->json), *ties = ties_json(run, row);
    all = json_with(all, "run", json_integer(run_at));
    all = json_with(all, "row", json_integer(at_row));
    if (all && row) { /* which tells what ran, and where */
        json_object_del(all, "variant");
        json_object_del(all, "config");
        const json_t *driver = json_object_get(json_array_get(r->provenances, (size_t)row->provenance), "driver");
        if (json_equal(driver, json_object_get(all, "driver")))
            json_object_del(all, "driver");
        all = json_with(all, "low", json_real(row->stats.ci_low));
        all = json_with(all, "high", json_real(row->stats.ci_high));
    }
    if (all && json_array_size(ties))
        all = json_with(all, "ties", json_incref(ties));
    json_decref(ties);
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
    buf_fmt(out, "{\"format\":2,\"cutune\":\"%s\",\"written\":", CUTUNE_VERSION);
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
