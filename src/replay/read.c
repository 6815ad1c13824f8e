/* The formats of recorded spaces, all JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "replay/build.h"
#include "replay/json.h"

/* -- parts that formats share -- */

/* A number, or the sum of a list of them. False if it is neither, or not above 0. */
static bool amount(const json_t *value, bool mean, double *out)
{
    double sum = json_is_number(value) ? json_number_value(value) : 0;
    size_t i, n = 0;
    json_t *each;
    json_array_foreach(value, i, each)
    {
        if (json_is_number(each) && json_number_value(each) > 0) {
            sum += json_number_value(each);
            n++;
        }
    }
    *out = mean && n ? sum / (double)n : sum;
    return isfinite(*out) && *out > 0;
}

/* What the steps of a trial are called in one format and another. Of each row the first that is there counts. */
enum { STEPS = 5, SPELLINGS = 7 };
static const char *const steps[STEPS][SPELLINGS + 1] = {
    { "compile_time", "compilation_time", "compilation", "compile", "compile_ms" },
    { "times", "runtimes", "benchmark_time", "benchmarking_time", "benchmark", "run_time", "runtime" },
    { "verification_time", "validation_time", "validation", "verification" },
    { "framework_time", "framework" },
    { "strategy_time", "search_algorithm", "search_time" },
};

static void read_costs(const json_t *object, double unit, struct recorded_trial *t)
{
    for (int s = 0; s < STEPS; s++) {
        double took = 0;
        for (int i = 0; steps[s][i] && !amount(json_object_get(object, steps[s][i]), false, &took); i++)
            took = 0;
        if (!(took * unit < 1e9))
            took = 0;
        t->seconds += took * unit;
        if (s == 0)
            t->compile_s = took * unit;
    }
}

/* What a failure is called: the first row whose word is in the text. */
static enum outcome outcome_of(const char *text)
{
    static const struct {
        const char *word;
        enum outcome outcome;
    } words[] = {
        { "ompil", OUT_COMPILE_ERROR }, { "onstraint", OUT_INVALID }, { "nvalid", OUT_INVALID },
        { "untime", OUT_LAUNCH_ERROR }, { "orrect", OUT_WRONG },      { "imeout", OUT_TIMEOUT },
    };
    int named = outcome_find(text);
    for (size_t i = 0; named < 0 && i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i].word))
            named = (int)words[i].outcome;
    return named < 0 ? OUT_CRASH : (enum outcome)named;
}

/* Whether it is a number, or a list of them; or a text, null or missing, as of a failure. */
static bool may_be_time(const json_t *value)
{
    size_t i;
    json_t *each;
    json_array_foreach((json_t *)(uintptr_t)value, i, each)
    {
        if (!json_is_number(each))
            return false;
    }
    return !json_is_object(value) && !json_is_boolean(value);
}

/* In a unit of so many ns: a time; else the name of a failure. Kernel Tuner writes 1e20 for one without a name. */
static int read_time(const json_t *value, double unit_ns, struct recorded_trial *t, struct err *err)
{
    double time;
    if (!may_be_time(value))
        return err_set(err, ERR_INVALID, "its time is neither a number, nor a list of them, nor the name of a failure");
    bool timed = amount(value, true, &time) && time < 1e20 && time * unit_ns < TIME_MAX;
    t->outcome = timed ? OUT_OK : json_is_string(value) ? outcome_of(json_string_value(value)) : OUT_CRASH;
    t->time_ns = timed ? time * unit_ns : 0;
    return 0;
}

/* A text on the arena of the recording; null if it is none. */
static const char *keep_text(struct recording *b, const json_t *value)
{
    return json_is_string(value) ? arena_strdup(b->op->arena, json_string_value(value)) : NULL;
}

/* What only a table that is read whole keeps. The samples are numbers in a unit of so many ns, or are left out. */
static int keep_whole(struct recording *b, const json_t *reason, const json_t *when, const json_t *samples, double unit_ns,
                      struct recorded_trial *t, struct err *err)
{
    size_t n = json_array_size(samples), i;
    if (!b->whole)
        return 0;
    double *kept = arena_array(b->op->arena, n, sizeof *kept);
    if (!kept)
        return err_nomem(err);
    t->reason = keep_text(b, reason);
    t->when = keep_text(b, when);
    t->samples = kept;
    for (i = 0; i < n; i++) {
        double ns = json_number_value(json_array_get(samples, i)) * unit_ns;
        if (ns > 0 && ns < TIME_MAX)
            kept[t->nsamples++] = ns;
    }
    return 0;
}

static int to_val(const json_t *value, const char *name, struct val *out, struct err *err)
{
    return json_to_val(value, out) ? 0
                                   : err_set(err, ERR_INVALID, "the parameter %s %s: a number, a text, true or false is wanted",
                                             name, value ? "has a value of another kind" : "is missing");
}

/* The members of `config` that are the variant's parameters. */
static int add_config(struct recording *b, int variant, const json_t *config, const struct recorded_trial *t, struct err *err)
{
    const struct variant *v = &b->op->variants[variant];
    struct val value;
    int rc = build_add(b, variant, t, err);
    for (int p = 0; !rc && p < v->nparams; p++)
        rc = to_val(json_object_get(config, v->params[p].name), v->params[p].name, &value, err) ?: build_value(b, value, err);
    return rc;
}

/* The same, whose parameters are all its members. */
static int add_whole(struct recording *b, const char *name, json_t *config, const struct recorded_trial *t, struct err *err)
{
    bool made;
    int variant, rc = build_variant(b, name, &variant, &made, err);
    const char *key;
    json_t *value;
    if (!rc && !json_is_object(config))
        rc = err_set(err, ERR_INVALID, "it has no configuration, an object of parameters and values");
    if (!rc && made)
        json_object_foreach(config, key, value) rc = rc ?: build_param(b, variant, key, err);
    if (!rc && (int)json_object_size(config) != b->op->variants[variant].nparams)
        rc = err_set(err, ERR_INVALID, "it has %zu parameters, those before it have %d", json_object_size(config),
                     b->op->variants[variant].nparams);
    return rc ?: add_config(b, variant, config, t, err);
}

/* Begins a space of the file. */
static struct recording *begin_table(const char *title, const struct tables *out)
{
    struct recording *b = build_new(title);
    if (b)
        b->whole = out->whole;
    return b;
}

static int end_table(struct recording *b, struct tables *out, struct err *err)
{
    struct recorded_space *t;
    if (!mem_grow((void **)&out->at, out->n, sizeof *out->at))
        return err_nomem(err);
    int rc = build_end(b, &t, err);
    if (!rc)
        out->at[out->n++] = t;
    return rc;
}

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* -- Kernel Tuner's cache: { "tune_params_keys": [...], "cache": { "16,2": { parameters, "time": ms or the name of a failure, ... } } } -- */

static int read_cache(const char *path, json_t *root, struct tables *out, struct err *err)
{
    json_t *cache = json_object_get(root, "cache"), *names = json_object_get(root, "tune_params_keys"), *name, *each;
    struct recording *b = begin_table(file_of(path), out);
    int variant, rc = b ? build_variant(b, UNNAMED, &variant, &(bool){ false }, err) : err_nomem(err);
    size_t i;
    const char *key;
    if (!rc && !json_array_size(names))
        rc = err_set(err, ERR_INVALID, "\"tune_params_keys\" is missing: a list of names of parameters");
    json_array_foreach(names, i, name)
    {
        if (!rc && !json_is_string(name))
            rc = err_set(err, ERR_INVALID, "\"tune_params_keys\": entry %zu is no text", i + 1);
        rc = rc ?: build_param(b, variant, json_string_value(name), err);
    }
    if (!rc)
        b->origin = (struct origin){ .device = keep_text(b, json_object_get(root, "device_name")), .tool = "Kernel Tuner" };
    json_object_foreach(cache, key, each)
    {
        if (rc)
            break;
        struct recorded_trial t = { 0 };
        json_t *time = json_object_get(each, "time");
        json_t *samples = json_object_get(each, "times");
        rc = read_time(time ?: samples, 1e6, &t, err)
                 ?: keep_whole(b, NULL, json_object_get(each, "timestamp"), samples, 1e6, &t, err);
        read_costs(each, 1e-3, &t);
        rc = rc ?: add_config(b, variant, each, &t, err);
        if (rc && rc != ERR_NOMEM)
            err_prefix(err, "configuration %.100s: ", key);
    }
    rc = rc ?: end_table(b, out, err);
    build_free(b);
    return rc;
}

/* -- what cutune says of its results -- */

/* "m=1111,n=113", or the same as an object. */
static void put_sizes(struct buf *out, const json_t *sizes)
{
    const char *name, *comma = "";
    json_t *value;
    buf_str(out, json_string_value(sizes) ?: "");
    json_object_foreach((json_t *)(uintptr_t)sizes, name, value)
    {
        buf_fmt(out, "%s%s=%lld", comma, name, (long long)json_integer_value(value));
        comma = ",";
    }
}

static void read_origin(struct recording *b, const json_t *object)
{
    struct buf sizes = { 0 };
    put_sizes(&sizes, json_object_get(object, "problem"));
    b->origin = (struct origin){
        .op = keep_text(b, json_object_get(object, "op")),
        .types = keep_text(b, json_object_get(object, "dtype")),
        .backend = keep_text(b, json_object_get(object, "backend")),
        .device = keep_text(b, json_object_get(object, "device")),
        .arch = keep_text(b, json_object_get(object, "arch")),
        .cache = keep_text(b, json_object_get(object, "cache")),
        .driver = keep_text(b, json_object_get(object, "driver")),
        .sizes = json_object_get(object, "problem") ? arena_strdup(b->op->arena, buf_text(&sizes)) : NULL,
    };
    buf_free(&sizes);
}

/* -- T4: { "metadata": { "timeunit": ... }, "results": [ { "configuration", "times", "invalidity", "measurements" } ] }; of a file of
 * cutune's (src/export/t4.c) results have their variant and outcome, too, and the metadata says of what they are -- */

/* In seconds; 0 if there is no such unit. */
static double unit_of(const json_t *word)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {
        { "s", 1 },     { "seconds", 1 },         { "ms", 1e-3 }, { "milliseconds", 1e-3 }, { "miliseconds", 1e-3 },
        { "us", 1e-6 }, { "microseconds", 1e-6 }, { "ns", 1e-9 }, { "nanoseconds", 1e-9 },
    };
    const char *text = json_string_value(word);
    for (size_t i = 0; text && i < sizeof units / sizeof *units; i++)
        if (!strcasecmp(text, units[i].name))
            return units[i].seconds;
    return 0;
}

#define UNITS "seconds, milliseconds, microseconds or nanoseconds are wanted"

/* The measurement "time"; without one what the runs took. */
static int read_result(struct recording *b, json_t *result, double unit, struct err *err)
{
    json_t *times = json_object_get(result, "times"), *measurements = json_object_get(result, "measurements"), *m;
    const char *invalidity = json_string_value(json_object_get(result, "invalidity")),
               *variant = json_string_value(json_object_get(result, "variant")),
               *outcome = json_string_value(json_object_get(result, "outcome"));
    json_t *time = json_object_get(times, "runtimes");
    double unit_s = unit, joules = 0;
    struct recorded_trial t = { 0 };
    size_t i;
    if (!json_is_object(result))
        return err_set(err, ERR_INVALID, "it is no object");
    if (!invalidity)
        return err_set(err, ERR_INVALID, "\"invalidity\" is missing: \"correct\", or what failed");
    json_array_foreach(measurements, i, m)
    {
        const char *name = json_string_value(json_object_get(m, "name"));
        if (name && !strcmp(name, "time")) {
            json_t *word = json_object_get(m, "unit");
            time = json_object_get(m, "value");
            unit_s = unit_of(word);
            if (!unit_s && *(json_string_value(word) ?: ""))
                return err_set(err, ERR_INVALID, "the \"unit\" of its time is \"%.40s\": " UNITS, json_string_value(word));
            unit_s = unit_s ?: unit;
        }
        if (name && !strcmp(name, "energy"))
            amount(json_object_get(m, "value"), true, &joules);
    }
    int rc = read_time(time, unit_s * 1e9, &t, err);
    if (strcmp(invalidity, "correct"))
        t = (struct recorded_trial){ .outcome = outcome_of(outcome && outcome_find(outcome) > OUT_OK ? outcome : invalidity) };
    t.slower = t.outcome == OUT_OK && outcome && outcome_find(outcome) == OUT_SLOWER;
    t.joules = t.outcome == OUT_OK ? joules : 0;
    read_costs(times, unit, &t);
    rc = rc
             ?: keep_whole(b, json_object_get(result, "reason"), json_object_get(result, "timestamp"),
                           json_object_get(times, "runtimes"), unit * 1e9, &t, err);
    return rc ?: add_whole(b, variant ?: UNNAMED, json_object_get(result, "configuration"), &t, err);
}

static int read_t4(const char *path, json_t *root, struct tables *out, struct err *err)
{
    json_t *results = json_object_get(root, "results"), *metadata = json_object_get(root, "metadata"), *each;
    json_t *word = json_object_get(metadata, "timeunit");
    double unit = word ? unit_of(word) : 1;
    struct recording *b = begin_table(file_of(path), out);
    int rc = b ? 0 : err_nomem(err);
    size_t i;
    if (!rc && !unit)
        rc = err_set(err, ERR_INVALID, "\"timeunit\": " UNITS);
    if (!rc) {
        read_origin(b, metadata);
        b->origin.tool = keep_text(b, json_object_get(metadata, "tool")) ?: "T4";
    }
    json_array_foreach(results, i, each)
    {
        if (rc)
            break;
        rc = read_result(b, each, unit, err);
        if (rc && rc != ERR_NOMEM)
            err_prefix(err, "result %zu: ", i + 1);
    }
    rc = rc ?: end_table(b, out, err);
    build_free(b);
    return rc;
}

/* -- what cutune writes: a list of rows, or { "winners": [...] }; rows of a problem come one after the other, stale ones last -- */

static void own_title(const char *path, const json_t *row, struct buf *out)
{
    static const char *const parts[] = { "op", "dtype", "problem", "backend", "device", "cache", "reference" };
    buf_str(out, file_of(path));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct buf text = { 0 };
        put_sizes(&text, json_object_get(row, parts[i])); /* the others are texts */
        if (text.len && strcmp(text.data, "cold") != 0)
            buf_fmt(out, " %s", text.data);
        out->failed |= text.failed;
        buf_free(&text);
    }
}

static int read_row(struct recording *b, json_t *row, struct err *err)
{
    const char *variant = json_string_value(json_object_get(row, "variant")),
               *outcome = json_string_value(json_object_get(row, "outcome"));
    double samples = 0;
    struct recorded_trial t = { 0 };
    if (!variant)
        return err_set(
            err, ERR_INVALID,
            "it has no variant: a row of `cutune list --measurements --json` or `cutune export --format json` is wanted");
    int rc = read_time(json_object_get(row, "time_ns"), 1, &t, err);
    const int named = outcome ? outcome_find(outcome) : OUT_OK;
    if (!rc && outcome && named == OUT_OK && !(t.time_ns > 0))
        return err_set(err, ERR_INVALID, "its outcome is ok, but its time_ns is no time: ns, above 0");
    if (named != OUT_OK && !(named == OUT_SLOWER && t.time_ns > 0)) /* what is slower is right, and was timed */
        t.outcome = outcome_of(outcome);
    t.slower = t.outcome == OUT_OK && named == OUT_SLOWER;
    if (!amount(json_object_get(row, "energy_j"), false, &t.joules))
        t.joules = 0;
    rc = rc
             ?: keep_whole(b, json_object_get(row, "reason"), json_object_get(row, "when") ?: json_object_get(row, "date"), NULL, 1,
                           &t, err);
    read_costs(row, 1e-3, &t);
    bool counted = amount(json_object_get(row, "samples"), false, &samples) && samples < INT32_MAX;
    t.counted = counted ? (int)samples : 0;
    if (t.compile_s > 0 && counted)
        t.seconds += samples * t.time_ns * 1e-9;
    return rc ?: add_whole(b, variant, json_object_get(row, "config"), &t, err);
}

static int read_own(const char *path, json_t *rows, struct tables *out, struct err *err)
{
    struct recording *b = NULL;
    int rc = 0;
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        struct buf title = { 0 };
        own_title(path, row, &title);
        if (rc || json_is_true(json_object_get(row, "stale"))) {
            buf_free(&title);
            continue;
        }
        if (b && strcmp(b->title, buf_text(&title))) {
            rc = end_table(b, out, err);
            build_free(b);
            b = NULL;
        }
        if (!rc && !b) {
            b = begin_table(buf_text(&title), out);
            rc = b ? 0 : err_nomem(err);
            if (b)
                read_origin(b, row);
            if (b)
                b->origin.tool = keep_text(b, json_object_get(row, "tool")) ?: "cutune";
        }
        buf_free(&title);
        rc = rc ?: read_row(b, row, err);
        if (rc && rc != ERR_NOMEM)
            err_prefix(err, "row %zu: ", i + 1);
    }
    if (!rc && b)
        rc = end_table(b, out, err);
    build_free(b);
    return rc;
}

/* -- a file -- */

int tables_parse(const char *path, const struct buf *text, struct tables *out, struct err *err)
{
    json_t *root;
    if (json_parse(path, text, &root, err))
        return ERR_INVALID;
    json_t *rows = json_is_array(root) ? root : json_object_get(root, "winners");
    int had = out->n, rc;
    if (json_is_object(json_object_get(root, "cache")))
        rc = read_cache(path, root, out, err);
    else if (json_is_array(json_object_get(root, "results")))
        rc = read_t4(path, root, out, err);
    else if (json_is_array(rows))
        rc = read_own(path, rows, out, err);
    else
        rc = err_set(err, ERR_INVALID,
                     "no recorded space: a Kernel Tuner cache (\"cache\"), T4 results (\"results\"), or what `cutune list "
                     "--measurements --json` prints are wanted");
    if (!rc && out->n == had)
        rc = err_set(err, ERR_INVALID, "it has no configurations");
    for (int i = had; !rc && i < out->n; i++)
        if (out->at[i]->space->count == 0)
            rc = err_set(err, ERR_INVALID, "it has no configurations");
    if (rc) {
        err_prefix(err, "%s: ", path);
        if (err)
            err_line(err->msg);
    }
    json_decref(root);
    return rc;
}

int tables_read(const char *path, struct tables *out, struct err *err)
{
    struct buf text = { 0 };
    int rc = text_read(path, &text, err) ?: tables_parse(path, &text, out, err);
    buf_free(&text);
    return rc;
}
